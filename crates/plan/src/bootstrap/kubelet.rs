//! kubelet's configuration: the image's own, with what the script sets in it.

use std::net::IpAddr;

use bringup_kubelet::{Lookup, Minor};
use bringup_spec::bootstrap_flags::BootstrapRuntime;
use serde_json::{Map, Value, json};

use super::network::Network;
use super::{Call, Version};
use crate::{codes, reservations};

pub(super) const CONFIG: &str = "/etc/kubernetes/kubelet/kubelet-config.json";

/// Fields that exclude `--reserved-cpus`.
const CGROUPS: [(&str, &str); 2] = [("systemReservedCgroup", "/system"), ("kubeReservedCgroup", "/runtime")];

impl Call<'_> {
    /// The configuration as a text; none, if the image's cannot be read.
    pub(super) fn kubelet_config(
        &mut self,
        version: Version,
        runtime: BootstrapRuntime,
        network: &Network,
        pods: u32,
    ) -> Option<String> {
        let mut config = match &self.image.kubelet_config {
            None => {
                let message = format!("the image has no `{CONFIG}`: the last one of EKS' images is taken");
                self.warning(codes::BOOTSTRAP_IMAGE, message, "use an image of EKS with Amazon Linux 2");
                stock()
            }
            Some(text) => {
                if let Ok(Value::Object(config)) = serde_json::from_str(text) {
                    config
                } else {
                    let message = format!("`{CONFIG}` of the image is no object of JSON");
                    self.error(codes::BOOTSTRAP_IMAGE, message, "mend it in the image");
                    return None;
                }
            }
        };
        let before: Map<String, Value> = self
            .image
            .kubelet_config_before
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| config.clone());
        let mut set = |key: &str, value: Value| {
            config.insert(key.to_owned(), value);
        };
        set("clusterDNS", json!(network.dns));
        set(
            "evictionHard",
            json!({"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}),
        );
        set(
            "kubeReserved",
            json!({
                "cpu": format!("{}m", reservations::cpu_millicores(self.instance.cores)),
                "ephemeral-storage": reservations::EPHEMERAL_STORAGE,
                "memory": format!("{}Mi", reservations::memory_mib(pods)),
            }),
        );
        set("providerID", json!(format!("aws:///{}/{}", self.instance.zone, self.instance.id)));
        if self.request.use_max_pods {
            set("maxPods", json!(pods));
        } else {
            as_it_was("maxPods", &mut config, &before);
        }
        // From 1.27 on, kubelet's own defaults are higher still.
        if (Version(1, 22, 0)..Version(1, 27, 0)).contains(&version) {
            for (key, default) in [("kubeAPIQPS", 10), ("kubeAPIBurst", 20)] {
                let given =
                    config.get(key).filter(|value| !matches!(value, Value::Null | Value::Bool(false)));
                let value = given.cloned().unwrap_or_else(|| json!(default));
                config.insert(key.to_owned(), value);
            }
        }
        let reserves = self.extra().contains("--reserved-cpus");
        if runtime == BootstrapRuntime::Containerd {
            config.insert("cgroupDriver".to_owned(), json!("systemd"));
            for (key, value) in CGROUPS {
                if reserves {
                    as_it_was(key, &mut config, &before);
                } else {
                    config.insert(key.to_owned(), json!(value));
                }
            }
        } else {
            // Of an earlier call with the other runtime, docker would have another driver than kubelet. The cgroups stay, as
            // with the script: kubelet heeds them only where it is told to enforce them.
            as_it_was("cgroupDriver", &mut config, &before);
        }
        self.pods_in_force(&config, pods);
        let mut text = serde_json::to_string_pretty(&config).unwrap_or_default();
        text.push('\n');
        Some(text)
    }

    /// Further arguments of kubelet, as they are written.
    pub(super) fn extra(&self) -> &str {
        self.request.kubelet_extra_args.as_deref().unwrap_or_default()
    }

    /// The value of a flag among the further arguments.
    fn flag(&self, name: &str) -> Option<String> {
        let words = self.request.extra_words();
        let mut found = None;
        for (at, word) in words.iter().enumerate() {
            let Some(rest) = word.strip_prefix("--").and_then(|word| word.strip_prefix(name)) else {
                continue;
            };
            match rest.strip_prefix('=') {
                Some(value) => found = Some(value.to_owned()),
                None if rest.is_empty() => found = words.get(at + 1).cloned(),
                None => {}
            }
        }
        found
    }

    /// Further arguments that kubelet does not have: the script hands them on, and kubelet does not start.
    pub(super) fn check_arguments(&mut self, version: Version) {
        let Ok(minor) = u16::try_from(version.1).map(Minor) else { return };
        for word in self.request.extra_words() {
            let Some(name) = word.strip_prefix("--").map(|word| word.split('=').next().unwrap_or_default())
            else {
                continue;
            };
            match bringup_kubelet::flag(name, minor) {
                Lookup::Known(_) => {}
                Lookup::NotYet { added } => {
                    let message =
                        format!("`--{name}` came with {added}, and kubelet is {minor}: it will not start");
                    self.warning(codes::FLAG_NOT_YET, message, "remove it");
                }
                Lookup::Removed { removed, instead } => {
                    let message = format!(
                        "`--{name}` was removed in {removed}, and kubelet is {minor}: it will not start"
                    );
                    self.warning(codes::FLAG_REMOVED, message, instead);
                }
                Lookup::Unknown { suggestion } => {
                    let hint = suggestion
                        .map_or_else(|| "remove it".to_owned(), |near| format!("did you mean `{near}`?"));
                    self.warning(
                        codes::FLAG_UNKNOWN,
                        format!("`--{name}` is no flag of kubelet {minor}"),
                        hint,
                    );
                }
            }
        }
    }

    /// Memory is kept for the pods of the table, however many kubelet takes in the end.
    fn pods_in_force(&mut self, config: &Map<String, Value>, pods: u32) {
        let given = self.flag("max-pods").and_then(|text| text.parse().ok());
        let force = given.or_else(|| config.get("maxPods").and_then(Value::as_u64)).unwrap_or(110);
        if force != u64::from(pods) {
            let ours = reservations::memory_mib(u32::try_from(force).unwrap_or(u32::MAX));
            self.differs(
                format!(
                    "kubelet takes {force} pods, and {}Mi of memory are kept for {pods}",
                    reservations::memory_mib(pods)
                ),
                format!("for {force} pods we would keep {ours}Mi: give `--kube-reserved` among kubelet's arguments"),
            );
        }
    }

    /// Where kubelet says whether it is well.
    pub(super) fn health(&self) -> String {
        let config = self.image.kubelet_config.as_deref();
        let config: Value = config.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let port = self.flag("healthz-port");
        let port = port.or_else(|| config.get("healthzPort").map(ToString::to_string));
        let address = self.flag("healthz-bind-address");
        let address = address.or_else(|| config.get("healthzBindAddress")?.as_str().map(str::to_owned));
        let host = match address.and_then(|address| address.parse::<IpAddr>().ok()) {
            Some(IpAddr::V4(address)) if !address.is_unspecified() => address.to_string(),
            Some(IpAddr::V6(address)) if !address.is_unspecified() => format!("[{address}]"),
            Some(IpAddr::V6(_)) => "[::1]".to_owned(),
            _ => "127.0.0.1".to_owned(),
        };
        format!("http://{host}:{}/healthz", port.unwrap_or_else(|| "10248".to_owned()))
    }
}

/// What an earlier call has set and this one does not is again what the image had.
fn as_it_was(key: &str, config: &mut Map<String, Value>, before: &Map<String, Value>) {
    match before.get(key) {
        Some(value) => config.insert(key.to_owned(), value.clone()),
        None => config.remove(key),
    };
}

/// The configuration of the last images with the script.
fn stock() -> Map<String, Value> {
    let config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "0.0.0.0",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"cacheTTL": "2m0s", "enabled": true},
            "x509": {"clientCAFile": super::units::AUTHORITY},
        },
        "authorization": {
            "mode": "Webhook",
            "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
        },
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": "/",
        "clusterDomain": "cluster.local",
        "featureGates": {"RotateKubeletServerCertificate": true},
        "hairpinMode": "hairpin-veth",
        "protectKernelDefaults": true,
        "readOnlyPort": 0,
        "serializeImagePulls": false,
        "serverTLSBootstrap": true,
        "tlsCipherSuites": crate::kubelet::config::TLS_SUITES,
    });
    match config {
        Value::Object(config) => config,
        _ => Map::new(),
    }
}
