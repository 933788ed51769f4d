//! Bodies of the metadata service, read strictly: they end in file names, labels and arguments.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::answers::{MetadataFault, Unfit};
use crate::partition::looks_like_region;
use crate::{Credentials, CredentialsError};

/// Who the instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityDocument {
    /// The instance's id.
    pub instance_id: String,
    /// The instance's type.
    pub instance_type: String,
    /// The region.
    pub region: String,
    /// The availability zone.
    pub zone: String,
    /// The primary IPv4 address. None on subnets with IPv6 only.
    pub address: Option<Ipv4Addr>,
    /// The document as it came, which is what its signature is for.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    instance_id: String,
    instance_type: String,
    region: String,
    availability_zone: String,
    private_ip: Option<String>,
}

pub(super) fn identity_document(body: &[u8]) -> Result<IdentityDocument, Unfit> {
    let text = text(body)?;
    let document: Document = serde_json::from_str(text).map_err(|_| Unfit::Garbage)?;
    let sound = is_instance_id(&document.instance_id)
        && document.instance_type.split('.').count() == 2
        && document.instance_type.split('.').all(|part| is_made_of(part, 32, is_name_byte))
        && looks_like_region(&document.region)
        && document
            .availability_zone
            .strip_prefix(&document.region)
            .is_some_and(|rest| is_made_of(rest, 32, is_name_byte));
    // Nobody needs it where another answer has it; what cannot be used is as good as not there.
    let address = document.private_ip.as_deref().and_then(|address| address.parse().ok());
    if !sound {
        return Err(Unfit::Garbage);
    }
    Ok(IdentityDocument {
        instance_id: document.instance_id,
        instance_type: document.instance_type,
        region: document.region,
        zone: document.availability_zone,
        address,
        text: text.to_owned(),
    })
}

/// `i-` and 17 hexadecimal digits; 8 of old.
fn is_instance_id(text: &str) -> bool {
    text.strip_prefix("i-").is_some_and(|digits| {
        matches!(digits.len(), 8 | 17) && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

pub(super) fn token(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    is_made_of(text, 1024, |byte| byte.is_ascii_graphic()).then(|| text.to_owned())
}

pub(super) fn signature(body: &[u8]) -> Result<String, Unfit> {
    let joined: String = text(body)?.split_ascii_whitespace().collect();
    let decodes = STANDARD.decode(&joined).is_ok_and(|bytes| !bytes.is_empty());
    if decodes { Ok(joined) } else { Err(Unfit::Garbage) }
}

pub(super) fn lifecycle(body: &[u8]) -> Result<String, Unfit> {
    let text = text(body)?.trim();
    let sound = is_made_of(text, 32, |byte| byte.is_ascii_lowercase() || byte == b'-');
    if sound { Ok(text.to_owned()) } else { Err(Unfit::Garbage) }
}

pub(super) fn hostname(body: &[u8]) -> Result<String, Unfit> {
    let text = text(body)?.trim().to_ascii_lowercase();
    let mut names = text.split_ascii_whitespace();
    match (names.next(), names.next()) {
        (Some(name), None) if is_host_name(name) => Ok(text),
        // DHCP's option for the domain may hold several; each is a name by itself.
        (Some(_), Some(_)) if text.split_ascii_whitespace().all(is_host_name) => {
            Err(Unfit::Fault(MetadataFault::SeveralNames))
        }
        _ => Err(Unfit::Garbage),
    }
}

/// What Kubernetes takes as the name of a node.
fn is_host_name(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|label| {
            is_made_of(label, 63, is_name_byte) && !label.starts_with('-') && !label.ends_with('-')
        })
}

pub(super) fn parsed<T: FromStr>(body: &[u8]) -> Result<T, Unfit> {
    text(body)?.trim().parse().map_err(|_| Unfit::Garbage)
}

pub(super) fn mac(body: &[u8]) -> Result<String, Unfit> {
    let text = text(body)?.trim().to_ascii_lowercase();
    let pair = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sound = text.split(':').count() == 6 && text.split(':').all(pair);
    if sound { Ok(text) } else { Err(Unfit::Garbage) }
}

pub(super) fn ipv4_cidrs(body: &[u8]) -> Result<Vec<String>, Unfit> {
    cidrs::<Ipv4Addr>(body, 32)
}

pub(super) fn ipv6_cidrs(body: &[u8]) -> Result<Vec<String>, Unfit> {
    cidrs::<Ipv6Addr>(body, 128)
}

fn cidrs<A: FromStr + Into<IpAddr>>(body: &[u8], bits: u8) -> Result<Vec<String>, Unfit> {
    let sound = |line: &str| {
        let (address, length) = line.split_once('/')?;
        let address: A = address.parse().ok()?;
        let length: u8 = length.parse().ok().filter(|length| *length <= bits)?;
        Some(format!("{}/{length}", address.into()))
    };
    lines(body)?.into_iter().map(|line| sound(line).ok_or(Unfit::Garbage)).collect()
}

pub(super) fn tag_names(body: &[u8]) -> Result<Vec<String>, Unfit> {
    let names = lines(body)?;
    let sound = names.iter().all(|name| is_plain(name, 128));
    if sound { Ok(names.into_iter().map(ToOwned::to_owned).collect()) } else { Err(Unfit::Garbage) }
}

/// A tag may be empty, and blanks at its ends are its own.
pub(super) fn tag(body: &[u8]) -> Result<String, Unfit> {
    let text = text(body)?;
    if text.is_empty() || is_plain(text, 256) { Ok(text.to_owned()) } else { Err(Unfit::Garbage) }
}

pub(super) fn role_name(body: &[u8]) -> Result<String, Unfit> {
    let names = lines(body)?;
    let name = names.first().ok_or(Unfit::Garbage)?;
    let sound = is_made_of(name, 64, |byte| byte.is_ascii_alphanumeric() || b"+=,.@_-".contains(&byte));
    if sound { Ok((*name).to_owned()) } else { Err(Unfit::Garbage) }
}

pub(super) fn role_credentials(body: &[u8]) -> Result<Credentials, Unfit> {
    Credentials::from_metadata(body).map_err(|error| match error {
        CredentialsError::Unreadable => Unfit::Garbage,
        refused @ CredentialsError::Refused { .. } => Unfit::Fault(refused.into()),
    })
}

fn text(body: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(body).map_err(|_| Unfit::Garbage)
}

/// At least one line.
fn lines(body: &[u8]) -> Result<Vec<&str>, Unfit> {
    let lines: Vec<&str> = text(body)?.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { Err(Unfit::Garbage) } else { Ok(lines) }
}

fn is_made_of(text: &str, most: usize, fits: fn(u8) -> bool) -> bool {
    !text.is_empty() && text.len() <= most && text.bytes().all(fits)
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Any script, but nothing that moves a cursor. Tags are counted in characters.
fn is_plain(text: &str, most: usize) -> bool {
    !text.is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control)
}
