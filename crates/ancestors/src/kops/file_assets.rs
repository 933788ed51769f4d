//! `fileAssets`: files that kops writes, the group's before the cluster's.

use bringup_yaml::Node;

use super::group_fields::FILE_ASSET;
use super::kubelet::literal;
use super::role::Role;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Where kops puts a file that has no path.
const DIRECTORY: &str = "/srv/kubernetes/assets";

/// A file that has been read.
pub(super) struct FileAsset<'a> {
    node: &'a Node,
    record: Record<'a>,
    path: String,
}

/// The files of a cluster or of a group.
pub(super) fn read<'a>(nodes: &'a [Node], tell: &mut Teller<'_>) -> Vec<FileAsset<'a>> {
    let mut assets = Vec::new();
    for node in nodes {
        let record = tell.record(node, "a file of kops' fileAssets", FILE_ASSET);
        let path = match (record.text("path"), record.text("name")) {
            (Some(path), _) if !path.is_empty() => path.to_owned(),
            (_, Some(name)) if !name.is_empty() => format!("{DIRECTORY}/{name}"),
            _ => {
                let message = "a file of fileAssets needs a name or a path";
                tell.error(codes::MISSING, node.span, message, "add `name` and `path`");
                continue;
            }
        };
        if record.get("content").is_none() {
            let message = format!("the file `{path}` has no content");
            tell.error(codes::MISSING, node.span, message, "add `content: |`");
            continue;
        }
        Role::check_list(&record, &format!("the file `{path}`"), tell);
        let meets = |other: &FileAsset<'_>| other.path == path && meet(&other.record, &record);
        if assets.iter().any(meets) {
            let message = format!("there is a file `{path}` already: the first stands, with kops as here");
            tell.warning(
                codes::FIELD_DIFFERS,
                node.span,
                message,
                "keep one of them, or give them other roles",
            );
        }
        assets.push(FileAsset { node, record, path });
    }
    assets
}

/// Whether two files or hooks are meant for one role.
pub(super) fn meet(one: &Record<'_>, other: &Record<'_>) -> bool {
    let (one, other) = (one.items("roles"), other.items("roles"));
    one.is_empty()
        || other.is_empty()
        || one.iter().any(|role| other.iter().any(|same| same.text() == role.text()))
}

/// The files of a group: of two with one path the group's own stands.
pub(super) fn files(group: &[FileAsset<'_>], cluster: &[FileAsset<'_>], role: Role) -> Vec<Node> {
    let mut paths: Vec<&str> = Vec::new();
    let mut files = Vec::new();
    for asset in group.iter().chain(cluster).filter(|asset| role.is_meant(&asset.record)) {
        if !paths.contains(&asset.path.as_str()) {
            paths.push(&asset.path);
            files.push(file(asset));
        }
    }
    files
}

fn file(asset: &FileAsset<'_>) -> Node {
    let FileAsset { node, record, path } = asset;
    let mut file = Branch::new(node.span);
    file.put("path", text(record.get("path").map_or(node.span, |path| path.span), path.as_str()));
    let is_base64 = record.flag("isBase64") == Some(true);
    if let Some(content) = record.get("content") {
        // kops' own reader stumbles over padding; what was meant is plain.
        file.put("content", if is_base64 { content.clone() } else { literal(content) });
    }
    if is_base64 {
        file.put("encoding", text(node.span, "base64"));
    }
    let mode = record.get("mode");
    let mode = mode.map_or_else(|| text(node.span, "0440"), |mode| text(mode.span, octal(mode.text())));
    file.put("mode", mode);
    file.into_node()
}

/// kops reads a mode of any length as octal digits.
fn octal(mode: Option<&str>) -> String {
    let mode = mode.unwrap_or_default();
    let digits = mode.strip_prefix("0o").unwrap_or(mode);
    match u32::from_str_radix(digits, 8) {
        Ok(bits) => format!("{bits:04o}"),
        Err(_) => mode.to_owned(),
    }
}
