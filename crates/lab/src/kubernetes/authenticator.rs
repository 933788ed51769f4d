//! Stands in for the webhook by which an EKS cluster knows its nodes. It does not ask STS who signed a token: it takes
//! every token that the role of the lab's own instances has signed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::LabFault;
use crate::metadata::ACCESS_KEY;
use crate::network::Network;

/// Where the API server asks.
const PLACE: &str = "127.0.0.1:21362";
/// Longer questions are none of the API server's.
const LONGEST: u64 = 1 << 20;
/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the API server reads to find it.
pub(super) fn settings() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": format!("http://{PLACE}/authenticate")}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        "users": [{"name": "lab", "user": {}}],
    })
}

/// Answers in the machine's network, in whose role this node asks, and notes that it was needed; the thread ends with
/// the process.
pub(super) fn serve(network: &Network, node: &str, needed: &Arc<AtomicBool>) -> Result<(), LabFault> {
    let (file, node, needed) = (network.file(), node.to_owned(), Arc::clone(needed));
    let (ready, waiting) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let listener = Network::enter(&file).and_then(|()| {
            TcpListener::bind(PLACE).map_err(LabFault::system("stand in for EKS' authenticator"))
        });
        match listener {
            Ok(listener) => {
                let _ = ready.send(Ok(()));
                for stream in listener.incoming().flatten() {
                    let _ = converse(stream, &node, &needed);
                }
            }
            Err(fault) => {
                let _ = ready.send(Err(fault));
            }
        }
    });
    waiting.recv().unwrap_or(Ok(()))
}

fn converse(mut stream: TcpStream, node: &str, needed: &AtomicBool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?.take(LONGEST));
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let answer = review(&serde_json::from_slice(&body).unwrap_or_default(), node);
    if answer.pointer("/status/authenticated") == Some(&Value::Bool(true)) {
        needed.store(true, Ordering::Relaxed);
    }
    let answer = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{answer}", answer.len())
}

/// The answer to the API server's question who has signed a token.
fn review(question: &Value, node: &str) -> Value {
    let token = question.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
    let status = if is_ours(token) {
        let groups = ["system:bootstrappers", "system:nodes"];
        json!({"authenticated": true, "user": {"username": format!("system:node:{node}"), "groups": groups}})
    } else {
        json!({"authenticated": false})
    };
    json!({"apiVersion": question.get("apiVersion"), "kind": "TokenReview", "status": status})
}

/// Whether a token is a presigned question to STS, for a cluster, by the role of the lab's instances.
fn is_ours(token: &str) -> bool {
    let url = token.strip_prefix("k8s-aws-v1.").and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let Some(url) = url.and_then(|url| String::from_utf8(url).ok()) else { return false };
    let Some((place, query)) = url.split_once('?') else { return false };
    let has = |name: &str, begin: &str| {
        query.split('&').any(|pair| {
            pair.split_once('=').is_some_and(|(key, value)| key == name && value.starts_with(begin))
        })
    };
    place.starts_with("https://sts.")
        && has("Action", "GetCallerIdentity")
        && has("X-Amz-Credential", ACCESS_KEY)
        && has("X-Amz-SignedHeaders", "host%3Bx-k8s-aws-id")
        && has("X-Amz-Signature", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authenticated(url: &str) -> bool {
        let token = format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url));
        let question = json!({"apiVersion": "authentication.k8s.io/v1", "spec": {"token": token}});
        review(&question, "node1").pointer("/status/authenticated") == Some(&json!(true))
    }

    #[test]
    fn only_questions_of_the_labs_own_role_to_sts_are_taken() {
        let good = format!(
            "https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Credential={ACCESS_KEY}%2F20261116\
             &X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00"
        );
        assert!(authenticated(&good));
        assert!(!authenticated(&good.replace("sts.", "evil.")));
        assert!(!authenticated(&good.replace("GetCallerIdentity", "AssumeRole")));
        assert!(!authenticated(&good.replace(ACCESS_KEY, "ASIAOTHER")));
        assert!(!authenticated(&good.replace("%3Bx-k8s-aws-id", "")));
        assert!(!authenticated("https://sts.amazonaws.com/"));
    }

    #[test]
    fn the_node_is_told_with_its_groups() {
        let question = json!({"apiVersion": "authentication.k8s.io/v1", "spec": {"token": "another"}});
        assert_eq!(
            review(&question, "node1"),
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": {"authenticated": false}})
        );
    }
}
