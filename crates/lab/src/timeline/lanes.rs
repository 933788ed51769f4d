//! Events as lanes: who was at work from when to when.

use bringup_progress::Event;

/// How a stretch of work is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// A step of the agent.
    Step,
    /// A unit of the system.
    Unit,
    /// Kubelet.
    Kubelet,
    /// It failed.
    Bad,
    /// It waits: for the next attempt, for the operator.
    Waiting,
}

impl Tone {
    /// As a class of the picture.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Unit => "unit",
            Self::Kubelet => "kubelet",
            Self::Bad => "bad",
            Self::Waiting => "waiting",
        }
    }
}

/// A stretch of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) tone: Tone,
    pub(super) why: String,
}

/// One name and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) bars: Vec<Bar>,
}

/// One boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boot {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Units that matter to a node, and the agent as a whole.
    pub(super) units: Vec<Lane>,
    /// The agent's steps.
    pub(super) steps: Vec<Lane>,
    /// Moments: the gate, a power cut, a kill.
    pub(super) marks: Vec<(u64, &'static str)>,
    /// How many steps were done already.
    pub(super) skipped: usize,
}

/// Whether a unit matters to a node.
fn matters(unit: &str) -> bool {
    const NAMES: [&str; 8] = [
        "kubelet",
        "containerd.service",
        "docker.service",
        "bringup",
        "cloud-init",
        "cloud-config.service",
        "cloud-final.service",
        "multi-user.target",
    ];
    NAMES.iter().any(|name| unit.starts_with(name)) && !unit.ends_with(".socket")
}

/// The boots of a list of events.
pub(super) fn boots(events: &[Event]) -> Vec<Boot> {
    let mut names: Vec<&str> = Vec::new();
    for event in events {
        if !names.contains(&event.boot.as_str()) {
            names.push(&event.boot);
        }
    }
    let own = |name: &&str| events.iter().filter(|event| event.boot == **name).collect::<Vec<_>>();
    names.iter().map(|name| boot(name, &own(name))).collect()
}

fn boot(name: &str, events: &[&Event]) -> Boot {
    let from = events.iter().map(|event| event.at_ms).min().unwrap_or_default();
    let to = events.iter().map(|event| event.at_ms).max().unwrap_or_default().max(from + 1);
    let mut boot = Boot {
        name: name.to_owned(),
        from,
        to,
        units: Vec::new(),
        steps: Vec::new(),
        marks: Vec::new(),
        skipped: 0,
    };
    let failed = |unit: &str| events.iter().any(|event| event.actor == unit && event.event == "failed");
    for event in events {
        match (event.actor.as_str(), event.event.as_str()) {
            ("agent", "opened") => boot.marks.push((event.at_ms, "gate")),
            ("lab", "power-cut") => boot.marks.push((event.at_ms, "power cut")),
            ("lab", "killed") => boot.marks.push((event.at_ms, "agent killed")),
            _ => {}
        }
        match event.actor.as_str() {
            "agent" if event.step.is_empty() => {}
            "agent" if event.event == "skipped" => {
                // After the gate, a second agent passes by what the first has done.
                boot.skipped += usize::from(!boot.marks.iter().any(|(_, name)| *name == "gate"));
            }
            "agent" => step(&mut boot.steps, event, to),
            "lab" => {}
            // What the agent runs on behalf of its steps shows in them.
            name if name.starts_with("bringup-step-") => {}
            name if matters(name) || failed(name) => unit(&mut boot.units, event, to),
            _ => {}
        }
    }
    boot
}

fn lane<'a>(lanes: &'a mut Vec<Lane>, name: &str) -> Option<&'a mut Lane> {
    if !lanes.iter().any(|lane| lane.name == name) {
        lanes.push(Lane { name: name.to_owned(), bars: Vec::new() });
    }
    lanes.iter_mut().find(|lane| lane.name == name)
}

fn close(lane: &mut Lane, at_ms: u64) {
    if let Some(bar) = lane.bars.last_mut() {
        bar.to = at_ms.max(bar.from).min(bar.to);
    }
}

fn step(lanes: &mut Vec<Lane>, event: &Event, end: u64) {
    let Some(lane) = lane(lanes, &event.step) else { return };
    let open = |tone: Tone| Bar { from: event.at_ms, to: end, tone, why: event.why.clone() };
    close(lane, event.at_ms);
    match event.event.as_str() {
        "started" | "adopted" => lane.bars.push(open(Tone::Step)),
        "retrying" | "paused" => lane.bars.push(open(Tone::Waiting)),
        "failed" | "timed-out" | "gave-up" => {
            if let Some(bar) = lane.bars.last_mut() {
                (bar.tone, bar.why) = (Tone::Bad, event.why.clone());
            }
        }
        _ => {}
    }
}

fn unit(lanes: &mut Vec<Lane>, event: &Event, end: u64) {
    let name = event.actor.as_str();
    let Some(lane) = lane(lanes, name) else { return };
    let tone = if name.starts_with("kubelet") { Tone::Kubelet } else { Tone::Unit };
    let stays = name.starts_with("kubelet") || name.starts_with("containerd") || name.starts_with("docker");
    let open = |to: u64| Bar { from: event.at_ms, to, tone, why: event.why.clone() };
    match event.event.as_str() {
        "starting" => lane.bars.push(open(end)),
        "started" if stays => {
            close(lane, event.at_ms);
            lane.bars.push(open(end));
        }
        "started" => {
            let under_way = lane.bars.last().is_some_and(|bar| bar.to == end);
            if under_way { close(lane, event.at_ms) } else { lane.bars.push(open(event.at_ms)) }
        }
        "failed" | "exited" => {
            close(lane, event.at_ms);
            if let Some(bar) = lane.bars.last_mut() {
                (bar.tone, bar.why) = (Tone::Bad, event.why.clone());
            }
        }
        _ => close(lane, event.at_ms),
    }
}
