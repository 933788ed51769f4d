//! The processes of a control plane, for one boot of the machine.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Kubernetes, authenticator};
use crate::LabFault;
use crate::network::Network;

/// How long it may take until it answers.
const PATIENCE: Duration = Duration::from_mins(3);
/// How long is waited before it is asked again.
const LOOK: Duration = Duration::from_millis(200);
/// The token that nodes may ask for their first certificate with.
pub(super) const TOKEN: &str = "bringu.0123456789abcdef";
const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";
const CONTROLLER_MANAGER: &str = "kube-controller-manager";
/// The processes; each has a log of its name.
pub(super) const PROCESSES: [&str; 3] = [ETCD, API_SERVER, CONTROLLER_MANAGER];
/// What Kubernetes' own controllers see to: that nodes get certificates, and are open to pods once they are ready.
const CONTROLLERS: &str = "csrapproving,csrsigning,nodelifecycle";

/// A control plane that runs; gone with the value.
#[derive(Debug)]
pub(crate) struct ControlPlane<'a> {
    cluster: &'a Kubernetes,
    network: PathBuf,
    children: Vec<(&'static str, Child)>,
}

impl<'a> ControlPlane<'a> {
    /// Starts it in the machine's network and waits until it answers. Etcd is that of the Debian root; `node` is who a
    /// token of the machine's role stands for.
    pub(crate) fn start(
        cluster: &'a Kubernetes,
        root: &Path,
        network: &Network,
        node: &str,
    ) -> Result<Self, LabFault> {
        let address = cluster.address();
        if address != network.address().to_string() {
            let prefix = if address.contains(':') { 128 } else { 32 };
            network.add_address(&format!("{address}/{prefix}"))?;
        }
        let mut plane = Self { cluster, network: network.file(), children: Vec::new() };
        authenticator::serve(network, node, &cluster.eks)?;
        plane.etcd(root)?;
        plane.api_server()?;
        plane.wait(&["get", "--raw=/readyz"], None)?;
        plane.controllers()?;
        plane.wait(&["apply", "--filename=-"], Some(&rights().to_string()))?;
        Ok(plane)
    }

    fn etcd(&mut self, root: &Path) -> Result<(), LabFault> {
        let folder = self.cluster.folder.path();
        // Its files are beside the root, which is never written to.
        let script = "mount --bind \"$1\" \"$2/mnt\" && exec chroot \"$2\" /usr/bin/etcd --data-dir=/mnt/etcd \
                      --listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
                      --listen-peer-urls=http://127.0.0.1:2380 --initial-advertise-peer-urls=http://127.0.0.1:2380 \
                      --initial-cluster=default=http://127.0.0.1:2380";
        let mut command = self.inside("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]).arg(folder).arg(root);
        self.spawn(ETCD, command)
    }

    fn api_server(&mut self) -> Result<(), LabFault> {
        let webhook = self.cluster.path("authenticator.kubeconfig");
        std::fs::write(&webhook, authenticator::settings().to_string())
            .map_err(LabFault::file("write", &webhook))?;
        let file = |name: &str| self.cluster.path(name).display().to_string();
        let mut command = self.inside(self.cluster.program(API_SERVER));
        command
            .arg("--etcd-servers=http://127.0.0.1:2379")
            .arg(format!("--bind-address={}", self.cluster.address()))
            .arg(format!("--secure-port={}", self.cluster.port))
            .arg(format!("--advertise-address={}", self.cluster.address()))
            .arg(format!("--client-ca-file={}", file("ca.crt")))
            .arg(format!("--tls-cert-file={}", file("server.crt")))
            .arg(format!("--tls-private-key-file={}", file("server.key")))
            .arg("--service-account-issuer=https://kubernetes.default.svc")
            .arg(format!("--service-account-key-file={}", file("server.crt")))
            .arg(format!("--service-account-signing-key-file={}", file("server.key")))
            .arg("--service-cluster-ip-range=10.96.0.0/16")
            .arg("--endpoint-reconciler-type=none")
            .arg("--authorization-mode=Node,RBAC")
            .arg("--enable-admission-plugins=NodeRestriction")
            .arg("--enable-bootstrap-token-auth")
            .arg(format!("--authentication-token-webhook-config-file={}", webhook.display()))
            .arg("--authentication-token-webhook-version=v1")
            .arg(format!("--cert-dir={}", file("api-server")));
        self.spawn(API_SERVER, command)
    }

    fn controllers(&mut self) -> Result<(), LabFault> {
        let file = |name: &str| self.cluster.path(name).display().to_string();
        let mut command = self.inside(self.cluster.program(CONTROLLER_MANAGER));
        command
            .arg(format!("--kubeconfig={}", file("controllers.kubeconfig")))
            .arg(format!("--controllers={CONTROLLERS}"))
            .arg(format!("--cluster-signing-cert-file={}", file("ca.crt")))
            .arg(format!("--cluster-signing-key-file={}", file("ca.key")))
            .arg("--use-service-account-credentials=true")
            .arg("--leader-elect=false")
            .arg("--bind-address=127.0.0.1")
            .arg(format!("--cert-dir={}", file("controllers")));
        self.spawn(CONTROLLER_MANAGER, command)
    }

    /// A command in the machine's network that does not outlive this process.
    fn inside(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.network.display())).args([
            "setpriv",
            "--pdeathsig",
            "KILL",
            "--",
        ]);
        command.arg(program);
        command
    }

    fn spawn(&mut self, name: &'static str, mut command: Command) -> Result<(), LabFault> {
        let path = self.cluster.path(&format!("{name}.log"));
        let log = std::fs::File::create(&path).map_err(LabFault::file("make", &path))?;
        let errors = log.try_clone().map_err(LabFault::file("make", &path))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(LabFault::system("start the control plane"))?;
        self.children.push((name, child));
        Ok(())
    }

    /// Asks the API server, and gives what it printed if all went well.
    fn ask(&self, arguments: &[&str], input: Option<&str>) -> Result<String, LabFault> {
        use std::io::Write as _;
        let mut command = self.inside(self.cluster.program("kubectl"));
        command
            .arg(format!("--kubeconfig={}", self.cluster.path("admin.kubeconfig").display()))
            .arg(format!("--cache-dir={}", self.cluster.path("kubectl").display()))
            .arg("--request-timeout=20s")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(LabFault::system("run kubectl"))?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
        }
        let done = child.wait_with_output().map_err(LabFault::system("run kubectl"))?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        Err(LabFault::Program {
            command: format!("kubectl {}", arguments.join(" ")),
            status: done.status.to_string(),
            output: String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        })
    }

    /// Asks until it goes well.
    fn wait(&mut self, arguments: &[&str], input: Option<&str>) -> Result<(), LabFault> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Err(fault) = self.ask(arguments, input) else { return Ok(()) };
            self.alive()?;
            if Instant::now() >= deadline {
                return Err(fault);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// An error with the end of the log of whatever has ended.
    fn alive(&mut self) -> Result<(), LabFault> {
        for (name, child) in &mut self.children {
            let Ok(Some(status)) = child.try_wait() else { continue };
            let path = self.cluster.path(&format!("{name}.log"));
            let log = std::fs::read(&path).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let lines: Vec<&str> = log.lines().collect();
            return Err(LabFault::Program {
                command: (*name).to_owned(),
                status: status.to_string(),
                output: lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("; "),
            });
        }
        Ok(())
    }

    /// The machine's node once it is ready in a boot that is not `before`, or as it is when the time is over, and which of
    /// both.
    pub(crate) fn node(
        &mut self,
        before: Option<&str>,
        deadline: Instant,
    ) -> Result<(Option<Value>, bool), LabFault> {
        loop {
            let text = self.ask(&["get", "nodes", "--output=json"], None)?;
            let list: Value = serde_json::from_str(&text).unwrap_or_default();
            let node = list.pointer("/items/0").cloned();
            let settled = node.as_ref().is_some_and(|node| boot_id(node) != before && is_settled(node));
            if settled || Instant::now() >= deadline {
                return Ok((node, settled));
            }
            self.alive()?;
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for ControlPlane<'_> {
    fn drop(&mut self) {
        // Etcd last: the others complain when it is away.
        for (_, child) in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The boot that a node speaks of.
pub(crate) fn boot_id(node: &Value) -> Option<&str> {
    node.pointer("/status/nodeInfo/bootID").and_then(Value::as_str)
}

/// Whether a node says that it is ready.
fn is_ready(node: &Value) -> bool {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| {
        condition.get("type").and_then(Value::as_str) == Some("Ready")
            && condition.get("status").and_then(Value::as_str) == Some("True")
    })
}

/// Whether it is ready, and the controllers know that.
fn is_settled(node: &Value) -> bool {
    let taints = node.pointer("/spec/taints").and_then(Value::as_array);
    let kept_off = taints.into_iter().flatten().any(|taint| {
        let key = taint.get("key").and_then(Value::as_str);
        matches!(key, Some("node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable"))
    });
    is_ready(node) && !kept_off
}

/// Who may do what, and the bootstrap token.
fn rights() -> Value {
    let binding = |name: &str, role: &str, group: &str| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}],
        })
    };
    let requests = "system:certificates.k8s.io:certificatesigningrequests";
    let (id, secret) = TOKEN.split_once('.').unwrap_or_default();
    json!({"apiVersion": "v1", "kind": "List", "items": [
        binding("lab-may-ask", "system:node-bootstrapper", "system:bootstrappers"),
        binding("lab-is-given", &format!("{requests}:nodeclient"), "system:bootstrappers"),
        binding("lab-is-given-again", &format!("{requests}:selfnodeclient"), "system:nodes"),
        {
            "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"},
            "stringData": {"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true"},
        },
    ]})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(status: &str, taint: &str) -> Value {
        json!({"spec": {"taints": [{"key": taint, "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": status}]}})
    }

    #[test]
    fn a_node_is_settled_once_the_controllers_know_that_it_is_ready() {
        assert!(is_settled(&node("True", "example.com/gpu")));
        assert!(!is_settled(&node("True", "node.kubernetes.io/not-ready")));
        assert!(!is_settled(&node("False", "example.com/gpu")));
        assert!(!is_settled(&json!({})));
    }
}
