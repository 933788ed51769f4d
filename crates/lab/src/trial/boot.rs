//! One boot of a trial, and when it is over.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bringup_progress::Event;
use serde_json::Value;

use super::Trial;
use crate::container::Container;
use crate::intervention::{self, Done, Intervening, Intervention};
use crate::kubernetes::{ControlPlane, boot_id};
use crate::network::Network;
use crate::outcome::{Requests, Verdict};
use crate::probe::Probe;
use crate::server::{Seen, Site, serve};
use crate::watch::{Entry, Watch};
use crate::{LabFault, Way, ended, ignition, interruption, records};

/// How long an entry of the journal is waited for before anything else is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Where the agent says how it stands.
const STATUS: &str = "/run/bringup/status.json";
/// The same with what a program wrote, while there is such a thing to tell.
const FULL_STATUS: &str = "/run/bringup/status-full.json";

/// Why a boot is over.
pub(super) enum Over {
    /// There is nothing more to see.
    Settled(Verdict),
    /// The power went.
    Cut,
}

/// A machine that runs, and what is known of it.
struct Running {
    container: Container,
    watch: Watch,
    probe: Option<Probe>,
    intervening: Intervening,
    deadline: Instant,
    /// The machine's own name for the boot.
    boot: String,
    /// When the agent said something last.
    last: Instant,
    /// Whether somebody wants to get in when the agent waits for the operator.
    shell: bool,
    /// When a paused agent was to look again as somebody left the machine.
    left_at: Option<u64>,
}

/// A status with a program's output, unless what has it is about something earlier.
fn fuller(status: Value, full: Option<Value>) -> Value {
    let at = |status: &Value| status.get("at_ms").and_then(Value::as_u64);
    let same = |full: &Value| {
        let mut plain = full.clone();
        plain.as_object_mut().map(|fields| fields.remove("tail"));
        // It is written first: there may be a moment in which it is ahead.
        plain == status || at(full) > at(&status)
    };
    full.filter(same).unwrap_or(status)
}

impl Running {
    /// What the agent says of itself.
    fn status(&self) -> Option<Value> {
        let read = |path| self.container.read(path).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Some(fuller(read(STATUS)?, read(FULL_STATUS)))
    }

    /// When a paused agent looks again for what it waits for.
    fn looks_again(&self) -> Option<u64> {
        let status = self.status()?;
        let paused = status.get("standing").and_then(Value::as_str) == Some("paused");
        status.get("next_try_at_ms").filter(|_| paused).and_then(Value::as_u64)
    }

    /// Whether a paused agent has looked since somebody left, in vain.
    fn is_still_paused(&self) -> bool {
        self.left_at.is_some_and(|before| self.looks_again().is_some_and(|next| next != before))
    }
}

impl Trial {
    /// Boots once and watches until there is nothing more to see or the time is over; then the power is cut.
    pub(super) fn boot(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<Over, LabFault> {
        let network = Network::make(self.wishes.instance.address)?;
        let site = Arc::new(self.site()?);
        let taken = self.wishes.kubernetes.as_ref().map(|cluster| cluster.ip());
        serve(&network, &site, taken)?;
        if self.subject.way == Way::Ignition && std::mem::take(&mut self.fresh) {
            ignition::apply(&self.lower, self.folder.path(), &network, &self.subject.carrier)?;
        }
        let watch = Watch::from_now_on(self.layer().path("/var/log/journal"))?;
        self.boots += 1;
        let first = self.boots;
        let cluster = self.wishes.kubernetes.clone();
        let node = self.node_name();
        let start = |cluster| ControlPlane::start(cluster, &self.lower, &network, &node);
        let mut plane = cluster.as_deref().map(start).transpose()?;
        let more = if self.wishes.is_real() { self.real_node()? } else { Vec::new() };
        let deadline = Instant::now() + self.wishes.patience;
        let container = Container::boot(&self.lower, self.folder.path(), &network, &more)?;
        let journal = self.layer().path(intervention::JOURNAL);
        let mut running = Running {
            intervening: Intervening::start(journal, container.switch(), self.wanted.clone()),
            container,
            watch,
            probe: self.subject.plan.is_none().then(|| Probe::start(network.file())),
            deadline,
            boot: String::new(),
            last: Instant::now(),
            shell: self.wishes.shell,
            left_at: None,
        };
        let mut over = self.watch(&mut running, tell)?;
        if let (Some(plane), Over::Settled(verdict)) = (&mut plane, &over) {
            over = Over::Settled(self.registered(plane, *verdict, deadline)?);
        }
        if self.wishes.shell && matches!(over, Over::Settled(_)) {
            running.container.shell()?;
            over = self.judged_anew(&mut running, tell)?;
        }
        self.status = running.status();
        running.container.cut();
        if matches!(over, Over::Cut) {
            self.tell_cut(&mut running, tell)?;
        }
        self.count_requests(&site, first);
        self.keep_requests(&site)?;
        Ok(over)
    }

    /// Whoever was in the machine may have mended it, or broken it.
    fn judged_anew(&mut self, running: &mut Running, tell: &mut dyn FnMut(&Event)) -> Result<Over, LabFault> {
        running.shell = false;
        running.left_at = running.looks_again();
        running.deadline = Instant::now() + self.wishes.patience;
        running.container.write_journal();
        for entry in running.watch.rest()? {
            self.hear(&entry, running, tell);
        }
        let over = self.watch(running, tell)?;
        let own = self.own_events();
        Ok(match over {
            Over::Settled(Verdict::CameUp) if ended::kubelet_has_ended(&own) => {
                Over::Settled(Verdict::Failed)
            }
            over => over,
        })
    }

    fn watch(&mut self, running: &mut Running, tell: &mut dyn FnMut(&Event)) -> Result<Over, LabFault> {
        self.unseen.clear();
        loop {
            interruption::check()?;
            if self.cut.is_some() {
                return Ok(Over::Cut);
            }
            let entry = running.watch.next(LOOK)?;
            if let Some(entry) = &entry {
                self.hear(entry, running, tell);
            } else if self.tell_done(running, Duration::ZERO, tell) {
                // What the machine has said until then was told first.
                return Ok(Over::Cut);
            }
            if let Some(verdict) = self.settled(running, tell)? {
                let cut = self.tell_done(running, Duration::ZERO, tell);
                return Ok(if cut { Over::Cut } else { Over::Settled(verdict) });
            }
            if entry.is_some() {
                continue;
            }
            if let Some(status) = running.container.ended() {
                if self.tell_done(running, Duration::from_secs(1), tell) {
                    return Ok(Over::Cut);
                }
                let complaint = running.container.complaint();
                if !status.success() && !complaint.is_empty() {
                    return Err(LabFault::Program {
                        command: "systemd-nspawn".to_owned(),
                        status: status.to_string(),
                        output: complaint,
                    });
                }
                self.note_unseen();
                return Ok(Over::Settled(Verdict::NotYet));
            }
            if running.is_still_paused() || Instant::now() >= running.deadline {
                return Ok(Over::Settled(self.out_of_time(running)));
            }
        }
    }

    /// Takes up an entry of the machine's journal.
    fn hear(&mut self, entry: &Entry, running: &mut Running, tell: &mut dyn FnMut(&Event)) {
        // A machine may reboot by itself.
        if entry.boot() != running.boot {
            self.boots += usize::from(!running.boot.is_empty());
            entry.boot().clone_into(&mut running.boot);
        }
        let Some(event) = entry.event(self.boots) else { return };
        if event.actor == "agent" {
            running.last = Instant::now();
        }
        self.add(event.clone(), tell);
        self.intervene_at_unit(&event, &running.container, tell);
    }

    fn add(&mut self, event: Event, tell: &mut dyn FnMut(&Event)) {
        tell(&event);
        self.events.push(event);
    }

    /// Cuts the power or kills the agent where that is wished for a unit's start.
    fn intervene_at_unit(&mut self, event: &Event, container: &Container, tell: &mut dyn FnMut(&Event)) {
        let starts = event.actor.contains('.') && matches!(event.event.as_str(), "starting" | "started");
        let Some(what) = self.wanted.at(&event.actor).filter(|_| starts && self.cut.is_none()) else {
            return;
        };
        let step = event.actor.clone();
        match what {
            // The rest of the journal is told before it.
            Intervention::Cut if container.switch().off() => {
                self.cut = Some(Done { what, step, at_ms: intervention::now_ms() });
            }
            Intervention::Kill if container.switch().kill_agent() => {
                self.tell_intervention(Done { what, step, at_ms: event.at_ms }, tell);
            }
            Intervention::Cut | Intervention::Kill => {}
        }
    }

    /// Tells what was done to the machine, as far as its power is still on; says whether it is off.
    fn tell_done(&mut self, running: &Running, wait: Duration, tell: &mut dyn FnMut(&Event)) -> bool {
        if self.wanted.is_empty() {
            return false;
        }
        for done in running.intervening.done(wait) {
            if done.what == Intervention::Cut {
                self.cut = Some(done);
                return true;
            }
            self.tell_intervention(done, tell);
        }
        false
    }

    /// Tells what the journal still has of a boot that was cut, and then the cut.
    fn tell_cut(&mut self, running: &mut Running, tell: &mut dyn FnMut(&Event)) -> Result<(), LabFault> {
        for entry in running.watch.rest()? {
            if let Some(event) = entry.event(self.boots) {
                self.add(event, tell);
            }
        }
        let journal = std::fs::read(self.layer().path(intervention::JOURNAL)).unwrap_or_default();
        let untold = records::untold(&String::from_utf8_lossy(&journal), &self.own_events(), self.boots);
        for event in untold {
            self.add(event, tell);
        }
        if let Some(done) = self.cut.take() {
            self.tell_intervention(done, tell);
        }
        Ok(())
    }

    fn tell_intervention(&mut self, done: Done, tell: &mut dyn FnMut(&Event)) {
        self.wanted.take(&done.step, done.what);
        let word = if done.what == Intervention::Cut { "power-cut" } else { "killed" };
        self.add(
            Event {
                at_ms: done.at_ms,
                boot: self.boots.to_string(),
                actor: "lab".to_owned(),
                step: done.step,
                event: word.to_owned(),
                why: String::new(),
            },
            tell,
        );
    }

    /// What has happened in this boot.
    fn own_events(&self) -> Vec<&Event> {
        let boot = self.boots.to_string();
        self.events.iter().filter(|event| event.boot == boot).collect()
    }

    /// Whether there is nothing more to see in this boot.
    fn settled(
        &mut self,
        running: &Running,
        tell: &mut dyn FnMut(&Event),
    ) -> Result<Option<Verdict>, LabFault> {
        let verdict = self.verdict(running);
        if self.subject.plan.is_some() || verdict != Some(Verdict::CameUp) {
            return Ok(verdict);
        }
        // A unit that fails before there is a journal is in none; systemd knows of it.
        let failed = running.container.failed_units()?;
        for unit in &failed {
            let event = Event {
                at_ms: intervention::now_ms(),
                boot: self.boots.to_string(),
                actor: unit.clone(),
                step: String::new(),
                event: "failed".to_owned(),
                why: String::new(),
            };
            self.add(event, tell);
        }
        Ok(if failed.is_empty() { verdict } else { Some(Verdict::Failed) })
    }

    /// Keeps in mind what was waited for in vain.
    fn note_unseen(&mut self) {
        let own = self.own_events();
        let unseen = ended::unseen(&own, &self.wishes.until).into_iter();
        self.unseen = unseen.map(|(who, what)| format!("--until {who}={what}")).collect();
    }

    /// What it came to when the time is over: it may be up, and something else was waited for.
    fn out_of_time(&mut self, running: &Running) -> Verdict {
        self.note_unseen();
        let came_up = self.by_itself(&self.own_events(), running) == Some(Verdict::CameUp);
        if came_up && !self.unseen.is_empty() { Verdict::CameUp } else { Verdict::NotYet }
    }

    /// What it has come to, whatever else is waited for.
    fn by_itself(&self, own: &[&Event], running: &Running) -> Option<Verdict> {
        if let Some(plan) = &self.subject.plan {
            let ended = ended::by_agent(own, plan, running.last.elapsed());
            if ended.is_none()
                && !self.wishes.may_end_a_pause()
                && ended::is_stuck(own, running.last.elapsed())
            {
                return Some(Verdict::NotYet);
            }
            // Where there is a cluster, the agent gets to the end of its plan.
            let last = own.iter().rev().find(|event| event.actor == "agent");
            let arrived = last.is_some_and(|last| matches!(last.event.as_str(), "arrived" | "gave-up"));
            ended.filter(|_| self.wishes.kubernetes.is_none() || arrived)
        } else {
            let known = ended::Units {
                cloud_init: self.subject.way != Way::Ignition,
                expects_kubelet: self.subject.expects_kubelet,
                healthy: running.probe.as_ref().and_then(Probe::healthy),
            };
            ended::by_units(own, known)
        }
    }

    fn verdict(&self, running: &Running) -> Option<Verdict> {
        let own = self.own_events();
        let verdict = self.by_itself(&own, running);
        if self.wishes.until.is_empty() || verdict == Some(Verdict::Failed) {
            // Somebody who wants a shell can mend what is waited for.
            let paused = own.last().is_some_and(|event| event.event == "paused");
            return verdict.or_else(|| (running.shell && paused).then_some(Verdict::NotYet));
        }
        let unseen = ended::unseen(&own, &self.wishes.until);
        let plan = self.subject.plan.as_ref().filter(|_| self.wishes.kubernetes.is_none());
        let healthy = || plan.is_some_and(|plan| ended::kubelet_is_healthy(&own, plan));
        let up = || if healthy() { Verdict::CameUp } else { Verdict::NotYet };
        unseen.is_empty().then(|| verdict.unwrap_or_else(up))
    }

    /// What the machine's node comes to, once the agent is done.
    fn registered(
        &mut self,
        plane: &mut ControlPlane<'_>,
        verdict: Verdict,
        deadline: Instant,
    ) -> Result<Verdict, LabFault> {
        let deadline = if verdict == Verdict::CameUp { deadline } else { Instant::now() };
        let (node, ready) = plane.node(self.node.as_ref().and_then(boot_id), deadline)?;
        self.node = node;
        Ok(if verdict == Verdict::CameUp && !ready { Verdict::NotYet } else { verdict })
    }

    /// What a real kubelet and a real runtime need of a container.
    fn real_node(&self) -> Result<Vec<String>, LabFault> {
        let images = self.folder.path().join("containerd");
        std::fs::create_dir_all(&images).map_err(LabFault::file("make", &images))?;
        Ok(vec![
            "--capability=all".to_owned(),
            "--bind=/dev/kmsg".to_owned(),
            // Layers of images cannot lie over layers of ours.
            format!("--bind={}:/var/lib/containerd", images.display()),
        ])
    }

    /// Writes down what was asked of addresses that are served, a line of JSON each.
    fn keep_requests(&self, site: &Site) -> Result<(), LabFault> {
        let path = self.folder.path().join("requests");
        let heard = site.heard.lock().map(|heard| heard.clone()).unwrap_or_default();
        let lines: String = heard.iter().flat_map(|request| [request.to_string(), "\n".to_owned()]).collect();
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).map_err(LabFault::file("write", &path))
    }

    /// What the agent has asked the metadata service since the first boot of a container.
    fn count_requests(&mut self, site: &Site, first: usize) {
        let Ok(seen) = site.seen.lock() else { return };
        let all = seen.iter().filter(|seen| seen.metadata);
        let (own, others): (Vec<&Seen>, Vec<&Seen>) = all.partition(|seen| seen.agent);
        let without = |list: &[&Seen]| list.iter().filter(|seen| !seen.token).count();
        let boot = first.to_string();
        let opened = self.events.iter().find(|event| event.boot == boot && event.event == "opened");
        let until = opened.map_or(u64::MAX, |event| event.at_ms);
        let until_gate = own.iter().filter(|seen| seen.at_ms <= until).count();
        self.requests.push(Requests {
            until_gate,
            all: own.len(),
            without_token: without(&own),
            without_token_by_others: without(&others),
        });
        if let Ok(hindered) = site.hindered.lock() {
            self.hindered.extend(hindered.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fuller;

    #[test]
    fn a_status_has_the_output_that_belongs_to_it() {
        let status = json!({"at_ms": 2, "why": "it ended with code 7"});
        let full = |at: u64| json!({"at_ms": at, "why": "it ended with code 7", "tail": "broken"});
        assert_eq!(fuller(status.clone(), Some(full(2))), full(2));
        assert_eq!(fuller(status.clone(), Some(full(3))), full(3));
        assert_eq!(fuller(status.clone(), Some(full(1))), status.clone());
        assert_eq!(fuller(status.clone(), None), status);
    }
}
