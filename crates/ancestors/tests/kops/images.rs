//! Credentials for images of ECR. kops downloads `ecr-credential-provider` to every node of AWS and points kubelet at it;
//! kubelets below 1.27 still had ECR's credentials built in.

use bringup_plan::Action;
use serde_json::{Value, json};

use crate::{cluster, first_group, group, plans, translated, warnings, written};

const CONFIG: &str = "/var/lib/kubelet/credential-provider.conf";

fn provider(text: &str) -> Option<Value> {
    let config: Value = serde_json::from_str(&written(text, CONFIG)?).unwrap();
    Some(config["providers"][0].clone())
}

/// Where the program comes from, its digest and its place.
fn fetched(text: &str) -> Option<(String, String, String)> {
    plans(&translated(text)).first()?.steps.iter().find_map(|step| match &step.action {
        Action::Fetch { urls, sha256, path, .. } if path.ends_with("-credential-provider") => {
            Some((urls.first()?.clone(), sha256.clone(), path.clone()))
        }
        _ => None,
    })
}

/// The registries, the argument and the variable are those of kops' own configuration.
#[test]
fn kubelet_asks_a_program_for_credentials_of_ecr() {
    let text = format!("{}{}", cluster(""), group(""));
    let provider = provider(&text).unwrap();
    assert_eq!(provider["name"], "ecr-credential-provider");
    assert_eq!(provider["apiVersion"], "credentialprovider.kubelet.k8s.io/v1");
    assert_eq!(provider["defaultCacheDuration"], "12h0m0s");
    assert_eq!(provider["args"], json!(["get-credentials"]));
    assert_eq!(provider["env"], json!([{"name": "AWS_REGION", "value": "eu-central-1"}]));
    assert_eq!(
        provider["matchImages"],
        json!([
            "*.dkr.ecr.*.amazonaws.com",
            "*.dkr.ecr.*.amazonaws.com.cn",
            "*.dkr.ecr-fips.*.amazonaws.com",
            "*.dkr.ecr.us-iso-east-1.c2s.ic.gov"
        ])
    );
    let plan = plans(&translated(&text)).remove(0);
    let plan = serde_json::to_string(&plan).unwrap();
    for flag in [
        format!("--image-credential-provider-config={CONFIG}"),
        "--image-credential-provider-bin-dir=/usr/local/bin".to_owned(),
    ] {
        assert!(plan.contains(&flag), "{flag}");
    }
}

/// Digests as kops' own golden files have them, by processor.
#[test]
fn the_program_is_fetched_by_its_digest() {
    let text = |cluster_more: &str, machine: &str| {
        format!("{}{}", cluster(cluster_more), group("").replace("m5.large", machine))
    };
    let (url, digest, path) = fetched(&text("", "m5.large")).unwrap();
    assert_eq!(
        url,
        "https://artifacts.k8s.io/binaries/cloud-provider-aws/v1.31.7/linux/amd64/ecr-credential-provider-linux-amd64"
    );
    assert_eq!(digest, "7644623e4ec9ad443ab352a8a5800a5180ee28741288be805286ba72bb8e7164");
    assert_eq!(path, "/usr/local/bin/ecr-credential-provider");
    let (url, digest, _) = fetched(&text("", "m7g.large").replace("amd64", "arm64")).unwrap();
    assert!(url.ends_with("/linux/arm64/ecr-credential-provider-linux-arm64"), "{url}");
    assert_eq!(digest, "1980e3a038cb16da48a137743b31fb81de6c0b59fa06c206c2bc20ce0a52f849");
    // A mirror has what kops downloads beneath its own path.
    let (url, ..) =
        fetched(&text("assets: {fileRepository: \"https://files.example.com/kops/\"}\n", "m5.large"))
            .unwrap();
    assert!(
        url.starts_with("https://files.example.com/kops/binaries/cloud-provider-aws/v1.31.7/linux/amd64/"),
        "{url}"
    );
}

#[test]
fn older_kubelets_and_unknown_programs_have_none() {
    let old = format!("{}{}", cluster(""), group("")).replace("v1.33.4", "v1.26.15");
    assert_eq!((provider(&old), fetched(&old)), (None, None));
    // Only kops would look the digest up.
    let own = format!("{}{}", cluster(""), group("")).replace("v1alpha2", "v1alpha3").replace(
        "cloudProvider: aws",
        "cloudProvider: {aws: {binariesLocation: \"https://files.example.com/aws\"}}",
    );
    assert_eq!((provider(&own), fetched(&own)), (None, None));
    assert!(
        warnings(&own).iter().any(|message| message.contains("`ecr-credential-provider`")),
        "{:?}",
        warnings(&own)
    );
}

/// On Google's cloud it is another program, with registries, arguments and a time of its own.
#[test]
fn kubelet_asks_a_program_for_credentials_of_google() {
    let text = format!("{}{}", cluster(""), group("")).replace("cloudProvider: aws", "cloudProvider: gce");
    let provider = provider(&text).unwrap();
    assert_eq!(provider["name"], "gcp-credential-provider");
    assert_eq!(provider["args"], json!(["get-credentials", "--v=3"]));
    assert_eq!(provider["defaultCacheDuration"], "60000ms");
    assert_eq!(
        provider["matchImages"],
        json!(["gcr.io", "*.gcr.io", "container.cloud.google.com", "*.pkg.dev"])
    );
    assert_eq!(provider.get("env"), None);
    assert_eq!(
        fetched(&text).unwrap(),
        (
            "https://artifacts.k8s.io/binaries/cloud-provider-gcp/v35.0.0/auth-provider-gcp/linux/amd64/auth-provider-gcp".to_owned(),
            "b5852509ab5c950485794afd49a3fd1c3d6166db988c15b683d2373b7055300f".to_owned(),
            "/usr/local/bin/gcp-credential-provider".to_owned(),
        )
    );
    let elsewhere = text.replace("cloudProvider: gce", "cloudProvider: hetzner");
    assert_eq!((self::provider(&elsewhere), fetched(&elsewhere)), (None, None));
}

/// kops has the program asked about mirrored registries as well, if it is told.
#[test]
fn mirrors_may_have_credentials_of_ecr() {
    let text = format!(
        "{}{}",
        cluster(
            "containerd:\n  useECRCredentialsForMirrors: true\n  registryMirrors:\n    quay.io: [https://m.example]\n    docker.io: [https://m.example]\n"
        ),
        group("")
    );
    let images = first_group(&text)["imageCredentialProvider"]["matchImages"].clone();
    assert_eq!(images.as_array().unwrap()[4..], [json!("docker.io"), json!("quay.io")]);
}
