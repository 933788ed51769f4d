//! What may be the name of a node: a DNS subdomain, as Kubernetes has it.

/// The longest name of an object.
const LONGEST: usize = 253;
/// The longest part between two dots.
const LONGEST_LABEL: usize = 63;

/// What is wrong with a name, if anything is.
pub(crate) fn fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LONGEST {
        return Some("it is longer than 253 characters");
    }
    if name.contains(char::is_whitespace) {
        return Some("it is several names");
    }
    for label in name.split('.') {
        let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if label.is_empty() || label.len() > LONGEST_LABEL {
            return Some("a part between dots has no or more than 63 characters");
        }
        if !label.bytes().all(inside) {
            return Some("only lower-case letters, digits, `-` and `.` may be in it");
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Some("a part between dots begins or ends with `-`");
        }
    }
    None
}
