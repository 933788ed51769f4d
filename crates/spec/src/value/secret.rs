//! Where a secret comes from. The document never holds the secret itself where a reference can do.

use bringup_yaml::Node;
use serde::Serialize;
use serde_json::json;

use super::name::is_object;
use crate::codes;
use crate::decode::{Decode, Reader, Schemas, is_nothing};

/// A reference to a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretSource {
    /// A file: on the node, or for SSH beside the document.
    File(String),
    /// An environment variable of the program that compiles or connects.
    Environment(String),
    /// An object in S3, read by the node with its own credentials.
    S3(String),
    /// A parameter of AWS Systems Manager.
    SsmParameter(String),
    /// A secret of AWS Secrets Manager.
    SecretsManager(String),
}

impl SecretSource {
    const KEYS: [&'static str; 5] = ["file", "environment", "s3", "ssmParameter", "secretsManager"];
    const ABOUT: [&'static str; 5] = [
        "A file: on the node, or for SSH beside the document.",
        "An environment variable of the program that compiles or connects.",
        "An object in S3, `s3://BUCKET/KEY`, read by the node with its own credentials.",
        "A parameter of AWS Systems Manager.",
        "A secret of AWS Secrets Manager.",
    ];
}

/// Whether an environment variable can have this name.
pub fn is_variable(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Decode for SecretSource {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let hint = "write one of `file`, `environment`, `s3`, `ssmParameter`, `secretsManager`, such as `{file: /run/token}`";
        if is_nothing(node) {
            return reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a reference to a secret is expected here",
                hint,
            );
        }
        if node.entries().is_none() {
            return reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a reference to a secret is expected here, not the secret itself",
                hint,
            );
        }
        let entries = reader.entries(node, "a reference to a secret", &Self::KEYS)?;
        let [entry] = entries else {
            return reader.fault(
                codes::CONFLICT,
                node.span,
                "a reference to a secret has exactly one key",
                hint,
            );
        };
        let text: String = reader.value(entry)?;
        if text.is_empty() {
            return reader.fault(codes::WRONG_VALUE, entry.value.span, "this reference is empty", hint);
        }
        let one_word = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
        match entry.key.as_str() {
            "file" => Some(Self::File(text)),
            "environment" if is_variable(&text) => Some(Self::Environment(text)),
            "environment" => reader.fault(
                codes::WRONG_VALUE,
                entry.value.span,
                "this is no name of an environment variable",
                "write letters, digits and `_`, without a `$`",
            ),
            "s3" if one_word && text.strip_prefix("s3://").is_some_and(is_object) => Some(Self::S3(text)),
            "s3" => reader.fault(
                codes::WRONG_VALUE,
                entry.value.span,
                "this is no S3 address",
                "write `s3://BUCKET/KEY`",
            ),
            "ssmParameter" if one_word => Some(Self::SsmParameter(text)),
            "secretsManager" if one_word => Some(Self::SecretsManager(text)),
            "ssmParameter" | "secretsManager" => reader.fault(
                codes::WRONG_VALUE,
                entry.value.span,
                "a name at AWS has no spaces",
                "write the name or the ARN",
            ),
            _ => None,
        }
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        schemas.named("SecretSource", |_| {
            let properties: serde_json::Map<String, serde_json::Value> =
                Self::KEYS
                    .iter()
                    .zip(Self::ABOUT)
                    .map(|(key, about)| {
                        let pattern = match *key {
                            "environment" => "^[A-Za-z_][A-Za-z0-9_]*$",
                            "s3" => "^s3://[!-.0-~]+/[!-~]+$",
                            "ssmParameter" | "secretsManager" => "^[!-~]+$",
                            _ => ".",
                        };
                        ((*key).to_owned(), json!({"type": "string", "pattern": pattern, "description": about}))
                    })
                    .collect();
            json!({
                "type": "object", "description": "Where a secret comes from; exactly one key.",
                "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
            })
        })
    }
}
