//! Expected values are those of the script's last version, run with the same flags and stand-ins for its surroundings.

use bringup_diag::Severity;
use bringup_spec::bootstrap_flags;
use serde_json::{Value, json};

use super::*;
use crate::Unit;

const TEMPLATE: &str =
    "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"SANDBOX_IMAGE\"\n";
const GIVEN: [&str; 5] =
    ["prod", "--b64-cluster-ca", "dGVzdA==", "--apiserver-endpoint", "http://my-api-endpoint"];

fn instance() -> Instance {
    Instance {
        region: "us-east-1".to_owned(),
        zone: "us-east-1f".to_owned(),
        id: "i-1234567890abcdef0".to_owned(),
        instance_type: "m5.large".to_owned(),
        address: "172.16.34.43".to_owned(),
        hostname: "ip-172-16-34-43.ec2.internal".to_owned(),
        cores: 4,
        vpc_cidrs: vec!["192.168.0.0/16".to_owned()],
        cluster: None,
    }
}

fn image(version: &str) -> Image {
    let some = |text: &str| Some(text.to_owned());
    Image {
        kubelet_version: some(version),
        architecture: Some(Architecture::X86_64),
        kubelet_config: some(
            r#"{"kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs", "evictionHard": {"x": "1"}}"#,
        ),
        kubelet_unit: some("[Service]\nExecStart=/usr/bin/kubelet $KUBELET_ARGS $KUBELET_EXTRA_ARGS\n"),
        sandbox_unit: some("[Service]\nType=oneshot\nExecStart=/x\n"),
        containerd_config: some(TEMPLATE),
        docker_config: some(r#"{"bridge": "none", "live-restore": true}"#),
        agent: some("/opt/bringup/bin/bringup-node"),
        ..Image::default()
    }
}

fn called(words: &[&str], instance: &Instance, image: &Image) -> Bootstrapped {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let request = bootstrap_flags::parse(&words, &[]).request.expect("a call");
    bootstrap(&request, instance, image)
}

/// The plan of a call with endpoint and authority, and these flags.
fn plan(version: &str, flags: &[&str]) -> Plan {
    plan_on(&image(version), flags)
}

fn plan_on(image: &Image, flags: &[&str]) -> Plan {
    let called = called(&[&GIVEN, flags].concat(), &instance(), image);
    called.plan.unwrap_or_else(|| panic!("{:#?}", called.findings))
}

fn refused(version: &str, flags: &[&str]) -> String {
    let called = called(&[&GIVEN, flags].concat(), &instance(), &image(version));
    assert_eq!(called.plan, None);
    let errors = called.findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ")
}

fn text(plan: &Plan, wanted: &str) -> Option<String> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. } if path == wanted => {
            text.as_literal().map(str::to_owned)
        }
        _ => None,
    })
}

fn config(plan: &Plan) -> Value {
    serde_json::from_str(&text(plan, kubelet::CONFIG).expect("a configuration")).expect("JSON")
}

fn unit<'p>(plan: &'p Plan, name: &str) -> Option<&'p Unit> {
    plan.units.iter().find(|unit| unit.name == name)
}

fn drop_in<'p>(plan: &'p Plan, name: &str) -> Option<&'p str> {
    unit(plan, "kubelet.service")?.drop_ins.get(name).map(String::as_str)
}

#[test]
fn the_images_configuration_is_edited() {
    assert_eq!(
        config(&plan("1.27.0", &[])),
        json!({
            "kind": "KubeletConfiguration",
            "cgroupDriver": "systemd",
            "clusterDNS": ["10.100.0.10"],
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
            "kubeReserved": {"cpu": "80m", "ephemeral-storage": "1Gi", "memory": "574Mi"},
            "kubeReservedCgroup": "/runtime",
            "maxPods": 29,
            "providerID": "aws:///us-east-1f/i-1234567890abcdef0",
            "systemReservedCgroup": "/system",
        })
    );
}

#[test]
fn kubelet_asks_more_often_from_1_22_to_1_26() {
    for (version, wanted) in [
        ("v1.21.14-eks-ba74326", Value::Null),
        ("1.22.0", json!(10)),
        ("1.26.9", json!(10)),
        ("1.27.0", Value::Null),
    ] {
        let config = config(&plan(version, &["--container-runtime", "containerd"]));
        assert_eq!(config["kubeAPIQPS"], wanted, "{version}");
        assert_eq!(config["kubeAPIBurst"], if wanted.is_null() { Value::Null } else { json!(20) });
    }
    let mut image = image("1.25.0");
    image.kubelet_config = Some(r#"{"kubeAPIQPS": 7}"#.to_owned());
    assert_eq!(config(&plan_on(&image, &[]))["kubeAPIQPS"], 7);
}

#[test]
fn reserved_processors_exclude_reserved_cgroups() {
    let config = config(&plan("1.24.15", &["--kubelet-extra-args", "--reserved-cpus=0-3"]));
    assert_eq!((config.get("systemReservedCgroup"), config.get("kubeReservedCgroup")), (None, None));
    assert_eq!(config["cgroupDriver"], "systemd");
}

#[test]
fn the_number_of_pods_may_be_left_out_and_memory_is_kept_for_it_all_the_same() {
    let config = config(&plan("1.27.0", &["--use-max-pods", "false"]));
    assert_eq!(config.get("maxPods"), None);
    assert_eq!(config["kubeReserved"]["memory"], "574Mi");
    let called = called(
        &[&GIVEN[..], &["--use-max-pods=false", "--kubelet-extra-args=--max-pods=110"]].concat(),
        &instance(),
        &image("1.27.0"),
    );
    let notes: Vec<_> = called.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(notes.contains(&"kubelet takes 110 pods, and 574Mi of memory are kept for 29"), "{notes:#?}");
}

#[test]
fn the_images_table_of_pods_stands_above_ours() {
    let mut image = image("1.27.0");
    image.max_pods = Some("# comment m5.large 1\nm5.large.x 2\nm5.large 31\n".to_owned());
    assert_eq!(config(&plan_on(&image, &[]))["maxPods"], 31);
    image.max_pods = Some("p3.2xlarge 58\n".to_owned());
    let on = |instance_type: &str| {
        let instance = Instance { instance_type: instance_type.to_owned(), ..instance() };
        config(&called(&GIVEN, &instance, &image).plan.expect("a plan"))["maxPods"].clone()
    };
    assert_eq!((on("p3.2xlarge"), on("m5.large"), on("m99.large")), (json!(58), json!(29), json!(110)));
}

#[test]
fn dns_is_given_or_follows_from_the_range_or_is_guessed() {
    for (flags, dns) in [
        (vec!["--dns-cluster-ip", "192.168.0.1"], json!(["192.168.0.1"])),
        (vec!["--dns-cluster-ip", "1.1.1.1,2.2.2.2"], json!(["1.1.1.1", "2.2.2.2"])),
        (vec!["--service-ipv4-cidr", "192.168.0.0/16"], json!(["192.168.0.10"])),
        (vec!["--ip-family", "ipv6", "--service-ipv6-cidr", "fe80::1"], json!(["fe80::1a"])),
        (vec!["--service-ipv6-cidr", "fd30:1c53::/108"], json!(["fd30:1c53::a"])),
        (vec!["--ip-family", "ipv6", "--dns-cluster-ip", "fe80::2a"], json!(["fe80::2a"])),
        (vec![], json!(["10.100.0.10"])),
        // What the AWS CLI prints of a range that is not there.
        (vec!["--service-ipv4-cidr", "None"], json!(["10.100.0.10"])),
    ] {
        assert_eq!(config(&plan("1.27.0", &flags))["clusterDNS"], dns, "{flags:?}");
    }
    let ten = Instance { vpc_cidrs: vec!["192.168.0.0/16".into(), "10.1.0.0/16".into()], ..instance() };
    let plan = called(&GIVEN, &ten, &image("1.27.0")).plan.expect("a plan");
    assert_eq!(config(&plan)["clusterDNS"], json!(["172.20.0.10"]));
    for flags in
        [vec!["--ip-family", "ipv6"], vec!["--ip-family", "ipv6", "--service-ipv4-cidr", "10.0.0.0/16"]]
    {
        assert_eq!(refused("1.27.0", &flags), "nothing says where the DNS of this cluster with IPv6 is");
    }
}

/// The script cuts the range at its last dot, and takes an address as it is.
#[test]
fn ranges_and_addresses_that_are_none_are_taken_as_the_script_takes_them() {
    for (flag, dns) in [("--service-ipv4-cidr=abc", "abc.10"), ("--dns-cluster-ip=nope", "nope")] {
        let called = called(&[&GIVEN[..], &[flag]].concat(), &instance(), &image("1.27.0"));
        assert_eq!(config(&called.plan.expect("a plan"))["clusterDNS"], json!([dns]));
        let notes: Vec<_> =
            called.findings.iter().filter(|finding| finding.message.contains("is no address")).collect();
        assert!(matches!(notes.as_slice(), [note] if note.severity.word() == "note"), "{notes:?}");
    }
}

#[test]
fn an_ipv4_address_in_a_cluster_with_ipv6_is_told() {
    let flags = [&GIVEN[..], &["--ip-family", "ipv6", "--service-ipv6-cidr", "fd00::/108"]].concat();
    let warned = |address: &str| {
        let instance = Instance { address: address.to_owned(), ..instance() };
        let called = called(&flags, &instance, &image("1.27.0"));
        called.findings.iter().any(|finding| finding.message.starts_with("the cluster has IPv6"))
    };
    assert!(warned("172.16.34.43"));
    assert!(!warned("2001:db8::1"));
}

#[test]
fn docker_runs_the_containers_of_old_versions_unless_told_otherwise() {
    let uses = |version: &str, flags: &[&str]| {
        let words: Vec<String> = [&GIVEN[..], flags].concat().iter().map(|word| (*word).to_owned()).collect();
        super::uses_docker(&bootstrap_flags::parse(&words, &[]).request.expect("a call"), version)
    };
    assert!(uses("1.23.17", &[]) && uses("1.23.17", &["--container-runtime", "dockerd"]));
    assert!(!uses("1.23.17", &["--container-runtime", "containerd"]) && !uses("1.27.0", &[]));
}

#[test]
fn what_eks_says_stands_above_the_call() {
    let answer = ClusterAnswer {
        endpoint: "https://eks".to_owned(),
        authority: "dGVzdA==".to_owned(),
        service_range: Some("10.200.0.0/16".to_owned()),
        ..ClusterAnswer::default()
    };
    let with = Instance { cluster: Some(answer.clone()), ..instance() };
    let words = ["prod", "--apiserver-endpoint", "https://other", "--service-ipv4-cidr", "10.1.0.0/16"];
    let plan = called(&words, &with, &image("1.27.0")).plan.expect("a plan");
    assert!(text(&plan, "/var/lib/kubelet/kubeconfig").expect("it").contains("server: https://eks\n"));
    assert_eq!(config(&plan)["clusterDNS"], json!(["10.200.0.10"]));
    // With both given, nobody was asked, whatever is known.
    let local = ClusterAnswer { id: Some("x".to_owned()), outpost: true, ..answer.clone() };
    let local = Instance { cluster: Some(local), ..instance() };
    let plan = called(&GIVEN, &local, &image("1.27.0")).plan.expect("a plan");
    assert_eq!(config(&plan)["clusterDNS"], json!(["10.100.0.10"]));
    assert_eq!(text(&plan, "/var/lib/kubelet/bootstrap-kubeconfig"), None);
    let missing = called(&["prod"], &instance(), &image("1.27.0"));
    assert!(missing.plan.is_none());
    let six = ClusterAnswer { service_range: Some("fd30::/108".to_owned()), ..answer };
    let six = Instance { cluster: Some(six), ..instance() };
    let plan = called(&["prod"], &six, &image("1.27.0")).plan.expect("a plan");
    assert_eq!((config(&plan)["clusterDNS"].clone(), plan.ipv6), (json!(["fd30::a"]), true));
}

#[test]
fn the_runtime_follows_the_version() {
    let runs = |plan: &Plan, name: &str| {
        plan.steps.iter().any(|step| matches!(&step.action, Action::StartUnit { unit, .. } if unit == name))
    };
    for (version, flags, unit) in [
        ("1.20.15", vec![], "docker.service"),
        ("1.23.17", vec!["--container-runtime", "containerd"], "containerd.service"),
        ("1.24.15", vec![], "containerd.service"),
        (
            "1.24.15",
            vec!["--enable-docker-bridge", "true", "--docker-config-json", "{}"],
            "containerd.service",
        ),
    ] {
        assert!(runs(&plan(version, &flags), unit), "{version} {flags:?}");
    }
    assert_eq!(
        refused("1.24.15", &["--container-runtime", "dockerd"]),
        "kubelet cannot use docker since Kubernetes 1.24"
    );
}

#[test]
fn containerd_gets_the_pause_container_of_its_region() {
    let toml = |region: &str, flags: &[&str]| {
        let instance = Instance { region: region.to_owned(), ..instance() };
        let plan = called(&[&GIVEN, flags].concat(), &instance, &image("1.27.0")).plan.expect("a plan");
        let text = text(&plan, "/etc/containerd/config.toml").expect("it");
        text.rsplit_once("sandbox_image = ").expect("it").1.trim().to_owned()
    };
    for (region, flags, image) in [
        ("us-east-1", vec![], "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5"),
        ("cn-north-1", vec![], "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/eks/pause:3.5"),
        ("mars-west-1", vec![], "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5"),
        (
            "mars-west-1",
            vec!["--pause-container-account=999999999999", "--pause-container-version", "3.9"],
            "999999999999.dkr.ecr.mars-west-1.amazonaws.com/eks/pause:3.9",
        ),
    ] {
        assert_eq!(toml(region, &flags), format!("\"{image}\""));
    }
    let mut broken = image("1.27.0");
    broken.containerd_config = Some("[cgroup]\npath = \"foo\"\n[cgroup]\npath = \"bar\"\n".to_owned());
    let called = called(&GIVEN, &instance(), &broken);
    assert!(called.plan.is_none(), "containerd would refuse it");
}

#[test]
fn arguments_stand_in_the_scripts_drop_ins() {
    let plan = plan("1.27.0", &["--kubelet-extra-args", "--node-labels=a=b --max-pods=10"]);
    assert_eq!(
        drop_in(&plan, "10-kubelet-args.conf"),
        Some(
            "[Service]\nEnvironment='KUBELET_ARGS=--node-ip=172.16.34.43 --pod-infra-container-image=602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5 --v=2 --hostname-override=ip-172-16-34-43.ec2.internal --cloud-provider=external'\n"
        )
    );
    assert_eq!(
        drop_in(&plan, "30-kubelet-extra-args.conf"),
        Some("[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--node-labels=a=b --max-pods=10'\n")
    );
    assert_eq!(drop_in(&super::tests::plan("1.27.0", &[]), "30-kubelet-extra-args.conf"), None);
    let quoted = super::tests::plan("1.27.0", &["--kubelet-extra-args", "--a='b c'\n--d"]);
    assert_eq!(
        drop_in(&quoted, "30-kubelet-extra-args.conf"),
        Some("[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--a=\\'b c\\' --d'\n")
    );
}

#[test]
fn arguments_that_kubelet_does_not_have_are_told() {
    let words =
        ["--kubelet-extra-args", "--node-labels=a=b --container-runtime=remote --node-lables=a=b --v 4"];
    let called = called(&[&GIVEN[..], &words].concat(), &instance(), &image("1.29.0"));
    assert!(called.plan.is_some(), "the script's answer stands");
    let told: Vec<_> = called
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning)
        .map(|finding| (finding.code.name, finding.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "kubelet/flag-removed",
                "`--container-runtime` was removed in 1.27, and kubelet is 1.29: it will not start"
            ),
            ("kubelet/flag-unknown", "`--node-lables` is no flag of kubelet 1.29"),
        ]
    );
}

#[test]
fn a_file_system_for_bpf_is_mounted_unless_there_is_one() {
    let has = |image: &Image, flags: &[&str]| unit(&plan_on(image, flags), "sys-fs-bpf.mount").is_some();
    let bare = image("1.27.0");
    assert!(has(&bare, &[]) && !has(&bare, &["--mount-bpf-fs", "false"]));
    assert!(!has(&Image { bpf_mounted: true, ..bare.clone() }, &[]));
    assert!(!has(&Image { bpf_unit: Some("foo\n".to_owned()), ..bare.clone() }, &[]));
    assert!(!has(&Image { bpf_by_systemd: true, ..bare.clone() }, &[]));
    // Of an earlier call, mounted by now.
    let ours = unit(&plan_on(&bare, &[]), "sys-fs-bpf.mount").and_then(|unit| unit.content.clone());
    assert!(has(&Image { bpf_mounted: true, bpf_unit: ours, ..bare }, &[]));
}

/// docker's driver is another one than containerd's: kubelet does not start with the wrong one.
#[test]
fn a_second_call_with_docker_takes_back_the_driver_of_containerd() {
    let mut pristine = image("1.23.0");
    pristine.kubelet_config = Some(r#"{"cgroupDriver": "cgroupfs"}"#.to_owned());
    let first = plan_on(&pristine, &["--container-runtime", "containerd"]);
    assert_eq!(config(&first)["cgroupDriver"], "systemd");
    let mut later = pristine.clone();
    later.kubelet_config_before = pristine.kubelet_config;
    later.kubelet_config = text(&first, kubelet::CONFIG);
    let second = config(&plan_on(&later, &[]));
    assert_eq!(second["cgroupDriver"], "cgroupfs");
    // As one of the script's own tests has it.
    assert_eq!(
        (&second["systemReservedCgroup"], &second["kubeReservedCgroup"]),
        (&json!("/system"), &json!("/runtime"))
    );
}

#[test]
fn a_second_call_takes_back_what_the_first_one_set() {
    let pristine = image("1.27.0");
    let first = plan_on(&pristine, &["--kubelet-extra-args", "--a=b"]);
    let mut later = pristine.clone();
    later.kubelet_config_before = pristine.kubelet_config;
    later.kubelet_config = text(&first, kubelet::CONFIG);
    later.extra_args = drop_in(&first, "30-kubelet-extra-args.conf").map(str::to_owned);
    let flags = [
        "--use-max-pods",
        "false",
        "--kubelet-extra-args",
        "--reserved-cpus=0",
        "--dns-cluster-ip",
        "1.2.3.4",
    ];
    let second = config(&plan_on(&later, &flags));
    for key in ["maxPods", "systemReservedCgroup", "kubeReservedCgroup"] {
        assert_eq!(second.get(key), None, "{key}");
    }
    assert_eq!(second["clusterDNS"], json!(["1.2.3.4"]));
    // Words of the first call do not stay in force.
    assert_eq!(
        drop_in(&plan_on(&later, &[]), "30-kubelet-extra-args.conf"),
        Some("[Service]\nEnvironment='KUBELET_EXTRA_ARGS='\n")
    );
    // What somebody else has put in between stays.
    later.kubelet_config = Some(r#"{"podPidsLimit": 5}"#.to_owned());
    assert_eq!(config(&plan_on(&later, &[]))["podPidsLimit"], 5);
}

#[test]
fn a_local_cluster_is_joined_by_its_id() {
    let plan = plan("1.27.0", &["--enable-local-outpost", "true", "--cluster-id", "abc-1"]);
    let kubeconfig = text(&plan, "/var/lib/kubelet/bootstrap-kubeconfig").expect("it");
    assert!(kubeconfig.contains("- abc-1\n") && !kubeconfig.contains("prod"), "{kubeconfig}");
    assert_eq!(
        drop_in(&plan, "30-kubelet-extra-args.conf"),
        Some(
            "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--bootstrap-kubeconfig /var/lib/kubelet/bootstrap-kubeconfig '\n"
        )
    );
    assert_eq!(
        refused("1.27.0", &["--enable-local-outpost", "true"]),
        "a local cluster on an Outpost is joined by its id"
    );
}

#[test]
fn tokens_are_ours_where_we_can_be_called_for_them() {
    let kubeconfig = |agent: Option<&str>| {
        let image = Image { agent: agent.map(str::to_owned), ..image("1.27.0") };
        text(&plan_on(&image, &[]), "/var/lib/kubelet/kubeconfig").expect("it")
    };
    assert!(
        kubeconfig(Some("/opt/bringup/bin/bringup-node")).contains(
            "      command: /opt/bringup/bin/bringup-node\n      args:\n      - token\n      - \"--cluster\"\n      - prod\n"
        )
    );
    assert!(kubeconfig(None).contains(
        "      command: /usr/bin/aws-iam-authenticator\n      args:\n      - token\n      - \"-i\"\n      - prod\n"
    ));
}

#[test]
fn authorities_are_taken_as_they_are() {
    assert_eq!(text(&plan("1.27.0", &[]), "/etc/kubernetes/pki/ca.crt").as_deref(), Some("test"));
    assert_eq!(refused("1.27.0", &["--b64-cluster-ca", "%%"]), "`--b64-cluster-ca` is no base64");
}

#[test]
fn programs_of_the_image_are_run_where_it_has_them() {
    let mut image = image("1.27.0");
    image.gpu_helper = Some("/etc/eks/bootstrap-gpu.sh".to_owned());
    image.local_disks = Some("/usr/bin/setup-local-disks".to_owned());
    let plan = plan_on(&image, &["--local-disks", "raid0"]);
    let commands: Vec<String> = plan
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Run { command, .. } => {
                Some(command.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        })
        .collect();
    assert_eq!(commands, ["/usr/bin/setup-local-disks raid0", "/etc/eks/bootstrap-gpu.sh -r containerd"]);
    assert_eq!(refused("1.27.0", &["--local-disks", "raid0"]), "the image has no `setup-local-disks`");
}

#[test]
fn kubelet_is_started_last_and_nothing_pauses() {
    let plan = plan("1.27.0", &[]);
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "identify",
            "directory:/etc/containerd/config.d",
            "directory:/etc/cni/net.d",
            "containerd-config",
            "containerd",
            "certificate-authority",
            "kubeconfig",
            "kubelet-config",
            "units",
            "kubelet-enabled",
            "kubelet",
            "report"
        ]
    );
    let gives_up =
        |step: &Step| step.policy.as_ref().is_some_and(|policy| policy.on_failure == OnFailure::GiveUp);
    assert!(plan.steps.iter().all(gives_up));
    // Somebody else's start would be a second one.
    assert_eq!(unit(&plan, "kubelet.service").and_then(|unit| unit.enabled), None);
}
