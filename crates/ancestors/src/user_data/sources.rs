//! User-data of several resources of one template: node groups of one cluster, each with the name of its resource.

use bringup_yaml::{Content, Entry, Node, Path};

use crate::codes;
use crate::nodeadm::plain_name;
use crate::tell::Teller;
use crate::tree::{field, text};

/// Names the groups of these documents after the resource that they come from.
pub(crate) fn name_groups(documents: &mut [Node], resource: &str) {
    let name = kebab(resource);
    for document in documents {
        for group in groups(document).into_iter().flatten() {
            if let Some(own) = field(group, "name") {
                *own = text(own.span, name.as_str());
            }
        }
    }
}

/// `NodeGroupOne` as `node-group-one`.
fn kebab(resource: &str) -> String {
    let mut name = String::with_capacity(resource.len());
    let mut lower = false;
    for letter in resource.chars() {
        if lower && letter.is_ascii_uppercase() {
            name.push('-');
        }
        lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        name.push(letter);
    }
    plain_name(&name)
}

/// Makes documents of one cluster one, as far as they agree on the cluster; where they do not, that is told.
pub(crate) fn joined(documents: Vec<Node>, tell: &mut Teller<'_>) -> Vec<Node> {
    let mut whole: Vec<Node> = Vec::new();
    for mut document in documents {
        let name = |tree: &Node| tree.get("metadata")?.get("name")?.text().map(str::to_owned);
        let wanted = name(&document);
        let Some(base) = whole.iter_mut().find(|known| name(known) == wanted) else {
            whole.push(document);
            continue;
        };
        let mut more: Vec<Node> = groups(&mut document).map(std::mem::take).unwrap_or_default();
        let mut differing = Vec::new();
        lay(base, &document, &Path::root(), &mut differing);
        for (path, at) in differing {
            let message = format!(
                "the cluster `{}` has another `{}` here than in user-data before: they cannot be groups of one cluster",
                wanted.as_deref().unwrap_or_default(),
                path.to_string().trim_start_matches("spec.")
            );
            let hint = "let them agree, or give each its own file with its own call";
            tell.error(codes::DIFFERENCE, at, message, hint);
        }
        if let Some(known) = groups(base) {
            for group in &mut more {
                rename(group, known);
            }
            known.append(&mut more);
        }
    }
    whole
}

fn groups(document: &mut Node) -> Option<&mut Vec<Node>> {
    match &mut field(field(document, "spec")?, "nodeGroups")?.content {
        Content::List(groups) => Some(groups),
        _ => None,
    }
}

/// Two resources whose names differ in letters that a group's cannot have.
fn rename(group: &mut Node, known: &[Node]) {
    let taken = |name: &str| known.iter().any(|known| known.get("name").and_then(Node::text) == Some(name));
    let Some(own) = field(group, "name") else { return };
    let first = own.text().unwrap_or_default().to_owned();
    let mut name = first.clone();
    let mut number = 2_u32;
    while taken(&name) {
        name = format!("{first}-{number}");
        number = number.saturating_add(1);
    }
    *own = text(own.span, name);
}

/// Lays what another group's user-data says of the cluster over what is known of it. It is one cluster: what only one of them
/// says holds for all, but for the address of DNS, which is a choice of the group.
fn lay(base: &mut Node, over: &Node, path: &Path, differing: &mut Vec<(Path, bringup_diag::Span)>) {
    let Some(entries) = over.entries() else {
        if base.to_value() != over.to_value() {
            differing.push((path.clone(), over.span));
        }
        return;
    };
    if path.to_string() == "spec.network" && base.get("dns").is_some() != over.get("dns").is_some() {
        let place = over.get("dns").map_or(over.span, |dns| dns.span);
        differing.push((path.key("dns"), place));
    }
    for Entry { key, value, .. } in entries.iter().filter(|entry| entry.key != "nodeGroups") {
        let path = path.key(key.as_str());
        if let Some(known) = field(base, key) {
            lay(known, value, &path, differing);
        } else if let Content::Map(known) = &mut base.content {
            let entry = entries.iter().find(|entry| entry.key == *key);
            known.extend(entry.cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::kebab;

    #[test]
    fn names_of_resources_are_written_as_groups_are() {
        for (resource, name) in [
            ("NodeLaunchTemplate", "node-launch-template"),
            ("EKSNodes2A", "eksnodes2-a"),
            ("LaunchTemplateVersions[0]", "launch-template-versions-0"),
            ("nodes", "nodes"),
        ] {
            assert_eq!(kebab(resource), name);
        }
    }
}
