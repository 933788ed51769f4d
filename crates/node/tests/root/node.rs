//! A directory that stands for a machine, and the agent that is run on it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bringup_plan::Plan;
use tempfile::TempDir;

/// The agent: the one that was built for this test, or another one that is to be tested.
pub(crate) fn agent() -> PathBuf {
    std::env::var_os("BRINGUP_NODE_BINARY")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_bringup-node")), PathBuf::from)
}

/// How a run of the agent ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// What stands at a path: its mode, and its content or where it points.
pub(crate) type Tree = BTreeMap<String, (u32, String)>;

/// A directory that stands for a machine.
#[derive(Debug)]
pub(crate) struct Node {
    folder: TempDir,
}

impl Node {
    /// With this plan, and facts that will do for any plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        // In memory where that can be had: thousands of syncs would wait for a disk.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let node = Self { folder: folder.unwrap() };
        std::fs::create_dir_all(node.path("/")).unwrap();
        node.put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        node.give(plan);
        node.facts("i-0123456789abcdef0", "g5.xlarge");
        node
    }

    /// Gives it another plan.
    pub(crate) fn give(&self, plan: &Plan) {
        self.put("/etc/bringup/plan.json", &serde_json::to_string(plan).unwrap());
    }

    /// Gives it other facts.
    pub(crate) fn facts(&self, id: &str, instance_type: &str) {
        let plan = self.read("/etc/bringup/plan.json").unwrap();
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        let mut facts = serde_json::json!({
            "platform": plan["platform"], "region": "eu-central-1", "zone": "eu-central-1a", "instanceId": id,
            "instanceType": instance_type, "lifecycle": "on-demand", "address": "192.0.2.10",
            "hostname": "ip-192-0-2-10.eu-central-1.compute.internal", "cores": 4, "memoryMiB": 16000,
            "tags": {"team": "vision", "Name": "one", "role": "master-0", "bootstrap": "yes"},
        });
        if let Some(object) = plan["bootstrap"]["store"]["object"].as_str() {
            facts["election"] = serde_json::json!({"object": object, "holder": id});
        }
        std::fs::write(self.folder.path().join("facts.json"), facts.to_string()).unwrap();
    }

    /// Where a path of the machine is.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path.trim_start_matches('/'))
    }

    /// A file of the test's own, outside of the machine.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a file there.
    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The content of a file.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read(self.path(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The words of a call of the agent.
    pub(crate) fn words(&self, words: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        all.extend(["--root".to_owned(), self.path("/").display().to_string()]);
        if matches!(words.first(), Some(&"up" | &"explain")) {
            all.extend(["--facts".to_owned(), self.folder.path().join("facts.json").display().to_string()]);
        }
        all
    }

    /// Runs the agent.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        ran(Command::new(agent()).args(self.words(words)), "")
    }

    /// Runs the agent and answers what it asks.
    pub(crate) fn answer(&self, words: &[&str], answer: &str) -> Ran {
        ran(Command::new(agent()).args(self.words(words)), answer)
    }

    /// Runs the agent to its end, which must be a good one.
    pub(crate) fn up(&self) -> Ran {
        let ran = self.run(&["up"]);
        assert_eq!(ran.code, Some(0), "{}", ran.errors);
        ran
    }

    /// All that is there, without what tells of times.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let root = self.path("/");
        walk(&root, &root, &mut tree);
        for name in ["var/lib/bringup/journal", "run/bringup/status.json", "var/lib/bringup/journal.damaged"]
        {
            tree.remove(name);
        }
        if let Some((_, content)) = tree.get_mut("var/lib/bringup/done.json") {
            let mut done: serde_json::Value = serde_json::from_str(content).unwrap();
            done["at_ms"] = 0.into();
            *content = done.to_string();
        }
        tree
    }

    /// Steps that a run has begun, by what it told.
    pub(crate) fn begun(ran: &Ran) -> Vec<&str> {
        ran.errors.lines().filter_map(|line| line.split_once(": started")).map(|(step, _)| step).collect()
    }
}

/// Runs a program to its end.
pub(crate) fn ran(command: &mut Command, answer: &str) -> Ran {
    let command = command.env_remove("JOURNAL_STREAM").env_remove("NOTIFY_SOCKET").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that asks nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(answer.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn walk(root: &Path, path: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let content = if metadata.is_symlink() {
            std::fs::read_link(&path).unwrap().display().to_string()
        } else if metadata.is_dir() {
            walk(root, &path, tree);
            "directory".to_owned()
        } else {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        };
        tree.insert(name, (metadata.permissions().mode() & 0o7777, content));
    }
}

/// Only root can give files to their owners and mount file systems; a test that did neither would have shown nothing.
pub(crate) fn needs_root() {
    assert!(rustix::process::geteuid().is_root(), "this test needs root: `sudo ./test fast`");
}
