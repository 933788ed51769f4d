//! The entries of a config, each written once: its text goes into the config and its length into the sizes.

use bringup_plan::Unit;
use serde::Serialize;

use super::data_url::Source;
use super::native::Directory;
use crate::placed::{PlacedFile, whole_lines};

/// A file. Keys of all entries are in the order of the alphabet.
#[derive(Serialize)]
pub(super) struct File<'a> {
    pub(super) contents: Contents<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Owner<'a>>,
    mode: u32,
    overwrite: bool,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Owner<'a>>,
}

impl<'a> File<'a> {
    /// A file that is in the config.
    pub(super) fn inside(file: &'a PlacedFile, source: &'a Source, sha256: &str) -> Self {
        let (user, group) = owners(&file.owner);
        let contents = Contents::new(&source.url, source.gzip, sha256);
        Self { contents, group, mode: file.mode, overwrite: true, path: &file.path, user }
    }

    /// A file that Ignition fetches.
    pub(super) fn remote(path: &'a str, mode: u32, url: &'a str, sha256: &str) -> Self {
        let contents = Contents::new(url, false, sha256);
        Self { contents, group: None, mode, overwrite: true, path, user: None }
    }
}

#[derive(Serialize)]
pub(super) struct Contents<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<&'static str>,
    source: &'a str,
    verification: Verification,
}

impl<'a> Contents<'a> {
    fn new(source: &'a str, gzip: bool, sha256: &str) -> Self {
        let verification = Verification { hash: format!("sha256-{sha256}") };
        Self { compression: gzip.then_some("gzip"), source, verification }
    }
}

#[derive(Serialize)]
struct Verification {
    hash: String,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Owner<'a> {
    Id(u32),
    Name(&'a str),
}

/// User and group; root owns what has no owner.
fn owners(owner: &str) -> (Option<Owner<'_>>, Option<Owner<'_>>) {
    let read = |name| match str::parse(name) {
        Ok(id) => Some(Owner::Id(id)),
        Err(_) if name == "root" => None,
        Err(_) => Some(Owner::Name(name)),
    };
    let (user, group) = owner.split_once(':').unwrap_or((owner, owner));
    (read(user), read(group))
}

#[derive(Serialize)]
struct DirectoryEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Owner<'a>>,
    mode: u32,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Owner<'a>>,
}

/// A directory.
pub(super) fn directory(directory: &Directory) -> String {
    let (user, group) = owners(&directory.owner);
    json(&DirectoryEntry { group, mode: directory.mode, path: &directory.path, user })
}

#[derive(Serialize)]
struct LinkEntry<'a> {
    overwrite: bool,
    path: &'a str,
    target: &'a str,
}

/// A link.
pub(super) fn link(path: &str, target: &str) -> String {
    json(&LinkEntry { overwrite: true, path, target })
}

#[derive(Default, Serialize)]
struct UnitEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropins: Vec<DropIn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mask: bool,
    name: &'a str,
}

#[derive(Serialize)]
struct DropIn<'a> {
    contents: String,
    name: &'a str,
}

/// A unit; one that is masked is nothing else.
pub(super) fn unit(unit: &Unit, enabled: Option<bool>) -> String {
    let name = unit.name.as_str();
    if unit.mask {
        return json(&UnitEntry { mask: true, name, ..UnitEntry::default() });
    }
    let dropins = unit.drop_ins.iter().map(|(name, text)| DropIn { contents: whole_lines(text), name });
    let contents = unit.content.as_deref().map(whole_lines);
    json(&UnitEntry { contents, dropins: dropins.collect(), enabled, mask: false, name })
}

/// The text of an entry.
pub(super) fn json(entry: &impl Serialize) -> String {
    // There is nothing in an entry that JSON could not hold.
    serde_json::to_string(entry).unwrap_or_default()
}

/// The text of a list of entries; empty if there are none.
pub(super) fn list<'a>(entries: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = String::new();
    for entry in entries {
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push_str(entry);
    }
    if !text.is_empty() {
        text.push(']');
    }
    text
}

/// The text of an object; keys without a text are left out, and without any of them it is empty itself.
pub(super) fn object(pairs: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (key, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        text.push(if text.is_empty() { '{' } else { ',' });
        for piece in ["\"", key, "\":", value] {
            text.push_str(piece);
        }
    }
    if !text.is_empty() {
        text.push('}');
    }
    text
}
