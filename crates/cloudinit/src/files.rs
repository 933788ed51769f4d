//! What `write_files` leaves on the disk.

use bringup_diag::Span;

use crate::data::{Datum, Value};
use crate::gunzip::{GunzipFault, gunzip};
use crate::transfer::base64_lenient;

/// Users that every Debian, Ubuntu and Amazon Linux image has before cloud-init makes others.
const USERS: &[&str] = &[
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy",
    "www-data", "backup", "list", "irc", "nobody",
];
const GROUPS: &[&str] = &[
    "root", "daemon", "bin", "sys", "adm", "tty", "disk", "lp", "mail", "news", "uucp", "man", "proxy",
    "kmem", "dialout", "cdrom", "floppy", "tape", "sudo", "audio", "dip", "www-data", "backup", "operator",
    "list", "irc", "src", "shadow", "utmp", "video", "sasl", "plugdev", "staff", "games", "users", "nogroup",
    "wheel", "nobody",
];

/// A file that cloud-init writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: String,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner, `user:group`.
    pub owner: String,
    /// What it holds, or what is appended to it.
    pub content: Vec<u8>,
    /// Whether the content is appended to a file that this user-data does not write.
    pub appended: bool,
    /// What of the content is not known before boot.
    pub gap: Gap,
    /// Whether it is written in the final stage, when users and mounts are there.
    pub deferred: bool,
    /// The number of the part and the place in it.
    pub at: Option<(usize, Span)>,
}

/// What of a file's content is not known before boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing: all of it is known.
    None,
    /// What stands where the content has expressions of a template.
    Expressions,
    /// All of it, as it unpacks to more than is looked at.
    Oversized,
    /// All of it, as cloud-init from 24.3 on fetches it from here; if it cannot, it takes what is known.
    Fetched(String),
}

/// Why the module stops: neither this file nor any after it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub message: String,
    pub hint: &'static str,
    pub at: Option<(usize, Span)>,
}

/// Writes the files of one of the two modules; `deferred` says which.
pub(crate) fn written(config: &Datum, deferred: bool, files: &mut Vec<File>) -> Result<(), Stopped> {
    let Some(list) = config.get("write_files") else { return Ok(()) };
    let stopped = |at: &Datum, message: String| Stopped {
        message,
        hint: "each item of `write_files` is a mapping with `path` and `content`",
        at: at.at,
    };
    let items = list
        .items()
        .ok_or_else(|| stopped(list, format!("`write_files` is {}, not a list", list.type_name())))?;
    // The items are sifted before any is written: one that cannot be looked into stops all.
    if let Some(item) = items.iter().find(|item| {
        matches!(
            item.value,
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Date(_)
        )
    }) {
        return Err(stopped(item, format!("an item is {}, not a mapping", item.type_name())));
    }
    for item in items.iter().filter(|item| item.get("defer").is_some_and(Datum::is_true) == deferred) {
        if !matches!(item.value, Value::Map(_)) {
            return Err(stopped(item, format!("an item is {}, not a mapping", item.type_name())));
        }
        write(config, item, deferred, files)?;
    }
    Ok(())
}

fn write(config: &Datum, item: &Datum, deferred: bool, files: &mut Vec<File>) -> Result<(), Stopped> {
    let stopped = |message: String, hint| Stopped { message, hint, at: item.at };
    let path = match item.get("path").map(|path| &path.value) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Text(path)) if path.is_empty() => return Ok(()),
        Some(Value::Text(path)) => absolute(path),
        Some(_) => return Err(stopped("`path` is not a string".to_owned(), "put the path in quotes")),
    };
    let content = content(item).map_err(|(message, hint)| stopped(message, hint))?;
    let source = item.get("source").and_then(|source| source.get("uri")).and_then(Datum::text);
    let gap = match (source, &content) {
        (Some(uri), _) => Gap::Fetched(uri.to_owned()),
        (None, None) => Gap::Oversized,
        (None, Some(_)) => Gap::None,
    };
    let content = content.unwrap_or_default();
    let (user, group) = match item.get("owner").map(|owner| &owner.value) {
        None => (Some("root"), Some("root")),
        Some(Value::Null) => (None, None),
        Some(Value::Text(owner)) => user_and_group(owner),
        Some(_) => {
            return Err(stopped(
                "`owner` is not a string".to_owned(),
                "write `owner: \"user:group\"`, with names",
            ));
        }
    };
    let mode = mode(item.get("permissions"));
    let before = files.iter().position(|file| file.path == path).map(|index| files.remove(index));
    let append = item.get("append").is_some_and(Datum::is_true);
    let owner = before.as_ref().map_or("root:root", |file| file.owner.as_str());
    let (old_user, old_group) = owner.split_once(':').unwrap_or((owner, "root"));
    let missing = missing_owner(config, user, group, deferred);
    let owner = match &missing {
        Some(_) => owner.to_owned(),
        None => format!("{}:{}", user.unwrap_or(old_user), group.unwrap_or(old_group)),
    };
    // The owner is set after the mode, and the kernel takes these bits away then.
    let mode =
        if missing.is_none() && (user.is_some() || group.is_some()) { without_set_id(mode) } else { mode };
    let (content, appended, gap) = match before {
        Some(file) if append => {
            let gap = if gap == Gap::None { file.gap } else { gap };
            ([file.content, content].concat(), file.appended, gap)
        }
        _ => (content, append, gap),
    };
    files.push(File { path, mode, owner, content, appended, gap, deferred, at: item.at });
    match missing {
        Some(name) => Err(stopped(
            format!("the owner `{name}` does not exist when the file is written"),
            "write names, not numbers, and add `defer: true` for users that this user-data makes",
        )),
        None => Ok(()),
    }
}

/// A mode after a change of owner: setgid stays where the group may not execute, for there it means something else.
pub(crate) fn without_set_id(mode: u32) -> u32 {
    let set_gid = if mode & 0o010 == 0 { 0 } else { 0o2000 };
    mode & !(0o4000 | set_gid)
}

/// The name that cannot be found: cloud-init looks up names only, and before it makes users unless the file is deferred.
fn missing_owner(config: &Datum, user: Option<&str>, group: Option<&str>, deferred: bool) -> Option<String> {
    let missing = |name: &str, known: &[&str]| {
        let number = name.chars().all(|letter| letter.is_ascii_digit());
        let made_later = !deferred && !known.contains(&name) && makes_account(config, name);
        number || made_later
    };
    user.filter(|user| missing(user, USERS))
        .or_else(|| group.filter(|group| missing(group, GROUPS)))
        .map(ToOwned::to_owned)
}

/// Whether every image has the user and the group.
pub(crate) fn is_common_owner(owner: &str) -> bool {
    let (user, group) = user_and_group(owner);
    user.is_none_or(|user| USERS.contains(&user)) && group.is_none_or(|group| GROUPS.contains(&group))
}

/// Whether `users` or `groups` makes an account of this name.
pub(crate) fn makes_account(config: &Datum, name: &str) -> bool {
    let named = |item: &Datum| match &item.value {
        Value::Text(text) => text.split([',', ' ']).any(|word| word == name),
        Value::Map(pairs) => {
            item.get("name").and_then(Datum::text) == Some(name)
                || pairs.iter().any(|(key, _)| matches!(key, crate::data::Key::Text(key) if key == name))
        }
        _ => false,
    };
    ["users", "groups"].into_iter().filter_map(|key| config.get(key)).any(|list| match list.items() {
        Some(items) => items.iter().any(named),
        None => named(list),
    })
}

/// `user:group`; a part that is empty, `-1` or `none` is left as it is.
fn user_and_group(owner: &str) -> (Option<&str>, Option<&str>) {
    let (user, group) = owner.split_once(':').map_or((owner, None), |(user, group)| (user, Some(group)));
    let named = |name: &str| !(name.is_empty() || name == "-1" || name.eq_ignore_ascii_case("none"));
    (Some(user.trim()).filter(|user| named(user)), group.map(str::trim).filter(|group| named(group)))
}

/// The permission bits: a number is taken as it is, whatever base it was meant in; a string is octal; else 0644.
pub(crate) fn mode(permissions: Option<&Datum>) -> u32 {
    let bits = permissions.and_then(|permissions| match &permissions.value {
        Value::Null => None,
        Value::Bool(truth) => Some(u32::from(*truth)),
        Value::Integer(number) => u32::try_from(*number).ok(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "as Python's int() of a small float"
        )]
        Value::Float(number) => (0.0..65536.0).contains(number).then_some(*number as u32),
        _ => octal(&permissions.python_str()),
    });
    bits.unwrap_or(0o644) & 0o7777
}

/// Python's `int(text, 8)`.
pub(crate) fn octal(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix('+').unwrap_or(text);
    let digits = digits.strip_prefix("0o").or_else(|| digits.strip_prefix("0O")).unwrap_or(digits);
    let lonely = digits.ends_with('_')
        || digits.contains("__")
        || digits.starts_with('_') && digits.len() == text.len();
    (!lonely).then(|| u32::from_str_radix(&digits.replace('_', ""), 8).ok()).flatten()
}

/// What an item holds, decoded and unpacked; nothing, if it unpacks to more than is looked at.
pub(crate) fn content(item: &Datum) -> Result<Option<Vec<u8>>, (String, &'static str)> {
    let encoding = match item.get("encoding").map(|encoding| &encoding.value) {
        None | Some(Value::Null) => String::new(),
        Some(Value::Text(text)) => text.to_lowercase().trim().to_owned(),
        Some(_) => {
            return Err((
                "`encoding` is not a string".to_owned(),
                "write `encoding: b64` or `encoding: gz+b64`",
            ));
        }
    };
    let content = item.get("content");
    let bytes = match content.map(|content| &content.value) {
        None => Vec::new(),
        Some(Value::Text(text)) => text.as_bytes().to_vec(),
        Some(Value::Bytes(bytes)) => bytes.clone(),
        Some(_) => {
            let name = content.map_or("nothing", Datum::type_name);
            return Err((
                format!("`content` is {name}, not a string"),
                "put the content in quotes, or leave the key out for an empty file",
            ));
        }
    };
    let unpacked = |bytes: &[u8]| match gunzip(bytes) {
        Ok(unpacked) => Ok(Some(unpacked)),
        Err(GunzipFault::TooLarge) => Ok(None),
        Err(GunzipFault::Corrupt) => {
            Err(("`content` is not gzip".to_owned(), "check `encoding`: `gz+b64` is gzip, then base64"))
        }
    };
    let decoded = |bytes: &[u8]| {
        base64_lenient(bytes).ok().filter(|_| bytes.is_ascii()).ok_or_else(|| {
            ("`content` is not base64".to_owned(), "check `encoding` and the padding at the end of `content`")
        })
    };
    match encoding.as_str() {
        "gz" | "gzip" => unpacked(&bytes),
        "gz+base64" | "gzip+base64" | "gz+b64" | "gzip+b64" => unpacked(&decoded(&bytes)?),
        "b64" | "base64" => decoded(&bytes).map(Some),
        _ => Ok(Some(bytes)),
    }
}

/// `os.path.abspath` at the root.
pub(crate) fn absolute(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{absolute, mode, octal};
    use crate::Datum;

    /// Printed by `cc_write_files.decode_perms(yaml.safe_load(...), 0o644)` of cloud-init 22.4.2.
    #[test]
    fn permissions_are_what_cloud_init_makes_of_them() {
        let cases = [
            ("'0755'", 0o755),
            ("0755", 0o755),
            ("755", 0o1363),
            ("'755'", 0o755),
            ("0o755", 0o755),
            ("'0o711'", 0o711),
            ("'rw-r--r--'", 0o644),
            ("''", 0o644),
            ("~", 0o644),
            ("yes", 0o1),
            ("493.7", 0o755),
            ("'0_7_5_5'", 0o755),
            ("'0x1ed'", 0o644),
            ("'0888'", 0o644),
            ("' 0600 '", 0o600),
            ("[0755]", 0o644),
        ];
        for (written, expected) in cases {
            let node = bringup_yaml::parse_one(written, bringup_yaml::Limits::default()).unwrap();
            let datum = node.map(|node| Datum::construct(&node, 0).unwrap());
            assert_eq!(mode(datum.as_ref()), expected, "{written}");
        }
        assert_eq!(octal("0__7"), None);
        assert_eq!(octal("_7"), None);
    }

    #[test]
    fn paths_are_made_absolute() {
        for (path, expected) in
            [("/etc/w/../x", "/etc/x"), ("etc//x/.", "/etc/x"), ("/..", "/"), ("/a/", "/a")]
        {
            assert_eq!(absolute(path), expected, "{path}");
        }
    }
}
