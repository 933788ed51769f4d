//! What an own bootstrap takes from eksctl's helper, and what of the group it leaves without effect.

use bringup_ancestors::{Input, read};
use bringup_spec::{MaxPods, RuntimeName};
use serde_json::json;

use crate::{config, config_of, document, group, labels, plan, taints, told};

/// A group of Amazon Linux 2 whose own bootstrap reads eksctl's helper in and makes this call.
fn calling(fields: &str, flags: &str) -> String {
    let fields =
        if fields.is_empty() { String::new() } else { format!("  {}\n", fields.replace('\n', "\n  ")) };
    format!(
        "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  ami: ami-0123456789abcdef0\n{fields}  overrideBootstrapCommand: |\n    #!/bin/bash\n    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n    /etc/eks/bootstrap.sh ${{CLUSTER_NAME}} {flags}\n"
    )
}

fn is_told(text: &str, words: &str) -> bool {
    told(text).iter().any(|line| line.contains(words))
}

const CLUSTERS_OWN: &str = "--kubelet-extra-args \"--node-labels=${NODE_LABELS}\" --apiserver-endpoint ${API_SERVER_URL} --b64-cluster-ca ${B64_CLUSTER_CA}";

/// The call of eksctl's announcement: its helper has the cluster's address and authority, for which EKS is asked here.
#[test]
fn address_and_authority_of_the_helper_are_the_clusters() {
    let text = config(&calling("labels: {pool: a}", CLUSTERS_OWN));
    assert!(document(&text).cluster.spec.api.is_none());
    assert!(labels(&group(&text)).contains(&"pool=a".to_owned()));
    assert!(!is_told(&text, "`false`") && !is_told(&text, "API_SERVER_URL"), "{:#?}", told(&text));
    let status = "status: {endpoint: 'https://api.example', certificateAuthorityData: Y2E=}\n";
    let said = document(&format!("{text}{status}")).cluster.spec.api.clone().unwrap();
    assert_eq!(said.endpoint.as_str(), "https://api.example");
}

/// `bootstrap.sh` asks EKS for both unless it has both.
#[test]
fn half_of_what_eks_is_asked_for_is_left_out() {
    for flags in [
        "--apiserver-endpoint https://api.example --b64-cluster-ca $B64_CLUSTER_CA",
        "--apiserver-endpoint https://api.example",
        "--apiserver-endpoint \"$API_SERVER_URL\" --b64-cluster-ca Y2E=",
    ] {
        let text = config(&calling("", flags));
        assert!(document(&text).cluster.spec.api.is_none(), "{flags}");
        assert!(is_told(&text, "EKS is asked for both"), "{flags}: {:#?}", told(&text));
        plan(&document(&text), 0);
    }
}

/// eksctl's address is the group's own, or the tenth of the services; where the file says neither, the node finds it out.
#[test]
fn the_helpers_dns_is_the_groups_or_the_tenth_address_of_the_services() {
    let dns = |fields: &str, rest: &str| {
        let calling = calling(fields, "--dns-cluster-ip ${CLUSTER_DNS} --use-max-pods true");
        group(&config(&format!("{calling}{rest}"))).kubelet.config.get("clusterDNS").cloned()
    };
    assert_eq!(dns("clusterDNS: 169.254.20.10", ""), Some(json!(["169.254.20.10"])));
    let fourth = "kubernetesNetworkConfig: {serviceIPv4CIDR: 10.96.0.0/16}\n";
    assert_eq!(dns("", fourth), Some(json!(["10.96.0.10"])));
    let sixth = "kubernetesNetworkConfig: {ipFamily: IPv6, serviceIPv6CIDR: 'fd30:1c53:5f8a::/108'}\n";
    assert_eq!(dns("", sixth), Some(json!(["fd30:1c53:5f8a::a"])));
    assert_eq!(dns("", ""), None);
    let by_flag = calling("", "--kubelet-extra-args \"--cluster-dns=$CLUSTER_DNS --v=3\"");
    assert_eq!(group(&config(&by_flag)).kubelet.flags.keys().collect::<Vec<_>>(), ["v"]);
}

/// eksctl's default is docker before Kubernetes 1.24.
#[test]
fn the_helpers_runtime_is_the_one_of_the_version() {
    let calling = calling("", "--container-runtime ${CONTAINER_RUNTIME} --use-max-pods true");
    assert_eq!(group(&config(&calling)).runtime.name, RuntimeName::Containerd);
    assert_eq!(group(&config_of("1.23", &calling)).runtime.name, RuntimeName::Docker);
}

/// What bash leaves out of a call moves its flags: that is never meant.
#[test]
fn an_empty_variable_that_moves_flags_is_refused_by_its_name() {
    let text = config(&calling("", "--kubelet-extra-args ${NODE_TAINTS} --dns-cluster-ip 10.0.0.10"));
    let wanted = "`--kubelet-extra-args` of the call has no value, for `NODE_TAINTS` is empty";
    assert!(is_told(&text, wanted), "{:#?}", told(&text));
    let last = config(&calling("", "--kubelet-extra-args $MAX_PODS"));
    assert!(is_told(&last, "for `MAX_PODS` is empty"), "{:#?}", told(&last));
    let quoted = config(&calling("", "--kubelet-extra-args \"${NODE_TAINTS}\" --dns-cluster-ip 10.0.0.10"));
    assert_eq!(group(&quoted).kubelet.config.get("clusterDNS"), Some(&json!(["10.0.0.10"])));
    let unknown = config(&calling("", "--kubelet-extra-args ${NODE_TAINT} --dns-cluster-ip 10.0.0.10"));
    assert!(is_told(&unknown, "`${NODE_TAINT}`"), "{:#?}", told(&unknown));
}

/// What only EKS knows cannot stand within something else.
#[test]
fn what_only_eks_knows_is_refused_within_other_values() {
    let text = config(&calling("", "--kubelet-extra-args \"--node-labels=ca=${B64_CLUSTER_CA}\""));
    let told = told(&text);
    let refused =
        "error ancestor/field-refused 12 `--kubelet-extra-args` of the call hangs on `B64_CLUSTER_CA`";
    assert!(told.iter().any(|line| line.starts_with(refused)), "{told:#?}");
}

/// The helper's `KUBELET_EXTRA_ARGS` has labels, taints and the number of pods.
#[test]
fn what_the_helpers_arguments_pass_on_is_not_told_of() {
    let fields = "labels: {team: a}\ntaints: {dedicated: gpu:NoSchedule}\nmaxPodsPerNode: 17";
    let text = config(&calling(
        fields,
        "--kubelet-extra-args \"${KUBELET_EXTRA_ARGS}\" --dns-cluster-ip ${CLUSTER_DNS} --use-max-pods false",
    ));
    let group = group(&text);
    assert!(labels(&group).contains(&"team=a".to_owned()));
    assert_eq!(taints(&group), ["dedicated=gpu:NoSchedule"]);
    assert_eq!(group.max_pods, Some(MaxPods::Fixed(17)));
    let warnings: Vec<String> = told(&text).into_iter().filter(|line| line.starts_with("warning")).collect();
    assert_eq!(warnings, Vec::<String>::new());
}

/// For eksctl none is no number.
#[test]
fn no_number_of_pods_is_nothing_to_tell_of() {
    let of =
        |pods: u32| is_told(&config(&calling(&format!("maxPodsPerNode: {pods}"), "")), "`maxPodsPerNode`");
    assert!(of(17) && !of(0));
}

/// eksctl's own script passes the address on, and one in its place only what it says itself.
#[test]
fn an_address_of_dns_that_an_own_bootstrap_does_not_pass_on_is_told_of() {
    let told_of = |flags: &str| {
        let text = config(&calling("clusterDNS: 169.254.20.10", flags));
        ["`clusterDNS` is carried out here", "`clusterDNS` counts for nothing"]
            .map(|words| is_told(&text, words))
    };
    assert_eq!(told_of(""), [true, false]);
    assert_eq!(told_of("--dns-cluster-ip ${CLUSTER_DNS}"), [false, false]);
    assert_eq!(told_of("--dns-cluster-ip 10.0.0.10"), [false, true]);
    assert_eq!(told_of("--kubelet-extra-args --cluster-dns=10.0.0.10"), [false, true]);
}

/// Of eksctl's NodeConfigs the second has the number, and its first has eksctl's own address of DNS.
#[test]
fn eksctls_own_node_configs_win_over_kubelets_fields() {
    let text = config(
        "nodeGroups:\n- name: ng\n  instanceType: m5.large\n  maxPodsPerNode: 17\n  kubeletExtraConfig: {clusterDNS: [1.2.3.4], maxPods: 40}\n",
    );
    let group = group(&text);
    assert_eq!(group.max_pods, Some(MaxPods::Fixed(17)));
    assert!(group.kubelet.config.is_empty(), "{:?}", group.kubelet.config);
    let json = serde_json::to_string(&plan(&document(&text), 0)).unwrap().replace(['\\', ' '], "");
    assert!(json.contains("\"maxPods\":17") && !json.contains("1.2.3.4"), "{json}");
    let told = told(&text);
    for (column, field) in [("clusterDNS", "clusterDNS"), ("maxPods", "maxPodsPerNode")] {
        let wanted = format!(
            "warning ancestor/difference 11 `{column}` of `kubeletExtraConfig` counts for nothing on Amazon Linux 2023"
        );
        assert!(told.iter().any(|line| line.starts_with(&wanted)), "{field}: {told:#?}");
    }
    // On Amazon Linux 2 eksctl lays the person's fields over its own.
    let older = crate::group(&text.replace("- name: ng\n", "- name: ng\n  amiFamily: AmazonLinux2\n"));
    assert_eq!(older.kubelet.config.get("clusterDNS"), Some(&json!(["1.2.3.4"])));
}

/// A number alone is kubelet's.
#[test]
fn a_number_of_pods_in_kubelets_fields_alone_is_kept() {
    let group = group(&config("nodeGroups:\n- name: ng\n  kubeletExtraConfig: {maxPods: 40}\n"));
    assert_eq!(group.kubelet.config.get("maxPods"), Some(&json!(40)));
}

/// kubelet takes the last `--register-with-taints` alone, and the person's NodeConfig comes last.
#[test]
fn taints_that_a_node_config_replaces_are_told_of() {
    let text = |flag: &str| {
        config(&format!(
            "nodeGroups:\n- name: ng\n  taints: {{dedicated: x:NoSchedule}}\n  overrideBootstrapCommand: |\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec: {{kubelet: {{flags: [{flag}]}}}}\n"
        ))
    };
    let told_of = |flag: &str| {
        let wanted = "warning ancestor/difference 9 the node does not get these `taints`";
        told(&text(flag)).iter().any(|line| line.starts_with(wanted))
    };
    assert!(told_of("'--register-with-taints=a=b:NoSchedule'"));
    assert!(!told_of("'--register-with-taints=a=b:NoSchedule,dedicated=x:NoSchedule'"));
    assert!(!told_of("'--v=3'"));
}

/// Only docker reads docker's file; containerd has others for registries.
#[test]
fn a_file_of_dockers_is_told_of_by_who_reads_it() {
    let commands = "preBootstrapCommands: [\"sed -i 2d /etc/docker/daemon.json\"]";
    let about = |version: &str, fields: &str, flags: &str| {
        let text = config_of(version, &calling(&format!("{fields}{commands}"), flags));
        let read = read(&[Input { name: "a", text: &text }]);
        let finding =
            read.findings.iter().find(|finding| finding.message.contains("/etc/docker/daemon.json")).unwrap();
        let hint = finding.hint.clone().unwrap_or_default();
        (finding.severity.word(), hint.contains("certs.d"), hint.contains("dockerConfig"))
    };
    assert_eq!(about("1.32", "", ""), ("note", true, false));
    assert_eq!(about("1.23", "", ""), ("warning", false, true));
    assert_eq!(about("1.23", "", "--container-runtime containerd"), ("note", true, false));
    assert_eq!(about("1.23", "containerRuntime: containerd\n", ""), ("note", true, false));
}

/// The plan writes such a file after the script, whether that calls `bootstrap.sh` or not.
#[test]
fn a_file_that_the_plan_writes_is_told_of_in_a_script_that_calls_nothing() {
    let own = |line: &str| {
        config(&format!(
            "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  ami: ami-0123456789abcdef0\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    {line}\n"
        ))
    };
    assert!(is_told(&own("rm /etc/containerd/config.toml"), "what it changes there is lost"));
    assert!(!is_told(&own("rm /etc/motd"), "what it changes there is lost"));
}

/// `bootstrap.sh` heeds an id only with `--enable-local-outpost true`, and takes the machine's IPv6 address with `--ip-family ipv6`.
#[test]
fn flags_of_the_cluster_are_carried_out_or_told() {
    let status = "status: {endpoint: 'https://api.example', certificateAuthorityData: Y2E=}\n";
    let text = |flags: &str| format!("{}{status}", config(&calling("", flags)));
    let id = |flags: &str| document(&text(flags)).cluster.spec.api.clone().unwrap().cluster_id;
    assert_eq!(id("--cluster-id abc --enable-local-outpost true").as_deref(), Some("abc"));
    assert_eq!(id("--cluster-id abc"), None);
    for (flags, words) in [
        ("--cluster-id abc", "`--cluster-id` of the call counts for nothing"),
        ("--enable-local-outpost true", "`--enable-local-outpost` of the call has no `--cluster-id`"),
        ("--aws-api-retry-attempts 9", "`--aws-api-retry-attempts` of the call counts for nothing"),
        ("--ip-family ipv6", "`--ip-family ipv6` of the call is not enough"),
        (
            "--ip-family ipv4 --service-ipv6-cidr fd00:10::/108",
            "`--ip-family` of the call is not carried out",
        ),
        ("--ip-family ipv5", "`--ip-family` of the call cannot be `ipv5`"),
    ] {
        assert!(is_told(&text(flags), words), "{flags}: {:#?}", told(&text(flags)));
    }
    assert!(!is_told(&text("--ip-family ipv6 --service-ipv6-cidr fd00:10::/108"), "--ip-family"));
}

/// `bootstrap.sh` has a file system for BPF mounted, which systemd 219 does not by itself.
#[test]
fn a_file_system_for_bpf_is_mounted_on_amazon_linux_2() {
    let units = |text: &str| -> Vec<String> {
        group(&config(text)).units.into_iter().map(|unit| unit.name).collect()
    };
    assert_eq!(units("nodeGroups: [{name: ng, amiFamily: AmazonLinux2}]\n"), ["sys-fs-bpf.mount"]);
    assert_eq!(units("nodeGroups: [{name: ng, amiFamily: Ubuntu2204}]\n"), Vec::<String>::new());
    assert_eq!(units(&calling("", "--mount-bpf-fs true")), ["sys-fs-bpf.mount"]);
    assert_eq!(units(&calling("", "--mount-bpf-fs false")), Vec::<String>::new());
}

/// kubelet reads eksctl's own file here: what is edited elsewhere behind the call is lost, by whatever name it goes.
#[test]
fn files_that_are_edited_behind_the_call_are_told_with_their_lines() {
    for edit in [
        "echo \"$(jq '.eventRecordQPS=0' $KUBELET_CONFIG)\" > $KUBELET_CONFIG",
        "jq .a ${KUBELET_CONFIG} > /tmp/x && cp /tmp/x ${KUBELET_CONFIG}",
        "sed -i s/a/b/ /etc/kubernetes/kubelet/kubelet-config.json",
    ] {
        let text = config(&format!("{}    {edit}\n    systemctl restart kubelet\n", calling("", "")));
        let wanted = "warning ancestor/field-differs 15 this line has to do with `/etc/kubernetes/kubelet/`, which kubelet does not read here";
        assert!(told(&text).iter().any(|line| line.starts_with(wanted)), "{edit}: {:#?}", told(&text));
    }
    let text = config(&format!("{}    cat $KUBELET_EXTRA_CONFIG\n", calling("", "")));
    let wanted = "warning ancestor/field-differs 15 this line has to do with `/etc/eksctl/kubelet-extra.json`, which is not there";
    assert!(told(&text).iter().any(|line| line.starts_with(wanted)), "{:#?}", told(&text));
    let text = config(&format!("{}    echo a >> /etc/sysctl.conf\n", calling("", "")));
    assert!(!is_told(&text, "has to do with"), "{:#?}", told(&text));
}

/// What a call hangs on is shown where it stands in the text.
#[test]
fn a_word_that_is_not_known_is_shown_where_it_stands() {
    let text = config(&calling("", "--use-max-pods $WHO"));
    let read = read(&[Input { name: "cluster.yaml", text: &text }]);
    let findings = read.refused.iter().flat_map(|refused| refused.findings.iter());
    let about = findings.filter(|finding| finding.message.contains("`$WHO`"));
    let places: Vec<(u32, u32)> = about
        .filter_map(|finding| finding.place.as_ref())
        .map(|place| (place.span.start.line, place.span.start.column))
        .collect();
    assert_eq!(places, [(14, 58)], "{:#?}", told(&text));
}

/// A signal of the script says nothing of a call that is the plan's.
#[test]
fn a_signal_in_an_own_bootstrap_is_told() {
    let text = config(&format!("{}    cfn-signal -e $? --stack a --resource b\n", calling("", "")));
    let wanted = "warning ancestor/field-differs 15 this `cfn-signal` stays a command of its step";
    assert!(told(&text).iter().any(|line| line.starts_with(wanted)), "{:#?}", told(&text));
}

/// `bootstrap.sh` asks EKS through the proxy that the script exports.
#[test]
fn a_proxy_that_an_own_bootstrap_exports_is_told() {
    let script =
        calling("", "").replace("    /etc/eks", "    export HTTPS_PROXY=http://p:3128\n    /etc/eks");
    assert!(
        is_told(&config(&script), "warning ancestor/field-differs 14 `HTTPS_PROXY`"),
        "{:#?}",
        told(&config(&script))
    );
}
