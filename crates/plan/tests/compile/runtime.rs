//! The container runtime.

use bringup_plan::Action;
use toml::Table;

use crate::support::{arguments, cluster, codes, eks, eks_with, only, plain, plan, step, text, unit};

fn containerd(document: &bringup_spec::Document) -> Table {
    text(&plan(document), "/etc/containerd/config.toml").parse().unwrap()
}

#[test]
fn the_runtime_looks_for_plugins_where_they_are_put() {
    let directory = |group: &str| {
        let table = containerd(&eks("1.33", group));
        table["plugins"]["io.containerd.grpc.v1.cri"]["cni"]["bin_dir"].as_str().unwrap().to_owned()
    };
    assert_eq!(directory(""), "/opt/cni/bin");
    let fetched = "software: {cni: {from: url, path: /srv/cni, downloads: {x86_64: {urls: [https://x/cni.tgz], sha256: ebdf0a1c0d5b2c3e7b6f3a6d0c9a8e7f6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b1a}}}}";
    assert_eq!(directory(fetched), "/srv/cni");
}

/// Debian's package has its plugins in `/usr/lib/cni` (packages.debian.org, containernetworking-plugins, list of files);
/// those that run as pods put theirs in `/opt/cni/bin`. The runtime finds both.
#[test]
fn plugins_of_debians_package_are_found_where_plugins_are_looked_for() {
    let link = |os: &str, cni: &str| {
        let plan = plan(&eks_with("1.33", "", &format!("os: {os}\nsoftware: {{cni: {cni}}}")));
        let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
        let installed = names.iter().position(|name| *name == "install-cni");
        let linked = names.iter().position(|name| *name == "link-cni");
        assert!(linked.is_none_or(|linked| Some(linked) > installed), "{names:?}");
        linked.map(|_| match &step(&plan, "link-cni").action {
            Action::MakeLink { path, target } => (path.clone(), target.clone()),
            other => panic!("{other:?}"),
        })
    };
    let found = Some(("/opt/cni/bin".to_owned(), "/usr/lib/cni".to_owned()));
    for os in ["debian", "{family: ubuntu, version: \"24.04\"}"] {
        assert_eq!(link(os, "{from: package}"), found);
        assert_eq!(link(os, "{from: package, package: containernetworking-plugins=1.1.1}"), found);
        // Kubernetes' own package has them where they are looked for.
        assert_eq!(link(os, "{from: package, package: kubernetes-cni}"), None);
        assert_eq!(link(os, "{from: image}"), None);
    }
}

#[test]
fn the_schema_follows_the_version() {
    let schema = |version: &str, group: &str| containerd(&eks(version, group))["version"].as_integer();
    assert_eq!(schema("1.33", ""), Some(2));
    assert_eq!(schema("1.36", ""), Some(3));
    assert_eq!(schema("1.33", "runtime: {version: 2.1.4}"), Some(3));
    assert_eq!(schema("1.36", "runtime: {version: \"1.7\"}"), Some(2));
    assert_eq!(schema("1.33", "software: {runtime: {version: v2.0}}"), Some(3));
    assert_eq!(schema("1.33", "runtime: {config: \"version = 3\"}"), Some(3));
    assert_eq!(schema("1.36", "runtime: {config: \"[plugins.'io.containerd.grpc.v1.cri']\"}"), Some(2));
    assert_eq!(codes(&eks("1.33", "runtime: {version: \"3\"}")), ["runtime/version"]);
}

#[test]
fn a_fragment_is_merged_and_must_fit_the_schema() {
    let group = "runtime:\n  config: |\n    [plugins.'io.containerd.grpc.v1.cri'.containerd]\n    default_runtime_name = 'nvidia'\n    [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.nvidia]\n    runtime_type = 'io.containerd.runc.v2'";
    let config = containerd(&eks("1.33", group));
    let containerd = &config["plugins"]["io.containerd.grpc.v1.cri"]["containerd"];
    assert_eq!(containerd["default_runtime_name"].as_str(), Some("nvidia"));
    assert_eq!(containerd["runtimes"].as_table().map(Table::len), Some(2));
    assert_eq!(
        codes(&eks("1.33", "runtime: {version: \"1.7\", config: \"version = 3\"}")),
        ["runtime/schema"]
    );
    assert_eq!(
        codes(&eks("1.33", "runtime: {version: \"2.1\", config: \"version = 2\"}")),
        ["runtime/schema"]
    );
    assert_eq!(codes(&eks("1.33", "runtime: {config: \"version = 1\"}")), ["runtime/schema"]);
    assert_eq!(codes(&eks("1.33", "runtime: {config: \"version = 4\"}")), ["runtime/schema"]);
    let finding = only(&eks("1.33", "runtime: {config: \"a = 1\\nb = \"}"), "runtime/toml");
    assert!(finding.message.contains("line 2"), "{finding:?}");
}

#[test]
fn the_runtime_follows_kubelets_cgroup_driver() {
    let options = |group: &str| {
        let config = containerd(&eks("1.33", group));
        config["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"]
            .as_bool()
    };
    assert_eq!(options(""), Some(true));
    assert_eq!(options("kubelet: {config: {cgroupDriver: cgroupfs}}"), Some(false));
}

/// containerd has no credentials: EKS' registry is named only where the machine's image fetches from it.
#[test]
fn the_sandbox_image_is_one_that_the_machine_can_have() {
    let image = |document: &bringup_spec::Document| {
        containerd(document)["plugins"]["io.containerd.grpc.v1.cri"]["sandbox_image"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let unit = |document: &bringup_spec::Document| {
        let plan = plan(document);
        let is_it = |unit: &&bringup_plan::Unit| unit.name == "sandbox-image.service";
        let content = plan.units.iter().find(is_it).and_then(|unit| unit.content.clone());
        let kubelet = crate::support::unit(&plan, "kubelet.service").drop_ins.values().next().unwrap();
        let waits = kubelet.contains("After=containerd.service sandbox-image.service\n");
        assert_eq!(content.is_some(), waits, "{kubelet}");
        content
    };
    // Amazon Linux 2023 has one in store, Amazon Linux 2 `pause:3.5`, with a program that fetches it if it is gone.
    assert_eq!(image(&eks("1.33", "")), "localhost/kubernetes/pause:latest");
    assert_eq!(unit(&eks("1.33", "")), None);
    let al2 =
        |more: &str| crate::support::eks_with("1.32", "flavour: eks", &format!("os: amazon-linux-2\n{more}"));
    assert_eq!(image(&al2("")), "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5");
    assert!(
        unit(&al2("")).unwrap().contains("ConditionPathExists=/etc/eks/containerd/pull-sandbox-image.sh\n")
    );
    assert_eq!(image(&crate::support::eks_with("1.33", "", "os: debian")), "registry.k8s.io/pause:3.10");
    assert_eq!(image(&plain("1.33", "")), "registry.k8s.io/pause:3.10");
    assert_eq!(unit(&plain("1.33", "")), None);
    assert_eq!(image(&eks("1.33", "runtime: {sandboxImage: x/pause:1}")), "x/pause:1");
    let in_region = |os: &str, aws: &str| {
        let spec = format!(
            "kubernetes: {{version: \"1.32\"}}\napi: {{endpoint: https://x, certificateAuthority: {}}}\njoin: {{method: eks-token}}\naws: {aws}",
            crate::support::AUTHORITY
        );
        image(&cluster(&spec, &format!("platform: aws\nos: {os}")))
    };
    assert_eq!(
        in_region("amazon-linux-2", "{region: cn-north-1}"),
        "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/eks/pause:3.5"
    );
    assert_eq!(
        in_region("amazon-linux-2023", "{region: eu-west-1, registryAccount: \"111122223333\"}"),
        "111122223333.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10"
    );
}

#[test]
fn docker_serves_until_1_23() {
    let plan = plan(&eks(
        "1.23",
        "runtime: {name: docker, dockerConfig: {live-restore: false, log-opts: {max-file: \"3\"}}}",
    ));
    let daemon: serde_json::Value = serde_json::from_str(&text(&plan, "/etc/docker/daemon.json")).unwrap();
    assert_eq!(daemon["exec-opts"], serde_json::json!(["native.cgroupdriver=systemd"]));
    assert_eq!(daemon["live-restore"], false);
    assert_eq!(daemon["log-opts"], serde_json::json!({"max-file": "3", "max-size": "10m"}));
    assert!(arguments(&plan).contains(&"--network-plugin=cni".to_owned()));
    let Action::StartUnit { unit: name, .. } = &step(&plan, "start-runtime").action else {
        panic!("no start")
    };
    assert_eq!(name, "docker.service");
    assert!(unit(&plan, "kubelet.service").drop_ins["90-bringup.conf"].contains("Wants=docker.service"));
    assert_eq!(codes(&eks("1.24", "runtime: {name: docker}")), ["runtime/docker-removed"]);
    assert_eq!(codes(&eks("1.33", "runtime: {dockerConfig: {a: 1}}")), ["group/field-without-effect"]);
}

#[test]
fn the_credential_provider_follows_version_and_partition() {
    let provider = |version: &str, region: &str| -> serde_json::Value {
        let document = eks_with(version, "", "os: amazon-linux-2023");
        assert_eq!(region, "eu-central-1");
        serde_json::from_str(&text(&plan(&document), "/etc/kubernetes/image-credential-provider/config.json"))
            .unwrap()
    };
    for (version, api) in [("1.23", "v1alpha1"), ("1.26", "v1alpha1"), ("1.27", "v1")] {
        let config = provider(version, "eu-central-1");
        assert_eq!(config["apiVersion"], format!("kubelet.config.k8s.io/{api}"), "{version}");
        assert_eq!(config["providers"][0]["apiVersion"], format!("credentialprovider.kubelet.k8s.io/{api}"));
    }
    let images = &provider("1.32", "eu-central-1")["providers"][0]["matchImages"];
    let expected = serde_json::json!([
        "*.dkr.ecr.*.amazonaws.com",
        "*.dkr-ecr.*.on.aws",
        "*.dkr.ecr-fips.*.amazonaws.com",
        "*.dkr-ecr-fips.*.on.aws",
        "public.ecr.aws",
        "ecr-public.aws.com",
    ]);
    assert_eq!(images, &expected);
    let group = "imageCredentialProvider: {binDir: /opt/p, name: mine, matchImages: [r.example.com], cacheDuration: 1h, args: [get], environment: {A: b}}";
    let plan = plan(&plain("1.33", group));
    let config: serde_json::Value =
        serde_json::from_str(&text(&plan, "/etc/kubernetes/image-credential-provider/config.json")).unwrap();
    let expected = serde_json::json!({
        "name": "mine", "apiVersion": "credentialprovider.kubelet.k8s.io/v1", "matchImages": ["r.example.com"],
        "defaultCacheDuration": "3600000ms", "args": ["get"], "env": [{"name": "A", "value": "b"}],
    });
    assert_eq!(config["providers"], serde_json::json!([expected]));
    assert!(arguments(&plan).contains(&"--image-credential-provider-bin-dir=/opt/p".to_owned()));
}

#[test]
fn flatcars_containerd_is_told_where_its_configuration_is() {
    let plan = plan(&cluster(
        &format!(
            "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {}}}\njoin: {{method: bootstrap-token, token: {{file: /t}}}}",
            crate::support::AUTHORITY
        ),
        "os: flatcar",
    ));
    let drop_in = &unit(&plan, "containerd.service").drop_ins["10-use-custom-config.conf"];
    assert!(
        drop_in.contains("ExecStart=\nExecStart=/usr/bin/containerd --config /etc/containerd/config.toml\n")
    );
}

/// containerd's archive has programs alone, of which systemd knows nothing. Flatcar's image has a unit.
#[test]
fn a_fetched_containerd_gets_a_unit() {
    let fetched = |os: &str, path: &str, more: &str| {
        let sha256 = "ab".repeat(32);
        let group = format!(
            "os: {os}\nsoftware: {{runtime: {{from: url, {path}downloads: {{x86_64: {{urls: [https://x/c.tar.gz], sha256: {sha256}}}}}}}}}\n{more}"
        );
        let plan = plan(&eks_with("1.33", "", &group));
        plan.units.into_iter().find(|unit| unit.name == "containerd.service").and_then(|unit| unit.content)
    };
    let starts = |content: Option<String>| {
        content.and_then(|text| Some(text.lines().find(|line| line.starts_with("ExecStart="))?.to_owned()))
    };
    assert_eq!(
        starts(fetched("ubuntu", "", "")).as_deref(),
        Some("ExecStart=/usr/local/bin/containerd --config /etc/containerd/config.toml")
    );
    assert_eq!(
        starts(fetched("debian", "path: /usr, ", "")).as_deref(),
        Some("ExecStart=/usr/bin/containerd --config /etc/containerd/config.toml")
    );
    assert_eq!(fetched("flatcar", "", ""), None);
    let own = "[Service]\nExecStart=/usr/local/bin/containerd\n";
    let units = format!("units: [{{name: containerd.service, content: {own:?}}}]");
    assert_eq!(fetched("ubuntu", "", &units).as_deref(), Some(own));
}
