//! kubelet's settings, labels and taints.

use bringup_diag::Severity;
use serde_json::{Value, json};

use crate::{cluster, first_group, group, kubelet_config, named_group, spec, told, translated, warnings};

/// Fields of the group replace the cluster's; lists as a whole, mappings key by key. The control plane has its own.
#[test]
fn settings_of_cluster_and_group_are_merged() {
    let text = format!(
        "{}{}{}",
        cluster(
            "kubelet:\n  kubeReserved: {cpu: 100m, memory: 100Mi}\n  podPidsLimit: 1024\n  allowedUnsafeSysctls: [net.core.*]\nmasterKubelet:\n  podPidsLimit: 4096\n"
        ),
        group("kubelet:\n  kubeReserved: {memory: 200Mi}\n  allowedUnsafeSysctls: [kernel.msg*]\n"),
        named_group("masters", "Master", "")
    );
    let spec = spec(&text);
    let config = &spec["nodeGroups"][0]["kubelet"]["config"];
    assert_eq!(config["kubeReserved"], json!({"cpu": "100m", "memory": "200Mi", "ephemeral-storage": null}));
    assert_eq!(config["podPidsLimit"], 1024);
    assert_eq!(config["allowedUnsafeSysctls"], json!(["kernel.msg*"]));
    let masters = &spec["nodeGroups"][1]["kubelet"]["config"];
    assert_eq!(masters["podPidsLimit"], 4096);
    assert_eq!(masters["kubeReserved"], json!(null));
}

/// kops writes mappings and lists as text, and truth values of gates in quotes.
#[test]
fn texts_become_what_kubelet_reads() {
    let text = format!(
        "{}{}",
        cluster(""),
        group(
            "kubelet:\n  evictionHard: memory.available<5%,nodefs.available < 10%\n  evictionSoft: memory.available<10%\n  evictionSoftGracePeriod: memory.available=2m\n  enforceNodeAllocatable: pods,kube-reserved\n  kubeReservedCgroup: /kube\n  featureGates: {NodeSwap: \"true\", SidecarContainers: \"0\"}\n  authenticationTokenWebhook: true\n  anonymousAuth: false\n  authorizationMode: Webhook\n  logLevel: 4\n  logFormat: json\n  memorySwapBehavior: LimitedSwap\n  resolvConf: /etc/resolv.conf\n  podManifestPath: /etc/pods\n  volumePluginDirectory: /opt/volumes\n  eventQPS: 0\n  rootDir: /mnt/kubelet\n"
        )
    );
    let kubelet = first_group(&text)["kubelet"].clone();
    assert_eq!(
        kubelet,
        json!({
            "config": {
                "evictionHard": {"memory.available": "5%", "nodefs.available": "10%", "nodefs.inodesFree": null},
                "kubeReserved": null,
                "evictionSoft": {"memory.available": "10%"},
                "evictionSoftGracePeriod": {"memory.available": "2m"},
                "enforceNodeAllocatable": ["pods", "kube-reserved"],
                "kubeReservedCgroup": "/kube",
                "featureGates": {"NodeSwap": true, "SidecarContainers": false},
                "authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": true}},
                "authorization": {"mode": "Webhook"},
                "logging": {"format": "json", "verbosity": 4},
                "memorySwap": {"swapBehavior": "LimitedSwap"},
                "resolvConf": "/etc/resolv.conf",
                "staticPodPath": "/etc/pods",
                "volumePluginDir": "/opt/volumes",
                "eventRecordQPS": 0,
                "runtimeRequestTimeout": "15m",
                "shutdownGracePeriod": "30s",
                "shutdownGracePeriodCriticalPods": "10s",
                // Documents of ours have others than kubelet's own; kops leaves them to kubelet.
                "hairpinMode": null,
                "serializeImagePulls": null,
                "tlsCipherSuites": null,
            },
            "flags": {"root-dir": "/mnt/kubelet"},
        })
    );
}

/// What kops fills in: thresholds of eviction, static pods, time to end pods, but not with AWS' own pod network.
#[test]
fn what_kops_fills_in_is_filled_in() {
    let config = |networking: &str| {
        let text = format!("{}{}", cluster(networking), group(""));
        first_group(&text)["kubelet"]["config"].clone()
    };
    let usual = config("networking: {calico: {}}");
    assert_eq!(
        usual["evictionHard"],
        json!({"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "10%", "imagefs.inodesFree": "5%"})
    );
    assert_eq!(usual["staticPodPath"], "/etc/kubernetes/manifests");
    assert_eq!(usual["shutdownGracePeriod"], "30s");
    assert_eq!(config("networking: {amazonvpc: {}}").get("shutdownGracePeriod"), None);
}

/// What kops sets by cloud, role, system and version: `pkg/model/components/kubelet.go`, `etcdmanager/options.go` and
/// nodeup's `kubelet.go`.
#[test]
fn kops_own_choices_follow_cloud_role_system_and_version() {
    let kubelet = |version: &str, cloud: &str, role: &str, image: &str, more: &str| {
        let text = format!("{}{}", cluster(more), named_group("them", role, ""))
            .replace("v1.33.4", version)
            .replace("cloudProvider: aws", &format!("cloudProvider: {cloud}"))
            .replace("ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610", image);
        first_group(&text)["kubelet"].clone()
    };
    let ubuntu = "ubuntu-noble-24.04";
    let node = |cloud: &str| kubelet("v1.33.4", cloud, "Node", ubuntu, "");
    // Every cloud's controller is outside of kubelet; of AWS the platform says it, and metal has none.
    for cloud in ["gce", "hetzner", "azure", "digitalocean", "openstack", "scaleway"] {
        assert_eq!(node(cloud)["flags"], json!({"cloud-provider": "external"}), "{cloud}");
    }
    assert_eq!(node("aws").get("flags"), None);
    assert_eq!(node("metal").get("flags"), None);
    assert_eq!(node("gce")["config"]["hairpinMode"], "promiscuous-bridge");
    assert_eq!(node("hetzner")["config"]["hairpinMode"], Value::Null);
    // With addresses of IPv6 alone, kubelet is told no more than that.
    let ranges = "nonMasqueradeCIDR: \"::/0\"\nserviceClusterIPRange: fd00:5e4f:ce::/108";
    assert_eq!(kubelet("v1.33.4", "aws", "Node", ubuntu, ranges)["flags"], json!({"node-ip": "::"}));
    // The volume of etcd's programs, unless the minor has it on by itself or the document switches it off.
    let gates = |version: &str, role: &str, more: &str| {
        kubelet(version, "aws", role, ubuntu, more)["config"].get("featureGates").cloned()
    };
    let on = Some(json!({"ImageVolume": true}));
    assert_eq!(gates("v1.32.0", "ControlPlane", ""), on);
    assert_eq!(gates("v1.35.0", "ControlPlane", ""), on);
    assert_eq!(gates("v1.36.0", "ControlPlane", ""), None);
    assert_eq!(gates("v1.31.0", "ControlPlane", ""), None);
    assert_eq!(gates("v1.33.4", "Node", ""), None);
    let off = "controlPlaneKubelet: {featureGates: {ImageVolume: \"false\"}}";
    assert_eq!(gates("v1.33.4", "ControlPlane", off), Some(json!({"ImageVolume": false})));
    // Pods of a control plane are not waited for long.
    let period = |version: &str, role: &str| {
        kubelet(version, "aws", role, ubuntu, "")["config"].get("crashLoopBackOff").cloned()
    };
    assert_eq!(period("v1.35.0", "ControlPlane"), Some(json!({"maxContainerRestartPeriod": "1m"})));
    assert_eq!(period("v1.34.0", "ControlPlane"), None);
    assert_eq!(period("v1.35.0", "Node"), None);
    let flatcar = kubelet("v1.33.4", "aws", "Node", "075585003325/Flatcar-stable-3510.2.8-hvm", "");
    assert_eq!(flatcar["config"]["volumePluginDir"], "/var/lib/kubelet/volumeplugins/");
}

/// nodeup's rule: on Ubuntu and Flatcar `/etc/resolv.conf` names systemd-resolved on the loopback, which pods do not reach.
#[test]
fn pods_are_told_the_servers_behind_systemd_resolved() {
    let config = |kubelet: &str| kubelet_config(&format!("{}{}", cluster(""), group(kubelet)));
    assert_eq!(config("")["resolvConf"], "/run/systemd/resolve/resolv.conf");
    assert_eq!(config("kubelet: {resolvConf: /etc/own}")["resolvConf"], "/etc/own");
    // What kops leaves to kubelet is left to it.
    for field in ["hairpinMode", "serializeImagePulls", "tlsCipherSuites"] {
        assert_eq!(config("").get(field), None, "{field}");
    }
}

/// A machine with processors of NVIDIA's is tainted, unless the group says how, and has their runtime; the driver is told of.
#[test]
fn machines_with_processors_of_nvidia_are_kept_for_who_asks() {
    let group_of = |machine: &str, spec: &str, more: &str| {
        let text = format!("{}{}", cluster(spec), group(more)).replace("m5.large", machine);
        (first_group(&text), warnings(&text))
    };
    let enabled = "containerd: {nvidiaGPU: {enabled: true}}";
    let taint = json!([{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]);
    let (own, told) = group_of("g5.xlarge", "", enabled);
    assert_eq!(own["taints"], taint);
    // kops' controller labels the node by its machine's tag.
    let tag = "k8s.io/cluster-autoscaler/node-template/label/kops.k8s.io/gpu";
    assert_eq!(own["launch"]["tags"][tag], "1");
    assert!(told.iter().any(|message| message.contains("`kops.k8s.io/gpu`")), "{told:?}");
    assert!(told.iter().any(|message| message.contains("`nvidiaGPU`")), "{told:?}");
    let runtime = own["runtime"]["config"].as_str().unwrap();
    assert!(
        runtime.contains("\"io.containerd.cri.v1.runtime\".containerd.runtimes.nvidia.options.BinaryName = \"/usr/bin/nvidia-container-runtime\""),
        "{runtime}"
    );
    assert_eq!(group_of("p4d.24xlarge", enabled, "").0["taints"], taint);
    assert_eq!(group_of("m5.large", enabled, "").0.get("taints"), None);
    let said = format!("{enabled}\ntaints: [\"nvidia.com/gpu=yes:NoExecute\"]");
    assert_eq!(
        group_of("g5.xlarge", "", &said).0["taints"],
        json!([{"key": "nvidia.com/gpu", "value": "yes", "effect": "NoExecute"}])
    );
}

/// kops reserves nothing by itself, and hands reservations and thresholds to kubelet as they are written.
#[test]
fn nothing_is_reserved_or_evicted_for_but_what_is_written() {
    let config = |kubelet: &str| kubelet_config(&format!("{}{}", cluster(""), group(kubelet)));
    let usual = config("");
    assert_eq!(usual.get("kubeReserved"), None);
    assert_eq!(usual.get("systemReserved"), None);
    assert_eq!(usual["evictionHard"].as_object().unwrap().len(), 5);
    let given = config(
        "kubelet:\n  kubeReserved: {cpu: 100m}\n  evictionHard: memory.available<5%,nodefs.available<7%\n",
    );
    assert_eq!(given["kubeReserved"], json!({"cpu": "100m"}));
    assert_eq!(given["evictionHard"], json!({"memory.available": "5%", "nodefs.available": "7%"}));
}

/// kops counts interfaces only where pods have addresses of the cloud, and never above Kubernetes' own 110.
#[test]
fn pods_are_counted_as_kops_counts_them() {
    let pods = |networking: &str, more: &str| {
        first_group(&format!("{}{}", cluster(networking), group(more)))["maxPods"].clone()
    };
    assert_eq!(pods("networking: {cilium: {}}", ""), 110);
    assert_eq!(pods("networking: {cilium: {ipam: eni}}", ""), json!({"cap": 110}));
    assert_eq!(pods("networking: {amazonvpc: {}}", ""), json!({"cap": 110}));
    assert_eq!(pods("networking: {amazonvpc: {}}", "kubelet: {maxPods: 30}"), 30);
}

/// Taints are those of all places together, sorted, with that of the role; labels of the group win. Labels that kubelet
/// may not set are set by kops' controller.
#[test]
fn labels_and_taints_come_from_all_places() {
    let text = format!(
        "{}{}{}",
        cluster(
            "kubelet:\n  taints: [\"x=y:NoSchedule\", \"a=b:NoSchedule\"]\n  nodeLabels: {example.com/x: cluster, example.com/y: \"1\"}\n"
        ),
        group(
            "taints: [\"gpu:NoExecute\", \"a=b:NoSchedule\"]\nnodeLabels:\n  example.com/x: group\n  kops.k8s.io/instancegroup: nodes\n"
        ),
        named_group("masters", "ControlPlane", "")
    );
    let spec = spec(&text);
    let nodes = &spec["nodeGroups"][0];
    assert_eq!(nodes["labels"], json!({"example.com/x": "group", "example.com/y": "1"}));
    assert_eq!(
        nodes["taints"],
        json!([
            {"key": "a", "value": "b", "effect": "NoSchedule"},
            {"key": "gpu", "effect": "NoExecute"},
            {"key": "x", "value": "y", "effect": "NoSchedule"},
        ])
    );
    let masters = &spec["nodeGroups"][1];
    assert_eq!(masters["role"], "control-plane");
    // Of the labels of the role, kubelet may set this one itself.
    assert_eq!(masters["labels"]["node.kubernetes.io/exclude-from-external-load-balancers"], "");
    assert!(!warnings(&text).iter().any(|message| message.contains("exclude-from-external-load-balancers")));
    assert_eq!(masters["taints"][1]["key"], "node-role.kubernetes.io/control-plane");
    let told = warnings(&text);
    assert!(told.iter().any(|message| message.contains("`kops.k8s.io/instancegroup`")), "{told:?}");
    // kops' controller gives every node the label of its role.
    for label in ["`node-role.kubernetes.io/node`", "`node-role.kubernetes.io/control-plane`"] {
        assert!(told.iter().any(|message| message.contains(label)), "{label} in {told:?}");
    }
}

/// kops passes on what is no effect, and kubelet does not start with it: the group is refused, and the others are built.
#[test]
fn a_taint_without_an_effect_refuses_its_group_alone() {
    let text =
        format!("{}{}{}", cluster(""), group("taints: [\"a=b:c\"]"), named_group("others", "Node", ""));
    let read = translated(&text);
    assert_eq!(read.refused.iter().map(|refused| refused.group.as_str()).collect::<Vec<_>>(), ["nodes"]);
    let told = told(read.refused[0].findings.clone(), Severity::Error);
    assert_eq!(told, ["`c` of the taint `a=b:c` is no effect: kubelet does not start with it"]);
    let groups = spec(&text)["nodeGroups"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 1);
    assert_eq!(groups[0]["name"], "others");
    // Nothing else is told where there is no other.
    let alone = translated(&format!("{}{}", cluster(""), group("taints: [\"a=b:c\"]")));
    assert!(
        alone.documents.is_empty()
            && !alone.findings.iter().any(|finding| finding.message.contains("no group"))
    );
}

/// One DNS for all groups is the cluster's; where they differ, each kubelet is told its own.
#[test]
fn dns_is_told_once_or_to_each() {
    let one = spec(&format!("{}{}", cluster("kubeDNS: {serverIP: 100.64.0.10}"), group("")));
    assert_eq!(one["network"]["dns"], json!(["100.64.0.10"]));
    let cached = spec(&format!("{}{}", cluster("kubeDNS: {nodeLocalDNS: {enabled: true}}"), group("")));
    assert_eq!(cached["network"]["dns"], json!(["169.254.20.10"]));
    let text = format!(
        "{}{}{}",
        cluster("kubeDNS: {serverIP: 100.64.0.10}"),
        group("kubelet: {clusterDNS: 100.64.0.11}"),
        named_group("others", "Node", "")
    );
    let several = spec(&text);
    assert_eq!(several["network"].get("dns"), None);
    assert_eq!(several["nodeGroups"][0]["kubelet"]["config"]["clusterDNS"], json!(["100.64.0.11"]));
    assert_eq!(several["nodeGroups"][1]["kubelet"]["config"]["clusterDNS"], json!(["100.64.0.10"]));
}

/// `configureKubelet` of kops' `pkg/model/components/kubelet.go` sets these whatever the Cluster says; a group's own are merged
/// over them later (`populate_instancegroup_spec.go`).
#[test]
fn what_kops_sets_for_all_kubelets_is_set_whatever_the_cluster_says() {
    let written = "kubelet: {shutdownGracePeriod: 60s, cgroupDriver: cgroupfs, podManifestPath: /etc/x, logLevel: 6, enableDebuggingHandlers: false, cgroupRoot: /q}";
    let network = "networking: {amazonvpc: {}}";
    let text = format!("{}{}", cluster(&format!("{network}\n{written}")), group(""));
    let nothing = |text: &str| -> Vec<String> {
        let told = warnings(text).into_iter().filter(|warning| warning.contains("counts for nothing"));
        told.map(|warning| warning.split('`').nth(1).unwrap().to_owned()).collect()
    };
    let keys = [
        "shutdownGracePeriod",
        "cgroupDriver",
        "podManifestPath",
        "logLevel",
        "enableDebuggingHandlers",
        "cgroupRoot",
    ];
    assert_eq!(nothing(&text), keys);
    let config = kubelet_config(&text);
    assert_eq!(config["staticPodPath"], "/etc/kubernetes/manifests");
    assert_eq!([&config["cgroupDriver"], &config["logging"]["verbosity"]], [&json!("systemd"), &json!(2)]);
    assert_eq!(config["cgroupRoot"], "/");
    // kubelet's own answers are those that kops writes.
    for gone in ["shutdownGracePeriod", "enableDebuggingHandlers"] {
        assert_eq!(config.get(gone), None, "{gone}");
    }
    // The group's count.
    let text = format!("{}{}", cluster(network), group(written));
    assert_eq!(nothing(&text), Vec::<String>::new());
    let config = kubelet_config(&text);
    assert_eq!(config["shutdownGracePeriod"], "60s");
    assert_eq!([&config["cgroupDriver"], &config["logging"]["verbosity"]], [&json!("cgroupfs"), &json!(6)]);
    assert_eq!([&config["cgroupRoot"], &config["enableDebuggingHandlers"]], [&json!("/q"), &json!(false)]);
    // What says the same is not told of.
    let same = "kubelet: {shutdownGracePeriod: 0s, logLevel: 2, enableDebuggingHandlers: true}";
    assert_eq!(
        nothing(&format!("{}{}", cluster(&format!("{network}\n{same}")), group(""))),
        Vec::<String>::new()
    );
}

/// The two periods are filled in together, for the cluster; a group's own comes behind.
#[test]
fn the_periods_to_end_pods_are_filled_in_for_the_cluster() {
    let periods = |spec: &str, own: &str| {
        let config = kubelet_config(&format!("{}{}", cluster(spec), group(own)));
        ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"].map(|key| config.get(key).cloned())
    };
    let both = |all: &str, critical: &str| [Some(json!(all)), Some(json!(critical))];
    assert_eq!(periods("kubelet: {shutdownGracePeriodCriticalPods: 5s}", ""), both("30s", "10s"));
    assert_eq!(periods("", "kubelet: {shutdownGracePeriod: 60s}"), both("60s", "10s"));
    assert_eq!(periods("kubelet: {shutdownGracePeriod: 60s}", ""), [Some(json!("60s")), None]);
}

/// kops takes a control plane that is kept apart out of the network of pods: its kubelet lets nobody look into pods.
#[test]
fn an_isolated_control_plane_is_told_so() {
    let text = |spec: &str, role: &str| format!("{}{}", cluster(spec), named_group("them", role, ""));
    for spec in ["isolateMasters: true", "networking: {isolateControlPlane: true}"] {
        let config = kubelet_config(&text(spec, "Master"));
        assert_eq!(
            [&config["enableDebuggingHandlers"], &config["hairpinMode"]],
            [&json!(false), &json!("none")]
        );
        assert_eq!(kubelet_config(&text(spec, "Node")).get("enableDebuggingHandlers"), None);
    }
    assert_eq!(kubelet_config(&text("isolateMasters: false", "Master")).get("hairpinMode"), None);
}

/// kops makes a slice for each of the control groups, and starts it.
#[test]
fn control_groups_of_kubelet_are_slices() {
    let text = format!(
        "{}{}",
        cluster("kubelet: {kubeletCgroups: /kube, runtimeCgroups: /kube, systemCgroups: /system/own}"),
        group("")
    );
    let group = first_group(&text);
    assert_eq!(group["units"][0]["name"], "kube.slice");
    assert_eq!(group["units"].as_array().unwrap().len(), 1);
    let start =
        group["steps"].as_array().unwrap().iter().find(|step| step["name"] == "start-kube-slice").unwrap();
    assert_eq!(start["run"], json!(["/usr/bin/systemctl", "start", "kube.slice"]));
    assert_eq!(start["before"], json!(["gate"]));
}
