//! What a request is signed with.

use serde::Deserialize;

use crate::{Moment, Secret};

/// Credentials of a role, or of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The public half.
    pub access_key_id: String,
    /// The secret half.
    pub secret_access_key: Secret<String>,
    /// The token of a session, which all roles have.
    pub session_token: Option<Secret<String>>,
    /// When they run out.
    pub expires: Option<Moment>,
}

/// Why an answer gives no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// Not the shape that was promised.
    #[error("the answer holds no credentials")]
    Unreadable,
    /// The service says why not.
    #[error("the metadata service cannot get credentials of the instance's role: `{code}`")]
    Refused {
        /// Its word for it.
        code: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RoleAnswer {
    code: String,
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
    token: Option<String>,
    expiration: Option<String>,
}

impl Credentials {
    /// The metadata service replaces credentials at least this long before they run out.
    const MARGIN: u64 = 300;

    /// Reads what the metadata service says about a role.
    pub fn from_metadata(body: &[u8]) -> Result<Self, CredentialsError> {
        let answer: RoleAnswer = serde_json::from_slice(body).map_err(|_| CredentialsError::Unreadable)?;
        if answer.code != "Success" {
            let plain = !answer.code.is_empty()
                && answer.code.len() <= 64
                && answer.code.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return Err(if plain {
                CredentialsError::Refused { code: answer.code }
            } else {
                CredentialsError::Unreadable
            });
        }
        let session = Self::session(
            answer.access_key_id.as_deref(),
            answer.secret_access_key.as_deref(),
            answer.token.as_deref(),
            answer.expiration.as_deref(),
        );
        session.ok_or(CredentialsError::Unreadable)
    }

    /// Credentials of a session, if all four parts are there and fit into headers.
    pub(crate) fn session(
        key: Option<&str>,
        secret: Option<&str>,
        token: Option<&str>,
        expiration: Option<&str>,
    ) -> Option<Self> {
        let fits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        Some(Self {
            access_key_id: key.filter(fits)?.to_owned(),
            secret_access_key: Secret::new(secret.filter(fits)?.to_owned()),
            session_token: Some(Secret::new(token.filter(fits)?.to_owned())),
            expires: Some(Moment::parse_rfc3339(expiration?)?),
        })
    }

    /// Whether they will last for a while yet. If not, ask for new ones.
    pub fn is_fresh(&self, at: Moment) -> bool {
        self.expires.is_none_or(|expires| at.plus(Self::MARGIN) < expires)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of EC2's user guide, with other values.
    const ANSWER: &str = r#"{
  "Code" : "Success",
  "LastUpdated" : "2026-03-04T05:06:07Z",
  "Type" : "AWS-HMAC",
  "AccessKeyId" : "ASIAEXAMPLE",
  "SecretAccessKey" : "hidden/secret+key",
  "Token" : "hidden//token==",
  "Expiration" : "2026-03-04T11:06:07Z"
}"#;

    #[test]
    fn a_role_has_credentials() {
        let found = Credentials::from_metadata(ANSWER.as_bytes()).unwrap();
        assert_eq!(found.access_key_id, "ASIAEXAMPLE");
        assert_eq!(found.secret_access_key.expose(), "hidden/secret+key");
        assert_eq!(found.session_token.as_ref().unwrap().expose(), "hidden//token==");
        assert_eq!(found.expires.unwrap().rfc3339(), "2026-03-04T11:06:07Z");
        let expires = found.expires.unwrap().unix();
        assert!(found.is_fresh(Moment::from_unix(expires - 301)));
        assert!(!found.is_fresh(Moment::from_unix(expires - 300)));
    }

    #[test]
    fn secrets_are_never_printed() {
        let found = Credentials::from_metadata(ANSWER.as_bytes()).unwrap();
        let printed = format!("{found:?} {found:#?}");
        assert!(!printed.contains("hidden"), "{printed}");
        assert!(printed.contains("ASIAEXAMPLE"), "{printed}");
    }

    #[test]
    fn a_refusal_has_a_word() {
        let body = br#"{"Code":"AssumeRoleUnauthorizedAccess","Message":"EC2 cannot assume the role"}"#;
        let refused = CredentialsError::Refused { code: "AssumeRoleUnauthorizedAccess".to_owned() };
        assert_eq!(Credentials::from_metadata(body), Err(refused));
    }

    #[test]
    fn a_part_that_is_missing_or_odd_is_no_credentials() {
        for (from, to) in [
            ("AccessKeyId", "Other"),
            ("SecretAccessKey", "Other"),
            ("Token", "Other"),
            ("Expiration", "Other"),
            ("ASIAEXAMPLE", ""),
            ("ASIAEXAMPLE", "two words"),
            ("2026-03-04T11:06:07Z", "tomorrow"),
            ("Success", "not a\\nword"),
        ] {
            let answer = ANSWER.replace(from, to);
            assert_eq!(
                Credentials::from_metadata(answer.as_bytes()),
                Err(CredentialsError::Unreadable),
                "{to}"
            );
        }
    }
}
