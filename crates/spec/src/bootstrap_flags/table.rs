//! The flags of `bootstrap.sh`, each with a word on what it does.

/// A flag of the script. Each takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What stands for its value in help.
    pub value: &'static str,
    /// What it does.
    pub about: &'static str,
}

impl Flag {
    /// The variable from which the script takes the value where the flag is not given.
    pub fn variable(&self) -> String {
        match self.name {
            "aws-api-retry-attempts" => "API_RETRY_ATTEMPTS".to_owned(),
            name => name.replace('-', "_").to_ascii_uppercase(),
        }
    }
}

const fn flag(name: &'static str, value: &'static str, about: &'static str) -> Flag {
    Flag { name, value, about }
}

/// All flags, sorted.
pub const FLAGS: [Flag; 19] = [
    flag(
        "apiserver-endpoint",
        "URL",
        "The address of the API server; EKS is asked unless the authority is given, too",
    ),
    flag("aws-api-retry-attempts", "N", "How often EKS is asked again about the cluster [default: 3]"),
    flag("b64-cluster-ca", "BASE64", "The authority of the API server; goes with `--apiserver-endpoint`"),
    flag("cluster-id", "ID", "The id of a local cluster on an Outpost"),
    flag("container-runtime", "NAME", "`containerd`, or `dockerd` before Kubernetes 1.24"),
    flag("containerd-config-file", "FILE", "Stands in for the image's configuration of containerd"),
    flag(
        "dns-cluster-ip",
        "ADDRESSES",
        "The cluster's DNS, with commas between [default: from the range of services]",
    ),
    flag("docker-config-json", "JSON", "What stands in `/etc/docker/daemon.json`; docker only"),
    flag("enable-docker-bridge", "BOOL", "Gives docker its bridge back [default: false]"),
    flag("enable-local-outpost", "BOOL", "Joins a local cluster on an Outpost [default: as EKS says]"),
    flag("ip-family", "FAMILY", "`ipv4` or `ipv6` [default: as EKS says, else `ipv4`]"),
    flag(
        "kubelet-extra-args",
        "WORDS",
        "Further arguments of kubelet, in one word; quotes work as in a shell",
    ),
    flag("local-disks", "HOW", "What becomes of local disks: `mount`, `raid0` or `raid10`"),
    flag("mount-bpf-fs", "BOOL", "Mounts a file system for BPF at `/sys/fs/bpf` [default: true]"),
    flag("pause-container-account", "ACCOUNT", "The account of the pause container's registry"),
    flag("pause-container-version", "TAG", "The version of the pause container [default: 3.5]"),
    flag("service-ipv4-cidr", "RANGE", "The range of services"),
    flag("service-ipv6-cidr", "RANGE", "The range of services of a cluster with IPv6"),
    flag("use-max-pods", "BOOL", "Tells kubelet how many pods the instance type takes [default: true]"),
];
