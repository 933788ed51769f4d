//! The fields of kops' `containerd` and `docker`, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is};
use crate::shapes::Shape::{Flag, MapOf, Number, Text};
use crate::shapes::{MAP, TEXT_MAP, TEXTS};

/// `containerd`, of a cluster or of a group.
pub(super) const CONTAINERD: &[Field] = &[
    ("address", Is(Text)),
    ("configAdditions", Is(TEXT_MAP)),
    ("configOverride", Is(Text)),
    (
        "gvisor",
        Differs("install gVisor with a step before `runtime`, and name its runtime in `configAdditions`"),
    ),
    ("installCriCtl", Differs("download crictl with `assets` in additions, URL and digest")),
    ("installNerdCtl", Differs("download nerdctl with `assets` in additions, URL and digest")),
    ("logLevel", Is(Text)),
    ("nri", Is(MAP)),
    (
        "nvidiaGPU",
        Differs(
            "install the driver and NVIDIA's container toolkit with a step before `gate`, as the example of kops' format does; the runtime `nvidia` and the taint are set",
        ),
    ),
    ("packages", Is(MAP)),
    ("registryMirrors", Is(MapOf(&TEXTS))),
    ("root", Is(Text)),
    ("runc", Is(MAP)),
    ("sandboxImage", Is(Text)),
    ("selinuxEnabled", Is(Flag)),
    ("skipInstall", Is(Flag)),
    ("state", Is(Text)),
    ("useECRCredentialsForMirrors", Is(Flag)),
    ("version", Is(Text)),
];

/// `containerd.nri`.
pub(super) const NRI: &[Field] =
    &[("enabled", Is(Flag)), ("pluginRegistrationTimeout", Is(Text)), ("pluginRequestTimeout", Is(Text))];

/// Archives that kops fetches in place of its own.
pub(super) const PACKAGES: &[Field] =
    &[("hashAmd64", Is(Text)), ("hashArm64", Is(Text)), ("urlAmd64", Is(Text)), ("urlArm64", Is(Text))];

/// `containerd.runc`.
pub(super) const RUNC: &[Field] = &[("packages", Is(MAP)), ("version", Is(Text))];

/// `docker`, with the keys of daemon.json that stand for its fields.
pub(super) const DOCKER: &[Field] = &[
    ("authorizationPlugins", Is(TEXTS)),
    ("bridge", Is(Text)),
    ("bridgeIP", Is(Text)),
    ("dataRoot", Is(Text)),
    ("defaultRuntime", Is(Text)),
    ("defaultUlimit", Differs("write `default-ulimits` under `runtime.dockerConfig` in additions")),
    ("dns", Is(TEXTS)),
    ("execOpt", Is(TEXTS)),
    ("execRoot", Is(Text)),
    ("experimental", Is(Flag)),
    ("healthCheck", Aside("a watchdog of kops' own")),
    ("hosts", Is(TEXTS)),
    ("insecureRegistries", Is(TEXTS)),
    ("insecureRegistry", Differs("write it under `insecureRegistries`")),
    ("ipMasq", Is(Flag)),
    ("ipTables", Is(Flag)),
    ("liveRestore", Is(Flag)),
    ("logDriver", Is(Text)),
    ("logLevel", Is(Text)),
    ("logOpt", Is(TEXTS)),
    ("maxConcurrentDownloads", Is(Number)),
    ("maxConcurrentUploads", Is(Number)),
    ("maxDownloadAttempts", Is(Number)),
    ("metricsAddress", Is(Text)),
    ("mtu", Is(Number)),
    ("packages", Differs("write `software.runtime` with the download in additions")),
    ("registryMirrors", Is(TEXTS)),
    ("runtimes", Differs("write `runtimes` under `runtime.dockerConfig` in additions")),
    ("selinuxEnabled", Is(Flag)),
    ("skipInstall", Is(Flag)),
    ("storage", Is(Text)),
    ("storageOpts", Is(TEXTS)),
    ("userNamespaceRemap", Is(Text)),
    ("version", Is(Text)),
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
