//! What several parts of a plan hang on, decided once.

use std::net::IpAddr;

use bringup_kubelet::Minor;
use bringup_spec::{
    AgentSource, Bootstrap, Flavour, JoinMethod, NodeNamePolicy, OsFamily, Platform, Role, RuntimeName,
    SoftwareSource,
};

use crate::context::Context;
use crate::flavour::{Layout, layout};
use crate::pod_limits::{checked_pod_limit, pods_per_core, told_pods};
use crate::{Election, Origin, PodLimit, codes, eksctl, machines, network, runtime};

/// What several parts of a plan hang on.
pub(crate) struct Decisions {
    pub(crate) layout: Layout,
    pub(crate) join: JoinMethod,
    pub(crate) node_name: NodeNamePolicy,
    pub(crate) ipv6: bool,
    pub(crate) dns: Vec<IpAddr>,
    /// Pods really in force: what the operator gave to kubelet directly stands above the document's own field.
    pub(crate) max_pods: PodLimit,
    /// The pods that memory is kept for.
    pub(crate) memory_for_pods: PodLimit,
    /// The other bound on pods, which kubelet works out from the cores that it finds.
    pub(crate) pods_per_core: Option<u32>,
    pub(crate) election: Option<Election>,
    /// Whether the image is one of EKS' own: it has their slices and their credential provider.
    pub(crate) eks_image: bool,
    /// Whether settings are laid over the files that the image has, rather than written whole.
    pub(crate) over_image: bool,
    pub(crate) runtime: RuntimeName,
    /// The cgroup driver that kubelet and the runtime share.
    pub(crate) cgroup_driver: String,
    /// Where kubelet finds containerd.
    pub(crate) socket: String,
    pub(crate) agent: AgentSource,
    pub(crate) kubelet: KubeletForm,
}

/// What kubelet is on the image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KubeletForm {
    /// A program that our unit starts.
    Program,
    /// A snap, with a unit of its own.
    Snap,
}

impl Decisions {
    /// Whether kubelet is a snap.
    pub(crate) fn is_snap(&self) -> bool {
        self.kubelet == KubeletForm::Snap
    }

    pub(crate) fn new(context: &mut Context<'_>) -> Self {
        let group = context.group;
        let os = group.os.family;
        let join = context.spec.join.method;
        let flavour = context.spec.flavour;
        let amazon = matches!(os, OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023);
        let eks_image = context.on_aws()
            && join == JoinMethod::EksToken
            && (amazon || matches!(flavour, Flavour::Eks | Flavour::Eksctl))
            && group.software.kubelet.from == SoftwareSource::Image;
        let agreement = runtime::settle(context);
        let memory_for_pods = checked_pod_limit(context);
        Self {
            layout: layout(flavour, os),
            join,
            node_name: node_name(context),
            ipv6: network::is_ipv6(&context.spec.network),
            dns: network::dns_addresses(&context.spec.network),
            max_pods: told_pods(context).map_or_else(|| memory_for_pods.clone(), PodLimit::Fixed),
            memory_for_pods,
            // What takes our place keeps memory for the pods of the instance type, whatever kubelet is told.
            pods_per_core: pods_per_core(group).filter(|_| !context.takes_as_given()),
            election: election(context),
            eks_image,
            // Without an agent nobody merges anything on the node.
            over_image: context.is_scripted_eks() && group.agent.from != AgentSource::None,
            runtime: group.runtime.name,
            cgroup_driver: agreement.driver,
            socket: agreement.socket,
            agent: group.agent.from,
            kubelet: if eksctl::has_snap(context) { KubeletForm::Snap } else { KubeletForm::Program },
        }
    }

    /// The path of kubelet's program.
    pub(crate) fn kubelet_program(context: &Context<'_>) -> String {
        program(context, "kubelet", &context.group.software.kubelet)
    }

    /// The path of kubeadm's program.
    pub(crate) fn kubeadm_program(context: &Context<'_>) -> String {
        program(context, "kubeadm", &context.group.software.kubeadm)
    }
}

fn program(context: &Context<'_>, name: &str, item: &bringup_spec::SoftwareItem) -> String {
    match (&item.path, item.from) {
        (Some(path), _) => path.as_str().to_owned(),
        (None, SoftwareSource::Url) => format!("{}/{name}", program_directory(context.group.os.family)),
        _ => format!("/usr/bin/{name}"),
    }
}

/// Where downloaded programs go.
pub(crate) fn program_directory(os: OsFamily) -> &'static str {
    if os == OsFamily::Flatcar { "/opt/bin" } else { "/usr/local/bin" }
}

/// Where archives of several programs are unpacked.
pub(crate) fn program_root(os: OsFamily) -> &'static str {
    // Flatcar's /usr is read-only.
    if os == OsFamily::Flatcar { "/opt" } else { "/usr/local" }
}

/// Below this minor, AWS' own code in kubelet names the node and talks to EC2; from it on, that is outside.
pub(crate) const EXTERNAL_CLOUD_PROVIDER: Minor = Minor(26);

fn node_name(context: &mut Context<'_>) -> NodeNamePolicy {
    let path = context.at(["nodeName"]);
    let aws = context.on_aws();
    match context.group.node_name {
        None => {
            let policy = if aws { NodeNamePolicy::PrivateDns } else { NodeNamePolicy::Hostname };
            context.origin(
                "node name",
                policy.word(),
                Origin::Default(format!("the default on {}", context.group.platform)),
            );
            policy
        }
        Some(policy) => {
            let from_aws = matches!(policy, NodeNamePolicy::PrivateDns | NodeNamePolicy::InstanceId);
            if !aws && from_aws {
                context.error(
                    codes::NODE_NAME,
                    &path,
                    format!(
                        "`{policy}` comes from EC2's metadata service, and the platform is `{}`",
                        Platform::Generic
                    ),
                    "write `hostname` or `address`, or `platform: aws`",
                );
                return NodeNamePolicy::Hostname;
            }
            let other = matches!(policy, NodeNamePolicy::InstanceId | NodeNamePolicy::Address);
            if aws && other && context.minor < EXTERNAL_CLOUD_PROVIDER {
                context.error(
                    codes::NODE_NAME,
                    &path,
                    format!(
                        "kubelet {} asks EC2 itself for the node's name, and takes the private DNS name",
                        context.minor
                    ),
                    "write `private-dns`, or use Kubernetes 1.26 or newer",
                );
            }
            context.origin("node name", policy.word(), Origin::Document(path));
            policy
        }
    }
}

fn election(context: &mut Context<'_>) -> Option<Election> {
    let path = context.at(["bootstrap"]);
    let Some(given) = &context.group.bootstrap else { return of_machines(context) };
    let election = match given {
        Bootstrap::Always(false) => return None,
        Bootstrap::Always(true) => Election::Always,
        Bootstrap::When { fact, equals } => Election::When { fact: fact.clone(), equals: equals.clone() },
        Bootstrap::Store(object) => Election::Store { object: object.to_string() },
    };
    if let Election::Store { object } = &election {
        let place = path.key("store");
        if let Err(fault) = bringup_aws::store::Object::parse(object) {
            context.error(codes::BOOTSTRAP_STORE, &place, fault.to_string(), "write `s3://BUCKET/KEY`");
        } else if !context.on_aws() {
            context.error(
                codes::BOOTSTRAP_STORE,
                &place,
                "only an instance of EC2 has credentials of its own for S3",
                "write `platform: aws`, `bootstrap: true` on a group of one, or a condition on a fact",
            );
        } else if context.group.agent.from == AgentSource::None {
            context.error(
                codes::BOOTSTRAP_STORE,
                &place,
                "without an agent nobody on the node makes the object",
                "let the agent come with `agent`, or write `bootstrap: true` on a group of one",
            );
        }
    }
    if context.group.role == Role::Worker {
        context.error(
            codes::BOOTSTRAP_WORKER,
            &path,
            "a worker cannot start the cluster",
            "write `role: control-plane`, or remove `bootstrap`",
        );
    }
    Some(election)
}

/// Where no group says it, the first machine of the control plane starts the cluster.
fn of_machines(context: &mut Context<'_>) -> Option<Election> {
    let election = machines::election(context.spec, context.group)?;
    let (index, first) = machines::first(context.spec)?;
    let path = Context::spec_path(["machines"]).index(index).key("address");
    let family = first.address.parse::<IpAddr>().ok().map(|address| address.is_ipv6());
    if family.is_some_and(|ipv6| ipv6 != network::is_ipv6(&context.spec.network))
        && election != Election::Always
    {
        context.error(
            codes::MACHINE_ADDRESS,
            &path,
            "the first machine is to start the cluster, and no node knows itself by this address: its primary one is of the other family",
            "write `bootstrap` in its group, such as `{fact: hostname, equals: NAME}`",
        );
    }
    let how = "the first machine of the control plane, as no group has `bootstrap`".to_owned();
    context.origin("starts the cluster", first.address.as_str(), Origin::Derived(path, how));
    Some(election)
}
