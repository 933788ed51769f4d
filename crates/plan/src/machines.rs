//! Machines that get a plan over SSH: how they are reached, and which they are. Nothing of it is in the plan, so that it
//! is told.

use std::fmt::Write as _;
use std::net::IpAddr;

use bringup_diag::{Code, Finding, Findings};
use bringup_spec::{
    Bootstrap, Carrier, ClusterSpec, Document, Fact, Machine, NodeGroup, Role, SecretSource, UpgradeMode,
    host_fault,
};
use bringup_yaml::Path;

use crate::{Election, codes};

/// The machine that starts the cluster where no group says it: the first of the control plane, as whoever goes through
/// them over SSH would take it.
pub(crate) fn first(spec: &ClusterSpec) -> Option<(usize, &Machine)> {
    if spec.node_groups.iter().any(|group| group.bootstrap.is_some()) {
        return None;
    }
    let is_master = |machine: &Machine| {
        let group = spec.node_groups.iter().find(|group| group.name == machine.node_group);
        group.is_some_and(|group| group.role == Role::ControlPlane)
    };
    spec.machines.iter().enumerate().find(|(_, machine)| is_master(machine))
}

/// Whether some node of the document starts the cluster.
pub(crate) fn is_elected(spec: &ClusterSpec) -> bool {
    let says = |group: &NodeGroup| {
        group.role == Role::ControlPlane
            && group.bootstrap.as_ref().is_some_and(|given| *given != Bootstrap::Always(false))
    };
    first(spec).is_some() || spec.node_groups.iter().any(says)
}

/// How a node of this group knows that it is the first machine; none if that is of another group, or there is none.
pub(crate) fn election(spec: &ClusterSpec, group: &NodeGroup) -> Option<Election> {
    let (_, first) = first(spec).filter(|(_, first)| first.node_group == group.name)?;
    let alike = spec.machines.iter().filter(|machine| machine.node_group == group.name).count();
    if alike == 1 && group.scaling.is_none() {
        return Some(Election::Always);
    }
    // The machines of a group have one plan: each finds out whether it is the first.
    Some(match first.address.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => Election::When { fact: Fact::Address, equals: address.to_string() },
        Err(_) => Election::When { fact: Fact::Hostname, equals: first.address.to_lowercase() },
    })
}

/// So many machines of a group are named.
const MOST_NAMED: usize = 8;

/// Checks how machines are reached, and that their roles are those of their plans.
pub(crate) fn check(document: &Document, findings: &mut Findings) {
    let spec = &document.cluster.spec;
    for (index, machine) in spec.machines.iter().enumerate() {
        let path = Path::root().keys(["spec", "machines"]).index(index);
        let mut error = |code: Code, path: &Path, message: String, hint: &str| {
            findings.push(Finding::error(code, message).at(document.place(path)).hint(hint));
        };
        let group = spec.node_groups.iter().find(|group| group.name == machine.node_group);
        if let Some(group) = group
            && machine.role.is_some_and(|role| role != group.role)
        {
            let message = format!("the plan of `{}` is for the role `{}`", group.name, group.role);
            let hint = "remove `role`, or give the machine a group of that role";
            error(codes::MACHINE_ROLE, &path.key("role"), message, hint);
        }
        let host = machine.jump_host.as_ref();
        let logins = [
            Some((path.clone(), &machine.address, machine.port, &machine.user)),
            host.map(|host| (path.key("jumpHost"), &host.address, host.port, &host.user)),
        ];
        for (path, address, port, user) in logins.into_iter().flatten() {
            if let Some(fault) = host_fault(address) {
                let hint = format!("{}; the user and the port have fields of their own", fault.hint);
                error(codes::MACHINE_ADDRESS, &path.key("address"), fault.message, &hint);
            }
            if port == 0 {
                let hint = "write the port of the SSH server, usually 22";
                error(codes::MACHINE_ADDRESS, &path.key("port"), "there is no port 0".to_owned(), hint);
            }
            let odd = |letter: char| letter.is_whitespace() || "@:/".contains(letter);
            if user.contains(odd) || user.starts_with('-') {
                let message = format!("`{user}` is no name of a user");
                error(
                    codes::MACHINE_USER,
                    &path.key("user"),
                    message,
                    "write its name alone, such as `root`",
                );
            }
        }
        if host.is_some_and(|host| host.address == machine.address && host.port == machine.port) {
            let message = "the machine would be reached through itself".to_owned();
            let hint = "remove `jumpHost`, or write another host's address";
            error(codes::MACHINE_ADDRESS, &path.keys(["jumpHost", "address"]), message, hint);
        }
    }
}

/// One note for each group that machines belong to.
pub(crate) fn tell(document: &Document, findings: &mut Findings) {
    let spec = &document.cluster.spec;
    for group in &spec.node_groups {
        let machines: Vec<(usize, &Machine)> = spec
            .machines
            .iter()
            .enumerate()
            .filter(|(_, machine)| machine.node_group == group.name)
            .collect();
        let Some((first, _)) = machines.first() else { continue };
        let starts = self::first(spec).map(|(index, _)| index);
        let told = |(index, machine): &(usize, &Machine)| {
            let ending = if starts == Some(*index) { " (it starts the cluster)" } else { "" };
            described(machine) + ending
        };
        let mut named: Vec<String> = machines.iter().take(MOST_NAMED).map(told).collect();
        if machines.len() > MOST_NAMED {
            named.push(format!("{} others", machines.len() - MOST_NAMED));
        }
        let place = document.place(&Path::root().keys(["spec", "machines"]).index(*first));
        let mut finding = Finding::note(
            codes::MACHINES,
            format!("the plan of `{}` goes over SSH to {}", group.name, named.join(", ")),
        )
        .at(place);
        if !group.carriers.contains(&Carrier::Bundle) {
            finding = finding.hint("add `bundle` to the group's `carriers` for the tar to copy there");
        }
        findings.push(finding);
    }
}

/// How nodes are upgraded shapes no plan: it is told, so that nobody takes it for done.
pub(crate) fn tell_upgrade(document: &Document, findings: &mut Findings) {
    let Some(upgrade) = &document.cluster.spec.upgrade else { return };
    let how = match upgrade.mode {
        UpgradeMode::Auto => "one behind the other without being asked for",
        UpgradeMode::Manual => "when somebody asks for it",
    };
    let drained = if upgrade.drain { ", each drained first" } else { "" };
    let unready = match &upgrade.max_unready {
        Some(most) if most.as_str().ends_with('%') => {
            format!(", as long as at most {} of the pods are not ready", most.as_str())
        }
        Some(most) => format!(", as long as at most {} pods are not ready", most.as_str()),
        None => String::new(),
    };
    let message = format!(
        "nodes are upgraded {how}{drained}{unready}: whoever drives the upgrade takes this from the document, and no plan holds it"
    );
    let place = document.key_place(&Path::root().keys(["spec", "upgrade"]));
    findings.push(Finding::note(codes::UPGRADE, message).at(place).hint("nothing has to be changed"));
}

/// `NAME at USER@ADDRESS:PORT with the key in file ID through USER@ADDRESS:PORT`: where secrets are, never what they are.
fn described(machine: &Machine) -> String {
    let login = |user: &str, address: &str, port: u16| {
        // An IPv6 address has colons of its own.
        let is_bare = address.contains(':') && !address.starts_with('[');
        let address = if is_bare { format!("[{address}]") } else { address.to_owned() };
        format!("{user}@{address}:{port}")
    };
    let mut text = match &machine.name {
        Some(name) => format!("`{name}` at "),
        None => String::new(),
    };
    text.push_str(&login(&machine.user, &machine.address, machine.port));
    if let Some(key) = &machine.key {
        let _ = write!(text, " with the key in {}", place_of(key));
    }
    if let Some(password) = &machine.password {
        let _ = write!(text, " with the password in {}", place_of(password));
    }
    if machine.agent {
        text.push_str(" with a key of your SSH agent");
    }
    if let Some(host) = &machine.jump_host {
        text.push_str(" through ");
        text.push_str(&login(&host.user, &host.address, host.port));
        if let Some(key) = &host.key {
            let _ = write!(text, " with the key in {}", place_of(key));
        }
    }
    if let Some(role) = machine.role {
        text.push_str(" as ");
        text.push_str(role.word());
    }
    text
}

fn place_of(secret: &SecretSource) -> String {
    let (kind, name) = match secret {
        SecretSource::File(path) => ("file", path),
        SecretSource::Environment(name) => ("environment variable", name),
        SecretSource::S3(url) => ("S3", url),
        SecretSource::SsmParameter(name) => ("SSM parameter", name),
        SecretSource::SecretsManager(name) => ("Secrets Manager", name),
    };
    format!("{kind} `{name}`")
}
