//! The operator's own parts of user-data, as a carrier holds them: what they are, and when cloud-init runs them.

use bringup_carry::{Inspection, Piece, inspect};
use bringup_cloudinit::Layer;
use bringup_yaml::{Limits, Value, parse_one, to_yaml};

/// Our own parts of a message, without their numbers.
const OURS: [&str; 2] = ["bringup-boothook", "stack.sh"];
/// What a template calls user-data that it had to put into a message.
const WRAPPED: &str = "001-user-data";
/// Keys of a cloud-config whose effects are files and commands, which are told as such.
const FILES_AND_COMMANDS: [&str; 3] = ["write_files", "bootcmd", "runcmd"];

/// A part, or one key of the only one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartState {
    /// Its name, without the number that keeps it in its place.
    pub(crate) name: String,
    /// Its type, such as `text/x-shellscript`.
    pub(crate) kind: String,
    /// Its text.
    pub(crate) text: String,
}

/// The carriers that can hold parts, the plainest first.
const CARRIERS: [&str; 4] = ["user-data.mime", "nodeconfig.mime", "cloud-config.yaml", "template."];

/// The one of a group's files that tells most plainly what its own parts do.
pub(crate) fn holder<'file>(
    files: impl IntoIterator<Item = (&'file str, &'file [u8])>,
) -> Option<(&'file str, &'file [u8])> {
    let rank = |name: &str| CARRIERS.iter().position(|start| name.starts_with(start));
    files
        .into_iter()
        .filter_map(|(name, bytes)| Some((rank(name)?, name, bytes)))
        .min()
        .map(|(_, name, bytes)| (name, bytes))
}

/// The operator's parts in a carrier of ours; nothing if carriers of this kind hold none.
pub(crate) fn own_parts(name: &str, bytes: &[u8]) -> Option<Vec<PartState>> {
    own_parts_of(&inspect(name, bytes))
}

/// The same for an input that has been read.
pub(crate) fn own_parts_of(inspection: &Inspection) -> Option<Vec<PartState>> {
    let inspection = match inspection.parts.as_slice() {
        [] => inspection,
        [first, ..] => first,
    };
    if inspection.pieces.is_empty() || inspection.layers.contains(&Layer::Ignition) {
        return None;
    }
    let is_single = inspection.pieces.len() == 1;
    let mut parts = Vec::new();
    for piece in inspection.pieces.iter().filter(|piece| !is_ours(&piece.name)) {
        if is_single || piece.name == WRAPPED {
            parts.extend(keys(piece, |key, value| match value {
                // Ours comes first.
                Value::List(items) if key == "bootcmd" => {
                    let theirs: Vec<Value> = items.into_iter().skip(1).collect();
                    (!theirs.is_empty()).then_some(Value::List(theirs))
                }
                value => Some(value),
            }));
        } else {
            parts.push(whole(piece));
        }
    }
    Some(parts)
}

/// What somebody else's input holds beside files and commands.
pub(crate) fn settings_of(inspection: &Inspection) -> Vec<PartState> {
    let mut parts = Vec::new();
    for piece in &inspection.pieces {
        match piece.kind.as_str() {
            "text/cloud-config" => {
                let plain = |key: &str, value| (!FILES_AND_COMMANDS.contains(&key)).then_some(value);
                parts.extend(keys(piece, plain));
            }
            "application/json" => parts.extend(ignition_settings(piece)),
            // Their text is a command's, and told there.
            "text/x-shellscript" | "text/cloud-boothook" => {}
            kind if kind.starts_with("text/x-shellscript-per-") => {}
            _ => parts.push(whole(piece)),
        }
    }
    parts
}

/// What Ignition does beside files, links and units: disks, and who may enter.
fn ignition_settings(piece: &Piece) -> Vec<PartState> {
    let Ok(config) = serde_json::from_str::<serde_json::Value>(&piece.text) else {
        return vec![whole(piece)];
    };
    let mut parts = Vec::new();
    for (section, told) in [
        ("passwd", None),
        ("networkd", None),
        ("ignition", None),
        ("storage", Some(["files", "directories", "links"])),
    ] {
        for (key, value) in config.get(section).and_then(serde_json::Value::as_object).into_iter().flatten() {
            if told.is_some_and(|told| told.contains(&key.as_str())) {
                continue;
            }
            let (name, kind) = (format!("{section}.{key}"), "ignition".to_owned());
            parts.push(PartState { name, kind, text: format!("{value:#}\n") });
        }
    }
    parts
}

fn is_ours(name: &str) -> bool {
    OURS.contains(&plain_name(name))
}

/// A name without the number that keeps it in its place.
fn plain_name(name: &str) -> &str {
    match name.split_once('-') {
        Some((number, rest)) if number.len() >= 3 && number.bytes().all(|digit| digit.is_ascii_digit()) => {
            rest
        }
        _ => name,
    }
}

fn whole(piece: &Piece) -> PartState {
    PartState { name: plain_name(&piece.name).to_owned(), kind: piece.kind.clone(), text: piece.text.clone() }
}

/// The keys of a cloud-config, each a part of its own; the whole if it is no mapping.
fn keys(piece: &Piece, kept: impl Fn(&str, Value) -> Option<Value>) -> Vec<PartState> {
    let tree = parse_one(&piece.text, Limits::default()).ok().flatten();
    let Some(Value::Map(pairs)) = tree.map(|tree| tree.to_value()) else {
        return vec![whole(piece)];
    };
    let part = |(key, value): (String, Value)| {
        let text = to_yaml(&kept(&key, value)?);
        Some(PartState { name: key, kind: piece.kind.clone(), text })
    };
    pairs.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::{holder, own_parts, plain_name, settings_of};
    use bringup_carry::inspect;

    #[test]
    fn numbers_that_keep_the_order_are_no_part_of_a_name() {
        assert_eq!(
            ["010-a-b", "0010-a", "10-a", "a-b", "x"].map(plain_name),
            ["a-b", "a", "10-a", "a-b", "x"]
        );
    }

    #[test]
    fn the_plainest_carrier_is_asked() {
        let files = ["template.yaml", "plan.json", "user-data.mime.gz", "bundle.tar"];
        let found = holder(files.map(|name| (name, b"".as_slice())));
        assert_eq!(found.map(|(name, _)| name), Some("user-data.mime.gz"));
        assert!(holder([("ignition.json", b"".as_slice())]).is_none());
    }

    #[test]
    fn a_single_cloud_config_is_told_by_its_keys() {
        let text = b"#cloud-config\nbootcmd: [ours, theirs]\npackages: [jq]\nusers: []\n";
        let parts = own_parts("x", text).unwrap();
        let shown: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.text.trim())).collect();
        assert_eq!(shown, [("bootcmd", "- theirs"), ("packages", "- jq"), ("users", "[]")]);
        let parts = settings_of(&inspect("x", text));
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["packages", "users"]);
    }

    #[test]
    fn disks_and_users_of_an_ignition_config_are_told() {
        let text = br#"{"ignition":{"version":"3.3.0"},"passwd":{"users":[{"name":"core"}]},"storage":{"disks":[{"device":"/dev/sdb"}],"files":[]}}"#;
        let parts = settings_of(&inspect("x", text));
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["passwd.users", "ignition.version", "storage.disks"]);
    }
}
