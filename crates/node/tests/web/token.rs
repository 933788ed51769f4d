//! `bringup-node token`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::agent::agent;
use crate::metadata::well;
use crate::server::{Reply, Server};

#[test]
fn a_token_is_a_question_to_sts_that_is_signed_for_the_cluster() {
    let metadata = Server::http(well);
    for version in ["v1", "v1beta1"] {
        let info =
            format!(r#"{{"apiVersion":"client.authentication.k8s.io/{version}","kind":"ExecCredential"}}"#);
        let output = agent(&metadata.url(""))
            .args(["token", "--cluster", "demo", "--region", "eu-central-1"])
            .env("KUBERNETES_EXEC_INFO", info)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(printed["kind"], "ExecCredential");
        assert_eq!(printed["apiVersion"], format!("client.authentication.k8s.io/{version}"));
        let token = printed["status"]["token"].as_str().unwrap().strip_prefix("k8s-aws-v1.").unwrap();
        let url = String::from_utf8(URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap();
        assert!(
            url.starts_with("https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&"),
            "{url}"
        );
        assert!(url.contains("X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"), "{url}");
        assert!(url.contains("X-Amz-Security-Token=hiddentoken"), "{url}");
    }
    // A session, the role's name, its credentials, twice.
    assert_eq!(metadata.asked().len(), 6);
}

#[test]
fn what_goes_wrong_is_told_apart_from_the_token() {
    let bare = Server::http(|asked| if asked.method == "PUT" { well(asked) } else { Reply::new(404, "") });
    let output = agent(&bare.url(""))
        .args(["token", "--cluster", "demo", "--region", "eu-central-1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the instance has no role"), "{said}");
    let odd = agent(&bare.url(""))
        .args(["token", "--cluster", "demo", "--region", "eu-central-1"])
        .env("KUBERNETES_EXEC_INFO", r#"{"apiVersion":"client.authentication.k8s.io/v1alpha1"}"#)
        .output()
        .unwrap();
    assert_eq!(odd.status.code(), Some(2));
}
