//! Holds kubelet's version against the API server's own.

use bringup_plan::Skew;
use bringup_progress::{Failure, FailureKind};
use serde::Deserialize;

use super::{Asker, SEE_KUBELET, Seen};

/// What a node object says of kubelet.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Node {
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    node_info: NodeInfo,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo {
    kubelet_version: String,
}

/// What the API server says of itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Server {
    git_version: String,
}

/// Asks the API server for its version, and judges. `node` is the node object as it came.
pub(super) fn look(asker: &Asker, node: &[u8]) -> Result<Seen, Failure> {
    let kubelet = serde_json::from_slice::<Node>(node).unwrap_or_default().status.node_info.kubelet_version;
    if kubelet.is_empty() {
        let why = "kubelet has not told its version yet".to_owned();
        return Ok(Seen::NotYet { why, fix: SEE_KUBELET });
    }
    let answer = match asker.ask("/version") {
        Ok(answer) => answer,
        Err(why) => return Ok(Seen::NotYet { why, fix: "see that this machine reaches the API server" }),
    };
    match answer.status {
        200 => {}
        403 => {
            return Ok(Seen::Hidden(
                "the API server does not tell this machine its version (403)".to_owned(),
            ));
        }
        status => {
            let why = format!("the API server answers with {status} when it is asked for its version");
            return Ok(Seen::NotYet { why, fix: "see the API server's log" });
        }
    }
    let server = serde_json::from_slice::<Server>(&answer.body).unwrap_or_default().git_version;
    match bringup_plan::skew(&kubelet, &server) {
        Some(Skew::Allowed) => Ok(Seen::Registered),
        Some(Skew::Newer) => Err(refused(
            format!("kubelet {kubelet} is newer than the API server, which is {server}"),
            "bring the control plane up to it first, or give the node an older kubelet",
        )),
        Some(Skew::TooOld { most }) => Err(refused(
            format!(
                "kubelet {kubelet} is too old for the API server, which is {server}: at most {most} minors may lie between"
            ),
            "give the node a newer kubelet",
        )),
        None => {
            let why = format!("`{kubelet}` of kubelet and `{server}` of the API server cannot be compared");
            Ok(Seen::NotYet { why, fix: "see what answers at the API server's address" })
        }
    }
}

fn refused(why: String, fix: &str) -> Failure {
    Failure::new(FailureKind::Operator, why, format!("{fix}; the agent goes on by itself"))
}
