//! docker's daemon.json.

use serde_json::{Value, json};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::{Origin, template};

/// The daemon's configuration as JSON.
pub(super) fn config(context: &mut Context<'_>, decisions: &Decisions) -> String {
    let mut config = json!({
        "bridge": "none",
        "exec-opts": [format!("native.cgroupdriver={}", decisions.cgroup_driver)],
        "live-restore": true,
        "log-driver": "json-file",
        "log-opts": {"max-size": "10m", "max-file": "10"},
        "max-concurrent-downloads": 10,
    });
    let given = &context.group.runtime.docker_config;
    if !given.is_empty() {
        let over = Value::Object(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
        template::merge(&mut config, &over);
        let path = context.at(["runtime", "dockerConfig"]);
        context.origin(
            "/etc/docker/daemon.json",
            "merged with the document's fields",
            Origin::Document(path),
        );
    }
    format!("{}\n", serde_json::to_string_pretty(&config).unwrap_or_default())
}
