//! Plans to try courses with.

use bringup_plan::Plan;
use serde_json::{Value, json};

pub(crate) fn plan(steps: &[Value]) -> Plan {
    let plan = json!({
        "format": 1, "cluster": "lab", "group": "workers", "flavour": "bringup", "kubernetes": "1.34.1",
        "platform": "generic", "os": "debian", "architecture": "x86_64", "role": "worker",
        "nodeName": "hostname", "maxPods": {"fixed": 110}, "units": [], "steps": steps,
    });
    serde_json::from_value(plan).expect("a plan")
}

pub(crate) fn step(name: &str, phase: &str, action: Value) -> Value {
    let step = json!({"name": name, "phase": phase});
    with(step, "action", action)
}

pub(crate) fn with(mut step: Value, key: &str, value: Value) -> Value {
    step[key] = value;
    step
}

pub(crate) fn every_boot(step: Value) -> Value {
    with(step, "everyBoot", json!(true))
}

pub(crate) fn identify() -> Value {
    every_boot(step("identify", "identify", json!({"do": "learnFacts"})))
}

pub(crate) fn file(path: &str, phase: &str, text: &str) -> Value {
    let action = json!({"do": "writeFile", "path": path, "mode": "0644", "owner": "root:root", "content": {"text": text}});
    step(&format!("file:{path}"), phase, action)
}

pub(crate) fn run(name: &str, phase: &str, attempts: u32, on_failure: &str) -> Value {
    let policy =
        json!({"timeoutMs": 600_000, "attempts": attempts, "backoffMs": 5000, "onFailure": on_failure});
    with(step(name, phase, json!({"do": "run", "command": [format!("/opt/{name}")]})), "policy", policy)
}

pub(crate) fn start(unit: &str, reads: &[&str]) -> Value {
    every_boot(step(unit, "runtime", json!({"do": "startUnit", "unit": unit, "reads": reads})))
}

pub(crate) fn reboot() -> Value {
    let policy = json!({"timeoutMs": 600_000, "attempts": 1, "backoffMs": 0, "onFailure": "pause"});
    with(step("reboot", "reboot", json!({"do": "reboot", "always": true})), "policy", policy)
}

pub(crate) fn gate() -> Value {
    let action = json!({"do": "openGate", "environment": {}, "queueKubelet": true});
    every_boot(step("gate", "gate", action))
}

pub(crate) fn kubelet() -> Value {
    let action = json!({"do": "startKubelet", "health": "http://127.0.0.1:10248/healthz"});
    every_boot(step("kubelet", "kubelet", action))
}

pub(crate) fn report() -> Value {
    step("report", "report", json!({"do": "report"}))
}

/// A whole worker: everything that a course can meet on its way.
pub(crate) fn worker() -> Vec<Value> {
    vec![
        identify(),
        file("/opt/driver", "fetch", "driver"),
        run("driver", "pre-install", 3, "give-up"),
        every_boot(run("check", "pre-install", 3, "pause")),
        file("/etc/containerd/config.toml", "runtime", "version = 2"),
        start("containerd.service", &["/etc/containerd/config.toml"]),
        file("/etc/kubernetes/kubelet.json", "configure", "{}"),
        reboot(),
        gate(),
        kubelet(),
        run("hook", "post-install", 2, "continue"),
        report(),
    ]
}
