//! How the user-data stands in the template, and how the stack's name gets into it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Finding, Findings};
use bringup_yaml::Value;
use serde_json::json;

use super::Request;
use crate::codes;
use crate::intrinsic::single;

/// Where a node finds the names that only its stack knows: `{"group", "resource", "stack"}`.
pub const STACK_FILE: &str = "/etc/bringup/stack.json";

/// The longest name of a stack.
const LONGEST_STACK_NAME: usize = 128;
const STACK_NAME: &str = "${AWS::StackName}";
/// The logical id of the group, which waits for the signals.
pub(crate) const RESOURCE: &str = "NodeGroup";

/// User-data as the template carries it.
pub(crate) struct Carried {
    /// The value of `UserData`.
    pub(crate) value: Value,
    /// The raw size on an instance, at most.
    pub(crate) bytes: usize,
}

/// The user-data as a value; with the stack's names in it where the nodes need them.
pub(crate) fn carried(request: &Request<'_>, bytes: &[u8], findings: &mut Findings) -> Carried {
    let plain = || Carried { value: BASE64_STANDARD.encode(bytes).into(), bytes: bytes.len() };
    if !request.needs_stack() && !request.needs_group() {
        return plain();
    }
    if let Some(text) = with_stack(bytes, &stack_file(request)) {
        return Carried { bytes: longest(&text), value: single("Fn::Base64", single("Fn::Sub", text)) };
    }
    let message = "the stack's name cannot be put into user-data of this form (compressed as a whole, or replaced by another config)";
    let hint = "write the names in the signal: `stack: NAME`, and `resource: GROUP` for a life-cycle action";
    let place = request.document.key_place(&request.path.key("signals"));
    findings.push(Finding::error(codes::STACK_UNKNOWN, message).at(place).hint(hint));
    plain()
}

/// The content of [`STACK_FILE`], for `Fn::Sub`.
fn stack_file(request: &Request<'_>) -> String {
    let mut names = serde_json::Map::new();
    if request.needs_group() {
        names.insert("group".into(), super::scaling::GROUP_NAME.into());
    }
    if request.needs_stack() {
        names.insert("resource".into(), RESOURCE.into());
        names.insert("stack".into(), STACK_NAME.into());
    }
    serde_json::Value::Object(names).to_string()
}

/// The raw size when every name is as long as can be.
pub(super) fn longest(text: &str) -> usize {
    let room = LONGEST_STACK_NAME.saturating_sub(STACK_NAME.len());
    text.len().saturating_add(text.matches(STACK_NAME).count().saturating_mul(room))
}

/// The user-data with the file in it, as text for `Fn::Sub`; `None` if there is no way into this form.
fn with_stack(bytes: &[u8], file: &str) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text {
        if text.trim_start().starts_with('{') {
            return in_ignition(text, file);
        }
        if let Some(boundary) = boundary(text) {
            return in_multipart(text, boundary, file);
        }
    }
    let kind = match text {
        Some(text) if text.starts_with("#cloud-config\n") => "text/cloud-config",
        Some(text) if text.starts_with("#!") => "text/x-shellscript",
        Some(text) if text.starts_with("#cloud-boothook\n") => "text/cloud-boothook",
        _ => return None,
    };
    Some(around(kind, bytes, file))
}

/// A script that runs before every other part: on each boot, so that it is there whatever became of the last one. It stands
/// first, which is what counts among boothooks, and its name sorts first too. It is not in base64, or `Fn::Sub` could not
/// fill in the name.
fn boothook(file: &str) -> String {
    format!(
        "Content-Type: text/cloud-boothook\nContent-Transfer-Encoding: 7bit\nContent-Disposition: attachment; filename=\"000-aws-stack.sh\"\n\n\
         #cloud-boothook\n#!/bin/sh\nset -e\nmkdir -p /etc/bringup\nprintf '%s\\n' '{file}' >{STACK_FILE}.new\nmv {STACK_FILE}.new {STACK_FILE}\n"
    )
}

/// The boundary of a multipart message.
fn boundary(text: &str) -> Option<&str> {
    let (head, _) = text.split_once("\n\n")?;
    let field = head.split('\n').find(|line| line.to_ascii_lowercase().starts_with("content-type:"))?;
    if !field.to_ascii_lowercase().contains("multipart/") {
        return None;
    }
    let (_, value) = field.split_once("boundary=")?;
    let value = value.trim();
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split(';').next().map(str::trim),
    }
    .filter(|boundary| !boundary.is_empty())
}

/// Every part is in base64, which has no `$`; in a message with one, `Fn::Sub` might find names of its own.
fn in_multipart(text: &str, boundary: &str, file: &str) -> Option<String> {
    let line = format!("--{boundary}\n");
    let (head, parts) = text.split_once(&line).filter(|_| !text.contains("${"))?;
    Some(format!("{head}{line}{}{line}{parts}", boothook(file)))
}

/// The file in front of user-data that is one part.
fn around(kind: &str, bytes: &[u8], file: &str) -> String {
    let body = BASE64_STANDARD.encode(bytes);
    // Base64 has neither `=` in front of `_` nor `$`: nothing in the body can be taken for the boundary or a name.
    let boundary = "=_bringup-stack";
    let mut lines = String::new();
    for line in body.as_bytes().chunks(76) {
        lines.push_str(std::str::from_utf8(line).unwrap_or_default());
        lines.push('\n');
    }
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n--{boundary}\n{}--{boundary}\n\
         Content-Type: {kind}\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"001-user-data\"\n\n\
         {lines}--{boundary}--\n",
        boothook(file)
    )
}

/// The file among the files of an Ignition config.
fn in_ignition(text: &str, file: &str) -> Option<String> {
    // Stands for the file until everything else is written as `Fn::Sub` wants it.
    const MARK: &str = "data:,bringup-stack-file";
    let mut config: serde_json::Value = serde_json::from_str(text).ok()?;
    let ignition = config.get("ignition")?;
    let modern = ignition.get("version")?.as_str()?.starts_with("3.");
    let replaced = ignition.pointer("/config/replace/source").is_some_and(|source| !source.is_null());
    if !modern || replaced || text.contains(MARK) {
        return None;
    }
    let storage = config.as_object_mut()?.entry("storage").or_insert_with(|| json!({}));
    let files = storage.as_object_mut()?.entry("files").or_insert_with(|| json!([]));
    files.as_array_mut()?.push(json!({
        "path": STACK_FILE, "mode": 0o644, "overwrite": true, "contents": {"source": MARK},
    }));
    let source = file
        .replace('{', "%7B")
        .replace('}', "%7D")
        .replace('"', "%22")
        .replace("$%7BAWS::StackName%7D", STACK_NAME);
    // JSON can write a `$` so that `Fn::Sub` does not see it, and letters so that they are safe in a template.
    let text = bringup_plan::ascii_json(config.to_string()).replace("${", "\\u0024{");
    Some(text.replace(MARK, &format!("data:,{source}%0A")))
}

#[cfg(test)]
mod tests {
    use super::{longest, with_stack};

    const FILE: &str = r#"{"resource":"NodeGroup","stack":"${AWS::StackName}"}"#;

    #[test]
    fn a_message_gets_one_more_part_in_front_and_keeps_its_own() {
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"=_a\"\n\n--=_a\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho $HOME\n--=_a--\n";
        let made = with_stack(text.as_bytes(), FILE).unwrap();
        assert_eq!(made.matches("--=_a\n").count(), 2);
        assert!(made.contains("printf '%s\\n' '{\"resource\":\"NodeGroup\",\"stack\":\"${AWS::StackName}\"}' >/etc/bringup/stack.json.new\n"));
        assert!(made.ends_with("#!/bin/sh\necho $HOME\n--=_a--\n"));
        assert!(made.find("000-aws-stack.sh").unwrap() < made.find("x-shellscript").unwrap());
        // `Fn::Sub` would look for a parameter of that name.
        assert_eq!(with_stack(text.replace("$HOME", "${HOME}").as_bytes(), FILE), None);
    }

    #[test]
    fn a_single_document_becomes_the_second_part() {
        let made = with_stack(b"#cloud-config\n{}\n", FILE).unwrap();
        assert!(made.contains("Content-Type: text/cloud-config\n"));
        assert!(made.contains("\n\nI2Nsb3VkLWNvbmZpZwp7fQo=\n--=_bringup-stack--\n"));
    }

    #[test]
    fn an_ignition_config_gets_one_more_file() {
        let made = with_stack(br#"{"ignition":{"version":"3.3.0"}}"#, FILE).unwrap();
        let source =
            r#""source":"data:,%7B%22resource%22:%22NodeGroup%22,%22stack%22:%22${AWS::StackName}%22%7D%0A""#;
        assert!(made.contains(source), "{made}");
        // An image might have the file of another stack.
        assert!(made.contains(r#""overwrite":true,"path":"/etc/bringup/stack.json""#), "{made}");
        let unit = br#"{"ignition":{"version":"3.3.0"},"systemd":{"units":[{"contents":"ExecStart=${A}","name":"a.service"}]}}"#;
        let made = with_stack(unit, FILE).unwrap();
        assert_eq!(made.matches("${").count(), 1);
        let read: serde_json::Value = serde_json::from_str(&made).unwrap();
        assert_eq!(read.pointer("/systemd/units/0/contents").unwrap(), "ExecStart=${A}");
        let replaced = br#"{"ignition":{"version":"3.3.0","config":{"replace":{"source":"s3://b/k"}}}}"#;
        assert_eq!(with_stack(replaced, FILE), None);
    }

    #[test]
    fn there_is_no_way_into_compressed_user_data() {
        assert_eq!(with_stack(&[0x1f, 0x8b, 8, 0], FILE), None);
    }

    #[test]
    fn the_size_counts_the_longest_name() {
        assert_eq!(longest("a${AWS::StackName}b"), 1 + 128 + 1);
    }
}
