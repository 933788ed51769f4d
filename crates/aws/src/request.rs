//! A request before it is sent and a response after it came.

use std::fmt;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Puts.
    Put,
    /// Posts.
    Post,
}

impl Method {
    /// As it stands in a request line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
        }
    }
}

/// A request, whole and signed. To be sent byte for byte as it is, `host` following from the URL; a client that
/// normalises paths or follows redirects breaks the signature.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// What it does.
    pub method: Method,
    /// Where it goes, percent-encoded.
    pub url: String,
    /// Its headers but `host` and `content-length`, with names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// Its body; empty for none.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Queries hold signatures, headers hold tokens, bodies hold names of secrets: none of them is shown.
impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.url.split_once('?').map_or(self.url.as_str(), |(place, _)| place);
        write!(formatter, "{} {place}", self.method.as_str())
    }
}

/// What came back.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    /// The status of HTTP.
    pub status: u16,
    /// The body, or as much of it as the caller was ready to read.
    pub body: &'a [u8],
}

/// Bodies may be credentials.
impl fmt::Debug for Response<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} with {} bytes", self.status, self.body.len())
    }
}
