//! `bootstrap.sh`'s call: what the script would have written, once or again, under either name.

use std::process::Command;

use serde_json::{Value, json};

use crate::node::{Node, Ran, agent, ran};
use crate::plans::small;

const CONFIG: &str = "/etc/kubernetes/kubelet/kubelet-config.json";
const GIVEN: [&str; 5] =
    ["prod", "--b64-cluster-ca", "dGVzdA==", "--apiserver-endpoint", "https://one.example.com"];

/// A machine as EKS' images of Amazon Linux 2 are.
fn node() -> Node {
    let node = Node::new(&small());
    std::fs::remove_file(node.path("/etc/bringup/plan.json")).unwrap();
    node.put("/etc/eks/kubelet-version.txt", "Kubernetes v1.29.1-eks-99d6cc0\n");
    node.put(CONFIG, r#"{"kind": "KubeletConfiguration", "serverTLSBootstrap": true}"#);
    node.put(
        "/etc/eks/containerd/containerd-config.toml",
        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"SANDBOX_IMAGE\"\n",
    );
    node.put("/etc/eks/containerd/kubelet-containerd.service", "[Service]\nExecStart=/usr/bin/kubelet\n");
    node.put("/etc/eks/containerd/sandbox-image.service", "[Service]\nExecStart=/bin/true\n");
    node.put("/var/lib/kubelet/kubeconfig", "server: MASTER_ENDPOINT\n");
    node
}

/// Runs the agent in a network of its own, in which nobody can be asked.
fn called(node: &Node, words: &[&str]) -> Ran {
    let facts = node.beside("facts.json");
    let root = node.path("/");
    let mut command = Command::new("unshare");
    command.arg("--net").arg(agent()).arg("bootstrap").args(words);
    command.arg("--root").arg(root).arg(format!("--facts={}", facts.display()));
    ran(&mut command, "")
}

fn well(node: &Node, words: &[&str]) -> Ran {
    let ran = called(node, words);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    ran
}

fn config(node: &Node) -> Value {
    serde_json::from_str(&node.read(CONFIG).unwrap()).unwrap()
}

fn drop_in(node: &Node, name: &str) -> Option<String> {
    node.read(&format!("/etc/systemd/system/kubelet.service.d/{name}"))
}

#[test]
fn a_call_writes_what_the_script_writes() {
    crate::node::needs_root();
    let node = node();
    let ran = well(
        &node,
        &[&GIVEN[..], &["--kubelet-extra-args", "--node-labels=a=b", "--until=configure"]].concat(),
    );
    assert_eq!(
        config(&node),
        json!({
            "kind": "KubeletConfiguration",
            "serverTLSBootstrap": true,
            "cgroupDriver": "systemd",
            // The network of the facts has no address that begins with 10.
            "clusterDNS": ["10.100.0.10"],
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
            // g5.xlarge: 4 interfaces of 15 addresses, 4 * 14 + 2 pods; 11 MiB for each and 255.
            "kubeReserved": {"cpu": "80m", "ephemeral-storage": "1Gi", "memory": "893Mi"},
            "maxPods": 58,
            "kubeReservedCgroup": "/runtime",
            "systemReservedCgroup": "/system",
            "providerID": "aws:///eu-central-1a/i-0123456789abcdef0",
        })
    );
    assert_eq!(node.read("/etc/kubernetes/pki/ca.crt").as_deref(), Some("test"));
    let kubeconfig = node.read("/var/lib/kubelet/kubeconfig").unwrap();
    assert!(kubeconfig.contains("server: https://one.example.com\n"), "{kubeconfig}");
    assert!(kubeconfig.contains("command: /usr/bin/aws-iam-authenticator\n"), "{kubeconfig}");
    let pause = "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5";
    let toml = node.read("/etc/containerd/config.toml").unwrap();
    assert!(toml.ends_with(&format!("sandbox_image = \"{pause}\"\n")), "{toml}");
    assert_eq!(
        drop_in(&node, "10-kubelet-args.conf").unwrap(),
        format!(
            "[Service]\nEnvironment='KUBELET_ARGS=--node-ip=192.0.2.10 --pod-infra-container-image={pause} --v=2 \
             --hostname-override=ip-192-0-2-10.eu-central-1.compute.internal --cloud-provider=external'\n"
        )
    );
    assert_eq!(
        drop_in(&node, "30-kubelet-extra-args.conf").as_deref(),
        Some("[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--node-labels=a=b'\n")
    );
    assert_eq!(
        node.read("/etc/systemd/system/kubelet.service").as_deref(),
        Some("[Service]\nExecStart=/usr/bin/kubelet\n")
    );
    assert!(node.read("/etc/systemd/system/sys-fs-bpf.mount").unwrap().contains("Type=bpf\n"));
    // The template is still one: the next call can be another.
    assert!(node.read("/etc/eks/containerd/containerd-config.toml").unwrap().contains("SANDBOX_IMAGE"));
    assert!(ran.errors.contains("[bootstrap/differs]"), "{}", ran.errors);
    // The authority is in no message.
    assert!(!ran.errors.contains("dGVzdA"), "{}", ran.errors);
}

/// The script replaces its placeholders in place: a second call with other values changes nothing there.
#[test]
fn a_second_call_changes_what_changed_and_nothing_else() {
    crate::node::needs_root();
    let node = node();
    let first = ["--kubelet-extra-args", "--reserved-cpus=0", "--pause-container-version", "3.1"];
    well(&node, &[&GIVEN[..], &first].concat());
    let tree = node.tree();
    let same = well(&node, &[&GIVEN[..], &first].concat());
    assert_eq!(node.tree(), tree);
    assert_eq!(Node::begun(&same), ["identify"], "{}", same.errors);
    assert_eq!(config(&node).get("systemReservedCgroup"), None);
    let other = [
        "prod",
        "--apiserver-endpoint=https://two.example.com",
        "--b64-cluster-ca=b3RoZXI=",
        "--pause-container-version=3.9",
        "--use-max-pods=false",
        "--dns-cluster-ip=10.9.0.10",
    ];
    let ran = well(&node, &other);
    assert!(node.read("/var/lib/kubelet/kubeconfig").unwrap().contains("server: https://two.example.com\n"));
    assert_eq!(node.read("/etc/kubernetes/pki/ca.crt").as_deref(), Some("other"));
    assert!(node.read("/etc/containerd/config.toml").unwrap().contains("eks/pause:3.9\""));
    assert!(drop_in(&node, "10-kubelet-args.conf").unwrap().contains("eks/pause:3.9 "));
    assert_eq!(
        drop_in(&node, "30-kubelet-extra-args.conf").as_deref(),
        Some("[Service]\nEnvironment='KUBELET_EXTRA_ARGS='\n")
    );
    let config = config(&node);
    assert_eq!(config["clusterDNS"], json!(["10.9.0.10"]));
    assert_eq!((config.get("maxPods"), config["systemReservedCgroup"].as_str()), (None, Some("/system")));
    // kubelet and containerd read other files now, and start anew.
    for step in ["containerd", "kubelet"] {
        assert!(Node::begun(&ran).contains(&step), "{}", ran.errors);
    }
    // It all goes back to what the image had.
    let reset = node.run(&["reset", "--yes"]);
    assert_eq!(reset.code, Some(0), "{}", reset.errors);
    assert_eq!(node.read("/var/lib/kubelet/kubeconfig").as_deref(), Some("server: MASTER_ENDPOINT\n"));
    assert_eq!(drop_in(&node, "10-kubelet-args.conf"), None);
}

#[test]
fn a_cluster_that_is_only_named_comes_from_the_facts() {
    crate::node::needs_root();
    let node = node();
    let nobody = called(&node, &["prod"]);
    assert_eq!(nobody.code, Some(2), "{}", nobody.errors);
    assert!(nobody.errors.contains("nobody says where the API server is"), "{}", nobody.errors);
    let path = node.beside("facts.json");
    let mut facts: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    facts["cluster"] = json!({
        "name": "prod", "endpoint": "https://eks.example.com", "certificateAuthority": "dGVzdA==",
        "serviceCidr": "10.200.0.0/16",
    });
    std::fs::write(&path, facts.to_string()).unwrap();
    well(&node, &["prod"]);
    assert_eq!(config(&node)["clusterDNS"], json!(["10.200.0.10"]));
    let other = called(&node, &["test"]);
    assert_eq!(other.code, Some(2), "facts of another cluster are not taken: {}", other.errors);
}

/// The script takes what no flag gives from variables of the same names.
#[test]
fn the_environment_counts_where_no_flag_does() {
    crate::node::needs_root();
    let node = node();
    let mut command = Command::new("unshare");
    command.arg("--net").arg(agent()).arg("bootstrap").args(GIVEN).arg("--root").arg(node.path("/"));
    command.args(["--dns-cluster-ip", "10.1.0.10"]).arg("--facts").arg(node.beside("facts.json"));
    let variables =
        [("USE_MAX_PODS", "false"), ("DNS_CLUSTER_IP", "10.2.0.10"), ("KUBELET_EXTRA_ARGS", "--v=4")];
    let ran = ran(command.envs(variables).env("PAUSE_CONTAINER_IMAGE", "example.com/pause"), "");
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let config = config(&node);
    assert_eq!((config.get("maxPods"), &config["clusterDNS"]), (None, &json!(["10.1.0.10"])));
    assert!(drop_in(&node, "30-kubelet-extra-args.conf").unwrap().contains("=--v=4'"));
    assert!(ran.errors.contains("`USE_MAX_PODS` of the environment counts as `--use-max-pods`"));
    assert!(!ran.errors.contains("DNS_CLUSTER_IP"), "the flag counts: {}", ran.errors);
    assert!(ran.errors.contains("`PAUSE_CONTAINER_IMAGE` of the environment counts for nothing"));
}

#[test]
fn under_the_scripts_name_it_is_the_script() {
    crate::node::needs_root();
    let node = node();
    let script = node.beside("bootstrap.sh");
    std::os::unix::fs::symlink(agent(), &script).unwrap();
    let mut command = Command::new("unshare");
    command.arg("--net").arg(&script).args(GIVEN).arg("--root").arg(node.path("/"));
    let ran = ran(command.arg("--facts").arg(node.beside("facts.json")), "");
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    assert_eq!(config(&node)["maxPods"], 58);
}

#[test]
fn all_that_is_wrong_with_a_call_is_told_and_nothing_is_done() {
    crate::node::needs_root();
    let node = node();
    let before = node.tree();
    let ran = called(&node, &["prod", "more", "--use-maxpods", "true", "--ip-family=ipv7", "--until=never"]);
    assert_eq!(ran.code, Some(2));
    for part in [
        "there is no flag `--use-maxpods` [bootstrap/unknown-word]; did you mean `--use-max-pods`?",
        "`more` is a second name of a cluster",
        "`--ip-family` cannot be `ipv7`",
        "no phase has this name",
    ] {
        assert!(ran.errors.contains(part), "{part}: {}", ran.errors);
    }
    let dockerd = called(&node, &[&GIVEN[..], &["--container-runtime", "dockerd"]].concat());
    assert_eq!(dockerd.code, Some(2));
    assert!(dockerd.errors.contains("kubelet cannot use docker since Kubernetes 1.24"));
    let mut after = node.tree();
    after.retain(|path, _| !path.starts_with("run"));
    let mut before = before;
    before.retain(|path, _| !path.starts_with("run"));
    assert_eq!(after, before);
    let help = called(&node, &["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.output.contains("--aws-api-retry-attempts N") && help.output.contains("--root DIR"));
}

/// A directory stands for another machine than the one that a metadata service would tell of.
#[test]
fn a_directory_without_facts_is_a_wrong_call_and_nobody_is_asked() {
    crate::node::needs_root();
    let node = node();
    let before = node.tree();
    let mut command = Command::new("unshare");
    command.args(["--net", "timeout", "10"]).arg(agent()).arg("bootstrap").args(GIVEN);
    let ran = ran(command.arg("--root").arg(node.path("/")), "");
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert!(ran.errors.contains("give `--facts FILE`"), "{}", ran.errors);
    assert_eq!(node.tree(), before);
}

#[test]
fn a_file_for_containerd_is_taken_where_the_caller_sees_it() {
    crate::node::needs_root();
    let node = node();
    let path = node.beside("containerd.toml");
    std::fs::write(&path, "version = 2\n# SANDBOX_IMAGE\n").unwrap();
    let file = format!("--containerd-config-file={}", path.display());
    well(&node, &[&GIVEN[..], &[&file]].concat());
    assert!(node.read("/etc/containerd/config.toml").unwrap().contains("# 602401143452.dkr"));
    std::fs::write(&path, "[cgroup]\na = 1\n[cgroup]\nb = 1\n").unwrap();
    let broken = called(&node, &[&GIVEN[..], &[&file]].concat());
    assert_eq!(broken.code, Some(2));
    assert!(broken.errors.contains("containerd's configuration is no TOML"), "{}", broken.errors);
}

/// Nothing in place of a directory, as an unset variable leaves it, is not this machine's own root.
#[test]
fn no_directory_is_no_root() {
    let mut command = Command::new("unshare");
    command.args(["--net", "timeout", "10"]).arg(agent()).arg("bootstrap").args(GIVEN);
    let ran = ran(command.args(["--root", "", "--facts", "/nowhere/facts.json"]), "");
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert!(ran.errors.contains("cannot open ``"), "{}", ran.errors);
}

#[test]
fn docker_is_configured_from_what_the_image_had() {
    crate::node::needs_root();
    let node = node();
    node.put("/etc/eks/kubelet-version.txt", "Kubernetes v1.23.17-eks-1\n");
    node.put("/etc/docker/daemon.json", r#"{"bridge": "none", "live-restore": true, "max": 10}"#);
    let daemon =
        || -> Value { serde_json::from_str(&node.read("/etc/docker/daemon.json").unwrap()).unwrap() };
    well(&node, &[&GIVEN[..], &["--docker-config-json", r#"{"own": 1}"#]].concat());
    assert_eq!(daemon(), json!({"own": 1}));
    well(&node, &[&GIVEN[..], &["--enable-docker-bridge", "true"]].concat());
    assert_eq!(daemon(), json!({"bridge": "docker0", "live-restore": false, "max": 10}));
}

/// No program is run there, so that none has to be there.
#[test]
fn beneath_a_root_disks_are_left_to_the_machine() {
    crate::node::needs_root();
    let node = node();
    let ran = well(&node, &[&GIVEN[..], &["--local-disks", "raid0", "--until=configure"]].concat());
    assert!(Node::begun(&ran).contains(&"local-disks"), "{}", ran.errors);
    assert!(
        node.read("/etc/bringup/plan.json").unwrap().contains("\"/usr/bin/setup-local-disks\",\"raid0\"")
    );
}

/// What somebody has written there is theirs, in whatever encoding.
#[test]
fn addresses_are_added_to_hosts_and_nothing_else_changes() {
    crate::node::needs_root();
    let node = node();
    let before = b"127.0.0.1 ip6 # caf\xe9".as_slice();
    std::fs::write(node.path("/etc/hosts"), before).unwrap();
    let outpost =
        ["--apiserver-endpoint=https://localhost", "--enable-local-outpost=true", "--cluster-id=id-1"];
    well(&node, &[&GIVEN[..], &outpost].concat());
    let expected = [before, b"\n127.0.0.1\tlocalhost\n::1\tlocalhost\n"].concat();
    assert_eq!(std::fs::read(node.path("/etc/hosts")).unwrap(), expected);
}

/// The script reads it only where containerd runs the containers.
#[test]
fn with_docker_a_file_for_containerd_is_not_read() {
    crate::node::needs_root();
    let node = node();
    node.put("/etc/eks/kubelet-version.txt", "Kubernetes v1.23.17-eks-1\n");
    let ran = called(&node, &[&GIVEN[..], &["--containerd-config-file=/nowhere/containerd.toml"]].concat());
    assert!(!ran.errors.contains("/nowhere"), "{}", ran.errors);
}

#[test]
fn a_machine_with_a_plan_of_its_own_is_not_called() {
    crate::node::needs_root();
    let node = node();
    node.give(&small());
    let ran = called(&node, &GIVEN);
    assert_eq!(ran.code, Some(2));
    assert!(ran.errors.contains("this machine follows the plan of the node group `g`"), "{}", ran.errors);
}

#[test]
fn a_call_that_was_cut_off_is_gone_on_with() {
    crate::node::needs_root();
    let (whole, cut) = (node(), node());
    well(&whole, &GIVEN);
    well(&cut, &[&GIVEN[..], &["--until", "runtime"]].concat());
    let ran = well(&cut, &GIVEN);
    assert!(!Node::begun(&ran).contains(&"containerd-config"), "{}", ran.errors);
    assert_eq!(cut.tree(), whole.tree());
}

#[test]
fn under_the_name_of_eksctls_script_the_agent_follows_its_plan() {
    crate::node::needs_root();
    for name in ["bootstrap.al2.sh", "bootstrap.ubuntu.sh"] {
        let (node, reference) = (Node::new(&small()), Node::new(&small()));
        let script = node.beside(name);
        std::os::unix::fs::symlink(agent(), &script).unwrap();
        let call = |within: bool| {
            let mut command = Command::new("unshare");
            command.arg("--net").arg(&script).arg("--root").arg(node.path("/"));
            command.arg("--facts").arg(node.beside("facts.json"));
            if within {
                command.env("BRINGUP_STEP", "mine");
            }
            ran(&mut command, "")
        };
        // A program of the agent's own that calls it must not wait for itself.
        let before = node.tree();
        assert_eq!((call(true).code, node.tree()), (Some(0), before));
        let first = call(false);
        assert_eq!(first.code, Some(0), "{}", first.errors);
        reference.up();
        assert_eq!(node.tree(), reference.tree());
        // Called again, it looks who it is and finds everything done.
        let again = call(false);
        assert_eq!(
            (again.code, Node::begun(&again), node.tree()),
            (Some(0), vec!["identify"], reference.tree())
        );
    }
}
