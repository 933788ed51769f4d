//! Addresses and ranges of addresses.

use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::{Fault, plain_number, quoted};
use crate::decode::parsed;

/// An IPv4 or IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Address(pub IpAddr);

impl Address {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        text.parse().map(Self).map_err(|_| {
            Fault::new(
                format!("{} is no IP address", quoted(text)),
                "write one such as `10.100.0.10` or `fd00::a`",
            )
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A range of addresses; the base has no bits beyond the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cidr {
    base: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(
                format!("{} is no range of addresses", quoted(text)),
                "write one such as `10.100.0.0/16` or `fd00::/108`",
            )
        };
        let (base, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let prefix: u8 = plain_number(prefix).ok_or_else(wrong)?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        if prefix > width {
            return Err(wrong());
        }
        let range = Self { base, prefix };
        let aligned = range.nth(0).unwrap_or(base);
        if aligned != base {
            return Err(Fault::new(
                format!("{} has bits set beyond its prefix", quoted(text)),
                format!("write `{aligned}/{prefix}`"),
            ));
        }
        Ok(range)
    }

    fn bits(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        }
    }

    /// How many bits tell the addresses of the range apart.
    pub fn host_bits(self) -> u32 {
        let width = if self.base.is_ipv4() { 32 } else { 128 };
        width - u32::from(self.prefix)
    }

    /// Whether the range is of IPv4 addresses.
    pub fn is_ipv4(self) -> bool {
        self.base.is_ipv4()
    }

    /// Whether the address lies in the range.
    pub fn contains(self, address: IpAddr) -> bool {
        let shift = |bits: u128| bits.checked_shr(self.host_bits()).unwrap_or(0);
        address.is_ipv4() == self.base.is_ipv4() && shift(Self::bits(address)) == shift(Self::bits(self.base))
    }

    /// The address `offset` after the start of the range, if the range is that large.
    pub fn nth(self, offset: u32) -> Option<IpAddr> {
        let host = self.host_bits();
        let base = Self::bits(self.base).checked_shr(host).unwrap_or(0).checked_shl(host).unwrap_or(0);
        let address = base.checked_add(u128::from(offset))?;
        let fits = host == 128 || u128::from(offset).checked_shr(host).unwrap_or(0) == 0;
        if !fits {
            return None;
        }
        match self.base {
            IpAddr::V4(_) => u32::try_from(address).ok().map(|address| IpAddr::V4(address.into())),
            IpAddr::V6(_) => Some(IpAddr::V6(address.into())),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.base, self.prefix)
    }
}

impl Serialize for Cidr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

parsed!(Address, {"type": "string", "pattern": "^[0-9a-fA-F:.]+$", "description": "An IPv4 or IPv6 address."});
parsed!(Cidr, {"type": "string", "pattern": "^[0-9a-fA-F:.]+/[0-9]{1,3}$", "description": "A range of addresses, such as 10.100.0.0/16."});

#[cfg(test)]
mod tests {
    use super::{Address, Cidr};

    #[test]
    fn ranges_know_their_members() {
        let range = Cidr::parse("10.100.0.0/16").unwrap();
        assert_eq!(range.nth(10).unwrap().to_string(), "10.100.0.10");
        assert_eq!(range.nth(65_535).unwrap().to_string(), "10.100.255.255");
        assert_eq!(range.nth(65_536), None);
        assert!(range.contains("10.100.3.4".parse().unwrap()));
        assert!(!range.contains("10.101.0.0".parse().unwrap()));
        assert!(!range.contains("::ffff:10.100.0.1".parse().unwrap()));
        let wide = Cidr::parse("fd00:10::/108").unwrap();
        assert_eq!(wide.nth(10).unwrap().to_string(), "fd00:10::a");
        assert_eq!(wide.nth(1 << 20), None);
        for everything in ["0.0.0.0/0", "::/0"] {
            let range = Cidr::parse(everything).unwrap();
            assert_eq!(range.to_string(), everything);
            assert!(range.nth(u32::MAX).is_some());
        }
        assert_eq!(Cidr::parse("10.0.0.1/32").unwrap().nth(1), None);
    }

    #[test]
    fn a_range_with_bits_beyond_its_prefix_hears_the_right_one() {
        assert_eq!(Cidr::parse("10.100.3.4/16").unwrap_err().hint, "write `10.100.0.0/16`");
        assert_eq!(Cidr::parse("fd00::1/64").unwrap_err().hint, "write `fd00::/64`");
        for wrong in ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0/8", "::/129", "/8", ""]
        {
            assert!(Cidr::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Address::parse("10.0.0.256").is_err());
    }
}
