//! Lengths of time.

use std::fmt;

use serde::Serialize;

use super::{Fault, quoted};
use crate::decode::parsed;

/// A length of time in milliseconds, written as `90s`, `5m` or `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Span {
    /// Milliseconds.
    pub milliseconds: u64,
}

impl Span {
    /// So many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self { milliseconds: seconds * 1000 }
    }

    /// Reads a length of time.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(
                format!("{} is no length of time", quoted(text)),
                "write a number with a unit, such as `500ms`, `90s`, `5m` or `1h30m`",
            )
        };
        let mut rest = text;
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let (number, tail) = rest.split_at(digits);
            let unit_length =
                tail.len() - tail.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).len();
            let (unit, tail) = tail.split_at(unit_length);
            let factor = match unit {
                "ms" => 1,
                "s" => 1000,
                "m" => 60_000,
                "h" => 3_600_000,
                _ => return Err(wrong()),
            };
            let number: u64 = number.parse().map_err(|_| wrong())?;
            total = number.checked_mul(factor).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
            rest = tail;
        }
        if text.is_empty() { Err(wrong()) } else { Ok(Self { milliseconds: total }) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.milliseconds;
        if rest == 0 {
            return formatter.write_str("0s");
        }
        for (unit, factor) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
            if rest >= factor {
                write!(formatter, "{}{unit}", rest / factor)?;
                rest %= factor;
            }
        }
        Ok(())
    }
}

parsed!(Span, {"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"}, written: ToString::to_string);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Span;

    #[test]
    fn lengths_of_time_are_read_in_milliseconds() {
        let milliseconds = |text: &str| Span::parse(text).map(|span| span.milliseconds);
        assert_eq!(milliseconds("500ms"), Ok(500));
        assert_eq!(milliseconds("90s"), Ok(90_000));
        assert_eq!(milliseconds("1h30m"), Ok(5_400_000));
        assert_eq!(milliseconds("0s"), Ok(0));
        for wrong in [
            "",
            "5",
            "m",
            "-5s",
            "+5s",
            "1.5h",
            "5 m",
            "5M",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_the_same(milliseconds in any::<u64>()) {
            let span = Span { milliseconds };
            prop_assert_eq!(Span::parse(&span.to_string()), Ok(span));
        }
    }
}
