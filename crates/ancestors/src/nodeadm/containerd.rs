//! containerd: its configuration, and what containers start from.

use bringup_diag::Span;
use bringup_spec::nodeconfig::base_runtime_spec;
use bringup_yaml::Node;

use super::merge::one_text;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Where nodeadm writes what containers start from.
const PATH: &str = "/etc/containerd/base-runtime-spec.json";

/// `runtime`, and the file with what containers start from, where the NodeConfig changes it.
pub(super) fn translated(containerd: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> (Node, Option<Node>) {
    let mut runtime = Branch::new(span);
    let config = containerd.entry("config");
    let Some(given) = containerd.get("baseRuntimeSpec").filter(|given| !is_nothing(given)) else {
        if let Some(config) = config {
            runtime.put_field("config", config);
        }
        return (runtime.into_node(), None);
    };
    let own = config.and_then(|config| config.value.text()).unwrap_or_default();
    // nodeadm, too, takes what names the newer schema's version for it.
    let newer = own.lines().any(|line| line.replace(' ', "").starts_with("version=3"));
    let (version, plugin) =
        if newer { (3, "io.containerd.cri.v1.runtime") } else { (2, "io.containerd.grpc.v1.cri") };
    let ours = format!(
        "version = {version}\n[plugins.'{plugin}'.containerd.runtimes.runc]\nbase_runtime_spec = '{PATH}'\n"
    );
    if let Some(whole) = one_text(&ours, own) {
        runtime.put("config", text(given.span, whole));
    } else {
        let place = config.map_or(span, |config| config.value.span);
        let message = "what the NodeConfig says of containerd is no TOML";
        tell.error(codes::WRONG_TYPE, place, message, "write TOML");
    }
    let given_json = given.to_value().to_json();
    let Some(fields) = given_json.as_object() else {
        let message = "`baseRuntimeSpec` must be a mapping";
        tell.error(codes::WRONG_TYPE, given.span, message, "write fields of an OCI specification");
        return (runtime.into_node(), None);
    };
    let mut file = Branch::new(given.span);
    file.put("path", text(given.span, PATH));
    file.put("content", text(given.span, format!("{:#}\n", base_runtime_spec(fields))));
    (runtime.into_node(), Some(file.into_node()))
}
