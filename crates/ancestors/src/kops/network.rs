//! Addresses of services, pods and DNS, by kops' rules.

use std::net::{IpAddr, Ipv4Addr};

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::codes;
use crate::tell::Teller;
use crate::tree::text;

/// What kops takes unless it is told otherwise.
const INTERNAL: &str = "100.64.0.0/10";
const SERVICES: &str = "100.64.0.0/13";
const SERVICES_6: &str = "fd00:5e4f:ce::/108";

/// Tells of internal addresses that are none: kops takes services and pods from them.
pub(super) fn check(internal: &Node, tell: &mut Teller<'_>) {
    let given = internal.text().unwrap_or_default();
    let is_range = given.split_once('/').is_some_and(|(address, bits)| {
        let most = address.parse::<IpAddr>().map(|address| if address.is_ipv4() { 32 } else { 128 });
        most.is_ok_and(|most| bits.parse::<u8>().is_ok_and(|bits| bits <= most))
    });
    if !is_range {
        let message = format!("`{given}` is no range of addresses");
        let hint = format!("write one such as `{INTERNAL}`");
        tell.error(codes::WRONG_TYPE, internal.span, message, hint);
    }
}

/// The range of services.
pub(super) fn services(given: Option<&Node>, internal: Option<&Node>, span: Span) -> Node {
    match (given, internal.and_then(Node::text)) {
        (Some(given), _) => given.clone(),
        (None, Some(internal)) if internal.contains(':') => text(span, SERVICES_6),
        (None, _) => text(span, SERVICES),
    }
}

/// The range of pods: the upper half of the internal addresses, of the fourth version only.
pub(super) fn pods(given: Option<&Node>, internal: Option<&Node>, span: Span) -> Option<Node> {
    if let Some(given) = given {
        return Some(given.clone());
    }
    let (address, bits) = internal.and_then(Node::text).unwrap_or(INTERNAL).split_once('/')?;
    let (address, bits) = (address.parse::<Ipv4Addr>().ok()?, bits.parse::<u32>().ok()?);
    let mask = u32::MAX.checked_shl(32_u32.checked_sub(bits)?).unwrap_or(0);
    let upper = 1_u32.checked_shl(31_u32.checked_sub(bits)?)?;
    let start = Ipv4Addr::from((u32::from(address) & mask) | upper);
    let place = internal.map_or(span, |internal| internal.span);
    Some(text(place, format!("{start}/{}", bits.checked_add(1)?)))
}

/// The region of a zone of AWS: `us-east-1a`, or a local one such as `us-east-1-bos-1a`.
pub(super) fn region(zone: &str) -> Option<String> {
    let mut words = Vec::new();
    for word in zone.split('-') {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            words.push(digits);
            return (words.len() >= 3).then(|| words.join("-"));
        }
        words.push(word.to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{pods, region};
    use crate::tree::text;
    use bringup_diag::Span;

    #[test]
    fn pods_have_the_upper_half() {
        let half = |internal: &str| {
            let node = text(Span::default(), internal);
            pods(None, Some(&node), Span::default()).and_then(|node| node.text().map(ToOwned::to_owned))
        };
        assert_eq!(half("100.64.0.0/10").as_deref(), Some("100.96.0.0/11"));
        assert_eq!(half("172.20.0.0/16").as_deref(), Some("172.20.128.0/17"));
        assert_eq!(half("0.0.0.0/0").as_deref(), Some("128.0.0.0/1"));
        assert_eq!(half("10.0.0.1/32"), None);
        assert_eq!(half("::/0"), None);
    }

    #[test]
    fn zones_are_in_regions() {
        assert_eq!(region("us-test-1a").as_deref(), Some("us-test-1"));
        assert_eq!(region("us-gov-west-1b").as_deref(), Some("us-gov-west-1"));
        assert_eq!(region("us-east-1-bos-1a").as_deref(), Some("us-east-1"));
        assert_eq!(region("nova"), None);
    }
}
