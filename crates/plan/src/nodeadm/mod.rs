//! A NodeConfig in, the plan of this very machine out: the files that nodeadm would write, as steps like any other's.
//!
//! nodeadm decides by what it finds on the machine; that is [`Surroundings`]. What only the platform knows stays a fact of
//! the plan.

pub(crate) mod containerd;
pub mod expression;
mod json;
mod kubelet;
mod migrate;
mod system;
mod toml_text;

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::{Finding, Findings};
use bringup_spec::nodeconfig::NodeConfig;
use bringup_spec::{Architecture, Flavour, NodeNamePolicy, OsFamily, Phase, Platform, Role, Text};

use crate::compile::facts;
use crate::steps::{plain, write_file};
use crate::{Action, Compiled, Content, FORMAT, Plan, PodLimit, Step, codes};

/// What plans of NodeConfigs name as their group.
pub const GROUP: &str = "nodeconfig";

/// What the machine has, as far as nodeadm decides by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The version of its kubelet, such as `1.35.0`; empty if it is not known.
    pub kubelet_version: String,
    /// The version of its containerd, such as `2.1.4`; empty if it is not known.
    pub containerd_version: String,
    /// Its processor.
    pub architecture: Architecture,
    /// How many cores, if known.
    pub cores: Option<u32>,
    /// How much memory, if known.
    pub memory_mib: Option<u64>,
    /// Whether it has NVIDIA's container runtime.
    pub nvidia_runtime: bool,
    /// Whether a device of NVIDIA's is attached.
    pub nvidia_device: bool,
    /// Where the program is that gives credentials for ECR.
    pub credential_provider: String,
    /// Whether it has an archive of the image of the pod sandbox.
    pub pause_archive: bool,
}

impl Surroundings {
    /// Whether kubelet is of this minor version of Kubernetes 1, or newer.
    fn is_at_least(&self, minor: u32) -> bool {
        let version = self.kubelet_version.trim_start_matches('v');
        let mut numbers = version.split(['.', '-', '+']).map(|number| number.parse::<u32>().ok());
        let found = (numbers.next().flatten(), numbers.next().flatten());
        matches!(found, (Some(major), Some(found)) if (major, found) >= (1, minor))
    }
}

/// What the modules of this one share.
struct Work<'a> {
    config: &'a NodeConfig,
    around: &'a Surroundings,
    findings: Findings,
}

/// The plan for one machine. The NodeConfig is taken to have passed [`bringup_spec::nodeconfig::check`].
pub fn compile(config: &NodeConfig, around: &Surroundings) -> Compiled {
    let mut work = Work { config, around, findings: Findings::new() };
    check(&mut work);
    let plan = plan(&mut work);
    let plan = if work.findings.has_errors() { None } else { Some(plan) };
    Compiled { draft: None, plan, provenance: Vec::new(), findings: work.findings }
}

fn check(work: &mut Work<'_>) {
    let path = "spec.kubelet.maxPodsExpression";
    let cel = &work.config.kubelet.max_pods_expression;
    if !cel.is_empty()
        && let Err(fault) = expression::check(cel)
    {
        let mut finding = expression::finding(fault);
        finding.place = work.config.place(path);
        work.findings.push(finding);
    }
    let versions =
        [("kubelet", &work.around.kubelet_version), ("containerd", &work.around.containerd_version)];
    for (name, version) in versions {
        if !version.is_empty() {
            continue;
        }
        let message =
            format!("the version of {name} is not known; it is taken to be older than any that matters");
        let hint = format!("put it into `/etc/eks/{name}-version.txt`");
        work.findings.push(Finding::warning(codes::NODEADM_VERSION, message).hint(hint));
    }
}

fn plan(work: &mut Work<'_>) -> Plan {
    let config = work.config;
    let mut plan = Plan {
        format: FORMAT,
        cluster: config.cluster.name.clone(),
        group: GROUP.to_owned(),
        flavour: Flavour::Eks,
        kubernetes: work.around.kubelet_version.trim_start_matches('v').to_owned(),
        platform: Platform::Aws,
        os: OsFamily::AmazonLinux2023,
        os_version: None,
        architecture: work.around.architecture,
        role: Role::Worker,
        bootstrap: None,
        node_name: if config.has_feature("InstanceIdNodeName") {
            NodeNamePolicy::InstanceId
        } else {
            NodeNamePolicy::PrivateDns
        },
        eks: None,
        detect: None,
        ipv6: kubelet::is_ipv6(&config.cluster.cidr),
        max_pods: match config.kubelet.max_pods_expression.as_str() {
            "" => PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None },
            cel => PodLimit::Expression { cel: cel.to_owned() },
        },
        memory_for_pods: None,
        pods_per_core: None,
        facts: BTreeSet::new(),
        cluster_ranges: Vec::new(),
        environment: config.instance.environment.get("default").cloned().flatten().unwrap_or_default(),
        certificate_authorities: Vec::new(),
        units: Vec::new(),
        steps: steps(work),
        hooks: Vec::new(),
        order: Vec::new(),
    };
    plan.facts = facts(&plan);
    plan
}

fn steps(work: &mut Work<'_>) -> Vec<Step> {
    let config = work.config;
    let every_boot = |step: Step| Step { every_boot: true, ..step };
    let mut steps = vec![every_boot(plain("identify", Phase::Identify, Action::LearnFacts))];
    steps.extend(system::name_resolution(config));
    steps.extend(system::local_disks(config));
    let environment = system::environment(config);
    let paths: Vec<String> = environment.iter().map(|(_, path, _)| path.clone()).collect();
    for (name, path, text) in environment {
        let content = Content::Text(Text::literal(text));
        steps.push(write_file(name, Phase::Runtime, &path, "0644", content));
    }
    steps.extend(containerd::steps(work, &paths));
    steps.extend(system::hosts(config));
    steps.extend(kubelet::steps(work));
    steps.push(system::marker());
    let gate = Action::OpenGate { environment: BTreeMap::new(), queue_kubelet: true };
    steps.push(every_boot(plain("gate", Phase::Gate, gate)));
    let health = Action::StartKubelet { health: kubelet::health(config), snap: None };
    steps.push(every_boot(plain("kubelet", Phase::Kubelet, health)));
    let registration =
        Action::AwaitRegistration { kubeconfig: kubelet::KUBECONFIG.to_owned(), check_skew: false };
    steps.push(plain("registered", Phase::Registered, registration));
    steps.push(plain("report", Phase::Report, Action::Report));
    steps
}

/// A program of the image's.
fn run(name: &str, phase: Phase, words: &[&str]) -> Step {
    let action = Action::Run {
        command: words.iter().map(|word| Text::literal(*word)).collect(),
        environment: BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    };
    plain(name, phase, action)
}
