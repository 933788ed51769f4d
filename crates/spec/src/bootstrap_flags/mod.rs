//! The call of `bootstrap.sh`, by which images of EKS before Amazon Linux 2023 join a cluster: its words in, a request out.
//!
//! The last version of the script has 19 flags. It lets unknown words pass, and does not know `--flag=value`; here both forms
//! are known and unknown words are errors. A flag that is given twice counts as it is given last, and an empty value counts
//! as none, as the script has it: templates often fill in nothing.

mod table;
mod words;

use std::collections::BTreeMap;

use bringup_diag::{Finding, Findings, closest};

pub use table::{FLAGS, Flag};
pub use words::split;

use crate::codes;

/// The unit `sys-fs-bpf.mount` of a node that the script has set up.
pub const BPF_MOUNT: &str = "[Unit]\n\
    Description=BPF mounts\n\
    Documentation=https://docs.kernel.org/bpf/index.html\n\
    DefaultDependencies=no\n\
    Before=local-fs.target umount.target\n\
    After=swap.target\n\n\
    [Mount]\n\
    What=bpffs\n\
    Where=/sys/fs/bpf\n\
    Type=bpf\n\
    Options=rw,nosuid,nodev,noexec,relatime,mode=700\n\n\
    [Install]\n\
    WantedBy=multi-user.target\n";

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapRequest {
    /// The cluster's name.
    pub cluster: String,
    /// The address of its API server.
    pub endpoint: Option<String>,
    /// The authority of its API server, in base64.
    pub authority: Option<String>,
    /// How often EKS is asked again about the cluster.
    pub retry_attempts: u32,
    /// The id of a local cluster on an Outpost.
    pub cluster_id: Option<String>,
    /// Whether it is a local cluster on an Outpost; EKS knows it otherwise.
    pub local_outpost: Option<bool>,
    /// The runtime; the version of Kubernetes decides otherwise.
    pub runtime: Option<BootstrapRuntime>,
    /// A file in place of the image's configuration of containerd.
    pub containerd_config_file: Option<String>,
    /// The addresses of the cluster's DNS, as they are written.
    pub dns: Option<String>,
    /// What is to stand in docker's configuration.
    pub docker_config: Option<String>,
    /// Whether docker has its bridge.
    pub docker_bridge: bool,
    /// Whether the cluster's addresses are IPv6 ones.
    pub ipv6: Option<bool>,
    /// Further arguments of kubelet, as they are written.
    pub kubelet_extra_args: Option<String>,
    /// What becomes of local disks: `mount`, `raid0` or `raid10`.
    pub local_disks: Option<String>,
    /// Whether a file system for BPF is mounted.
    pub mount_bpf: bool,
    /// The account of the pause container's registry.
    pub pause_account: Option<String>,
    /// The version of the pause container.
    pub pause_version: String,
    /// The range of services, IPv4, as it is written.
    pub service_ipv4: Option<String>,
    /// The range of services, IPv6, as it is written.
    pub service_ipv6: Option<String>,
    /// Whether kubelet is told how many pods the instance type takes.
    pub use_max_pods: bool,
}

impl BootstrapRequest {
    /// Whether EKS must be asked about the cluster: one of the two alone is of no use.
    pub fn needs_cluster(&self) -> bool {
        self.endpoint.is_none() || self.authority.is_none()
    }

    /// The further arguments of kubelet, one by one, as a shell would split them.
    pub fn extra_words(&self) -> Vec<String> {
        self.kubelet_extra_args.as_deref().and_then(split).unwrap_or_default()
    }
}

/// A container runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapRuntime {
    /// containerd
    Containerd,
    /// docker
    Dockerd,
}

/// What became of the words of a call.
#[derive(Clone, Debug)]
pub struct ParsedCall {
    /// The request, unless there are errors.
    pub request: Option<BootstrapRequest>,
    /// Values of the flags that were asked for beside the script's own.
    pub beside: BTreeMap<String, String>,
    /// Whether help is asked for.
    pub help: bool,
    /// What is wrong, all of it.
    pub findings: Findings,
}

/// Reads the words of a call, without the script's own name. `beside` names flags with a value that are not the script's.
pub fn parse(words: &[String], beside: &[&str]) -> ParsedCall {
    let mut findings = Findings::new();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    let mut help = false;
    let known = |name: &str| FLAGS.iter().any(|flag| flag.name == name) || beside.contains(&name);
    let all = || FLAGS.iter().map(|flag| flag.name).chain(beside.iter().copied());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "-h" || word == "--help" {
            help = true;
            continue;
        }
        let Some(flag) = word.strip_prefix("--") else {
            if word.starts_with('-') {
                unknown(&mut findings, word, None);
            } else {
                names.push(word);
            }
            continue;
        };
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        if !known(name) {
            unknown(&mut findings, &format!("--{name}"), closest(name, all()));
            // What follows is most likely its value, and no name of a cluster.
            if given.is_none() && rest.as_slice().first().is_some_and(|next| !next.starts_with('-')) {
                rest.next();
            }
            continue;
        }
        match given.or_else(|| rest.next().cloned()) {
            Some(value) => {
                values.insert(name.to_owned(), value);
            }
            None => findings.push(
                Finding::error(codes::BOOTSTRAP_CALL, format!("`--{name}` has no value"))
                    .hint(format!("write `--{name} VALUE` or `--{name}=VALUE`")),
            ),
        }
    }
    let cluster = names.first().filter(|name| !name.is_empty()).map(|name| (*name).to_owned());
    if cluster.is_none() {
        let hint = "write it as a word of its own: `bootstrap CLUSTER`";
        findings.push(Finding::error(codes::BOOTSTRAP_CALL, "the name of the cluster is missing").hint(hint));
    }
    for further in names.iter().skip(1) {
        let message = format!("`{further}` is a second name of a cluster");
        let hint = "put values with blanks into quotes, and write one name";
        findings.push(Finding::error(codes::BOOTSTRAP_WORD, message).hint(hint));
    }
    // What stands beside the script's own flags is not filled in by templates: nothing in place of a directory is a mistake,
    // and not the root of this machine.
    values.retain(|name, value| !value.is_empty() || beside.contains(&name.as_str()));
    let mut reader = Reader { values, findings };
    let request = reader.request(cluster.unwrap_or_default());
    let Reader { values, findings } = reader;
    let request = (!findings.has_errors()).then_some(request);
    ParsedCall { request, beside: values, help, findings }
}

fn unknown(findings: &mut Findings, word: &str, near: Option<&str>) {
    let hint = near
        .map_or_else(|| "`--help` lists all flags".to_owned(), |near| format!("did you mean `--{near}`?"));
    findings.push(Finding::error(codes::BOOTSTRAP_WORD, format!("there is no flag `{word}`")).hint(hint));
}

/// Takes values out of what was given.
struct Reader {
    values: BTreeMap<String, String>,
    findings: Findings,
}

impl Reader {
    fn request(&mut self, cluster: String) -> BootstrapRequest {
        let family = self.choice("ip-family", &["ipv4", "ipv6"]);
        let service_ipv6 = self.text("service-ipv6-cidr");
        if service_ipv6.is_some() && family.as_deref() == Some("ipv4") {
            let message = "`--service-ipv6-cidr` is for a cluster with IPv6, and `--ip-family` says `ipv4`";
            self.fault(message, "write `--ip-family ipv6`, or `--service-ipv4-cidr`");
        }
        let ipv6 = family.map(|family| family == "ipv6").or(service_ipv6.is_some().then_some(true));
        let runtime = self.choice("container-runtime", &["containerd", "dockerd"]);
        let retry_attempts = match self.text("aws-api-retry-attempts").map(|text| text.parse::<u32>()) {
            None => 3,
            Some(Ok(times)) => times,
            Some(Err(_)) => {
                self.fault("`--aws-api-retry-attempts` is no number", "write how often, such as `3`");
                0
            }
        };
        let kubelet_extra_args = self.text("kubelet-extra-args");
        if kubelet_extra_args.as_deref().is_some_and(|text| split(text).is_none()) {
            let message = "`--kubelet-extra-args` has a quote that is not closed";
            self.fault(message, "close it, or remove it");
        }
        BootstrapRequest {
            cluster,
            endpoint: self.text("apiserver-endpoint"),
            authority: self.text("b64-cluster-ca"),
            retry_attempts,
            cluster_id: self.text("cluster-id"),
            local_outpost: self.truth("enable-local-outpost"),
            runtime: runtime.map(|name| match name.as_str() {
                "dockerd" => BootstrapRuntime::Dockerd,
                _ => BootstrapRuntime::Containerd,
            }),
            containerd_config_file: self.text("containerd-config-file"),
            dns: self.text("dns-cluster-ip"),
            docker_config: self.text("docker-config-json"),
            docker_bridge: self.truth("enable-docker-bridge").unwrap_or(false),
            ipv6,
            kubelet_extra_args,
            local_disks: self.choice("local-disks", &["mount", "raid0", "raid10"]),
            mount_bpf: self.truth("mount-bpf-fs").unwrap_or(true),
            pause_account: self.text("pause-container-account"),
            pause_version: self.text("pause-container-version").unwrap_or_else(|| "3.5".to_owned()),
            service_ipv4: self.text("service-ipv4-cidr"),
            service_ipv6,
            use_max_pods: self.truth("use-max-pods").unwrap_or(true),
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    fn choice(&mut self, name: &str, choices: &[&str]) -> Option<String> {
        let value = self.text(name)?.to_ascii_lowercase();
        if choices.contains(&value.as_str()) {
            return Some(value);
        }
        let all: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        self.fault(&format!("`--{name}` cannot be `{value}`"), &format!("write {}", all.join(" or ")));
        None
    }

    fn truth(&mut self, name: &str) -> Option<bool> {
        self.choice(name, &["true", "false"]).map(|value| value == "true")
    }

    fn fault(&mut self, message: &str, hint: &str) {
        self.findings.push(Finding::error(codes::BOOTSTRAP_VALUE, message).hint(hint));
    }
}

#[cfg(test)]
mod tests;
