//! What a step does, as data.

use std::collections::{BTreeMap, BTreeSet};

use bringup_spec::{MinorRange, SecretSource, SignalKind, Text, Unpack};
use serde::{Deserialize, Serialize};

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "do", deny_unknown_fields)]
pub enum Action {
    /// Learns the facts.
    LearnFacts,
    /// Writes a file.
    WriteFile {
        /// Where.
        path: String,
        /// Permissions, four octal digits.
        mode: String,
        /// `user:group`.
        owner: String,
        /// What.
        content: Content,
    },
    /// Makes a directory.
    MakeDirectory {
        /// Where.
        path: String,
        /// Permissions, four octal digits.
        mode: String,
        /// `user:group`.
        owner: String,
    },
    /// Makes a symbolic link.
    MakeLink {
        /// Where it stands.
        path: String,
        /// What it points to.
        target: String,
    },
    /// Fetches something and checks its digest before anyone can see it.
    Fetch {
        /// Mirrors, tried in this order.
        urls: Vec<String>,
        /// The digest of what is fetched.
        sha256: String,
        /// Where it goes.
        path: String,
        /// Permissions, four octal digits.
        mode: String,
        /// `user:group`.
        owner: String,
        /// Whether to unpack it into `path`.
        unpack: Unpack,
    },
    /// Sees to it that a piece of software is there.
    Install {
        /// `kubelet`, `kubeadm`, `containerd`, `docker`, `cni`.
        software: String,
        /// The version to expect or install; a prefix of what the software says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Where it comes from.
        source: InstallSource,
        /// What it is instead, by the minor of the cluster that the node finds out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<InstallChoice>,
        /// The directory of its data: set aside where another version wrote it, which the machine is then rebooted for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// Removes what was set aside of these directories.
    RemoveOldData {
        /// Where data was.
        directories: Vec<String>,
    },
    /// Adds the plan's certificate authorities to the system's bundle, in place and once each.
    TrustAuthorities {
        /// The bundle that the system's programs read.
        bundle: String,
    },
    /// Loads kernel modules, now and at every boot.
    LoadModules {
        /// Their names.
        modules: Vec<String>,
    },
    /// Sets kernel settings, now and at every boot.
    SetSysctls {
        /// By name. A name with `*`, `?` or `[` stands for all that are there but for those with a name of their own.
        settings: BTreeMap<String, String>,
        /// Names of those that this kernel may refuse, or not have.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        optional: BTreeSet<String>,
    },
    /// Sets arguments of the kernel's command line.
    SetKernelArguments {
        /// In order.
        arguments: Vec<String>,
    },
    /// Sees to swap.
    SetSwap {
        /// `off`, `keep` or `file`.
        policy: bringup_spec::SwapPolicy,
        /// The size of the swap file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_mib: Option<u32>,
        /// Its path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// Updates the operating system.
    UpdateOs {
        /// Packages to hold back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hold: Vec<String>,
    },
    /// Reboots.
    Reboot {
        /// Even if nothing needs it.
        always: bool,
    },
    /// Runs a program of the operator's.
    Run {
        /// The program and its arguments; never seen by a shell.
        command: Vec<Text>,
        /// Variables of its environment.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        environment: BTreeMap<String, Text>,
        /// The working directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory: Option<String>,
        /// What must be there before it starts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        wait_for: Vec<Awaited>,
        /// The lifecycle point, if this is a hook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<bringup_spec::HookPoint>,
    },
    /// Sees to it that a unit runs; restarts it if one of these files has changed.
    StartUnit {
        /// The unit.
        unit: String,
        /// What it reads.
        reads: Vec<String>,
    },
    /// Looks the addresses of a host up and keeps them in a hosts file, so that its name holds without a name server.
    KeepAddresses {
        /// The host.
        host: String,
        /// The file.
        path: String,
    },
    /// Puts the operator's units in place, reloads and enables.
    PlaceUnits,
    /// Opens the gate.
    OpenGate {
        /// Variables that kubelet's unit reads from the gate file.
        environment: BTreeMap<String, Text>,
        /// Whether kubelet is queued at once. Not with kubeadm, which starts it when its files are there.
        queue_kubelet: bool,
    },
    /// Starts kubelet and sees it healthy.
    StartKubelet {
        /// Its health endpoint.
        health: String,
        /// The snap that it is, where it is one: set and started through snapd.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snap: Option<Snap>,
    },
    /// Waits until the node object exists.
    AwaitRegistration {
        /// Credentials to ask with.
        kubeconfig: String,
        /// Whether the versions of kubelet and the API server are held against each other then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check_skew: bool,
    },
    /// Tells somebody how it ended.
    Signal {
        /// The way.
        kind: SignalKind,
        /// The stack, the group or the hook, by what the kind needs.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        target: BTreeMap<String, Text>,
        /// The bearer token of a POST.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<SecretSource>,
    },
    /// Writes the result files.
    Report,
}

/// A service that is a snap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snap {
    /// The snap's name.
    pub name: String,
    /// Its service.
    pub service: String,
    /// What it is set to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Text>,
    /// Names for people at a shell, each with the program of a snap that it stands for: `SNAP.PROGRAM`, as `snap alias` has it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
}

/// Something that a program waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Awaited {
    /// A path that must exist.
    Path(String),
    /// A list of digests, as `sha256sum` writes it, of which every file must be there and whole.
    Manifest {
        /// Where the list is.
        manifest: String,
    },
}

/// A version of a piece of software, for some minors of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallChoice {
    /// For which.
    pub kubernetes: MinorRange,
    /// The version to expect or install.
    pub version: String,
    /// Where it comes from.
    pub source: InstallSource,
}

/// Where a piece of software comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from", deny_unknown_fields)]
pub enum InstallSource {
    /// The image has it.
    Image,
    /// A package of the operating system.
    Package {
        /// Its name.
        package: String,
    },
    /// A system extension.
    Extension {
        /// Mirrors.
        urls: Vec<String>,
        /// The digest.
        sha256: String,
        /// Where it goes.
        path: String,
    },
    /// A download.
    Url {
        /// Mirrors.
        urls: Vec<String>,
        /// The digest.
        sha256: String,
        /// Where it goes.
        path: String,
    },
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Text, with placeholders where only the node knows.
    Text(Text),
    /// Bytes that are no text, in base64.
    Base64(String),
    /// A secret that the node resolves.
    Secret(SecretSource),
    /// Pieces one after the other, for a secret inside a text; line ends at the end of a secret are dropped.
    Pieces(Vec<Content>),
    /// JSON that is laid over what stood at the file's path before the agent wrote there for the first time.
    Merged {
        /// What stands in for it where nothing did.
        otherwise: Text,
        /// Laid over it in this order: objects key by key, everything else whole.
        over: Vec<Text>,
    },
    /// Every instance type with its pods, one to a line, from the table that the agent has as well: its digest.
    PodTable(String),
}
