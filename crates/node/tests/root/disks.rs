//! Disks that are full or cannot be written: the agent waits, says so, and goes on once it is mended.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::node::{Node, agent, needs_root};
use crate::plans::small;

/// An agent that is expected to pause.
pub(crate) struct Paused {
    child: Child,
}

impl Paused {
    pub(crate) fn start(node: &Node) -> Self {
        let child = Command::new(agent())
            .args(node.words(&["up"]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child }
    }

    /// The status, once it says that the agent waits for the operator.
    pub(crate) fn until_paused(&mut self, node: &Node) -> serde_json::Value {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let text = node.read("/run/bringup/status.json").unwrap_or_default();
            if let Ok(status) = serde_json::from_str::<serde_json::Value>(&text)
                && status["standing"] == "paused"
            {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not pause: {text}");
            assert!(self.child.try_wait().unwrap().is_none(), "it has ended: {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Its exit code, once it has ended by itself.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "it does not go on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        self.end();
    }
}

/// A file system of its own, unmounted at the end.
struct Mounted {
    path: std::path::PathBuf,
}

impl Mounted {
    fn small(node: &Node, path: &str, options: &str) -> Self {
        let path = node.path(path);
        std::fs::create_dir_all(&path).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(&path).status();
        assert!(mounted.unwrap().success(), "cannot mount");
        Self { path }
    }

    fn again(&self, options: &str) {
        let mounted =
            Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.path).status();
        assert!(mounted.unwrap().success(), "cannot mount again");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(&self.path).status();
    }
}

#[test]
fn a_full_disk_is_waited_for() {
    needs_root();
    let node = Node::new(&small());
    let disk = Mounted::small(&node, "/etc/deep", "size=4k");
    node.put("/etc/deep/other", &"x".repeat(4096));
    let mut agent = Paused::start(&node);
    let status = agent.until_paused(&node);
    assert_eq!(status["step"], "two");
    assert!(status["why"].as_str().unwrap().contains("no space left on device"), "{status}");
    assert!(status["fix"].as_str().unwrap().contains("make room there"), "{status}");
    std::fs::remove_file(node.path("/etc/deep/other")).unwrap();
    assert_eq!(agent.code(), Some(0));
    assert_eq!(node.read("/etc/deep/two").as_deref(), Some("two\n"));
    drop(disk);
}

#[test]
fn a_directory_that_cannot_be_written_is_waited_for() {
    needs_root();
    let node = Node::new(&small());
    let disk = Mounted::small(&node, "/opt", "size=64k,ro");
    let mut agent = Paused::start(&node);
    let status = agent.until_paused(&node);
    assert_eq!(status["step"], "link");
    assert!(status["why"].as_str().unwrap().contains("read-only file system"), "{status}");
    assert!(!node.path("/run/bringup/kubelet.env").exists(), "the gate stays shut");
    disk.again("rw");
    assert_eq!(agent.code(), Some(0));
    assert!(node.path("/opt/bin/k").symlink_metadata().unwrap().is_symlink());
    drop(disk);
}

#[test]
fn a_journal_that_cannot_be_written_is_waited_for() {
    needs_root();
    let node = Node::new(&small());
    let disk = Mounted::small(&node, "/var/lib/bringup", "size=4k");
    node.put("/var/lib/bringup/other", &"x".repeat(4096));
    let agent = Paused::start(&node);
    // It does nothing that the journal does not know of; there is no status to wait for.
    std::fs::remove_file(node.path("/var/lib/bringup/other")).unwrap();
    disk.again("size=1m");
    let mut agent = agent;
    assert_eq!(agent.code(), Some(0));
    drop(disk);
}
