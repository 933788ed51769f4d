//! How the nodes of a cluster follow one another when they are upgraded.

use crate::decode::{choices, parsed, record};

record! {
    /// How nodes are upgraded. No plan holds it: it is for whoever drives the upgrade.
    "`upgrade`" pub struct Upgrade {
        /// Whether a node is upgraded as soon as it is its turn, or when somebody asks for it.
        "mode" => mode: UpgradeMode = UpgradeMode::Manual,
        /// How many pods of the cluster, or which share of them, may be unready when the next node takes its turn.
        "maxUnready" => max_unready: Option<Share>,
        /// Whether a node's pods are moved away first.
        "drain" => drain: bool = false,
    }
}

choices! {
    /// Who starts the upgrade of a node.
    "mode of upgrades" pub enum UpgradeMode {
        /// One node behind the other, without being asked for.
        Auto = "auto",
        /// Each node when somebody asks for it.
        Manual = "manual",
    }
}

/// A number, or a share in percent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Share(String);

impl Share {
    /// Reads a number, or a share such as `20%`.
    pub fn parse(text: &str) -> Result<Self, crate::Fault> {
        let (digits, most) = match text.strip_suffix('%') {
            Some(digits) => (digits, 100),
            None => (text, 999_999_999),
        };
        let fits = (1..=9).contains(&digits.len())
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && digits.parse::<u32>().is_ok_and(|number| number <= most);
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            let message = format!("`{text}` is neither a number nor a share");
            Err(crate::Fault::new(message, "write a number such as 2, or a share such as \"20%\""))
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

parsed!(Share, {"type": ["string", "integer"], "pattern": "^([0-9]{1,9}|[0-9]{1,2}%|100%)$"}, bare_numbers: true);

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        for text in ["0", "3", "20%", "100%"] {
            assert!(Share::parse(text).is_ok(), "{text}");
        }
        for text in ["", "%", "-1", "101%", "a", "1.5", "4300000000"] {
            assert!(Share::parse(text).is_err(), "{text}");
        }
    }
}
