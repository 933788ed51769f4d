//! What user-data is wrapped in: base64 and gzip, in any order, peeled off within bounds.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bringup_diag::{Finding, Place, Span};
use serde::{Serialize, Serializer};

use crate::codes;
use crate::gunzip::{GunzipFault, UNPACKED_LIMIT, gunzip, is_gzip};

/// More wrappings than this are a bomb: an API's base64 around a user's base64 around gzip is the most that is seen.
const DEPTH_LIMIT: usize = 6;

/// One wrapping, or the kind of content inside; the names are what `inspect --output json` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Base64 around everything.
    Base64,
    /// Gzip around everything.
    Gzip,
    /// A MIME message.
    Mime,
    /// `#cloud-config`, JSON patches to it included.
    CloudConfig,
    /// `#cloud-config-archive`.
    CloudConfigArchive,
    /// A script, boothooks included.
    Shellscript,
    /// `## template: jinja`.
    Jinja,
    /// An Ignition configuration.
    Ignition,
    /// A CloudFormation template.
    CloudFormation,
    /// What `aws … get-template` and its kin print.
    AwsJson,
    /// Bottlerocket's settings.
    Toml,
}

impl Layer {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base64 => "base64",
            Self::Gzip => "gzip",
            Self::Mime => "mime",
            Self::CloudConfig => "cloud-config",
            Self::CloudConfigArchive => "cloud-config-archive",
            Self::Shellscript => "shellscript",
            Self::Jinja => "jinja",
            Self::Ignition => "ignition",
            Self::CloudFormation => "cloudformation",
            Self::AwsJson => "aws-json",
            Self::Toml => "toml",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What is left when base64 and gzip are off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peeled {
    /// What was taken off, outermost first.
    pub layers: Vec<Layer>,
    /// The content, or the layer that could not be taken off.
    pub bytes: Vec<u8>,
    /// Why the peeling stopped before its end.
    pub refused: Option<Refused>,
}

/// Why an input is not read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It unpacks to more than [`UNPACKED_LIMIT`].
    TooLarge,
    /// Wrapped more often than any honest input.
    TooDeep,
    /// It starts like gzip but does not unpack.
    Corrupt,
}

impl Refused {
    /// The finding that tells of it.
    pub fn finding(self, file: &str) -> Finding {
        let place = Place::new(file, Span::point(1, 1));
        match self {
            Self::TooLarge => Finding::error(
                codes::TOO_LARGE,
                format!("unpacks to more than {} MiB and is not read further", UNPACKED_LIMIT >> 20),
            )
            .hint("user-data holds at most 1 MiB anywhere; check what was packed here"),
            Self::TooDeep => Finding::error(
                codes::TOO_DEEP,
                format!("wrapped in more than {DEPTH_LIMIT} layers of gzip and base64"),
            )
            .hint("pack user-data once: gzip, then base64 only where the API asks for it"),
            Self::Corrupt => Finding::error(codes::CORRUPT_GZIP, "starts like gzip but does not unpack")
                .hint("check that the bytes were not cut short or changed as text on their way"),
        }
        .at(place)
    }
}

/// Takes base64 and gzip off until something else is left.
///
/// cloud-init itself unpacks one gzip and no base64 (EC2's source does, from 24.1): base64 is what APIs and templates
/// carry, so it is taken off whenever the whole input is nothing else.
pub fn peel(bytes: &[u8]) -> Peeled {
    let mut peeled = Peeled { layers: Vec::new(), bytes: bytes.to_vec(), refused: None };
    loop {
        let (layer, inner) = if is_gzip(&peeled.bytes) {
            match gunzip(&peeled.bytes) {
                Ok(inner) => (Layer::Gzip, inner),
                Err(GunzipFault::TooLarge) => return Peeled { refused: Some(Refused::TooLarge), ..peeled },
                Err(GunzipFault::Corrupt) => return Peeled { refused: Some(Refused::Corrupt), ..peeled },
            }
        } else if let Some(inner) = base64_content(&peeled.bytes) {
            (Layer::Base64, inner)
        } else {
            return peeled;
        };
        if peeled.layers.len() >= DEPTH_LIMIT {
            return Peeled { refused: Some(Refused::TooDeep), ..peeled };
        }
        peeled.layers.push(layer);
        peeled.bytes = inner;
    }
}

/// The content, if the whole input is base64 of gzip or of text. A word that merely could be base64 stays a word.
fn base64_content(bytes: &[u8]) -> Option<Vec<u8>> {
    let letters: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if letters.len() < 8 {
        return None;
    }
    let decoded = STANDARD.decode(&letters).ok()?;
    let is_text = std::str::from_utf8(&decoded)
        .is_ok_and(|text| text.chars().all(|letter| !letter.is_control() || letter.is_whitespace()));
    (is_gzip(&decoded) || is_text).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::{DEPTH_LIMIT, Layer, Refused, peel};
    use crate::gunzip::{UNPACKED_LIMIT, tests::gzip};

    #[test]
    fn base64_of_gzip_of_a_script() {
        let script = b"#!/bin/sh\necho hello\n";
        let mut wrapped = STANDARD.encode(gzip(script)).into_bytes();
        wrapped.insert(20, b'\n');
        wrapped.push(b'\n');
        let peeled = peel(&wrapped);
        assert_eq!(peeled.layers, [Layer::Base64, Layer::Gzip]);
        assert_eq!(peeled.bytes, script);
        assert_eq!(peeled.refused, None);
    }

    #[test]
    fn words_and_scripts_are_not_base64() {
        for text in ["password", "kubernetes", "#!/bin/sh\n", "", "deadbeefdeadbeef"] {
            assert_eq!(peel(text.as_bytes()).layers, [], "{text}");
        }
    }

    #[test]
    fn bombs_are_refused() {
        let bomb = gzip(&vec![b'a'; UNPACKED_LIMIT + 1]);
        assert_eq!(peel(&bomb).refused, Some(Refused::TooLarge));
        let mut nest = b"#!/bin/sh\n".to_vec();
        for _ in 0..=DEPTH_LIMIT {
            nest = gzip(&nest);
        }
        assert_eq!(peel(&nest).refused, Some(Refused::TooDeep));
        assert_eq!(peel(b"\x1f\x8b\x08junk").refused, Some(Refused::Corrupt));
    }
}
