//! What the records add up to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::made::Made;
use crate::record::{Entry, Outcome, Record, Success, Work};

/// What a machine has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    identity: Option<String>,
    plan: Option<String>,
    steps: BTreeMap<String, StepState>,
    made: BTreeMap<String, Origin>,
    /// Paths with the record that says that their content may be another now.
    changed: BTreeMap<String, u64>,
    reboots: u32,
    /// How many records there were.
    records: u64,
}

/// Who made something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    what: Made,
    /// The step that found it in an archive; none where the plan itself says what is made.
    found_by: Option<String>,
}

/// What is known of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepState {
    /// What it was last to do.
    pub digest: String,
    /// The boot in which it was last worked on.
    pub boot: String,
    /// How many attempts were begun, in that boot and for that digest.
    pub attempts: u32,
    /// How many of them failed.
    pub failures: u32,
    /// How the last one went.
    pub last: Last,
    /// Why, if it did not succeed.
    pub why: String,
    /// What it made as far as known before; no longer there if it was retired.
    makes: BTreeSet<Made>,
    /// The digest for which it succeeded, unless it was begun anew since.
    succeeded: Option<String>,
    /// The boot of its last success and the record of the first success in that boot.
    first_success: Option<(String, u64)>,
    /// The record of the last success.
    last_success: Option<u64>,
    /// The boot that was to end with the reboot that it asked for.
    reboots_from: Option<String>,
    /// What it learned.
    kept: BTreeMap<String, String>,
}

/// How an attempt went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Last {
    /// It was begun; nobody wrote how it ended.
    #[default]
    Started,
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It waits for the operator.
    Paused,
    /// The course went on without it.
    Continued,
    /// The course ended with it.
    GaveUp,
    /// The machine was about to reboot.
    Rebooting,
}

impl StepState {
    /// Whether it is done for this digest.
    pub fn done_for(&self, digest: &str) -> bool {
        self.succeeded.as_deref() == Some(digest)
    }

    /// Whether it succeeded in this boot.
    pub fn done_in(&self, boot: &str) -> bool {
        self.first_success.as_ref().is_some_and(|(of, _)| of == boot)
    }

    /// What it learned when it last succeeded.
    pub fn kept(&self) -> &BTreeMap<String, String> {
        &self.kept
    }

    /// The record of the first success in this boot.
    pub(crate) fn first_success_in(&self, boot: &str) -> Option<u64> {
        self.first_success.as_ref().filter(|(of, _)| of == boot).map(|(_, record)| *record)
    }

    /// Whether the machine has rebooted since this step asked for it, on our behalf or by somebody's hand.
    pub(crate) fn rebooted_by(&self, boot: &str) -> bool {
        self.reboots_from.as_ref().is_some_and(|from| from != boot)
    }

    /// Whether it is done but for the reboot that its program asked for in this boot.
    pub(crate) fn owes_reboot(&self, digest: &str, boot: &str) -> bool {
        self.done_for(digest) && self.reboots_from.as_deref() == Some(boot)
    }

    pub(crate) fn last_success(&self) -> Option<u64> {
        self.last_success
    }

    /// Whether this is about the same work in the same boot.
    pub(crate) fn same(&self, digest: &str, boot: &str) -> bool {
        self.digest == digest && self.boot == boot
    }
}

impl State {
    /// What records add up to.
    pub fn fold(records: &[Record]) -> Self {
        let mut state = Self::default();
        for record in records {
            state.apply(record);
        }
        state
    }

    /// Takes one record in.
    pub fn apply(&mut self, record: &Record) {
        self.records = self.records.saturating_add(1);
        match &record.entry {
            Entry::Machine { identity, .. } => {
                if self.identity.as_ref() != Some(identity) {
                    // An image that was made from another machine: nothing counts as done here, but what was made
                    // there is here, too, and must be known if a plan no longer has it.
                    self.steps.clear();
                    self.changed.clear();
                    self.plan = None;
                    self.reboots = 0;
                }
                self.identity = Some(identity.clone());
            }
            Entry::Plan { digest } => {
                if self.plan.as_ref() != Some(digest) {
                    self.reboots = 0;
                }
                self.plan = Some(digest.clone());
            }
            Entry::Step(work) => self.apply_work(work, &record.boot),
            Entry::Retired { made } => self.forget(made),
            Entry::Summary(state) => *self = (**state).clone(),
        }
    }

    fn apply_work(&mut self, work: &Work, boot: &str) {
        let record = self.records;
        let step = self.steps.entry(work.step.clone()).or_default();
        let unfinished = step.last != Last::Succeeded && !step.makes.is_empty();
        if step.digest != work.digest {
            step.reboots_from = None;
        }
        if !step.same(&work.digest, boot) {
            step.attempts = 0;
            step.failures = 0;
        }
        step.digest.clone_from(&work.digest);
        boot.clone_into(&mut step.boot);
        step.attempts = step.attempts.max(work.attempt);
        step.why.clear();
        let mut touched = BTreeSet::new();
        match &work.outcome {
            Outcome::Started { makes } => {
                if unfinished {
                    touched.extend(step.makes.iter().map(Made::path));
                }
                step.succeeded = None;
                step.last = Last::Started;
                step.makes.clone_from(makes);
                for what in makes {
                    self.made.insert(what.path(), Origin { what: what.clone(), found_by: None });
                }
            }
            Outcome::Succeeded(Success { changed, made, kept, reboot }) => {
                step.last = Last::Succeeded;
                step.failures = 0;
                step.reboots_from = reboot.then(|| boot.to_owned());
                step.succeeded = Some(work.digest.clone());
                step.last_success = Some(record);
                if !step.done_in(boot) {
                    step.first_success = Some((boot.to_owned(), record));
                }
                step.kept.clone_from(kept);
                touched.clone_from(changed);
                self.replace_found(&work.step, made);
            }
            Outcome::Failed { why, .. } => {
                step.last = Last::Failed;
                step.failures = step.failures.saturating_add(1);
                step.why.clone_from(why);
                touched.extend(step.makes.iter().map(Made::path));
            }
            Outcome::Paused { why, .. } => {
                step.last = Last::Paused;
                step.why.clone_from(why);
            }
            Outcome::Continued { why } => {
                step.last = Last::Continued;
                step.why.clone_from(why);
            }
            Outcome::GaveUp { why } => {
                step.last = Last::GaveUp;
                step.why.clone_from(why);
            }
            Outcome::Rebooting => {
                step.last = Last::Rebooting;
                step.reboots_from = Some(boot.to_owned());
                self.reboots = self.reboots.saturating_add(1);
            }
        }
        self.changed.extend(touched.into_iter().map(|path| (path, record)));
    }

    /// What a step found in its archive now, instead of what it found before.
    fn replace_found(&mut self, step: &str, made: &BTreeSet<Made>) {
        for origin in self.made.values_mut().filter(|origin| origin.found_by.as_deref() == Some(step)) {
            if !made.contains(&origin.what) {
                // Nobody's: no step of any plan has an empty name.
                origin.found_by = Some(String::new());
            }
        }
        for what in made {
            let origin = Origin { what: what.clone(), found_by: Some(step.to_owned()) };
            self.made.insert(what.path(), origin);
        }
    }

    /// Forgets what is no longer there, and that the steps that made it are done.
    fn forget(&mut self, gone: &BTreeSet<Made>) {
        let record = self.records;
        for what in gone {
            if let Some(Origin { found_by: Some(step), .. }) = self.made.remove(&what.path())
                && let Some(step) = self.steps.get_mut(&step)
            {
                step.succeeded = None;
            }
            self.changed.insert(what.path(), record);
        }
        for step in self.steps.values_mut().filter(|step| !step.makes.is_disjoint(gone)) {
            step.succeeded = None;
        }
    }

    /// Whose journal it is.
    pub fn identity(&self) -> Option<&str> {
        self.identity.as_deref()
    }

    /// The digest of the plan that was last followed.
    pub fn plan(&self) -> Option<&str> {
        self.plan.as_deref()
    }

    /// How often the machine was rebooted, or was to be, on behalf of that plan.
    pub fn reboots(&self) -> u32 {
        self.reboots
    }

    /// What is known of a step.
    pub fn step(&self, name: &str) -> Option<&StepState> {
        self.steps.get(name)
    }

    /// Every step of which something is known.
    pub fn steps(&self) -> impl Iterator<Item = (&str, &StepState)> {
        self.steps.iter().map(|(name, step)| (name.as_str(), step))
    }

    /// All that was made and is still there, as far as the journal knows: what `reset` may remove.
    pub fn made(&self) -> BTreeSet<Made> {
        self.made.values().map(|origin| origin.what.clone()).collect()
    }

    /// Whether something at this path is known to be ours.
    pub fn knows(&self, made: &Made) -> bool {
        self.made.contains_key(&made.path())
    }

    /// What a step found in its archive, or made without anybody knowing before.
    pub fn found_by(&self, step: &str) -> impl Iterator<Item = &Made> {
        let of = move |origin: &&Origin| origin.found_by.as_deref() == Some(step);
        self.made.values().filter(of).map(|origin| &origin.what)
    }

    /// What was made and is in none of these steps any more.
    pub(crate) fn orphans(&self, declared: &BTreeSet<String>, steps: &BTreeSet<&str>) -> BTreeSet<Made> {
        self.made
            .iter()
            .filter(|(path, origin)| {
                !declared.contains(*path)
                    && origin.found_by.as_ref().is_none_or(|step| !steps.contains(step.as_str()))
            })
            .map(|(_, origin)| origin.what.clone())
            .collect()
    }

    /// Which of these paths may have changed since that record; all that ever did, where there is none.
    pub(crate) fn changed_since(&self, record: Option<u64>, paths: &BTreeSet<String>) -> BTreeSet<String> {
        self.changed
            .iter()
            .filter(|(path, at)| paths.contains(*path) && record.is_none_or(|record| **at > record))
            .map(|(path, _)| path.clone())
            .collect()
    }
}
