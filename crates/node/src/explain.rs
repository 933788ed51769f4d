//! A dry run: the same course as `up` takes, with every step taken to succeed and none of them done.

use std::path::Path;

use bringup_facts::Facts;
use bringup_plan::{Action, InstallSource, Plan, Step};
use bringup_progress::{
    Adopted, Course, Effect, Happened, Happening, Made, Order, Range, State, Success, Surroundings, installed,
};
use serde::Serialize;

use crate::actions::{self, Checks, Doing, Stopped};
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::Network;
use crate::originals;
use crate::preview::{Preview, drift, preview};

/// A step that `up` would do now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Item {
    pub(crate) step: String,
    pub(crate) phase: String,
    #[serde(flatten)]
    pub(crate) preview: Preview,
}

/// What `up` would do now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Explained {
    /// Steps that it would do, in order.
    pub(crate) steps: Vec<Item>,
    /// Steps of which somebody has changed what they made, and which it would leave so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<Item>,
    /// Why it would not get further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stops: Option<String>,
}

impl Explained {
    /// Whether anything would change.
    pub(crate) fn changes(&self) -> bool {
        self.steps.iter().any(|item| item.preview.changes())
    }
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) plan: &'a Plan,
    pub(crate) range: Range,
    pub(crate) given: Option<&'a Facts>,
    pub(crate) identity: &'a str,
}

/// What somebody has changed of what a step made.
fn changed(machine: &Machine, plan: &Plan, step: &Step, knowledge: &Knowledge<'_>) -> Option<Item> {
    let preview = drift(machine, plan, &knowledge.action(step).ok()?);
    preview.changes().then(|| Item { step: step.name.clone(), phase: step.phase.to_string(), preview })
}

/// Goes through the plan without doing anything but learning facts.
pub(crate) fn explain(question: &Question<'_>, state: State) -> Explained {
    let Question { machine, plan, range, given, identity } = *question;
    let own = state.identity() == Some(identity);
    let remembered = if own { actions::identify::remembered(&state, plan) } else { None };
    let known = given.cloned().or(remembered.clone()).unwrap_or_default();
    let knowledge = Knowledge::new(machine, plan, known);
    let mut course = Course::new(plan, range, state, identity, &Machine::boot());
    let mut explained = Explained::default();
    let network = Network::of_plan(plan);
    // Facts are learned without a look at what was done.
    let unknown = State::default();
    let learn = |order: &Order| -> Result<Success, String> {
        let Some(step) = plan.steps.get(order.index) else { return Ok(Success::default()) };
        let doing = Doing {
            machine,
            plan,
            step,
            order,
            knowledge: &knowledge,
            remembered: remembered.as_ref(),
            given,
            checks: Checks::Passed,
            network: &network,
            state: &unknown,
        };
        actions::perform(&doing).map_err(|stopped| match stopped {
            Stopped::Failed(failure) => failure.why,
            Stopped::TimedOut { .. } => "it takes too long".to_owned(),
            Stopped::Reboot { why } => why,
        })
    };
    let mut happening = Happening::Begun { again: false };
    loop {
        let around =
            Surroundings { at_ms: Machine::now_ms(), up_ms: Machine::up_ms(), random: 0, known: &knowledge };
        let Ok(effects) = course.advance(happening, &around) else { return explained };
        let mut next = None;
        let mut why = String::new();
        for effect in effects {
            match effect {
                Effect::Record { .. } | Effect::Keep(_) | Effect::Report(_) | Effect::Fail { .. } => {}
                Effect::Tell(event) => {
                    let skipped = event.event == Happened::Skipped.word() && event.why.is_empty();
                    let step = plan.steps.iter().find(|step| skipped && step.name == event.step);
                    explained.changed.extend(step.and_then(|step| changed(machine, plan, step, &knowledge)));
                }
                Effect::Publish(status) => why.clone_from(&status.why),
                Effect::Do(order) => {
                    let Some(step) = plan.steps.get(order.index) else { return explained };
                    if matches!(step.action, Action::LearnFacts) {
                        match learn(&order) {
                            Ok(success) => next = Some(Happening::Succeeded(success)),
                            Err(why) => {
                                explained.stops = Some(format!("`{}`: {why}", step.name));
                                return explained;
                            }
                        }
                        continue;
                    }
                    let action = match knowledge.action(step) {
                        Ok(action) => action,
                        Err(failure) => {
                            explained.stops = Some(format!("`{}`: {}", step.name, failure.why));
                            return explained;
                        }
                    };
                    let preview = preview(machine, plan, &action, &order);
                    let mut changed = preview.paths();
                    if let Action::Install { software, source, .. } = &action
                        && *source != InstallSource::Image
                    {
                        changed.insert(installed(software));
                    }
                    explained.steps.push(Item {
                        step: step.name.clone(),
                        phase: step.phase.to_string(),
                        preview,
                    });
                    next = Some(Happening::Succeeded(Success { changed, ..Success::default() }));
                }
                Effect::Adopt(_) => next = Some(Happening::Adopted(Adopted::Succeeded(Success::default()))),
                Effect::Retire(made) => {
                    let what = |made: &Made| {
                        let path = made.path();
                        if originals::is_kept(machine.files(), Path::new(&path)) {
                            format!("puts back what stood at `{path}`")
                        } else {
                            format!("removes `{path}`")
                        }
                    };
                    let does = made.iter().map(what).collect();
                    explained.steps.push(Item {
                        step: "retire".to_owned(),
                        phase: String::new(),
                        preview: Preview { does, files: Vec::new() },
                    });
                    next = Some(Happening::Succeeded(Success::default()));
                }
                Effect::Wait { .. } | Effect::Reboot | Effect::HandOver { .. } | Effect::GiveUp { .. } => {
                    explained.stops = Some(why);
                    return explained;
                }
                Effect::Done => return explained,
            }
        }
        let Some(heard) = next else { return explained };
        happening = heard;
    }
}
