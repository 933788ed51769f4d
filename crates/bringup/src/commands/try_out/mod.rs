//! `bringup try`

mod asked;
mod stand_in;
mod template;
mod told;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bringup_ancestors::{is_of_units, joins_a_node};
use bringup_carry::{carriers_of, inspect, read_plan};
use bringup_cloudinit::{Layer, peel};
use bringup_diag::{Findings, to_json};
use bringup_lab::timeline::line;
use bringup_lab::{Bench, Kubernetes, LabFault, Outcome, Subject, Trial, Verdict as Came, Way, Wishes};
use bringup_plan::Plan;
use bringup_spec::{
    AgentSource, Authority, Carrier, JoinMethod, LaunchUserData, OsFamily, Platform, SecretSource,
};
use serde_json::Value;

use self::asked::{pairs, wishes};
use self::told::{summary, write};
use crate::arguments::{Form, Selection, TryOut};
use crate::outcome::{Stop, Verdict, failure};
use crate::project::{GroupKey, Project, Wish, is_document};
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &TryOut, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let groups = groups(arguments)?;
    // Several answers are for people; a program asks for one group, and a machine that is kept is of one.
    if groups.len() < 2 || arguments.output == Form::Json || arguments.machine.is_some() {
        return try_one(arguments, terminal);
    }
    let mut worst = Verdict::Good;
    for (cluster, group) in groups {
        let heading = format!("\n{}\n", terminal.paint().strong(&format!("{cluster}/{group}")));
        terminal.data(heading.as_bytes())?;
        let directory = arguments.directory.as_ref().map(|directory| directory.join(&cluster).join(&group));
        let selection =
            Selection { cluster: Some(cluster), group: Some(group), ..arguments.selection.clone() };
        let verdict = try_one(&TryOut { selection, directory, ..arguments.clone() }, terminal)?;
        if worst == Verdict::Good || verdict == Verdict::No {
            worst = verdict;
        }
    }
    Ok(worst)
}

/// The groups of a document that are meant, by cluster and name; none of what is no document, or is read only once.
fn groups(arguments: &TryOut) -> Result<Vec<(String, String)>, Stop> {
    if files::is_standard_input(&arguments.input) {
        return Ok(Vec::new());
    }
    let bytes = given(&arguments.input)?;
    if !is_compiled(&arguments.input, &bytes, &arguments.selection) {
        return Ok(Vec::new());
    }
    let project = Project::load(std::slice::from_ref(&arguments.input), &arguments.selection)?;
    let keys = project.selected(&arguments.selection)?;
    let names = keys.into_iter().filter_map(|key| project.group(key));
    Ok(names
        .map(|(document, group)| (document.cluster.metadata.name.to_string(), group.name.to_string()))
        .collect())
}

fn try_one(arguments: &TryOut, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let mut wishes = wishes(arguments)?;
    let (subject, findings) = match subject(arguments, &mut wishes, terminal)? {
        Ok(tried) => tried,
        Err(verdict) => return Ok(verdict),
    };
    wishes.check(subject.plan.as_ref()).map_err(|fault| of_lab(&fault))?;
    if let Some(fault) = bringup_lab::missing(subject.way) {
        return Err(of_lab(&fault));
    }
    let quiet = arguments.output == Form::Json;
    let make = if wishes.is_real() { Bench::prepare_for_kubernetes } else { Bench::prepare };
    let bar = terminal.progress(1000, "making a Debian root, once");
    let bench = make(&cache(), &mut |share| bar.set_position(share));
    bar.finish_and_clear();
    let bench = bench.map_err(|fault| of_lab(&fault))?;
    let mut trial = Trial::prepare(&bench, subject, wishes).map_err(|fault| of_lab(&fault))?;
    let paint = terminal.paint();
    let mut start = None;
    let outcome = trial.hold(&mut |event| {
        let start = *start.get_or_insert(event.at_ms);
        if !quiet {
            let _ = terminal.data(format!("{}\n", line(event, start)).as_bytes());
            let _ = terminal.flush();
        }
    });
    let outcome = outcome.map_err(|fault| of_lab(&fault))?;
    if outcome.events.is_empty() {
        // A machine that has not got as far as its journal speaks on its console only.
        terminal.say(&trial.console());
    }
    if let Some(directory) = &arguments.directory {
        write(directory, &outcome)?;
        for (name, log) in trial.logs().map_err(|fault| of_lab(&fault))? {
            files::replace(&directory.join(format!("{name}.log")), log.as_bytes(), files::Readers::All)?;
        }
    }
    match arguments.output {
        Form::Json => terminal.json(&for_programs(&outcome, &findings))?,
        Form::Human => terminal.data(summary(&outcome, paint).as_bytes())?,
    }
    Ok(match (outcome.verdict, outcome.agrees && outcome.left_undone.is_empty()) {
        (Came::CameUp, true) => Verdict::Good,
        (Came::NotYet, true) => Verdict::NotYet,
        (Came::Failed, _) | (_, false) => Verdict::No,
    })
}

/// The outcome, with what was found in the document.
fn for_programs(outcome: &Outcome, findings: &Findings) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("findings".to_owned(), to_json(findings));
    }
    value
}

fn of_lab(fault: &LabFault) -> Stop {
    match fault {
        LabFault::NoGrip { .. } | LabFault::NoStep { .. } | LabFault::NoWord { .. } => {
            Stop::input(fault.to_string())
        }
        LabFault::Missing { .. } => Stop::undecided(fault.to_string()),
        _ => Stop::failed(fault.to_string()),
    }
}

/// Where the Debian root is kept.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the command line, and nothing but `try` keeps a cache"
)]
fn cache() -> PathBuf {
    let home =
        || std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("bringup")
}

/// What is tried: a group of a document, or a carrier as it is; and what was found in the document. An
/// answer at once where that does not compile, which is told.
fn subject(
    arguments: &TryOut,
    wishes: &mut Wishes,
    terminal: &mut Terminal,
) -> Result<Result<(Subject, Findings), Verdict>, Stop> {
    let bytes = given(&arguments.input)?;
    let path = |text: &str| Some(PathBuf::from(text));
    let served = pairs(&arguments.serve, "--serve", "URL=FILE", path)?;
    let own_files = pairs(&arguments.file, "--file", "PATH=FILE", path)?;
    if !is_compiled(&arguments.input, &bytes, &arguments.selection) {
        if !arguments.selection.with.is_empty() {
            return Err(Stop::input(
                "`--with` adds to documents, and this is user-data that joins no cluster",
            ));
        }
        if arguments.kubernetes.is_some() {
            return Err(Stop::input(
                "`--kubernetes` takes a document: a carrier cannot be told of the lab's cluster",
            ));
        }
        let (name, resource) = (arguments.input.to_string_lossy(), arguments.selection.group.as_deref());
        let inside = template::user_data(
            &name,
            &bytes,
            resource,
            &arguments.selection.parameters(),
            wishes.instance.region(),
        )?;
        let from_template = inside.is_some();
        if !from_template && !arguments.selection.parameter.is_empty() {
            return Err(Stop::input("`--parameter` is for CloudFormation templates, and this is none"));
        }
        let bytes = inside.unwrap_or(bytes);
        if !inspect(&name, &bytes).decoded {
            return Err(Stop::input(format!("`{name}` is nothing that a machine would take as user-data"))
                .with_hint("`bringup inspect` takes user-data apart; `bringup build` tells what is wrong with a document"));
        }
        stand_in::tell_joining(&bytes, &own_files, terminal);
        let mut subject = Subject {
            agent: arguments.agent.clone().or_else(agent_beside),
            served,
            files: own_files,
            ..foreign(bytes)
        };
        if from_template {
            subject.way = Way::Ec2;
        }
        stand_in::tell(subject.plan.as_ref(), wishes.is_real(), terminal);
        return Ok(Ok((subject, Findings::default())));
    }
    let mut project = Project::load(std::slice::from_ref(&arguments.input), &arguments.selection)?;
    if project.findings.has_errors() {
        return refused(&project.findings.clone().sorted(), &project, arguments.output, terminal);
    }
    let key = super::render::only_group(&project, &arguments.selection)?;
    let fetched =
        project.group(key).map(|(_, group)| &group.agent).filter(|agent| agent.from == AgentSource::Fetch);
    let reachable = fetched.is_some_and(|agent| {
        let urls = agent.downloads.values().flat_map(|download| &download.urls);
        urls.into_iter().any(|url| served.iter().any(|(given, _)| given == url.as_str()))
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
    let (document, group) = project.group(key).ok_or_else(|| Stop::input("there is no such node group"))?;
    if let (None, Some(kind)) = (&arguments.instance_type, group.instance_types.first()) {
        wishes.instance.kind.clone_from(kind);
    }
    let kind = match carriers_of(document, group).as_slice() {
        // Its user-data is a template's alone.
        _ if group.launch.as_ref().is_some_and(|launch| launch.user_data == LaunchUserData::Bootstrap) => {
            Carrier::CloudFormation
        }
        carriers if carriers.contains(&Carrier::CloudInit) => Carrier::CloudInit,
        carriers if carriers.contains(&Carrier::Ignition) => Carrier::Ignition,
        _ => Carrier::Multipart,
    };
    let built = project
        .built(key, Wish::Bytes(&[kind]), None)
        .ok_or_else(|| Stop::input("there is no such node group"))?;
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
    // Where nobody follows it step by step, the machine is judged as anybody else's.
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
    let agent = match group.agent.from {
        AgentSource::Image => Some(arguments.agent.clone().or_else(agent_beside).ok_or_else(no_agent)?),
        AgentSource::Fetch | AgentSource::None => None,
    };
    let subject = Subject {
        carrier,
        way: match (kind, group.platform) {
            (Carrier::Ignition, _) => Way::Ignition,
            (_, Platform::Aws) => Way::Ec2,
            (_, Platform::Generic) => Way::NoCloud,
        },
        stands_for: (group.os.family != OsFamily::Debian).then(|| group.os.family.to_string()),
        plan,
        agent,
        served,
        files: own_files,
    };
    Ok(Ok((subject, findings)))
}

/// The bytes of the input; a directory of units is read when it is compiled.
fn given(input: &Path) -> Result<Vec<u8>, Stop> {
    if files::is_directory(input) { Ok(Vec::new()) } else { Ok(files::input(input)?) }
}

/// Whether an input is a document, or is tried as one: user-data that joins a node, once there is what it does not say.
fn is_compiled(path: &Path, bytes: &[u8], selection: &Selection) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let joins = || {
        let within = bringup_cloudformation::read(&path.to_string_lossy(), text);
        joins_a_node(bytes)
            || is_of_units(&path.to_string_lossy(), bytes)
            || within.is_some_and(|found| found.parts.iter().any(|part| joins_a_node(&part.bytes)))
    };
    files::is_directory(path) || is_document(text) || !selection.with.is_empty() && joins()
}

/// Tells what is wrong with a document that does not compile.
fn refused<T>(
    findings: &Findings,
    project: &Project,
    form: Form,
    terminal: &mut Terminal,
) -> Result<Result<T, Verdict>, Stop> {
    let verdict = super::render::verdict(findings);
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
        plan,
        agent: None,
        served: Vec::new(),
        files: Vec::new(),
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
