use super::*;
use crate::actions::stage::{Stage, soon, well};
use crate::server::{Reply, Server};

fn target(pairs: &[(&str, &str)]) -> BTreeMap<String, Text> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Text::literal(*value))).collect()
}

fn failed() -> Failed {
    let text = r#"{"at_ms":1,"boot":"b","identity":"i","cluster":"demo","group":"workers","plan":"p",
        "step":"fetch:tool","attempts":3,"why":"it is gone","fix":"bring it back","tail":"hidden"}"#;
    serde_json::from_str(text).unwrap()
}

fn send(
    stage: &Stage,
    kind: SignalKind,
    target: &BTreeMap<String, Text>,
    token: Option<&SecretSource>,
    failed: Option<&Failed>,
) -> Result<(), Failure> {
    let knowledge = stage.knowledge();
    let Stage { machine, plan, network, .. } = stage;
    Messenger { machine, plan, knowledge: &knowledge, network, deadline: soon() }
        .send(kind, target, token, failed)
}

#[test]
fn a_stack_hears_its_instance_by_the_identity_document() {
    let stage = Stage::new(|_| Reply::new(200, "{}"), well);
    stage.write("/etc/bringup/stack.json", r#"{"resource":"NodeGroup","stack":"nodes"}"#);
    send(&stage, SignalKind::CloudFormation, &target(&[]), None, None).unwrap();
    let named = target(&[("stack", "other"), ("resource", "Group")]);
    send(&stage, SignalKind::CloudFormation, &named, None, Some(&failed())).unwrap();
    let asked = stage.services.asked();
    let fixed = "/?Action=SignalResource&Version=2010-05-15";
    assert_eq!(
        [asked[0].path.as_str(), asked[1].path.as_str()],
        [
            format!(
                "{fixed}&StackName=nodes&LogicalResourceId=NodeGroup&UniqueId=i-0123456789abcdef0&Status=SUCCESS&ContentType=JSON"
            ),
            format!(
                "{fixed}&StackName=other&LogicalResourceId=Group&UniqueId=i-0123456789abcdef0&Status=FAILURE&ContentType=JSON"
            ),
        ]
    );
    let shown = asked[0].header("authorization");
    assert!(shown.starts_with("CFN_V1 ") && shown.ends_with(":c2lnbmF0dXJl"), "{shown}");
}

#[test]
fn a_role_is_the_other_way() {
    let refusal = r#"{"Error":{"Code":"AccessDenied","Message":"no","Type":"Sender"}}"#;
    let stage = Stage::new(
        move |asked| if asked.method == "GET" { Reply::new(403, refusal) } else { Reply::new(200, "<x/>") },
        well,
    );
    let named = target(&[("stack", "nodes"), ("resource", "Group")]);
    send(&stage, SignalKind::CloudFormation, &named, None, None).unwrap();
    let asked = stage.services.asked();
    assert_eq!((asked.len(), asked[1].method.as_str()), (2, "POST"));
    assert!(asked[1].header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE/"));
    assert!(String::from_utf8_lossy(&asked[1].body).contains("Status=SUCCESS"));

    // Without a role, the first refusal is what counts.
    let bare = Stage::new(
        move |_| Reply::new(403, refusal),
        |asked| {
            if asked.path.contains("security-credentials") { Reply::new(404, "") } else { well(asked) }
        },
    );
    let failure = send(&bare, SignalKind::CloudFormation, &named, None, None).unwrap_err();
    assert!(failure.why.contains("cloudformation:SignalResource"), "{}", failure.why);
    assert_eq!(failure.kind, FailureKind::Operator);
}

#[test]
fn a_signal_that_nobody_waits_for_is_no_failure() {
    let over = r#"{"Error":{"Code":"ValidationError","Message":"Resource NodeGroup is in CREATE_COMPLETE state and cannot be signaled"}}"#;
    let stage = Stage::new(move |_| Reply::new(400, over), well);
    let named = target(&[("stack", "nodes"), ("resource", "NodeGroup")]);
    send(&stage, SignalKind::CloudFormation, &named, None, None).unwrap();
    assert_eq!(stage.services.asked().len(), 1);
}

#[test]
fn a_stack_that_nobody_names_needs_the_operator() {
    let stage = Stage::new(|_| Reply::new(200, ""), well);
    let failure = send(&stage, SignalKind::CloudFormation, &target(&[]), None, None).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Operator);
    assert!(failure.why.contains("stack"), "{}", failure.why);
}

#[test]
fn a_life_cycle_hook_goes_on_or_gives_the_instance_up() {
    let stage = Stage::new(|_| Reply::new(200, "<x/>"), well);
    stage.write("/etc/bringup/stack.json", r#"{"group":"nodes-abc"}"#);
    let hook = target(&[("hook", "launching")]);
    send(&stage, SignalKind::LifecycleAction, &hook, None, None).unwrap();
    send(&stage, SignalKind::LifecycleAction, &hook, None, Some(&failed())).unwrap();
    let bodies: Vec<String> =
        stage.services.asked().iter().map(|asked| String::from_utf8(asked.body.clone()).unwrap()).collect();
    for (body, result) in bodies.iter().zip(["CONTINUE", "ABANDON"]) {
        for part in
            ["AutoScalingGroupName=nodes-abc", "LifecycleHookName=launching", result, "i-0123456789abcdef0"]
        {
            assert!(body.contains(part), "{part}: {body}");
        }
    }
    // A session, a name, credentials; the second signal asks nobody.
    assert_eq!(stage.metadata.asked().len(), 3);
}

#[test]
fn a_listener_hears_who_it_was_and_how_it_ended() {
    let listener = Server::http(|asked| {
        Reply::new(if asked.header("authorization") == "Bearer hiddenword" { 204 } else { 401 }, "")
    });
    let stage = Stage::new(|_| Reply::new(500, ""), well);
    stage.write("/etc/token", "hiddenword\n");
    let token = SecretSource::File("/etc/token".to_owned());
    let place = target(&[("url", &listener.url("/nodes?key=hidden"))]);
    send(&stage, SignalKind::Http, &place, Some(&token), None).unwrap();
    send(&stage, SignalKind::Http, &place, Some(&token), Some(&failed())).unwrap();
    let bodies: Vec<Value> =
        listener.asked().iter().map(|asked| serde_json::from_slice(&asked.body).unwrap()).collect();
    let said = |body: &Value| {
        let mut body = body.clone();
        body.as_object_mut().unwrap().remove("atMs").unwrap();
        body
    };
    let mut expected = json!({
        "outcome": "success", "cluster": "demo", "group": "workers", "kubernetes": "1.33",
        "node": "ip-10-0-1-2.ec2.internal", "instance": "i-0123456789abcdef0",
    });
    assert_eq!(said(&bodies[0]), expected);
    expected["outcome"] = json!("failure");
    expected["failure"] = json!({"step": "fetch:tool", "why": "it is gone", "fix": "bring it back"});
    assert_eq!(said(&bodies[1]), expected);
    assert_eq!(listener.asked()[0].header("content-type"), "application/json");

    stage.write("/etc/token", "another");
    let failure = send(&stage, SignalKind::Http, &place, Some(&token), None).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Operator);
    assert!(failure.why.ends_with("/nodes answered with 401"), "{}", failure.why);
}

#[test]
fn a_busy_listener_is_asked_again() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let listener = Server::http(move |_| {
        let first = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        Reply::new(if first { 503 } else { 200 }, "")
    });
    let stage = Stage::new(|_| Reply::new(500, ""), well);
    send(&stage, SignalKind::Http, &target(&[("url", &listener.url("/"))]), None, None).unwrap();
    assert_eq!(listener.asked().len(), 2);
}

#[test]
fn a_directory_that_stands_for_a_machine_tells_files_only() {
    let listener = Server::http(|_| Reply::new(200, ""));
    let mut stage = Stage::new(|_| Reply::new(200, ""), well);
    let steps = json!([
        {"name": "signal:http", "phase": "report",
         "action": {"do": "signal", "kind": "http", "target": {"url": listener.url("/")}}},
        {"name": "signal:file", "phase": "report",
         "action": {"do": "signal", "kind": "file", "target": {"path": "/var/lib/outcome.json"}}},
    ]);
    stage.plan.steps = serde_json::from_value(steps).unwrap();
    failure(&stage.machine, &stage.plan, &stage.knowledge(), &stage.network, &failed());
    assert!(listener.asked().is_empty());
    let written: Value =
        serde_json::from_slice(&std::fs::read(stage.path("/var/lib/outcome.json")).unwrap()).unwrap();
    assert_eq!((&written["outcome"], &written["failure"]["step"]), (&json!("failure"), &json!("fetch:tool")));
}
