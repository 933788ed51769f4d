//! NodeConfigs in user-data: asked for at every boot, and not needed at a later one.

use std::path::Path;
use std::process::{Command, Output};

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::agent::facts;
use crate::metadata::well;
use crate::server::{Reply, Server};

const USER_DATA: &str = "MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=\"//\"

--//
Content-Type: text/x-shellscript

#!/bin/sh
--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: c, apiServerEndpoint: 'https://e', certificateAuthority: YWI=, cidr: 10.100.0.0/16}

--//--
";

fn up(root: &Path, metadata: &str) -> Output {
    let facts_file = root.join("facts.json");
    let mut known = facts();
    known["address"] = "10.0.1.2".into();
    std::fs::write(&facts_file, known.to_string()).unwrap();
    let mut agent = Command::new(env!("CARGO_BIN_EXE_bringup-node"));
    agent.args(["up", "--until", "configure", "--config", "imds://user-data", "--root"]).arg(root);
    agent.arg("--facts").arg(facts_file).env("BRINGUP_METADATA", metadata).output().unwrap()
}

#[test]
fn user_data_is_followed_and_a_later_boot_does_without_the_service() {
    let service = Server::http(|asked| match asked.path.as_str() {
        "/latest/user-data" => Reply::new(200, BASE64_STANDARD.encode(USER_DATA)),
        _ => well(asked),
    });
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("etc/eks")).unwrap();
    std::fs::write(root.path().join("etc/eks/kubelet-version.txt"), "Kubernetes v1.34.1\n").unwrap();
    std::fs::write(root.path().join("etc/eks/containerd-version.txt"), "containerd x v2.1.4\n").unwrap();
    let config = root.path().join("etc/kubernetes/kubelet/config.json");
    let first = up(root.path(), &service.url(""));
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let written = std::fs::read(&config).unwrap();
    // A session and user-data: facts are given.
    assert_eq!(service.asked().len(), 2);
    std::fs::remove_file(&config).unwrap();
    let later = up(root.path(), "http://127.0.0.1:9");
    let said = String::from_utf8_lossy(&later.stderr).into_owned();
    assert_eq!(later.status.code(), Some(0), "{said}");
    assert!(said.contains("the plan of an earlier boot is followed"), "{said}");
    assert_eq!(std::fs::read(&config).unwrap(), written);
}

#[test]
fn user_data_without_a_node_config_is_passed_over() {
    let service = Server::http(|asked| match asked.path.as_str() {
        "/latest/user-data" => Reply::new(200, "#cloud-config\nruncmd: []\n"),
        _ => well(asked),
    });
    let root = tempfile::tempdir().unwrap();
    let ran = up(root.path(), &service.url(""));
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("there is no NodeConfig in `imds://user-data`"), "{said}");
}

/// On the machine itself, as far as it goes: whoever is called up to the gate while another agent is at work looks whether
/// that one has opened it already. The service has said what it says.
#[test]
fn the_service_is_not_asked_again_while_another_agent_is_at_work() {
    assert!(rustix::process::geteuid().is_root(), "run the tests as root: mounts are made");
    let service = Server::http(|asked| match asked.path.as_str() {
        "/latest/user-data" => Reply::new(200, USER_DATA),
        _ => well(asked),
    });
    let folder = tempfile::tempdir().unwrap();
    let facts_file = folder.path().join("facts.json");
    let mut known = facts();
    known["address"] = "10.0.1.2".into();
    std::fs::write(&facts_file, known.to_string()).unwrap();
    // Nothing of the machine that the test runs on is seen, nor changed.
    let script = r#"set -e
        for directory in /etc /run /var/lib; do mount -t tmpfs none "$directory"; done
        mkdir -p /etc/eks /run/bringup
        echo 'Kubernetes v1.34.1' >/etc/eks/kubelet-version.txt
        echo 'containerd x v2.1.4' >/etc/eks/containerd-version.txt
        touch /run/bringup/kubelet.env
        exec flock /run/bringup/lock "$@""#;
    let mut agent = Command::new("unshare");
    agent.args(["--mount", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_bringup-node")]);
    agent.args(["up", "--until", "configure", "--config", "imds://user-data", "--facts"]).arg(facts_file);
    let ran = agent.env("BRINGUP_METADATA", service.url("")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(said.contains("another agent is at work on this machine"), "{said}");
    let asked: Vec<String> = service.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(asked.iter().filter(|path| *path == "/latest/user-data").count(), 1, "{asked:?}");
}
