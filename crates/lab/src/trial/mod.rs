//! A trial: boots a subject, watches, and says what it came to.

mod boot;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bringup_plan::STEPS_UNIT;
use bringup_progress::Event;
use bringup_spec::NodeNamePolicy;

use crate::address::Address;
use crate::authority::Authority;
use crate::fault::run;
use crate::folder::Folder;
use crate::hindrance::{self, Grip, Hindered};
use crate::image::{HOST, Layer};
use crate::intervention::{self, Done, Wanted};
use crate::metadata::Metadata;
use crate::network::{self, METADATA};
use crate::outcome::{Failing, KubeletKind, Outcome, Requests, Verdict};
use crate::passed_over::{self, Kind, PassedOver};
use crate::server::Site;
use crate::stand_in::{docker, joins_by_kubeadm};
use crate::{Bench, LabFault, Subject, Wishes, accounts, ended, image_units, interruption, order};
use boot::Over;

/// A machine on the bench: its layer stays from boot to boot.
#[derive(Debug)]
pub struct Trial {
    lower: PathBuf,
    folder: Folder,
    fresh: bool,
    subject: Subject,
    wishes: Wishes,
    wanted: Wanted,
    /// The power cut that is yet to be told.
    cut: Option<Done>,
    authority: Option<Arc<Authority>>,
    events: Vec<Event>,
    requests: Vec<Requests>,
    /// Addresses that were asked for and hindered.
    hindered: BTreeSet<String>,
    /// What was waited for and not seen when the time was over, as it was asked for.
    unseen: Vec<String>,
    boots: usize,
    status: Option<serde_json::Value>,
    node: Option<serde_json::Value>,
}

impl Trial {
    /// Puts a subject on the bench.
    pub fn prepare(bench: &Bench, subject: Subject, mut wishes: Wishes) -> Result<Self, LabFault> {
        interruption::listen();
        if let Some(plan) = &subject.plan {
            wishes.instance.address = network::address(&plan.cluster_ranges);
        }
        let folder = match &wishes.machine {
            Some(path) => Folder::kept(path)?,
            None => Folder::temporary()?,
        };
        let fresh = !folder.has_machine();
        let secure = |url: &str| Address::of(url).is_some_and(|address| address.secure);
        let authority = match &subject.authority {
            Some(named) => Some(Arc::clone(named)),
            None if subject.served.iter().any(|(url, _)| secure(url)) => {
                Some(Arc::new(Authority::of(wishes.machine.as_deref())?))
            }
            None => None,
        };
        let trial = Self {
            lower: bench.root().to_owned(),
            folder,
            fresh,
            subject,
            wanted: Wanted { cuts: wishes.power_cuts.clone(), kills: wishes.kills.clone() },
            cut: None,
            wishes,
            authority,
            events: Vec::new(),
            requests: Vec::new(),
            hindered: BTreeSet::new(),
            unseen: Vec::new(),
            boots: 0,
            status: None,
            node: None,
        };
        for part in ["upper", "work", "merged"] {
            let path = trial.folder.path().join(part);
            std::fs::create_dir_all(&path).map_err(LabFault::file("make", &path))?;
        }
        let layer = trial.layer();
        if fresh {
            layer.found(trial.subject.way)?;
            if accounts::are_of(&trial.subject) {
                accounts::add(&layer, &trial.lower)?;
            }
        }
        layer.prepare(&trial.subject, &trial.wishes, trial.authority.as_deref(), &trial.lower)?;
        if let Some(cluster) = &trial.wishes.kubernetes {
            for (path, content) in cluster.files(&trial.node_name())? {
                layer.write(path, &content, 0o600)?;
            }
        }
        Ok(trial)
    }

    fn layer(&self) -> Layer {
        Layer::at(self.folder.path().join("upper"))
    }

    /// Boots as often as is wished, telling each event as it happens, and says what it came to.
    pub fn hold(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<Outcome, LabFault> {
        let mut left = self.wishes.reboots;
        let verdict = loop {
            match self.boot(tell)? {
                // The power is back.
                Over::Cut => {}
                Over::Settled(Verdict::CameUp) if left > 0 && self.unseen.is_empty() => left -= 1,
                Over::Settled(verdict) => break verdict,
            }
        };
        self.outcome(verdict)
    }

    fn site(&self) -> Result<Site, LabFault> {
        // Whoever wrote somebody else's user-data may expect it.
        let on_aws = self.subject.is_on_aws() || self.subject.plan.is_none();
        let metadata = on_aws
            .then(|| Metadata::new(&self.wishes.instance, &self.subject.carrier, self.wishes.metadata_fault));
        let mut hindrances = std::collections::BTreeMap::new();
        for Hindered { grip, hindrance, .. } in
            hindrance::grips(self.subject.plan.as_ref(), &self.wishes.hindrances)?
        {
            match grip {
                Grip::Unit(_) => {}
                Grip::Metadata => {
                    hindrances.insert(METADATA.to_owned(), *hindrance);
                }
                Grip::Urls(urls) => hindrances.extend(urls.into_iter().map(|url| (url, *hindrance))),
            }
        }
        Ok(Site {
            metadata,
            served: self.subject.served.clone(),
            proxies: self.subject.proxies(),
            authority: self.authority.clone(),
            hindrances: Mutex::new(hindrances),
            first: std::sync::OnceLock::new(),
            hindered: Mutex::default(),
            seen: Mutex::default(),
            heard: Mutex::default(),
        })
    }

    /// The name that the machine's node will have.
    fn node_name(&self) -> String {
        let policy = self.subject.plan.as_ref().map(|plan| plan.node_name);
        match policy {
            Some(NodeNamePolicy::InstanceId) => self.wishes.instance.id.clone(),
            _ if self.subject.is_on_aws() => self.wishes.instance.hostname(),
            _ => HOST.to_owned(),
        }
    }

    /// What was asked for and has not been done, as it was asked for.
    fn left_undone(&self) -> Result<Vec<String>, LabFault> {
        let (plan, layer) = (self.subject.plan.as_ref(), self.layer());
        let hindered = hindrance::grips(plan, &self.wishes.hindrances)?;
        let mut left = self.wanted.left();
        left.extend(hindered.iter().filter(|one| !one.was_met(&layer, &self.hindered)).map(Hindered::asked));
        Ok(left)
    }

    fn outcome(&self, verdict: Verdict) -> Result<Outcome, LabFault> {
        let mut events = order::as_it_happened(&self.events);
        let mut left_undone = self.left_undone()?;
        for place in intervention::late_kills(&events).into_iter().rev() {
            left_undone.push(format!("--kill {}", events.remove(place).step));
        }
        let failing = self.failing(verdict);
        let disagreements = order::disagreements(&events, self.subject.plan.as_ref());
        let os = match &self.subject.stands_for {
            Some(other) => format!("Debian 12, standing in for {other}"),
            None => "Debian 12".to_owned(),
        };
        let mut stand_ins = vec!["kernel settings and modules".to_owned()];
        if self.wishes.kubernetes.as_ref().is_some_and(|cluster| cluster.stood_in_for_eks()) {
            stand_ins.push("EKS' authenticator".to_owned());
        }
        stand_ins.extend(accounts::are_of(&self.subject).then(|| accounts::NAMES.to_owned()));
        let units = image_units::of(&self.subject);
        stand_ins
            .extend((!units.is_empty()).then(|| format!("services of the image ({})", units.join(", "))));
        stand_ins.extend(self.subject.stand_ins.iter().cloned());
        stand_ins.extend((!self.subject.proxies().is_empty()).then(|| "the proxy".to_owned()));
        let real = self.wishes.is_real();
        if !real {
            stand_ins.splice(0..0, ["kubelet", "containerd"].map(str::to_owned));
            let docker = self.subject.plan.as_ref().and_then(docker);
            stand_ins.extend(docker.map(|_| "docker".to_owned()));
            let joins = self.subject.plan.as_ref().is_some_and(joins_by_kubeadm);
            stand_ins.extend(joins.then(|| "kubeadm".to_owned()));
            stand_ins.extend(self.subject.kubelet_snap.as_ref().map(|_| "snapd".to_owned()));
            stand_ins.extend(self.subject.needs_snap().then(|| "snap".to_owned()));
            // The root with a real kubelet has a real one.
            stand_ins.extend(self.subject.stands_for.is_some().then(|| "iptables".to_owned()));
        }
        Ok(Outcome {
            came_up: verdict == Verdict::CameUp,
            agrees: disagreements.is_empty(),
            os,
            kubelet: if real { KubeletKind::Real } else { KubeletKind::StandIn },
            stand_ins,
            metadata_requests: self.requests.clone(),
            disagreements,
            left_undone,
            unseen: self.unseen.clone(),
            passed_over: self.passed_over(&events, &failing),
            failing,
            node: self.node.clone(),
            status: self.status.clone(),
            events,
            verdict,
        })
    }

    /// What kept the machine from coming up: the agent's own word, or units that have failed.
    fn failing(&self, verdict: Verdict) -> Vec<Failing> {
        if verdict == Verdict::CameUp {
            return Vec::new();
        }
        // An agent that was never started has nothing to say.
        if let (Some(_), Some(status)) = (&self.subject.plan, &self.status) {
            let mut failing = Failing::of_agent(status);
            // What a program wrote is kept on the disk, whether or not the agent repeats it.
            if let Some(failing) = failing.as_mut().filter(|failing| failing.tail.is_empty()) {
                failing.tail = self.output_of(&failing.what);
            }
            return failing.into_iter().collect();
        }
        let boot = self.boots.to_string();
        let own = self.events.iter().filter(|event| event.boot == boot);
        let failed = ended::failed_units(own).into_iter();
        failed.map(|unit| Failing::of_unit(unit, self.log_of(unit))).collect()
    }

    /// The last lines of a unit's log.
    fn log_of(&self, unit: &str) -> String {
        let directory = format!("--directory={}", self.layer().path("/var/log/journal").display());
        let unit = format!("--unit={unit}");
        let form = ["--lines=10", "--output=cat", "--no-pager", "--quiet"];
        run("journalctl", &[[directory.as_str(), &unit].as_slice(), &form].concat()).unwrap_or_default()
    }

    /// What a step's program wrote, as it is kept on the disk.
    fn output_of(&self, step: &str) -> String {
        let path = self.layer().path(&format!("/var/lib/bringup/output/{}", step.replace('/', "_")));
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    }

    /// What failed without keeping the machine from coming up, with the end of what it wrote.
    fn passed_over(&self, events: &[Event], failing: &[Failing]) -> Vec<PassedOver> {
        let mut passed = passed_over::of(events);
        passed.retain(|one| failing.iter().all(|failing| failing.what != one.what));
        let last = self.boots.to_string();
        for one in &mut passed {
            // A program's output is that of its last attempt.
            let is_last = |event: &&Event| event.step == one.what && event.event == "started";
            let begun = events.iter().rev().find(is_last).map(|event| &event.boot);
            one.tail = match one.kind {
                // Without the agent, all that the steps write is in one log.
                Kind::Step if begun.is_none() && one.boot == last => self.log_of(STEPS_UNIT),
                Kind::Step if begun == Some(&one.boot) => passed_over::end(&self.output_of(&one.what)),
                Kind::Unit if one.boot == last => self.log_of(&one.what),
                Kind::Step | Kind::Unit => String::new(),
            };
        }
        passed
    }

    /// What kubelet wrote in all boots and the control plane in the last one, by name, where they are real.
    pub fn logs(&self) -> Result<Vec<(&'static str, String)>, LabFault> {
        let mut logs = Vec::new();
        if self.wishes.is_real() {
            let journal = format!("--directory={}", self.layer().path("/var/log/journal").display());
            let form = ["--unit=kubelet.service", "--output=short-precise", "--no-pager", "--quiet"];
            logs.push(("kubelet", run("journalctl", &[[journal.as_str()].as_slice(), &form].concat())?));
        }
        logs.extend(self.wishes.kubernetes.iter().flat_map(|cluster| cluster.logs()));
        Ok(logs)
    }

    /// What the console showed in the last boot.
    pub fn console(&self) -> String {
        let path = self.folder.path().join("console");
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    }
}
