//! Images pulled in parallel, where nodeadm sees to it: one feature gate in the place of files and settings. nodeadm itself
//! leaves it on machines that are too small.

use bringup_plan::{Action, Content, Step};
use bringup_spec::NodeGroup;
use bringup_spec::nodeconfig::{
    SNAPSHOTTER_CONFIG, SNAPSHOTTER_DROP_IN, SNAPSHOTTER_IMPORT, SNAPSHOTTER_SOCKET, snapshotter_config,
    snapshotter_plugin,
};
use toml::{Table, Value};

use crate::load::Load;

/// The name of nodeadm's gate.
pub(crate) const GATE: &str = "FastImagePull";

/// kubelet's setting that comes with it.
pub(crate) const IMAGE_ENDPOINT: &str = "imageServiceEndpoint";

const CONTAINERD: &str = "containerd.service";

/// What is left of a group beside the gate.
pub(crate) struct ParallelPulls {
    /// containerd's configuration, if it says anything else.
    pub(crate) containerd: Option<String>,
}

/// Whether a group asks for exactly what the gate is for.
pub(crate) fn parallel_pulls(load: &Load<'_>) -> Option<ParallelPulls> {
    let group = load.group;
    let endpoint = group.kubelet.config.get(IMAGE_ENDPOINT).and_then(serde_json::Value::as_str);
    let at_socket =
        endpoint.and_then(|endpoint| endpoint.strip_prefix("unix://")) == Some(SNAPSHOTTER_SOCKET);
    let file = load.plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. } if path == SNAPSHOTTER_CONFIG => {
            text.as_literal()
        }
        _ => None,
    });
    let usual = toml::from_str::<Table>(file?).ok() == Table::try_from(snapshotter_config()).ok();
    if !(at_socket && usual && has_drop_in(group)) {
        return None;
    }
    let mut config: Table = toml::from_str(group.runtime.config.as_deref()?).ok()?;
    take_plugin(&mut config)?;
    let containerd = config.keys().any(|key| key != "version").then(|| toml::to_string(&config));
    Some(ParallelPulls { containerd: containerd.transpose().ok()? })
}

/// Whether a step gives the snapshotter the image of the pod sandbox, which nodeadm does by itself.
pub(crate) fn is_import(step: &Step) -> bool {
    matches!(&step.action, Action::Run { command, .. }
        if command.iter().map(|word| word.as_literal()).eq(SNAPSHOTTER_IMPORT.map(Some)))
}

fn has_drop_in(group: &NodeGroup) -> bool {
    let mut drop_ins =
        group.units.iter().filter(|unit| unit.name == CONTAINERD).flat_map(|unit| &unit.drop_ins);
    drop_ins.any(|drop_in| is_ours(&drop_in.name, &drop_in.content))
}

fn is_ours(name: &str, content: &str) -> bool {
    (name, content) == SNAPSHOTTER_DROP_IN
}

/// The group's units without the drop-in that nodeadm places.
pub(crate) fn units_beside(group: &NodeGroup) -> Vec<bringup_spec::Unit> {
    let mut units = group.units.clone();
    for unit in units.iter_mut().filter(|unit| unit.name == CONTAINERD) {
        unit.drop_ins.retain(|drop_in| !is_ours(&drop_in.name, &drop_in.content));
    }
    let says_nothing = |unit: &bringup_spec::Unit| {
        unit.drop_ins.is_empty() && unit.content.is_none() && unit.enabled.is_none() && !unit.mask
    };
    units.retain(|unit| unit.name != CONTAINERD || !says_nothing(unit));
    units
}

/// Takes out what has containerd pull so.
fn take_plugin(config: &mut Table) -> Option<()> {
    let usual = Table::try_from(snapshotter_plugin()).ok()?;
    let proxies = config.get_mut("proxy_plugins").and_then(Value::as_table_mut)?;
    for (name, value) in usual {
        proxies.remove(&name).filter(|given| *given == value)?;
    }
    let plugins = config.get_mut("plugins").and_then(Value::as_table_mut)?;
    let chosen = match plugins.get_mut("io.containerd.cri.v1.images") {
        Some(images) => images,
        None => plugins.get_mut("io.containerd.grpc.v1.cri")?.get_mut("containerd")?,
    };
    let chosen = chosen.as_table_mut()?;
    chosen.remove("snapshotter").filter(|name| name.as_str() == Some("soci"))?;
    chosen.remove("disable_snapshot_annotations").filter(|given| given.as_bool() == Some(false))?;
    prune(config);
    Some(())
}

/// Takes out tables that have become empty.
fn prune(table: &mut Table) {
    table.retain(|_, value| match value {
        Value::Table(inner) => {
            prune(inner);
            !inner.is_empty()
        }
        _ => true,
    });
}
