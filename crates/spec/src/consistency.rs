//! Names that must be unique and references that must lead somewhere, across a document.
//!
//! What concerns a single node group is told when its plan is compiled.

use std::collections::BTreeMap;

use bringup_diag::{Code, Finding, Findings, Place, closest};
use bringup_yaml::Path;

use crate::decode::known_fields;
use crate::{Document, Machine, codes};

/// What to do about two of one name.
const RENAME: &str = "give one of the two another name";

/// Reports what does not fit together in a document.
pub(crate) fn report(document: &Document, findings: &mut Findings) {
    let spec = Path::root().key("spec");
    let cluster = &document.cluster.spec;
    let list = |key: &str, index: usize| spec.key(key).index(index);
    // Groups under a misspelt key, or that could not be read, have been told of.
    if cluster.node_groups.is_empty() && !findings.has_errors() {
        let finding =
            Finding::warning(codes::MISSING_KEY, "there is no node group, so that there is nothing to build")
                .at(document.key_place(&spec))
                .hint("add one to `spec.nodeGroups`");
        findings.push(finding);
    }
    report_authority(document, &spec, findings);
    let groups = cluster.node_groups.iter().enumerate();
    let names = groups.map(|(index, group)| (group.name.to_string(), list("nodeGroups", index).key("name")));
    report_twins(document, "node group", RENAME, names, findings);
    let authorities = cluster.certificate_authorities.iter().enumerate();
    let names = authorities.map(|(index, authority)| {
        (authority.name.to_string(), list("certificateAuthorities", index).key("name"))
    });
    report_twins(document, "certificate authority", RENAME, names, findings);
    let machines = || cluster.machines.iter().enumerate();
    let names = machines().filter_map(|(index, machine)| {
        machine.name.as_ref().map(|name| (name.to_string(), list("machines", index).key("name")))
    });
    report_twins(document, "machine", RENAME, names, findings);
    let addresses = machines().map(|(index, machine)| {
        (format!("{}:{}", machine.address, machine.port), list("machines", index).key("address"))
    });
    let hint = "remove one of the two, or write the other machine's address";
    report_twins(document, "machine at", hint, addresses, findings);
    for (index, machine) in machines() {
        report_machine(document, &list("machines", index), machine, findings);
    }
}

/// Reports an authority that is no certificate. A program that asks for none writes down whatever it is given.
fn report_authority(document: &Document, spec: &Path, findings: &mut Findings) {
    let cluster = &document.cluster.spec;
    let authority = cluster.api.as_ref().and_then(|api| api.certificate_authority.as_ref());
    let Some(fault) = authority.and_then(|authority| authority.fault()) else { return };
    let place = document.place(&spec.keys(["api", "certificateAuthority"]));
    let finding = if cluster.takes_as_given() {
        let message =
            format!("{}; it is taken as it is, and kubelet will trust no API server with it", fault.message);
        Finding::note(codes::WRONG_VALUE, message)
    } else {
        Finding::error(codes::WRONG_VALUE, fault.message.clone())
    };
    findings.push(finding.at(place).hint(fault.hint.clone()));
}

/// Reports clusters of one file that have the same name: they would be written to the same place.
pub(crate) fn report_equal_clusters(documents: &[Document], findings: &mut Findings) {
    let path = Path::root().keys(["metadata", "name"]);
    let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
    for document in documents {
        let name = document.cluster.metadata.name.as_str();
        let place = document.place(&path);
        match seen.get(name) {
            Some(first) => findings.push(twin("cluster", RENAME, name, place, first.clone())),
            None => {
                seen.insert(name, place);
            }
        }
    }
}

fn report_twins(
    document: &Document,
    what: &str,
    hint: &str,
    names: impl Iterator<Item = (String, Path)>,
    findings: &mut Findings,
) {
    let mut seen: BTreeMap<String, Path> = BTreeMap::new();
    for (name, path) in names {
        match seen.get(&name) {
            Some(first) => {
                findings.push(twin(what, hint, &name, document.place(&path), document.place(first)));
            }
            None => {
                seen.insert(name, path);
            }
        }
    }
}

fn twin(what: &str, hint: &str, name: &str, place: Place, first: Place) -> Finding {
    Finding::error(codes::DUPLICATE_NAME, format!("there is a {what} `{name}` already"))
        .at(place)
        .related(first, "first here")
        .hint(hint)
}

fn report_machine(document: &Document, path: &Path, machine: &Machine, findings: &mut Findings) {
    let mut tell = |code: Code, place: Place, message: String, hint: String| {
        findings.push(Finding::error(code, message).at(place).hint(hint));
    };
    let groups: Vec<&str> =
        document.cluster.spec.node_groups.iter().map(|group| group.name.as_str()).collect();
    let wanted = machine.node_group.as_str();
    if !groups.contains(&wanted) && document.is_whole() {
        let hint = match closest(wanted, groups.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if groups.is_empty() => "add it to `spec.nodeGroups`".to_owned(),
            None => format!("write one of {}", known_fields(&groups)),
        };
        let place = document.place(&path.key("nodeGroup"));
        tell(codes::DANGLING, place, format!("there is no node group `{wanted}`"), hint);
    }
    let ways =
        [("key", machine.key.is_some()), ("password", machine.password.is_some()), ("agent", machine.agent)];
    let given: Vec<&str> = ways.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
    let hint =
        "write one of `key: {file: PATH}`, `password: {environment: NAME}` and `agent: true`".to_owned();
    match given.as_slice() {
        [] => {
            let message = format!("nothing says how to log in to `{}`", machine.address);
            tell(codes::MISSING_KEY, document.place(&path.key("address")), message, hint);
        }
        [_] => {}
        [_, second, ..] => {
            let message = format!("{} exclude each other", known_fields(&given));
            tell(codes::CONFLICT, document.key_place(&path.key(*second)), message, hint);
        }
    }
}
