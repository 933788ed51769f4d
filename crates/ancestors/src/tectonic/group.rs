//! What one config says of its nodes and of their cluster, as it is found.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_spec::Text;
use bringup_yaml::{Content, Entry, Node, Style};

use super::commands::is_of_configuration;
use super::words::Variables;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// What a command of a unit finds around it.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) variables: Variables,
    pub(super) directory: Option<String>,
}

/// Lines of a drop-in that keep what a unit of the config says and the plan's own does not.
#[derive(Debug, Default)]
pub(super) struct Kept {
    unit: Vec<String>,
    service: Vec<String>,
    /// What the plan's own drop-in, `90-bringup.conf`, would take back.
    last: Vec<String>,
}

impl Kept {
    /// Keeps a setting.
    pub(super) fn keep(&mut self, section: &str, key: &str, value: &str) {
        let line = format!("{key}={value}");
        match (section, key) {
            ("Unit", _) => self.unit.push(line),
            ("Service", "RestartSec" | "EnvironmentFile") => self.last.push(line),
            _ => self.service.push(line),
        }
    }

    /// A unit with drop-ins that hold them; none where nothing is kept.
    pub(super) fn unit(&self, name: &str, span: Span) -> Option<Node> {
        let section = |name: &str, lines: &[String]| {
            if lines.is_empty() { String::new() } else { format!("[{name}]\n{}\n", lines.join("\n")) }
        };
        let first = section("Unit", &self.unit) + &section("Service", &self.service);
        let texts = [("20-tectonic.conf", first), ("95-tectonic.conf", section("Service", &self.last))];
        let drop_ins: Vec<Node> = texts
            .into_iter()
            .filter(|(_, content)| !content.is_empty())
            .map(|(name, content)| {
                let mut drop_in = Branch::new(span);
                drop_in.put("name", text(span, name));
                drop_in.put("content", text(span, content));
                drop_in.into_node()
            })
            .collect();
        if drop_ins.is_empty() {
            return None;
        }
        let mut unit = Branch::new(span);
        unit.put("name", text(span, name));
        unit.put("dropIns", list(span, drop_ins));
        Some(unit.into_node())
    }
}

/// A kind of node, as far as its config speaks of it.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) span: Span,
    pub(super) is_master: bool,
    pub(super) on_aws: bool,
    /// The family of the operating system.
    pub(super) os: &'static str,
    /// Where kubelet's unit, or the one before it, stands.
    pub(super) joins: Option<Span>,
    pub(super) labels: Branch,
    pub(super) taints: Vec<Node>,
    pub(super) max_pods: Option<Node>,
    pub(super) config: Branch,
    pub(super) flags: Branch,
    pub(super) environment: Branch,
    /// What `kubelet.env` sets, for the unit that reads it.
    pub(super) variables: BTreeMap<String, String>,
    pub(super) kept: Kept,
    pub(super) runtime: Branch,
    pub(super) update: Option<Node>,
    pub(super) files: Vec<Node>,
    pub(super) directories: Vec<Node>,
    pub(super) links: Vec<Node>,
    pub(super) units: Vec<Node>,
    pub(super) steps: Vec<Node>,
    pub(super) kernel_arguments: Vec<Node>,
    pub(super) control_plane: Option<Node>,
    pub(super) platform_stage: Option<Node>,
}

impl Group {
    pub(super) fn new(span: Span) -> Self {
        let branch = || Branch::new(span);
        Self {
            span,
            is_master: false,
            on_aws: false,
            os: "flatcar",
            joins: None,
            labels: branch(),
            taints: Vec::new(),
            max_pods: None,
            config: branch(),
            flags: branch(),
            environment: branch(),
            variables: BTreeMap::new(),
            kept: Kept::default(),
            runtime: branch(),
            update: None,
            files: Vec::new(),
            directories: Vec::new(),
            links: Vec::new(),
            units: Vec::new(),
            steps: Vec::new(),
            kernel_arguments: Vec::new(),
            control_plane: None,
            platform_stage: None,
        }
    }

    /// A step before the runtime is set up, or behind kubelet's configuration if it needs that, where what stood in a unit before kubelet ran. One that may fail is tried once.
    pub(super) fn step(&mut self, stem: &str, words: &[String], may_fail: bool, around: &Around, span: Span) {
        let number = self.steps.len().saturating_add(1);
        let mut step = Branch::new(span);
        step.put("name", text(span, format!("{stem}-{number}")));
        step.put("run", list(span, words.iter().map(|word| literal(span, word)).collect()));
        // What needs a file that the agent writes comes behind that, and so does all that follows it.
        let follows = self.steps.last().is_some_and(|last| last.get("after").is_some());
        if follows || is_of_configuration(words) {
            step.put("after", list(span, vec![text(span, "configure")]));
            step.put("before", list(span, vec![text(span, "gate")]));
        } else {
            step.put("before", list(span, vec![text(span, "runtime")]));
        }
        let mut environment = Branch::new(span);
        for (name, value) in &around.variables {
            environment.put(name, literal(span, &value.text));
        }
        step.put_full("environment", environment.into_node());
        step.put_some("directory", around.directory.as_deref().map(|path| text(span, path)));
        if may_fail {
            step.put("attempts", plain(span, 1));
            step.put("onFailure", text(span, "continue"));
        }
        self.steps.push(step.into_node());
    }

    /// The node group.
    pub(super) fn into_node(self, name: &str, sets_up_clusters: bool) -> Node {
        let span = self.span;
        let mut group = Branch::new(span);
        group.put("name", text(span, name));
        if self.on_aws {
            group.put("platform", text(span, "aws"));
        }
        group.put("os", text(span, self.os));
        if self.is_master {
            group.put("role", text(span, "control-plane"));
        }
        if sets_up_clusters {
            group.put("bootstrap", plain(span, true));
        }
        group.put_full("labels", self.labels.into_node());
        group.put_full("taints", list(span, self.taints));
        // What kubelet itself takes where nobody tells it another number.
        group.put("maxPods", self.max_pods.unwrap_or_else(|| plain(span, 110)));
        let mut kubelet = Branch::new(span);
        kubelet.put_full("config", self.config.into_node());
        kubelet.put_full("flags", self.flags.into_node());
        kubelet.put_full("environment", self.environment.into_node());
        group.put_full("kubelet", kubelet.into_node());
        group.put_full("runtime", self.runtime.into_node());
        group.put_full("kernelArguments", list(span, self.kernel_arguments));
        group.put_full("files", list(span, self.files));
        group.put_full("directories", list(span, self.directories));
        group.put_full("links", list(span, self.links));
        group.put_full("steps", list(span, self.steps));
        let mut units = self.units;
        units.extend(self.kept.unit("kubelet.service", span));
        group.put_full("units", list(span, units));
        group.put_some("update", self.update);
        group.put_some("controlPlane", self.control_plane);
        group.put_some("platformStage", self.platform_stage);
        group.put("carriers", list(span, vec![text(span, "ignition")]));
        group.into_node()
    }
}

/// What the configs say of the cluster, all together.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub(super) name: Option<Node>,
    pub(super) version: Option<Node>,
    pub(super) endpoint: Option<Node>,
    pub(super) authority: Option<Node>,
    pub(super) domain: Option<Node>,
    pub(super) dns: Option<Node>,
    /// A reference to the kubeconfig.
    pub(super) kubeconfig: Option<Node>,
    pub(super) proxy: Option<Node>,
    /// Where a unit asks the API server for its version.
    pub(super) detect: Option<Span>,
    /// The minor of Kubernetes, from the configs or from additions.
    pub(super) minor: Option<u16>,
}

impl Cluster {
    /// The version of Kubernetes, where one is said.
    pub(super) fn say_version(&mut self, version: &str, span: Span, tell: &mut Teller<'_>) {
        say(&mut self.version, text(span, version), "the version of Kubernetes", tell);
        let minor = || version.split('.').nth(1)?.parse().ok();
        self.minor = self.minor.or_else(minor);
    }
}

/// Says something of the cluster. Of configs that disagree the first is heard.
pub(super) fn say(slot: &mut Option<Node>, value: Node, what: &str, tell: &mut Teller<'_>) {
    match slot {
        None => *slot = Some(value),
        Some(said) if said.to_value() != value.to_value() => {
            let message = format!("another config has another value for {what}, and a cluster has one");
            tell.warning(codes::FIELD_DIFFERS, value.span, message, "write the same in both");
        }
        Some(_) => {}
    }
}

/// A text in which nothing is a fact of ours.
pub(super) fn literal(span: Span, value: &str) -> Node {
    text(span, Text::literal(value).to_string())
}

/// Puts a value at a path of keys.
pub(super) fn put_at(branch: &mut Branch, path: &[&str], value: Node) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        branch.put(first, value);
        return;
    }
    let known = branch.clone().into_node();
    let mut inner = known.get(first).cloned().unwrap_or_else(|| Branch::new(value.span).into_node());
    put_within(&mut inner, rest, value);
    branch.put(first, inner);
}

fn put_within(node: &mut Node, path: &[&str], value: Node) {
    let (Content::Map(entries), [first, rest @ ..]) = (&mut node.content, path) else { return };
    if rest.is_empty() {
        entries.retain(|entry| entry.key != *first);
        entries.push(Entry {
            key: (*first).to_owned(),
            key_style: Style::Plain,
            key_span: value.span,
            value,
        });
        return;
    }
    if !entries.iter().any(|entry| entry.key == *first) {
        let inner = Branch::new(value.span).into_node();
        entries.push(Entry {
            key: (*first).to_owned(),
            key_style: Style::Plain,
            key_span: value.span,
            value: inner,
        });
    }
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *first) {
        put_within(&mut entry.value, rest, value);
    }
}
