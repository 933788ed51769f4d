//! What there is to show of a node group, for the terminal, for programs and for the report alike.

use std::collections::{BTreeMap, BTreeSet};

use bringup_carry::PartSize;
use bringup_diag::{Findings, Severity, masked_line};
use bringup_plan::{Action, Origin, Plan, Provenance, Step};
use bringup_spec::{Document, NodeGroup, Phase, SignalKind, SwapPolicy};

use crate::own_parts::OwnParts;

/// One node group after a build.
#[derive(Debug)]
pub(crate) struct GroupView {
    /// Its plan.
    pub(crate) plan: Plan,
    /// SHA-256 of the plan's canonical form.
    pub(crate) digest: String,
    /// How many steps it has.
    pub(crate) steps: usize,
    /// What carries it.
    pub(crate) carriers: Vec<CarrierView>,
    /// Where values came from.
    pub(crate) origins: Vec<OriginView>,
    /// What was found in this group.
    pub(crate) findings: Findings,
    /// What the operator wrote, as opposed to what follows from it.
    pub(crate) operator: Operator,
    /// The operator's own parts of user-data.
    pub(crate) own: OwnParts,
    /// What nobody promises where our agent is not on the node.
    pub(crate) lost: Vec<LostView>,
}

/// Guarantees that are lost with some of a group's carriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostView {
    /// The carriers.
    pub(crate) carriers: Vec<&'static str>,
    /// The guarantees, each a phrase.
    pub(crate) lost: Vec<&'static str>,
}

impl GroupView {
    /// Drops what only a full section of the report shows: of ten thousand groups, few have one.
    pub(crate) fn shorten(&mut self) {
        self.plan.steps = Vec::new();
        self.plan.units = Vec::new();
        self.plan.certificate_authorities = Vec::new();
        self.origins = Vec::new();
        self.own = OwnParts::default();
    }

    /// Whether all of it is there.
    pub(crate) fn is_whole(&self) -> bool {
        self.plan.steps.len() == self.steps
    }

    /// Whether there is something that a person should look at.
    pub(crate) fn is_remarkable(&self) -> bool {
        self.count(Severity::Error) + self.count(Severity::Warning) > 0
    }

    /// How many findings have this weight.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings.count(severity)
    }

    /// `CLUSTER/GROUP`
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.plan.cluster, self.plan.group)
    }
}

/// One rendered carrier.
#[derive(Clone, Debug)]
pub(crate) struct CarrierView {
    /// Its kind, as `carriers:` names it.
    pub(crate) kind: &'static str,
    /// The name of its file.
    pub(crate) file: String,
    /// How large the file is.
    pub(crate) size: usize,
    /// What counts against the platform's limit, where there is one.
    pub(crate) budget: Option<BudgetView>,
    /// SHA-256 of the file.
    pub(crate) sha256: String,
}

/// A size against a limit.
#[derive(Clone, Debug)]
pub(crate) struct BudgetView {
    /// What counts.
    pub(crate) used: usize,
    /// What fits.
    pub(crate) limit: usize,
    /// Whose limit.
    pub(crate) whose: String,
    /// The pieces that it is made of.
    pub(crate) parts: Vec<PartSize>,
}

impl BudgetView {
    /// Whether it does not fit.
    pub(crate) fn is_over(&self) -> bool {
        self.used > self.limit
    }

    /// What is left, in bytes; below zero where it does not fit.
    pub(crate) fn margin(&self) -> i64 {
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        signed(self.limit) - signed(self.used)
    }

    /// Whether it will soon not fit, or does not.
    pub(crate) fn is_tight(&self) -> bool {
        self.percent() > 90
    }

    /// How much is used, in percent, rounded up: 100 means that it fits exactly.
    pub(crate) fn percent(&self) -> usize {
        self.used.saturating_mul(100).div_ceil(self.limit.max(1))
    }
}

/// Where a value came from.
#[derive(Clone, Debug)]
pub(crate) struct OriginView {
    /// What it is.
    pub(crate) subject: String,
    /// The value, shortened.
    pub(crate) value: String,
    /// `document`, `derived`, `default` or `node`.
    pub(crate) kind: &'static str,
    /// How, in words.
    pub(crate) why: String,
    /// The path in the document.
    pub(crate) path: Option<String>,
    /// The line of the document.
    pub(crate) line: Option<u32>,
    /// The file with that line, where it is another than the document's own: additions, a part of user-data.
    pub(crate) file: Option<String>,
}

impl OriginView {
    /// Looks up the line of an origin.
    pub(crate) fn new(provenance: &Provenance, document: &Document) -> Self {
        let (kind, path, why) = match &provenance.origin {
            Origin::Document(path) => ("document", Some(path), String::new()),
            Origin::Derived(path, how) => ("derived", Some(path), how.clone()),
            Origin::Default(why) => ("default", None, why.clone()),
            Origin::Node(why) => ("node", None, why.clone()),
        };
        let place = path.map(|path| document.key_place(path));
        Self {
            subject: provenance.subject.clone(),
            value: provenance.value.clone(),
            kind,
            why,
            path: path.map(ToString::to_string),
            line: place.as_ref().map(|place| place.span.start.line),
            file: place.map(|place| place.file).filter(|file| *file != document.file),
        }
    }
}

/// The names and paths that the operator wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operator {
    /// Steps and hooks, each with what it asked for.
    names: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Operator {
    /// Of one node group with its cluster.
    pub(crate) fn new(document: &Document, group: &NodeGroup) -> Self {
        let spec = &document.cluster.spec;
        let hooks = spec.hooks.iter().chain(&group.hooks);
        let hooks = hooks.map(|hook| (hook.name.to_string(), format!("on {}", hook.on)));
        let steps = group.steps.iter().map(|step| {
            let mut asked = Vec::new();
            if !step.after.is_empty() {
                asked.push(format!("after {}", step.after.join(", ")));
            }
            if !step.before.is_empty() {
                asked.push(format!("before {}", step.before.join(", ")));
            }
            (step.name.to_string(), asked.join(" and "))
        });
        let files = spec.files.iter().chain(&group.files).map(|file| file.path.as_str());
        let assets = spec.assets.iter().chain(&group.assets).map(|asset| asset.path.as_str());
        let directories = group.directories.iter().map(|directory| directory.path.as_str());
        let links = group.links.iter().map(|link| link.path.as_str());
        Self {
            names: steps.chain(hooks).collect(),
            paths: files.chain(assets).chain(directories).chain(links).map(ToOwned::to_owned).collect(),
        }
    }

    /// Where the operator wants this step of theirs, in words; empty if they leave it open.
    pub(crate) fn asked(&self, step: &Step) -> Option<&str> {
        // A plan may put what it is before the name: `hook:check`.
        let name = step.name.rsplit(':').next().unwrap_or_default();
        self.names.get(&step.name).or_else(|| self.names.get(name)).map(String::as_str)
    }

    /// Whether the step does what the operator wrote, rather than what follows from it.
    pub(crate) fn wrote(&self, step: &Step) -> bool {
        match &step.action {
            Action::Run { hook, .. } => {
                hook.is_some()
                    || self.asked(step).is_some()
                    || matches!(step.phase, Phase::ControlPlane | Phase::Platform)
            }
            Action::WriteFile { path, .. }
            | Action::MakeDirectory { path, .. }
            | Action::MakeLink { path, .. }
            | Action::Fetch { path, .. } => {
                // A directory's files lie beneath its path.
                self.paths.contains(path)
                    || self
                        .paths
                        .iter()
                        .any(|own| path.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('/')))
            }
            _ => false,
        }
    }
}

/// What a step does, in a few words.
pub(crate) fn summary_of(action: &Action) -> String {
    match action {
        Action::LearnFacts => "learn the facts of this machine".to_owned(),
        Action::WriteFile { path, mode, .. } => format!("write {path} ({mode})"),
        Action::MakeDirectory { path, mode, .. } => format!("make {path}/ ({mode})"),
        Action::MakeLink { path, target } => format!("link {path} → {target}"),
        Action::Fetch { urls, path, .. } => {
            format!("fetch {path} from {}", urls.first().map_or("nowhere", |url| host_of(url)))
        }
        Action::RemoveOldData { directories } => {
            format!("remove what was set aside of {}", directories.join(", "))
        }
        Action::Install { software, version, source, choices, .. } => {
            use bringup_plan::InstallSource as Source;
            let mut version = version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
            if !choices.is_empty() {
                version.push_str(" (or what goes with the cluster's version)");
            }
            match source {
                Source::Image => format!("check {software}{version} of the image"),
                Source::Package { package } => format!("install {software}{version} from package {package}"),
                Source::Extension { .. } => format!("install {software}{version} as a system extension"),
                Source::Url { urls, .. } => {
                    format!(
                        "install {software}{version} from {}",
                        urls.first().map_or("nowhere", |url| host_of(url))
                    )
                }
            }
        }
        Action::LoadModules { modules } => format!("load {}", modules.join(", ")),
        Action::SetSysctls { settings, .. } => {
            let mut names: Vec<String> = settings.keys().take(2).cloned().collect();
            if settings.len() > 2 {
                names.push(format!("{} more", settings.len() - 2));
            }
            format!("set {}", names.join(", "))
        }
        Action::SetKernelArguments { arguments } => format!("kernel arguments {}", arguments.join(" ")),
        Action::SetSwap { policy: SwapPolicy::Off, .. } => "turn swap off".to_owned(),
        Action::SetSwap { policy: SwapPolicy::Keep, .. } => "leave swap as it is".to_owned(),
        Action::SetSwap { policy: SwapPolicy::File, .. } => "make a swap file".to_owned(),
        Action::UpdateOs { .. } => "update the operating system".to_owned(),
        Action::Reboot { always: true } => "reboot".to_owned(),
        Action::Reboot { always: false } => "reboot if something needs it".to_owned(),
        Action::Run { command, .. } => {
            let words: Vec<String> = command.iter().map(ToString::to_string).collect();
            format!("run {}", masked_line(&words.join(" ")))
        }
        Action::TrustAuthorities { bundle } => format!("trust the document's authorities in {bundle}"),
        Action::StartUnit { unit, .. } => format!("start {unit}"),
        Action::KeepAddresses { host, path } => format!("keep the addresses of {host} in {path}"),
        Action::PlaceUnits => "place units, reload, enable".to_owned(),
        Action::OpenGate { .. } => "open the gate: kubelet may start".to_owned(),
        Action::StartKubelet { snap: Some(snap), .. } => {
            format!("set the snap {}, start it and see it healthy", snap.name)
        }
        Action::StartKubelet { .. } => "start kubelet and see it healthy".to_owned(),
        Action::AwaitRegistration { check_skew: false, .. } => "wait for the node object".to_owned(),
        Action::AwaitRegistration { check_skew: true, .. } => {
            "wait for the node object, hold the API server's version against kubelet's".to_owned()
        }
        Action::Signal { kind: SignalKind::CloudFormation, .. } => "tell the stack how it ended".to_owned(),
        Action::Signal { kind: SignalKind::LifecycleAction, .. } => {
            "complete the life-cycle action".to_owned()
        }
        Action::Signal { kind: SignalKind::Http, .. } => "post how it ended".to_owned(),
        Action::Signal { kind: SignalKind::File, .. } => "write how it ended to a file".to_owned(),
        Action::Report => "write done.json or failed.json".to_owned(),
    }
}

fn host_of(url: &str) -> &str {
    url.split("://").nth(1).unwrap_or(url).split('/').next().unwrap_or(url)
}

/// A number with commas between the thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 step`, `2 steps`
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{BudgetView, counted, grouped};

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 16_384, 1_234_567].map(grouped),
            ["0", "999", "1,000", "16,384", "1,234,567"]
        );
        assert_eq!(counted(1, "step"), "1 step");
    }

    #[test]
    fn one_byte_too_many_is_more_than_a_hundred_percent() {
        let budget = |used| BudgetView { used, limit: 16_384, whose: String::new(), parts: Vec::new() };
        assert_eq!(budget(16_384).percent(), 100);
        assert!(!budget(16_384).is_over());
        assert_eq!(budget(16_385).percent(), 101);
        assert!(budget(16_385).is_over());
    }
}
