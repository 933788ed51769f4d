//! What a node reads from S3, from parameters and from secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::sign::{Draft, Signer};
use crate::{Credentials, Fault, Method, Moment, Request, Response, Secret, partition};

const GET_OBJECT: &str = "s3:GetObject";
const PUT_OBJECT: &str = "s3:PutObject";
const GET_PARAMETER: &str = "ssm:GetParameter";
const GET_SECRET: &str = "secretsmanager:GetSecretValue";

/// Why a text names no object of S3.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Another scheme, or none.
    #[error("`{0}` does not start with `s3://`")]
    Scheme(String),
    /// Not a bucket's name.
    #[error("`{0}` is no name of a bucket")]
    Bucket(String),
    /// Nothing after the bucket.
    #[error("`{0}` names a bucket and no object in it")]
    Key(String),
}

/// An object in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    bucket: String,
    key: String,
}

impl Object {
    /// Reads `s3://BUCKET/KEY`. The key is taken as it stands, not decoded.
    pub fn parse(address: &str) -> Result<Self, AddressError> {
        let rest = address.strip_prefix("s3://").ok_or_else(|| AddressError::Scheme(address.to_owned()))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
        let sound = (3..=63).contains(&bucket.len())
            && bucket.bytes().all(plain)
            && bucket
                .split('.')
                .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
        if !sound {
            return Err(AddressError::Bucket(bucket.to_owned()));
        }
        if key.is_empty() {
            return Err(AddressError::Key(address.to_owned()));
        }
        Ok(Self { bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// Reads the object, from this byte on.
    pub fn get(&self, region: &str, from: u64, credentials: &Credentials, at: Moment) -> Request {
        let mut draft = self.draft(region);
        if from > 0 {
            draft.headers.push(("range", format!("bytes={from}-")));
        }
        Signer { credentials, region, service: "s3", at }.signed(draft)
    }

    /// Makes the object, unless it is there.
    pub fn put_if_absent(&self, region: &str, body: &[u8], credentials: &Credentials, at: Moment) -> Request {
        let draft = self.draft(region);
        let headers = vec![("if-none-match", "*".to_owned())];
        let draft = Draft { method: Method::Put, headers, body: body.to_vec(), ..draft };
        Signer { credentials, region, service: "s3", at }.signed(draft)
    }

    /// Whether the object was made; false if it was there.
    pub fn put_answer(response: Response<'_>) -> Result<bool, Fault> {
        match response.status {
            200 => Ok(true),
            412 => Ok(false),
            _ => Err(Fault::of(PUT_OBJECT, response)),
        }
    }

    fn draft(&self, region: &str) -> Draft {
        let endpoint = partition::endpoint("s3", region);
        // A certificate for `*.s3.REGION` does not cover a name with one more dot.
        let (host, path) = if self.bucket.contains('.') {
            (endpoint, format!("/{}/{}", self.bucket, self.key))
        } else {
            (format!("{}.{endpoint}", self.bucket), format!("/{}", self.key))
        };
        Draft { path, ..Draft::get(host) }
    }

    /// What an answer without success means; the body is what it says of the error. `416` where the object ends before
    /// the byte that was asked for.
    pub fn refused(response: Response<'_>) -> Fault {
        Fault::of(GET_OBJECT, response)
    }
}

/// Asks for a parameter of Systems Manager, decrypted. `name` is a name or an ARN, which has its own region.
pub fn parameter(name: &str, region: &str, credentials: &Credentials, at: Moment) -> Request {
    let body = json!({"Name": name, "WithDecryption": true});
    call("ssm", "AmazonSSM.GetParameter", &body, region_of(name, region), credentials, at)
}

/// The value in the answer to [`parameter`].
pub fn parameter_value(response: Response<'_>) -> Result<Secret<Vec<u8>>, Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        parameter: Parameter,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Parameter {
        value: String,
    }
    if response.status != 200 {
        return Err(Fault::of(GET_PARAMETER, response));
    }
    serde_json::from_slice(response.body)
        .map(|Answer { parameter }| Secret::new(parameter.value.into_bytes()))
        .map_err(|_| Fault::Unreadable { action: GET_PARAMETER })
}

/// Asks for the current version of a secret. `id` is a name or an ARN, which has its own region.
pub fn secret(id: &str, region: &str, credentials: &Credentials, at: Moment) -> Request {
    let body = json!({"SecretId": id});
    let region = region_of(id, region);
    call("secretsmanager", "secretsmanager.GetSecretValue", &body, region, credentials, at)
}

/// The value in the answer to [`secret`], be it a text or bytes.
pub fn secret_value(response: Response<'_>) -> Result<Secret<Vec<u8>>, Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        secret_string: Option<String>,
        secret_binary: Option<String>,
    }
    if response.status != 200 {
        return Err(Fault::of(GET_SECRET, response));
    }
    let value = match serde_json::from_slice(response.body) {
        Ok(Answer { secret_string: Some(text), .. }) => Some(text.into_bytes()),
        Ok(Answer { secret_binary: Some(text), .. }) => STANDARD.decode(text).ok(),
        _ => None,
    };
    value.map(Secret::new).ok_or(Fault::Unreadable { action: GET_SECRET })
}

fn call(
    service: &str,
    target: &str,
    body: &serde_json::Value,
    region: &str,
    credentials: &Credentials,
    at: Moment,
) -> Request {
    let draft = Draft::json(partition::endpoint(service, region), target, body);
    Signer { credentials, region, service, at }.signed(draft)
}

/// The region that an ARN names, else the given one.
fn region_of<'a>(name: &'a str, region: &'a str) -> &'a str {
    let mut parts = name.split(':');
    let named = if parts.next() == Some("arn") { parts.nth(2) } else { None };
    named.filter(|named| partition::looks_like_region(named)).unwrap_or(region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_a_bucket_and_a_key() {
        let object = Object::parse("s3://my.plans-1/a/b c?#").unwrap();
        assert_eq!((object.bucket.as_str(), object.key.as_str()), ("my.plans-1", "a/b c?#"));
        assert_eq!(Object::parse("https://x/y"), Err(AddressError::Scheme("https://x/y".to_owned())));
        for bucket in
            ["", "ab", "Plans", "a_b_c", "-abc", "abc-", "a..b", "plans@evil", "plans:80", &"a".repeat(64)]
        {
            let address = format!("s3://{bucket}/key");
            assert_eq!(Object::parse(&address), Err(AddressError::Bucket(bucket.to_owned())), "{bucket}");
        }
        for address in ["s3://plans", "s3://plans/"] {
            assert_eq!(Object::parse(address), Err(AddressError::Key(address.to_owned())));
        }
    }

    #[test]
    fn an_arn_has_its_own_region() {
        let arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:token-AbCdEf";
        assert_eq!(region_of(arn, "us-east-1"), "eu-west-1");
        for name in [
            "/demo/token",
            "arn",
            "arn:aws:ssm",
            "arn:aws:ssm:evil.example/:1:parameter/x",
            "x:aws:ssm:eu-west-1",
        ] {
            assert_eq!(region_of(name, "us-east-1"), "us-east-1", "{name}");
        }
    }
}
