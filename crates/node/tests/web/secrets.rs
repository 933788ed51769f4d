//! Secrets from S3, SSM and Secrets Manager: in their files, and nowhere else.

use serde_json::{Value, json};

use crate::agent::Node;
use crate::metadata::well;
use crate::server::{Asked, Authority, Proxy, Reply, Server};

fn secret(source: &Value) -> Value {
    json!({
        "do": "writeFile", "path": "/etc/secret", "mode": "0600", "owner": "root:root",
        "content": {"secret": source},
    })
}

/// A node whose services of AWS are these answers.
fn node(
    source: &Value,
    answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> (Node, Server, [Server; 1], Proxy) {
    let authority = Authority::new();
    let names =
        ["plans.s3", "ssm", "secretsmanager"].map(|service| format!("{service}.eu-central-1.amazonaws.com"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let services = Server::https(&authority, &names, answer);
    let (proxy, metadata) = (Proxy::to(services.address), Server::http(well));
    let node = Node::new(&[("secret", secret(source))])
        .metadata(metadata.url(""))
        .set("certificateAuthorities", json!([authority.pem]))
        .set("environment", json!({"https_proxy": format!("http://{}", proxy.address)}));
    (node, services, [metadata], proxy)
}

#[test]
fn secrets_are_read_with_the_instances_role() {
    for (source, target, body) in [
        (json!({"s3": "s3://plans/secret"}), "", "hiddenvalue"),
        (
            json!({"ssmParameter": "/demo/token"}),
            "AmazonSSM.GetParameter",
            r#"{"Parameter":{"Name":"/demo/token","Type":"SecureString","Value":"hiddenvalue"}}"#,
        ),
        (
            json!({"secretsManager": "demo"}),
            "secretsmanager.GetSecretValue",
            r#"{"Name":"demo","SecretString":"hiddenvalue"}"#,
        ),
    ] {
        let (node, services, metadata, _proxy) = node(&source, move |_| Reply::new(200, body));
        let run = node.up();
        assert!(run.well(), "{source}: {}", run.said());
        assert_eq!(node.read("/etc/secret").unwrap(), b"hiddenvalue", "{source}");
        let asked = &services.asked()[0];
        assert_eq!(asked.header("x-amz-target"), target);
        assert!(asked.header("authorization").contains("Credential=ASIAEXAMPLE/"), "{source}");
        // A session, the role's name, its credentials.
        assert_eq!(metadata[0].asked().len(), 3);
        let journal = node.read("/var/lib/bringup/journal").unwrap();
        let told = format!("{}{}", run.said(), String::from_utf8_lossy(&journal));
        assert!(!told.contains("hidden"), "{told}");
    }
}

#[test]
fn a_role_that_may_not_read_needs_the_operator() {
    let (node, ..) = node(&json!({"ssmParameter": "/demo/token"}), |_| {
        Reply::new(400, r#"{"__type":"AccessDeniedException","Message":"User: x is not authorized"}"#)
    });
    let run = node.up();
    assert_eq!(run.kind, "operator");
    assert_eq!(run.fix(), "allow `ssm:GetParameter` in a policy of the instance's role");
}

#[test]
fn a_secret_that_does_not_exist_is_for_good() {
    let (node, ..) = node(&json!({"secretsManager": "demo"}), |_| {
        Reply::new(400, r#"{"__type":"ResourceNotFoundException","Message":"can't find it"}"#)
    });
    let run = node.up();
    assert_eq!(run.kind, "permanent");
    assert!(run.why().contains("ResourceNotFoundException"), "{}", run.why());
}

#[test]
fn an_instance_without_a_role_needs_the_operator() {
    let (node, ..) = node(&json!({"ssmParameter": "/demo/token"}), |_| Reply::new(200, ""));
    let bare = Server::http(|asked| {
        if asked.path.contains("security-credentials") { Reply::new(404, "") } else { well(asked) }
    });
    let run = node.metadata(bare.url("")).up();
    assert_eq!(run.kind, "operator");
    assert!(run.why().contains("no role"), "{}", run.why());
}

#[test]
fn credentials_that_have_run_out_are_asked_for_once_more() {
    let (node, services, metadata, _proxy) = node(&json!({"ssmParameter": "/demo/token"}), |_| {
        Reply::new(400, r#"{"__type":"ExpiredTokenException"}"#)
    });
    let run = node.up();
    assert_eq!(run.kind, "transient");
    let roles = metadata[0].asked().iter().filter(|asked| asked.path.ends_with("/node")).count();
    assert_eq!(roles, 2);
    assert!(services.asked().len() >= 2);
}
