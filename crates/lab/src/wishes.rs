//! What is wished for beside the subject.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bringup_diag::closest;
use bringup_plan::Plan;
use bringup_progress::Happened;

use crate::{Hindrance, Instance, Kubernetes, LabFault, MetadataFault, Misbehaviour, hindrance};

/// What is wished for beside the subject.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The instance that the machine takes itself for.
    pub instance: Instance,
    /// Where the machine's disk is kept, to be booted again another time.
    pub machine: Option<PathBuf>,
    /// A kubelet to run, instead of the stand-in; Debian's containerd then runs, too.
    pub kubelet: Option<PathBuf>,
    /// A cluster to join.
    pub kubernetes: Option<Arc<Kubernetes>>,
    /// How the stand-in misbehaves.
    pub misbehaviour: Misbehaviour,
    /// How the metadata service fails.
    pub metadata_fault: Option<MetadataFault>,
    /// Steps that are made to fail or to take long, by name.
    pub hindrances: BTreeMap<String, Hindrance>,
    /// How often it is booted again after it came up.
    pub reboots: u32,
    /// The power goes when one of these steps begins or units starts, once for each, and the machine is booted again.
    pub power_cuts: Vec<String>,
    /// The agent is killed when one of these steps begins or units starts, once for each.
    pub kills: Vec<String>,
    /// A boot is over once all of these were seen: a step or a unit, and what happened to it.
    pub until: Vec<(String, String)>,
    /// How long one boot may take.
    pub patience: Duration,
    /// A shell in the machine once there is nothing more to see, for as long as it is open.
    pub shell: bool,
}

/// Who else is in a timeline.
const ACTORS: [&str; 2] = ["agent", "lab"];
/// What happens to units.
const UNIT_WORDS: [&str; 5] = ["starting", "started", "failed", "stopped", "exited"];

/// What happens to steps.
fn words() -> impl Iterator<Item = &'static str> {
    Happened::ALL.iter().map(|happened| happened.word()).chain(["power-cut"])
}

fn can_happen(who: &str, what: &str) -> bool {
    if who.contains('.') { UNIT_WORDS.contains(&what) } else { words().any(|word| word == what) }
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            instance: Instance::default(),
            machine: None,
            kubelet: None,
            kubernetes: None,
            misbehaviour: Misbehaviour::None,
            metadata_fault: None,
            hindrances: BTreeMap::new(),
            reboots: 0,
            power_cuts: Vec::new(),
            kills: Vec::new(),
            until: Vec::new(),
            patience: Duration::from_mins(2),
            shell: false,
        }
    }
}

impl Wishes {
    /// Whether all that is named here can come to pass with a plan, or with a carrier that has none.
    pub fn check(&self, plan: Option<&Plan>) -> Result<(), LabFault> {
        let steps: Vec<&str> =
            plan.iter().flat_map(|plan| &plan.steps).map(|step| step.name.as_str()).collect();
        let mut wrong = Vec::new();
        let mut step = |asked: String, name: &str, units: bool| {
            let known = steps.contains(&name) || (units && name.contains('.'));
            if !known {
                wrong.push((asked, name.to_owned()));
            }
        };
        self.power_cuts.iter().for_each(|name| step(format!("--power-cut {name}"), name, true));
        self.kills.iter().for_each(|name| step(format!("--kill {name}"), name, true));
        for (name, hindrance) in &self.hindrances {
            let flag = if hindrance.failures > 0 { "--fail" } else { "--slow" };
            step(format!("{flag} {name}"), name, false);
        }
        for (who, what) in self.until.iter().filter(|(who, _)| !ACTORS.contains(&who.as_str())) {
            step(format!("--until {who}={what}"), who, true);
        }
        if let Some((_, first)) = wrong.first() {
            let near = closest(first, steps.iter().copied()).map(str::to_owned);
            let steps = steps.iter().map(|&step| step.to_owned()).collect();
            let asked = wrong.into_iter().map(|(asked, _)| asked).collect();
            return Err(LabFault::NoStep { asked, near, steps });
        }
        if let Some((who, what)) = self.until.iter().find(|(who, what)| !can_happen(who, what)) {
            let asked = format!("--until {who}={what}");
            let words: Vec<&str> = if who.contains('.') { UNIT_WORDS.to_vec() } else { words().collect() };
            let near = closest(what, words.iter().copied()).map(str::to_owned);
            return Err(LabFault::NoWord {
                asked,
                near,
                words: words.into_iter().map(str::to_owned).collect(),
            });
        }
        hindrance::grips(plan, &self.hindrances).map(drop)
    }

    /// Whether kubelet is real, and so is its runtime: it does not run without one.
    pub fn is_real(&self) -> bool {
        self.kubelet.is_some() || self.kubernetes.is_some()
    }

    /// Whether something was asked for that may yet end a pause, or is to be seen while it lasts.
    pub(crate) fn may_end_a_pause(&self) -> bool {
        !self.hindrances.is_empty() || self.metadata_fault.is_some() || !self.until.is_empty() || self.shell
    }

    /// The kubelet to run, if it is not to be the stand-in.
    pub(crate) fn real_kubelet(&self) -> Option<PathBuf> {
        let of_cluster = || self.kubernetes.as_ref().map(|cluster| cluster.program("kubelet"));
        self.kubelet.clone().or_else(of_cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"generic",
            "os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname","maxPods":{"fixed":110},"units":[],
            "steps":[
            {"name":"drivers","phase":"pre-install","action":{"do":"run","command":["/bin/true"]}},
            {"name":"gate","phase":"gate","action":{"do":"openGate","environment":{},"queueKubelet":true}},
            {"name":"kubelet","phase":"kubelet","action":{"do":"startKubelet","health":"http://127.0.0.1:1/"}}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn told(wishes: &Wishes) -> Option<String> {
        wishes.check(Some(&plan())).err().map(|fault| fault.to_string())
    }

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn steps_that_the_plan_has_not_are_refused_all_at_once_with_the_nearest_name() {
        let hindrances =
            BTreeMap::from([("nope".to_owned(), Hindrance { failures: 1, ..Hindrance::default() })]);
        let wishes = Wishes {
            power_cuts: names("driver gate"),
            kills: names("nowhere kubelet.service"),
            hindrances,
            until: vec![("never".to_owned(), "started".to_owned())],
            ..Wishes::default()
        };
        assert_eq!(
            told(&wishes).unwrap(),
            "the plan has no such step: `--power-cut driver`, `--kill nowhere`, `--fail nope`, `--until never=started`; \
             did you mean `drivers`?"
        );
        let far = Wishes { kills: names("nowhere"), ..Wishes::default() };
        assert_eq!(
            told(&far).unwrap(),
            "the plan has no such step: `--kill nowhere`; there are `drivers`, `gate`, `kubelet`"
        );
    }

    #[test]
    fn a_carrier_without_a_plan_has_no_steps() {
        let wishes = Wishes { power_cuts: names("drivers"), ..Wishes::default() };
        let said = wishes.check(None).unwrap_err().to_string();
        assert_eq!(
            said,
            "steps are known only where our agent follows a plan, and here it does not: `--power-cut drivers`; `--power-cut`, \
             `--kill` and `--until` take a unit's name, such as `kubelet.service` or, of a document with `agent: none`, \
             `bringup-steps.service`, which runs its steps; `--fail` and `--slow` need the agent"
        );
        let units = Wishes {
            power_cuts: names("theirs.service"),
            kills: names("theirs.service"),
            ..Wishes::default()
        };
        assert!(units.check(None).is_ok());
    }

    #[test]
    fn what_never_happens_is_not_waited_for() {
        let until = |who: &str, what: &str| {
            told(&Wishes { until: vec![(who.to_owned(), what.to_owned())], ..Wishes::default() })
        };
        for (who, what) in
            [("drivers", "paused"), ("agent", "arrived"), ("lab", "power-cut"), ("x.target", "started")]
        {
            assert_eq!(until(who, what), None, "{who}={what}");
        }
        assert!(until("drivers", "pasued").unwrap().ends_with("did you mean `paused`?"));
        assert!(
            until("x.target", "paused")
                .unwrap()
                .ends_with("`starting`, `started`, `failed`, `stopped`, `exited`")
        );
    }

    /// There it asks nobody else; where there is no one to ask at all, nothing can be hindered.
    #[test]
    fn what_a_node_asks_the_api_server_can_be_hindered() {
        let mut asking = plan();
        asking.steps.splice(
            0..0,
            serde_json::from_str::<Vec<_>>(
                r#"[{"name":"identify","phase":"identify","action":{"do":"learnFacts"}}]"#,
            )
            .unwrap(),
        );
        let hindrances =
            BTreeMap::from([("identify".to_owned(), Hindrance { failures: 1, ..Hindrance::default() })]);
        let wishes = Wishes { hindrances: hindrances.clone(), ..Wishes::default() };
        assert!(wishes.check(Some(&asking)).is_err());
        asking.detect = Some(bringup_plan::ApiServer {
            endpoint: "https://api.example:6443/".to_owned(),
            certificate_authority: String::new(),
        });
        let grips = hindrance::grips(Some(&asking), &hindrances).unwrap();
        let urls = hindrance::Grip::Urls(vec!["https://api.example:6443/version".to_owned()]);
        assert_eq!(grips.first().map(|one| &one.grip), Some(&urls));
    }

    #[test]
    fn a_step_that_cannot_be_hindered_is_refused() {
        let hindrances =
            BTreeMap::from([("gate".to_owned(), Hindrance { failures: 1, ..Hindrance::default() })]);
        let said = told(&Wishes { hindrances, ..Wishes::default() }).unwrap();
        assert_eq!(said, "the lab cannot hinder a step `gate`; it can hinder `drivers`, `kubelet`");
    }
}
