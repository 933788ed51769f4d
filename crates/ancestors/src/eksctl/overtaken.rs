//! Files of the image that commands like to change, and that the plan does not heed.

use bringup_diag::Span;

use crate::codes;
use crate::tell::Teller;

/// A path, why a change there is lost, and what to write instead.
const FILES: [(&str, &str, &str); 8] = [
    ("/etc/eks/bootstrap.sh", NOT_RUN, FIELDS),
    ("/etc/eks/nodeadm.d", NOT_RUN, NODE_CONFIG),
    ("/var/lib/cloud/scripts/eksctl/", "is not there", FIELDS),
    ("/etc/eksctl/", WRITTEN, FIELDS),
    ("/etc/kubernetes/kubelet/", WRITTEN, FIELDS),
    ("/etc/eks/kubelet/environment", WRITTEN, FIELDS),
    ("/var/lib/kubelet/kubeconfig", WRITTEN, "remove it: the plan writes what the node joins with"),
    ("/etc/containerd/config.toml", WRITTEN, NODE_CONFIG),
];

/// What docker alone reads.
const DOCKERS: &str = "/etc/docker/daemon.json";
const DOCKER_CONFIG: &str = "add `runtime: {dockerConfig: {...}}` to the group with `--with additions.yaml`";
const REGISTRIES: &str = "remove it; containerd reads what is said of a registry from `/etc/containerd/certs.d/HOST/hosts.toml`, which a command may write";

const NOT_RUN: &str = "is not run on the node";
const WRITTEN: &str = "is written by the plan afterwards";
const FIELDS: &str = "say it with `labels`, `taints`, `maxPodsPerNode` or `kubeletExtraConfig`, and remove it from the command";
const NODE_CONFIG: &str = "write it into a NodeConfig in `overrideBootstrapCommand`; elsewhere, add `runtime: {config: ...}` to the group with `--with additions.yaml`";

/// Tells of a command that names such a file; `docker` is whether that is the runtime.
pub(super) fn tell_of(command: &str, span: Span, docker: bool, tell: &mut Teller<'_>) {
    let docker_file = docker.then_some((DOCKERS, WRITTEN, DOCKER_CONFIG));
    for (path, why, hint) in FILES.into_iter().chain(docker_file) {
        if command.contains(path) {
            let message =
                format!("this command has to do with `{path}`, which {why}: what it changes there is lost");
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        }
    }
    if !docker && command.contains(DOCKERS) {
        let message = format!(
            "this command has to do with `{DOCKERS}`, which nothing reads that runs pods: the runtime is containerd, here as with eksctl"
        );
        tell.note(codes::DIFFERENCE, span, message, REGISTRIES);
    }
}
