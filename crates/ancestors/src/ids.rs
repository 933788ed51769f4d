//! Ids of things that AWS keeps.

use bringup_yaml::Node;

use crate::codes;
use crate::tell::Teller;

/// The id, if it can be one. Other systems take anything, and AWS refuses it later; here a stand-in such as `sg-1` is left out
/// and told, so that the rest can be seen.
pub(crate) fn real<'a>(node: &'a Node, prefix: &str, tell: &mut Teller<'_>) -> Option<&'a Node> {
    if is_real(node, prefix) {
        return Some(node);
    }
    let message =
        format!("this can be no id of AWS': `{prefix}` and 8 or 17 hexadecimal digits; it is left out");
    tell.warning(codes::FIELD_DIFFERS, node.span, message, "write the real one before anything is deployed");
    None
}

/// Whether it can be an id.
pub(crate) fn is_real(node: &Node, prefix: &str) -> bool {
    node.text().and_then(|text| text.strip_prefix(prefix)).is_some_and(|id| {
        matches!(id.len(), 8 | 17) && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}
