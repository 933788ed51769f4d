//! What EKS says of the cluster: asked for once, with the instance's role, and remembered.

use std::sync::Mutex;

use serde_json::json;

use crate::agent::Node;
use crate::metadata::well;
use crate::server::{Asked, Authority, Proxy, Reply, Server};

/// A certificate as far as anybody looks, in base64 as EKS has it.
const CERTIFICATE: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCKzZBREFnRUNBZ0VCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

/// EKS' answer, with other values.
pub(crate) fn active(status: &str) -> Reply {
    let body = json!({"cluster": {
        "name": "prod", "status": status, "endpoint": "https://AB12.eks.example.com",
        "certificateAuthority": {"data": CERTIFICATE},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
    }});
    Reply::new(200, body.to_string())
}

fn node(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (Node, Server, Server, Proxy) {
    let authority = Authority::new();
    let services = Server::https(&authority, &["eks.eu-central-1.amazonaws.com"], answer);
    let (proxy, metadata) = (Proxy::to(services.address), Server::http(well));
    let file = json!({
        "do": "writeFile", "path": "/etc/cluster", "mode": "0644", "owner": "root:root",
        "content": {"text": [{"fact": "clusterEndpoint"}, " ", {"fact": "clusterDns"}, "\n", {"fact": "clusterAuthority"}]},
    });
    let mut node = Node::new(&[("identify", json!({"do": "learnFacts"})), ("file", file)])
        .metadata(metadata.url(""))
        .set("facts", json!(["clusterEndpoint", "clusterDns", "clusterAuthority"]))
        .set("eks", json!({"name": "prod", "region": "eu-central-1"}))
        .set("certificateAuthorities", json!([authority.pem]))
        .set("environment", json!({"https_proxy": format!("http://{}", proxy.address)}));
    node.facts = None;
    (node, services, metadata, proxy)
}

#[test]
fn the_cluster_is_asked_for_once_and_remembered() {
    let (node, services, metadata, _proxy) = node(|_| active("ACTIVE"));
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    let file = String::from_utf8(node.read("/etc/cluster").unwrap()).unwrap();
    assert!(
        file.starts_with("https://AB12.eks.example.com 10.100.0.10\n-----BEGIN CERTIFICATE-----\n"),
        "{file}"
    );
    let asked = services.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("GET", "/clusters/prod"));
    assert!(asked[0].header("authorization").contains("/eu-central-1/eks/aws4_request"));
    // A session, the identity document; the role's name and its credentials.
    assert_eq!(metadata.asked().len(), 4);
    let journal = String::from_utf8(node.read("/var/lib/bringup/journal").unwrap()).unwrap();
    assert!(!journal.contains("hidden"), "{journal}");
    // A later run has it in the journal, and EKS may be gone.
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(services.asked().len(), 1);
}

#[test]
fn a_cluster_that_is_being_made_is_waited_for() {
    let count = Mutex::new(0);
    let (mut node, services, ..) = node(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        active(if *count == 1 { "CREATING" } else { "ACTIVE" })
    });
    node.step(0, "policy", json!({"timeoutMs": 3000, "attempts": 2, "backoffMs": 1, "onFailure": "give-up"}));
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert!(run.said().contains("the cluster `prod` is not there yet: EKS says CREATING"), "{}", run.said());
    assert_eq!(services.asked().len(), 2);
}

#[test]
fn a_role_that_may_not_ask_needs_the_operator() {
    let (node, ..) = node(|_| {
        Reply::new(
            403,
            r#"{"message":"User: x is not authorized to perform: eks:DescribeCluster on resource: y"}"#,
        )
    });
    let run = node.up();
    assert_eq!(run.kind, "operator");
    assert_eq!(run.fix(), "allow `eks:DescribeCluster` in a policy of the instance's role");
}

#[test]
fn a_cluster_that_does_not_exist_is_for_good() {
    let (node, services, ..) = node(|_| Reply::new(404, r#"{"message":"No cluster found for name: prod."}"#));
    let run = node.up();
    assert_eq!(run.kind, "permanent");
    assert_eq!(run.fix(), "see that the cluster is called `prod` and is in `eu-central-1`");
    assert_eq!(services.asked().len(), 1);
}

#[test]
fn a_service_that_is_unwell_is_asked_again() {
    let count = Mutex::new(0);
    let (node, services, ..) = node(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count == 1 { Reply::new(503, "") } else { active("ACTIVE") }
    });
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(services.asked().len(), 2);
}

#[test]
fn a_facts_file_says_it_and_nobody_is_asked() {
    let (mut node, services, metadata, _proxy) = node(|_| active("ACTIVE"));
    let mut facts = crate::agent::facts();
    facts["cluster"] = json!({
        "endpoint": "https://given.example.com", "certificateAuthority": CERTIFICATE, "serviceCidr": "172.20.0.0/16",
    });
    node.facts = Some(facts);
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    let file = String::from_utf8(node.read("/etc/cluster").unwrap()).unwrap();
    assert!(file.starts_with("https://given.example.com 172.20.0.10\n"), "{file}");
    assert_eq!((services.asked().len(), metadata.asked().len()), (0, 0));
}
