//! AWS Signature Version 4, in headers or in the query.
//!
//! Paths are encoded once, as S3 has it. The other services that a node asks all have the path `/`, for which encoding
//! twice and removing dots, their rule, would change nothing.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::{Credentials, Method, Moment, Request};

/// A request before it is signed: nothing in it is encoded yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it does.
    pub method: Method,
    /// The host it goes to.
    pub host: String,
    /// The path, from its slash on.
    pub path: String,
    /// The query.
    pub query: Vec<(String, String)>,
    /// Headers, all of which are signed; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the body is signed, too.
    pub payload: Payload,
}

/// How the body takes part in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// By its hash.
    Hashed,
    /// Not at all; S3 alone takes that, over TLS.
    Unsigned,
}

impl Draft {
    /// A GET of the root.
    pub fn get(host: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            host: host.into(),
            path: "/".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Vec::new(),
            payload: Payload::Hashed,
        }
    }

    /// A call of the query protocol: a form, posted.
    pub(crate) fn form(host: String, fields: &[(&str, &str)]) -> Self {
        let body = encoded_pairs(fields.iter().copied());
        let content = "application/x-www-form-urlencoded; charset=utf-8".to_owned();
        Self {
            method: Method::Post,
            headers: vec![("content-type", content)],
            body: body.into_bytes(),
            ..Self::get(host)
        }
    }

    /// A call of the JSON protocol.
    pub(crate) fn json(host: String, target: &str, body: &serde_json::Value) -> Self {
        let content = "application/x-amz-json-1.1".to_owned();
        Self {
            method: Method::Post,
            headers: vec![("content-type", content), ("x-amz-target", target.to_owned())],
            body: body.to_string().into_bytes(),
            ..Self::get(host)
        }
    }

    fn payload_hash(&self) -> String {
        match self.payload {
            Payload::Hashed => hex(&Sha256::digest(&self.body)),
            Payload::Unsigned => "UNSIGNED-PAYLOAD".to_owned(),
        }
    }

    /// Where it goes, without a query.
    fn place(&self) -> String {
        format!("https://{}{}", self.host, encoded_path(&self.path))
    }

    /// The hash of the canonical request.
    fn digest(&self, signed: &SignedHeaders) -> String {
        let mut pairs: Vec<(String, String)> =
            self.query.iter().map(|(name, value)| (encoded(name), encoded(value))).collect();
        pairs.sort();
        let query: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let canonical = [
            self.method.as_str(),
            &encoded_path(&self.path),
            &query.join("&"),
            &signed.lines,
            "",
            &signed.names,
            &self.payload_hash(),
        ]
        .join("\n");
        hex(&Sha256::digest(canonical))
    }

    fn signed_headers(&self) -> SignedHeaders {
        let mut headers: Vec<(&str, String)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
            .collect();
        headers.push(("host", self.host.clone()));
        headers.sort();
        SignedHeaders {
            names: headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";"),
            lines: headers
                .iter()
                .map(|(name, value)| format!("{name}:{value}"))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

struct SignedHeaders {
    names: String,
    lines: String,
}

/// Who signs, for whom, and when.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    /// Whose signature it is.
    pub credentials: &'a Credentials,
    /// The region that is asked.
    pub region: &'a str,
    /// The service that is asked, as signatures name it.
    pub service: &'a str,
    /// Now. Servers refuse what is more than five minutes off.
    pub at: Moment,
}

impl Signer<'_> {
    /// The request with its signature in the headers.
    pub fn signed(&self, mut draft: Draft) -> Request {
        if self.service == "s3" {
            draft.headers.push(("x-amz-content-sha256", draft.payload_hash()));
        }
        draft.headers.push(("x-amz-date", self.at.stamp()));
        if let Some(token) = &self.credentials.session_token {
            draft.headers.push(("x-amz-security-token", token.expose().clone()));
        }
        let signed = draft.signed_headers();
        let signature = self.signature(&draft.digest(&signed));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={signature}",
            self.credentials.access_key_id,
            self.scope(),
            signed.names
        );
        draft.headers.push(("authorization", authorization));
        let query = encoded_pairs(draft.query.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let url = if query.is_empty() { draft.place() } else { format!("{}?{query}", draft.place()) };
        Request { method: draft.method, url, headers: draft.headers, body: draft.body }
    }

    /// The URL with its signature in the query. Whoever uses it has to send the draft's own headers.
    pub fn presigned(&self, mut draft: Draft, seconds: u32) -> String {
        let signed = draft.signed_headers();
        let credential = format!("{}/{}", self.credentials.access_key_id, self.scope());
        let mut add = |name: &str, value: String| draft.query.push((name.to_owned(), value));
        add("X-Amz-Algorithm", "AWS4-HMAC-SHA256".to_owned());
        add("X-Amz-Credential", credential);
        add("X-Amz-Date", self.at.stamp());
        add("X-Amz-Expires", seconds.to_string());
        add("X-Amz-SignedHeaders", signed.names.clone());
        if let Some(token) = &self.credentials.session_token {
            add("X-Amz-Security-Token", token.expose().clone());
        }
        let signature = self.signature(&draft.digest(&signed));
        let query = encoded_pairs(draft.query.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        format!("{}?{query}&X-Amz-Signature={signature}", draft.place())
    }

    fn scope(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.at.date(), self.region, self.service)
    }

    fn signature(&self, digest: &str) -> String {
        let secret = format!("AWS4{}", self.credentials.secret_access_key.expose());
        let key = [self.at.date().as_str(), self.region, self.service, "aws4_request"]
            .into_iter()
            .fold(secret.into_bytes(), |key, text| keyed_hash(&key, text).to_vec());
        let text = ["AWS4-HMAC-SHA256", &self.at.stamp(), &self.scope(), digest].join("\n");
        hex(&keyed_hash(&key, &text))
    }
}

fn keyed_hash(key: &[u8], text: &str) -> [u8; 32] {
    // A key of exactly one block cannot be refused: longer ones count as their hash, shorter ones as filled with
    // zeros, which is what HMAC says of them anyway.
    let hashed = Sha256::digest(key);
    let key: &[u8] = if key.len() > 64 { &hashed } else { key };
    let mut block = [0; 64];
    for (place, byte) in block.iter_mut().zip(key) {
        *place = *byte;
    }
    let mut hash = Hmac::<Sha256>::new(&block.into());
    hash.update(text.as_bytes());
    hash.finalize().into_bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Everything but letters, digits and `-._~` by its bytes.
fn encoded(text: &str) -> String {
    encoded_but(text, "")
}

/// One segment of a path that is not signed: what may stand there as it is does, since not every server decodes.
pub(crate) fn encoded_segment(text: &str) -> String {
    encoded_but(text, "!$&'()*+,;=:@")
}

fn encoded_path(text: &str) -> String {
    encoded_but(text, "/")
}

fn encoded_but(text: &str, kept: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        let letter = char::from(byte);
        if byte.is_ascii_alphanumeric() || "-._~".contains(letter) || kept.contains(letter) {
            encoded.push(letter);
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

pub(crate) fn encoded_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect::<Vec<_>>().join("&")
}
