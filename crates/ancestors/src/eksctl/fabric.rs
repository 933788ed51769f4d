//! `efaEnabled`: interfaces for programs that talk past the kernel.

use bringup_yaml::Node;

use super::group::Given;
use crate::codes;
use crate::tell::Teller;
use crate::tree::plain;

/// Instance types with EFA, and on how many of their cards. eksctl asks EC2.
static DATA: &str = include_str!("../../data/ec2-efa.txt");

/// How many cards of an instance type such as `p5.48xlarge` have EFA; none if it is not known to have it.
fn cards(instance_type: &str) -> Option<u16> {
    let (family, size) = instance_type.split_once('.')?;
    let mut cards = None;
    for line in DATA.lines().filter(|line| !line.starts_with('#')) {
        if let Some(number) = line.strip_prefix("> ") {
            cards = number.parse().ok();
        } else if let Some((families, sizes)) = line.split_once(' ')
            && families.split(',').any(|own| own == family)
            && sizes.split(',').any(|own| own == size)
        {
            return cards;
        }
    }
    None
}

/// An interface on each card that all of the types have. What eksctl installs for them is told of.
pub(super) fn interfaces(given: &Given<'_>, types: &[Node], tell: &mut Teller<'_>) -> Option<Node> {
    let field = given.fields.entry("efaEnabled").filter(|_| given.fields.flag("efaEnabled") == Some(true))?;
    let mut fewest = None;
    for name in types.iter().filter_map(Node::text) {
        let cards = cards(name);
        match cards {
            Some(0) => {
                let message = format!(
                    "the first network card of `{name}` has no EFA: it cannot be launched with such an interface there"
                );
                let hint =
                    "take another type, or make the launch template yourself: interfaces on the other cards";
                tell.error(codes::FIELD_REFUSED, field.key_span, message, hint);
            }
            Some(_) => {}
            None => {
                let message = format!(
                    "`{name}` is not among the instance types that are known to have EFA: EC2 does not launch one without it"
                );
                let hint = "take a type that has it, or remove `efaEnabled`; a type that is too new to be known gets one interface";
                tell.warning(codes::FIELD_DIFFERS, field.key_span, message, hint);
            }
        }
        let cards = cards.unwrap_or(1).max(1);
        fewest = Some(fewest.map_or(cards, |fewest: u16| fewest.min(cards)));
    }
    let message = "the launch template has interfaces of the type EFA, but no driver is installed for them: unless the image has it, the node will differ";
    let hint = "take an image with the driver, such as those of EKS for accelerated machines, or install it with `preBootstrapCommands`; the device plugin is applied to the cluster";
    tell.warning(codes::FIELD_DIFFERS, field.key_span, message, hint);
    Some(plain(field.value.span, fewest.unwrap_or(1)))
}
