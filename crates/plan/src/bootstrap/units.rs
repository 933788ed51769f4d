//! Units, drop-ins and credentials: what the script writes for systemd and for the way to the API server.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_spec::bootstrap_flags::{BPF_MOUNT, BootstrapRuntime};
use bringup_spec::{OnFailure, Phase, Text};
use bringup_yaml::{Value, to_yaml};

use super::{Call, Target};
use crate::steps::{plain, write_file};
use crate::{Action, Content, PlacedBy, Policy, Step, Unit, codes};

pub(super) const AUTHORITY: &str = "/etc/kubernetes/pki/ca.crt";
const KUBECONFIG: &str = "/var/lib/kubelet/kubeconfig";
const BOOTSTRAP_KUBECONFIG: &str = "/var/lib/kubelet/bootstrap-kubeconfig";

/// How the drop-in with further arguments begins and ends, if a call wrote it.
const EXTRA_ARGS: (&str, &str) = ("[Service]\nEnvironment='KUBELET_EXTRA_ARGS=", "'\n");

impl Call<'_> {
    /// The units that the agent places.
    pub(super) fn units(&mut self, runtime: BootstrapRuntime, target: &Target, pause: &str) -> Vec<Unit> {
        let mut units = Vec::new();
        if self.request.mount_bpf {
            units.extend(self.bpf());
        }
        let mut kubelet = unit("kubelet.service", None);
        if runtime == BootstrapRuntime::Containerd {
            units.push(Unit { enabled: Some(true), ..unit("containerd.service", None) });
            for (content, name) in [
                (&self.image.sandbox_unit, "/etc/eks/containerd/sandbox-image.service"),
                (&self.image.kubelet_unit, "/etc/eks/containerd/kubelet-containerd.service"),
            ] {
                if content.is_none() {
                    let message = format!("the image has no `{name}`");
                    let hint = "use an image of EKS with Amazon Linux 2";
                    self.findings
                        .push(bringup_diag::Finding::warning(codes::BOOTSTRAP_IMAGE, message).hint(hint));
                }
            }
            if let Some(content) = self.image.sandbox_unit.clone() {
                units.push(Unit { enabled: Some(true), ..unit("sandbox-image.service", Some(content)) });
            }
            kubelet.content.clone_from(&self.image.kubelet_unit);
        } else {
            units.push(Unit { enabled: Some(true), ..unit("docker.service", None) });
        }
        kubelet.drop_ins = self.drop_ins(target, pause);
        units.push(kubelet);
        units
    }

    /// Nothing where such a file system is mounted already, or somebody else sees to it.
    fn bpf(&self) -> Option<Unit> {
        let ours = self.image.bpf_unit.as_deref() == Some(BPF_MOUNT);
        let wanted = ours || (self.image.bpf_unit.is_none() && !self.image.bpf_mounted);
        let wanted = wanted && !self.image.bpf_by_systemd;
        wanted.then(|| Unit { enabled: Some(true), ..unit("sys-fs-bpf.mount", Some(BPF_MOUNT.to_owned())) })
    }

    fn drop_ins(&mut self, target: &Target, pause: &str) -> BTreeMap<String, String> {
        let (instance, mut drop_ins) = (self.instance, BTreeMap::new());
        let arguments = format!(
            "--node-ip={} --pod-infra-container-image={pause} --v=2 --hostname-override={} --cloud-provider=external",
            instance.address, instance.hostname
        );
        drop_ins.insert(
            "10-kubelet-args.conf".to_owned(),
            format!("[Service]\nEnvironment='KUBELET_ARGS={arguments}'\n"),
        );
        let mut extra = self.extra().to_owned();
        if target.outpost.is_some() {
            extra = format!("--bootstrap-kubeconfig {BOOTSTRAP_KUBECONFIG} {extra}");
        }
        if extra.contains('\'') || extra.contains('\n') {
            self.differs(
                "the script would break the drop-in with kubelet's further arguments: they have a quote or a line end",
                "they are written so that systemd reads them",
            );
        }
        // Of an earlier call there may be one whose words no longer hold.
        let stale = self.image.extra_args.as_deref().is_some_and(|text| {
            text.strip_prefix(EXTRA_ARGS.0).is_some_and(|text| text.ends_with(EXTRA_ARGS.1))
        });
        if !extra.is_empty() || stale {
            let written = extra.replace('\n', " ").replace('\'', "\\'");
            let text = format!("{}{written}{}", EXTRA_ARGS.0, EXTRA_ARGS.1);
            drop_ins.insert("30-kubelet-extra-args.conf".to_owned(), text);
        }
        drop_ins
    }

    /// The way to the API server: whom to trust, and with what to show who asks.
    pub(super) fn join_steps(&mut self, target: &Target) -> Vec<Step> {
        let packed: String = target.authority.split_whitespace().collect();
        let mut steps = Vec::new();
        if let Ok(bytes) = BASE64_STANDARD.decode(&packed) {
            if !bytes.starts_with(b"-----BEGIN CERTIFICATE-----") {
                self.differs(
                    "`--b64-cluster-ca` is no certificate in PEM",
                    "it is written as it is; kubelet will not trust the API server",
                );
            }
            let content = match String::from_utf8(bytes) {
                Ok(text) => Content::Text(Text::literal(text)),
                Err(_) => Content::Base64(packed),
            };
            steps.push(write_file("certificate-authority", Phase::Configure, AUTHORITY, "0644", content));
        } else {
            let hint = "give what `aws eks describe-cluster` prints under `certificateAuthority`";
            self.error(codes::BOOTSTRAP_CLUSTER, "`--b64-cluster-ca` is no base64", hint);
        }
        if !target.endpoint.starts_with("https://") {
            let message =
                format!("the API server's address `{}` does not begin with `https://`", target.endpoint);
            self.differs(message, "it is taken as it is; anybody on the way could read what kubelet says");
        }
        let path = if target.outpost.is_some() { BOOTSTRAP_KUBECONFIG } else { KUBECONFIG };
        let content = Content::Text(Text::literal(self.kubeconfig(target)));
        steps.push(write_file("kubeconfig", Phase::Configure, path, "0644", content));
        if target.outpost.is_some() {
            self.differs(
                format!("`{KUBECONFIG}` of the image stays, where the script moves it away"),
                "kubelet writes it anew with its certificate: without one in it, it is not taken",
            );
            steps.push(hosts(&target.endpoint));
        }
        steps
    }

    fn kubeconfig(&mut self, target: &Target) -> String {
        let subject = target.outpost.as_ref().unwrap_or(&self.request.cluster).clone();
        let region = self.instance.region.clone();
        let (command, flag) = match &self.image.agent {
            Some(agent) => (agent.clone(), "--cluster"),
            None => ("/usr/bin/aws-iam-authenticator".to_owned(), "-i"),
        };
        let arguments = ["token", flag, &subject, "--region", &region].map(str::to_owned);
        if self.image.agent.is_some() {
            self.differs(
                "kubelet's tokens are made by this program, where the script names `aws-iam-authenticator`",
                "both make the same token; nothing else of AWS is needed on the node",
            );
        }
        let exec = Value::map::<&str, Value>([
            ("apiVersion", "client.authentication.k8s.io/v1beta1".into()),
            ("command", command.into()),
            ("args", Value::list(arguments)),
        ]);
        let named = |name: &str, key: &str, value: Value| {
            Value::list([Value::map::<&str, Value>([(key, value), ("name", name.into())])])
        };
        let cluster = Value::map([
            ("certificate-authority", AUTHORITY.to_owned()),
            ("server", target.endpoint.clone()),
        ]);
        let context = Value::map([("cluster", "kubernetes"), ("user", "kubelet")]);
        to_yaml(&Value::map::<&str, Value>([
            ("apiVersion", "v1".into()),
            ("kind", "Config".into()),
            ("clusters", named("kubernetes", "cluster", cluster)),
            ("contexts", named("kubelet", "context", context)),
            ("current-context", "kubelet".into()),
            ("users", named("kubelet", "user", Value::map([("exec", exec)]))),
        ]))
    }
}

/// A local cluster is to be found when the Outpost is cut off: its addresses stand in the machine's own list. Until then, name
/// servers know them, so that a node can come up without.
fn hosts(endpoint: &str) -> Step {
    let host = endpoint.split('/').nth(2).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_owned();
    let keep = Action::KeepAddresses { host, path: "/etc/hosts".to_owned() };
    let mut step = plain("hosts", Phase::Configure, keep);
    step.policy =
        Some(Policy { timeout_ms: 60_000, attempts: 3, backoff_ms: 1000, on_failure: OnFailure::Continue });
    step
}

fn unit(name: &str, content: Option<String>) -> Unit {
    Unit {
        name: name.to_owned(),
        content,
        enabled: None,
        mask: false,
        drop_ins: BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Agent,
    }
}
