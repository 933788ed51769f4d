//! What EKS says of a cluster: where its API server is, whom to trust, which addresses its services have.

use serde::Deserialize;

use crate::sign::{Draft, Signer};
use crate::{Credentials, Fault, Moment, Refusal, Request, Response, partition};

const DESCRIBE: &str = "eks:DescribeCluster";

/// The longest name that EKS gives to a cluster.
const LONGEST_NAME: usize = 100;

/// A cluster, as EKS describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The address of its API server.
    pub endpoint: String,
    /// The authority of its API server: a certificate in base64.
    pub certificate_authority: String,
    /// The range of its services' addresses, of the family that it has.
    pub service_range: Option<String>,
    /// Whether that family is IPv6.
    pub ipv6: bool,
    /// The id that a local cluster on an Outpost has.
    pub id: Option<String>,
    /// Whether it is such a local cluster.
    pub outpost: bool,
}

/// How far a cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// It is there.
    Active(Cluster),
    /// It is not there yet, and will be: the status that EKS gives.
    Coming(String),
    /// It will not be there: the status that EKS gives.
    Gone(String),
}

/// Whether EKS would take this as a cluster's name.
pub fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Asks for a cluster.
pub fn describe(name: &str, region: &str, credentials: &Credentials, at: Moment) -> Request {
    let draft = Draft { path: format!("/clusters/{name}"), ..Draft::get(partition::endpoint("eks", region)) };
    Signer { credentials, region, service: "eks", at }.signed(draft)
}

#[derive(Deserialize)]
struct Answer {
    cluster: Body,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    status: String,
    endpoint: Option<String>,
    certificate_authority: Option<Authority>,
    kubernetes_network_config: Option<Network>,
    id: Option<String>,
    outpost_config: Option<Outpost>,
}

#[derive(Deserialize)]
struct Authority {
    data: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Network {
    service_ipv4_cidr: Option<String>,
    service_ipv6_cidr: Option<String>,
    ip_family: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outpost {
    #[serde(default)]
    outpost_arns: Vec<String>,
}

/// What the answer to [`describe`] means.
pub fn described(response: Response<'_>) -> Result<Described, Fault> {
    if response.status != 200 {
        return Err(refused(response));
    }
    let unreadable = || Fault::Unreadable { action: DESCRIBE };
    let Answer { cluster } = serde_json::from_slice(response.body).map_err(|_| unreadable())?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !plain(&cluster.status) || cluster.status.len() > 32 {
        return Err(unreadable());
    }
    match cluster.status.as_str() {
        "ACTIVE" | "UPDATING" => {}
        "FAILED" | "DELETING" => return Ok(Described::Gone(cluster.status)),
        _ => return Ok(Described::Coming(cluster.status)),
    }
    let given = |text: Option<String>| text.filter(|text| plain(text));
    let network = cluster.kubernetes_network_config.unwrap_or_default();
    let ipv6 = network.ip_family.as_deref() == Some("ipv6");
    let range = if ipv6 { network.service_ipv6_cidr } else { network.service_ipv4_cidr };
    Ok(Described::Active(Cluster {
        endpoint: given(cluster.endpoint).ok_or_else(unreadable)?,
        certificate_authority: given(cluster.certificate_authority.and_then(|authority| authority.data))
            .ok_or_else(unreadable)?,
        service_range: given(range),
        ipv6,
        id: given(cluster.id),
        outpost: cluster.outpost_config.is_some_and(|outpost| !outpost.outpost_arns.is_empty()),
    }))
}

/// EKS puts the code of an error into a header; what it says in the body tells the few that matter apart.
fn refused(response: Response<'_>) -> Fault {
    #[derive(Deserialize)]
    struct Words {
        #[serde(alias = "Message", default)]
        message: String,
    }
    let words = serde_json::from_slice(response.body).map(|Words { message }| message).unwrap_or_default();
    let refusal = |code: &str, message: &str| Refusal {
        action: DESCRIBE,
        status: response.status,
        code: code.to_owned(),
        message: message.chars().filter(|letter| !letter.is_control()).take(400).collect(),
    };
    let words = words.trim_end_matches('.');
    match response.status {
        404 => Fault::Permanent(refusal("ResourceNotFoundException", words)),
        403 if words.contains("token") && words.contains("expired") => {
            Fault::Expired(refusal("ExpiredTokenException", words))
        }
        // A role that is minutes old is not known everywhere yet.
        403 if words.contains("security token") && words.contains("invalid") => {
            Fault::Transient(refusal("UnrecognizedClientException", words))
        }
        403 if words.contains("not authorized") => Fault::Permanent(refusal("AccessDeniedException", words)),
        _ => Fault::of(DESCRIBE, response),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(status: u16, body: &str) -> Result<Described, Fault> {
        described(Response { status, body: body.as_bytes() })
    }

    /// The fields of EKS' API reference.
    fn cluster(status: &str, network: &str) -> String {
        format!(
            r#"{{"cluster":{{"name":"demo","status":"{status}","endpoint":"https://AB12.gr7.eu-central-1.eks.amazonaws.com",
               "certificateAuthority":{{"data":"dGVzdA=="}},"kubernetesNetworkConfig":{network},"tags":{{}}}}}}"#
        )
    }

    #[test]
    fn an_active_cluster_has_an_endpoint_an_authority_and_a_range() {
        let network = r#"{"serviceIpv4Cidr":"10.100.0.0/16","ipFamily":"ipv4"}"#;
        let Ok(Described::Active(found)) = answer(200, &cluster("ACTIVE", network)) else {
            panic!("it is active")
        };
        assert_eq!(found.endpoint, "https://AB12.gr7.eu-central-1.eks.amazonaws.com");
        assert_eq!(found.certificate_authority, "dGVzdA==");
        assert_eq!(found.service_range.as_deref(), Some("10.100.0.0/16"));
        assert!(!found.ipv6 && !found.outpost && found.id.is_none());
        let network = r#"{"serviceIpv6Cidr":"fd30:1c53:5f8a::/108","ipFamily":"ipv6"}"#;
        let Ok(Described::Active(found)) = answer(200, &cluster("UPDATING", network)) else {
            panic!("a cluster that is updated answers")
        };
        assert!(found.ipv6);
        assert_eq!(found.service_range.as_deref(), Some("fd30:1c53:5f8a::/108"));
    }

    #[test]
    fn a_cluster_may_be_coming_or_gone() {
        assert_eq!(answer(200, &cluster("CREATING", "{}")), Ok(Described::Coming("CREATING".to_owned())));
        assert_eq!(answer(200, &cluster("FAILED", "{}")), Ok(Described::Gone("FAILED".to_owned())));
        assert!(matches!(answer(200, "<html>"), Err(Fault::Unreadable { .. })));
    }

    #[test]
    fn refusals_are_told_apart_by_what_is_said() {
        let missing = answer(404, r#"{"message":"No cluster found for name: demo."}"#).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "`eks:DescribeCluster` was answered with 404 ResourceNotFoundException: No cluster found for name: demo"
        );
        assert!(matches!(missing, Fault::Permanent(_)));
        let denied = answer(
            403,
            r#"{"message":"User: x is not authorized to perform: eks:DescribeCluster on resource: y"}"#,
        )
        .unwrap_err();
        assert!(matches!(denied, Fault::Permanent(_)));
        assert_eq!(
            denied.hint().as_deref(),
            Some("allow `eks:DescribeCluster` in a policy of the instance's role")
        );
        let young = answer(403, r#"{"message":"The security token included in the request is invalid."}"#)
            .unwrap_err();
        assert!(young.is_transient());
        let old = answer(403, r#"{"message":"The security token included in the request is expired"}"#)
            .unwrap_err();
        assert!(matches!(old, Fault::Expired(_)));
        assert!(answer(429, r#"{"message":"Too many requests"}"#).unwrap_err().is_transient());
        assert!(answer(503, "").unwrap_err().is_transient());
    }

    /// Hosts as botocore 1.44.0 resolves them.
    #[test]
    fn each_partition_is_asked_at_home() {
        let credentials = Credentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: crate::Secret::new("hidden".to_owned()),
            session_token: None,
            expires: None,
        };
        for (region, host) in [
            ("eu-central-1", "eks.eu-central-1.amazonaws.com"),
            ("cn-north-1", "eks.cn-north-1.amazonaws.com.cn"),
            ("us-gov-west-1", "eks.us-gov-west-1.amazonaws.com"),
            ("us-iso-east-1", "eks.us-iso-east-1.c2s.ic.gov"),
            ("us-isob-east-1", "eks.us-isob-east-1.sc2s.sgov.gov"),
        ] {
            let request = describe("demo", region, &credentials, Moment::from_unix(1_440_938_160));
            assert_eq!(request.url, format!("https://{host}/clusters/demo"));
            let signed = request.headers.iter().any(|(name, value)| {
                *name == "authorization" && value.contains(&format!("/20150830/{region}/eks/aws4_request"))
            });
            assert!(signed, "{region}");
        }
    }

    #[test]
    fn names_are_those_of_eks() {
        assert!(is_name("ipv4-cluster") && is_name("a_B-9") && is_name(&"x".repeat(100)));
        assert!(!is_name("") && !is_name("-a") && !is_name("a/b") && !is_name(&"x".repeat(101)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(status: u16, body: Vec<u8>) {
            let _ = described(Response { status, body: &body });
        }
    }
}
