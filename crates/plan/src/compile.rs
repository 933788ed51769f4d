//! From a document and one of its node groups to a plan.

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::Finding;
use bringup_spec::{AgentSource, Cluster, Document, Fact, JoinMethod, NodeNamePolicy, Phase, Text};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::ARGUMENTS_VARIABLE;
use crate::kubelet::flags::Flags;
use crate::kubelet::{config, credential_provider, flags, health, unit};
use crate::steps::{plain, write_file};
use crate::{
    Action, ApiServer, Compiled, Content, EksCluster, FORMAT, LocalFiles, Plan, PodLimit, Step, assertions,
    codes, eksctl, files, flavour_files, group_checks, join, kernel, kubeadm, labels, operator, order, paths,
    runtime, signals, software, stage_units, stages, template, trust, units, versions,
};

/// Compiles the plan of a node group. Findings about the document as a whole are in [`crate::check_document`].
pub fn compile(document: &Document, group_index: usize, local: &LocalFiles) -> Compiled {
    let Some(group) = document.cluster.spec.node_groups.get(group_index) else {
        let message = format!("there is no node group number {group_index}");
        let findings = [Finding::error(codes::GROUP_MISSING, message)].into_iter().collect();
        return Compiled { draft: None, plan: None, provenance: Vec::new(), findings };
    };
    let applied = runtime::versions::applied(group, document.cluster.spec.kubernetes.version.minor);
    let mut context = Context::new(document, group_index, applied.as_ref().unwrap_or(group), local);
    runtime::versions::check(&mut context, group);
    let plan = plan(&mut context);
    let (plan, draft) = if context.findings.has_errors() { (None, Some(plan)) } else { (Some(plan), None) };
    context.findings.retain(|finding| !document.is_follow_up(finding));
    Compiled { draft, plan, provenance: context.provenance, findings: context.findings }
}

fn plan(context: &mut Context<'_>) -> Plan {
    let decisions = Decisions::new(context);
    versions::check(context);
    group_checks::check_group(context, &decisions);
    labels::check_labels(context);
    labels::check_taints(context);
    kubeadm::check(context, &decisions);
    let environment = trust::proxy_environment(context, &decisions);
    let programs = operator::programs(context, &decisions);
    let ours = our_steps(context, &decisions, &programs);
    paths::check_paths(context, &ours);
    let steps = order::ordered(context, ours, programs.steps);
    let mut units = units::agent_units(context, &decisions);
    let mut kubelet = unit::unit(context, &decisions);
    let mut runtime = unit::runtime(context, &decisions);
    trust::proxy_drop_ins(&environment, [&mut kubelet, &mut runtime]);
    units.push(kubelet);
    if runtime.content.is_some() || !runtime.drop_ins.is_empty() {
        units.push(runtime);
    }
    units.extend(runtime::sandbox::unit(context, &decisions));
    units.extend(stage_units::units(&steps));
    units.extend(eksctl::script_unit(context, &decisions));
    units.extend(units::rivals(context));
    paths::check_own(context, &steps, &units);
    units::operator_units(context, &decisions, &mut units);
    assertions::check(context, &steps, &programs.hooks, &units);
    let group = context.group;
    let mut plan = Plan {
        format: FORMAT,
        cluster: context.document.cluster.metadata.name.to_string(),
        group: group.name.to_string(),
        flavour: context.spec.flavour,
        kubernetes: context.spec.kubernetes.version.to_string(),
        platform: group.platform,
        os: group.os.family,
        os_version: group.os.version.clone(),
        architecture: group.architecture,
        role: group.role,
        bootstrap: decisions.election.clone(),
        node_name: decisions.node_name,
        ipv6: decisions.ipv6,
        max_pods: decisions.max_pods.clone(),
        memory_for_pods: Some(&decisions.memory_for_pods)
            .filter(|limit| **limit != decisions.max_pods)
            .cloned(),
        pods_per_core: decisions.pods_per_core,
        facts: BTreeSet::new(),
        eks: None,
        detect: detect(context, decisions.agent),
        cluster_ranges: cluster_ranges(context),
        environment,
        certificate_authorities: context
            .spec
            .certificate_authorities
            .iter()
            .map(|authority| authority.certificate.pem().to_owned())
            .collect(),
        units,
        steps,
        hooks: programs.hooks,
        order: context.spec.order.iter().chain(&group.order).cloned().collect(),
    };
    plan.facts = facts(&plan);
    if plan.detect.is_some() {
        plan.facts.insert(Fact::KubernetesTag);
    }
    if plan.facts.iter().any(Fact::is_of_cluster) {
        plan.eks = eks_cluster(context);
    }
    group_checks::check_facts(context, &plan.facts);
    plan
}

/// The API server that is asked for its version, where the document wants it.
fn detect(context: &mut Context<'_>, agent: AgentSource) -> Option<ApiServer> {
    if !context.spec.kubernetes.detect {
        return None;
    }
    let path = Context::spec_path(["kubernetes", "detect"]);
    let api = context.spec.api.as_ref();
    let authority = api.and_then(|api| api.certificate_authority.as_ref());
    let (Some(api), Some(authority)) = (api, authority) else {
        context.error(
            codes::ENDPOINT_MISSING,
            &path,
            "before it has joined, a node knows of the API server only what the document says",
            "add `api: {endpoint: https://HOST, certificateAuthority: ...}`, or remove `detect`",
        );
        return None;
    };
    if agent == AgentSource::None {
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "without an agent nobody on the node asks the API server",
            "remove `detect`, or let the agent come with `agent`",
        );
        return None;
    }
    Some(ApiServer { endpoint: api.endpoint.clone(), certificate_authority: authority.pem().to_owned() })
}

/// The cluster that EKS is asked about.
fn eks_cluster(context: &Context<'_>) -> Option<EksCluster> {
    let region = context.spec.aws.as_ref().map(|aws| aws.region.clone())?;
    let joins = context.on_aws() && context.spec.join.method == JoinMethod::EksToken;
    joins.then(|| EksCluster { name: context.eks_name(), region })
}

fn cluster_ranges(context: &Context<'_>) -> Vec<String> {
    let network = &context.spec.network;
    network.service_ranges.iter().chain(&network.pod_ranges).map(ToString::to_string).collect()
}

/// Our own steps, sorted by phase.
fn our_steps(context: &mut Context<'_>, decisions: &Decisions, programs: &operator::Programs) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut identify = plain("identify", Phase::Identify, Action::LearnFacts);
    identify.every_boot = true;
    steps.push(identify);
    steps.extend(trust::steps(context));
    steps.extend(files::steps(context));
    steps.extend(programs.scripts.iter().cloned());
    steps.extend(software::assets(context));
    steps.extend(programs.phased_hooks.iter().filter(|step| step.phase == Phase::PreInstall).cloned());
    let update = kernel::update(context);
    let updated = update.is_some();
    steps.extend(update);
    steps.extend(kernel::steps(context, decisions));
    let replaced = runtime::versions::replaces(context);
    let installs = software::install(context, decisions);
    let (runtime_installs, configure_installs): (Vec<Step>, Vec<Step>) =
        installs.into_iter().partition(|step| step.phase == Phase::Runtime);
    steps.extend(runtime_installs);
    let sandbox_image = runtime::sandbox_image(context, decisions);
    steps.extend(runtime::steps(context, decisions, &sandbox_image));
    steps.extend(configure_installs);
    let kernel_arguments = kernel::arguments(context);
    let rearranged = kernel_arguments.is_some();
    steps.extend(kernel_arguments);
    let joining = join::joining(context, decisions);
    let (kubelet_files, flags) = kubelet_files(context, decisions, &sandbox_image);
    steps.extend(joining.files);
    steps.extend(kubelet_files);
    steps.extend(flavour_files::steps(context, decisions, &flags));
    if !context.group.units.is_empty() {
        steps.push(plain("units", Phase::Configure, Action::PlaceUnits));
    }
    steps.extend(kernel::reboot(context, updated || rearranged || replaced));
    steps.extend(runtime::versions::removal(context));
    steps.push(gate(context, decisions, &flags));
    steps.extend(joining.programs);
    let snap = decisions.is_snap().then(|| eksctl::snap(flags));
    let health = Action::StartKubelet { health: health::url(context, decisions), snap };
    let mut start = plain("kubelet", Phase::Kubelet, health);
    start.every_boot = true;
    steps.push(start);
    let staged = stages::steps(context, decisions);
    let (control_plane, platform): (Vec<Step>, Vec<Step>) =
        staged.into_iter().partition(|step| step.phase == Phase::ControlPlane);
    steps.extend(control_plane);
    steps.push(plain(
        "registered",
        Phase::Registered,
        Action::AwaitRegistration {
            kubeconfig: joining.kubeconfig,
            check_skew: context.spec.kubernetes.check_skew,
        },
    ));
    steps.extend(platform);
    steps.extend(programs.phased_hooks.iter().filter(|step| step.phase == Phase::PostInstall).cloned());
    steps.push(plain("report", Phase::Report, Action::Report));
    steps.extend(signals::steps(context));
    steps
}

/// Files that kubelet reads, and its flags. With kubeadm, they are kubeadm's business.
fn kubelet_files(
    context: &mut Context<'_>,
    decisions: &Decisions,
    sandbox_image: &str,
) -> (Vec<Step>, Flags) {
    if decisions.join == JoinMethod::Kubeadm {
        return (Vec::new(), Flags::new());
    }
    let mut steps = Vec::new();
    let content = config::whole(context, decisions);
    steps.push(write_file("kubelet-config", Phase::Configure, decisions.layout.config, "0644", content));
    if let Some(provider) = credential_provider::config(context, decisions) {
        let body = Content::Text(template::json_text(&provider));
        let path = decisions.layout.credential_provider;
        steps.push(write_file("image-credential-provider", Phase::Configure, path, "0644", body));
    }
    let flags = flags::whole(context, decisions, Some(sandbox_image));
    if unit::has_static_environment(context, decisions) {
        let mut line = Text::default();
        if !decisions.is_snap() {
            line.push_str(&format!("{ARGUMENTS_VARIABLE}='"));
            line.push(&flags::line(&flags));
            line.push_str("'\n");
        }
        for (name, value) in &context.group.kubelet.environment {
            line.push_str(name);
            line.push_str("='");
            line.push(value);
            line.push_str("'\n");
        }
        let path = unit::STATIC_ENVIRONMENT;
        steps.push(write_file("kubelet-environment", Phase::Configure, path, "0644", Content::Text(line)));
    }
    (steps, flags)
}

/// What is set through snapd does not pass the gate as arguments: the snap is set once the gate is open, and started then.
fn gate(context: &Context<'_>, decisions: &Decisions, flags: &Flags) -> Step {
    let mut environment: BTreeMap<String, Text> = context.group.kubelet.environment.clone();
    let queue_kubelet = decisions.join != JoinMethod::Kubeadm && !decisions.is_snap();
    if queue_kubelet {
        environment.insert(ARGUMENTS_VARIABLE.to_owned(), flags::line(flags));
    }
    let mut step = plain("gate", Phase::Gate, Action::OpenGate { environment, queue_kubelet });
    step.every_boot = true;
    step
}

/// All facts that a plan names, and those that others are worked out from.
pub(crate) fn facts(plan: &Plan) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    let mut texts: Vec<&Text> = Vec::new();
    for step in &plan.steps {
        collect(&step.action, &mut texts);
    }
    for hook in &plan.hooks {
        texts.extend(&hook.command);
    }
    for text in texts {
        facts.extend(text.facts().cloned());
    }
    if let Some(crate::Election::When { fact, .. }) = &plan.bootstrap {
        facts.insert(fact.clone());
    }
    let limited = |limit: &PodLimit| !matches!(limit, PodLimit::Fixed(_));
    if limited(&plan.max_pods) && facts.contains(&Fact::MaxPods)
        || limited(plan.memory_limit()) && facts.contains(&Fact::ReservedMemory)
    {
        facts.extend([Fact::InstanceType, Fact::Cores]);
    }
    let by_core = plan.pods_per_core.is_some() && facts.contains(&Fact::ReservedMemory);
    if by_core || facts.contains(&Fact::ReservedCpu) {
        facts.insert(Fact::Cores);
    }
    // Whoever waits for the node looks for it by its name, also where kubelet finds that out by itself.
    let waits = |step: &Step| matches!(step.action, Action::AwaitRegistration { .. });
    if plan.node_name != NodeNamePolicy::Hostname && plan.steps.iter().any(waits) {
        facts.insert(Fact::NodeName);
    }
    if facts.contains(&Fact::NodeName) {
        facts.insert(match plan.node_name {
            NodeNamePolicy::InstanceId => Fact::InstanceId,
            NodeNamePolicy::PrivateDns | NodeNamePolicy::Hostname => Fact::Hostname,
            NodeNamePolicy::Address => Fact::Address,
        });
    }
    if facts.contains(&Fact::ProviderId) {
        facts.extend([Fact::Zone, Fact::InstanceId]);
    }
    facts
}

fn collect<'a>(action: &'a Action, texts: &mut Vec<&'a Text>) {
    match action {
        Action::WriteFile { content, .. } => collect_content(content, texts),
        Action::Run { command, environment, .. } => {
            texts.extend(command);
            texts.extend(environment.values());
        }
        Action::OpenGate { environment, .. } => texts.extend(environment.values()),
        Action::Signal { target, .. } => texts.extend(target.values()),
        Action::StartKubelet { snap: Some(snap), .. } => texts.extend(snap.settings.values()),
        _ => {}
    }
}

fn collect_content<'a>(content: &'a Content, texts: &mut Vec<&'a Text>) {
    match content {
        Content::Text(text) => texts.push(text),
        Content::Pieces(pieces) => {
            for piece in pieces {
                collect_content(piece, texts);
            }
        }
        Content::Merged { otherwise, over } => texts.extend([otherwise].into_iter().chain(over)),
        Content::Base64(_) | Content::Secret(_) | Content::PodTable(_) => {}
    }
}

/// Every `src` that the document refers to.
pub fn local_sources(cluster: &Cluster) -> BTreeSet<String> {
    let spec = &cluster.spec;
    let files = spec.files.iter().chain(spec.node_groups.iter().flat_map(|group| &group.files));
    let parts = spec.node_groups.iter().flat_map(|group| &group.parts);
    files.filter_map(|file| file.src.clone()).chain(parts.filter_map(|part| part.src.clone())).collect()
}
