//! Whether an address lies in a range.

use std::net::IpAddr;

/// Whether `address` lies in `range`, such as `10.0.0.0/8`. What is no address or no range lies nowhere.
pub(super) fn contains(range: &str, address: &str) -> bool {
    let (Some((network, length)), Ok(address)) = (range.split_once('/'), address.parse::<IpAddr>()) else {
        return false;
    };
    let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            same(u128::from(network.to_bits()), u128::from(address.to_bits()), 32, length)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => same(network.to_bits(), address.to_bits(), 128, length),
        _ => false,
    }
}

/// Whether two numbers of `bits` bits have the same first `length` ones.
fn same(one: u128, other: u128, bits: u32, length: u32) -> bool {
    (one ^ other).checked_shr(bits.saturating_sub(length)).unwrap_or_default() == 0
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn an_address_lies_in_its_range_and_in_no_other() {
        for (range, address, inside) in [
            ("10.96.0.0/12", "10.111.255.255", true),
            ("10.96.0.0/12", "10.112.0.0", false),
            ("10.100.0.0/16", "10.100.3.4", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("192.0.2.1/32", "192.0.2.1", true),
            ("192.0.2.1/32", "192.0.2.2", false),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "10.0.0.1", false),
            ("::/0", "fe80::1", true),
            ("10.0.0.0/8", "", false),
            ("nonsense", "10.0.0.1", false),
        ] {
            assert_eq!(contains(range, address), inside, "{address} in {range}");
        }
    }
}
