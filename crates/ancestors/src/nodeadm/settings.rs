//! What a NodeConfig says of a node, apart from the cluster that it joins: of nodeadm's own documents and of those that
//! eksctl lays over its own.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::{containerd, flags, instance, record, tables};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::Branch;

/// What is said, each in the form that it has in a node group.
pub(crate) struct Settings {
    /// Whether nodes are called by their instances' ids.
    pub(crate) named_by_id: bool,
    pub(crate) labels: Branch,
    pub(crate) taints: Vec<Node>,
    /// `maxPods`, where an expression gives it.
    pub(crate) max_pods: Option<Node>,
    /// Fields of KubeletConfiguration.
    pub(crate) config: Node,
    /// kubelet's other flags.
    pub(crate) flags: Branch,
    /// kubelet's variables.
    pub(crate) environment: Node,
    pub(crate) runtime: Node,
    pub(crate) files: Vec<Node>,
    pub(crate) units: Vec<Node>,
    /// The step that has name servers read: nodeadm does that before cloud-init comes to any command.
    pub(crate) name_resolution: Option<Node>,
    /// The step that gives another snapshotter the image of the pod sandbox.
    pub(crate) import: Option<Node>,
    /// The step that sees to the disks: nodeadm does that behind all commands.
    pub(crate) disks: Option<Node>,
}

/// The settings in a `spec`; what is not written in it stands at `span`.
pub(crate) fn of(spec: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Settings {
    let gates = record(spec.get("featureGates"), "`featureGates` of a NodeConfig", tables::FEATURES, tell);
    let kubelet = record(spec.get("kubelet"), "`kubelet` of a NodeConfig", tables::KUBELET, tell);
    let flags = flags::taken_apart(kubelet.items("flags"), span);
    let parallel = gates.get("FastImagePull").filter(|_| gates.flag("FastImagePull") == Some(true));
    let containerd = record(spec.get("containerd"), "`containerd` of a NodeConfig", tables::CONTAINERD, tell);
    let containerd = containerd::translated(&containerd, parallel, span, tell);
    let config = config_of_kubelet(&kubelet, &flags, containerd.image_endpoint, span, tell);
    let expression = kubelet.entry("maxPodsExpression").filter(|entry| entry.value.text() != Some(""));
    let max_pods = expression.map(|expression| {
        let mut pods = Branch::new(expression.value.span);
        pods.put_field("expression", expression);
        pods.into_node()
    });
    let instance = record(spec.get("instance"), "`instance` of a NodeConfig", tables::INSTANCE, tell);
    instance::tell_environment(&instance, tell);
    let (resolution, restart) = instance::name_resolution(&instance, tell).unzip();
    let files = containerd.files.into_iter().chain(instance::environment_of_all(&instance)).chain(resolution);
    Settings {
        named_by_id: gates.flag("InstanceIdNodeName") == Some(true),
        labels: flags.labels,
        taints: flags.taints,
        max_pods,
        config,
        flags: flags.others,
        environment: instance::environment_of_kubelet(&instance, span),
        runtime: containerd.runtime,
        files: files.collect(),
        units: instance::joined(instance::drop_ins(&instance), containerd.units),
        name_resolution: restart,
        import: containerd.import,
        disks: instance::disks(&instance, tell),
    }
}

/// kubelet's configuration, as kubelet takes it beside the flags.
fn config_of_kubelet(
    kubelet: &Record<'_>,
    flags: &flags::Flags,
    image_endpoint: Option<Node>,
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let mut config = Branch::new(kubelet.get("config").map_or(span, |config| config.span));
    config.put_some("imageServiceEndpoint", image_endpoint);
    for field in kubelet.get("config").and_then(Node::entries).unwrap_or_default() {
        let header = [("apiVersion", "kubelet.config.k8s.io/v1beta1"), ("kind", "KubeletConfiguration")];
        if header.iter().any(|(key, value)| field.key == *key && field.value.text() == Some(value)) {
            continue;
        }
        if field.key == "registerWithTaints" && !flags.taints.is_empty() {
            let message = "`registerWithTaints` has no effect, as with nodeadm: kubelet takes the taints of `--register-with-taints` in their place";
            let hint = "write all taints in one of the two places";
            tell.warning(codes::DIFFERENCE, field.key_span, message, hint);
            continue;
        }
        config.put_field(&field.key, field);
    }
    config.into_node()
}
