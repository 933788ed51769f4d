//! Disks that are full or cannot be written: the agent waits, says so, and goes on once it is mended.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bringup_plan::Policy;
use bringup_spec::OnFailure;

use crate::node::{Node, agent, needs_root};
use crate::plans::small;

/// An agent that is expected to pause.
pub(crate) struct Paused {
    child: Child,
    errors: PathBuf,
}

impl Paused {
    pub(crate) fn start(node: &Node) -> Self {
        let errors = node.beside("errors");
        let child = Command::new(agent())
            .args(node.words(&["up"]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        Self { child, errors }
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Returns once the agent has said this.
    fn until_says(&mut self, words: &str) {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let said = self.said();
            if said.contains(words) {
                return;
            }
            assert!(Instant::now() < deadline, "it does not say so: {said}");
            assert!(self.child.try_wait().unwrap().is_none(), "it has ended: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
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
    assert_eq!(status["fix"], "make it writable; the agent goes on by itself", "{status}");
    assert_eq!(status["attempt"], 1, "it is not tried in vain: {status}");
    assert!(!node.path("/run/bringup/kubelet.env").exists(), "the gate stays shut");
    disk.again("rw");
    assert_eq!(agent.code(), Some(0));
    assert!(node.path("/opt/bin/k").symlink_metadata().unwrap().is_symlink());
    drop(disk);
}

/// Each trouble has a cure of its own.
#[test]
fn what_stands_in_the_way_is_named_with_its_cure() {
    type Make<'a> = &'a dyn Fn(&Node);
    needs_root();
    let folder = |node: &Node, path: &str| std::fs::create_dir_all(node.path(path)).unwrap();
    let at_the_place = |node: &Node| folder(node, "/etc/deep/two/of-somebody");
    let at_the_temporary_name = |node: &Node| folder(node, "/etc/deep/.two.bringup-new/of-somebody");
    let on_the_way = |node: &Node| node.put("/etc/deep", "a file");
    let to_itself = |node: &Node| std::os::unix::fs::symlink("deep", node.path("/etc/deep")).unwrap();
    let cases: [(&str, Make<'_>, &str); 4] = [
        ("/etc/deep/two", &at_the_place, "move the directory away"),
        ("/etc/deep/.two.bringup-new", &at_the_temporary_name, "move the directory away"),
        ("/etc/deep", &on_the_way, "move away what is no directory there"),
        ("/etc/deep", &to_itself, "move away the link that leads to itself"),
    ];
    for (path, make, cure) in cases {
        let node = Node::new(&small());
        make(&node);
        let mut agent = Paused::start(&node);
        let status = agent.until_paused(&node);
        assert_eq!(status["step"], "two");
        assert!(status["why"].as_str().unwrap().contains(&format!("`{path}")), "{status}");
        let fix = format!("{cure}; the agent goes on by itself");
        assert_eq!(status["fix"], fix.as_str(), "{status}");
        std::fs::rename(node.path(path), node.beside("away")).unwrap();
        assert_eq!(agent.code(), Some(0));
        assert_eq!(node.read("/etc/deep/two").as_deref(), Some("two\n"));
    }
}

/// The end of a run is in its report, also where the report was lost, or could not be written when it was due.
#[test]
fn an_end_that_is_known_has_its_report() {
    needs_root();
    let mut plan = small();
    let step = plan.steps.iter_mut().find(|step| step.name == "two").unwrap();
    step.policy =
        Some(Policy { timeout_ms: 1000, attempts: 1, backoff_ms: 1, on_failure: OnFailure::GiveUp });
    let node = Node::new(&plan);
    node.put("/etc/deep/two/of-somebody", "");
    let report = "/var/lib/bringup/failed.json";
    std::fs::create_dir_all(node.path(report).join("in-the-way")).unwrap();
    let ran = node.run(&["up"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains(&format!("cannot write `{report}`")), "{}", ran.errors);
    std::fs::remove_dir_all(node.path(report)).unwrap();
    for _ in 0..2 {
        let ran = node.run(&["up"]);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert_eq!(Node::begun(&ran), ["identify"], "it is not tried again");
        let failed: serde_json::Value = serde_json::from_str(&node.read(report).unwrap()).unwrap();
        assert_eq!((failed["step"].as_str(), failed["attempts"].as_u64()), (Some("two"), Some(1)));
        assert!(failed["why"].as_str().unwrap().contains("is a directory"), "{failed}");
        std::fs::remove_file(node.path(report)).unwrap();
    }
}

#[test]
fn a_journal_that_cannot_be_written_is_waited_for() {
    needs_root();
    for (options, mended, why) in
        [("size=4k", "size=1m", "no space left on device"), ("size=1m,ro", "rw", "read-only file system")]
    {
        let node = Node::new(&small());
        let disk = Mounted::small(&node, "/var/lib/bringup", "size=1m");
        if options == "size=4k" {
            disk.again(options);
            node.put("/var/lib/bringup/other", &"x".repeat(4096));
        } else {
            disk.again("ro");
        }
        let mut agent = Paused::start(&node);
        agent.until_says(&format!("cannot write `/var/lib/bringup/journal`: {why}: waiting until"));
        // It does nothing that the journal does not know of.
        for path in ["/var/lib/own", "/etc/one", "/opt/bin/k", "/run/bringup/kubelet.env"] {
            assert!(node.path(path).symlink_metadata().is_err(), "{path} although {why}");
        }
        disk.again(mended);
        assert_eq!(agent.code(), Some(0), "{why}");
        assert_eq!(node.read("/etc/deep/two").as_deref(), Some("two\n"));
        assert_eq!(Node::begun(&node.up()), ["identify"], "all of it was recorded");
    }
}

#[test]
fn a_gate_that_cannot_be_written_stays_shut_until_it_can() {
    needs_root();
    let node = Node::new(&small());
    // Room for the lock and a status of one page, and none for the gate.
    let disk = Mounted::small(&node, "/run", "size=1m,nr_inodes=4");
    let mut agent = Paused::start(&node);
    agent.until_says("gate: paused: cannot write `/run/bringup/.kubelet.env.bringup-new`");
    assert!(!agent.said().contains("gate: retrying"), "it is not tried in vain: {}", agent.said());
    assert!(!node.path("/run/bringup/kubelet.env").exists());
    disk.again("nr_inodes=100");
    assert_eq!(agent.code(), Some(0));
    assert_eq!(node.read("/run/bringup/kubelet.env").as_deref(), Some("BRINGUP_KUBELET_ARGS=\"--v=2\"\n"));
}

#[test]
fn a_fetch_that_fills_the_disk_goes_on_where_it_was() {
    needs_root();
    let content = "0123456789abcdef".repeat(64 * 1024);
    let node = Node::new(&crate::software::with_kubelet(&content));
    node.put("/assets/kubelet", &content);
    let disk = Mounted::small(&node, "/var/lib/bringup/fetch", "size=256k");
    let mut agent = Paused::start(&node);
    let status = agent.until_paused(&node);
    assert_eq!(status["step"], "install-kubelet");
    assert!(status["why"].as_str().unwrap().contains("no space left on device"), "{status}");
    assert!(!node.path("/opt/bin/kubelet").exists());
    disk.again("size=8m");
    assert_eq!(agent.code(), Some(0));
    assert_eq!(node.read("/opt/bin/kubelet"), Some(content));
}

#[test]
fn a_lock_that_cannot_be_made_is_told() {
    needs_root();
    let node = Node::new(&small());
    let _disk = Mounted::small(&node, "/run", "size=64k,ro");
    let ran = node.run(&["up"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.errors.contains("`/run/bringup`: read-only file system"), "{}", ran.errors);
    assert!(!node.path("/var/lib/bringup/journal").exists());
}

/// A disk of its own for the runtime's data cannot be set aside in one rename: half of it must not be there either.
#[test]
fn data_on_a_disk_of_its_own_is_for_the_operator() {
    needs_root();
    let node = Node::new(&crate::software::with_containerd("2.1.4"));
    node.put("/assets/2.1.4", "2.1.4");
    let disk = Mounted::small(&node, "/var/lib/containerd", "size=64k");
    for name in ["meta.db", "other"] {
        node.put(&format!("/var/lib/containerd/{name}"), "old");
    }
    let mut agent = Paused::start(&node);
    let status = agent.until_paused(&node);
    assert_eq!(status["step"], "install-containerd");
    assert!(
        status["why"].as_str().unwrap().starts_with("`/var/lib/containerd` is a mount point"),
        "{status}"
    );
    for name in ["meta.db", "other"] {
        std::fs::remove_file(node.path(&format!("/var/lib/containerd/{name}"))).unwrap();
    }
    assert_eq!(agent.code(), Some(0));
    drop(disk);
}

/// What is mounted within old data is somebody's, and stays; the node comes up without the room.
#[test]
fn a_mount_within_old_data_is_left_alone() {
    needs_root();
    let mut plan = crate::software::with_containerd("2.1.4");
    for step in plan.steps.iter_mut().filter(|step| step.name == "runtime-data") {
        step.policy = Some(bringup_plan::Policy {
            timeout_ms: 10_000,
            attempts: 1,
            backoff_ms: 0,
            on_failure: bringup_spec::OnFailure::Continue,
        });
    }
    let node = Node::new(&plan);
    node.put("/assets/2.1.4", "2.1.4");
    node.put("/var/lib/containerd/meta.db", "old");
    let disk = Mounted::small(&node, "/var/lib/containerd/rootfs/mnt", "size=64k");
    node.put("/var/lib/containerd/rootfs/mnt/theirs", "theirs");
    let ran = node.run(&["up"]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    assert!(ran.errors.contains("is mounted within the data of an old runtime"), "{}", ran.errors);
    assert!(!node.path("/var/lib/containerd").exists());
    let aside = node.path("/var/lib/.containerd.bringup-old1");
    assert_eq!(std::fs::read_to_string(aside.join("rootfs/mnt/theirs")).unwrap(), "theirs");
    assert!(aside.join("meta.db").exists(), "a part of it was removed");
    // It has moved with the directory.
    let unmounted = Command::new("umount").arg(aside.join("rootfs/mnt")).status();
    assert!(unmounted.unwrap().success());
    drop(disk);
    // As in the next boot, in which it is looked for again.
    std::fs::remove_file(node.path("/var/lib/bringup/journal")).unwrap();
    node.up();
    assert!(!aside.exists());
}
