//! The operator's own parts of user-data: their names in a message, and what they set.

use bringup_spec::PartType;
use bringup_yaml::{Content, Limits, Node, Resolved, Scalar, Style, Value};

use crate::load::{Load, ResolvedPart};

/// Keys that tell cloud-init how to merge a part into those before it.
const MERGE_KEYS: [&str; 2] = ["merge_how", "merge_type"];

/// Names of parts with numbers of one width: cloud-init runs scripts in the order of their names, and the last of equal
/// names wins. The numbers leave room between them, so that the name of a part changes only when its place does.
pub(crate) fn numbered_names<'name>(names: impl ExactSizeIterator<Item = &'name str>) -> Vec<String> {
    let last = names.len().saturating_sub(1).saturating_mul(10);
    let width = last.to_string().len().max(3);
    names
        .enumerate()
        .map(|(index, name)| format!("{:0width$}-{}", index.saturating_mul(10), clean_name(name)))
        .collect()
}

/// cloud-init keeps these letters of a name when it makes a file of it, and nothing else.
fn clean_name(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    name.chars().map(|letter| if keep(letter) { letter } else { '-' }).collect()
}

/// The tree of a cloud-config part; what does not parse is for the lints to tell.
fn tree(part: &ResolvedPart) -> Option<Node> {
    let text = std::str::from_utf8(&part.bytes).ok()?;
    bringup_yaml::parse_one(text, Limits::default()).ok()?
}

/// The cloud-config parts as one mapping, as cloud-init would have merged them; or why one document cannot hold them.
pub(crate) fn merged(load: &Load<'_>) -> Result<Vec<(String, Value)>, String> {
    let mut merged: Vec<(String, Value)> = Vec::new();
    for part in load.parts {
        let name = &part.name;
        if part.kind != PartType::CloudConfig {
            return Err(format!("part `{name}` is of type {}", part.kind));
        }
        let tree = tree(part).ok_or_else(|| format!("part `{name}` is not YAML"))?;
        let entries = tree.entries().ok_or_else(|| format!("part `{name}` is no mapping"))?;
        if entries.iter().any(|entry| MERGE_KEYS.contains(&entry.key.as_str())) {
            return Err(format!("part `{name}` says how it is merged"));
        }
        // Ours may not run at all then, or only once; in a message it does not depend on any list.
        if entries.iter().any(|entry| entry.key == "cloud_init_modules") {
            return Err(format!("part `{name}` replaces the list of modules that `bootcmd` is in"));
        }
        let Some(Value::Map(pairs)) = plain_value(&tree) else {
            return Err(format!("part `{name}` uses YAML that does not survive being written again"));
        };
        for (key, value) in pairs {
            if key == "bootcmd" && !matches!(value, Value::List(_) | Value::Null) {
                return Err(format!("`bootcmd` of part `{name}` is no list"));
            }
            merged.retain(|(known, _)| *known != key);
            merged.push((key, value));
        }
    }
    Ok(merged)
}

/// The value as PyYAML reads it, if our writer can say the same.
fn plain_value(node: &Node) -> Option<Value> {
    if node.tag.is_some() {
        return None;
    }
    match &node.content {
        Content::Scalar(scalar) => match scalar.yaml11() {
            Resolved::Timestamp(_) => None,
            resolved => Some(resolved.into()),
        },
        Content::List(items) => items.iter().map(plain_value).collect::<Option<Vec<_>>>().map(Value::List),
        Content::Map(entries) => {
            let mut map = Value::Map(Vec::new());
            for entry in entries {
                let key = Scalar { text: entry.key.clone(), style: entry.key_style };
                let is_text = matches!(key.yaml11(), Resolved::String(_));
                if !is_text || (entry.key == "<<" && entry.key_style == Style::Plain) {
                    return None;
                }
                map.set(entry.key.clone(), plain_value(&entry.value)?);
            }
            Some(map)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::numbered_names;

    #[test]
    fn names_sort_as_they_are_given_and_are_unique() {
        let names = numbered_names(["bringup-boothook", "zz", "a b/c", "a b/c"].into_iter());
        assert_eq!(names, ["000-bringup-boothook", "010-zz", "020-a-b-c", "030-a-b-c"]);
        let many: Vec<String> = (0..150).map(|_| "x".to_owned()).collect();
        let names = numbered_names(many.iter().map(String::as_str));
        assert_eq!(names.first().map(String::as_str), Some("0000-x"));
        assert!(names.is_sorted());
    }
}
