//! What value a field or a flag takes.

use std::fmt;

use crate::quantity::{duration_nanoseconds, is_quantity};

/// What value a field or a flag takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds.
    Integer {
        /// The smallest.
        least: i64,
        /// The largest.
        most: u64,
    },
    /// Any number.
    Float,
    /// Any text.
    String,
    /// One of a few texts, or empty for kubelet's default.
    OneOf(Vec<&'static str>),
    /// A Go duration, such as `1m30s`.
    Duration {
        /// Whether null leaves the field alone; to most durations it is an error.
        nullable: bool,
    },
    /// A Go duration, or a whole number of nanoseconds.
    DurationOrNanoseconds,
    /// A Kubernetes quantity, such as `512Mi`.
    Quantity,
    /// A time as in RFC 3339.
    Time,
    /// An object with fields of its own.
    Struct,
    /// A list.
    List(Box<Kind>),
    /// A map with free keys.
    Map(Box<Kind>),
    /// A flag's value with a grammar of its own: taints, addresses, reserved memory, module patterns.
    Text,
    /// The flag `--version`: alone, or `true`, `false`, `raw`.
    Version,
}

impl Kind {
    /// Reads the table's notation.
    pub(crate) fn parse(text: &'static str) -> Option<Self> {
        if let Some(element) = text.strip_prefix("[]") {
            return Some(Self::List(Box::new(Self::parse(element)?)));
        }
        if let Some(value) = text.strip_prefix("{}") {
            return Some(Self::Map(Box::new(Self::parse(value)?)));
        }
        if let Some(values) = text.strip_prefix("string(").and_then(|rest| rest.strip_suffix(')')) {
            return Some(Self::OneOf(values.split('|').collect()));
        }
        Some(match text {
            "bool" => Self::Bool,
            "int32" => Self::Integer { least: i32::MIN.into(), most: i32::MAX.unsigned_abs().into() },
            "int64" => Self::Integer { least: i64::MIN, most: i64::MAX.unsigned_abs() },
            "uint32" => Self::Integer { least: 0, most: u32::MAX.into() },
            "uint64" => Self::Integer { least: 0, most: u64::MAX },
            "float64" => Self::Float,
            "string" => Self::String,
            "duration" => Self::Duration { nullable: false },
            "duration?" => Self::Duration { nullable: true },
            "duration-or-nanoseconds" => Self::DurationOrNanoseconds,
            "quantity" => Self::Quantity,
            "time" => Self::Time,
            "struct" => Self::Struct,
            "taints" | "ip" | "reserved-memory" | "vmodule" => Self::Text,
            "version" => Self::Version,
            _ => return None,
        })
    }

    /// Whether a flag of this kind takes `text`; `None` is the flag alone, without a value.
    pub fn accepts_text(&self, text: Option<&str>) -> bool {
        let Some(text) = text else {
            return matches!(self, Self::Bool | Self::Version);
        };
        match self {
            Self::Bool => is_go_bool(text),
            Self::Version => is_go_bool(text) || text == "raw" || text.starts_with('v'),
            Self::Integer { least, most } => is_integer_text(text, *least, *most),
            Self::Float => text.parse::<f64>().is_ok(),
            Self::Duration { .. } | Self::DurationOrNanoseconds => duration_nanoseconds(text).is_some(),
            Self::Quantity => is_quantity(text),
            Self::OneOf(values) => text.is_empty() || values.contains(&text),
            // Pairs of maps are separated by `=`, `<` or `:`, depending on the flag.
            Self::Map(value) => pairs(text).all(|pair| match pair.split_once(['=', '<', ':']) {
                Some((_, given)) => **value != Self::Bool || is_go_bool(given.trim()),
                None => false,
            }),
            Self::String | Self::Text | Self::Time | Self::Struct | Self::List(_) => true,
        }
    }
}

fn pairs(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|pair| !pair.trim().is_empty())
}

/// The texts that Go's `strconv.ParseBool` takes.
fn is_go_bool(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True" | "0" | "f" | "F" | "FALSE" | "false" | "False")
}

fn is_integer_text(text: &str, least: i64, most: u64) -> bool {
    match text.parse::<i128>() {
        Ok(number) => number >= i128::from(least) && number <= i128::from(most),
        // pflag reads numbers with base 0: `0x10` counts.
        Err(_) => text
            .strip_prefix("0x")
            .is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok_and(|n| n <= most)),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "`true` or `false`"),
            Self::Integer { least, most } => match (*least, *most) {
                (0, _) => write!(f, "a whole number from 0 to {most}"),
                (least, most) if most > u64::from(u32::MAX) || least == i64::MIN => {
                    write!(f, "a whole number")
                }
                (least, most) => write!(f, "a whole number from {least} to {most}"),
            },
            Self::Float => write!(f, "a number"),
            Self::String => write!(f, "a string"),
            Self::OneOf(values) => {
                write!(f, "one of ")?;
                for (i, value) in values.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}`{value}`")?;
                }
                Ok(())
            }
            Self::Duration { .. } => write!(f, "a duration such as `1m30s`"),
            Self::DurationOrNanoseconds => {
                write!(f, "a duration such as `5s`, or a whole number of nanoseconds")
            }
            Self::Quantity => write!(f, "a quantity such as `512Mi`"),
            Self::Time => write!(f, "a time such as `2024-01-02T03:04:05Z`"),
            Self::Struct => write!(f, "a mapping"),
            Self::List(element) => write!(f, "a list, each entry {element}"),
            Self::Map(value) => write!(f, "a mapping, each value {value}"),
            Self::Text => write!(f, "text"),
            Self::Version => write!(f, "`true`, `false` or `raw`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(kind: &'static str, text: &str) -> bool {
        Kind::parse(kind).unwrap().accepts_text(Some(text))
    }

    #[test]
    fn flag_values_follow_go() {
        assert!(accepts("bool", "T") && !accepts("bool", "yes"));
        assert!(accepts("int32", "-1") && !accepts("int32", "2147483648") && accepts("int32", "0x10"));
        assert!(accepts("uint32", "0") && !accepts("uint32", "-1"));
        assert!(
            accepts("duration", "1h30m") && !accepts("duration", "5 minutes") && !accepts("duration", "5")
        );
        assert!(
            accepts("{}bool", "A=true,B=false") && !accepts("{}bool", "A=yes") && !accepts("{}bool", "A")
        );
        assert!(accepts("{}string", "memory.available<100Mi,nodefs.available<10%"));
        assert!(accepts("quantity", "4Ki") && !accepts("quantity", "four"));
    }

    #[test]
    fn only_booleans_and_version_stand_alone() {
        assert!(Kind::Bool.accepts_text(None) && Kind::Version.accepts_text(None));
        assert!(!Kind::String.accepts_text(None));
    }

    #[test]
    fn a_kind_reads_as_what_to_write() {
        let said = |kind| Kind::parse(kind).unwrap().to_string();
        assert_eq!(said("int32"), "a whole number from -2147483648 to 2147483647");
        assert_eq!(said("int64"), "a whole number");
        assert_eq!(said("uint32"), "a whole number from 0 to 4294967295");
        assert_eq!(said("{}[]string"), "a mapping, each value a list, each entry a string");
        assert_eq!(said("string(Get|Cache)"), "one of `Get`, `Cache`");
        assert_eq!(Kind::parse("complex128"), None);
    }
}
