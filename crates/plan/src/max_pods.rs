//! How many pods a node takes, from its instance type. Used here and on the node, so that both always agree.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::PodLimit;
use crate::nodeadm::expression::{Variables, evaluate};

/// Pods of a node when nothing better is known: Kubernetes' own default.
pub const DEFAULT: u32 = 110;

/// Above so many processors, the cap on delegated prefixes is [`LARGE_CAP`].
const LARGE_CORES: u32 = 30;

/// The cap on delegated prefixes for large machines.
const LARGE_CAP: u32 = 250;

/// Addresses in a delegated prefix, a /28.
const PREFIX: u32 = 16;

static DATA: &str = include_str!("../data/ec2-interfaces.txt");

static TABLE: LazyLock<BTreeMap<(&'static str, &'static str), Interfaces>> = LazyLock::new(|| read(DATA));

/// The network interfaces of an instance type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interfaces {
    /// Interfaces on the default network card.
    pub interfaces: u32,
    /// IPv4 addresses of each.
    pub addresses: u32,
}

/// `> INTERFACES ADDRESSES` opens a group of lines `FAMILIES SIZES`; what cannot be read is left out.
fn read(data: &'static str) -> BTreeMap<(&'static str, &'static str), Interfaces> {
    let mut table = BTreeMap::new();
    let mut current = None;
    for line in data.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix("> ") {
            current = head.split_once(' ').and_then(|(interfaces, addresses)| {
                Some(Interfaces { interfaces: interfaces.parse().ok()?, addresses: addresses.parse().ok()? })
            });
        } else if let (Some(interfaces), Some((families, sizes))) = (current, line.split_once(' ')) {
            for family in families.split(',') {
                table.extend(sizes.split(',').map(|size| ((family, size), interfaces)));
            }
        }
    }
    table
}

/// The interfaces of an instance type such as `m5.large`, if the type is known.
pub fn interfaces(instance_type: &str) -> Option<Interfaces> {
    TABLE.get(&instance_type.split_once('.')?).copied()
}

/// Every known instance type, sorted by family and size.
pub fn instance_types() -> impl Iterator<Item = String> {
    TABLE.keys().map(|(family, size)| format!("{family}.{size}"))
}

/// Every known instance type with its pods, one to a line, as eksctl's `max_pods.map` has them.
pub fn map() -> String {
    let mut rows = String::new();
    for ((family, size), found) in &*TABLE {
        let _ = writeln!(rows, "{family}.{size} {}", uncapped(*found, false, false));
    }
    rows
}

/// Families on the Xen hypervisor, whose interfaces take no prefixes, by the table of Amazon's own CNI plugin.
const XEN: [&str; 21] = [
    "c1", "c3", "c4", "cr1", "d2", "f1", "h1", "hs1", "i2", "i3", "m1", "m2", "m3", "m4", "p3", "r3", "r4",
    "t1", "t2", "x1", "x1e",
];

/// Whether interfaces of this type can be given prefixes: the CNI plugin asks for Nitro or bare metal.
pub fn takes_prefixes(instance_type: &str) -> bool {
    match instance_type.split_once('.') {
        Some((family, size)) => size.starts_with("metal") || !XEN.contains(&family),
        None => true,
    }
}

/// How many pods a node of this type takes.
///
/// `cores` matters only where prefixes are delegated without a cap of the operator's own. An unknown type takes
/// [`DEFAULT`]; one whose interfaces leave no address for pods takes two, those in the host's network. A type whose
/// interfaces take no prefixes has single addresses, whatever the limit says.
pub fn max_pods(limit: &PodLimit, instance_type: &str, cores: u32) -> u32 {
    match *limit {
        PodLimit::Fixed(pods) => pods,
        PodLimit::Expression { ref cel } => by_expression(cel, instance_type),
        PodLimit::Interfaces { prefix_delegation, custom_networking, cap } => {
            let Some(found) = interfaces(instance_type) else {
                return cap.map_or(DEFAULT, |cap| cap.min(DEFAULT));
            };
            let prefix_delegation = prefix_delegation && takes_prefixes(instance_type);
            let pods = uncapped(found, prefix_delegation, custom_networking);
            match cap {
                Some(cap) => pods.min(cap),
                None if prefix_delegation => pods.min(if cores > LARGE_CORES { LARGE_CAP } else { DEFAULT }),
                None => pods,
            }
        }
    }
}

/// An expression that gives no number is passed over, and so is every one for a type that is not known.
fn by_expression(cel: &str, instance_type: &str) -> u32 {
    let Some(found) = interfaces(instance_type) else { return DEFAULT };
    let max_pods = uncapped(found, false, false);
    let variables = Variables { interfaces: found.interfaces, addresses: found.addresses, max_pods };
    evaluate(cel, variables).unwrap_or(max_pods)
}

/// The one number that the limit gives for every processor count, if there is one.
pub fn literal(limit: &PodLimit, instance_type: &str) -> Option<u32> {
    let small = max_pods(limit, instance_type, 1);
    (small == max_pods(limit, instance_type, u32::MAX)).then_some(small)
}

/// Each interface keeps one address for itself; two pods live in the host's network and need none.
fn uncapped(found: Interfaces, prefix_delegation: bool, custom_networking: bool) -> u32 {
    let serving = found.interfaces.saturating_sub(u32::from(custom_networking));
    let slots = found.addresses.saturating_sub(1);
    let each = if prefix_delegation { slots.saturating_mul(PREFIX) } else { slots };
    serving.saturating_mul(each).saturating_add(2)
}

impl crate::Plan {
    /// How many pods memory is kept for.
    pub fn memory_limit(&self) -> &PodLimit {
        self.memory_for_pods.as_ref().unwrap_or(&self.max_pods)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plain() -> PodLimit {
        PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None }
    }

    #[test]
    fn the_table_has_every_type_once() {
        let pairs: BTreeSet<Interfaces> = TABLE.values().copied().collect();
        let families: BTreeSet<&str> = TABLE.keys().map(|(family, _)| *family).collect();
        assert_eq!((TABLE.len(), pairs.len(), families.len()), (1384, 46, 194));
        // A row that stands twice would be lost in the map: count what is written.
        let written: usize = DATA
            .lines()
            .filter(|line| !line.starts_with(['#', '>']))
            .filter_map(|line| line.split_once(' '))
            .map(|(families, sizes)| families.split(',').count() * sizes.split(',').count())
            .sum();
        assert_eq!(written, 1384);
    }

    #[test]
    fn rows_are_what_amazon_says() {
        for (instance_type, interfaces_, addresses) in [
            ("a1.2xlarge", 4, 15),
            ("a1.medium", 2, 4),
            ("c5.4xlarge", 8, 30),
            ("c5.large", 3, 10),
            ("c5n.18xlarge", 15, 50),
            ("c7g.medium", 2, 4),
            ("g4ad.xlarge", 2, 4),
            ("hpc6id.32xlarge", 1, 50),
            ("i3.16xlarge", 15, 50),
            ("m1.small", 2, 4),
            ("m5.large", 3, 10),
            ("m5.xlarge", 4, 15),
            ("m5.24xlarge", 15, 50),
            ("m7i-flex.large", 3, 10),
            ("p3dn.24xlarge", 15, 50),
            ("t1.micro", 2, 2),
            ("t3.medium", 3, 6),
            ("t3.micro", 2, 2),
            ("t3.small", 3, 4),
            ("trn1.32xlarge", 5, 50),
            ("u-6tb1.metal", 5, 30),
        ] {
            assert_eq!(
                interfaces(instance_type),
                Some(Interfaces { interfaces: interfaces_, addresses }),
                "{instance_type}"
            );
        }
        assert_eq!(interfaces("m5"), None);
        assert_eq!(interfaces("m5.huge"), None);
    }

    #[test]
    fn interfaces_give_the_numbers_of_the_old_table() {
        for (instance_type, pods) in
            [("m5.large", 29), ("m5.xlarge", 58), ("m5.4xlarge", 234), ("m5.24xlarge", 737), ("t3.micro", 4)]
        {
            assert_eq!(max_pods(&plain(), instance_type, 2), pods, "{instance_type}");
        }
        assert_eq!(max_pods(&plain(), "m99.large", 2), 110);
    }

    #[test]
    fn prefixes_custom_networking_and_caps_by_hand() {
        let limit = |prefix_delegation, custom_networking, cap| PodLimit::Interfaces {
            prefix_delegation,
            custom_networking,
            cap,
        };
        // m5.large: 3 * (9 * 16) + 2 = 434; one interface less: 2 * 144 + 2 = 290.
        assert_eq!(max_pods(&limit(true, false, None), "m5.large", 2), 110);
        assert_eq!(max_pods(&limit(true, false, None), "m5.large", 30), 110);
        assert_eq!(max_pods(&limit(true, false, None), "m5.large", 31), 250);
        assert_eq!(max_pods(&limit(true, false, Some(1000)), "m5.large", 2), 434);
        assert_eq!(max_pods(&limit(true, true, Some(1000)), "m5.large", 2), 290);
        // Without prefixes: 2 * 9 + 2 = 20.
        assert_eq!(max_pods(&limit(false, true, None), "m5.large", 2), 20);
        assert_eq!(max_pods(&limit(false, false, Some(15)), "m5.large", 2), 15);
        // t3.micro with prefixes: 2 * 16 + 2 = 34, below either cap, so it is known before boot.
        assert_eq!(literal(&limit(true, false, None), "t3.micro"), Some(34));
        assert_eq!(literal(&limit(true, false, None), "m5.large"), None);
    }
}
