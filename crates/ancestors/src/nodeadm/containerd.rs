//! containerd: its configuration, what containers start from, and pulls in parallel.

use bringup_diag::Span;
use bringup_spec::nodeconfig::{
    PARALLEL_PULLS_NEED, SNAPSHOTTER_CONFIG, SNAPSHOTTER_DROP_IN, SNAPSHOTTER_IMPORT, SNAPSHOTTER_SOCKET,
    base_runtime_spec, snapshotter_config, snapshotter_plugin,
};
use bringup_yaml::Node;
use serde_json::{Value, json};

use super::merge::one_text;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// Where nodeadm writes what containers start from.
const PATH: &str = "/etc/containerd/base-runtime-spec.json";

/// What becomes of a NodeConfig's words on containerd.
pub(super) struct Containerd {
    /// `runtime` of the group.
    pub(super) runtime: Node,
    /// Files beside it.
    pub(super) files: Vec<Node>,
    /// Drop-ins of its unit.
    pub(super) units: Vec<Node>,
    /// The step that comes with another snapshotter.
    pub(super) import: Option<Node>,
    /// Where kubelet asks for images.
    pub(super) image_endpoint: Option<Node>,
}

/// Translates `containerd`; `parallel` is the feature gate that has images pulled in parallel, where it is on.
pub(super) fn translated(
    containerd: &Record<'_>,
    parallel: Option<&Node>,
    span: Span,
    tell: &mut Teller<'_>,
) -> Containerd {
    let config = containerd.entry("config");
    let own = config.and_then(|config| config.value.text()).unwrap_or_default();
    // nodeadm, too, takes what names the newer schema's plugins for it.
    let newer = own.contains("io.containerd.cri.v1.")
        || own.lines().any(|line| line.replace(' ', "").starts_with("version=3"));
    let given = containerd.get("baseRuntimeSpec").filter(|given| !is_nothing(given));
    let mut files = Vec::new();
    let mut units = Vec::new();
    let mut image_endpoint = None;
    let mut ours = toml::Table::new();
    // The plan writes it itself where nothing is said, and has containerd take it.
    files.extend(given.and_then(|given| base_spec(given, tell)));
    if let Some(gate) = parallel {
        let choice = json!({"snapshotter": "soci", "disable_snapshot_annotations": false});
        let plugins = if newer {
            json!({"io.containerd.cri.v1.images": choice})
        } else {
            json!({"io.containerd.grpc.v1.cri": {"containerd": choice}})
        };
        lay(&mut ours, &json!({"proxy_plugins": snapshotter_plugin(), "plugins": plugins}));
        files.push(snapshotter_file(gate.span));
        units.push(snapshotter_unit(gate.span));
        image_endpoint = Some(text(gate.span, format!("unix://{SNAPSHOTTER_SOCKET}")));
        let (cores, memory) = PARALLEL_PULLS_NEED;
        let message = format!(
            "images are pulled in parallel on every machine of the group, unless it is built as `nodeconfig`: nodeadm itself leaves it on those with less than {cores} cores or {} GiB of memory",
            memory / 1024
        );
        let hint = "write `carriers: [nodeconfig]` with `--with additions.yaml`, or leave `FastImagePull` out for groups of small machines";
        tell.warning_unless(nodeadm_decides, (codes::DIFFERENCE, gate.span), message, hint);
    }
    let mut runtime = Branch::new(span);
    if ours.is_empty() {
        if let Some(config) = config {
            runtime.put_field("config", config);
        }
    } else {
        ours.insert("version".to_owned(), toml::Value::Integer(if newer { 3 } else { 2 }));
        let place = parallel.map_or(span, |node| node.span);
        if let Some(whole) = toml::to_string(&ours).ok().and_then(|ours| one_text(&ours, own)) {
            runtime.put("config", text(place, whole));
        } else {
            let place = config.map_or(span, |config| config.value.span);
            let message = "what the NodeConfig says of containerd is no TOML";
            tell.error(codes::WRONG_TYPE, place, message, "write TOML");
        }
    }
    let import = parallel.map(|gate| import(gate.span));
    Containerd { runtime: runtime.into_node(), files, units, import, image_endpoint }
}

/// Whether every group that pulls in parallel has nothing but NodeConfigs made of it.
fn nodeadm_decides(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")?.items()).unwrap_or_default();
    let items = |group: &Node, key: &str| group.get(key).and_then(Node::items).unwrap_or_default().to_vec();
    groups.iter().all(|group| {
        let pulls = |file: &Node| file.get("path").and_then(Node::text) == Some(SNAPSHOTTER_CONFIG);
        let carriers = items(group, "carriers");
        let decides =
            !carriers.is_empty() && carriers.iter().all(|carrier| carrier.text() == Some("nodeconfig"));
        decides || !items(group, "files").iter().any(pulls)
    })
}

/// The step that gives the snapshotter the image of the pod sandbox, on every boot as with nodeadm.
fn import(span: Span) -> Node {
    let mut step = Branch::new(span);
    step.put("name", text(span, "import-pause-image"));
    step.put("run", list(span, SNAPSHOTTER_IMPORT.map(|word| text(span, word)).to_vec()));
    step.put("after", list(span, vec![text(span, "runtime")]));
    step.put("before", list(span, vec![text(span, "gate")]));
    step.put("everyBoot", plain(span, true));
    step.into_node()
}

fn lay(base: &mut toml::Table, over: &Value) {
    if let Ok(over) = toml::Table::try_from(over) {
        super::merge::lay_table(base, over);
    }
}

/// The file with what containers start from.
fn base_spec(given: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let given_json = given.to_value().to_json();
    let Some(fields) = given_json.as_object() else {
        let message = "`baseRuntimeSpec` must be a mapping";
        tell.error(codes::WRONG_TYPE, given.span, message, "write fields of an OCI specification");
        return None;
    };
    Some(file(given.span, PATH, format!("{:#}\n", base_runtime_spec(fields))))
}

fn snapshotter_file(span: Span) -> Node {
    let table = toml::Table::try_from(snapshotter_config()).unwrap_or_default();
    file(span, SNAPSHOTTER_CONFIG, toml::to_string(&table).unwrap_or_default())
}

fn file(span: Span, path: &str, content: String) -> Node {
    let mut file = Branch::new(span);
    file.put("path", text(span, path));
    file.put("content", text(span, content));
    file.into_node()
}

fn snapshotter_unit(span: Span) -> Node {
    let (name, content) = SNAPSHOTTER_DROP_IN;
    let mut drop_in = Branch::new(span);
    drop_in.put("name", text(span, name));
    drop_in.put("content", text(span, content));
    let mut unit = Branch::new(span);
    unit.put("name", text(span, "containerd.service"));
    unit.put("dropIns", list(span, vec![drop_in.into_node()]));
    unit.into_node()
}
