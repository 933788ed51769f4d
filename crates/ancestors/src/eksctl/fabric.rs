//! `efaEnabled`: interfaces for programs that talk past the kernel.

use bringup_yaml::Node;

use super::group::Given;
use crate::codes;
use crate::tell::Teller;
use crate::tree::plain;

/// Instance types with more than one network card, by the beginning of their names. eksctl asks EC2.
const CARDS: [(&str, u16); 14] = [
    ("dl1.24xlarge", 4),
    ("g6e.24xlarge", 2),
    ("g6e.48xlarge", 4),
    ("p4d.24xlarge", 4),
    ("p4de.24xlarge", 4),
    ("p5.48xlarge", 32),
    ("p5e.48xlarge", 32),
    ("p5en.48xlarge", 16),
    ("p6-b200.48xlarge", 8),
    ("trn1.32xlarge", 8),
    ("trn1n.32xlarge", 16),
    ("trn2.48xlarge", 16),
    ("trn2u.48xlarge", 16),
    ("hpc7a.", 2),
];

/// An interface on each card that all of the types have. What eksctl installs for them is told of.
pub(super) fn interfaces(given: &Given<'_>, types: &[Node], tell: &mut Teller<'_>) -> Option<Node> {
    let field = given.fields.entry("efaEnabled").filter(|_| given.fields.flag("efaEnabled") == Some(true))?;
    let cards =
        |name: &str| CARDS.iter().find(|(start, _)| name.starts_with(start)).map_or(1, |(_, cards)| *cards);
    let fewest = types.iter().filter_map(Node::text).map(cards).min().unwrap_or(1);
    let message = "the launch template has interfaces of the type EFA, but no driver is installed for them: unless the image has it, the node will differ";
    let hint = "take an image with the driver, such as those of EKS for accelerated machines, or install it with `preBootstrapCommands`; the device plugin is applied to the cluster";
    tell.warning(codes::FIELD_DIFFERS, field.key_span, message, hint);
    Some(plain(field.value.span, fewest))
}
