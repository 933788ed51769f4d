//! The agent itself, in a directory that stands for a machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A directory that stands for a machine.
pub(crate) struct Node {
    holder: tempfile::TempDir,
    plan: Value,
    metadata: String,
    pub(crate) facts: Option<Value>,
    /// How much memory the agent may have of its own.
    pub(crate) memory_kib: Option<u32>,
}

/// How a run ended.
pub(crate) struct Run {
    pub(crate) output: Output,
    /// What `failed.json` says, if it is there.
    pub(crate) failed: Value,
    /// Whether the last failure mends itself: `transient`, `permanent` or `operator`.
    pub(crate) kind: String,
}

impl Run {
    pub(crate) fn well(&self) -> bool {
        self.output.status.success()
    }

    pub(crate) fn why(&self) -> &str {
        self.failed["why"].as_str().unwrap_or_default()
    }

    pub(crate) fn fix(&self) -> &str {
        self.failed["fix"].as_str().unwrap_or_default()
    }

    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

/// Facts of an instance, for plans that are not about learning them.
pub(crate) fn facts() -> Value {
    json!({
        "platform": "aws", "region": "eu-central-1", "zone": "eu-central-1b",
        "instanceId": "i-0123456789abcdef0", "instanceType": "m5.large",
        "hostname": "ip-10-0-1-2.eu-central-1.compute.internal", "cores": 2,
    })
}

impl Node {
    /// With these steps. Each has one attempt, and then it is given up.
    pub(crate) fn new(steps: &[(&str, Value)]) -> Self {
        let steps: Vec<Value> = steps
            .iter()
            .map(|(name, action)| {
                json!({
                    "name": name, "phase": "fetch", "action": action,
                    "policy": {"timeoutMs": 3000, "attempts": 1, "backoffMs": 1, "onFailure": "give-up"},
                })
            })
            .collect();
        let plan = json!({
            "format": 1, "cluster": "demo", "group": "workers", "flavour": "bringup", "kubernetes": "1.33",
            "platform": "aws", "os": "amazon-linux-2023", "architecture": "x86_64", "role": "worker",
            "nodeName": "private-dns", "maxPods": {"fixed": 110}, "units": [], "steps": steps,
        });
        let holder = tempfile::tempdir().unwrap();
        std::fs::create_dir(holder.path().join("root")).unwrap();
        // Nobody listens there.
        let metadata = "http://127.0.0.1:9".to_owned();
        Self { holder, plan, metadata, facts: Some(facts()), memory_kib: None }
    }

    pub(crate) fn set(mut self, key: &str, value: Value) -> Self {
        self.plan[key] = value;
        self
    }

    pub(crate) fn step(&mut self, index: usize, key: &str, value: Value) {
        self.plan["steps"][index][key] = value;
    }

    pub(crate) fn metadata(mut self, url: String) -> Self {
        self.metadata = url;
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.holder.path().join("root").join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(path)).ok()
    }

    pub(crate) fn up(&self) -> Run {
        let at = |name: &str| self.holder.path().join(name);
        std::fs::write(at("plan.json"), self.plan.to_string()).unwrap();
        let mut command = match self.memory_kib {
            None => agent(&self.metadata),
            Some(most) => {
                let mut shell = Command::new("sh");
                let line = format!("ulimit -d {most} && exec \"$0\" \"$@\"");
                shell.args(["-c", &line, env!("CARGO_BIN_EXE_bringup-node")]);
                shell
            }
        };
        command.args(["up", "--root"]).arg(at("root")).arg("--plan").arg(at("plan.json"));
        command.arg("--again");
        if let Some(facts) = &self.facts {
            std::fs::write(at("facts.json"), facts.to_string()).unwrap();
            command.arg("--facts").arg(at("facts.json"));
        }
        let output = command.output().unwrap();
        let json = |bytes: Option<Vec<u8>>| {
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
        };
        let journal = String::from_utf8(self.read("/var/lib/bringup/journal").unwrap_or_default()).unwrap();
        let kind = journal.rsplit_once("\"kind\":\"").and_then(|(_, rest)| rest.split('"').next());
        let kind = kind.unwrap_or_default().to_owned();
        Run { output, failed: json(self.read("/var/lib/bringup/failed.json")), kind }
    }

    /// What was learned, as the journal keeps it.
    pub(crate) fn learned(&self) -> Value {
        let journal = String::from_utf8(self.read("/var/lib/bringup/journal").unwrap_or_default()).unwrap();
        let kept = journal.lines().find_map(|line| {
            let (_, rest) = line.split_once("\"facts\":")?;
            serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
        });
        kept.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }
}

/// The agent, with nothing in its environment.
pub(crate) fn agent(metadata: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_bringup-node")));
    command.env_clear().env("BRINGUP_METADATA", metadata);
    command
}
