//! How kubelet gets credentials for images.

use bringup_kubelet::Minor;
use bringup_spec::ImageCredentialProvider;
use serde_json::{Value, json};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::operator::check_variables;
use crate::{aws, codes};

/// Where EKS' images keep ECR's provider.
const EKS_DIRECTORY: &str = "/etc/eks/image-credential-provider";

/// The program of ECR's provider.
const ECR: &str = "ecr-credential-provider";

/// The first kubelet that asks a program for credentials.
pub(crate) const FIRST: Minor = Minor(20);

/// The first minor whose ECR provider speaks anything newer than the first version of the protocol.
const ECR_SPEAKS_V1: Minor = Minor(27);

/// The directory of the provider's program, if there is a provider.
pub(crate) fn directory(context: &Context<'_>, decisions: &Decisions) -> Option<String> {
    if context.minor < FIRST {
        return None;
    }
    match &context.group.image_credential_provider {
        Some(provider) => Some(provider.bin_dir.as_str().to_owned()),
        None => decisions.eks_image.then(|| EKS_DIRECTORY.to_owned()),
    }
}

/// Checks the operator's own provider.
pub(crate) fn check(context: &mut Context<'_>) {
    let Some(provider) = &context.group.image_credential_provider else { return };
    let path = context.at(["imageCredentialProvider"]);
    if provider.name.contains('/') || provider.name.contains(char::is_whitespace) {
        let message = format!("`{}` is no name of a program", provider.name);
        let hint = "write its name alone: `binDir` says where it is";
        context.error(codes::CREDENTIAL_PROVIDER, &path.key("name"), message, hint);
    }
    if provider.match_images.is_empty() && provider.name != ECR {
        let message = format!("nothing says which images `{}` is asked about", provider.name);
        let hint = "add `matchImages: [registry.example.com]`";
        context.error(codes::CREDENTIAL_PROVIDER, &path, message, hint);
    }
    for (index, image) in provider.match_images.iter().enumerate() {
        if image.contains(char::is_whitespace) || image.contains("://") {
            let message = format!("`{image}` matches no image");
            let hint = "write a registry such as `*.example.com`, without a scheme";
            context.error(codes::CREDENTIAL_PROVIDER, &path.key("matchImages").index(index), message, hint);
        }
    }
    let names = provider.environment.keys();
    check_variables(context, &path.key("environment"), names, codes::CREDENTIAL_PROVIDER);
}

/// The provider's configuration, if there is a provider.
pub(crate) fn config(context: &Context<'_>, decisions: &Decisions) -> Option<Value> {
    directory(context, decisions)?;
    let given = context.group.image_credential_provider.as_ref();
    let name = given.map_or(ECR, |provider| provider.name.as_str());
    // The newest that kubelet speaks, but for ECR's provider, which learnt it later; every kubelet speaks the oldest.
    let version = match context.minor {
        minor if minor < Minor(24) || (name == ECR && minor < ECR_SPEAKS_V1) => "v1alpha1",
        minor if minor < Minor(26) => "v1beta1",
        _ => "v1",
    };
    let mut provider = json!({
        "name": name,
        "apiVersion": format!("credentialprovider.kubelet.k8s.io/{version}"),
        "defaultCacheDuration": cache_duration(given),
        "matchImages": match_images(context, given),
    });
    if let (Some(fields), Some(given)) = (provider.as_object_mut(), given) {
        if !given.args.is_empty() {
            fields.insert("args".to_owned(), json!(given.args));
        }
        if !given.environment.is_empty() {
            let variables: Vec<Value> =
                given.environment.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
            fields.insert("env".to_owned(), json!(variables));
        }
    }
    Some(json!({
        "apiVersion": format!("kubelet.config.k8s.io/{version}"),
        "kind": "CredentialProviderConfig",
        "providers": [provider],
    }))
}

fn cache_duration(given: Option<&ImageCredentialProvider>) -> String {
    given
        .and_then(|provider| provider.cache_duration)
        .map_or_else(|| "12h0m0s".to_owned(), |span| format!("{}ms", span.milliseconds))
}

fn match_images(context: &Context<'_>, given: Option<&ImageCredentialProvider>) -> Vec<String> {
    if let Some(provider) = given
        && !provider.match_images.is_empty()
    {
        return provider.match_images.clone();
    }
    let aws = context.spec.aws.as_ref();
    let partition = aws
        .and_then(|aws| aws.partition.as_deref())
        .and_then(aws::partition_named)
        .unwrap_or_else(|| aws::partition_of(aws.map(|aws| aws.region.as_str()).unwrap_or_default()));
    partition.match_images(context.minor.0).into_iter().map(ToOwned::to_owned).collect()
}
