//! The bearer token that an EKS cluster takes: a presigned question to STS about who we are.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::json;

use crate::fault::element;
use crate::sign::{Draft, Signer};
use crate::{Credentials, Fault, Moment, Request, Response, Secret, partition};

const ASSUME_ROLE: &str = "sts:AssumeRole";

/// For how long the URL says that it is good. The cluster's authenticator wants no more than this and goes by the
/// date of the signature itself.
const URL_SECONDS: u32 = 60;

/// The authenticator takes a token for 15 minutes; a client should get another one a little earlier.
const TOKEN_SECONDS: u64 = 14 * 60;

/// A token and how long to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What stands after `Bearer`.
    pub bearer: Secret<String>,
    /// When to ask for another one.
    pub expires: Moment,
}

/// The token of a cluster. No request is made: STS sees the URL when the cluster looks into it.
pub fn bearer(cluster: &str, region: &str, credentials: &Credentials, at: Moment) -> Token {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let draft = Draft {
        query: vec![pair("Action", "GetCallerIdentity"), pair("Version", "2011-06-15")],
        headers: vec![("x-k8s-aws-id", cluster.to_owned())],
        ..Draft::get(partition::endpoint("sts", region))
    };
    let url = Signer { credentials, region, service: "sts", at }.presigned(draft, URL_SECONDS);
    let bearer = Secret::new(format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url)));
    // A token cannot outlive what it is signed with.
    let most = at.plus(TOKEN_SECONDS);
    Token { bearer, expires: credentials.expires.map_or(most, |expires| most.min(expires)) }
}

/// Asks for the credentials of another role, for when that role is the one that the cluster knows.
pub fn assume_role(role: &str, region: &str, credentials: &Credentials, at: Moment) -> Request {
    let fields = [
        ("Action", "AssumeRole"),
        ("Version", "2011-06-15"),
        ("RoleArn", role),
        ("RoleSessionName", "bringup-node"),
    ];
    let draft = Draft::form(partition::endpoint("sts", region), &fields);
    Signer { credentials, region, service: "sts", at }.signed(draft)
}

/// The credentials in the answer to [`assume_role`].
pub fn assumed_role(response: Response<'_>) -> Result<Credentials, Fault> {
    if response.status != 200 {
        return Err(Fault::of(ASSUME_ROLE, response));
    }
    let text = std::str::from_utf8(response.body).unwrap_or_default();
    let part = |name| element(text, name);
    Credentials::session(
        part("AccessKeyId").as_deref(),
        part("SecretAccessKey").as_deref(),
        part("SessionToken").as_deref(),
        part("Expiration").as_deref(),
    )
    .ok_or(Fault::Unreadable { action: ASSUME_ROLE })
}

/// The form in which kubelet takes a token from a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecVersion {
    /// Since Kubernetes 1.11.
    V1Beta1,
    /// Since Kubernetes 1.22.
    V1,
}

/// Why no form could be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// What the client gave is not what it should be.
    #[error("`KUBERNETES_EXEC_INFO` holds no ExecCredential")]
    Unreadable,
    /// A form that we do not write.
    #[error(
        "the client wants `{0}`; only `client.authentication.k8s.io/v1` and `client.authentication.k8s.io/v1beta1` can be given"
    )]
    Version(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecInfo {
    api_version: String,
}

impl ExecVersion {
    /// The form that the client asks for in `KUBERNETES_EXEC_INFO`. It takes no other one. Where the variable is not
    /// set, a person is looking.
    pub fn asked_for(exec_info: Option<&str>) -> Result<Self, ExecError> {
        let Some(text) = exec_info.filter(|text| !text.is_empty()) else { return Ok(Self::V1Beta1) };
        let info: ExecInfo = serde_json::from_str(text).map_err(|_| ExecError::Unreadable)?;
        [Self::V1Beta1, Self::V1]
            .into_iter()
            .find(|version| version.as_str() == info.api_version)
            .ok_or_else(|| ExecError::Version(info.api_version.escape_debug().take(80).collect()))
    }

    /// As `apiVersion` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1Beta1 => "client.authentication.k8s.io/v1beta1",
            Self::V1 => "client.authentication.k8s.io/v1",
        }
    }

    /// What a plugin prints. It holds the token.
    pub fn credential(self, token: &Token) -> String {
        json!({
            "kind": "ExecCredential",
            "apiVersion": self.as_str(),
            "spec": {},
            "status": {"expirationTimestamp": token.expires.rfc3339(), "token": token.bearer.expose()},
        })
        .to_string()
    }
}
