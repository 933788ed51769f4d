//! NodeConfigs as Bringup documents.

mod support;

use bringup_ancestors::{Input, Read, read};
use bringup_spec::{NodeGroup, NodeNamePolicy};
use serde_json::json;

const CLUSTER: &str = "---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: My_Cluster
    apiServerEndpoint: https://ABCD.gr7.us-west-2.eks.amazonaws.com
    certificateAuthority: CERTIFICATE
    cidr: 10.100.0.0/16
  kubelet:
    config: {maxPods: 20, clusterDNS: [1.1.1.1]}
    flags: ['--node-labels=a=b,c=d', --v=5]
  containerd:
    config: |
      [grpc]
      uid = 1
";

const FURTHER: &str = "apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: ''}
  kubelet:
    config: {maxPods: 30}
    flags: ['--node-labels=c=e', '--register-with-taints=k=v:NoSchedule']
  containerd: {config: \"[grpc]\\ngid = 2\"}
  instance:
    environment: {kubelet: {A: a}, other: {B: 5%}}
    localStorage: {strategy: RAID0, disabledMounts: [PodLogs]}
  featureGates: {InstanceIdNodeName: true}
";

const ADDITIONS: &str =
    "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.34'}}\n";

/// A certificate authority that is one.
fn cluster() -> String {
    let authority = include_str!("../../../examples/kubeadm-debian/pki/ca.crt");
    CLUSTER.replace("CERTIFICATE", &base64::Engine::encode(&base64::prelude::BASE64_STANDARD, authority))
}

fn translated(texts: &[&str]) -> Read {
    let inputs: Vec<Input<'_>> = texts.iter().map(|text| Input { name: "n.yaml", text }).collect();
    read(&inputs)
}

#[test]
fn several_are_one_group_laid_over_each_other() {
    let read = translated(&[&cluster(), FURTHER, ADDITIONS]);
    let errors: Vec<_> = read.findings.iter().filter(|finding| finding.severity.word() == "error").collect();
    assert!(errors.is_empty(), "{errors:?}");
    let [document] = read.documents.as_slice() else { unreachable!("{:?}", read.findings) };
    let spec = &document.cluster.spec;
    assert_eq!(document.cluster.metadata.name.as_str(), "my-cluster");
    let aws = spec.aws.as_ref().unwrap();
    assert_eq!((aws.region.as_str(), aws.cluster_name.as_deref()), ("us-west-2", Some("My_Cluster")));
    assert_eq!(spec.network.service_ranges[0].to_string(), "10.100.0.0/16");
    let group: &NodeGroup = &spec.node_groups[0];
    assert_eq!(group.node_name, Some(NodeNamePolicy::InstanceId));
    assert_eq!(group.kubelet.config["maxPods"], json!(30));
    assert_eq!(group.kubelet.config["clusterDNS"], json!(["1.1.1.1"]));
    let labels: Vec<String> = group.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(labels, ["a=b", "c=e"]);
    assert_eq!(group.taints[0].key, "k");
    assert_eq!(group.kubelet.flags["v"].to_string(), "5");
    assert_eq!(group.kubelet.environment["A"].to_string(), "a");
    assert_eq!(group.runtime.config.as_deref(), Some("[grpc]\ngid = 2\nuid = 1\n"));
    assert_eq!(group.units[0].drop_ins[0].content, "[Service]\nEnvironment=\"B=5%%\"\n");
    let words: Vec<String> = group.steps[0].run.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["/usr/bin/setup-local-disks", "raid0", "--no-bind-pods-logs"]);
}

/// What nodeadm writes to /etc/containerd/base-runtime-spec.json and for systemd-resolved.
#[test]
fn what_containers_start_from_and_name_resolution_are_carried_out() {
    let more = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  containerd:\n    baseRuntimeSpec: {process: {rlimits: [{type: RLIMIT_CORE, soft: 1, hard: 2}]}}\n  instance:\n    network: {nameservers: [1.1.1.1, 2.2.2.2], domains: [a.b]}\n";
    let cluster = cluster().replace(", clusterDNS: [1.1.1.1]", "");
    let read = translated(&[&cluster, more, ADDITIONS]);
    let told: Vec<_> = read.findings.iter().filter(|finding| finding.severity.word() != "note").collect();
    assert!(told.is_empty(), "{told:?}");
    let group = &read.documents[0].cluster.spec.node_groups[0];
    let content = |path: &str| {
        let file = group.files.iter().find(|file| file.path.as_str() == path).unwrap();
        file.content.as_ref().unwrap().to_string()
    };
    let spec: serde_json::Value =
        serde_json::from_str(&content("/etc/containerd/base-runtime-spec.json")).unwrap();
    // Lists are replaced as a whole; what nodeadm has itself stays.
    assert_eq!(spec["process"]["rlimits"], json!([{"type": "RLIMIT_CORE", "soft": 1, "hard": 2}]));
    assert_eq!((&spec["process"]["cwd"], &spec["ociVersion"]), (&json!("/"), &json!("1.1.0")));
    assert_eq!(
        content("/etc/systemd/resolved.conf.d/40-eks.conf"),
        "[Resolve]\nDNS=1.1.1.1 2.2.2.2\nDomains=a.b\n"
    );
    let step: Vec<String> = group.steps[0].run.iter().map(ToString::to_string).collect();
    assert_eq!(step, ["/usr/bin/systemctl", "restart", "systemd-resolved.service"]);
    let plan = bringup_plan::compile(&read.documents[0], 0, &bringup_plan::LocalFiles::default());
    let plan = plan.plan.unwrap_or_else(|| panic!("{:?}", plan.findings));
    let config = plan.steps.iter().find_map(|step| match &step.action {
        bringup_plan::Action::WriteFile { path, content: bringup_plan::Content::Text(text), .. }
            if path == "/etc/containerd/config.toml" =>
        {
            Some(text.to_string())
        }
        _ => None,
    });
    let config: toml::Table = config.unwrap().parse().unwrap();
    let runc = &config["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["runc"];
    assert_eq!(runc["base_runtime_spec"].as_str(), Some("/etc/containerd/base-runtime-spec.json"));
    assert_eq!(config["grpc"]["uid"].as_integer(), Some(1));
}

#[test]
fn what_a_document_cannot_say_is_named_with_its_line() {
    let text = format!(
        "{}  instance:\n    network: {{domains: [d]}}\n  featureGates: {{FastImagePull: true}}\n  kublet: {{}}\n",
        cluster()
    );
    let read = translated(&[&text, ADDITIONS]);
    let told = |code: &str| -> Vec<u32> {
        let of = read.findings.iter().filter(|finding| finding.code.name == code);
        of.filter_map(|finding| finding.place.as_ref()).map(|place| place.span.start.line).collect()
    };
    assert_eq!(told("ancestor/difference"), [19], "small machines pull in parallel, too");
    assert_eq!(told("ancestor/unknown-field"), [20]);
}

/// What nodeadm does on a machine of four cores and seven GiB, and its number of pods.
#[test]
fn features_expressions_and_variables_of_all_services_are_carried_out() {
    let more = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    maxPodsExpression: 'max_pods < 110 ? max_pods : 110'\n    flags: [--register-with-taints=k=v:NoSchedule]\n    config: {kind: KubeletConfiguration, apiVersion: kubelet.config.k8s.io/v1beta1, registerWithTaints: [{key: other, effect: NoSchedule}]}\n  instance:\n    environment: {default: {HTTP_PROXY: 'http://p'}, containerd: {A: b}}\n  featureGates: {FastImagePull: true}\n";
    let cluster = cluster().replace("clusterDNS: [1.1.1.1]", "podsPerCore: 4");
    let read = translated(&[&cluster, more, ADDITIONS]);
    let local = bringup_plan::LocalFiles::default();
    let plan = &support::plans(&read, &local)["nodes"];
    support::converts(&read, &local);
    let cel = "max_pods < 110 ? max_pods : 110".to_owned();
    // kubelet is told the number of its configuration; memory follows the expression, as with nodeadm.
    assert_eq!(plan.max_pods, bringup_plan::PodLimit::Fixed(20));
    assert_eq!(plan.memory_for_pods, Some(bringup_plan::PodLimit::Expression { cel }));
    let file = |wanted: &str| {
        plan.steps.iter().find_map(|step| match &step.action {
            bringup_plan::Action::WriteFile { path, content, .. } if path == wanted => {
                Some(serde_json::to_value(content).unwrap()["text"].to_string())
            }
            _ => None,
        })
    };
    let kubelet = file("/etc/kubernetes/kubelet/config.json").unwrap();
    assert!(kubelet.contains("unix:///run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock"), "{kubelet}");
    assert!(!kubelet.contains("other"), "kubelet takes the taints of its flag: {kubelet}");
    let containerd = file("/etc/containerd/config.toml").unwrap();
    assert!(containerd.contains("snapshotter = \\\"soci\\\""), "{containerd}");
    assert!(file("/etc/soci-snapshotter-grpc/config.toml").is_some());
    let manager = file("/etc/systemd/system.conf.d/environment.conf").unwrap();
    assert_eq!(manager, r#""[Manager]\nDefaultEnvironment=\"HTTP_PROXY=http://p\"\n""#);
    let unit = plan.units.iter().find(|unit| unit.name == "containerd.service").unwrap();
    let names: Vec<&str> = unit.drop_ins.keys().map(String::as_str).collect();
    assert!(names.contains(&"10-soci-snapshotter.conf") && names.contains(&"environment.conf"), "{names:?}");
}

/// EKS and karpenter add what says which cluster it is; whoever builds without them adds it beside.
#[test]
fn what_others_add_to_a_node_config_may_come_from_additions() {
    let part = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [--v=3]}}\n";
    let alone = translated(&[part, ADDITIONS]);
    assert!(alone.documents.is_empty());
    let told = support::told(&alone, bringup_diag::Severity::Error);
    assert_eq!(told.len(), 4, "{told:?}");
    let hybrid = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: a, region: us-west-2}, hybrid: {ssm: {activationId: x}}}\n";
    let told = support::told(&translated(&[hybrid]), bringup_diag::Severity::Error);
    assert!(told.iter().any(|told| told.contains("`hybrid` of `spec`")), "{told:?}");
    let authority =
        cluster().lines().find(|line| line.contains("certificateAuthority")).unwrap().trim().to_owned();
    let more = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {{name: demo}}\nspec:\n  kubernetes: {{version: '1.34'}}\n  aws: {{region: us-west-2}}\n  network: {{serviceRanges: [10.100.0.0/16]}}\n  api:\n    endpoint: https://api.example\n    {authority}\n"
    );
    let read = translated(&[part, &more]);
    assert_eq!(support::told(&read, bringup_diag::Severity::Error), Vec::<String>::new());
    assert_eq!(read.documents[0].cluster.metadata.name.as_str(), "demo");
}

#[test]
fn parts_of_a_message_count_like_files() {
    let message = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n\
         Content-Type: application/node.eks.aws\n\n{}\n--//\nContent-Type: application/node.eks.aws\n\n{FURTHER}\n--//--\n",
        cluster()
    );
    let read = translated(&[&message, ADDITIONS]);
    assert_eq!(read.documents.len(), 1, "{:?}", read.findings);
    assert_eq!(read.documents[0].cluster.spec.node_groups[0].kubelet.config["maxPods"], json!(30));
    // Python's reader takes a boundary without its quotes, and Go's refuses it.
    let unquoted = translated(&[&message.replace("\"//\"", "//"), ADDITIONS]);
    assert_eq!(unquoted.documents[0].cluster.spec.node_groups[0].kubelet.config["maxPods"], json!(30));
    let told = support::told(&unquoted, bringup_diag::Severity::Warning);
    assert!(told.iter().any(|told| told.contains("lacks its quotes")), "{told:?}");
}

/// Each is read by itself: what is replaced later has to be right, too.
#[test]
fn an_authority_that_is_no_base64_is_told_where_it_is_replaced() {
    let spec = "spec: {cluster: {certificateAuthority: cluster-ca}}";
    let earlier = format!("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n{spec}\n");
    let read = translated(&[&earlier, &cluster(), ADDITIONS]);
    assert_eq!(read.documents.len(), 1, "{:?}", read.findings);
    let told = support::told(&read, bringup_diag::Severity::Warning);
    assert!(told.iter().any(|told| told.contains("no base64")), "{told:?}");
}

/// nodeadm has a mapping for each service, and refuses a number.
#[test]
fn variables_that_are_no_mapping_are_told() {
    let text = format!("{}  instance:\n    environment: {{zz: 4}}\n", cluster());
    let read = translated(&[&text, ADDITIONS]);
    let told = support::told(&read, bringup_diag::Severity::Error);
    let is_told =
        |told: &String| told.contains("`zz` in `environment`") && told.contains("must be a mapping");
    assert!(told.iter().any(is_told), "{told:?}");
}

/// Go's reader refuses a number where a text belongs; of names that it does not know nodeadm says nothing.
#[test]
fn values_that_nodeadm_would_refuse_or_not_know_are_told() {
    let told = |text: &str, severity| support::told(&translated(&[text, ADDITIONS]), severity);
    let number = cluster().replace("name: ", "id: 3\n    name: ");
    let errors = told(&number, bringup_diag::Severity::Error);
    assert!(matches!(errors.as_slice(), [told] if told.contains("`id`") && told.contains("must be a text")));
    let quoted = cluster().replace("name: ", "id: '3'\n    name: ");
    assert_eq!(told(&quoted, bringup_diag::Severity::Error), [""; 0]);
    let storage = |fields: &str| format!("{}  instance:\n    localStorage: {{{fields}}}\n", cluster());
    let warnings =
        told(&storage("strategy: RAID5, disabledMounts: [Foo, SOCI]"), bringup_diag::Severity::Warning);
    let of_values: Vec<&String> = warnings.iter().filter(|told| told.contains("nodeadm knows")).collect();
    assert_eq!(of_values.len(), 2, "{warnings:?}");
    assert!(of_values[0].contains("`RAID5`") && of_values[1].contains("`Foo`"));
}

/// nodeadm joins the flags to one variable of kubelet's unit, which systemd splits at blanks: an item may be two words.
#[test]
fn a_flag_and_its_value_may_stand_in_one_item() {
    let more = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags: ['--node-labels \"foo=bar,x=y\"', '--register-with-taints a=b:NoSchedule', '--v 4 --event-qps 7']\n";
    let cluster = cluster().replace(", --v=5", "").replace(", clusterDNS: [1.1.1.1]", "");
    let read = translated(&[&cluster, more, ADDITIONS]);
    support::converts(&read, &bringup_plan::LocalFiles::default());
    let group = &read.documents[0].cluster.spec.node_groups[0];
    let labels: Vec<(&str, String)> =
        group.labels.iter().map(|(key, value)| (key.as_str(), value.to_string())).collect();
    let expected = [("a", "b"), ("c", "d"), ("foo", "bar"), ("x", "y")];
    assert_eq!(labels, expected.map(|(key, value)| (key, value.to_owned())));
    assert_eq!((group.taints[0].key.as_str(), group.taints[0].value.as_str()), ("a", "b"));
    let flags: Vec<(&str, String)> =
        group.kubelet.flags.iter().map(|(key, value)| (key.as_str(), value.to_string())).collect();
    assert_eq!(flags, [("event-qps", "7".to_owned()), ("v", "4".to_owned())]);
}

/// Built as a NodeConfig, the gate is nodeadm's own, and it looks at the machine.
#[test]
fn pulls_in_parallel_are_told_where_nodeadm_does_not_decide() {
    let more =
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {featureGates: {FastImagePull: true}}\n";
    for (carriers, told) in
        [("[nodeconfig]", false), ("[nodeconfig, multipart]", true), ("[multipart]", true)]
    {
        let additions = ADDITIONS.replace("}}", &format!("}}, nodeGroups: [{{carriers: {carriers}}}]}}"));
        let read = translated(&[&cluster(), more, &additions]);
        let warned = read.findings.iter().any(|finding| {
            finding.severity.word() == "warning" && finding.message.contains("pulled in parallel")
        });
        assert_eq!(warned, told, "{carriers}: {:?}", read.findings);
    }
}

/// What nodeadm does once containerd runs with the other snapshotter, where the image has the archive.
#[test]
fn the_image_of_the_pod_sandbox_comes_to_the_other_snapshotter() {
    let more =
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {featureGates: {FastImagePull: true}}\n";
    let read = translated(&[&cluster().replace(", clusterDNS: [1.1.1.1]", ""), more, ADDITIONS]);
    let local = bringup_plan::LocalFiles::default();
    let plan = &support::plans(&read, &local)["nodes"];
    let position = |wanted: &str| plan.steps.iter().position(|step| step.name.ends_with(wanted)).unwrap();
    let import = position("import-pause-image");
    assert!(position("start-runtime") < import && import < position("gate"));
    let step = &plan.steps[import];
    let bringup_plan::Action::Run { command, .. } = &step.action else { unreachable!("a command") };
    let script = command.last().unwrap().to_string();
    assert!(step.every_boot && script.contains("images import --snapshotter soci"), "{script}");
}

/// nodeadm looks for NVIDIA's runtime on the machine; here the instance types tell, and additions may say them.
#[test]
fn machines_with_accelerators_of_nvidias_are_known_by_their_types() {
    let additions = ADDITIONS.replace("}}", "}, nodeGroups: [{instanceTypes: [g6e.8xlarge]}]}");
    let read = translated(&[&cluster().replace(", clusterDNS: [1.1.1.1]", ""), &additions]);
    let local = bringup_plan::LocalFiles::default();
    support::converts(&read, &local);
    let plan = &support::plans(&read, &local)["nodes"];
    let text =
        |wanted: &str| {
            plan.steps.iter().find_map(|step| match &step.action {
                bringup_plan::Action::WriteFile {
                    path, content: bringup_plan::Content::Text(text), ..
                } if path == wanted => Some(text.to_string()),
                _ => None,
            })
        };
    let config: toml::Table = text("/etc/containerd/config.toml").unwrap().parse().unwrap();
    let containerd = &config["plugins"]["io.containerd.grpc.v1.cri"]["containerd"];
    assert_eq!(containerd["default_runtime_name"].as_str(), Some("nvidia"));
    let nvidia = &containerd["runtimes"]["nvidia"];
    assert_eq!(nvidia["options"]["BinaryName"].as_str(), Some("/usr/bin/nvidia-container-runtime"));
    assert!(text("/etc/containerd/base-runtime-spec.json").unwrap().contains("RLIMIT_NOFILE"));
}
