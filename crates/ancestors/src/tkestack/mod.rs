//! `Cluster` and `Machine` of tkestack.

use bringup_yaml::Node;

use crate::codes;
use crate::tell::Teller;

/// Translates the documents of tkestack.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    for document in documents {
        let message = "documents of tkestack are not understood by this version";
        tell.error(codes::FIELD_REFUSED, document.span, message, "`bringup init` shows how to write it");
    }
    Vec::new()
}
