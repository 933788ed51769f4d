//! A trial: boots a subject, watches, and says what it came to.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bringup_progress::Event;
use bringup_spec::NodeNamePolicy;

use crate::address::Address;
use crate::authority::Authority;
use crate::container::Container;
use crate::fault::run;
use crate::folder::Folder;
use crate::hindrance::{self, Grip};
use crate::image::{HOST, Layer};
use crate::intervention::{self, Done, Intervening, Intervention, Wanted};
use crate::kubernetes::{ControlPlane, boot_id};
use crate::metadata::Metadata;
use crate::network::{METADATA, Network};
use crate::outcome::{KubeletKind, Outcome, Requests, Verdict};
use crate::probe::Probe;
use crate::server::{Site, serve};
use crate::watch::Watch;
use crate::{Bench, LabFault, Subject, Way, Wishes, ended, ignition, interruption, order};

/// How long an entry of the journal is waited for before anything else is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Where the agent says how it stands.
const STATUS: &str = "/run/bringup/status.json";

/// A machine on the bench: its layer stays from boot to boot.
#[derive(Debug)]
pub struct Trial {
    lower: PathBuf,
    folder: Folder,
    fresh: bool,
    subject: Subject,
    wishes: Wishes,
    wanted: Wanted,
    authority: Option<Arc<Authority>>,
    events: Vec<Event>,
    requests: Vec<Requests>,
    boots: usize,
    status: Option<serde_json::Value>,
    node: Option<serde_json::Value>,
}

/// Why a boot is over.
enum Over {
    /// There is nothing more to see.
    Settled(Verdict),
    /// The power went.
    Cut,
}

impl Trial {
    /// Puts a subject on the bench.
    pub fn prepare(bench: &Bench, subject: Subject, wishes: Wishes) -> Result<Self, LabFault> {
        interruption::listen();
        let folder = match &wishes.machine {
            Some(path) => Folder::kept(path)?,
            None => Folder::temporary()?,
        };
        let fresh = !folder.has_machine();
        let secure = |url: &str| Address::of(url).is_some_and(|address| address.secure);
        let authority = subject.served.iter().any(|(url, _)| secure(url)).then(Authority::new).transpose()?;
        let trial = Self {
            lower: bench.root().to_owned(),
            folder,
            fresh,
            subject,
            wanted: Wanted { cuts: wishes.power_cuts.clone(), kills: wishes.kills.clone() },
            wishes,
            authority: authority.map(Arc::new),
            events: Vec::new(),
            requests: Vec::new(),
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
                Over::Settled(Verdict::CameUp) if left > 0 => left -= 1,
                Over::Settled(verdict) => break verdict,
            }
        };
        Ok(self.outcome(verdict))
    }

    /// Boots once and watches until there is nothing more to see or the time is over; then the power is cut.
    fn boot(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<Over, LabFault> {
        let network = Network::make()?;
        let site = Arc::new(self.site()?);
        serve(&network, &site)?;
        if self.subject.way == Way::Ignition && std::mem::take(&mut self.fresh) {
            ignition::apply(&self.lower, self.folder.path(), &network, &self.subject.carrier)?;
        }
        let journal = self.layer().path("/var/log/journal");
        let watch = Watch::from_now_on(journal);
        self.boots += 1;
        let first = self.boots;
        let cluster = self.wishes.kubernetes.clone();
        let node = self.node_name();
        let start = |cluster| ControlPlane::start(cluster, &self.lower, &network, &node);
        let mut plane = cluster.as_deref().map(start).transpose()?;
        let more = if cluster.is_some() { self.real_node()? } else { Vec::new() };
        let deadline = Instant::now() + self.wishes.patience;
        let mut container = Container::boot(&self.lower, self.folder.path(), &network, &more)?;
        let probe = self.subject.plan.is_none().then(|| Probe::start(network.file()));
        let mut over = self.watch(&mut container, watch, probe.as_ref(), deadline, tell);
        if let (Some(plane), Ok(Over::Settled(verdict))) = (&mut plane, &over) {
            over = self.registered(plane, *verdict, deadline).map(Over::Settled);
        }
        if self.wishes.shell && matches!(over, Ok(Over::Settled(_))) {
            container.shell()?;
        }
        self.status = container.read(STATUS).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        container.cut();
        self.count_requests(&site, first);
        over
    }

    fn site(&self) -> Result<Site, LabFault> {
        // Whoever wrote somebody else's user-data may expect it.
        let on_aws = self.subject.is_on_aws() || self.subject.plan.is_none();
        let metadata = on_aws
            .then(|| Metadata::new(&self.wishes.instance, &self.subject.carrier, self.wishes.metadata_fault));
        let mut hindrances = std::collections::BTreeMap::new();
        for (grip, hindrance) in hindrance::grips(self.subject.plan.as_ref(), &self.wishes.hindrances)? {
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
            authority: self.authority.clone(),
            hindrances: Mutex::new(hindrances),
            first: std::sync::OnceLock::new(),
            seen: Mutex::default(),
        })
    }

    fn watch(
        &mut self,
        container: &mut Container,
        mut watch: Watch,
        probe: Option<&Probe>,
        deadline: Instant,
        tell: &mut dyn FnMut(&Event),
    ) -> Result<Over, LabFault> {
        let mut boot = String::new();
        let mut last = Instant::now();
        let switch = container.switch();
        let journal = self.layer().path(intervention::JOURNAL);
        let intervening = Intervening::start(journal, switch, self.wanted.clone());
        loop {
            interruption::check()?;
            let entry = watch.next(LOOK)?;
            // What the machine has said until then is told first.
            if entry.is_none() {
                let done = intervening.done();
                if done.into_iter().any(|done| self.tell_done(done, tell)) {
                    return Ok(Over::Cut);
                }
            }
            if let Some(entry) = &entry {
                // A machine may reboot by itself.
                if entry.boot() != boot {
                    self.boots += usize::from(!boot.is_empty());
                    entry.boot().clone_into(&mut boot);
                }
                if let Some(event) = entry.event(self.boots) {
                    if event.actor == "agent" {
                        last = Instant::now();
                    }
                    self.add(event.clone(), tell);
                    if let Some(done) = self.kill_at_unit(&event, container) {
                        self.tell_done(done, tell);
                    }
                }
            }
            if let Some(verdict) = self.settled(probe, last.elapsed()) {
                return Ok(Over::Settled(verdict));
            }
            if entry.is_none()
                && let Some(status) = container.ended()
            {
                let complaint = container.complaint();
                if !status.success() && !complaint.is_empty() {
                    return Err(LabFault::Program {
                        command: "systemd-nspawn".to_owned(),
                        status: status.to_string(),
                        output: complaint,
                    });
                }
                return Ok(Over::Settled(Verdict::NotYet));
            }
            if Instant::now() >= deadline {
                return Ok(Over::Settled(Verdict::NotYet));
            }
        }
    }

    fn add(&mut self, event: Event, tell: &mut dyn FnMut(&Event)) {
        tell(&event);
        self.events.push(event);
    }

    /// Kills the agent where that is wished for a unit's start.
    fn kill_at_unit(&mut self, event: &Event, container: &Container) -> Option<Done> {
        let starts = event.actor.contains('.') && matches!(event.event.as_str(), "starting" | "started");
        let wanted = starts && self.wanted.take(&event.actor) == Some(Intervention::Kill);
        let what = Intervention::Kill;
        (wanted && container.switch().kill_agent()).then(|| Done {
            what,
            step: event.actor.clone(),
            at_ms: event.at_ms,
        })
    }

    /// Tells what was done to the machine; says whether its power is off.
    fn tell_done(&mut self, done: Done, tell: &mut dyn FnMut(&Event)) -> bool {
        let cut = done.what == Intervention::Cut;
        self.wanted.take(&done.step);
        self.add(
            Event {
                at_ms: done.at_ms,
                boot: self.boots.to_string(),
                actor: "lab".to_owned(),
                step: done.step,
                event: if cut { "power-cut" } else { "killed" }.to_owned(),
                why: String::new(),
            },
            tell,
        );
        cut
    }

    /// Whether there is nothing more to see in this boot.
    fn settled(&self, probe: Option<&Probe>, quiet: Duration) -> Option<Verdict> {
        let boot = self.boots.to_string();
        let own: Vec<&Event> = self.events.iter().filter(|event| event.boot == boot).collect();
        let verdict = if let Some(plan) = &self.subject.plan {
            let ended = ended::by_agent(&own, plan, quiet);
            // Where there is a cluster, the agent gets to the end of its plan.
            let last = own.iter().rev().find(|event| event.actor == "agent");
            let arrived = last.is_some_and(|last| matches!(last.event.as_str(), "arrived" | "gave-up"));
            ended.filter(|_| self.wishes.kubernetes.is_none() || arrived)
        } else {
            let cloud_init = self.subject.way != Way::Ignition;
            ended::by_units(&own, cloud_init, probe.and_then(Probe::healthy))
        };
        if self.wishes.until.is_empty() || verdict == Some(Verdict::Failed) {
            // Somebody who wants a shell can mend what is waited for.
            let paused = own.last().is_some_and(|event| event.event == "paused");
            return verdict.or_else(|| (self.wishes.shell && paused).then_some(Verdict::NotYet));
        }
        let seen = |(who, what): &(String, String)| {
            own.iter().any(|event| event.event == *what && (event.step == *who || event.actor == *who))
        };
        self.wishes.until.iter().all(seen).then(|| verdict.unwrap_or(Verdict::NotYet))
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

    /// The name that the machine's node will have.
    fn node_name(&self) -> String {
        let policy = self.subject.plan.as_ref().map(|plan| plan.node_name);
        match policy {
            Some(NodeNamePolicy::InstanceId) => self.wishes.instance.id.clone(),
            _ if self.subject.is_on_aws() => self.wishes.instance.hostname(),
            _ => HOST.to_owned(),
        }
    }

    /// What the agent has asked the metadata service since the first boot of a container.
    fn count_requests(&mut self, site: &Site, first: usize) {
        let Ok(seen) = site.seen.lock() else { return };
        let own: Vec<u64> =
            seen.iter().filter(|seen| seen.agent && seen.metadata).map(|seen| seen.at_ms).collect();
        let boot = first.to_string();
        let opened = self.events.iter().find(|event| event.boot == boot && event.event == "opened");
        let until = opened.map_or(u64::MAX, |event| event.at_ms);
        let until_gate = own.iter().filter(|at_ms| **at_ms <= until).count();
        self.requests.push(Requests { until_gate, all: own.len() });
    }

    fn outcome(&self, verdict: Verdict) -> Outcome {
        let disagreements = order::disagreements(&self.events, self.subject.plan.as_ref());
        let os = match &self.subject.stands_for {
            Some(other) => format!("Debian 12, standing in for {other}"),
            None => "Debian 12".to_owned(),
        };
        let mut stand_ins = vec!["kernel settings and modules".to_owned()];
        if self.wishes.kubernetes.is_none() {
            stand_ins.insert(0, "containerd".to_owned());
        }
        if self.wishes.kubernetes.as_ref().is_some_and(|cluster| cluster.stood_in_for_eks()) {
            stand_ins.push("EKS' authenticator".to_owned());
        }
        let real = self.wishes.real_kubelet().is_some();
        if !real {
            stand_ins.insert(0, "kubelet".to_owned());
        }
        Outcome {
            came_up: verdict == Verdict::CameUp,
            agrees: disagreements.is_empty(),
            os,
            kubelet: if real { KubeletKind::Real } else { KubeletKind::StandIn },
            stand_ins,
            metadata_requests: self.requests.clone(),
            disagreements,
            node: self.node.clone(),
            status: self.status.clone(),
            events: self.events.clone(),
            verdict,
        }
    }

    /// What kubelet wrote in all boots and the control plane in the last one, by name, where they are real.
    pub fn logs(&self) -> Result<Vec<(&'static str, String)>, LabFault> {
        let mut logs = Vec::new();
        if self.wishes.real_kubelet().is_some() {
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
