//! NodeConfigs that user-data puts into `/etc/eks/nodeadm.d`: nodeadm finds them there when all scripts have ended, and lays them
//! over those of the user-data itself, by the names of their files.
//!
//! They are taken where it is known beforehand that they will be there and what they say. Else they are told of, and not read.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::{Content, Limits, Node, Style, parse};

use super::init;
use super::overtaken::changes;
use crate::codes;
use crate::shell;
use crate::tell::Teller;

/// Where nodeadm looks, if its unit calls it.
const DIRECTORY: &str = "/etc/eks/nodeadm.d/";
/// Names of files that it reads.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];
/// Programs that write what they read as it is.
const COPIES: [&str; 2] = ["cat", "tee"];

/// A NodeConfig that will be there.
pub(super) struct DropIn {
    /// The name of its file.
    name: String,
    /// What the line says that names the file.
    pub(super) line: String,
    /// That line's number.
    number: u32,
    tree: Node,
}

/// What all scripts and cloud-configs put there, in nodeadm's order.
pub(crate) fn trees(documents: &[Node]) -> Vec<Node> {
    let mut files = BTreeMap::new();
    // cloud-init writes its files before it runs scripts.
    for (document, drop_in) in documents
        .iter()
        .flat_map(|document| of_part(documents, document).into_iter().map(move |drop_in| (document, drop_in)))
    {
        files.insert(drop_in.name, lowered(document, drop_in.tree));
    }
    for document in documents.iter().filter(|document| document.get("init").is_none()) {
        let Some(script) = document.get("script") else { continue };
        for drop_in in of_script(script.text().unwrap_or_default()) {
            files.insert(drop_in.name, lowered(script, drop_in.tree));
        }
    }
    files.into_values().collect()
}

fn lowered(within: &Node, tree: Node) -> Node {
    tree.lower_by(within.span.start.line.saturating_sub(1))
}

/// Tells of those that are taken.
pub(super) fn tell_of(drop_ins: &[DropIn], at: &dyn Fn(u32) -> Span, tell: &mut Teller<'_>) {
    for DropIn { name, number, .. } in drop_ins {
        let message = format!(
            "the NodeConfig that is written to `{DIRECTORY}{name}` is laid over those of the user-data, as nodeadm does when all scripts have ended"
        );
        let hint = "put it into a part of its own of the type `application/node.eks.aws`: what is there need not be written first";
        tell.note(codes::DIFFERENCE, at(*number), message, hint);
    }
}

/// What a script puts there; nothing, where it does more with the directory than can be followed.
pub(super) fn of_script(script: &str) -> Vec<DropIn> {
    if !script.contains(DIRECTORY) {
        return Vec::new();
    }
    let lines = shell::lines(script);
    let certain = shell::certain(script);
    let mut drop_ins = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.text.trim();
        let is_about =
            !line.handed_on && !trimmed.starts_with('#') && trimmed.contains(DIRECTORY.trim_end_matches('/'));
        if !is_about || !changes(trimmed) {
            continue;
        }
        let copied = certain
            .iter()
            .find(|certain| certain.number == line.number)
            .filter(|line| copies(&line.commands));
        let found = copied.and_then(|_| {
            let document = init::Document::behind(&lines, index)?;
            Some((name(trimmed)?, config(&document.filled(script).ok()?)?.lower_by(document.above)))
        });
        let Some((name, tree)) = found else { return Vec::new() };
        drop_ins.push(DropIn { name, line: trimmed.to_owned(), number: line.number, tree });
    }
    drop_ins
}

/// Whether commands do nothing but write what they are given, over what there was.
fn copies(commands: &[String]) -> bool {
    let head = |command: &String| command.split_whitespace().next().unwrap_or_default().to_owned();
    commands.iter().all(|command| {
        let adds = command.contains(">>")
            || command.split_whitespace().any(|word| word == "-a" || word == "--append");
        command.starts_with("mkdir -p ") || COPIES.contains(&head(command).as_str()) && !adds
    })
}

/// The name of the file that a line writes to.
fn name(line: &str) -> Option<String> {
    let mut paths = line.split(DIRECTORY).skip(1);
    let (rest, other) = (paths.next()?, paths.next());
    let name = rest.split(|letter: char| letter.is_whitespace() || "'\";|&<>()".contains(letter)).next()?;
    let known = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_file =
        ENDINGS.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending)) && name.chars().all(known);
    (is_file && other.is_none()).then(|| name.to_owned())
}

/// The NodeConfig of a text, if that is all that it is.
fn config(text: &str) -> Option<Node> {
    let mut trees = parse(text, Limits::default()).ok()?;
    let tree = trees.pop().filter(|_| trees.is_empty())?;
    let says = |key: &str| tree.get(key).and_then(Node::text);
    let is_config = says("kind") == Some("NodeConfig") && says("apiVersion")?.starts_with("node.eks.aws/");
    is_config.then_some(tree)
}

/// What a cloud-config's `write_files` puts there. Of several cloud-configs, one takes the place of what another says.
pub(super) fn of_part(all: &[Node], part: &Node) -> Vec<DropIn> {
    let is_config = |part: &&Node| part.get("type").and_then(Node::text) == Some("text/cloud-config");
    if !is_config(&part) || all.iter().filter(is_config).count() > 1 {
        return Vec::new();
    }
    let content = part.get("content").and_then(Node::text).unwrap_or_default();
    if !content.contains(DIRECTORY) {
        return Vec::new();
    }
    let document = parse(content, Limits::default()).unwrap_or_default().into_iter().next();
    let files =
        document.as_ref().and_then(|document| document.get("write_files")?.items()).unwrap_or_default();
    files.iter().filter_map(|file| of_file(file, content)).collect()
}

fn of_file(file: &Node, content: &str) -> Option<DropIn> {
    let path = file.get("path")?;
    let name = path.text()?.strip_prefix(DIRECTORY).and_then(|_| name(path.text()?))?;
    let says = |key: &str| file.get(key).and_then(Node::text);
    if !matches!(says("encoding"), None | Some("" | "text/plain")) || says("append") == Some("true") {
        return None;
    }
    let text = file.get("content")?;
    let above = match &text.content {
        Content::Scalar(scalar) if scalar.style == Style::Block => text.span.start.line,
        _ => text.span.start.line.saturating_sub(1),
    };
    let number = path.span.start.line;
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let line = content.lines().nth(index)?.trim().to_owned();
    Some(DropIn { name, line, number, tree: config(text.text()?)?.lower_by(above) })
}

#[cfg(test)]
mod tests {
    use super::of_script;

    const CONFIG: &str =
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [--v=4]}}\n";

    fn names(script: &str) -> Vec<String> {
        let script = script.replace("CONFIG\n", CONFIG);
        of_script(&format!("#!/bin/bash\n{script}")).into_iter().map(|drop_in| drop_in.name).collect()
    }

    #[test]
    fn only_what_is_surely_written_and_known_is_taken() {
        for (script, found) in [
            ("cat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &["a.yaml"] as &[&str]),
            ("mkdir -p /etc/eks/nodeadm.d && cat <<E >\"/etc/eks/nodeadm.d/a.yml\"\nCONFIG\nE\n", &["a.yml"]),
            ("cat <<E | sudo tee /etc/eks/nodeadm.d/a.JSON >/dev/null\nCONFIG\nE\n", &["a.JSON"]),
            ("ls /etc/eks/nodeadm.d/\ncat <<E >/etc/eks/nodeadm.d/a.yaml\n---\nCONFIG\nE\n", &["a.yaml"]),
            ("if x; then\ncat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\nfi\n", &[]),
            ("[ -e /x ] && exit 0\ncat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("[ -e /x ] && cat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("cat >> /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("tee -a /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("sed s/4/5/ > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("cat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\nE\nrm /etc/eks/nodeadm.d/a.yaml\n", &[]),
            ("cat > /etc/eks/nodeadm.d/a.txt <<'E'\nCONFIG\nE\n", &[]),
            ("cat > /etc/eks/nodeadm.d/$A.yaml <<'E'\nCONFIG\nE\n", &[]),
            ("cat > /etc/eks/nodeadm.d/a.yaml <<'E'\nCONFIG\n---\nCONFIG\nE\n", &[]),
            ("cat > /etc/eks/nodeadm.d/a.yaml <<'E'\nkind: ConfigMap\nE\n", &[]),
        ] {
            assert_eq!(names(script), found, "{script}");
        }
    }
}
