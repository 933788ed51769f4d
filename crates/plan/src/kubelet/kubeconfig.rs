//! Credentials files for the API server. None of them holds a secret: a token is run for, or read from its own file.

use bringup_spec::{Fact, Text};
use bringup_yaml::{Value, to_yaml};

use crate::context::Context;
use crate::flavour::AGENT;
use crate::template;

/// What makes a token on EKS' images of Amazon Linux 2 and Ubuntu.
const AUTHENTICATOR: &str = "/usr/bin/aws-iam-authenticator";

/// Who asks, and how it shows that.
pub(crate) enum User {
    /// The agent makes a token from the instance's own credentials.
    EksToken { cluster: String, region: String, role: Option<String> },
    /// The image's own program makes such a token, where there is no agent.
    EksAuthenticator { cluster: String, region: String, role: Option<String> },
    /// A token that stands in a file.
    TokenFile(String),
}

/// A kubeconfig for `user`.
pub(crate) fn kubeconfig(context: &Context<'_>, user: User, authority: &str) -> Text {
    let api = context.spec.api.as_ref();
    let learned = context.learns_cluster();
    let endpoint = match api {
        None if learned => template::marked(&Text::fact(Fact::ClusterEndpoint)),
        api => api.map(|api| api.endpoint.clone()).unwrap_or_default(),
    };
    let mut cluster = Value::map::<&str, Value>([("server", endpoint.into())]);
    if learned || api.is_some_and(|api| api.certificate_authority.is_some()) {
        cluster.set("certificate-authority", authority);
    }
    let credentials = match user {
        User::TokenFile(path) => Value::map([("tokenFile", path)]),
        User::EksToken { cluster, region, role } => {
            let mut arguments =
                vec!["token".to_owned(), "--cluster".to_owned(), cluster, "--region".to_owned(), region];
            if let Some(role) = role {
                arguments.extend(["--role".to_owned(), role]);
            }
            Value::map([("exec", exec(AGENT, arguments))])
        }
        User::EksAuthenticator { cluster, region, role } => {
            let mut arguments =
                vec!["token".to_owned(), "-i".to_owned(), cluster, "--region".to_owned(), region];
            if let Some(role) = role {
                arguments.extend(["-r".to_owned(), role]);
            }
            Value::map([("exec", exec(AUTHENTICATOR, arguments))])
        }
    };
    template::unmarked(&to_yaml(&Value::map::<&str, Value>([
        ("apiVersion", "v1".into()),
        ("kind", "Config".into()),
        ("current-context", "kubelet".into()),
        ("clusters", named("kubernetes", "cluster", cluster)),
        (
            "contexts",
            named("kubelet", "context", Value::map([("cluster", "kubernetes"), ("user", "kubelet")])),
        ),
        ("users", named("kubelet", "user", credentials)),
    ])))
}

fn exec(command: &str, arguments: Vec<String>) -> Value {
    Value::map::<&str, Value>([
        ("apiVersion", "client.authentication.k8s.io/v1beta1".into()),
        ("command", command.into()),
        ("args", Value::list(arguments)),
        ("interactiveMode", "Never".into()),
    ])
}

fn named(name: &str, key: &str, value: Value) -> Value {
    Value::list([Value::map::<&str, Value>([("name", name.into()), (key, value)])])
}
