//! A machine in memory, and an agent on it that can die anywhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bringup_plan::{Action, Content, Plan, Step};
use bringup_progress::{
    Adopted, Course, Done, Effect, Entry, Event, Failed, Failure, FailureKind, Happening, Known, Made, Order,
    Outcome, Range, Record, State, Status, Success, Surroundings, Work, Writer, decode, digest,
};

/// What an attempt gives, where it is not success.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Fails(FailureKind),
    Hangs,
}

/// How a run of the agent ended.
#[derive(Debug)]
pub(crate) enum End {
    Done(Done),
    GaveUp(Failed, bool),
    Reboots,
    /// The step is left to this unit.
    HandedOver(String),
    Died,
    /// It waited more often than anybody looks.
    Stuck(Status),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    pub(crate) identity: String,
    pub(crate) boots: u32,
    pub(crate) tree: BTreeMap<String, String>,
    /// What stood where a step wrote for the first time.
    pub(crate) originals: BTreeMap<String, String>,
    pub(crate) journal: Vec<u8>,
    /// So many bytes of it survive a power cut.
    pub(crate) synced: usize,
    /// How often each program ran to its end, or each unit was started or restarted.
    pub(crate) ran: BTreeMap<String, u32>,
    /// How often each step was recorded as succeeded, whether or not the record survived.
    pub(crate) successes: BTreeMap<String, u32>,
    /// Steps of which the record of a success went with the power.
    pub(crate) lost: Vec<String>,
    /// Programs, each with its digest, that were run although a success of theirs had been recorded.
    pub(crate) repeated: Vec<(String, String)>,
    pub(crate) recorded: BTreeSet<(String, String)>,
    pub(crate) restarted: BTreeMap<String, u32>,
    /// Programs that succeeded and of which nobody has taken the result.
    pub(crate) results: BTreeSet<(String, String)>,
    pub(crate) answers: BTreeMap<String, VecDeque<Answer>>,
    pub(crate) elected: bool,
    pub(crate) instance: String,
    pub(crate) waits: Vec<u64>,
    pub(crate) events: Vec<Event>,
    pub(crate) statuses: Vec<Status>,
    pub(crate) retired: Vec<Made>,
    pub(crate) clock: u64,
    /// What the clock on the wall shows instead.
    pub(crate) wall: Option<fn(u64) -> u64>,
    /// Dies after so many ticks.
    pub(crate) life: Option<usize>,
    pub(crate) ticks: usize,
    /// Whether reboots do nothing.
    pub(crate) never_reboots: bool,
    pub(crate) always_asks: bool,
    /// Steps whose programs ask for a reboot when they end well.
    pub(crate) asking: BTreeSet<String>,
    /// What `done.json` says.
    pub(crate) reported: Option<Done>,
    /// What `failed.json` says.
    pub(crate) failed: Option<Failed>,
    /// How often others were told of it.
    pub(crate) signalled: usize,
    pub(crate) most_waits: usize,
}

struct Facts<'a>(&'a Plan, bool, String, BTreeSet<String>);

impl Known for Facts<'_> {
    fn digest(&self, step: &Step) -> Result<String, Failure> {
        if let Action::WriteFile { content: Content::Text(text), path, mode, owner } = &step.action {
            let text = bringup_spec::Text::literal(text.to_string().replace("INSTANCE", &self.2));
            let action = Action::WriteFile {
                content: Content::Text(text),
                path: path.clone(),
                mode: mode.clone(),
                owner: owner.clone(),
            };
            return Ok(digest(&action, self.0));
        }
        Ok(digest(&step.action, self.0))
    }

    fn elected(&self) -> Result<bool, Failure> {
        Ok(self.1)
    }

    fn is_there(&self, made: &Made) -> bool {
        // Of directories, links and units nothing is kept here.
        !matches!(made, Made::File(path) if !self.3.contains(path))
    }
}

struct Dead;

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            identity: "one".to_owned(),
            instance: "small".to_owned(),
            boots: 1,
            most_waits: 50,
            ..Self::default()
        }
    }

    pub(crate) fn answering(step: &str, answers: &[Answer]) -> Self {
        let mut machine = Self::new();
        machine.answers.insert(step.to_owned(), answers.iter().cloned().collect());
        machine
    }

    pub(crate) fn boot(&self) -> String {
        format!("boot-{}", self.boots)
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        decode(&self.journal).expect("a journal").records
    }

    /// The power goes: what was not synced, what runs and what is in `/run` is gone.
    pub(crate) fn power_cut(&mut self) {
        let before = self.records();
        self.journal.truncate(self.synced);
        let kept = self.records().len();
        self.lost.extend(before.into_iter().skip(kept).filter_map(|record| match record.entry {
            Entry::Step(Work { step, outcome: Outcome::Succeeded(_), .. }) => Some(step),
            _ => None,
        }));
        self.reboot();
    }

    pub(crate) fn reboot(&mut self) {
        self.boots += 1;
        self.results.clear();
        self.tree.retain(|path, _| !path.starts_with("/run/"));
    }

    fn tick(&mut self) -> Result<(), Dead> {
        self.ticks += 1;
        if self.life.is_some_and(|life| self.ticks > life) { Err(Dead) } else { Ok(()) }
    }

    pub(crate) fn up(&mut self, plan: &Plan) -> End {
        self.up_within(plan, Range::default(), false)
    }

    /// Runs the agent, and again after each reboot.
    pub(crate) fn up_through_reboots(&mut self, plan: &Plan) -> End {
        for _ in 0..10 {
            match self.up(plan) {
                End::Reboots => {}
                end => return end,
            }
        }
        panic!("it reboots for ever");
    }

    pub(crate) fn up_within(&mut self, plan: &Plan, range: Range, again: bool) -> End {
        self.ticks = 0;
        self.run(plan, range, again).unwrap_or(End::Died)
    }

    fn run(&mut self, plan: &Plan, range: Range, again: bool) -> Result<End, Dead> {
        let decoded = decode(&self.journal).expect("a journal");
        self.journal.truncate(usize::try_from(decoded.writer.length()).expect("a length"));
        self.synced = self.synced.min(self.journal.len());
        let mut writer = decoded.writer;
        let mut course =
            Course::new(plan, range, State::fold(&decoded.records), &self.identity, &self.boot())
                .handing_over();
        let mut happening = Happening::Begun { again };
        let mut waits = 0;
        loop {
            self.clock += 1000;
            let there = self.tree.keys().cloned().collect();
            let facts = Facts(plan, self.elected, self.instance.clone(), there);
            let around = Surroundings {
                at_ms: self.wall.map_or(self.clock, |wall| wall(self.clock)),
                up_ms: self.clock,
                random: self.clock * 7919,
                known: &facts,
            };
            let effects = course.advance(happening, &around).expect("a legal turn");
            let mut answer = None;
            let last = effects.len() - 1;
            for (index, effect) in effects.into_iter().enumerate() {
                self.tick()?;
                let takes_time = match effect {
                    Effect::Record { record, sync } => {
                        writer = self.write(&writer, &record)?;
                        if let Entry::Step(Work { step, digest, outcome: Outcome::Succeeded(_), .. }) =
                            record.entry
                        {
                            *self.successes.entry(step.clone()).or_default() += 1;
                            self.results.remove(&(step.clone(), digest.clone()));
                            self.recorded.insert((step, digest));
                        }
                        if sync {
                            self.synced = self.journal.len();
                        }
                        false
                    }
                    Effect::Keep(made) => {
                        for path in made.iter().map(Made::path) {
                            if let Some(is) = self.tree.get(&path) {
                                self.originals.insert(path, is.clone());
                            }
                        }
                        false
                    }
                    Effect::Publish(status) => {
                        self.statuses.push(*status);
                        false
                    }
                    Effect::Tell(event) => {
                        // Who hears that all is done may take the power away at once.
                        let is_last = event.event == "arrived" && range.until.is_none();
                        let reported = self.reported.as_ref().is_some_and(|done| done.boot == event.boot);
                        assert!(!is_last || reported, "it is told before it is on the disk");
                        let failed = self.failed.as_ref().is_some_and(|failed| failed.boot == event.boot);
                        assert!(event.event != "gave-up" || failed, "it is told before it is on the disk");
                        self.events.push(event);
                        false
                    }
                    Effect::Do(order) => {
                        answer = Some(self.act(plan, &order)?);
                        true
                    }
                    Effect::Adopt(order) => {
                        let reboot = self.asking.contains(&order.step);
                        let found = self.results.contains(&(order.step, order.digest));
                        let success = Success { reboot, ..Success::default() };
                        let found = if found { Adopted::Succeeded(success) } else { Adopted::Nothing };
                        answer = Some(Happening::Adopted(found));
                        true
                    }
                    Effect::Retire(made) => {
                        for what in made {
                            self.tree.remove(&what.path());
                            self.retired.push(what);
                            self.tick()?;
                        }
                        answer = Some(Happening::Succeeded(Success::default()));
                        true
                    }
                    Effect::Wait { ms } => {
                        self.waits.push(ms);
                        self.clock += ms;
                        waits += 1;
                        if waits > self.most_waits {
                            return Ok(End::Stuck(course.status(&around)));
                        }
                        answer = Some(Happening::TimePassed);
                        true
                    }
                    Effect::Reboot => {
                        if !self.never_reboots {
                            self.reboot();
                        }
                        return Ok(End::Reboots);
                    }
                    Effect::HandOver { index } => {
                        let to = plan.steps[index].handed_to.clone().expect("units");
                        return Ok(End::HandedOver(to.path));
                    }
                    Effect::Fail { failed, known } => {
                        let told = self.failed.as_ref().is_some_and(|told| told.boot == failed.boot);
                        if !(known && told) {
                            self.failed = Some(*failed);
                        }
                        false
                    }
                    Effect::GiveUp { failed, record } => {
                        if let Some(record) = &record {
                            self.signalled += 1;
                            self.tick()?;
                            self.write(&writer, record)?;
                            self.synced = self.journal.len();
                        }
                        return Ok(End::GaveUp(*failed, record.is_none()));
                    }
                    Effect::Report(done) => {
                        self.reported = Some(*done);
                        false
                    }
                    Effect::Done => return Ok(End::Done(course.done_report(around.at_ms))),
                };
                assert_eq!(takes_time, index == last, "what takes time comes last");
            }
            happening = answer.expect("an effect that takes time");
        }
    }

    /// Writes a record, in two halves: it may die between them.
    fn write(&mut self, writer: &Writer, record: &Record) -> Result<Writer, Dead> {
        let (line, next) = writer.line(record).expect("a line");
        self.journal.extend_from_slice(&line.as_bytes()[..line.len() / 2]);
        self.tick()?;
        self.journal.extend_from_slice(&line.as_bytes()[line.len() / 2..]);
        Ok(next)
    }

    fn act(&mut self, plan: &Plan, order: &Order) -> Result<Happening, Dead> {
        let step = plan.steps.get(order.index).expect("a step");
        assert_eq!(step.name, order.step);
        match self.answers.get_mut(&step.name).and_then(VecDeque::pop_front) {
            Some(Answer::Fails(kind)) => {
                return Ok(Happening::Failed(Failure::new(kind, "no luck", "try luck").with_tail("a\nb\n")));
            }
            Some(Answer::Hangs) => return Ok(Happening::TimedOut { tail: "…\n".to_owned() }),
            None => {}
        }
        let mut success = Success::default();
        match &step.action {
            Action::WriteFile { path, content: Content::Text(text), .. } => {
                let text = text.to_string().replace("INSTANCE", &self.instance);
                if self.tree.insert(path.clone(), text.clone()) != Some(text) {
                    success.changed.insert(path.clone());
                }
            }
            Action::OpenGate { .. } => {
                self.tree.insert("/run/bringup/kubelet.env".to_owned(), String::new());
                success.changed.insert("/run/bringup/kubelet.env".to_owned());
            }
            Action::Run { .. } => {
                *self.ran.entry(step.name.clone()).or_default() += 1;
                let this = (order.step.clone(), order.digest.clone());
                if !step.every_boot && self.recorded.contains(&this) {
                    self.repeated.push(this);
                }
                // It goes on without the agent.
                self.results.insert((order.step.clone(), order.digest.clone()));
                success.reboot = self.asking.contains(&order.step);
            }
            Action::StartUnit { .. } | Action::StartKubelet { .. } if !order.changed.is_empty() => {
                *self.restarted.entry(step.name.clone()).or_default() += 1;
            }
            Action::Reboot { .. } => return Ok(Happening::RebootAsked { why: "asked for".to_owned() }),
            Action::UpdateOs { .. } if self.always_asks => {
                return Ok(Happening::RebootAsked { why: "again".to_owned() });
            }
            _ => {}
        }
        self.tick()?;
        Ok(Happening::Succeeded(success))
    }

    pub(crate) fn words(&self, step: &str) -> Vec<&str> {
        self.events.iter().filter(|event| event.step == step).map(|event| event.event.as_str()).collect()
    }
}
