//! What the answers of services mean: signals, secrets, roles, tokens for kubelet.

use bringup_aws::signal::{Heard, LifecycleAction, Outcome, StackSignal};
use bringup_aws::token::{ExecError, ExecVersion, Token};
use bringup_aws::{Credentials, Fault, Moment, Response, Secret, store, token};
use proptest::prelude::*;

fn response(status: u16, body: &str) -> Response<'_> {
    Response { status, body: body.as_bytes() }
}

fn credentials(expires: Option<u64>) -> Credentials {
    Credentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: Secret::new("hidden-key".to_owned()),
        session_token: Some(Secret::new("hidden-token".to_owned())),
        expires: expires.map(Moment::from_unix),
    }
}

const SIGNAL: StackSignal<'_> = StackSignal {
    region: "eu-central-1",
    stack: "arn:aws:cloudformation:eu-central-1:123456789012:stack/demo/1",
    resource: "Group",
    instance: "i-0123456789abcdef0",
    outcome: Outcome::Failure,
};

/// The header is what `CFNSigner` of aws-cfn-bootstrap 1.4-31 gives for these two answers of the metadata service; the
/// fields are those of its `signal_resource`.
#[test]
fn a_signal_by_identity_is_that_of_cfn_signal() {
    let document = "{\n  \"accountId\" : \"123456789012\",\n  \"instanceId\" : \"i-0123456789abcdef0\"\n}\n";
    let request = SIGNAL.with_identity(document, "dExhbXBsZS1zaWduYXR1cmU\nAAECAwQFBgc=\n");
    assert_eq!(
        request.header("authorization"),
        Some(
            "CFN_V1 ewogICJhY2NvdW50SWQiIDogIjEyMzQ1Njc4OTAxMiIsCiAgImluc3RhbmNlSWQiIDogImktMDEyMzQ1Njc4OWFiY2RlZjAiCn0=:dExhbXBsZS1zaWduYXR1cmUAAECAwQFBgc="
        )
    );
    assert_eq!(request.header("accept"), Some("application/json"));
    assert_eq!(request.method.as_str(), "GET");
    assert_eq!(
        request.url,
        "https://cloudformation.eu-central-1.amazonaws.com/?Action=SignalResource&Version=2010-05-15&StackName=arn%3Aaws%3Acloudformation%3Aeu-central-1%3A123456789012%3Astack%2Fdemo%2F1&LogicalResourceId=Group&UniqueId=i-0123456789abcdef0&Status=FAILURE&ContentType=JSON"
    );
}

#[test]
fn a_signal_that_nobody_awaits_is_no_fault() {
    let xml = |code: &str, message: &str| {
        format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>"
        )
    };
    assert_eq!(StackSignal::heard(response(200, "{}")), Ok(Heard::Taken));
    for message in [
        "Resource Group is in CREATE_COMPLETE state and cannot be signaled",
        "Signal with ID i-0123456789abcdef0 for resource Group already exists. Signals may only be updated with a FAILURE status.",
    ] {
        assert_eq!(
            StackSignal::heard(response(400, &xml("ValidationError", message))),
            Ok(Heard::NotAwaited)
        );
        let json =
            format!(r#"{{"Error":{{"Code":"ValidationError","Message":"{message}","Type":"Sender"}}}}"#);
        assert_eq!(StackSignal::heard(response(400, &json)), Ok(Heard::NotAwaited));
    }
    let gone = xml("ValidationError", "Stack demo does not exist");
    assert!(matches!(StackSignal::heard(response(400, &gone)), Err(Fault::Permanent(_))));
    let busy = xml("Throttling", "Rate exceeded");
    assert!(StackSignal::heard(response(400, &busy)).unwrap_err().is_transient());

    let over =
        xml("ValidationError", "No active Lifecycle Action found with instance ID i-0123456789abcdef0");
    assert_eq!(LifecycleAction::heard(response(400, &over)), Ok(Heard::NotAwaited));
    let denied = LifecycleAction::heard(response(403, &xml("AccessDenied", "no"))).unwrap_err();
    assert_eq!(
        denied.hint().as_deref(),
        Some("allow `autoscaling:CompleteLifecycleAction` in a policy of the instance's role")
    );
}

#[test]
fn an_instance_that_failed_is_abandoned() {
    let action = LifecycleAction {
        region: "eu-central-1",
        group: "a group/1",
        hook: "launching",
        instance: "i-0123456789abcdef0",
        outcome: Outcome::Failure,
    };
    let request = action.with_credentials(&credentials(None), Moment::from_unix(0));
    let body = String::from_utf8(request.body).unwrap();
    assert!(body.contains("LifecycleActionResult=ABANDON"), "{body}");
    assert!(body.contains("AutoScalingGroupName=a%20group%2F1"), "{body}");
}

#[test]
fn values_are_read_and_never_printed() {
    let body = r#"{"Parameter":{"Name":"/demo/token","Type":"SecureString","Value":"hidden\n","Version":1}}"#;
    let value = store::parameter_value(response(200, body)).unwrap();
    assert_eq!(value.expose(), b"hidden\n");
    assert_eq!(format!("{value:?}"), "***");
    let text = r#"{"ARN":"arn","Name":"demo/token","SecretString":"hidden","VersionStages":["AWSCURRENT"]}"#;
    assert_eq!(store::secret_value(response(200, text)).unwrap().expose(), b"hidden");
    let bytes = r#"{"Name":"demo/token","SecretBinary":"AAH/"}"#;
    assert_eq!(store::secret_value(response(200, bytes)).unwrap().expose(), &[0, 1, 255]);
    let broken = r#"{"Name":"demo/token","SecretBinary":"!"}"#;
    assert_eq!(
        store::secret_value(response(200, broken)),
        Err(Fault::Unreadable { action: "secretsmanager:GetSecretValue" })
    );
    assert_eq!(
        store::parameter_value(response(200, "<html>")),
        Err(Fault::Unreadable { action: "ssm:GetParameter" })
    );
    let missing = store::parameter_value(response(400, r#"{"__type":"ParameterNotFound"}"#)).unwrap_err();
    assert_eq!(missing.to_string(), "`ssm:GetParameter` was answered with 400 ParameterNotFound");
    assert!(!missing.is_transient());
}

#[test]
fn a_value_of_another_region_is_asked_for_there() {
    let arn = "arn:aws:ssm:eu-west-1:123456789012:parameter/demo";
    let request = store::parameter(arn, "us-east-1", &credentials(None), Moment::from_unix(0));
    assert_eq!(request.url, "https://ssm.eu-west-1.amazonaws.com/");
    assert!(request.header("authorization").unwrap().contains("/eu-west-1/ssm/"));
}

/// The form of STS' API reference, with other values.
#[test]
fn a_role_can_be_assumed() {
    let body = "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">
  <AssumeRoleResult>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/nodes/bringup-node</Arn><AssumedRoleId>AROA:x</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>ASIAEXAMPLE</AccessKeyId>
      <SecretAccessKey>hidden+key</SecretAccessKey>
      <SessionToken>hidden/token==</SessionToken>
      <Expiration>2026-03-04T06:06:07Z</Expiration>
    </Credentials>
  </AssumeRoleResult>
</AssumeRoleResponse>";
    let found = token::assumed_role(response(200, body)).unwrap();
    assert_eq!(found.access_key_id, "ASIAEXAMPLE");
    assert_eq!(found.secret_access_key.expose(), "hidden+key");
    assert_eq!(found.session_token.unwrap().expose(), "hidden/token==");
    assert_eq!(found.expires, Moment::parse_rfc3339("2026-03-04T06:06:07Z"));
    assert_eq!(
        token::assumed_role(response(200, "<html>")),
        Err(Fault::Unreadable { action: "sts:AssumeRole" })
    );
}

#[test]
fn a_token_does_not_outlive_its_credentials() {
    let at = Moment::from_unix(1_000_000);
    let expires =
        |credentials: &Credentials| token::bearer("demo", "eu-west-1", credentials, at).expires.unix();
    assert_eq!(expires(&credentials(None)), 1_000_840);
    assert_eq!(expires(&credentials(Some(1_000_841))), 1_000_840);
    assert_eq!(expires(&credentials(Some(1_000_300))), 1_000_300);
}

#[test]
fn kubelet_gets_the_form_that_it_asks_for() {
    let info = |version: &str| {
        format!(r#"{{"kind":"ExecCredential","apiVersion":"{version}","spec":{{"interactive":false}}}}"#)
    };
    let beta = "client.authentication.k8s.io/v1beta1";
    let stable = "client.authentication.k8s.io/v1";
    assert_eq!(ExecVersion::asked_for(None), Ok(ExecVersion::V1Beta1));
    assert_eq!(ExecVersion::asked_for(Some("")), Ok(ExecVersion::V1Beta1));
    assert_eq!(ExecVersion::asked_for(Some(&info(beta))), Ok(ExecVersion::V1Beta1));
    assert_eq!(ExecVersion::asked_for(Some(&info(stable))), Ok(ExecVersion::V1));
    assert_eq!(ExecVersion::asked_for(Some("{")), Err(ExecError::Unreadable));
    let alpha = "client.authentication.k8s.io/v1alpha1";
    assert_eq!(ExecVersion::asked_for(Some(&info(alpha))), Err(ExecError::Version(alpha.to_owned())));

    let token =
        Token { bearer: Secret::new("k8s-aws-v1.x".to_owned()), expires: Moment::from_unix(1_772_601_607) };
    let printed: serde_json::Value = serde_json::from_str(&ExecVersion::V1.credential(&token)).unwrap();
    assert_eq!(
        printed,
        serde_json::json!({
            "kind": "ExecCredential",
            "apiVersion": stable,
            "spec": {},
            "status": {"expirationTimestamp": "2026-03-04T05:20:07Z", "token": "k8s-aws-v1.x"},
        })
    );
}

#[test]
fn requests_and_responses_do_not_print_what_they_hold() {
    let at = Moment::from_unix(0);
    let requests = [
        SIGNAL.with_identity("hidden-document", "hidden-signature"),
        store::secret("demo", "eu-west-1", &credentials(None), at),
        token::assume_role("arn:aws:iam::123456789012:role/nodes", "eu-west-1", &credentials(None), at),
    ];
    let printed = format!("{requests:?} {:?}", response(200, "hidden"));
    assert!(!printed.contains("hidden") && !printed.contains("SignalResource"), "{printed}");
    assert!(printed.contains("GET https://cloudformation.eu-central-1.amazonaws.com/"), "{printed}");
}

proptest! {
    #[test]
    fn any_answer_is_a_value_or_a_fault(status in prop_oneof![Just(200_u16), any::<u16>()], body: Vec<u8>) {
        let response = Response { status, body: &body };
        let _ = StackSignal::heard(response);
        let _ = LifecycleAction::heard(response);
        let _ = store::parameter_value(response);
        let _ = store::secret_value(response);
        let _ = store::Object::refused(response);
        let _ = token::assumed_role(response);
        let _ = ExecVersion::asked_for(std::str::from_utf8(&body).ok());
    }

    #[test]
    fn any_name_can_be_asked_for(name in ".{0,40}", seconds: u64) {
        let at = Moment::from_unix(seconds);
        let credentials = credentials(None);
        let requests = [
            store::parameter(&name, "eu-west-1", &credentials, at),
            store::secret(&name, "eu-west-1", &credentials, at),
            token::assume_role(&name, "eu-west-1", &credentials, at),
            StackSignal { stack: &name, ..SIGNAL }.with_identity(&name, &name),
        ];
        for request in requests {
            prop_assert!(request.url.bytes().all(|byte| byte.is_ascii_graphic()));
        }
        if let Ok(object) = store::Object::parse(&format!("s3://plans/{name}")) {
            let url = object.get("eu-west-1", 0, &credentials, at).url;
            prop_assert!(url.starts_with("https://plans.s3.eu-west-1.amazonaws.com/"));
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}

/// The answers that S3's documentation of conditional writes names.
#[test]
fn whoever_is_second_finds_the_object_there() {
    let answer = |status, code: &str| {
        let body = format!("<Error><Code>{code}</Code><Message>no</Message></Error>");
        store::Object::put_answer(response(status, &body))
    };
    assert_eq!(store::Object::put_answer(response(200, "")), Ok(true));
    assert_eq!(answer(412, "PreconditionFailed"), Ok(false));
    // Two at the same moment: one of them asks again.
    assert!(answer(409, "ConditionalRequestConflict").is_err_and(|fault| fault.is_transient()));
    let denied = answer(403, "AccessDenied").unwrap_err();
    assert_eq!(denied.hint().as_deref(), Some("allow `s3:PutObject` in a policy of the instance's role"));
}
