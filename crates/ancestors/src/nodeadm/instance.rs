//! The machine beside kubelet and containerd.

use std::fmt::Write as _;

use bringup_diag::Span;
use bringup_spec::codes::NODECONFIG_VALUE;
use bringup_spec::nodeconfig::{MOUNTS, STRATEGIES};
use bringup_yaml::{Content, Entry, Node};

use super::tables;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{self, Branch, list, plain, text};

fn services<'a>(instance: &Record<'a>) -> &'a [Entry] {
    instance.get("environment").and_then(Node::entries).unwrap_or_default()
}

/// Tells of services whose variables are no mapping: nodeadm refuses them.
pub(super) fn tell_environment(instance: &Record<'_>, tell: &mut Teller<'_>) {
    for service in services(instance) {
        if service.value.entries().is_none() && !is_nothing(&service.value) {
            let message = format!(
                "the variables of `{}` in `environment` of a NodeConfig must be a mapping",
                service.key
            );
            let hint = "write `SERVICE: {NAME: value}`; `default` is for all services";
            tell.error(codes::WRONG_TYPE, service.value.span, message, hint);
        }
    }
    if let Some(node) = instance.get("environment").filter(|node| node.entries().is_none()) {
        let message = "`environment` of a NodeConfig must be a mapping of services";
        tell.error(codes::WRONG_TYPE, node.span, message, "write `SERVICE: {NAME: value}`");
    }
}

/// Variables of all services, where systemd itself finds them: it takes them up when it is reloaded.
pub(super) fn environment_of_all(instance: &Record<'_>) -> Option<Node> {
    let all = services(instance).iter().find(|service| service.key == "default")?;
    let variables: Vec<&Entry> = all.value.entries().unwrap_or_default().iter().collect();
    if variables.is_empty() {
        return None;
    }
    let span = all.key_span;
    let mut file = Branch::new(span);
    file.put("path", text(span, "/etc/systemd/system.conf.d/environment.conf"));
    file.put("content", text(span, lines("[Manager]", "DefaultEnvironment", &variables)));
    Some(file.into_node())
}

/// Variables of kubelet: its own, and those of all services.
pub(super) fn environment_of_kubelet(instance: &Record<'_>, span: Span) -> Node {
    let mut variables = Branch::new(span);
    for wanted in ["default", "kubelet"] {
        for service in services(instance).iter().filter(|service| service.key == wanted) {
            for variable in service.value.entries().unwrap_or_default() {
                variables.put_field(&variable.key, variable);
            }
        }
    }
    variables.into_node()
}

/// Variables of other services, as drop-ins of their units.
pub(super) fn drop_ins(instance: &Record<'_>) -> Vec<Node> {
    let given = services(instance);
    let all = given.iter().find(|service| service.key == "default");
    let own = given.iter().filter(|service| !matches!(service.key.as_str(), "default" | "kubelet"));
    let mut units: Vec<(String, Span, Vec<&Entry>)> = Vec::new();
    if let Some(all) = all {
        units.push((
            "containerd".to_owned(),
            all.key_span,
            all.value.entries().unwrap_or_default().iter().collect(),
        ));
    }
    for service in own {
        let variables = service.value.entries().unwrap_or_default();
        match units.iter_mut().find(|(name, ..)| *name == service.key) {
            Some((_, _, there)) => there.extend(variables),
            None => units.push((service.key.clone(), service.key_span, variables.iter().collect())),
        }
    }
    units.into_iter().filter(|(_, _, variables)| !variables.is_empty()).map(unit).collect()
}

/// Units of two lists; those of one name are one.
pub(super) fn joined(mut units: Vec<Node>, more: Vec<Node>) -> Vec<Node> {
    for unit in more {
        let name = unit.get("name").and_then(Node::text);
        let known = units.iter_mut().find(|known| known.get("name").and_then(Node::text) == name);
        let drop_ins = unit.get("dropIns").and_then(Node::items).unwrap_or_default();
        match known.and_then(|known| tree::field(known, "dropIns")).map(|list| &mut list.content) {
            Some(Content::List(known)) => known.extend_from_slice(drop_ins),
            _ => units.push(unit),
        }
    }
    units
}

fn unit((name, span, variables): (String, Span, Vec<&Entry>)) -> Node {
    let mut drop_in = Branch::new(span);
    drop_in.put("name", text(span, "environment.conf"));
    drop_in.put("content", text(span, lines("[Service]", "Environment", &variables)));
    let mut unit = Branch::new(span);
    unit.put("name", text(span, format!("{name}.service")));
    unit.put("dropIns", list(span, vec![drop_in.into_node()]));
    unit.into_node()
}

fn lines(section: &str, directive: &str, variables: &[&Entry]) -> String {
    let mut lines = format!("{section}\n");
    for variable in variables {
        let value = variable.value.text().unwrap_or_default();
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        let _ = writeln!(lines, "{directive}=\"{}={value}\"", variable.key);
    }
    lines
}

/// The image's own program makes the instance's disks one volume, or mounts each.
pub(super) fn disks(instance: &Record<'_>, tell: &mut Teller<'_>) -> Option<Node> {
    let storage = instance.get("localStorage")?;
    let fields = tell.record(storage, "`localStorage` of a NodeConfig", tables::STORAGE);
    let strategy = fields.get("strategy").filter(|strategy| strategy.text() != Some(""))?;
    known(strategy, &STRATEGIES, tell);
    let span = strategy.span;
    let mut words = vec![
        text(span, "/usr/bin/setup-local-disks"),
        text(span, strategy.text().unwrap_or_default().to_lowercase()),
    ];
    if let Some(path) = fields.get("mountPath") {
        words.extend([text(path.span, "--dir"), path.clone()]);
    }
    for mount in fields.items("disabledMounts") {
        known(mount, &MOUNTS, tell);
        let flag = match mount.text() {
            Some("PodLogs") => "--no-bind-pods-logs",
            Some("Containerd") => "--no-bind-containerd",
            Some("SOCI") => "--no-bind-soci",
            _ => continue,
        };
        words.push(text(mount.span, flag));
    }
    let mut step = Branch::new(span);
    step.put("name", text(span, "local-disks"));
    step.put("run", list(span, words));
    step.put("before", list(span, vec![text(span, "runtime")]));
    step.put("everyBoot", plain(span, true));
    Some(step.into_node())
}

/// Tells of a value that nodeadm does not know.
fn known(value: &Node, known: &[&str], tell: &mut Teller<'_>) {
    let given = value.text().unwrap_or_default();
    if !known.contains(&given) {
        let message = format!("`{given}` is none that nodeadm knows");
        tell.warning(NODECONFIG_VALUE, value.span, message, format!("known are `{}`", known.join("`, `")));
    }
}

/// Name servers and search domains for systemd-resolved: the drop-in that nodeadm writes, where later boots find it, and the
/// step that has it read on the first.
pub(super) fn name_resolution(instance: &Record<'_>, tell: &mut Teller<'_>) -> Option<(Node, Node)> {
    let network = instance.get("network")?;
    let fields = tell.record(network, "`network` of a NodeConfig", tables::NETWORK);
    let line = |key: &str, name: &str| {
        let words: Vec<&str> = fields.items(key).iter().filter_map(Node::text).collect();
        if words.is_empty() { String::new() } else { format!("{name}={}\n", words.join(" ")) }
    };
    let lines = line("nameservers", "DNS") + &line("domains", "Domains");
    if lines.is_empty() {
        return None;
    }
    let span = network.span;
    let mut file = Branch::new(span);
    file.put("path", text(span, "/etc/systemd/resolved.conf.d/40-eks.conf"));
    file.put("content", text(span, format!("[Resolve]\n{lines}")));
    let mut step = Branch::new(span);
    step.put("name", text(span, "name-resolution"));
    let words = ["/usr/bin/systemctl", "restart", "systemd-resolved.service"];
    step.put("run", list(span, words.map(|word| text(span, word)).to_vec()));
    step.put("before", list(span, vec![text(span, "runtime")]));
    Some((file.into_node(), step.into_node()))
}
