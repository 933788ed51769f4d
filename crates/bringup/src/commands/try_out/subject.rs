//! What is tried: a group of a document, or a carrier as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bringup_carry::{carriers_of, inspect, read_plan};
use bringup_cloudinit::{Layer, peel};
use bringup_diag::Findings;
use bringup_lab::{Given, Kubernetes, Subject, Way, Wishes};
use bringup_plan::Plan;
use bringup_spec::{
    AgentSource, Authority, Carrier, Document, JoinMethod, LaunchUserData, NodeGroup, OsFamily, Platform,
    SecretSource,
};

use super::asked::pairs;
use super::surroundings::Surroundings;
use super::{given, is_compiled, of_lab, stand_in, template};
use crate::Terminal;
use crate::arguments::{Form, TryOut};
use crate::commands::render;
use crate::outcome::{Stop, Verdict, failure};
use crate::project::{GroupKey, Project, Wish};

/// What is tried, and what was found in the document. An answer at once where that does not compile, which is told.
pub(super) fn subject(
    arguments: &TryOut,
    wishes: &mut Wishes,
    terminal: &mut Terminal,
) -> Result<Result<(Subject, Findings), Verdict>, Stop> {
    let bytes = given(&arguments.input)?;
    let file = |text: &str| Some(Given::File(PathBuf::from(text)));
    let surroundings = Surroundings {
        served: pairs(&arguments.serve, "--serve", "URL=FILE", file)?,
        files: pairs(&arguments.file, "--file", "PATH=FILE", file)?,
        authority: None,
        stand_ins: Vec::new(),
    };
    if is_compiled(&arguments.input, &bytes, &arguments.selection) {
        compiled(arguments, surroundings, wishes, terminal)
    } else {
        as_it_is(arguments, bytes, surroundings, wishes, terminal)
            .map(|subject| Ok((subject, Findings::default())))
    }
}

/// A carrier, which the machine gets as it is.
fn as_it_is(
    arguments: &TryOut,
    bytes: Vec<u8>,
    surroundings: Surroundings,
    wishes: &Wishes,
    terminal: &mut Terminal,
) -> Result<Subject, Stop> {
    if !arguments.selection.with.is_empty() {
        return Err(Stop::input("`--with` adds to documents, and this is user-data that joins no cluster"));
    }
    if arguments.kubernetes.is_some() {
        return Err(Stop::input(
            "`--kubernetes` takes a document: a carrier cannot be told of the lab's cluster",
        ));
    }
    let (name, resource) = (arguments.input.to_string_lossy(), arguments.selection.group.as_deref());
    let parameters = arguments.selection.parameters();
    let inside = template::user_data(&name, &bytes, resource, &parameters, wishes.instance.region())?;
    let from_template = inside.is_some();
    if !from_template && !arguments.selection.parameter.is_empty() {
        return Err(Stop::input("`--parameter` is for CloudFormation templates, and this is none"));
    }
    let bytes = inside.unwrap_or(bytes);
    if !inspect(&name, &bytes).decoded {
        return Err(Stop::input(format!("`{name}` is nothing that a machine would take as user-data"))
            .with_hint("`bringup inspect` takes user-data apart; `bringup build` tells what is wrong with a document"));
    }
    let Surroundings { served, files, .. } = surroundings;
    stand_in::tell_joining(&bytes, &files, terminal);
    let agent = arguments.agent.clone().or_else(agent_beside);
    let mut subject = Subject { agent, served, files, ..foreign(bytes) };
    if from_template {
        subject.way = Way::Ec2;
    }
    stand_in::tell(subject.plan.as_ref(), wishes.is_real(), terminal);
    Ok(subject)
}

/// A group of a document, adapted to what there is in a container.
fn compiled(
    arguments: &TryOut,
    mut surroundings: Surroundings,
    wishes: &mut Wishes,
    terminal: &mut Terminal,
) -> Result<Result<(Subject, Findings), Verdict>, Stop> {
    let none = || Stop::input("there is no such node group");
    let mut project = Project::load(std::slice::from_ref(&arguments.input), &arguments.selection)?;
    if project.findings.has_errors() {
        return refused(&project.findings.clone().sorted(), &project, arguments.output, terminal);
    }
    let key = render::only_group(&project, &arguments.selection)?;
    let fetched =
        project.group(key).map(|(_, group)| &group.agent).filter(|agent| agent.from == AgentSource::Fetch);
    let reachable = fetched.is_some_and(|agent| {
        let urls = agent.downloads.values().flat_map(|download| &download.urls);
        urls.into_iter().any(|url| surroundings.serves(url.as_str()))
    });
    if fetched.is_some() && !reachable {
        terminal.say("the agent is taken to be in the image: `--serve URL=FILE` lets it be fetched\n");
        project.have_agent_in_image(key);
    }
    if let Some(programs) = &arguments.kubernetes {
        wishes.kubernetes = Some(Arc::new(cluster(programs, &mut project, key)?));
        terminal.say("the cluster is the lab's own: so are the authority and what the node joins with\n");
    }
    if let Some(group) = project.group_mut(key) {
        stand_in::adapt(group, wishes.is_real(), terminal);
    }
    if let Some(spec) = project.spec_mut(key) {
        surroundings.complete(spec, key.group, wishes);
        surroundings.version(spec, key.group, wishes, terminal)?;
    }
    let (document, group) = project.group(key).ok_or_else(none)?;
    if let (None, Some(kind)) = (&arguments.instance_type, group.instance_types.first()) {
        wishes.instance.kind.clone_from(kind);
    }
    let kind = carrier(document, group);
    let built = project.built(key, Wish::Bytes(&[kind]), None).ok_or_else(none)?;
    let mut findings = project.findings.clone();
    findings.extend(built.findings.clone());
    let findings = findings.sorted();
    if findings.has_errors() {
        return refused(&findings, &project, arguments.output, terminal);
    }
    if arguments.output == Form::Human {
        terminal.findings(&findings, &project.sources);
    }
    let mut rendered = built.files.into_iter();
    let plan: Option<Plan> = rendered.next().and_then(|(_, json)| serde_json::from_slice(&json).ok());
    // Where nobody follows it step by step, the machine is judged as anybody else's, and by its kubelet.
    let expects_kubelet = group.agent.from == AgentSource::None && plan.as_ref().is_some_and(starts_kubelet);
    let kubelet_snap = plan.as_ref().and_then(snap_of);
    let plan = plan.filter(|_| group.agent.from != AgentSource::None);
    let carrier = rendered.next().map(|(_, bytes)| bytes).unwrap_or_default();
    let inside = match kind {
        Carrier::CloudFormation => {
            template::user_data("template", &carrier, None, &BTreeMap::new(), wishes.instance.region())?
        }
        _ => None,
    };
    let (plan, carrier) = match inside {
        // The script's own plan is made on the node.
        Some(inside) => (None, inside),
        None => (plan, carrier),
    };
    if let Some(plan) = &plan {
        surroundings.describe(plan, wishes.kubernetes.as_deref())?;
    }
    surroundings.tell(terminal);
    let agent = match group.agent.from {
        AgentSource::Image => Some(arguments.agent.clone().or_else(agent_beside).ok_or_else(no_agent)?),
        AgentSource::Fetch | AgentSource::None => None,
    };
    let way = match (kind, group.platform) {
        (Carrier::Ignition, _) => Way::Ignition,
        (_, Platform::Aws) => Way::Ec2,
        (_, Platform::Generic) => Way::NoCloud,
    };
    let stands_for = (group.os.family != OsFamily::Debian).then(|| group.os.family.to_string());
    let Surroundings { served, files, authority, stand_ins } = surroundings;
    let subject = Subject {
        carrier,
        way,
        stands_for,
        plan,
        expects_kubelet,
        kubelet_snap,
        agent,
        served,
        authority,
        files,
        stand_ins,
    };
    Ok(Ok((subject, findings)))
}

/// The snap that a plan's kubelet is, if it is one.
fn snap_of(plan: &Plan) -> Option<String> {
    plan.kubelet_snap().map(|snap| snap.name.clone())
}

/// Whether a plan without an agent has something that starts kubelet: kubelet's own unit, or the steps before it.
fn starts_kubelet(plan: &Plan) -> bool {
    let name = plan.kubelet_unit();
    let kubelet = plan.units.iter().find(|unit| unit.name == name);
    let has_steps = !plan.run_without_agent().is_empty();
    kubelet.is_some_and(|unit| !unit.mask && (has_steps || unit.enabled != Some(false)))
}

/// The carrier that a group is tried with.
fn carrier(document: &Document, group: &NodeGroup) -> Carrier {
    match carriers_of(document, group).as_slice() {
        // Its user-data is a template's alone.
        _ if group.launch.as_ref().is_some_and(|launch| launch.user_data == LaunchUserData::Bootstrap) => {
            Carrier::CloudFormation
        }
        carriers if carriers.contains(&Carrier::CloudInit) => Carrier::CloudInit,
        carriers if carriers.contains(&Carrier::Ignition) => Carrier::Ignition,
        _ => Carrier::Multipart,
    }
}

/// Tells what is wrong with a document that does not compile.
fn refused<T>(
    findings: &Findings,
    project: &Project,
    form: Form,
    terminal: &mut Terminal,
) -> Result<Result<T, Verdict>, Stop> {
    let verdict = render::verdict(findings);
    match form {
        Form::Human => terminal.findings(findings, &project.sources),
        Form::Json => terminal.json(&failure(verdict, findings))?,
    }
    terminal.say("the document does not compile, and was not tried\n");
    Ok(Err(verdict))
}

/// A carrier as it is, whoever made it. Base64 is taken off: the machine does not get to see it.
fn foreign(bytes: Vec<u8>) -> Subject {
    let peeled = peel(&bytes);
    let encoded = peeled.refused.is_none() && peeled.layers.contains(&Layer::Base64);
    let plan = read_plan(&bytes);
    let parsed = serde_json::from_slice::<serde_json::Value>(&peeled.bytes);
    let is_ignition = parsed.is_ok_and(|value| value.get("ignition").is_some());
    let on_aws = plan.as_ref().is_some_and(|plan| plan.platform == Platform::Aws);
    let other = plan.as_ref().map(|plan| plan.os).filter(|os| *os != OsFamily::Debian);
    Subject {
        carrier: if encoded { peeled.bytes } else { bytes },
        way: match (is_ignition, on_aws) {
            (true, _) => Way::Ignition,
            (false, true) => Way::Ec2,
            (false, false) => Way::NoCloud,
        },
        stands_for: other.map(|os| os.to_string()),
        kubelet_snap: plan.as_ref().and_then(snap_of),
        plan,
        expects_kubelet: false,
        agent: None,
        served: Vec::new(),
        authority: None,
        files: Vec::new(),
        stand_ins: Vec::new(),
    }
}

/// A cluster at the document's endpoint, which the document is told to trust and to join.
fn cluster(programs: &Path, project: &mut Project, key: GroupKey) -> Result<Kubernetes, Stop> {
    let spec = project.spec_mut(key).ok_or_else(|| Stop::input("there is no such node group"))?;
    let secret = |path: &str| Some(SecretSource::File(path.to_owned()));
    match spec.join.method {
        JoinMethod::BootstrapToken => spec.join.token = secret(Kubernetes::TOKEN),
        JoinMethod::Kubeconfig => spec.join.kubeconfig = secret(Kubernetes::KUBECONFIG),
        JoinMethod::EksToken => {}
        JoinMethod::Kubeadm => {
            return Err(Stop::input("the lab's cluster cannot be joined by `kubeadm`")
                .with_hint("try it with `method: bootstrap-token` or `kubeconfig`"));
        }
    }
    let endpoint = spec.api.as_ref().map(|api| api.endpoint.as_str());
    let cluster = Kubernetes::prepare(programs, endpoint).map_err(|fault| of_lab(&fault))?;
    if let Some(api) = &mut spec.api {
        api.certificate_authority = Authority::parse(cluster.authority()).ok();
    }
    Ok(cluster)
}

/// The agent that lies beside this program.
fn agent_beside() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let names = [format!("bringup-node-{}", std::env::consts::ARCH), "bringup-node".to_owned()];
    names.iter().map(|name| own.with_file_name(name)).find(|path| path.is_file())
}

fn no_agent() -> Stop {
    Stop::input("the image is to have the agent, and there is none")
        .with_hint("put `bringup-node-x86_64` beside `bringup`, or name it with `--agent PATH`")
}
