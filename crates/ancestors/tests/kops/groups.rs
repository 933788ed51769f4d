//! Clusters and groups: addresses, machines, runtime, kernel.

use bringup_ancestors::{Input, read};
use bringup_diag::Severity;
use serde_json::{Value, json};

use crate::{as_json, cluster, errors, first_group, group, named_group, spec, told, translated, warnings};

/// kops' rules: the API server is `api.internal.` and the cluster's name; services have 100.64.0.0/13 and pods the upper
/// half of the internal range, unless they are told others.
#[test]
fn addresses_follow_kops_rules() {
    let text = format!("{}{}", cluster("clusterDNSDomain: quarry.local"), group(""));
    let spec = spec(&text);
    assert_eq!(spec["flavour"], "kops");
    assert_eq!(spec["kubernetes"]["version"], "1.33.4");
    assert_eq!(spec["api"]["endpoint"], "https://api.internal.quarry.example.com");
    assert_eq!(
        spec["network"],
        json!({"domain": "quarry.local", "serviceRanges": ["100.64.0.0/13"], "podRanges": ["100.96.0.0/11"]})
    );
    assert_eq!(spec["aws"], json!({"region": "eu-central-1"}));
    // The additions' reference takes the place of the one that is looked for otherwise.
    assert_eq!(
        spec["join"],
        json!({"method": "kubeconfig", "kubeconfig": {"secretsManager": "quarry/kubeconfig"}})
    );
}

/// kops' rule on AWS: the instance's id from Kubernetes 1.24 on, from 1.22 on with the cloud's controller outside; the
/// private DNS name before, and where the cluster asks for it. Before 1.26 kubelet asks EC2 itself here, which knows no ids.
#[test]
fn nodes_are_named_by_kops_rule() {
    let name = |text: String| {
        let text = text + &group("");
        let differs = warnings(&text).iter().any(|message| message.starts_with("kops names nodes by their"));
        (spec(&text)["nodeGroups"][0]["nodeName"].clone(), differs)
    };
    let of = |version: &str, more: &str| name(cluster(more).replace("v1.33.4", version));
    let usual = (Value::Null, false);
    let by_instance = (json!("instance-id"), false);
    assert_eq!(of("v1.33.4", ""), by_instance);
    assert_eq!(of("v1.26.0", ""), by_instance);
    assert_eq!(of("v1.25.0", ""), (Value::Null, true));
    assert_eq!(of("v1.24.0", ""), (Value::Null, true));
    assert_eq!(of("v1.23.5", ""), usual);
    assert_eq!(of("v1.23.5", "cloudControllerManager: {}"), (Value::Null, true));
    assert_eq!(of("v1.33.4", "cloudConfig: {useIPBasedNodeNames: true}"), usual);
    let newest = |names: &str| {
        let cloud = format!("cloudProvider: {{aws: {{useIPBasedNodeNames: {names}}}}}");
        name(cluster("").replace("v1alpha2", "v1alpha3").replace("cloudProvider: aws", &cloud))
    };
    assert_eq!((newest("true"), newest("false")), (usual.clone(), by_instance));
    assert_eq!(name(cluster("").replace("cloudProvider: aws", "cloudProvider: openstack")), usual);
}

/// Without additions a document builds as well: what it cannot say is told.
#[test]
fn credentials_are_looked_for_on_the_node() {
    let text = format!("{}{}", cluster(""), group(""));
    let join = |more: &str| {
        let read = read(&[Input { name: "kops.yaml", text: &text }, Input { name: "more.yaml", text: more }]);
        let tree = as_json(read.documents.first().unwrap().tree());
        (tree["spec"]["join"].clone(), told(read.findings, Severity::Warning))
    };
    let (alone, told) = join("{}");
    assert_eq!(alone["kubeconfig"], json!({"file": "/srv/kubernetes/kubeconfig"}));
    assert!(told.iter().any(|message| message.contains("`/srv/kubernetes/kubeconfig`")), "{told:?}");
    let (token, told) = join(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  join: {method: bootstrap-token, token: {file: /etc/token}}\n",
    );
    assert_eq!(token, json!({"method": "bootstrap-token", "token": {"file": "/etc/token"}}));
    assert!(!told.iter().any(|message| message.contains("kubeconfig")), "{told:?}");
}

/// v1alpha3 has the cloud as a mapping, and all that is about addresses under `networking`.
#[test]
fn both_versions_say_the_same() {
    let old = format!(
        "{}{}",
        cluster(
            "networking: {cilium: {}}\nnonMasqueradeCIDR: 172.20.0.0/16\nserviceClusterIPRange: 172.20.0.0/19\nmasterKubelet: {podPidsLimit: 7}\nhooks:\n- name: off\n  disabled: true\n"
        ),
        named_group("masters", "Master", "rootVolumeSize: 50\nrootVolumeType: gp2\n")
    );
    let new = old
        .replace("kops.k8s.io/v1alpha2", "kops.k8s.io/v1alpha3")
        .replace("cloudProvider: aws", "cloudProvider: {aws: {}}")
        .replace("  subnets:\n  - {name: a, zone: eu-central-1a}\n", "")
        .replace("  nonMasqueradeCIDR: 172.20.0.0/16\n  serviceClusterIPRange: 172.20.0.0/19\n", "")
        .replace(
            "networking: {cilium: {}}",
            "networking: {cilium: {}, nonMasqueradeCIDR: 172.20.0.0/16, serviceClusterIPRange: 172.20.0.0/19, subnets: [{name: a, zone: eu-central-1a}]}",
        )
        .replace("masterKubelet", "controlPlaneKubelet")
        .replace("disabled: true", "enabled: false")
        .replace("role: Master", "role: ControlPlane")
        .replace("  rootVolumeSize: 50\n  rootVolumeType: gp2\n", "  rootVolume: {size: 50, type: gp2}\n");
    assert_eq!(spec(&old), spec(&new));
    let oldest = old.replace("kops.k8s.io/v1alpha2", "kops/v1alpha2");
    assert_eq!(spec(&old), spec(&oldest));
}

fn assert_nothing_to_build(text: &str) {
    let read = read(&[Input { name: "kops.yaml", text }]);
    assert!(read.documents.is_empty());
    let notes = told(read.findings.clone(), Severity::Note);
    let message = "there is no group of nodes for the cluster `quarry.example.com`: nothing is built";
    assert!(notes.iter().any(|note| note == message), "{notes:?}");
    assert_eq!(told(read.findings, Severity::Error), Vec::<String>::new());
}

#[test]
fn bastions_are_left_out_and_control_planes_are_told() {
    let text = format!("{}{}{}", cluster(""), group(""), named_group("bastions", "Bastion", ""));
    assert_eq!(spec(&text)["nodeGroups"].as_array().unwrap().len(), 1);
    let told = warnings(&text);
    assert!(
        told.contains(
            &"the group `bastions` is left out: a bastion has no kubelet, and is no node".to_owned()
        )
    );
    let only = format!("{}{}", cluster(""), named_group("bastions", "Bastion", ""));
    assert_nothing_to_build(&only);
    // A cluster alone is no fault: there is nothing to bring up.
    assert_nothing_to_build(&cluster(""));
    let wrong = format!("{}{}", cluster(""), named_group("x", "Nod", ""));
    assert!(errors(&wrong).contains(&"kops has no role `Nod`".to_owned()));
}

/// The image tells the system and, like the machine's type, the processor; else it is what kops takes by itself.
#[test]
fn images_and_types_tell_what_the_machine_is() {
    let machine = |image: &str, kind: &str| {
        let text = format!("{}{}", cluster(""), group(""))
            .replace("ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610", image)
            .replace("m5.large", kind);
        let group = first_group(&text);
        (group["os"].clone(), group["architecture"].clone(), group["carriers"][0].clone())
    };
    let ubuntu = json!({"family": "ubuntu", "version": "24.04"});
    assert_eq!(machine("ami-0123456789abcdef0", "m6g.large"), (ubuntu, json!("aarch64"), json!("multipart")));
    let flatcar = machine("075585003325/Flatcar-stable-3510.2.8-hvm", "m5.large");
    assert_eq!(flatcar, (json!({"family": "flatcar"}), Value::Null, json!("ignition")));
}

/// What the launch template and the group of machines are made of.
#[test]
fn machines_are_launched_as_kops_launches_them() {
    let text = format!(
        "{}{}",
        cluster("cloudLabels: {team: a, stage: test}\nsshKeyName: admin\n"),
        group(
            "minSize: 3\nmaxSize: 9\nmaxPrice: \"0.1\"\ncloudLabels: {team: b}\nadditionalSecurityGroups: [sg-0123456789abcdef0]\ninstanceMetadata: {httpTokens: optional, httpPutResponseHopLimit: 3}\niam: {profile: \"arn:aws:iam::111122223333:instance-profile/nodes\"}\nvolumes:\n- {device: /dev/xvdd, size: 20, type: gp3, encrypted: false}\nmixedInstancesPolicy: {instances: [m5.large, m5a.large], onDemandAboveBase: 20}\n"
        )
    );
    let group = first_group(&text);
    assert_eq!(group["instanceTypes"], json!(["m5.large", "m5a.large"]));
    assert_eq!(
        group["scaling"],
        json!({"min": 3, "max": 9, "onDemandPercentage": 20, "spotMaxPrice": "0.1"})
    );
    assert_eq!(
        group["launch"],
        json!({
            "keyName": "admin",
            "volumes": [{"sizeGiB": 128}, {"device": "/dev/xvdd", "sizeGiB": 20, "type": "gp3", "encrypted": false}],
            "metadata": {"tokensRequired": false, "hopLimit": 3},
            "tags": {
                "team": "b",
                "stage": "test",
                // By these kops' controller labels nodes from outside.
                "k8s.io/cluster-autoscaler/node-template/label/node-role.kubernetes.io/node": "",
            },
            "securityGroups": ["sg-0123456789abcdef0"],
            "role": {"instanceProfile": "nodes"},
        })
    );
}

/// kops asks for no less of a root volume than EC2 has of its kind, and of kinds without such numbers for none.
#[test]
fn root_volumes_have_what_ec2_has_at_least() {
    let root = |lines: &str| {
        first_group(&format!("{}{}", cluster(""), group(lines)))["launch"]["volumes"][0].clone()
    };
    assert_eq!(
        root("rootVolumeType: gp3\nrootVolumeIops: 300\nrootVolumeThroughput: 100"),
        json!({"sizeGiB": 128, "type": "gp3", "iops": 3000, "throughput": 125})
    );
    assert_eq!(root("rootVolumeIops: 4000"), json!({"sizeGiB": 128, "iops": 4000}));
    assert_eq!(
        root("rootVolumeType: io1\nrootVolumeIops: 50"),
        json!({"sizeGiB": 128, "type": "io1", "iops": 100})
    );
    assert_eq!(root("rootVolumeType: gp2\nrootVolumeIops: 300"), json!({"sizeGiB": 128, "type": "gp2"}));
}

/// The group's settings of containerd are laid over the cluster's; mirrors are files of containerd's own form.
#[test]
fn containerd_is_told_what_kops_tells_it() {
    let text = format!(
        "{}{}",
        cluster(
            "containerd:\n  version: 1.7.28\n  logLevel: info\n  selinuxEnabled: true\n  registryMirrors:\n    docker.io: [https://a.example, https://b.example]\n    \"*\": [https://c.example]\n"
        ),
        group(
            "containerd:\n  logLevel: debug\n  sandboxImage: registry.example/pause:3.10\n  configAdditions:\n    plugins.\"io.containerd.grpc.v1.cri\".max_container_log_line_size: 1000\n    plugins.\"io.containerd.grpc.v1.cri\".device_ownership_from_security_context: \"true\"\n"
        )
    );
    let group = first_group(&text);
    assert_eq!(
        group["runtime"],
        json!({
            "version": "1.7.28",
            "sandboxImage": "registry.example/pause:3.10",
            "config": "debug.level = \"debug\"\nplugins.\"io.containerd.grpc.v1.cri\".enable_selinux = true\nplugins.\"io.containerd.grpc.v1.cri\".device_ownership_from_security_context = true\nplugins.\"io.containerd.grpc.v1.cri\".max_container_log_line_size = 1000\n",
        })
    );
    assert_eq!(group["files"][1]["path"], "/etc/containerd/certs.d/docker.io/hosts.toml");
    assert_eq!(
        group["files"][1]["content"],
        "[host.\"https://a.example\"]\n  capabilities = [\"pull\", \"resolve\"]\n\n[host.\"https://b.example\"]\n  capabilities = [\"pull\", \"resolve\"]\n\n"
    );
    assert_eq!(group["files"][2]["path"], "/etc/containerd/certs.d/_default/hosts.toml");
}

/// Below 1.24 kops has docker, whose settings are flags that daemon.json has keys for.
#[test]
fn docker_is_told_what_kops_tells_it() {
    let text = format!(
        "{}{}",
        cluster("containerRuntime: docker\ndocker:\n  version: 19.03.15\n  logDriver: json-file\n  logOpt: [max-size=10m, max-file=5]\n  registryMirrors: [https://a.example]\n").replace("v1.33.4", "1.22.1"),
        group("")
    );
    assert_eq!(
        first_group(&text)["runtime"],
        json!({
            "name": "docker",
            "version": "19.03.15",
            "dockerConfig": {
                "log-driver": "json-file",
                "registry-mirrors": ["https://a.example"],
                "log-opts": {"max-size": "10m", "max-file": "5"},
            },
        })
    );
}

/// dockerd does not start with options of a log that its driver does not have; these two are those of files.
#[test]
fn another_log_of_docker_has_no_options_of_files() {
    let text = format!(
        "{}{}",
        cluster("containerRuntime: docker\ndocker: {version: 20.10.1, logDriver: journald}\n")
            .replace("v1.33.4", "1.22.1"),
        group("")
    );
    let daemon: serde_json::Value =
        serde_json::from_str(&crate::written(&text, "/etc/docker/daemon.json").unwrap()).unwrap();
    assert_eq!(daemon["log-driver"], "journald");
    assert_eq!(daemon.get("log-opts"), None);
    let files = text.replace("journald", "local");
    let daemon: serde_json::Value =
        serde_json::from_str(&crate::written(&files, "/etc/docker/daemon.json").unwrap()).unwrap();
    assert_eq!(daemon["log-opts"]["max-file"], "10");
}

/// kops gives containerd its level as a flag, `info` for all groups that say nothing themselves (`components/containerd.go`); what is
/// added to the configuration stands beside it, and replaces what kops writes there.
#[test]
fn what_is_added_to_containerds_configuration_stands_beside_the_rest() {
    let config = |spec: &str, own: &str| {
        let text = format!("{}{}", cluster(spec), group(own));
        let told =
            warnings(&text).into_iter().filter(|warning| warning.contains("counts for nothing")).count();
        (first_group(&text)["runtime"].get("config").cloned(), told)
    };
    let added = "containerd: {logLevel: warn, configAdditions: {debug.level: trace}}";
    assert_eq!(config(added, ""), (None, 2));
    let own = "containerd: {logLevel: debug}";
    assert_eq!(config(added, own), (Some(json!("debug.level = \"debug\"\n")), 2));
    assert_eq!(config("containerd: {logLevel: info}", ""), (None, 0));
    let twice = "containerd: {selinuxEnabled: true, configAdditions: {'plugins.\"io.containerd.cri.v1.runtime\".enable_selinux': 'false'}}";
    let expected = "plugins.\"io.containerd.cri.v1.runtime\".enable_selinux = false\n";
    assert_eq!(config(twice, ""), (Some(json!(expected)), 0));
}

/// Of two groups of one name kops would keep one, and nobody sees which.
#[test]
fn a_second_group_of_a_name_is_an_error() {
    let text = format!("{}{}{}", cluster(""), group(""), group("nodeLabels: {a: b}"));
    assert_eq!(errors(&text), ["there are two groups `nodes`: the first is at kops.yaml:14"]);
}

/// kops' own settings of the kernel, and the cluster's, which it writes behind the group's: the last counts.
#[test]
fn the_kernel_is_set_as_kops_sets_it() {
    let text = format!(
        "{}{}",
        cluster("sysctlParameters: [\"vm.swappiness = 1\", \"# a comment\", \"net.core.somaxconn=100\"]"),
        group("sysctlParameters: [\"vm.swappiness=2\", \"kernel.pid_max=4194304\"]")
    );
    let wrong = format!("{}{}", cluster("sysctlParameters: [vm.swappiness]"), group(""));
    assert_eq!(errors(&wrong), ["`vm.swappiness` is no setting of the kernel"]);
    let group = first_group(&text);
    assert_eq!(
        group["sysctls"],
        json!({"-kernel.pid_max": "4194304", "-net.core.somaxconn": "100", "-vm.swappiness": "1"})
    );
    // kops' own file has what nobody else says, and is read on the first boot, too.
    assert_eq!(group["files"][0]["path"], "/etc/sysctl.d/99-k8s-general.conf");
    let file = group["files"][0]["content"].as_str().unwrap();
    assert!(file.contains("vm.max_map_count = 1048576\n") && !file.contains("somaxconn"), "{file}");
    assert_eq!(group["steps"][0]["run"], json!(["/usr/bin/systemctl", "restart", "systemd-sysctl.service"]));
}

/// kops lets `sysctl` read a file, and goes on whatever it says: a setting may not be there yet, and globs find what there is.
#[test]
fn settings_that_the_kernel_does_not_have_hold_no_node_back() {
    let parameters = "sysctlParameters: ['net.ipv4.conf.*.rp_filter=0', '-net.ipv4.no_such_key = 1', 'net.netfilter.nf_conntrack_max=1048576', '-net.ipv4.conf.lo.rp_filter', 'net.ipv4.conf.lxc*.rp_filter=2']";
    let text = format!("{}{}", cluster(&format!("networking: {{cilium: {{}}}}\n{parameters}")), group(""));
    let group = first_group(&text);
    let expected = json!({"-net.ipv4.no_such_key": "1", "-net.netfilter.nf_conntrack_max": "1048576"});
    assert_eq!(group["sysctls"], expected);
    let file = group["files"][0]["content"].as_str().unwrap();
    let globs = "net.ipv4.conf.*.rp_filter=0\n-net.ipv4.conf.lo.rp_filter\nnet.ipv4.conf.lxc*.rp_filter=2\n";
    assert!(file.ends_with(globs) && file.matches("lxc").count() == 1, "{file}");
    let plans = crate::plans(&crate::translated(&text));
    let set = plans[0].steps.iter().find_map(|step| match &step.action {
        bringup_plan::Action::SetSysctls { settings, optional } => Some((settings, optional)),
        _ => None,
    });
    let (settings, optional) = set.unwrap();
    assert_eq!(settings["net.ipv4.no_such_key"], "1");
    assert!(optional.iter().eq(["net.ipv4.no_such_key", "net.netfilter.nf_conntrack_max"]), "{optional:?}");
}

/// Packages, volumes and the proxy.
#[test]
fn what_kops_does_to_the_machine_is_done() {
    let text = format!(
        "{}{}",
        cluster(
            "packages: [nfs-common]\negressProxy:\n  httpProxy: {host: proxy.example, port: 3128}\n  excludes: 10.0.0.0/8, .example\n"
        ),
        group(
            "packages: [jq, nfs-common]\nvolumeMounts:\n- {device: /dev/xvdd, filesystem: ext4, path: /data, mountOptions: [noatime]}\n"
        )
    );
    let spec = spec(&text);
    assert_eq!(
        spec["proxy"],
        json!({"http": "http://proxy.example:3128", "https": "http://proxy.example:3128", "noProxy": ["10.0.0.0/8", ".example"]})
    );
    let steps = &spec["nodeGroups"][0]["steps"];
    assert_eq!(steps[1]["name"], "mount-data");
    assert_eq!(
        steps[1]["script"],
        "#!/bin/sh\nset -eu\nif mountpoint -q /data; then exit 0; fi\nblkid /dev/xvdd >/dev/null || mkfs -t ext4 /dev/xvdd\nmkdir -p /data\nmount -t ext4 -o noatime /dev/xvdd /data\n"
    );
    assert!(
        steps[2]["script"]
            .as_str()
            .unwrap()
            .ends_with("apt-get install --yes --no-install-recommends jq nfs-common\n")
    );
}

/// What is wrong within one group, whoever finds it, is told once, and is wrong with the document.
#[test]
fn what_is_wrong_within_a_group_is_wrong_with_the_document() {
    for bad in [
        "minSize: two\n",
        "kubelet: {maxPods: many}\n",
        "sysctlParameters: [nope]\n",
        "taints: [foo]\n",
        "fileAssets: [{name: x, path: rel, content: a}]\n",
        "nodeLabls: {a: b}\n",
        "role: Nod\n",
    ] {
        let good = format!("{}{}", cluster(""), named_group("good", "Node", ""));
        let bad_group = named_group("bad", "Node", bad);
        let bad_group =
            if bad.starts_with("role") { bad_group.replacen("  role: Node\n", "", 1) } else { bad_group };
        let read = translated(&format!("{good}{bad_group}"));
        assert!(read.refused.is_empty(), "{bad}: {:#?}", read.refused);
        assert_eq!(told(read.findings.clone(), Severity::Error).len(), 1, "{bad}: {:#?}", read.findings);
    }
    let read = translated(&format!("{}{}", cluster("kubelet: {maxPods: many}"), group("")));
    assert_eq!(told(read.findings, Severity::Error).len(), 1);
}

/// `pkg/model/awsmodel/autoscalinggroup.go`: what kops gives the Auto Scaling group. With several types `maxPrice` is the
/// policy's, and says nothing of how much spot capacity there is.
#[test]
fn the_auto_scaling_group_is_that_of_kops() {
    let scaling = |lines: &str| {
        let group = first_group(&format!("{}{}", cluster(""), group(lines)));
        (group["scaling"].clone(), group["launch"]["spot"].clone())
    };
    let mixed = "mixedInstancesPolicy: {instances: [m5.large, m5a.large], onDemandAboveBase: 20, onDemandBase: 1, spotAllocationStrategy: lowest-price, spotInstancePools: 3}\nmaxPrice: \"0.2\"\ncapacityRebalance: true\nmaxInstanceLifetime: 168h0m0s\nexternalLoadBalancers: [{loadBalancerName: front}, {targetGroupArn: \"arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/a/0123456789abcdef\"}]\n";
    assert_eq!(
        scaling(mixed),
        (
            json!({
                "min": 2, "max": 2, "onDemandPercentage": 20, "onDemandBase": 1, "spotStrategy": "lowest-price",
                "spotPools": 3, "spotMaxPrice": "0.2", "capacityRebalance": true, "maxInstanceLifetime": "604800s",
                "loadBalancers": ["front"],
                "targetGroups": ["arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/a/0123456789abcdef"],
            }),
            Value::Null
        )
    );
    let alone = scaling("maxPrice: \"0.2\"\nmaxInstanceLifetime: 0s\n");
    assert_eq!(alone, (json!({"min": 2, "max": 2, "spotMaxPrice": "0.2"}), json!(true)));
}

/// A number alone moves the usual two; two that contradict each other are the person's to settle, and are kept for who tells.
#[test]
fn sizes_of_a_group_are_those_that_are_written() {
    for (lines, min, max) in [
        ("minSize: 3", 3, 3),
        ("minSize: 1", 1, 2),
        ("maxSize: 1", 1, 1),
        ("maxSize: 7", 2, 7),
        ("minSize: 5\nmaxSize: 3", 5, 3),
    ] {
        let group = first_group(&format!("{}{}", cluster(""), group(lines)));
        assert_eq!(group["scaling"], json!({"min": min, "max": max}), "{lines}");
    }
    // What is told of the two is told where they stand.
    let text = format!("{}{}", cluster(""), group("minSize: 5\nmaxSize: 3"));
    let read = translated(&text);
    let path = bringup_yaml::Path::default().key("spec").key("nodeGroups").index(0).key("scaling");
    let line = read.documents[0].place(&path).span.start.line;
    assert!(text.lines().nth(line as usize - 1).unwrap().contains("maxSize: 3"), "{line}");
}

/// Words that kops' validation refuses are not taken for the usual ones.
#[test]
fn words_that_are_none_are_told() {
    let text = |spec: &str, lines: &str| format!("{}{}", cluster(spec), group(lines));
    assert_eq!(
        errors(&text("", "instanceMetadata: {httpTokens: requird}")),
        ["`requird` is no word for `httpTokens`"]
    );
    assert_eq!(errors(&text("containerRuntime: crio", "")), ["kops has no runtime `crio`"]);
    for range in ["100.64.0.0", "100.64.0.0/33", "100.64.0/10", "x"] {
        let spec = format!("nonMasqueradeCIDR: {range}");
        assert_eq!(errors(&text(&spec, "")), [format!("`{range}` is no range of addresses")]);
    }
}

/// What another makes machines from, and what the pod network is given, is named.
#[test]
fn what_shapes_no_node_is_named() {
    let notes = |text: &str| told(translated(text).findings, Severity::Note);
    let elsewhere =
        format!("{}{}", cluster(""), group("minSize: 3\nrootVolumeSize: 50")).replace(": aws", ": gce");
    let wanted = "no template is made for this cloud: `minSize`, `machineType`, `rootVolumeSize` of this group shape no node, and are left aside";
    assert!(notes(&elsewhere).contains(&wanted.to_owned()), "{:#?}", notes(&elsewhere));
    let karpenters = format!("{}{}", cluster(""), group("manager: Karpenter\nmaxSize: 3\nmaxPrice: \"0.2\""));
    let wanted =
        "Karpenter makes the machines: `maxPrice`, `maxSize` of this group shape no node, and are left aside";
    assert!(notes(&karpenters).contains(&wanted.to_owned()), "{:#?}", notes(&karpenters));
    let network = format!("{}{}", cluster("networking: {amazonvpc: {imageName: own:1}}"), group(""));
    assert!(notes(&network).iter().any(|note| note.starts_with("`imageName` of `amazonvpc` of kops shapes")));
    let there = format!(
        "{}{}",
        cluster(
            "containerd: {skipInstall: true, packages: {urlAmd64: https://own.example/a, hashAmd64: aa}}"
        ),
        group("")
    );
    assert!(notes(&there).iter().any(|note| note.starts_with("with `skipInstall` these archives")));
}

/// A value of a wrong type is told once.
#[test]
fn a_group_that_is_none_is_told_once() {
    let good = format!("{}{}", cluster(""), named_group("good", "Node", ""));
    for bad in ["spec:\n", "spec: 3\n", "spec: []\n", "spec: {role: Node, additionalUserData: [3]}\n"] {
        let text = format!(
            "{good}---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: {{name: bad}}\n{bad}"
        );
        assert_eq!(errors(&text).len(), 1, "{bad}: {:?}", errors(&text));
        assert_eq!(translated(&text).documents.len(), 1);
    }
}
