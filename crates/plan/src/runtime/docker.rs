//! docker's daemon.json.

use bringup_spec::Text;
use serde_json::{Value, json};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::{Content, Origin, template};

/// Where the daemon's configuration is.
pub(super) const PATH: &str = "/etc/docker/daemon.json";

/// The daemon's configuration.
pub(super) fn config(context: &mut Context<'_>, decisions: &Decisions) -> Content {
    let mut config = json!({
        "bridge": "none",
        "live-restore": true,
        "log-driver": "json-file",
        "log-opts": {"max-size": "10m", "max-file": "10"},
        "max-concurrent-downloads": 10,
    });
    let driver = context.group.runtime.docker_config.get("log-driver").and_then(Value::as_str);
    if driver.is_some_and(|driver| !matches!(driver, "json-file" | "local")) {
        // dockerd does not start with options that its driver does not have.
        if let Some(fields) = config.as_object_mut() {
            fields.remove("log-opts");
        }
    }
    if !context.group.runtime.docker_config.is_empty() {
        let path = context.at(["runtime", "dockerConfig"]);
        context.origin(PATH, "merged with the document's fields", Origin::Document(path));
    }
    if decisions.over_image {
        let over = vec![extra(context, decisions)];
        return Content::Merged { otherwise: template::json_text(&config), over };
    }
    template::merge(&mut config, &over(context, decisions));
    Content::Text(Text::literal(written(&config)))
}

/// What the document and we decide of it, as a document of its own.
pub(crate) fn extra(context: &Context<'_>, decisions: &Decisions) -> Text {
    Text::literal(written(&over(context, decisions)))
}

fn over(context: &Context<'_>, decisions: &Decisions) -> Value {
    // kubelet has the same driver, or does not start.
    let mut over = json!({"exec-opts": [format!("native.cgroupdriver={}", decisions.cgroup_driver)]});
    let given = &context.group.runtime.docker_config;
    let given = Value::Object(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
    template::lay_over(&mut over, &given);
    over
}

fn written(config: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(config).unwrap_or_default())
}
