//! What `bootstrap.sh` of EKS' images does, as a plan: a call, facts and what the image has in, steps out.
//!
//! The script's answer stands, also where ours would be another: notes say what that would be. Where it edits a file of the
//! image in place, so that a second call changes nothing any more, the plan is made anew from what the image had.

mod kubelet;
mod limits;
mod network;
mod runtime;
#[cfg(test)]
mod tests;
mod units;

pub use network::guessed_dns;

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::{Code, Finding, Findings};
use bringup_spec::bootstrap_flags::{BootstrapRequest, BootstrapRuntime};
use bringup_spec::{Architecture, Flavour, NodeNamePolicy, OnFailure, OsFamily, Phase, Platform, Role, Text};

use crate::steps::{plain, write_file};
use crate::{Action, Content, FORMAT, Plan, PodLimit, Policy, Step, codes};

/// The group of plans that come from a call.
pub const GROUP: &str = "bootstrap";

const MINUTE: u64 = 60_000;

/// What is known of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// The region.
    pub region: String,
    /// The availability zone.
    pub zone: String,
    /// The instance's id.
    pub id: String,
    /// The instance's type.
    pub instance_type: String,
    /// The primary address, of the cluster's family.
    pub address: String,
    /// The name that EC2 gives to it.
    pub hostname: String,
    /// How many processors it has.
    pub cores: u32,
    /// The ranges of the network that it is in.
    pub vpc_cidrs: Vec<String>,
    /// What EKS says of the cluster, where it was asked.
    pub cluster: Option<ClusterAnswer>,
}

/// What EKS says of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterAnswer {
    /// The address of its API server.
    pub endpoint: String,
    /// The authority of its API server, in base64.
    pub authority: String,
    /// The range of its services' addresses.
    pub service_range: Option<String>,
    /// Its id, if it is a local cluster.
    pub id: Option<String>,
    /// Whether it is a local cluster on an Outpost.
    pub outpost: bool,
}

/// What the image has, as far as the script looks at it. What is not there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The version of kubelet, such as `1.27.0`.
    pub kubelet_version: Option<String>,
    /// The processor.
    pub architecture: Option<Architecture>,
    /// kubelet's configuration as it stands.
    pub kubelet_config: Option<String>,
    /// kubelet's configuration as it stood before an earlier call.
    pub kubelet_config_before: Option<String>,
    /// The drop-in with further arguments, as it stands.
    pub extra_args: Option<String>,
    /// kubelet's unit for containerd.
    pub kubelet_unit: Option<String>,
    /// The unit that pulls the pause container.
    pub sandbox_unit: Option<String>,
    /// containerd's configuration: the image's, or the file that the call names.
    pub containerd_config: Option<String>,
    /// docker's configuration as it stands.
    pub docker_config: Option<String>,
    /// The number of pods by instance type.
    pub max_pods: Option<String>,
    /// The unit of the file system for BPF, as it stands.
    pub bpf_unit: Option<String>,
    /// Whether such a file system is mounted, or something else in its place.
    pub bpf_mounted: bool,
    /// Whether systemd mounts it by itself, and refuses a unit for it.
    pub bpf_by_systemd: bool,
    /// The program that sets up graphics cards.
    pub gpu_helper: Option<String>,
    /// The program that sets up local disks.
    pub local_disks: Option<String>,
    /// Whether the registry has a host for machines in FIPS mode, and this is one.
    pub fips_registry: bool,
    /// The program that makes tokens: ours. Without one, the image's.
    pub agent: Option<String>,
}

/// A plan, unless there are errors; and what is to be told.
#[derive(Clone, Debug)]
pub struct Bootstrapped {
    /// The plan.
    pub plan: Option<Plan>,
    /// What is to be told.
    pub findings: Findings,
}

/// Makes the plan of a call.
pub fn bootstrap(request: &BootstrapRequest, instance: &Instance, image: &Image) -> Bootstrapped {
    let mut call = Call { request, instance, image, findings: Findings::new() };
    let plan = call.plan();
    let plan = plan.filter(|_| !call.findings.has_errors());
    Bootstrapped { plan, findings: call.findings }
}

/// A call on its way to a plan.
struct Call<'a> {
    request: &'a BootstrapRequest,
    instance: &'a Instance,
    image: &'a Image,
    findings: Findings,
}

/// Kubelet's version, as far as the script heeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32, u32);

impl Version {
    /// The first three numbers of a text that have dots between them.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let mut numbers = text.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
        Some(Self(numbers.next()??, numbers.next()??, numbers.next().flatten().unwrap_or(0)))
    }
}

/// Where the cluster is.
struct Target {
    endpoint: String,
    authority: String,
    /// The id under which a local cluster on an Outpost is joined.
    outpost: Option<String>,
}

impl Call<'_> {
    fn plan(&mut self) -> Option<Plan> {
        let version = self.version();
        let runtime = self.runtime(version)?;
        let target = self.target()?;
        let network = self.network()?;
        if self.image.architecture.is_none() {
            let hint = "run it on x86_64 or aarch64";
            self.error(codes::BOOTSTRAP_IMAGE, "the script knows no machine with this processor", hint);
        }
        self.check_arguments(version);
        let pods = self.max_pods();
        let pause = self.pause_container();
        let config = self.kubelet_config(version, runtime, &network, pods);
        let units = self.units(runtime, &target, &pause);
        let mut steps = vec![given_up(plain("identify", Phase::Identify, Action::LearnFacts), MINUTE)];
        steps.extend(self.local_disks());
        steps.extend(self.runtime_steps(runtime, &pause));
        steps.extend(self.join_steps(&target));
        if let Some(config) = config {
            let content = Content::Text(Text::literal(config));
            steps.push(write_file("kubelet-config", Phase::Configure, kubelet::CONFIG, "0644", content));
        }
        steps.extend(self.graphics_cards(runtime));
        steps.push(plain("units", Phase::Configure, Action::PlaceUnits));
        let link = Action::MakeLink {
            path: "/etc/systemd/system/multi-user.target.wants/kubelet.service".to_owned(),
            target: "/etc/systemd/system/kubelet.service".to_owned(),
        };
        steps.push(plain("kubelet-enabled", Phase::Configure, link));
        let health = Action::StartKubelet { health: self.health(), snap: None };
        let mut start = given_up(plain("kubelet", Phase::Kubelet, health), 5 * MINUTE);
        if let Some(policy) = &mut start.policy {
            policy.attempts = 2;
        }
        steps.push(start);
        steps.push(plain("report", Phase::Report, Action::Report));
        let steps = steps.into_iter().map(|step| given_up(step, 10 * MINUTE)).collect();
        Some(Plan {
            format: FORMAT,
            cluster: self.request.cluster.clone(),
            group: GROUP.to_owned(),
            flavour: Flavour::Eks,
            kubernetes: format!("{}.{}", version.0, version.1),
            platform: Platform::Aws,
            os: OsFamily::AmazonLinux2,
            os_version: None,
            architecture: self.image.architecture.unwrap_or(Architecture::X86_64),
            role: Role::Worker,
            bootstrap: None,
            node_name: NodeNamePolicy::PrivateDns,
            ipv6: network.ipv6,
            max_pods: PodLimit::Fixed(pods),
            memory_for_pods: None,
            pods_per_core: None,
            facts: BTreeSet::new(),
            eks: None,
            detect: None,
            cluster_ranges: Vec::new(),
            environment: BTreeMap::new(),
            certificate_authorities: Vec::new(),
            units,
            steps,
            hooks: Vec::new(),
            order: Vec::new(),
        })
    }

    fn version(&mut self) -> Version {
        let found = self.image.kubelet_version.as_deref().and_then(Version::parse);
        found.unwrap_or_else(|| {
            let newest = bringup_kubelet::newest();
            let message =
                format!("nothing says which version of kubelet the image has: it is taken for {newest}");
            self.warning(codes::BOOTSTRAP_IMAGE, message, "write it to `/etc/eks/kubelet-version.txt`");
            Version(1, u32::from(newest.0), 0)
        })
    }

    /// From 1.24 on there is containerd only; before, docker is the default.
    fn runtime(&mut self, version: Version) -> Option<BootstrapRuntime> {
        let modern = version >= Version(1, 24, 0);
        match self.request.runtime {
            Some(BootstrapRuntime::Dockerd) if modern => {
                let message = "kubelet cannot use docker since Kubernetes 1.24";
                self.error(codes::BOOTSTRAP_RUNTIME, message, "leave `--container-runtime` out");
                None
            }
            Some(runtime) => Some(runtime),
            None if modern => Some(BootstrapRuntime::Containerd),
            None => Some(BootstrapRuntime::Dockerd),
        }
    }

    fn target(&mut self) -> Option<Target> {
        let request = self.request;
        let answer = self.instance.cluster.as_ref().filter(|_| request.needs_cluster());
        let (endpoint, authority) = match (&request.endpoint, &request.authority, answer) {
            (Some(endpoint), Some(authority), _) => (endpoint.clone(), authority.clone()),
            (_, _, Some(answer)) => (answer.endpoint.clone(), answer.authority.clone()),
            _ => {
                let hint =
                    "give `--apiserver-endpoint` and `--b64-cluster-ca`, or `cluster` in the facts file";
                self.error(codes::BOOTSTRAP_CLUSTER, "nobody says where the API server is", hint);
                return None;
            }
        };
        if request.needs_cluster() && (request.endpoint.is_some() || request.authority.is_some()) {
            let message = "one of `--apiserver-endpoint` and `--b64-cluster-ca` alone counts for nothing: EKS was asked";
            self.warning(codes::BOOTSTRAP_IGNORED, message, "give both, or none");
        }
        let outpost = request.local_outpost.unwrap_or_else(|| answer.is_some_and(|answer| answer.outpost));
        let id = answer.and_then(|answer| answer.id.clone()).or_else(|| request.cluster_id.clone());
        if outpost && id.is_none() {
            let message = "a local cluster on an Outpost is joined by its id";
            self.error(codes::BOOTSTRAP_CLUSTER, message, "give `--cluster-id`");
        }
        Some(Target { endpoint, authority, outpost: id.filter(|_| outpost) })
    }

    fn error(&mut self, code: Code, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::error(code, message).hint(hint));
    }

    fn warning(&mut self, code: Code, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::warning(code, message).hint(hint));
    }

    /// What the script does, and we would do otherwise.
    fn differs(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::note(codes::BOOTSTRAP_DIFFERS, message).hint(hint));
    }
}

/// Whether a call has docker run the containers, of an image with this version of kubelet: nothing of containerd's is read
/// then.
pub fn uses_docker(request: &BootstrapRequest, kubelet_version: &str) -> bool {
    let old = Version::parse(kubelet_version).is_some_and(|version| version < Version(1, 24, 0));
    request.runtime == Some(BootstrapRuntime::Dockerd) || (request.runtime.is_none() && old)
}

/// Somebody waits for the call to end: nothing pauses, and what fails in the end is given up.
fn given_up(mut step: Step, timeout_ms: u64) -> Step {
    let policy = Policy { timeout_ms, attempts: 3, backoff_ms: 1000, on_failure: OnFailure::GiveUp };
    step.policy.get_or_insert(policy);
    step
}
