//! Names of clusters. tkestack makes one up where none is written; a plan must have the same one each time.

use bringup_diag::Span;
use bringup_spec::Name;
use bringup_yaml::Node;

use super::machines::Worker;

/// What a cluster is called, and where that comes from.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) source: Source,
}

/// Where a name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `metadata.name`.
    Written,
    /// The machines that say which cluster they join.
    Machines,
    /// `metadata.generateName`.
    Prefix,
    /// `spec.displayName`.
    Display,
    /// tkestack's own prefix.
    Nothing,
}

/// The names of clusters, in their order.
pub(super) fn names(clusters: &[&Node], workers: &[Worker<'_>]) -> Vec<Naming> {
    let written = |cluster: &Node| cluster.get("metadata")?.get("name")?.text().map(str::to_owned);
    let known: Vec<Option<String>> = clusters.iter().map(|cluster| written(cluster)).collect();
    // Where one cluster has no name, the name that machines call for and no other cluster has is its own.
    let mut called: Vec<&str> = workers
        .iter()
        .filter_map(|worker| worker.cluster)
        .filter(|name| !known.iter().flatten().any(|known| known == name))
        .collect();
    called.sort_unstable();
    called.dedup();
    let nameless = known.iter().filter(|name| name.is_none()).count();
    let called = match called.as_slice() {
        [name] if nameless == 1 => Some(*name),
        _ => None,
    };
    clusters.iter().map(|cluster| naming(cluster, called)).collect()
}

fn naming(cluster: &Node, called: Option<&str>) -> Naming {
    let metadata = cluster.get("metadata");
    let at = |node: &Node, name: String, source: Source| Naming { name, span: node.span, source };
    if let Some(node) = metadata.and_then(|metadata| metadata.get("name"))
        && let Some(name) = node.text().filter(|name| !name.is_empty())
    {
        return at(node, name.to_owned(), Source::Written);
    }
    if let Some(name) = called {
        return at(metadata.unwrap_or(cluster), name.to_owned(), Source::Machines);
    }
    let fields = [
        (metadata.and_then(|metadata| metadata.get("generateName")), Source::Prefix),
        (cluster.get("spec").and_then(|spec| spec.get("displayName")), Source::Display),
    ];
    for (node, source) in fields {
        if let Some(node) = node
            && let Some(name) = node.text().and_then(plain)
        {
            return at(node, name, source);
        }
    }
    at(metadata.unwrap_or(cluster), "cls".to_owned(), Source::Nothing)
}

/// A name made of a text for people.
fn plain(text: &str) -> Option<String> {
    let letters: String = text
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_lowercase() || letter.is_ascii_digit() { letter } else { '-' })
        .collect();
    let name = letters.trim_matches('-');
    Name::parse(name).is_ok().then(|| name.to_owned())
}
