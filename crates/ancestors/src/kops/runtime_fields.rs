//! The fields of kops' `containerd` and `docker`, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Taken};

/// `containerd`, of a cluster or of a group.
pub(super) const CONTAINERD: &[Field] = &[
    ("address", Taken),
    ("configAdditions", Taken),
    ("configOverride", Taken),
    (
        "gvisor",
        Differs("install gVisor with a step before `runtime`, and name its runtime in `configAdditions`"),
    ),
    ("installCriCtl", Differs("download crictl with `assets` in additions, URL and digest")),
    ("installNerdCtl", Differs("download nerdctl with `assets` in additions, URL and digest")),
    ("logLevel", Taken),
    ("nri", Taken),
    (
        "nvidiaGPU",
        Differs(
            "install the driver and NVIDIA's container toolkit with a step before `gate`, as the example of kops' format does; the runtime `nvidia` and the taint are set",
        ),
    ),
    ("packages", Taken),
    ("registryMirrors", Taken),
    ("root", Taken),
    ("runc", Taken),
    ("sandboxImage", Taken),
    ("selinuxEnabled", Taken),
    ("skipInstall", Taken),
    ("state", Taken),
    ("useECRCredentialsForMirrors", Taken),
    ("version", Taken),
];

/// `containerd.nri`.
pub(super) const NRI: &[Field] =
    &[("enabled", Taken), ("pluginRegistrationTimeout", Taken), ("pluginRequestTimeout", Taken)];

/// Archives that kops fetches in place of its own.
pub(super) const PACKAGES: &[Field] =
    &[("hashAmd64", Taken), ("hashArm64", Taken), ("urlAmd64", Taken), ("urlArm64", Taken)];

/// `containerd.runc`.
pub(super) const RUNC: &[Field] = &[("packages", Taken), ("version", Taken)];

/// `docker`, with the keys of daemon.json that stand for its fields.
pub(super) const DOCKER: &[Field] = &[
    ("authorizationPlugins", Taken),
    ("bridge", Taken),
    ("bridgeIP", Taken),
    ("dataRoot", Taken),
    ("defaultRuntime", Taken),
    ("defaultUlimit", Differs("write `default-ulimits` under `runtime.dockerConfig` in additions")),
    ("dns", Taken),
    ("execOpt", Taken),
    ("execRoot", Taken),
    ("experimental", Taken),
    ("healthCheck", Aside("a watchdog of kops' own")),
    ("hosts", Taken),
    ("insecureRegistries", Taken),
    ("insecureRegistry", Differs("write it under `insecureRegistries`")),
    ("ipMasq", Taken),
    ("ipTables", Taken),
    ("liveRestore", Taken),
    ("logDriver", Taken),
    ("logLevel", Taken),
    ("logOpt", Taken),
    ("maxConcurrentDownloads", Taken),
    ("maxConcurrentUploads", Taken),
    ("maxDownloadAttempts", Taken),
    ("metricsAddress", Taken),
    ("mtu", Taken),
    ("packages", Differs("write `software.runtime` with the download in additions")),
    ("registryMirrors", Taken),
    ("runtimes", Differs("write `runtimes` under `runtime.dockerConfig` in additions")),
    ("selinuxEnabled", Taken),
    ("skipInstall", Taken),
    ("storage", Taken),
    ("storageOpts", Taken),
    ("userNamespaceRemap", Taken),
    ("version", Taken),
];

/// Fields of `docker` and the keys of daemon.json that say the same.
pub(super) const DAEMON_KEYS: &[(&str, &str)] = &[
    ("authorizationPlugins", "authorization-plugins"),
    ("bridge", "bridge"),
    ("bridgeIP", "bip"),
    ("dataRoot", "data-root"),
    ("defaultRuntime", "default-runtime"),
    ("dns", "dns"),
    ("execOpt", "exec-opts"),
    ("execRoot", "exec-root"),
    ("experimental", "experimental"),
    ("hosts", "hosts"),
    ("insecureRegistries", "insecure-registries"),
    ("ipMasq", "ip-masq"),
    ("ipTables", "iptables"),
    ("liveRestore", "live-restore"),
    ("logDriver", "log-driver"),
    ("logLevel", "log-level"),
    ("maxConcurrentDownloads", "max-concurrent-downloads"),
    ("maxConcurrentUploads", "max-concurrent-uploads"),
    ("maxDownloadAttempts", "max-download-attempts"),
    ("metricsAddress", "metrics-addr"),
    ("mtu", "mtu"),
    ("registryMirrors", "registry-mirrors"),
    ("selinuxEnabled", "selinux-enabled"),
    ("storage", "storage-driver"),
    ("storageOpts", "storage-opts"),
    ("userNamespaceRemap", "userns-remap"),
];
