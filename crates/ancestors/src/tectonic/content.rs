//! What is in a file of an Ignition config: a data URL, a text in the config itself, or an address with a digest.

use std::fmt::Write as _;
use std::io::Read as _;

use bringup_spec::data_url;
use bringup_yaml::Node;
use sha2::{Digest as _, Sha256, Sha512};

/// Nothing that a node is configured with is honestly larger.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Where the content of a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It is in the config.
    Inline(Vec<u8>),
    /// It is fetched: the address, the digest as written, and whether it is unpacked.
    Remote { url: String, hash: Option<String>, packed: bool },
    /// A file beside the config: its name.
    Beside(String),
    /// It cannot be read: why.
    Broken(&'static str),
    /// It has another hash than the one that is said: that one, and its own.
    Other { said: String, has: String },
    /// Of a hash that Ignition does not know.
    UnknownHash(String),
}

/// The source of a file's `contents`; none if nothing is said. What is in the config has the hash that is said of it.
pub(super) fn source(contents: &Node) -> Option<Source> {
    let source = unverified(contents)?;
    let remote = contents.get("remote").filter(|remote| remote.entries().is_some());
    let (Source::Inline(bytes), Some(said)) = (&source, hash(remote.unwrap_or(contents))) else {
        return Some(source);
    };
    // Ignition hashes what has been unpacked.
    let (kind, sum) = said.split_once('-').unwrap_or((said.as_str(), ""));
    let has = match kind {
        "sha256" => hex(&Sha256::digest(bytes)),
        "sha512" => hex(&Sha512::digest(bytes)),
        _ => return Some(Source::UnknownHash(said)),
    };
    if has.eq_ignore_ascii_case(sum) {
        return Some(source);
    }
    let has = format!("{kind}-{has}");
    Some(Source::Other { said, has })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn unverified(contents: &Node) -> Option<Source> {
    let said = |key: &str| contents.get(key).and_then(Node::text).filter(|text| !text.is_empty());
    if let Some(inline) = contents.get("inline").and_then(Node::text) {
        return Some(Source::Inline(inline.as_bytes().to_vec()));
    }
    if let Some(local) = said("local") {
        return Some(Source::Beside(local.to_owned()));
    }
    let remote = contents.get("remote").filter(|remote| remote.entries().is_some());
    let given = remote.unwrap_or(contents);
    let url = given.get("source").or_else(|| given.get("url"))?;
    let packed = given.get("compression").and_then(Node::text) == Some("gzip");
    let url = url.text().filter(|_| !crate::fields::is_nothing(url))?;
    if url.is_empty() {
        return Some(Source::Inline(Vec::new()));
    }
    if !url.starts_with("data:") {
        return Some(Source::Remote { url: url.to_owned(), hash: hash(given), packed });
    }
    let Some(bytes) = data_url::decode(url) else {
        return Some(Source::Broken("this data URL does not decode"));
    };
    if !packed {
        return Some(Source::Inline(bytes));
    }
    let mut whole = Vec::new();
    let unpacked =
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(LARGEST + 1).read_to_end(&mut whole);
    Some(match unpacked {
        Ok(_) if whole.len() as u64 <= LARGEST => Source::Inline(whole),
        Ok(_) => Source::Broken("this unpacks to more than 16 MiB"),
        Err(_) => Source::Broken("this is said to be gzip, and does not unpack"),
    })
}

/// The hash that is said: `KIND-HEX`, or Container Linux Config's `{function: KIND, sum: HEX}`.
pub(super) fn hash(given: &Node) -> Option<String> {
    let hash = given.get("verification")?.get("hash")?;
    if let Some(text) = hash.text() {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let part = |key: &str| hash.get(key).and_then(Node::text);
    Some(format!("{}-{}", part("function")?, part("sum")?))
}

#[cfg(test)]
mod tests {
    use bringup_yaml::{Limits, parse_one};

    use super::*;

    fn of(yaml: &str) -> Option<Source> {
        source(&parse_one(yaml, Limits::default()).unwrap().unwrap())
    }

    #[test]
    fn content_is_read_in_every_form() {
        let hi = Some(Source::Inline(b"hi\n".to_vec()));
        assert_eq!(of(r#"{"source": "data:,hi%0A"}"#), hi);
        assert_eq!(of(r#"{"source": "data:text/plain;charset=utf-8;base64,aGkK", "verification": {}}"#), hi);
        // printf 'hi\n' | gzip -n | base64
        let packed = r#"{"source": "data:;base64,H4sIAAAAAAAAA8vI5AIAenpv7QMAAAA=", "compression": "gzip"}"#;
        assert_eq!(of(packed), hi);
        assert_eq!(of("inline: |\n  hi\n"), hi);
        assert_eq!(of(r#"{"source": ""}"#), Some(Source::Inline(Vec::new())));
        assert_eq!(
            of(r#"{"source": "data:;base64,?"}"#),
            Some(Source::Broken("this data URL does not decode"))
        );
        let remote = |hash: &str| {
            Some(Source::Remote { url: "https://a/b".to_owned(), hash: Some(hash.to_owned()), packed: false })
        };
        assert_eq!(
            of(r#"{"source": "https://a/b", "verification": {"hash": "sha512-ab"}}"#),
            remote("sha512-ab")
        );
        let transpiled = "remote: {url: https://a/b, verification: {hash: {function: sha512, sum: cd}}}";
        assert_eq!(of(transpiled), remote("sha512-cd"));
        assert_eq!(of("{}"), None);
    }
}
