//! Names, paths, addresses of the web and digests.

use std::fmt;

use bringup_yaml::Node;
use serde::Serialize;

use super::{Fault, authority_fault, quoted};
use crate::decode::{Decode, Reader, Schemas, parsed, parsed_scalar};

macro_rules! text_newtype {
    ($(#[doc = $about:literal])+ $name:ident) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_newtype! {
    /// A name that is safe in file names, unit names and Kubernetes objects.
    Name
}

impl Name {
    /// Reads a name: lower-case letters, digits and dashes, at most 63.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        let edge = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        };
        if text.len() <= 63
            && text.chars().all(inner)
            && edge(text.chars().next())
            && edge(text.chars().last())
        {
            return Ok(Self(text.to_owned()));
        }
        let suggestion = Self::nearest(text);
        let hint = if suggestion.is_empty() {
            "write one such as `gpu-workers`".to_owned()
        } else {
            format!("write `{suggestion}`")
        };
        Err(Fault::new(
            format!("{} is no name: lower-case letters, digits and `-`, at most 63", quoted(text)),
            hint,
        ))
    }
}

impl Name {
    /// What can be said of a text in letters that a name may have; empty if nothing can.
    fn nearest(text: &str) -> String {
        let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let lower = text.to_ascii_lowercase();
        let letters = lower.chars().map(|letter| if fits(letter) { letter } else { '-' });
        letters.take(63).collect::<String>().trim_matches('-').to_owned()
    }
}

impl Decode for Name {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        // The name that was meant keeps what refers to it together.
        parsed_scalar(node, reader, false, Self::parse)
            .or_else(|| Self::parse(&Self::nearest(node.text()?)).ok())
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        serde_json::json!({"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"})
    }
}

text_newtype! {
    /// A path on the node, absolute and without `..`.
    AbsolutePath
}

impl AbsolutePath {
    /// The kernel's limits, in bytes: for a path with its end, and for each of its parts.
    const MOST: usize = 4096;
    const MOST_OF_A_PART: usize = 255;

    /// Reads a path.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if Self::is_plain(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.len() >= Self::MOST || text.split('/').any(|part| part.len() > Self::MOST_OF_A_PART) {
            return Err(Fault::new(
                format!("{} is longer than Linux allows", quoted(text)),
                "write at most 255 bytes between slashes, and 4095 in all",
            ));
        }
        if let Some(hint) = Self::home(text) {
            return Err(Fault::new(format!("{} is no path on the node", quoted(text)), hint));
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let suggestion = format!("/{}", parts.join("/"));
        let hint = if Self::is_plain(&suggestion) && suggestion.len() <= 60 {
            format!("write `{suggestion}`")
        } else {
            "write an absolute path without `..`, such as `/etc/example.conf`".to_owned()
        };
        Err(Fault::new(format!("{} is no path on the node", quoted(text)), hint))
    }

    /// What to write instead of a `~`, which only a shell turns into a directory.
    fn home(text: &str) -> Option<String> {
        let rest = text.strip_prefix('~')?;
        let (user, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let home = match user {
            "" => format!("/home/USER{below}"),
            "root" => format!("/root{below}"),
            _ => format!("/home/{user}{below}"),
        };
        let is_short = Self::is_plain(&home) && home.len() <= 60;
        is_short.then(|| format!("write the home directory out, such as `{home}`"))
    }

    fn is_plain(text: &str) -> bool {
        text.starts_with('/')
            && text.len() > 1
            && text.len() < Self::MOST
            && !text.split('/').any(|part| part.len() > Self::MOST_OF_A_PART)
            && !text.ends_with('/')
            && !text.contains("//")
            && !text.chars().any(char::is_control)
            && !text.split('/').any(|part| part == ".." || part == ".")
    }
}

text_newtype! {
    /// An address that can be fetched from.
    Url
}

impl Url {
    /// The schemes that the agent fetches from.
    const SCHEMES: [&'static str; 4] = ["https://", "http://", "s3://", "file:///"];

    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let found = Self::SCHEMES.iter().find_map(|scheme| Some((*scheme, text.strip_prefix(scheme)?)));
        let is_one_word = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
        let Some((scheme, rest)) = found.filter(|(_, rest)| is_one_word && !rest.is_empty()) else {
            return Err(Fault::new(
                format!("{} is no address to fetch from", quoted(text)),
                "write one that starts with `https://`, `http://`, `s3://` or `file:///`",
            ));
        };
        let fault = match scheme {
            "s3://" => (!is_object(rest)).then(|| {
                Fault::new(format!("{} names no object in S3", quoted(text)), "write `s3://BUCKET/KEY`")
            }),
            "file:///" => None,
            _ => {
                let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
                // What stands before an `@` is a user, and maybe a password.
                let host = authority.rsplit('@').next().unwrap_or_default();
                authority_fault(host)
                    .map(|fault| Fault::new(format!("in this address, {}", fault.message), fault.hint))
            }
        };
        fault.map_or_else(|| Ok(Self(text.to_owned())), Err)
    }
}

text_newtype! {
    /// A SHA-256 digest in lower-case hex.
    Sha256
}

impl Sha256 {
    /// Reads a digest.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let hex = text.strip_prefix("sha256:").or_else(|| text.strip_prefix("sha256-")).unwrap_or(text);
        if hex.len() == 64 && hex.chars().all(|digit| digit.is_ascii_hexdigit()) {
            Ok(Self(hex.to_ascii_lowercase()))
        } else {
            Err(Fault::new(
                "this is no SHA-256 digest: 64 hexadecimal digits",
                "paste the first word that `sha256sum FILE` prints",
            ))
        }
    }
}

/// Whether this is `BUCKET/KEY`.
pub(crate) fn is_object(text: &str) -> bool {
    text.split_once('/').is_some_and(|(bucket, key)| !bucket.is_empty() && !key.is_empty())
}

parsed!(AbsolutePath, {"type": "string", "pattern": "^/"});
parsed!(Url, {"type": "string", "pattern": "^(https?://|s3://|file:///)"});
parsed!(Sha256, {"type": "string", "pattern": "^(sha256[:-])?[0-9a-fA-F]{64}$"});

#[cfg(test)]
mod tests {
    use super::{AbsolutePath, Name, Sha256, Url};

    #[test]
    fn names_hear_what_they_could_be() {
        assert!(Name::parse("gpu-1").is_ok());
        assert!(Name::parse(&"a".repeat(63)).is_ok());
        assert!(Name::parse(&"a".repeat(64)).is_err());
        assert_eq!(Name::parse("GPU workers").unwrap_err().hint, "write `gpu-workers`");
        assert_eq!(Name::parse("-").unwrap_err().hint, "write one such as `gpu-workers`");
    }

    #[test]
    fn paths_hear_what_they_could_be() {
        assert_eq!(AbsolutePath::parse("/etc/x/").unwrap_err().hint, "write `/etc/x`");
        assert_eq!(AbsolutePath::parse("etc//./x").unwrap_err().hint, "write `/etc/x`");
        let home = "write the home directory out, such as `/home/USER/a`";
        assert_eq!(AbsolutePath::parse("~/a").unwrap_err().hint, home);
        assert_eq!(
            AbsolutePath::parse("~").unwrap_err().hint,
            "write the home directory out, such as `/home/USER`"
        );
        assert_eq!(
            AbsolutePath::parse("~core/.bashrc").unwrap_err().hint,
            "write the home directory out, such as `/home/core/.bashrc`"
        );
        assert_eq!(
            AbsolutePath::parse("~/../a").unwrap_err().hint,
            "write an absolute path without `..`, such as `/etc/example.conf`"
        );
        for wrong in ["/", "", "/etc/../x", "/a\nb"] {
            assert!(AbsolutePath::parse(wrong).unwrap_err().hint.contains("without `..`"), "{wrong:?}");
        }
    }

    #[test]
    fn addresses_are_of_known_schemes_and_keep_passwords_to_themselves() {
        assert!(Url::parse("s3://bucket/key").is_ok());
        for wrong in ["ftp://x", "https://", "example.com/x", "https://a b"] {
            assert!(Url::parse(wrong).is_err(), "{wrong}");
        }
        let fault = Url::parse("https://me:hunter2@host/a b").unwrap_err();
        assert!(!fault.message.contains("hunter2"), "{}", fault.message);
    }

    #[test]
    fn digests_are_kept_in_lower_case() {
        let hex = "ABCDEF0123456789".repeat(4);
        assert_eq!(Sha256::parse(&format!("sha256:{hex}")).unwrap().as_str(), hex.to_lowercase());
        assert!(Sha256::parse(&hex[1..]).is_err());
    }
}
