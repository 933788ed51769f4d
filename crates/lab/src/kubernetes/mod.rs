//! A cluster for the machine to join, with Kubernetes' own programs.

mod authenticator;
mod authority;
mod control_plane;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::LabFault;
use authority::Authority;
pub(crate) use control_plane::{ControlPlane, boot_id};

/// What the folder of programs holds.
const PROGRAMS: [&str; 4] = ["kubelet", "kube-apiserver", "kube-controller-manager", "kubectl"];
/// Where the API server listens if its endpoint is a name.
const ADDRESS: &str = "10.77.0.2";
/// The endpoint, if the document has none.
const ENDPOINT: &str = "https://10.77.0.2:6443";

/// A cluster for the machine to join: etcd, the API server and a few controllers run in the machine's own network. It
/// keeps what it knows from boot to boot.
#[derive(Debug)]
pub struct Kubernetes {
    programs: PathBuf,
    folder: tempfile::TempDir,
    authority: Authority,
    host: String,
    port: u16,
    eks: Arc<AtomicBool>,
}

impl Kubernetes {
    /// Where the machine finds the bootstrap token that the cluster takes.
    pub const TOKEN: &str = "/lab/bootstrap-token";
    /// Where the machine finds a kubeconfig with a node's certificate.
    pub const KUBECONFIG: &str = "/lab/kubeconfig";

    /// With the programs in this folder, at the endpoint that a document names.
    pub fn prepare(programs: &Path, endpoint: Option<&str>) -> Result<Self, LabFault> {
        for name in PROGRAMS {
            let path = programs.join(name);
            std::fs::metadata(&path).map_err(LabFault::file("find", &path))?;
        }
        let folder = tempfile::Builder::new()
            .prefix("bringup-lab-kubernetes-")
            .tempdir()
            .map_err(LabFault::system("make a folder for the cluster"))?;
        let (host, port) = place(endpoint.unwrap_or(ENDPOINT));
        let authority = Authority::make(folder.path())?;
        let cluster =
            Self { programs: programs.to_owned(), folder, authority, host, port, eks: Arc::default() };
        let address = cluster.address();
        cluster.authority.server("server", &[cluster.host.as_str(), address])?;
        cluster.kubeconfig("admin", Some("system:masters"), "lab")?;
        cluster.kubeconfig("controllers", None, "system:kube-controller-manager")?;
        Ok(cluster)
    }

    /// The certificate of its authority, which a document must name for the machine to trust the API server.
    pub fn authority(&self) -> &str {
        self.authority.certificate()
    }

    /// Where its API server answers.
    pub fn endpoint(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("https://{host}:{}", self.port)
    }

    /// What the processes of the control plane said in the last boot, by name.
    pub(crate) fn logs(&self) -> Vec<(&'static str, String)> {
        let read = |name: &str| std::fs::read(self.path(&format!("{name}.log"))).unwrap_or_default();
        control_plane::PROCESSES.map(|name| (name, String::from_utf8_lossy(&read(name)).into_owned())).into()
    }

    /// Whether it has stood in for EKS to know who a token is of.
    pub(crate) fn stood_in_for_eks(&self) -> bool {
        self.eks.load(Ordering::Relaxed)
    }

    /// A program of Kubernetes.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The host of its endpoint, if that is a name, and the address that it has.
    pub(crate) fn name(&self) -> Option<(&str, &str)> {
        self.host.parse::<IpAddr>().is_err().then_some((self.host.as_str(), ADDRESS))
    }

    /// What the machine with this name of a node finds: path and content.
    pub(crate) fn files(&self, node: &str) -> Result<[(&'static str, Vec<u8>); 2], LabFault> {
        let path = self.kubeconfig("node", Some("system:nodes"), &format!("system:node:{node}"))?;
        let kubeconfig = std::fs::read(&path).map_err(LabFault::file("read", &path))?;
        Ok([(Self::TOKEN, control_plane::TOKEN.as_bytes().to_vec()), (Self::KUBECONFIG, kubeconfig)])
    }

    /// Where the API server listens.
    fn address(&self) -> &str {
        self.name().map_or(self.host.as_str(), |(_, address)| address)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a kubeconfig for somebody.
    fn kubeconfig(&self, name: &str, group: Option<&str>, subject: &str) -> Result<PathBuf, LabFault> {
        let pair = self.authority.client(group, subject)?;
        let server = format!("https://{}", std::net::SocketAddr::new(self.ip(), self.port));
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {
                "server": server, "certificate-authority-data": BASE64.encode(self.authority())}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "users": [{"name": "lab", "user": {
                "client-certificate-data": BASE64.encode(&pair.certificate),
                "client-key-data": BASE64.encode(&pair.key)}}],
        });
        let path = self.path(&format!("{name}.kubeconfig"));
        std::fs::write(&path, config.to_string()).map_err(LabFault::file("write", &path))?;
        Ok(path)
    }

    /// Where its API server listens.
    pub(crate) fn ip(&self) -> IpAddr {
        self.address().parse().unwrap_or(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST))
    }
}

/// Host and port of an endpoint.
fn place(endpoint: &str) -> (String, u16) {
    let rest = endpoint.trim_start_matches("https://").split('/').next().unwrap_or_default();
    if let Some((inner, port)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (inner.to_owned(), port.trim_start_matches(':').parse().unwrap_or(443));
    }
    match rest.rsplit_once(':') {
        Some((host, port)) => (host.to_owned(), port.parse().unwrap_or(443)),
        None => (rest.to_owned(), 443),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_taken_apart() {
        let is = |endpoint, host: &str, port| assert_eq!(place(endpoint), (host.to_owned(), port));
        is("https://api.example", "api.example", 443);
        is("https://api.example:6443/", "api.example", 6443);
        is("https://10.0.0.1:6443", "10.0.0.1", 6443);
        is("https://[fd00::1]:6443", "fd00::1", 6443);
        is("https://[fd00::1]", "fd00::1", 443);
    }
}
