//! The metadata service, well and unwell.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Node, Run};
use crate::server::{Asked, Reply, Server};

pub(crate) const DOCUMENT: &str = r#"{
  "accountId" : "123456789012",
  "architecture" : "x86_64",
  "availabilityZone" : "eu-central-1b",
  "imageId" : "ami-5fb8c835",
  "instanceId" : "i-0123456789abcdef0",
  "instanceType" : "m5.large",
  "privateIp" : "10.0.1.2",
  "region" : "eu-central-1",
  "version" : "2017-09-30"
}"#;

/// EC2's own answers, with other values.
pub(crate) fn well(asked: &Asked) -> Reply {
    if asked.method == "PUT" && asked.path == "/latest/api/token" {
        let seconds: u32 = asked.header("x-aws-ec2-metadata-token-ttl-seconds").parse().unwrap();
        assert!((1..=21_600).contains(&seconds));
        return Reply::new(200, "c2Vzc2lvbg==");
    }
    if asked.header("x-aws-ec2-metadata-token") != "c2Vzc2lvbg==" {
        return Reply::new(401, "");
    }
    match asked.path.as_str() {
        "/latest/dynamic/instance-identity/document" => Reply::new(200, DOCUMENT),
        "/latest/dynamic/instance-identity/signature" => Reply::new(200, "c2lnbmF0dXJl\nb2Y=\n"),
        "/latest/meta-data/instance-life-cycle" => Reply::new(200, "spot"),
        "/latest/meta-data/hostname" => Reply::new(200, "ip-10-0-1-2.eu-central-1.compute.internal"),
        "/latest/meta-data/tags/instance/team" => Reply::new(200, "a b"),
        "/latest/meta-data/iam/security-credentials/" => Reply::new(200, "node"),
        "/latest/meta-data/iam/security-credentials/node" => Reply::new(
            200,
            r#"{"Code":"Success","AccessKeyId":"ASIAEXAMPLE","SecretAccessKey":"hiddenkey",
                "Token":"hiddentoken","Expiration":"2099-01-01T00:00:00Z"}"#,
        ),
        _ => Reply::new(404, ""),
    }
}

fn node(service: &Server) -> Node {
    let mut node = Node::new(&[("identify", json!({"do": "learnFacts"}))])
        .set("facts", json!(["instanceId", "instanceType", "region", "zone", "lifecycle", "nodeName"]))
        .metadata(service.url(""));
    node.facts = None;
    node
}

/// A service of which the answers with these numbers are others.
fn faulty(faults: impl Fn(usize, &Asked) -> Option<Reply> + Send + Sync + 'static) -> Server {
    let count = Mutex::new(0);
    Server::http(move |asked| {
        let mut count = count.lock().unwrap();
        *count += 1;
        faults(*count, asked).unwrap_or_else(|| well(asked))
    })
}

fn learned(node: &Node, run: &Run) -> Value {
    assert!(run.well(), "{}", run.said());
    node.learned()
}

#[test]
fn four_requests_over_one_connection_bring_all_facts() {
    let service = Server::http(well);
    let node = node(&service);
    let expected = json!({
        "platform": "aws", "region": "eu-central-1", "zone": "eu-central-1b",
        "instanceId": "i-0123456789abcdef0", "instanceType": "m5.large", "lifecycle": "spot",
        "address": "10.0.1.2", "hostname": "ip-10-0-1-2.eu-central-1.compute.internal",
    });
    assert_eq!(learned(&node, &node.up()), expected);
    let paths: Vec<String> = service.asked().iter().map(|asked| asked.path.clone()).collect();
    assert_eq!(
        paths,
        [
            "/latest/api/token",
            "/latest/dynamic/instance-identity/document",
            "/latest/meta-data/instance-life-cycle",
            "/latest/meta-data/hostname",
        ]
    );
    assert_eq!(service.connections(), 1);
}

#[test]
fn a_tag_costs_one_request_and_may_be_absent() {
    let service = Server::http(well);
    let tagged = node(&service).set("facts", json!(["tags.team"]));
    assert_eq!(learned(&tagged, &tagged.up())["tags"], json!({"team": "a b"}));
    assert_eq!(service.asked().len(), 3);
    let run = node(&service).set("facts", json!(["tags.other"])).up();
    assert_eq!(run.kind, "permanent");
    assert!(
        run.why().contains("`tags.other`") && run.fix().contains("InstanceMetadataTags"),
        "{}",
        run.why()
    );
}

#[test]
fn no_life_cycle_is_on_demand() {
    let service = faulty(|_, asked| asked.path.ends_with("life-cycle").then(|| Reply::new(404, "")));
    let node = node(&service);
    assert_eq!(learned(&node, &node.up())["lifecycle"], "on-demand");
}

#[test]
fn what_passes_is_waited_for() {
    for (name, status, body) in
        [("429", 429, ""), ("500", 500, ""), ("503", 503, ""), ("garbage", 200, "<html>\u{0}</html>")]
    {
        // The token, and the first question after it.
        let service = faulty(move |count, _| matches!(count, 1 | 3).then(|| Reply::new(status, body)));
        let node = node(&service);
        assert_eq!(learned(&node, &node.up())["instanceId"], "i-0123456789abcdef0", "{name}");
        assert_eq!(service.asked().len(), 6, "{name}");
    }
}

#[test]
fn a_slow_service_is_heard_out_at_the_second_try() {
    let service = faulty(|count, _| {
        let silence = if count == 1 { Duration::from_secs(3) } else { Duration::ZERO };
        (count == 1).then(|| Reply { silence, ..Reply::new(200, "c2Vzc2lvbg==") })
    });
    let mut node = node(&service);
    node.step(
        0,
        "policy",
        json!({"timeoutMs": 20000, "attempts": 1, "backoffMs": 1, "onFailure": "give-up"}),
    );
    assert!(learned(&node, &node.up())["region"].is_string());
}

#[test]
fn what_does_not_pass_is_told_with_what_to_look_at() {
    for (status, body) in [(429, ""), (500, ""), (200, "{}")] {
        let service =
            faulty(move |_, asked| asked.path.ends_with("document").then(|| Reply::new(status, body)));
        let run = node(&service).up();
        assert_eq!(run.kind, "transient", "{status}");
        assert!(
            run.why().contains("the identity document") && run.fix().contains("169.254.169.254"),
            "{}",
            run.why()
        );
    }
    let mut away = node(&Server::http(well)).metadata("http://127.0.0.1:9".to_owned());
    away.step(0, "policy", json!({"timeoutMs": 300, "attempts": 1, "backoffMs": 1, "onFailure": "give-up"}));
    let run = away.up();
    assert_eq!(run.kind, "transient");
    assert!(run.why().contains("no session token: connection refused"), "{}", run.why());
}

#[test]
fn a_token_that_has_run_out_is_renewed_once() {
    let once = faulty(|count, _| (count == 3).then(|| Reply::new(401, "")));
    let renewing = node(&once);
    assert!(learned(&renewing, &renewing.up())["lifecycle"].is_string());
    assert_eq!(once.asked().iter().filter(|asked| asked.method == "PUT").count(), 2);

    let always = faulty(|_, asked| (asked.method == "GET").then(|| Reply::new(401, "")));
    let run = node(&always).up();
    assert_eq!(run.kind, "operator");
    assert!(run.why().contains("refuses a new session token"), "{}", run.why());
    assert_eq!(always.asked().len(), 4);
}

#[test]
fn a_service_that_is_turned_off_needs_the_operator() {
    for method in ["PUT", "GET"] {
        let service = faulty(move |_, asked| (asked.method == method).then(|| Reply::new(403, "")));
        let run = node(&service).up();
        assert_eq!(run.kind, "operator");
        assert!(
            run.why().contains("turned off") && run.fix().contains("`HttpEndpoint: enabled`"),
            "{}",
            run.why()
        );
    }
}

#[test]
fn there_is_no_way_back_to_version_1() {
    let service = faulty(|_, asked| {
        Some(if asked.method == "PUT" { Reply::new(404, "") } else { Reply::new(200, DOCUMENT) })
    });
    let run = node(&service).up();
    assert_eq!(run.kind, "permanent");
    assert!(run.why().contains("not version 2"), "{}", run.why());
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn what_every_instance_has_must_be_there() {
    let service = faulty(|_, asked| asked.path.ends_with("hostname").then(|| Reply::new(404, "")));
    let run = node(&service).up();
    assert_eq!(run.kind, "permanent");
    assert!(run.why().contains("the host's name (404)"), "{}", run.why());
}

#[test]
fn a_proxy_is_never_asked_for_the_service() {
    let service = Server::http(well);
    let node = node(&service).set(
        "environment",
        json!({"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "NO_PROXY": ""}),
    );
    assert!(learned(&node, &node.up())["region"].is_string());
}
