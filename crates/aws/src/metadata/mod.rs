//! The instance metadata service, version 2 only: questions, and what the answers mean.
//!
//! A session begins with [`token_request`]; each [`Question`] then makes its request and judges its answer. There is no
//! way back to version 1: a service that gives no token is a fault that a person has to see.

mod answers;
mod facts;

pub use answers::{Answer, MetadataFault, Passing};
pub use facts::IdentityDocument;

use answers::Unfit;

use crate::sign::encoded_segment;
use crate::{Credentials, Method, Request, Response, Secret};

/// Where the service is, by IPv4.
pub const ADDRESS: &str = "http://169.254.169.254";

/// Where it is on subnets that have IPv6 only.
pub const ADDRESS_IPV6: &str = "http://[fd00:ec2::254]";

/// No answer to a question here is longer.
const LONGEST: usize = 64 * 1024;

/// What a try brought.
#[derive(Clone, Copy, Debug)]
pub enum Tried<'a> {
    /// A response.
    Response(Response<'a>),
    /// None: refused, cut off or out of time, in the words of whoever tried.
    Silence(&'a str),
}

/// What lets us ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionToken(Secret<String>);

/// Asks for a token that is good for this many seconds, six hours at most.
pub fn token_request(base: &str, seconds: u32) -> Request {
    Request {
        method: Method::Put,
        url: format!("{base}/latest/api/token"),
        headers: vec![("x-aws-ec2-metadata-token-ttl-seconds", seconds.min(21_600).to_string())],
        body: Vec::new(),
    }
}

/// What the answer to [`token_request`] means.
pub fn token(tried: Tried<'_>) -> Answer<SessionToken> {
    const WHAT: &str = "a session token";
    let response = match tried {
        Tried::Silence(why) => return Answer::Transient(Passing::NoToken { why: why.to_owned() }),
        Tried::Response(response) => response,
    };
    match response.status {
        200 => match facts::token(response.body) {
            Some(token) => Answer::Value(SessionToken(Secret::new(token))),
            None => Answer::Transient(Passing::Garbage { what: WHAT }),
        },
        403 => Answer::Permanent(MetadataFault::Forbidden),
        404 | 405 => Answer::Permanent(MetadataFault::NoVersion2 { status: response.status }),
        status => Answer::of_status(WHAT, status),
    }
}

/// One question, and how to read its answer.
#[derive(Clone, Debug)]
pub struct Question<T> {
    what: &'static str,
    path: String,
    absent: bool,
    read: fn(&[u8]) -> Result<T, Unfit>,
}

impl<T> Question<T> {
    fn new(what: &'static str, path: impl Into<String>, read: fn(&[u8]) -> Result<T, Unfit>) -> Self {
        Self { what, path: path.into(), absent: false, read }
    }

    /// That the service does not know is an answer, too.
    fn or_absent(mut self) -> Self {
        self.absent = true;
        self
    }

    /// What is asked for, in words.
    pub const fn what(&self) -> &'static str {
        self.what
    }

    /// The request.
    pub fn request(&self, base: &str, token: &SessionToken) -> Request {
        Request {
            method: Method::Get,
            url: format!("{base}/latest/{}", self.path),
            headers: vec![("x-aws-ec2-metadata-token", token.0.expose().clone())],
            body: Vec::new(),
        }
    }

    /// What the answer means. `renewed` says that the token was asked for because of a refusal of this very question, so
    /// that another new one would not help.
    pub fn judge(&self, tried: Tried<'_>, renewed: bool) -> Answer<T> {
        let response = match tried {
            Tried::Silence(why) => {
                return Answer::Transient(Passing::Silent { what: self.what, why: why.to_owned() });
            }
            Tried::Response(response) => response,
        };
        match response.status {
            200 if response.body.len() <= LONGEST => match (self.read)(response.body) {
                Ok(value) => Answer::Value(value),
                Err(Unfit::Garbage) => Answer::Transient(Passing::Garbage { what: self.what }),
                Err(Unfit::Fault(fault)) => Answer::Permanent(fault),
            },
            200 => Answer::Transient(Passing::Garbage { what: self.what }),
            401 if !renewed => Answer::RenewToken,
            401 => Answer::Permanent(MetadataFault::TokenRefused { what: self.what }),
            403 => Answer::Permanent(MetadataFault::Forbidden),
            404 if self.absent => Answer::Absent,
            404 => Answer::Permanent(MetadataFault::Missing { what: self.what }),
            status => Answer::of_status(self.what, status),
        }
    }
}

/// Who the instance is: most facts in one answer.
pub fn identity_document() -> Question<IdentityDocument> {
    Question::new("the identity document", "dynamic/instance-identity/document", facts::identity_document)
}

/// The signature of the identity document, which CloudFormation takes with it.
pub fn identity_signature() -> Question<String> {
    Question::new(
        "the identity document's signature",
        "dynamic/instance-identity/signature",
        facts::signature,
    )
}

/// What whoever launched the instance gave it, as it is. Absent if that is nothing.
pub fn user_data() -> Question<Vec<u8>> {
    Question::new("user-data", "user-data", |body| Ok(body.to_vec())).or_absent()
}

/// `on-demand`, `spot` and the like. Not known everywhere.
pub fn lifecycle() -> Question<String> {
    Question::new("the life-cycle", "meta-data/instance-life-cycle", facts::lifecycle).or_absent()
}

/// The host's private name, in lower case.
pub fn hostname() -> Question<String> {
    Question::new("the host's name", "meta-data/hostname", facts::hostname)
}

/// The primary IPv4 address. None on subnets with IPv6 only.
pub fn local_ipv4() -> Question<std::net::Ipv4Addr> {
    Question::new("the IPv4 address", "meta-data/local-ipv4", facts::parsed).or_absent()
}

/// The first IPv6 address of the primary interface.
pub fn ipv6() -> Question<std::net::Ipv6Addr> {
    Question::new("the IPv6 address", "meta-data/ipv6", facts::parsed).or_absent()
}

/// The hardware address of the primary interface.
pub fn mac() -> Question<String> {
    Question::new("the hardware address", "meta-data/mac", facts::mac)
}

/// The IPv4 blocks of the network that the interface with this hardware address is in.
pub fn vpc_ipv4_cidrs(mac: &str) -> Question<Vec<String>> {
    let path = format!("meta-data/network/interfaces/macs/{}/vpc-ipv4-cidr-blocks", encoded_segment(mac));
    Question::new("the network's IPv4 blocks", path, facts::ipv4_cidrs)
}

/// The IPv6 blocks of that network, where it has any.
pub fn vpc_ipv6_cidrs(mac: &str) -> Question<Vec<String>> {
    let path = format!("meta-data/network/interfaces/macs/{}/vpc-ipv6-cidr-blocks", encoded_segment(mac));
    Question::new("the network's IPv6 blocks", path, facts::ipv6_cidrs).or_absent()
}

/// The names of the instance's tags. Absent unless the instance shows its tags.
pub fn tag_names() -> Question<Vec<String>> {
    Question::new("the names of tags", "meta-data/tags/instance", facts::tag_names).or_absent()
}

/// The value of a tag. Absent, too, unless the instance shows its tags.
pub fn tag(name: &str) -> Question<String> {
    Question::new("a tag", format!("meta-data/tags/instance/{}", encoded_segment(name)), facts::tag)
        .or_absent()
}

/// The name of the instance's role. Absent if it has none, and for some seconds after it was given one.
pub fn role_name() -> Question<String> {
    Question::new("the role's name", "meta-data/iam/security-credentials/", facts::role_name).or_absent()
}

/// The credentials of this role.
pub fn role_credentials(role: &str) -> Question<Credentials> {
    let path = format!("meta-data/iam/security-credentials/{}", encoded_segment(role));
    Question::new("the role's credentials", path, facts::role_credentials).or_absent()
}
