//! What it means when a service says no.

use serde::Deserialize;

use crate::Response;

/// What a service said instead of doing what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{action}` was answered with {status}{}{}", labelled(" ", code), labelled(": ", message))]
pub struct Refusal {
    /// What was asked, as policies name it: `ssm:GetParameter`.
    pub action: &'static str,
    /// The status of HTTP.
    pub status: u16,
    /// The service's word for it; empty where it gave none.
    pub code: String,
    /// What it said; empty where it said nothing that may be shown.
    pub message: String,
}

fn labelled(label: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{label}{text}") }
}

/// A refusal, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The same request may succeed later.
    #[error("{0}")]
    Transient(Refusal),
    /// The credentials have run out: get new ones, then ask once more.
    #[error("{0}")]
    Expired(Refusal),
    /// What is asked for is in another region: ask there.
    #[error("{refusal}, because it is in the region `{region}`")]
    Elsewhere {
        /// That region.
        region: String,
        /// What was said.
        refusal: Refusal,
    },
    /// Nothing changes until somebody changes something.
    #[error("{0}")]
    Permanent(Refusal),
    /// Good news, but not the promised shape. It may heal: proxies answer such things while they start.
    #[error("`{action}` was answered with something else than what was asked for")]
    Unreadable {
        /// What was asked.
        action: &'static str,
    },
}

/// Said of load, of work on the service, or of something that becomes known with a delay.
const TRANSIENT: &[&str] = &[
    // Somebody else makes the same object at this moment.
    "ConditionalRequestConflict",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServiceError",
    // Both follow when a role is minutes old and not yet known everywhere.
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "PriorRequestNotComplete",
    "RequestLimitExceeded",
    "RequestThrottled",
    // The clock may not have been set yet.
    "RequestTimeTooSkewed",
    "RequestTimeout",
    "RequestTimeoutException",
    "ServiceUnavailable",
    "SlowDown",
    "TemporaryRedirect",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

const EXPIRED: &[&str] = &["ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"];

const DENIED: &[&str] =
    &["AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"];

impl Fault {
    /// What a response with a status other than success means.
    pub(crate) fn of(action: &'static str, response: Response<'_>) -> Self {
        let said = Said::read(response.body);
        let refusal = Refusal { action, status: response.status, code: said.code, message: said.message };
        let code = refusal.code.as_str();
        if EXPIRED.contains(&code) {
            return Self::Expired(refusal);
        }
        if let Some(region) = said.region.filter(|_| matches!(response.status, 301 | 400)) {
            return Self::Elsewhere { region, refusal };
        }
        let busy = matches!(response.status, 408 | 429 | 500..=599);
        if busy || TRANSIENT.contains(&code) { Self::Transient(refusal) } else { Self::Permanent(refusal) }
    }

    /// Whether the same request may succeed later.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_) | Self::Unreadable { .. })
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let (Self::Transient(refusal) | Self::Permanent(refusal)) = self else { return None };
        let code = refusal.code.as_str();
        if code == "RequestTimeTooSkewed" {
            return Some("set this machine's clock: signatures carry the time".to_owned());
        }
        if matches!(code, "SignatureDoesNotMatch" | "IncompleteSignature") {
            return Some(
                "see whether a proxy between this machine and AWS changes requests, and whether the clock is right"
                    .to_owned(),
            );
        }
        let denied = DENIED.contains(&code) || (code.is_empty() && refusal.status == 403);
        denied.then(|| format!("allow `{}` in a policy of the instance's role", refusal.action))
    }
}

struct Said {
    code: String,
    message: String,
    region: Option<String>,
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "Error")]
    error: QueryError,
}

#[derive(Deserialize)]
struct QueryError {
    #[serde(rename = "Code", default)]
    code: String,
    #[serde(rename = "Message", default)]
    message: String,
}

#[derive(Deserialize)]
struct Json {
    #[serde(rename = "__type", alias = "code")]
    kind: String,
    #[serde(alias = "Message", default)]
    message: String,
}

impl Said {
    /// Services have three ways to say no: XML, JSON with `Error`, JSON with `__type`.
    fn read(body: &[u8]) -> Self {
        let (code, message, region) = if let Ok(Query { error }) = serde_json::from_slice(body) {
            (error.code, error.message, None)
        } else if let Ok(Json { kind, message }) = serde_json::from_slice(body) {
            let code = kind.rsplit('#').next().unwrap_or_default();
            // Some append the address of a document: `ParameterNotFound:http://...`.
            (code.split(':').next().unwrap_or_default().to_owned(), message, None)
        } else {
            let text = String::from_utf8_lossy(body);
            let part = |name| element(&text, name).unwrap_or_default();
            let region = element(&text, "Region").or_else(|| region_in(&part("Endpoint")));
            (part("Code"), part("Message"), region)
        };
        let code: String = code
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || ".-_".contains(*letter))
            .take(80)
            .collect();
        // This one repeats the request, with the session's token in it.
        let message = if code == "SignatureDoesNotMatch" { String::new() } else { one_line(&message) };
        let region = region.filter(|region| crate::partition::looks_like_region(region));
        Self { code, message, region }
    }
}

/// Fit for a message: no control characters, no full stop at the end, and not endless.
fn one_line(text: &str) -> String {
    let line: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(400).collect();
    line.trim().trim_end_matches('.').to_owned()
}

/// The text of the first element of this name. The documents that it is used on are flat and have no attributes there.
pub(crate) fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Some(text.replace("&amp;", "&"))
}

/// `bucket.s3.eu-west-1.amazonaws.com` and, of old, `bucket.s3-eu-west-1.amazonaws.com`.
fn region_in(endpoint: &str) -> Option<String> {
    let mut labels = endpoint.split('.').peekable();
    while let Some(label) = labels.next() {
        if label == "s3" {
            return labels.peek().map(|region| (*region).to_owned());
        }
        if let Some(region) = label.strip_prefix("s3-") {
            return Some(region.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(status: u16, body: &str) -> Fault {
        Fault::of("ssm:GetParameter", Response { status, body: body.as_bytes() })
    }

    #[test]
    fn the_three_ways_to_say_no() {
        for (body, code, message) in [
            (
                "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n  <Error>\n    <Type>Sender</Type>\n    <Code>AccessDenied</Code>\n    <Message>User: a &amp; b is not authorized.</Message>\n  </Error>\n</ErrorResponse>",
                "AccessDenied",
                "User: a & b is not authorized",
            ),
            (
                r#"{"Error":{"Code":"ValidationError","Message":"Stack x does not exist","Type":"Sender"},"RequestId":"1"}"#,
                "ValidationError",
                "Stack x does not exist",
            ),
            (r#"{"__type":"ParameterNotFound"}"#, "ParameterNotFound", ""),
            (
                r#"{"__type":"com.amazonaws.ssm#AccessDeniedException","Message":"no"}"#,
                "AccessDeniedException",
                "no",
            ),
            ("<html>no</html>", "", ""),
        ] {
            let refusal = Refusal {
                action: "ssm:GetParameter",
                status: 400,
                code: code.to_owned(),
                message: message.to_owned(),
            };
            assert_eq!(fault(400, body), Fault::Permanent(refusal), "{body}");
        }
    }

    #[test]
    fn what_to_do_follows_from_code_and_status() {
        let coded = |status, code: &str| fault(status, &format!("<Error><Code>{code}</Code></Error>"));
        for (status, code) in [
            (400, "Throttling"),
            (503, "SlowDown"),
            (500, ""),
            (429, "Whatever"),
            (403, "InvalidClientTokenId"),
        ] {
            assert!(matches!(coded(status, code), Fault::Transient(_)), "{status} {code}");
        }
        for (status, code) in [(403, "AccessDenied"), (404, "NoSuchKey"), (400, "ValidationError"), (403, "")]
        {
            assert!(matches!(coded(status, code), Fault::Permanent(_)), "{status} {code}");
        }
        assert!(matches!(coded(403, "ExpiredToken"), Fault::Expired(_)));
    }

    #[test]
    fn a_bucket_may_be_elsewhere() {
        for body in [
            "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'us-east-1' is wrong; expecting 'eu-west-1'</Message><Region>eu-west-1</Region></Error>",
            "<Error><Code>PermanentRedirect</Code><Endpoint>plans.s3.eu-west-1.amazonaws.com</Endpoint></Error>",
            "<Error><Code>PermanentRedirect</Code><Endpoint>plans.s3-eu-west-1.amazonaws.com</Endpoint></Error>",
        ] {
            let found = fault(301, body);
            assert!(matches!(&found, Fault::Elsewhere { region, .. } if region == "eu-west-1"), "{found}");
        }
        assert!(matches!(fault(301, "<Region>../x</Region>"), Fault::Permanent(_)));
    }

    #[test]
    fn a_refusal_says_what_to_allow_and_never_repeats_the_request() {
        let denied = fault(403, "<Error><Code>AccessDenied</Code><Message>no.</Message></Error>");
        assert_eq!(denied.to_string(), "`ssm:GetParameter` was answered with 403 AccessDenied: no");
        assert_eq!(
            denied.hint().as_deref(),
            Some("allow `ssm:GetParameter` in a policy of the instance's role")
        );
        let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>should have been x-amz-security-token:hidden</Message></Error>";
        assert!(!format!("{:?}", fault(403, body)).contains("hidden"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_fault(status: u16, body: Vec<u8>) {
            let found = Fault::of("s3:GetObject", Response { status, body: &body });
            prop_assert!(found.to_string().lines().count() == 1);
        }
    }
}
