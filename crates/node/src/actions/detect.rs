//! The version of the cluster that a node is to join, before anything is changed on it.
//!
//! Every API server tells its version to everybody, unless somebody has closed that door: no credentials are needed, which
//! the node has not got yet.

use bringup_aws::{Method, Request};
use bringup_plan::{ApiServer, Plan, Skew, skew};
use bringup_progress::{Failure, FailureKind};
use serde::Deserialize;

use crate::network::Network;
use crate::web::Trust;

/// What the API server says of itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Version {
    git_version: String,
}

/// The tag of the API server's images. What it said in an earlier boot holds as long as the plan's own version may join.
pub(super) fn version(
    network: &Network,
    server: &ApiServer,
    plan: &Plan,
    remembered: Option<String>,
) -> Result<String, Failure> {
    if let Some(tag) = remembered
        && skew(&plan.kubernetes, &tag) == Some(Skew::Allowed)
    {
        return Ok(tag);
    }
    let tag = ask(network, server)?;
    let own = &plan.kubernetes;
    let why = match skew(own, &tag) {
        Some(Skew::Allowed) => return Ok(tag),
        Some(Skew::Newer) => format!("kubelet {own} is newer than the API server, {tag}"),
        Some(Skew::TooOld { most }) => {
            format!("kubelet {own} is more than {most} minors older than the API server, {tag}")
        }
        None => format!("the API server says that its version is `{tag}`, which is none of Kubernetes"),
    };
    let fix = "build a plan with the cluster's version, or upgrade the cluster; the agent goes on by itself";
    Err(Failure::new(FailureKind::Operator, why, fix))
}

fn ask(network: &Network, server: &ApiServer) -> Result<String, Failure> {
    let web = network.web.again(Trust::only(server.certificate_authority.clone()), None);
    let endpoint = server.endpoint.trim_end_matches('/');
    let request = Request {
        method: Method::Get,
        url: server.version_url(),
        headers: vec![("accept", "application/json".to_owned())],
        body: Vec::new(),
    };
    let reach = "see that this machine reaches the API server";
    let answer = web.send(&request).map_err(|fault| {
        let why = format!("the API server at {endpoint} cannot be asked for its version: {}", fault.why);
        Failure::new(FailureKind::Transient, why, reach)
    })?;
    match answer.status {
        200 => {
            let version: Version = serde_json::from_slice(&answer.body).unwrap_or_default();
            // A tag has no `+`.
            Ok(version.git_version.replace('+', "_"))
        }
        401 | 403 => Err(Failure::new(
            FailureKind::Operator,
            format!("the API server does not tell its version to everybody ({})", answer.status),
            "let `system:unauthenticated` have `system:public-info-viewer`, or take `detect` out of the document; the \
             agent goes on by itself",
        )),
        status => {
            let why = format!("the API server answers with {status} when it is asked for its version");
            Err(Failure::new(FailureKind::Transient, why, "see the API server's log"))
        }
    }
}

#[cfg(test)]
mod tests {
    use bringup_plan::ApiServer;
    use bringup_progress::{Failure, FailureKind};

    use super::version;
    use crate::actions::stage::{Stage, well};
    use crate::server::{Authority, Reply, Server};

    fn asked(status: u16, body: &str, remembered: Option<&str>) -> (Result<String, Failure>, usize) {
        let authority = Authority::new();
        let reply = Reply::new(status, body);
        let api = Server::https(&authority, &["127.0.0.1"], move |_| reply.clone());
        let stage = Stage::new(|_| Reply::new(500, ""), well);
        let server = ApiServer {
            endpoint: format!("https://{}/", api.address),
            certificate_authority: authority.pem.clone(),
        };
        let mut plan = stage.plan.clone();
        plan.kubernetes = "1.33.4".to_owned();
        let answer = version(&stage.network, &server, &plan, remembered.map(str::to_owned));
        (answer, api.asked().len())
    }

    fn told(version: &str) -> String {
        format!(r#"{{"major":"1","gitVersion":"{version}","platform":"linux/amd64"}}"#)
    }

    #[test]
    fn a_node_takes_the_clusters_version_where_it_may_join() {
        assert_eq!(asked(200, &told("v1.34.2+coreos.0"), None), (Ok("v1.34.2_coreos.0".to_owned()), 1));
        // Known from an earlier boot: nobody is asked.
        assert_eq!(asked(500, "", Some("v1.33.1")), (Ok("v1.33.1".to_owned()), 0));
        // Unless this plan could not join that.
        assert_eq!(asked(200, &told("v1.33.0"), Some("v1.31.0")), (Ok("v1.33.0".to_owned()), 1));
    }

    #[test]
    fn a_version_that_may_not_join_waits_for_the_operator() {
        for (status, body, why) in [
            (200, told("v1.32.9"), "kubelet 1.33.4 is newer than the API server, v1.32.9"),
            (200, told("v1.37.0"), "kubelet 1.33.4 is more than 3 minors older than the API server, v1.37.0"),
            (
                200,
                "<html>".to_owned(),
                "the API server says that its version is ``, which is none of Kubernetes",
            ),
            (403, String::new(), "the API server does not tell its version to everybody (403)"),
        ] {
            let failure = asked(status, &body, None).0.unwrap_err();
            assert_eq!((failure.kind, failure.why.as_str()), (FailureKind::Operator, why));
            assert!(!failure.fix.is_empty());
        }
        assert_eq!(asked(503, "", None).0.unwrap_err().kind, FailureKind::Transient);
    }
}
