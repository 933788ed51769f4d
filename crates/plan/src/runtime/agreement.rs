//! What kubelet and the runtime must say alike: the driver of control groups, and the socket between them.
//!
//! Kubelet follows what the operator told the runtime, unless the operator told kubelet too.

use bringup_spec::RuntimeName;
use bringup_yaml::Path;
use serde_json::Value as Json;
use toml::{Table, Value};

use super::containerd::{CRI_2, RUNTIME_3};
use super::handler::{Handler, handler};
use crate::codes;
use crate::context::Context;

/// Where containerd listens unless it is told otherwise.
const SOCKET: &str = "/run/containerd/containerd.sock";

/// The option of docker that names its driver.
const DOCKER_OPTION: &str = "native.cgroupdriver=";

/// What kubelet and the runtime both go by.
pub(crate) struct Agreement {
    /// The driver of control groups: `systemd` or `cgroupfs`.
    pub(crate) driver: String,
    /// The endpoint of the runtime.
    pub(crate) socket: String,
}

/// A driver that a runtime of containerd is told, or gets for want of a word.
struct Told {
    runtime: String,
    driver: &'static str,
    /// Whether the fragment says so itself.
    explicit: bool,
}

/// Settles both, and tells of what contradicts itself.
pub(crate) fn settle(context: &mut Context<'_>) -> Agreement {
    match context.group.runtime.name {
        RuntimeName::Docker => {
            Agreement { driver: docker_driver(context), socket: format!("unix://{SOCKET}") }
        }
        RuntimeName::Containerd => {
            let fragment = context.group.runtime.config.as_deref();
            let fragment = fragment.and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
            Agreement { driver: containerd_driver(context, &fragment), socket: socket(context, &fragment) }
        }
    }
}

/// What the operator told kubelet, and where: flags win over fields.
fn kubelets(context: &Context<'_>, flag: &str, field: &str) -> Option<(String, Path)> {
    let kubelet = &context.group.kubelet;
    let by_flag = kubelet.flags.get(flag).and_then(|text| text.as_literal());
    if let Some(text) = by_flag.filter(|text| !text.is_empty()) {
        return Some((text.to_owned(), context.at(["kubelet", "flags", flag])));
    }
    let text = kubelet.config.get(field).and_then(Json::as_str).filter(|text| !text.is_empty())?;
    Some((text.to_owned(), context.at(["kubelet", "config", field])))
}

/// Another word is told as a wrong value, not as a contradiction.
fn kubelets_driver(context: &Context<'_>) -> Option<(String, Path)> {
    kubelets(context, "cgroup-driver", "cgroupDriver")
        .filter(|(driver, _)| matches!(driver.as_str(), "systemd" | "cgroupfs"))
}

fn docker_driver(context: &mut Context<'_>) -> String {
    let options = context.group.runtime.docker_config.get("exec-opts").and_then(Json::as_array);
    let told = options.and_then(|options| {
        options.iter().filter_map(Json::as_str).find_map(|option| option.strip_prefix(DOCKER_OPTION))
    });
    let kubelets = kubelets_driver(context);
    let path = context.at(["runtime", "dockerConfig", "exec-opts"]);
    match (told, options, kubelets) {
        (Some(told), _, Some((driver, _))) if told != driver => {
            contradiction(context, &path, &format!("docker is told `{told}`"), &driver);
            driver
        }
        (Some(told), ..) => told.to_owned(),
        (None, Some(_), kubelets) => {
            let driver = kubelets.map_or_else(|| "systemd".to_owned(), |(driver, _)| driver);
            context.error(
                codes::RUNTIME_DRIVER,
                &path,
                format!("this replaces the option that gives docker kubelet's driver of control groups, `{driver}`"),
                format!("add `{DOCKER_OPTION}{driver}`"),
            );
            driver
        }
        (None, None, kubelets) => kubelets.map_or_else(|| "systemd".to_owned(), |(driver, _)| driver),
    }
}

fn contradiction(context: &mut Context<'_>, path: &Path, told: &str, driver: &str) {
    context.error(
        codes::RUNTIME_DRIVER,
        path,
        format!("{told}, and kubelet `{driver}`: with two drivers of control groups no pod starts"),
        "say the same in both places, or leave kubelet's out: it follows the runtime",
    );
}

fn containerd_driver(context: &mut Context<'_>, fragment: &Table) -> String {
    let (default, told) = told(fragment, handler(context));
    let path = context.at(["runtime", "config"]);
    let kubelets = kubelets_driver(context);
    let followed = told.iter().find(|told| told.runtime == default && told.explicit);
    let driver = match (&kubelets, followed) {
        (Some((driver, _)), _) => driver.clone(),
        (None, Some(told)) => told.driver.to_owned(),
        (None, None) => "systemd".to_owned(),
    };
    for told in told.iter().filter(|told| told.driver != driver) {
        let runtime = &told.runtime;
        if told.explicit {
            contradiction(
                context,
                &path,
                &format!("the runtime `{runtime}` is told `{}`", told.driver),
                &driver,
            );
        } else {
            context.warning(
                codes::RUNTIME_DRIVER,
                &path,
                format!("the runtime `{runtime}` is not told `SystemdCgroup`, and takes another driver of control groups than kubelet"),
                format!("add `options.SystemdCgroup = true` to the runtime `{runtime}`"),
            );
        }
    }
    driver
}

/// The default runtime, `usual` if nothing is said, and what each runtime of the fragment that runc stands behind goes by.
fn told(fragment: &Table, usual: Handler) -> (String, Vec<Told>) {
    let mut default = usual.name.to_owned();
    let mut all = Vec::new();
    for plugin in [CRI_2, RUNTIME_3] {
        let at = |keys: [&str; 3]| keys.iter().try_fold(fragment, |table, key| table.get(*key)?.as_table());
        let Some(containerd) = at(["plugins", plugin, "containerd"]) else { continue };
        if let Some(name) = containerd.get("default_runtime_name").and_then(Value::as_str) {
            name.clone_into(&mut default);
        }
        for (name, runtime) in containerd.get("runtimes").and_then(Value::as_table).into_iter().flatten() {
            let kind = runtime.get("runtime_type").and_then(Value::as_str);
            let ours = name == usual.name || (usual.beside_runc && name == "runc");
            if kind != Some("io.containerd.runc.v2") && !(ours && kind.is_none()) {
                continue;
            }
            let option = runtime.get("options").and_then(|options| options.get("SystemdCgroup")?.as_bool());
            // What is not said of ours, the rest of the configuration says.
            if option.is_none() && ours {
                continue;
            }
            let driver = if option == Some(true) { "systemd" } else { "cgroupfs" };
            all.push(Told { runtime: name.clone(), driver, explicit: option.is_some() });
        }
    }
    (default, all)
}

fn socket(context: &mut Context<'_>, fragment: &Table) -> String {
    let told = fragment.get("grpc").and_then(|grpc| grpc.get("address")?.as_str()).unwrap_or(SOCKET);
    if let Some((endpoint, path)) =
        kubelets(context, "container-runtime-endpoint", "containerRuntimeEndpoint")
        && !endpoint.contains("@{")
        && plain(&endpoint) != plain(told)
    {
        context.error(
            codes::RUNTIME_SOCKET,
            &path,
            format!("kubelet is to speak to `{endpoint}`, and containerd listens on `{told}`"),
            "remove it, or let `runtime.config` say the same under `[grpc]`",
        );
    }
    format!("unix://{told}")
}

/// The path of an endpoint; `/var/run` is `/run`.
fn plain(endpoint: &str) -> String {
    let path = endpoint.strip_prefix("unix://").unwrap_or(endpoint);
    path.strip_prefix("/var").filter(|rest| rest.starts_with("/run/")).unwrap_or(path).to_owned()
}
