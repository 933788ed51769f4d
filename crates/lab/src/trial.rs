//! A trial: boots a subject, watches, and says what it came to.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bringup_plan::{Action, Plan};
use bringup_progress::Event;
use bringup_spec::NodeNamePolicy;

use crate::container::Container;
use crate::fault::run;
use crate::image::{HOST, Layer};
use crate::kubernetes::{ControlPlane, boot_id, is_ready};
use crate::metadata::{Instance, Metadata, MetadataFault};
use crate::network::Network;
use crate::outcome::{KubeletKind, Outcome, Verdict, disagreements};
use crate::server::{Site, serve};
use crate::watch::Watch;
use crate::{Bench, Kubernetes, LabFault, Misbehaviour, Subject, Way};

/// How long an entry of the journal is waited for before anything else is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What is wished for beside the subject.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The instance that the machine takes itself for.
    pub instance: Instance,
    /// A kubelet to run, instead of the stand-in.
    pub kubelet: Option<PathBuf>,
    /// A cluster to join.
    pub kubernetes: Option<Arc<Kubernetes>>,
    /// How the stand-in misbehaves.
    pub misbehaviour: Misbehaviour,
    /// How the metadata service fails.
    pub metadata_fault: Option<MetadataFault>,
    /// How often it is booted again after it came up.
    pub reboots: u32,
    /// The power goes when this step begins, once.
    pub power_cut: Option<String>,
    /// How long one boot may take.
    pub patience: Duration,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            instance: Instance::default(),
            kubelet: None,
            kubernetes: None,
            misbehaviour: Misbehaviour::None,
            metadata_fault: None,
            reboots: 0,
            power_cut: None,
            patience: Duration::from_mins(2),
        }
    }
}

/// A machine on the bench: its layer stays from boot to boot.
#[derive(Debug)]
pub struct Trial {
    lower: PathBuf,
    folder: tempfile::TempDir,
    subject: Subject,
    wishes: Wishes,
    events: Vec<Event>,
    metadata_requests: Vec<usize>,
    boots: usize,
    cursor: Option<String>,
    node: Option<serde_json::Value>,
}

impl Trial {
    /// Puts a subject on the bench.
    pub fn prepare(bench: &Bench, subject: Subject, wishes: Wishes) -> Result<Self, LabFault> {
        let folder = tempfile::Builder::new()
            .prefix("bringup-lab-")
            .tempdir()
            .map_err(LabFault::system("make a folder for the run"))?;
        let trial = Self {
            lower: bench.root().to_owned(),
            folder,
            subject,
            wishes,
            events: Vec::new(),
            metadata_requests: Vec::new(),
            boots: 0,
            cursor: None,
            node: None,
        };
        let layer = trial.layer();
        let cluster = trial.wishes.kubernetes.as_deref();
        let kubelet =
            trial.wishes.kubelet.clone().or_else(|| cluster.map(|cluster| cluster.program("kubelet")));
        layer.prepare(
            &trial.subject,
            &trial.wishes.instance,
            kubelet.as_deref(),
            trial.wishes.misbehaviour,
            cluster,
        )?;
        if let Some(cluster) = cluster {
            for (path, content) in cluster.files(&trial.node_name())? {
                layer.write(path, &content, 0o600)?;
            }
        }
        Ok(trial)
    }

    fn layer(&self) -> Layer {
        Layer::at(self.folder.path().join("upper"))
    }

    /// A path of the machine, as it can be read here.
    pub fn path(&self, path: &str) -> PathBuf {
        self.layer().path(path)
    }

    /// What is wished for; may be changed between two boots.
    pub fn wishes(&mut self) -> &mut Wishes {
        &mut self.wishes
    }

    /// The subject; may be changed between two boots.
    pub fn subject(&mut self) -> &mut Subject {
        &mut self.subject
    }

    /// Boots as often as is wished, telling each event as it happens, and says what it came to.
    pub fn hold(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<Outcome, LabFault> {
        let cut = self.wishes.power_cut.is_some();
        let mut verdict = self.boot(tell)?;
        if cut && self.wishes.power_cut.is_none() {
            // The power is back.
            verdict = self.boot(tell)?;
        }
        let mut left = self.wishes.reboots;
        while left > 0 && verdict == Verdict::CameUp {
            left -= 1;
            verdict = self.boot(tell)?;
        }
        Ok(self.outcome(verdict))
    }

    /// Boots once and watches until it came up, failed, or the time is over; then the power is cut.
    pub fn boot(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<Verdict, LabFault> {
        self.boots += 1;
        let name =
            format!("bringup-{}-{}", std::process::id(), self.folder.path().file_name().map_or(0, name_hash));
        let network = Network::make(&name)?;
        let metadata = (self.subject.way == Way::Ec2)
            .then(|| Metadata::new(&self.wishes.instance, &self.subject.carrier, self.wishes.metadata_fault));
        let site = Arc::new(Site {
            metadata,
            served: self.subject.served.clone(),
            started: Instant::now(),
            seen: Mutex::default(),
        });
        serve(&network, &site)?;
        // The machine may be another one now, or have another plan.
        self.layer().kernel(&self.subject, &self.wishes.instance)?;
        let journal = self.path("/var/log/journal");
        let cluster = self.wishes.kubernetes.clone();
        let plane = cluster
            .as_deref()
            .map(|cluster| ControlPlane::start(cluster, &self.lower, &network))
            .transpose()?;
        let more = if cluster.is_some() { self.real_node()? } else { Vec::new() };
        let mut container = Container::boot(&self.lower, self.folder.path(), &network, &more)?;
        let mut watch = Watch::new(journal, self.cursor.clone());
        let deadline = Instant::now() + self.wishes.patience;
        let mut cut = self.wishes.power_cut.clone();
        let verdict = loop {
            while let Some(entry) = watch.next(LOOK)? {
                let Some(event) = entry.event(self.boots) else { continue };
                tell(&event);
                let hit = event.actor == "agent"
                    && event.event == "started"
                    && cut.as_ref().is_some_and(|step| *step == event.step);
                self.events.push(event);
                if hit {
                    container.cut();
                    cut = None;
                    break;
                }
            }
            if let Some(verdict) = self.settled() {
                break verdict;
            }
            if let Some(status) = container.ended() {
                let complaint = container.complaint();
                if !status.success() && !complaint.is_empty() {
                    return Err(LabFault::Program {
                        command: "systemd-nspawn".to_owned(),
                        status: status.to_string(),
                        output: complaint,
                    });
                }
                break Verdict::NotYet;
            }
            if Instant::now() >= deadline {
                break Verdict::NotYet;
            }
        };
        if cut.is_none() {
            self.wishes.power_cut = None;
        }
        let verdict = match &plane {
            Some(plane) => self.registered(plane, verdict, deadline)?,
            None => verdict,
        };
        container.cut();
        self.cursor = watch.cursor().map(str::to_owned);
        let seen =
            site.seen.lock().map(|seen| seen.iter().filter(|seen| seen.agent).count()).unwrap_or_default();
        self.metadata_requests.push(seen);
        Ok(verdict)
    }

    /// Whether there is nothing more to see in this boot.
    fn settled(&self) -> Option<Verdict> {
        let boot = self.boots.to_string();
        let own: Vec<&Event> =
            self.events.iter().filter(|event| event.boot == boot && event.actor == "agent").collect();
        let ended = ended(&own, self.subject.plan.as_ref());
        // Where there is a cluster, the agent gets to the end of its plan.
        let arrived = own.last().is_some_and(|event| event.event == "arrived" || event.event == "gave-up");
        ended.filter(|_| self.wishes.kubernetes.is_none() || arrived)
    }

    /// What the machine's node comes to, once the agent is done.
    fn registered(
        &mut self,
        plane: &ControlPlane<'_>,
        verdict: Verdict,
        deadline: Instant,
    ) -> Result<Verdict, LabFault> {
        let before = self.node.as_ref().and_then(boot_id);
        let deadline = if verdict == Verdict::CameUp { deadline } else { Instant::now() };
        self.node = plane.node(before, deadline)?;
        let ready = self.node.as_ref().is_some_and(is_ready);
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
        match (policy, self.subject.way) {
            (Some(NodeNamePolicy::InstanceId), _) => self.wishes.instance.id.clone(),
            (_, Way::Ec2) => self.wishes.instance.hostname(),
            (_, Way::NoCloud) => HOST.to_owned(),
        }
    }

    /// What it came to so far.
    pub fn outcome(&self, verdict: Verdict) -> Outcome {
        let disagreements = disagreements(&self.events);
        let os = match &self.subject.stands_for {
            Some(other) => format!("Debian 12, standing in for {other}"),
            None => "Debian 12".to_owned(),
        };
        let real = self.wishes.kubernetes.is_some();
        let mut stand_ins = vec!["kernel settings and modules".to_owned()];
        if !real {
            stand_ins.insert(0, "containerd".to_owned());
        }
        let real = real || self.wishes.kubelet.is_some();
        if !real {
            stand_ins.insert(0, "kubelet".to_owned());
        }
        Outcome {
            came_up: verdict == Verdict::CameUp,
            agrees: disagreements.is_empty(),
            os,
            kubelet: if real { KubeletKind::Real } else { KubeletKind::StandIn },
            stand_ins,
            metadata_requests: self.metadata_requests.clone(),
            disagreements,
            node: self.node.clone(),
            events: self.events.clone(),
            verdict,
        }
    }

    /// What a unit wrote to the journal, in all boots.
    pub fn log(&self, unit: &str) -> Result<String, LabFault> {
        let journal = format!("--directory={}", self.path("/var/log/journal").display());
        run("journalctl", &[&journal, "--unit", unit, "--output=short-precise", "--no-pager", "--quiet"])
    }

    /// What the console showed in the last boot.
    pub fn console(&self) -> String {
        let path: &Path = self.folder.path();
        String::from_utf8_lossy(&std::fs::read(path.join("console")).unwrap_or_default()).into_owned()
    }
}

/// What the agent's own events of one boot come to. It says that kubelet's step has finished when kubelet was active and
/// healthy for ten seconds. What follows needs an API server: where there is none, the trial ends with the first step
/// that cannot go on.
fn ended(own: &[&Event], plan: Option<&Plan>) -> Option<Verdict> {
    let kubelet = plan.and_then(|plan| {
        plan.steps
            .iter()
            .find(|step| matches!(step.action, Action::StartKubelet { .. }))
            .map(|step| step.name.as_str())
    });
    let last = own.last()?;
    let came_up = own.iter().any(|event| kubelet == Some(event.step.as_str()) && event.event == "finished");
    let arrived = own.iter().filter(|event| event.event == "arrived").count();
    match last.event.as_str() {
        "gave-up" if !came_up => Some(Verdict::Failed),
        "paused" | "retrying" | "gave-up" if came_up => Some(Verdict::CameUp),
        // The first arrival is at the gate, the second at the end.
        "arrived" if arrived >= 2 => Some(Verdict::CameUp),
        _ => None,
    }
}

/// A short number of a name, so that two trials of one process have networks of their own.
fn name_hash(name: &std::ffi::OsStr) -> u32 {
    name.as_encoded_bytes()
        .iter()
        .fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(*byte)))
        % 100_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"generic",
            "os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname","maxPods":{"fixed":110},"units":[],
            "steps":[{"name":"kubelet","phase":"kubelet","action":{"do":"startKubelet","health":"http://127.0.0.1:1/"}}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn after(events: &[(&str, &str)]) -> Option<Verdict> {
        let events: Vec<Event> = events
            .iter()
            .map(|(step, event)| Event {
                at_ms: 0,
                boot: "1".to_owned(),
                actor: "agent".to_owned(),
                step: (*step).to_owned(),
                event: (*event).to_owned(),
                why: String::new(),
            })
            .collect();
        ended(&events.iter().collect::<Vec<_>>(), Some(&plan()))
    }

    #[test]
    fn arriving_at_the_gate_is_not_the_end() {
        assert_eq!(after(&[("gate", "opened"), ("", "arrived")]), None);
        assert_eq!(
            after(&[("", "arrived"), ("kubelet", "finished"), ("", "arrived")]),
            Some(Verdict::CameUp)
        );
    }

    #[test]
    fn a_pause_is_the_end_only_once_kubelet_is_healthy() {
        assert_eq!(after(&[("sysctls", "paused")]), None, "it may be mended");
        assert_eq!(after(&[("kubelet", "finished"), ("registered", "paused")]), Some(Verdict::CameUp));
    }

    #[test]
    fn giving_up_before_kubelet_is_a_failure() {
        assert_eq!(after(&[("hook", "failed"), ("hook", "gave-up")]), Some(Verdict::Failed));
        assert_eq!(after(&[("kubelet", "finished"), ("last", "gave-up")]), Some(Verdict::CameUp));
    }
}
