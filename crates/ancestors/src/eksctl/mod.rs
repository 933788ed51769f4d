//! `ClusterConfig` of eksctl.

use bringup_yaml::Node;

use crate::codes;
use crate::tell::Teller;

/// Translates the documents of eksctl.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    for document in documents {
        let message = "documents of eksctl are not understood by this version";
        tell.error(codes::FIELD_REFUSED, document.span, message, "`bringup init` shows how to write it");
    }
    Vec::new()
}
