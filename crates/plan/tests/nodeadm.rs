//! Plans from NodeConfigs: nodeadm's rules, each with what follows from it by hand.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot look at what it tests ends there")]

use bringup_plan::nodeadm::{Surroundings, compile};
use bringup_plan::{Action, Compiled, Content, Plan, PodLimit, max_pods};
use bringup_spec::nodeconfig::{NodeConfig, merge, read};
use bringup_spec::{Architecture, NodeNamePolicy};
use serde_json::{Value, json};

const CLUSTER: &str =
    "cluster: {name: c, apiServerEndpoint: 'https://e', certificateAuthority: YWI=, cidr: 10.100.0.0/16}";

fn config(text: &str) -> NodeConfig {
    let whole: String =
        format!("{CLUSTER}\n{text}").lines().fold(String::new(), |whole, line| format!("{whole}  {line}\n"));
    let text = format!("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{whole}");
    let (mut configs, findings) = read("n.yaml", &text);
    assert!(!findings.has_errors(), "{findings:?}");
    configs.remove(0)
}

fn around(kubelet: &str, containerd: &str) -> Surroundings {
    Surroundings {
        kubelet_version: kubelet.to_owned(),
        containerd_version: containerd.to_owned(),
        architecture: Architecture::X86_64,
        cores: Some(4),
        memory_mib: Some(7168),
        nvidia_runtime: false,
        nvidia_device: false,
        credential_provider: "/etc/eks/image-credential-provider/ecr-credential-provider".to_owned(),
        pause_archive: true,
    }
}

fn plan(text: &str, around: &Surroundings) -> Plan {
    let Compiled { plan, findings, .. } = compile(&config(text), around);
    plan.unwrap_or_else(|| panic!("{findings:?}"))
}

fn file(plan: &Plan, wanted: &str) -> Option<String> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), mode, .. } if path == wanted => {
            assert_eq!(mode, "0644");
            Some(text.to_string())
        }
        _ => None,
    })
}

/// The generated configuration, with facts as text.
fn kubelet(plan: &Plan) -> Value {
    let text = file(plan, "/etc/kubernetes/kubelet/config.json").unwrap();
    serde_json::from_str(&text.replace("@{maxPods}", "\"@{maxPods}\"")).unwrap()
}

fn toml(plan: &Plan) -> toml::Table {
    file(plan, "/etc/containerd/config.toml").unwrap().parse().unwrap()
}

fn arguments(plan: &Plan) -> Vec<String> {
    let text = file(plan, "/etc/eks/kubelet/environment").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("NODEADM_KUBELET_ARGS=")).unwrap();
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn gates_and_times_follow_the_version_of_kubelet() {
    for (version, gates, shutdown) in [
        ("1.32.9", vec!["RotateKubeletServerCertificate"], None),
        ("v1.33.0", vec!["DynamicResourceAllocation", "RotateKubeletServerCertificate"], None),
        (
            "1.34.0-eks-1",
            vec![
                "DynamicResourceAllocation",
                "MutableCSINodeAllocatableCount",
                "RotateKubeletServerCertificate",
            ],
            Some("2m30s"),
        ),
    ] {
        let config = kubelet(&plan("", &around(version, "1.7.0")));
        let names: Vec<&String> = config["featureGates"].as_object().unwrap().keys().collect();
        assert_eq!(names, gates, "{version}");
        assert_eq!(config["shutdownGracePeriod"].as_str(), shutdown, "{version}");
    }
}

#[test]
fn what_only_the_node_knows_is_a_fact() {
    let config = kubelet(&plan("", &around("1.35.0", "1.7.0")));
    assert_eq!(config["maxPods"], json!("@{maxPods}"));
    assert_eq!(config["providerID"], json!("@{providerId}"));
    let reserved =
        json!({"cpu": "@{reservedCpu}", "ephemeral-storage": "1Gi", "memory": "@{reservedMemory}"});
    assert_eq!(config["kubeReserved"], reserved);
    assert_eq!(config["clusterDNS"], json!(["10.100.0.10"]));
}

/// The operator's fields are not merged into the file: kubelet merges them, and so `""` and null can be set.
#[test]
fn the_operators_fields_stand_alone_in_a_drop_in() {
    let text = "kubelet: {config: {kubeReservedCgroup: '', maxPods: 5, x: null, z: 1.0}}";
    let plan = plan(text, &around("1.35.0", "1.7.0"));
    let drop_in = file(&plan, "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf").unwrap();
    let expected = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "kubeReservedCgroup": "", "maxPods": 5, "x": null, "z": 1,
    });
    assert_eq!(serde_json::from_str::<Value>(&drop_in).unwrap(), expected);
    assert_eq!(kubelet(&plan)["kubeReservedCgroup"], json!("/runtime"));
}

#[test]
fn flags_are_sorted_and_the_operators_come_last() {
    let text = "kubelet: {config: {a: 1}, flags: [--v=5, '--node-labels=a=b']}";
    let words = arguments(&plan(text, &around("1.35.0", "1.7.0")));
    assert_eq!(
        words,
        [
            "--cloud-provider=external",
            "--config=/etc/kubernetes/kubelet/config.json",
            "--config-dir=/etc/kubernetes/kubelet/config.json.d",
            "--hostname-override=@{nodeName}",
            "--image-credential-provider-bin-dir=/etc/eks/image-credential-provider",
            "--image-credential-provider-config=/etc/eks/image-credential-provider/config.json",
            "--kubeconfig=/var/lib/kubelet/kubeconfig",
            "--node-ip=@{address}",
            "--runtime-cgroups=/runtime.slice/containerd.service",
            "--v=5",
            "--node-labels=a=b",
        ]
    );
    assert!(!arguments(&plan("", &around("1.35.0", "1.7.0"))).iter().any(|word| word.contains("config-dir")));
}

#[test]
fn before_1_30_kubelet_must_be_told_that_drop_ins_count() {
    let variable = |text: &str, version: &str| {
        let plan = plan(text, &around(version, "1.7.0"));
        file(&plan, "/etc/eks/kubelet/environment").unwrap().contains("KUBELET_CONFIG_DROPIN_DIR_ALPHA=on\n")
    };
    assert!(variable("kubelet: {config: {a: 1}}", "1.29.9"));
    assert!(!variable("kubelet: {config: {a: 1}}", "1.30.0"));
    assert!(!variable("", "1.29.9"));
}

#[test]
fn a_device_of_nvidia_is_a_label_from_1_35_on() {
    let labelled = |version: &str, nvidia_device: bool| {
        let around = Surroundings { nvidia_device, ..around(version, "1.7.0") };
        arguments(&plan("", &around)).contains(&"--node-labels=nvidia.com/gpu.present=true".to_owned())
    };
    assert!(labelled("1.35.0", true));
    assert!(!labelled("1.35.0", false));
    assert!(!labelled("1.34.9", true));
}

#[test]
fn on_an_outpost_credentials_are_traded_and_the_api_server_is_known_without_a_name_server() {
    let mut outpost = config("");
    outpost.cluster.enable_outpost = Some(true);
    outpost.cluster.id = "id-1".to_owned();
    let plan = compile(&outpost, &around("1.35.0", "1.7.0")).plan.unwrap();
    assert!(file(&plan, "/var/lib/kubelet/kubeconfig").is_none());
    assert!(file(&plan, "/var/lib/kubelet/bootstrap-kubeconfig").unwrap().contains("- \"id-1\""));
    assert!(
        arguments(&plan).contains(&"--bootstrap-kubeconfig=/var/lib/kubelet/bootstrap-kubeconfig".to_owned())
    );
    let kept = Action::KeepAddresses { host: "e".to_owned(), path: "/etc/hosts".to_owned() };
    assert!(plan.steps.iter().any(|step| step.action == kept));
}

#[test]
fn schemas_of_containerd_follow_its_version_and_what_is_given() {
    let two = "containerd: {config: \"[plugins.'io.containerd.grpc.v1.cri']\\nsandbox_image = 'p'\"}";
    let three =
        "containerd: {config: \"[plugins.'io.containerd.cri.v1.images'.pinned_images]\\nsandbox = 'p'\"}";
    let version = |text: &str, containerd: &str| {
        compile(&config(text), &around("1.31.0", containerd)).plan.map(|plan| toml(&plan))
    };
    let schema = |table: Option<toml::Table>| table.and_then(|table| table["version"].as_integer());
    assert_eq!(schema(version("", "1.7.28")), Some(2));
    assert_eq!(schema(version("", "2.1.4")), Some(3));
    assert_eq!(schema(version(two, "1.7.28")), Some(2));
    assert_eq!(schema(version(three, "2.1.4")), Some(3));
    // containerd 1.x cannot read schema 3.
    assert_eq!(version(three, "1.7.28"), None);
    // What is of schema 2 is converted: the image of the sandbox has another place.
    let migrated = version(two, "2.1.4").unwrap();
    assert_eq!(migrated["version"].as_integer(), Some(3));
    let images = &migrated["plugins"]["io.containerd.cri.v1.images"];
    assert_eq!(images["pinned_images"]["sandbox"].as_str(), Some("p"));
    assert_eq!(images["discard_unpacked_layers"].as_bool(), Some(true));
    let runtime = &migrated["plugins"]["io.containerd.cri.v1.runtime"];
    assert_eq!(runtime["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"].as_bool(), Some(true));
    // 2.1 has a list of directories for CNI's programs.
    assert_eq!(runtime["cni"]["bin_dirs"][0].as_str(), Some("/opt/cni/bin"));
    assert_eq!(
        version(two, "2.0.5").unwrap()["plugins"]["io.containerd.cri.v1.runtime"]["cni"].get("bin_dirs"),
        None
    );
    // A plugin that is turned off is not described, one of another process is described as a whole.
    let text = "containerd: {config: \"disabled_plugins = ['io.containerd.snapshotter.v1.zfs']\\nimports = ['/a']\\n[proxy_plugins.x]\\ntype = 'snapshot'\"}";
    let table = version(text, "2.2.0").unwrap();
    assert_eq!(table["plugins"].get("io.containerd.snapshotter.v1.zfs"), None);
    let imports: Vec<_> =
        table["imports"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
    assert_eq!(imports, ["/etc/containerd/conf.d/*.toml", "/a"]);
    assert_eq!(table["proxy_plugins"]["x"]["platform"].as_str(), Some(""));
    // Of a containerd that is newer than all that is known, the defaults are its own.
    assert_eq!(version(two, "2.99.0").unwrap().get("ttrpc"), None);
}

#[test]
fn texts_for_containerd_are_laid_over_each_other_and_over_the_defaults() {
    let one = config("containerd: {config: \"[grpc]\\naddress = '/a'\\nuid = 1\"}");
    let two = config("containerd: {config: \"[grpc]\\naddress = '/b'\"}");
    let plan = compile(&merge([one, two]).unwrap(), &around("1.32.0", "1.7.0")).plan.unwrap();
    let table = toml(&plan);
    assert_eq!(table["grpc"], toml::Value::try_from(json!({"address": "/b", "uid": 1})).unwrap());
    assert_eq!(table["root"].as_str(), Some("/var/lib/containerd"));
    let broken = compile(&config("containerd: {config: 'a = '}"), &around("1.32.0", "1.7.0"));
    assert!(broken.plan.is_none());
    let codes: Vec<&str> = broken.findings.iter().map(|finding| finding.code.name).collect();
    assert!(codes.contains(&"nodeadm/containerd-config"), "{codes:?}");
}

#[test]
fn nvidias_runtime_takes_the_place_of_runc_and_devices_are_offered_from_1_32_on() {
    let around = Surroundings { nvidia_runtime: true, ..around("1.31.9", "1.7.0") };
    let table = toml(&plan("", &around));
    let cri = &table["plugins"]["io.containerd.grpc.v1.cri"];
    assert_eq!(cri["containerd"]["default_runtime_name"].as_str(), Some("nvidia"));
    let program = &cri["containerd"]["runtimes"]["nvidia"]["options"]["BinaryName"];
    assert_eq!(program.as_str(), Some("/usr/bin/nvidia-container-runtime"));
    assert_eq!(cri["enable_cdi"].as_bool(), Some(false));
}

/// Four cores and 7 GiB are enough; asked for, but on less, nothing changes.
#[test]
fn images_are_pulled_in_parallel_where_the_machine_is_large_enough() {
    let text = "featureGates: {FastImagePull: true}";
    let large = plan(text, &around("1.32.0", "2.1.4"));
    assert_eq!(
        kubelet(&large)["imageServiceEndpoint"],
        json!("unix:///run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock")
    );
    assert_eq!(toml(&large)["plugins"]["io.containerd.cri.v1.images"]["snapshotter"].as_str(), Some("soci"));
    assert!(file(&large, "/etc/soci-snapshotter-grpc/config.toml").is_some());
    assert!(file(&large, "/etc/systemd/system/containerd.service.d/10-soci-snapshotter.conf").is_some());
    let small = |cores, memory_mib| {
        let around =
            Surroundings { cores: Some(cores), memory_mib: Some(memory_mib), ..around("1.32.0", "2.1.4") };
        kubelet(&plan(text, &around)).get("imageServiceEndpoint").is_none()
    };
    assert!(small(3, 7168) && small(4, 7167) && !small(4, 7168));
}

#[test]
fn disks_are_the_business_of_the_images_own_program() {
    let text = "instance: {localStorage: {strategy: RAID10, mountPath: /mnt, disabledMounts: [PodLogs, Containerd, SOCI]}}";
    let plan = plan(text, &around("1.32.0", "2.1.4"));
    let words: Vec<String> = plan
        .steps
        .iter()
        .find_map(|step| match &step.action {
            Action::Run { command, .. } if step.name == "local-disks" => Some(command),
            _ => None,
        })
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = "/usr/bin/setup-local-disks raid10 --dir /mnt --no-bind-pods-logs --no-bind-containerd --no-bind-soci";
    assert_eq!(words.join(" "), expected);
    let at = |name: &str| plan.steps.iter().position(|step| step.name == name).unwrap();
    assert!(at("local-disks") < at("start-runtime"));
}

#[test]
fn names_are_resolved_as_told_and_again_at_every_boot() {
    let plan = plan("instance: {network: {domains: [a.b, c.d]}}", &around("1.32.0", "2.1.4"));
    let path = "/run/systemd/resolved.conf.d/40-eks.conf";
    assert_eq!(file(&plan, path).as_deref(), Some("[Resolve]\n\nDomains=a.b c.d\n"));
    let steps: Vec<_> = plan.steps.iter().filter(|step| step.name.contains("name-resolution")).collect();
    assert!(steps.len() == 2 && steps.iter().all(|step| step.every_boot));
}

#[test]
fn the_name_is_the_instances_where_that_is_asked_for() {
    let name = |text: &str| plan(text, &around("1.32.0", "2.1.4")).node_name;
    assert_eq!(name(""), NodeNamePolicy::PrivateDns);
    assert_eq!(name("featureGates: {InstanceIdNodeName: true}"), NodeNamePolicy::InstanceId);
}

/// m5.large has 3 interfaces with 10 addresses: 3 * 9 + 2 = 29 pods.
#[test]
fn an_expression_says_how_many_pods_there_are_unless_it_gives_no_number() {
    let pods = |cel: &str, instance_type: &str| {
        max_pods::max_pods(&PodLimit::Expression { cel: cel.to_owned() }, instance_type, 2)
    };
    assert_eq!(pods("max_pods + 2", "m5.large"), 31);
    assert_eq!(pods("((default_enis - 1) * (ips_per_eni - 1)) + 2", "m5.large"), 20);
    assert_eq!(pods("max_pods - 29", "m5.large"), 29);
    assert_eq!(pods("unknown", "m5.large"), 29);
    assert_eq!(pods("max_pods + 2", "m99.large"), 110);
    let told = |cel: &str| {
        let text = format!("kubelet: {{maxPodsExpression: \"{cel}\"}}");
        let compiled = compile(&config(&text), &around("1.32.0", "2.1.4"));
        (
            compiled.plan.is_some(),
            compiled.findings.iter().any(|f| f.code.name == "nodeadm/max-pods-expression"),
        )
    };
    assert_eq!(told("max_pods + 2"), (true, false));
    // CEL refuses it, and nodeadm goes on without it.
    assert_eq!(told("unknown"), (true, true));
    // CEL takes it, but it is not understood here.
    assert_eq!(told("int(timestamp('2024-01-01T00:00:00Z'))"), (false, true));
    assert_eq!(told("{17: 20, 29: 40}[max_pods]"), (true, false));
    assert_eq!(pods("{17: 20, 29: 40}[max_pods]", "m5.large"), 40);
}

#[test]
fn a_version_that_is_not_known_is_told() {
    let compiled = compile(&config(""), &around("", ""));
    let unknown = compiled.findings.iter().filter(|finding| finding.code.name == "nodeadm/version-unknown");
    assert_eq!(unknown.count(), 2);
    assert_eq!(toml(&compiled.plan.unwrap())["version"].as_integer(), Some(2));
}

/// `containerd config migrate` writes the fields of its own types in their order, maps by name, and indents tables.
#[test]
fn a_converted_configuration_is_written_as_containerd_writes_it() {
    let two = "containerd: {config: \"version = 2\\n[grpc]\\naddress = '/run/foo.sock'\\n\"}";
    let plan = plan(two, &around("1.32.0", "2.0.5"));
    let text = file(&plan, "/etc/containerd/config.toml").unwrap();
    let beginning = "version = 3\nroot = '/var/lib/containerd'\nstate = '/run/containerd'\ntemp = ''\nplugin_dir = ''\ndisabled_plugins = []\n\
                     required_plugins = []\noom_score = 0\nimports = []\n\n[grpc]\n  address = '/run/foo.sock'\n  tcp_address = ''\n";
    assert!(text.starts_with(beginning), "{text}");
    let nested = "      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes]\n        \
                  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n          runtime_type = 'io.containerd.runc.v2'\n          runtime_path = ''\n";
    assert!(text.contains(nested), "{text}");
    let order = [
        "\n[grpc]\n",
        "\n[ttrpc]\n",
        "\n[debug]\n",
        "\n[metrics]\n",
        "\n[plugins]\n  [plugins.",
        "\n[cgroup]\n  path = ''\n",
    ];
    let places: Vec<_> = order.iter().map(|header| text.find(header)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
}
