//! NodeConfigs in place of a plan: what nodeadm would have written, killed or not, once or again.

use std::process::Command;

use crate::node::{Node, Ran, agent, ran};
use crate::plans::small;

const CLUSTER: &str = "---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: my-cluster
    apiServerEndpoint: https://example.com
    certificateAuthority: Y2VydGlmaWNhdGVBdXRob3JpdHk=
    cidr: 10.100.0.0/16
";

const FURTHER: &str = "apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {maxPods: 20}
    flags: [--v=4]
  instance:
    environment: {default: {A: 50%}, kubelet: {B: b}}
";

/// A machine as EKS' images are, without a plan; it stands on the platform whose facts it is given.
fn node() -> Node {
    let node = Node::new(&small());
    node.facts("i-0123456789abcdef0", "m5.large");
    let facts = std::fs::read_to_string(node.beside("facts.json")).unwrap();
    let mut facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    facts["platform"] = "aws".into();
    std::fs::write(node.beside("facts.json"), facts.to_string()).unwrap();
    std::fs::remove_file(node.path("/etc/bringup/plan.json")).unwrap();
    node.put("/etc/eks/kubelet-version.txt", "Kubernetes v1.33.4-eks-99d6cc0\n");
    node.put(
        "/etc/eks/containerd-version.txt",
        "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7\n",
    );
    node
}

/// Runs the agent in a network of its own, in which nobody can be asked.
fn up(node: &Node, sources: &[&str]) -> Ran {
    let mut words = vec!["up", "--until", "configure", "--config"];
    words.extend(sources);
    ran(Command::new("unshare").arg("--net").arg(agent()).args(node.words(&words)), "")
}

fn json(node: &Node, path: &str) -> serde_json::Value {
    serde_json::from_str(&node.read(path).unwrap()).unwrap()
}

#[test]
fn under_another_root_facts_must_be_given() {
    crate::node::needs_root();
    let node = node();
    node.put("/conf.yaml", CLUSTER);
    let mut command = Command::new("unshare");
    command.arg("--net").arg(agent()).args(["up", "--until", "configure", "--config"]);
    let ran = ran(command.arg(node.path("/conf.yaml")).arg("--root").arg(node.path("/")), "");
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert!(ran.errors.contains("give `--facts FILE`"), "{}", ran.errors);
}

/// What a file of facts leaves out, nobody will add; but processors are counted where nodeadm would count them.
#[test]
fn facts_that_are_missing_are_told_at_once_and_processors_are_counted() {
    crate::node::needs_root();
    let node = node();
    node.put("/conf.yaml", CLUSTER);
    let source = node.path("/conf.yaml").display().to_string();
    let text = std::fs::read_to_string(node.beside("facts.json")).unwrap();
    let without = |names: &[&str]| {
        let mut facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        for name in names {
            facts.as_object_mut().unwrap().remove(*name);
        }
        std::fs::write(node.beside("facts.json"), facts.to_string()).unwrap();
        up(&node, &[&source])
    };
    let counted = without(&["cores"]);
    assert_eq!(counted.code, Some(0), "{}", counted.errors);
    let config = json(&node, "/etc/kubernetes/kubelet/config.json");
    assert!(config["kubeReserved"]["cpu"].as_str().is_some_and(|cpu| cpu.ends_with('m')), "{config}");
    let missing = without(&["region", "instanceType"]);
    assert_eq!(missing.code, Some(2), "{}", missing.errors);
    for name in ["`region`", "`instanceType`"] {
        assert!(missing.errors.contains(name), "{}", missing.errors);
    }
}

#[test]
fn node_configs_of_files_and_folders_are_merged_and_followed() {
    crate::node::needs_root();
    let node = node();
    std::fs::write(node.beside("cluster.yaml"), CLUSTER).unwrap();
    std::fs::create_dir_all(node.beside("nodeadm.d")).unwrap();
    std::fs::write(node.beside("nodeadm.d/further.yaml"), FURTHER).unwrap();
    std::fs::write(node.beside("nodeadm.d/ignored.txt"), "no NodeConfig").unwrap();
    let sources =
        [node.beside("cluster.yaml"), node.beside("nodeadm.d")].map(|path| path.display().to_string());
    let sources = sources.each_ref().map(String::as_str);
    let explained = node.run(&["explain", "--config", sources[0], sources[1], "--until", "configure"]);
    assert_eq!(explained.code, Some(1), "{}", explained.errors);
    assert!(explained.output.contains("+++ /etc/eks/kubelet/environment\n"), "{}", explained.output);
    assert_eq!(node.read("/etc/bringup/plan.json"), None);
    let first = up(&node, &sources);
    assert_eq!(first.code, Some(0), "{}", first.errors);
    // m5.large: 3 * 9 + 2 = 29 pods, and 11 * 29 + 255 = 574 MiB; four cores: 60 + 10 + 5 + 5 = 80 thousandths.
    let config = json(&node, "/etc/kubernetes/kubelet/config.json");
    assert_eq!(config["maxPods"], 29);
    assert_eq!(config["kubeReserved"]["memory"], "574Mi");
    assert_eq!(config["kubeReserved"]["cpu"], "80m");
    assert_eq!(config["providerID"], "aws:///eu-central-1a/i-0123456789abcdef0");
    assert_eq!(json(&node, "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf")["maxPods"], 20);
    assert_eq!(node.read("/etc/kubernetes/pki/ca.crt").as_deref(), Some("certificateAuthority"));
    let environment = node.read("/etc/eks/kubelet/environment").unwrap();
    assert!(environment.contains("--hostname-override=ip-192-0-2-10.eu-central-1.compute.internal "));
    assert!(environment.contains(" --node-ip=192.0.2.10 ") && environment.ends_with(" --v=4"));
    assert_eq!(
        node.read("/etc/systemd/system.conf.d/environment.conf").as_deref(),
        Some("[Manager]\nDefaultEnvironment=\"A=50%%\"\n")
    );
    assert!(node.read("/etc/systemd/system/kubelet.service.d/environment.conf").is_some());
    assert!(node.read("/etc/containerd/config.toml").unwrap().starts_with("root = '/var/lib/containerd'\n"));
    assert!(node.read("/var/lib/kubelet/kubeconfig").unwrap().ends_with("- \"eu-central-1\"\n"));
    assert_eq!(node.read("/run/bringup/kubelet.env"), None);
    // The same again changes nothing; without the second source, what came of it goes.
    let before = node.tree();
    let again = up(&node, &sources);
    assert_eq!((again.code, node.tree()), (Some(0), before), "{}", again.errors);
    let fewer = up(&node, &sources[..1]);
    assert_eq!(fewer.code, Some(0), "{}", fewer.errors);
    assert_eq!(node.read("/etc/systemd/system.conf.d/environment.conf"), None);
    assert_eq!(node.read("/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"), None);
}

#[test]
fn a_node_config_that_nodeadm_refuses_changes_nothing() {
    let node = node();
    let broken = CLUSTER.replace("name: my-cluster", "name-not-real: my-cluster");
    std::fs::write(node.beside("cluster.yaml"), broken).unwrap();
    let before = node.tree();
    let ran = node.run(&["up", "--config", &node.beside("cluster.yaml").display().to_string()]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(node.tree(), before);
    assert!(ran.errors.contains("warning: nodeadm does not know `name-not-real` here"), "{}", ran.errors);
    assert!(ran.errors.contains("error: nodeadm needs `spec.cluster.name`"), "{}", ran.errors);
    let outside = format!("{CLUSTER}  instance:\n    environment: {{../x: {{A: b}}}}\n");
    std::fs::write(node.beside("cluster.yaml"), outside).unwrap();
    let ran = node.run(&["up", "--config", &node.beside("cluster.yaml").display().to_string()]);
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert_eq!(node.tree(), before);
    assert!(ran.errors.contains("error: `../x` is no name of a service"), "{}", ran.errors);
    let none = node.run(&["up", "--config", &node.beside("nothing").display().to_string()]);
    assert_eq!(none.code, Some(2));
}

/// A machine that a document's plan brings up is not taken over unasked, and neither is what was said about it.
#[test]
fn a_machine_with_another_kind_of_plan_is_left_alone() {
    crate::node::needs_root();
    let node = node();
    std::fs::write(node.beside("cluster.yaml"), CLUSTER).unwrap();
    let source = node.beside("cluster.yaml").display().to_string();
    node.give(&small());
    let before = node.tree();
    for words in [["up", "--config", &source], ["explain", "--config", &source]] {
        let refused = node.run(&words);
        assert_eq!(refused.code, Some(2), "{}", refused.errors);
        for word in ["`g`", "`/etc/bringup/plan.json`", "`bringup-node reset`"] {
            assert!(refused.errors.contains(word), "{word}: {}", refused.errors);
        }
    }
    assert_eq!(node.tree(), before);
    // As the message says.
    std::fs::remove_file(node.path("/etc/bringup/plan.json")).unwrap();
    assert_eq!(up(&node, &[&source]).code, Some(0));
    assert_eq!(up(&node, &[&source]).code, Some(0), "its own plan is no hindrance");
}

/// In a space of numbers of its own, the shell is the first process, the agent the second, and the third one is whoever is
/// started afterwards: unless the agent has started any.
#[test]
fn no_other_process_is_started() {
    crate::node::needs_root();
    let node = node();
    std::fs::write(
        node.beside("cluster.yaml"),
        format!("{CLUSTER}  containerd: {{config: 'version = 2'}}\n"),
    )
    .unwrap();
    let source = node.beside("cluster.yaml").display().to_string();
    let mut command = Command::new("unshare");
    command.args(["--net", "--pid", "--fork", "sh", "-c", "\"$@\" && sh -c 'echo $$'", "sh"]).arg(agent());
    let ran = ran(command.args(node.words(&["up", "--until", "configure", "--config", &source])), "");
    assert_eq!((ran.code, ran.output.as_str()), (Some(0), "3\n"), "{}", ran.errors);
}
