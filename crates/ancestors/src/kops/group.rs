//! An `InstanceGroup` as a node group.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node};

use super::circumstances::Circumstances;
use super::cluster::{Cluster, PodAddresses, is_true};
use super::group_fields::GROUP;
use super::hooks::{self, hooks};
use super::image::{DEFAULT, System, is_arm, system};
use super::image_credentials::image_credentials;
use super::kubelet::{self, MANIFESTS, laid_over, value};
use super::labels::{labels, tags, taints};
use super::launch::launch;
use super::names::Names;
use super::nvidia::{self, is_nvidia};
use super::role::Role;
use super::runtime::{self, Runtime, containerd, containerd_settings};
use super::scaling::{scaling, tell_of_machines};
use super::software::{self, Software};
use super::steps::words;
use super::sysctls::kernel;
use super::{file_assets, kubelet_slices, machine, parts, updates};
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// A node group, and the DNS that its kubelet is told, if any.
pub(super) struct Group {
    pub(super) branch: Branch,
    pub(super) kubelet: Branch,
    pub(super) dns: Option<Node>,
    /// Whether an API server is to run on its machines.
    pub(super) has_api_server: bool,
}

/// What several parts of a group hang on.
struct Basis<'a> {
    record: Record<'a>,
    role: Role,
    system: System,
    span: Span,
    /// kops' settings of kubelet, the group's laid over the cluster's.
    kubelet: Vec<Entry>,
}

/// Translates a group; bastions and what has no kubelet otherwise are left out.
pub(super) fn group(
    document: &Node,
    name: String,
    cluster: &Cluster<'_>,
    tell: &mut Teller<'_>,
) -> Option<Group> {
    let span = document.span;
    let Some(spec) = document.get("spec") else {
        tell.error(codes::MISSING, span, format!("the group `{name}` has no `spec`"), "add `spec:`");
        return None;
    };
    let record = tell.record(spec, "kops' InstanceGroup", GROUP);
    if spec.entries().is_none() && !is_nothing(spec) {
        return None;
    }
    let role = role(&record, &name, span, tell)?;
    let image = record.entry("image");
    let system = os(image, span, tell);
    let circumstances = Circumstances {
        minor: cluster.minor,
        cloud: cluster.cloud,
        role,
        family: system.family,
        pods_leave_slowly: cluster.pod_addresses == PodAddresses::AmazonVpc,
        is_ipv6: cluster.is_ipv6(),
    };
    let basis = Basis {
        kubelet: kubelet_settings(&record, circumstances, cluster, span, tell),
        system,
        record,
        role,
        span,
    };
    let message = "the agent is taken to be in the image, where kops fetches its own";
    let hint = "put it there, or have it fetched with `--with additions.yaml`: `spec: {nodeGroups: [{agent: {from: fetch, downloads: {...}}}]}`";
    tell.note_of_agent((span, true), (codes::DIFFERENCE, span), message, hint);
    let mut branch = Branch::new(span);
    let place =
        document.get("metadata").and_then(|metadata| metadata.get("name")).map_or(span, |name| name.span);
    branch.put("name", text(place, name));
    if cluster.on_aws {
        branch.put("platform", text(span, "aws"));
    }
    branch.put_some("nodeName", cluster.node_name().map(|source| text(span, source)));
    let mut os = Branch::new(image.map_or(span, |image| image.value.span));
    let place = image.map_or(span, |image| image.value.span);
    os.put("family", text(place, basis.system.family));
    os.put_some("version", basis.system.version.map(|version| text(place, version)));
    branch.put("os", os.into_node());
    if basis.role == Role::ControlPlane {
        branch.put("role", text(span, "control-plane"));
    }
    let machine = hardware(&basis, cluster, &mut branch, tell);
    registration(&basis, cluster, machine, &mut branch, tell);
    programs(&basis, cluster, machine, &mut branch, tell);
    let dns = cluster.dns(value(&basis.kubelet, "clusterDNS"));
    let kubelet = kubelet::branch(&basis.kubelet, circumstances, span, tell);
    Some(Group { branch, kubelet, dns, has_api_server: role.has_api_server() })
}

fn role(record: &Record<'_>, name: &str, span: Span, tell: &mut Teller<'_>) -> Option<Role> {
    let entry = record.entry("role");
    let place = entry.map_or(span, |entry| entry.key_span);
    let Some(word) = record.text("role") else {
        let message = format!("nothing says what the machines of the group `{name}` are for");
        tell.error(codes::MISSING, place, message, "add `role: Node`");
        return None;
    };
    match Role::parse(word) {
        Some(Role::Bastion) => {
            let message = format!("the group `{name}` is left out: a bastion has no kubelet, and is no node");
            let hint =
                "make it with the tool that makes your machines; `machines[].jumpHost` goes through one";
            tell.warning(codes::FIELD_DIFFERS, place, message, hint);
            None
        }
        Some(role @ (Role::ControlPlane | Role::ApiServer | Role::Part)) => {
            let message = format!(
                "the machines of the group `{name}` come up as nodes; kops' static pods of the control plane, its etcd and the kubeconfig of its administrators are not made"
            );
            let hint = "let kops keep the control plane, or write `controlPlane` for this group in additions: a program that makes it";
            tell.warning(codes::FIELD_DIFFERS, place, message, hint);
            Some(role)
        }
        Some(Role::Node) => Some(Role::Node),
        None => {
            let words = ["Node", "ControlPlane", "Master", "APIServer", "Bastion"];
            let hint = bringup_diag::closest(word, words).map_or_else(
                || "write `Node` or `ControlPlane`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            tell.error(codes::WRONG_TYPE, place, format!("kops has no role `{word}`"), hint);
            None
        }
    }
}

fn os(image: Option<&Entry>, span: Span, tell: &mut Teller<'_>) -> System {
    let name = image.and_then(|image| image.value.text());
    let place = image.map_or(span, |image| image.key_span);
    let found = name.and_then(system);
    match (found, name) {
        (Some(system), Some(name)) if system.family == "generic" => {
            let message = format!(
                "the system of `{name}` is one that is not known here: what all have in common is relied on"
            );
            tell.warning(
                codes::FIELD_DIFFERS,
                place,
                message,
                "write `os` and `software` for this group in additions",
            );
        }
        (None, name) => {
            let told = name.map_or_else(
                || "the group names no image".to_owned(),
                |name| format!("the image `{name}` does not tell its system"),
            );
            let message = format!("{told}: it is taken for Ubuntu 24.04, which kops takes by itself");
            let hint = "write `os: {family: ..., version: ...}` for this group in additions if it is another";
            tell.note(codes::DIFFERENCE, place, message, hint);
        }
        _ => {}
    }
    found.unwrap_or(DEFAULT)
}

/// The cluster's settings for this role with the group's laid over them, over what kops takes by itself.
fn kubelet_settings(
    record: &Record<'_>,
    circumstances: Circumstances<'_>,
    cluster: &Cluster<'_>,
    span: Span,
    tell: &mut Teller<'_>,
) -> Vec<Entry> {
    let own = kubelet::settings(record.get("kubelet"), "kubelet of a kops group", tell);
    let shared = cluster.kubelet_of(circumstances.role);
    let given = laid_over(shared, &own);
    // The group's come behind what kops fills in for the cluster.
    let filled = laid_over(&circumstances.defaults(shared, span), &given);
    if let Some(hostname) = value(&given, "hostnameOverride").filter(|node| node.text() != Some("@aws")) {
        let message =
            "`hostnameOverride` would give all nodes of the group one name: the machine's own is used";
        tell.warning(
            codes::FIELD_DIFFERS,
            hostname.span,
            message,
            "write `nodeName` for this group in additions",
        );
    }
    if value(&given, "kubeReserved").is_none() {
        let message =
            "nothing is kept for kubelet and the runtime, as with kops: pods may take all of the machine";
        let hint = "write `kubeReserved`; a document of ours would keep 255 MiB, 11 MiB for each pod, 1 GiB of disk and 6 % of the first core";
        tell.note(codes::DIFFERENCE, span, message, hint);
    }
    laid_over(&filled, &circumstances.imposed(span))
}

/// What a machine is like.
#[derive(Clone, Copy)]
struct Machine {
    is_arm: bool,
    is_nvidia: bool,
}

/// What the machine is.
fn hardware(basis: &Basis<'_>, cluster: &Cluster<'_>, branch: &mut Branch, tell: &mut Teller<'_>) -> Machine {
    let Basis { record, role, span, .. } = basis;
    let (types, scale) = scaling(record, *role, *span, tell);
    let is_arm = is_arm(record.text("image"), types.first().and_then(Node::text));
    let is_nvidia = is_nvidia(cluster, record, &types);
    if is_arm {
        branch.put("architecture", text(*span, "aarch64"));
    }
    if cluster.on_aws {
        let user_data = if basis.system.family == "flatcar" { "ignition" } else { "multipart" };
        branch.put("carriers", words(*span, &[user_data, "cloudformation"]));
        branch.put_full("instanceTypes", list(*span, types));
        let own = nvidia::labels(record, is_nvidia, *span);
        let labels = tags(&basis.kubelet, own.as_ref(), *role, *span);
        branch.put_full("launch", launch(cluster.common(*role, &labels), record, *role, *span, tell));
    }
    let others =
        record.get("manager").filter(|manager| !MANAGERS.contains(&manager.text().unwrap_or_default()));
    if let Some(manager) = others {
        let message = "kops has no such manager of machines";
        tell.error(codes::WRONG_TYPE, manager.span, message, "write `CloudGroup` or `Karpenter`");
    }
    if cluster.on_aws && !is_karpenters(record) {
        branch.put("scaling", scale);
    } else {
        tell_of_machines(record, cluster.on_aws, *span, tell);
    }
    Machine { is_arm, is_nvidia }
}

/// Who makes machines, in kops' words.
const MANAGERS: [&str; 3] = ["", "CloudGroup", "Karpenter"];

fn is_karpenters(record: &Record<'_>) -> bool {
    record.text("manager") == Some("Karpenter")
}

/// What the node says of itself: labels, taints, how many pods it takes.
fn registration(
    basis: &Basis<'_>,
    cluster: &Cluster<'_>,
    machine: Machine,
    branch: &mut Branch,
    tell: &mut Teller<'_>,
) {
    let Basis { record, role, span, kubelet, .. } = basis;
    let own = nvidia::labels(record, machine.is_nvidia, *span);
    branch.put_full("labels", labels(kubelet, own.as_ref(), *role, *span, tell));
    let items =
        |node: Option<&Node>| -> Vec<Node> { node.and_then(Node::items).unwrap_or_default().to_vec() };
    let sources = [
        items(value(cluster.kubelet_of(*role), "taints")),
        items(value(&cluster.kubelet, "taints")),
        items(value(kubelet, "taints")),
        record.items("taints").to_vec(),
        if machine.is_nvidia && !nvidia::is_tainted(record) {
            vec![text(*span, nvidia::TAINT)]
        } else {
            Vec::new()
        },
    ];
    let sources: Vec<&[Node]> = sources.iter().map(Vec::as_slice).collect();
    branch.put_full("taints", taints(&sources, *role, is_karpenters(record), cluster.minor, *span, tell));
    if let Some(pods) = value(kubelet, "maxPods") {
        branch.put("maxPods", pods.clone());
    } else if cluster.on_aws {
        // With addresses of the cloud for pods kops counts interfaces, up to Kubernetes' own number.
        let mut interfaces = Branch::new(*span);
        interfaces.put("cap", plain(*span, 110));
        let pods = if cluster.pod_addresses == PodAddresses::Cluster {
            plain(*span, 110)
        } else {
            interfaces.into_node()
        };
        branch.put("maxPods", pods);
    }
}

/// What runs on the node and what it reads: runtime, software, kernel, files, units, steps, parts.
fn programs(
    basis: &Basis<'_>,
    cluster: &Cluster<'_>,
    machine: Machine,
    branch: &mut Branch,
    tell: &mut Teller<'_>,
) {
    let Basis { record, role, system, span, kubelet, .. } = basis;
    let Machine { is_arm, is_nvidia } = machine;
    let mut names = Names::default();
    let sandbox = value(kubelet, "podInfraContainerImage");
    let mut assets = Vec::new();
    let mut has_runtime = false;
    let runtime = if cluster.docker {
        let settings = runtime::docker(cluster.docker_settings, sandbox, *span);
        Runtime { settings, files: Vec::new() }
    } else {
        let mut own = containerd_settings(record.get("containerd"), "containerd of a kops group", tell);
        if let Some(own) = record.get("containerd") {
            software::tell_of_group(own, tell);
        }
        own.retain(|entry| entry.key != "version");
        has_runtime = value(&own, "skipInstall").is_some_and(is_true);
        let settings = laid_over(&cluster.containerd, &own);
        assets.extend(image_credentials(cluster, &settings, *system, is_arm, *span, branch, tell));
        let usual = text(*span, cluster.sandbox_image());
        containerd(&settings, sandbox.unwrap_or(&usual), (cluster.minor, is_nvidia), *span, tell)
    };
    branch.put_full("runtime", runtime.settings);
    let fetched = Software::of(cluster).group(*system, *role, (is_arm, has_runtime), *span);
    branch.put_full("software", fetched.software);
    assets.extend(fetched.assets);
    branch.put_full("assets", list(*span, assets));
    let parameters = (record.items("sysctlParameters"), cluster.spec.items("sysctlParameters"));
    let kernel = kernel(cluster.surroundings(), parameters.0, parameters.1, *span, &mut names, tell);
    branch.put_full("sysctls", kernel.given);
    let own_files = file_assets::read(record.items("fileAssets"), tell);
    let mut files = vec![kernel.file];
    files.extend(runtime.files);
    files.extend(file_assets::files(&own_files, &cluster.files, *role));
    let policies = (record.entry("updatePolicy"), cluster.spec.entry("updatePolicy"));
    files.extend(updates::file(*system, policies, &files));
    branch.put_full("files", list(*span, files));
    let mut manifests = Branch::new(*span);
    let path = value(kubelet, "podManifestPath").and_then(Node::text).unwrap_or(MANIFESTS);
    manifests.put("path", text(*span, path));
    branch.put("directories", list(*span, vec![manifests.into_node()]));
    let (parts, mut steps) = parts::parts(record.items("additionalUserData"), *system, &mut names, tell);
    steps.push(kernel.step);
    steps.extend(machine::mounts(record.items("volumeMounts"), &mut names, tell));
    let packages = [cluster.spec.items("packages"), record.items("packages")].concat();
    steps.extend(machine::packages(*system, &packages, &mut names, tell));
    let own_hooks = hooks::read(record.items("hooks"), tell);
    let added = hooks(&own_hooks, &cluster.hooks, *role, cluster.docker, &mut names, tell);
    steps.extend(added.steps);
    let mut units = added.units;
    let slices = kubelet_slices::slices(kubelet, &units, &mut names);
    units.extend(slices.units);
    units.extend(updates::unit(*system, &units, *span));
    steps.extend(slices.steps);
    branch.put_full("steps", list(*span, steps));
    branch.put_full("units", list(*span, units));
    branch.put_full("parts", list(*span, parts));
    updates::told(record.entry("updatePolicy"), None, tell);
    if let Some(compress) =
        record.entry("compressUserData").filter(|_| record.flag("compressUserData") == Some(true))
    {
        let message = "user-data is compressed as soon as it would not fit otherwise, and not before";
        tell.note(codes::DIFFERENCE, compress.key_span, message, "nothing has to be done");
    }
}
