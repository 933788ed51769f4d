//! How the node gets its credentials.

use bringup_spec::{AbsolutePath, AgentSource, Fact, JoinMethod, Phase, SecretSource, Text};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::SECRETS;
use crate::kubelet::kubeconfig::{User, kubeconfig};
use crate::steps::write_file;
use crate::{Content, Origin, Step, codes, kubeadm};

/// What the way to join adds to a plan.
#[derive(Default)]
pub(crate) struct Joining {
    /// Files, for the phase `configure`.
    pub(crate) files: Vec<Step>,
    /// Programs, for the phase `kubelet`.
    pub(crate) programs: Vec<Step>,
    /// Credentials that the node has once it has joined.
    pub(crate) kubeconfig: String,
}

/// Files and programs of the way to join.
pub(crate) fn joining(context: &mut Context<'_>, decisions: &Decisions) -> Joining {
    context.origin(
        "way to join",
        decisions.join.word(),
        Origin::Document(Context::spec_path(["join", "method"])),
    );
    if decisions.join == JoinMethod::Kubeadm {
        return kubeadm::joining(context, decisions);
    }
    let layout = decisions.layout;
    let mut joining = Joining { kubeconfig: layout.kubeconfig.to_owned(), ..Joining::default() };
    let written = context.spec.api.as_ref().and_then(|api| api.certificate_authority.as_ref());
    let authority = match written {
        None if context.learns_cluster() => {
            let how = || Origin::Node("from EKS, which is asked about the cluster".to_owned());
            context.origin("API endpoint", Text::fact(Fact::ClusterEndpoint).to_string(), how());
            context.origin("certificate authority of the API", "a certificate", how());
            Some(Text::fact(Fact::ClusterAuthority))
        }
        written => written.map(|authority| Text::literal(authority.pem())),
    };
    if let Some(authority) = authority {
        let body = Content::Text(authority);
        let path = layout.certificate_authority;
        joining.files.push(write_file("certificate-authority", Phase::Configure, path, "0644", body));
    }
    let join = &context.spec.join;
    match join.method {
        JoinMethod::EksToken => {
            let outpost = context.spec.api.as_ref().and_then(|api| api.cluster_id.clone());
            let path = if outpost.is_some() { layout.bootstrap_kubeconfig } else { layout.kubeconfig };
            let aws = context.spec.aws.as_ref();
            let cluster = outpost.unwrap_or_else(|| context.eks_name());
            let region = aws.map(|aws| aws.region.clone()).unwrap_or_default();
            let role = join.role_arn.clone();
            let user = if decisions.agent == AgentSource::None {
                User::EksAuthenticator { cluster, region, role }
            } else {
                User::EksToken { cluster, region, role }
            };
            let text = kubeconfig(context, user, layout.certificate_authority);
            let body = Content::Text(text);
            joining.files.push(write_file("kubeconfig", Phase::Configure, path, "0600", body));
        }
        JoinMethod::BootstrapToken => {
            let token = format!("{SECRETS}/bootstrap-token");
            if let Some(source) = &join.token {
                check_secret(context, &Context::spec_path(["join", "token"]), source);
                let body = Content::Secret(source.clone());
                joining.files.push(write_file("bootstrap-token", Phase::Configure, &token, "0600", body));
            }
            let text = kubeconfig(context, User::TokenFile(token), layout.certificate_authority);
            let body = Content::Text(text);
            let path = layout.bootstrap_kubeconfig;
            joining.files.push(write_file("bootstrap-kubeconfig", Phase::Configure, path, "0600", body));
        }
        JoinMethod::Kubeconfig => {
            if let Some(source) = &join.kubeconfig {
                check_secret(context, &Context::spec_path(["join", "kubeconfig"]), source);
                let body = Content::Secret(source.clone());
                joining.files.push(write_file(
                    "kubeconfig",
                    Phase::Configure,
                    layout.kubeconfig,
                    "0600",
                    body,
                ));
            }
        }
        JoinMethod::Kubeadm => {}
    }
    joining
}

/// A secret that only the compiling machine has does not reach a node that boots by itself.
pub(crate) fn check_secret(context: &mut Context<'_>, path: &bringup_yaml::Path, source: &SecretSource) {
    use bringup_spec::Carrier;
    let by_hand = context.group.carriers.iter().all(|carrier| *carrier == Carrier::Bundle)
        && !context.group.carriers.is_empty();
    if let SecretSource::File(file) = source
        && AbsolutePath::parse(file).is_err()
    {
        context.error(
            codes::SECRET_PATH,
            path,
            format!("the node would look for `{file}` in no particular place"),
            "write a path on the node, such as `/run/secrets/token`",
        );
    }
    if let SecretSource::Environment(name) = source
        && !by_hand
    {
        context.warning(
            codes::SECRET_ENVIRONMENT,
            path,
            format!("the variable `{name}` is on this machine, not on the node: only over SSH can it be handed over"),
            "for machines that boot by themselves use `ssmParameter`, `secretsManager`, `s3` or a `file` on the node",
        );
    }
}
