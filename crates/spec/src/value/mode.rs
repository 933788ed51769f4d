//! Modes and owners of files.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::{Fault, quoted};
use crate::decode::parsed;

/// Permission bits, written as four octal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mode(pub u32);

impl Mode {
    /// What people mean when they write a mode as a decimal number.
    const USUAL: [u32; 8] = [0o400, 0o440, 0o444, 0o600, 0o640, 0o644, 0o700, 0o755];

    /// Reads a mode. A bare `644` is refused: read as a decimal number it would be another mode.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let four = text.len() == 4 || (text.len() == 5 && text.starts_with('0'));
        let octal = four && text.chars().all(|digit| digit.is_digit(8));
        match u32::from_str_radix(text, 8) {
            Ok(mode) if octal => Ok(Self(mode)),
            Ok(mode) if mode <= 0o7777 => {
                let mut hint = format!("write \"{mode:04o}\"");
                // JSON and Ignition have modes in decimal: 420 is 0644.
                if let Some(decimal) =
                    text.parse::<u32>().ok().filter(|decimal| Self::USUAL.contains(decimal))
                {
                    let _ = write!(hint, ", or \"{decimal:04o}\" if that is a decimal number");
                }
                Err(Fault::new(format!("{} does not look like an octal mode", quoted(text)), hint))
            }
            _ => Err(Fault::new(
                format!("{} is no file mode", quoted(text)),
                "write four octal digits in quotes, such as \"0644\"",
            )),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04o}", self.0)
    }
}

impl Serialize for Mode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `user:group`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The user's name or number.
    pub user: String,
    /// The group's name or number.
    pub group: String,
}

impl Owner {
    /// The superuser.
    pub fn root() -> Self {
        Self { user: "root".to_owned(), group: "root".to_owned() }
    }

    /// Reads `user:group`; a lone `user` means the group of the same name.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let (user, group) = text.split_once(':').unwrap_or((text, text));
        let fits = |name: &str| {
            !name.is_empty()
                && name.len() <= 32
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
                && !name.starts_with('-')
        };
        if fits(user) && fits(group) {
            Ok(Self { user: user.to_owned(), group: group.to_owned() })
        } else {
            Err(Fault::new(
                format!("{} is no owner", quoted(text)),
                "write `user:group`, such as `root:root`",
            ))
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.user, self.group)
    }
}

impl Serialize for Owner {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

parsed!(Mode, {"type": "string", "pattern": "^0?[0-7]{4}$"}, written: ToString::to_string);
parsed!(Owner, {"type": "string", "pattern": "^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,31}(:[A-Za-z0-9_.][A-Za-z0-9_.-]{0,31})?$"}, written: ToString::to_string);

#[cfg(test)]
mod tests {
    use super::{Mode, Owner};

    #[test]
    fn modes_are_four_octal_digits() {
        assert_eq!(Mode::parse("0644"), Ok(Mode(0o644)));
        assert_eq!(Mode::parse("04755"), Ok(Mode(0o4755)));
        for (text, mode) in [("4755", 0o4755), ("1777", 0o1777), ("2755", 0o2755)] {
            assert_eq!(Mode::parse(text), Ok(Mode(mode)));
        }
        assert_eq!(Mode(0o600).to_string(), "0600");
        assert_eq!(Mode::parse("644").unwrap_err().hint, "write \"0644\"");
        for wrong in ["", "0", "0888", "rw-r--r--", "0o644", "+644", "077777"] {
            assert!(Mode::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lone_owner_has_the_group_of_the_same_name() {
        assert_eq!(Owner::parse("core").unwrap().to_string(), "core:core");
        assert_eq!(Owner::parse("0:0").unwrap().to_string(), "0:0");
        for wrong in ["", ":", "root:", "a b", "-x", "root:root:root"] {
            assert!(Owner::parse(wrong).is_err(), "{wrong}");
        }
    }
}
