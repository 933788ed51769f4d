//! Killed at every call that changes the disk, and run again: the same tree.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::node::{Node, Tree, agent, needs_root, ran};
use crate::plans::{IMAGES, over_image};

/// All calls that change what is on a disk. Libraries of C differ in those that they make.
const CALLS: &str = "write writev pwrite64 pwritev pwritev2 copy_file_range sendfile splice fallocate ftruncate truncate fsync \
    fdatasync sync_file_range rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat rmdir mkdir mkdirat mknod \
    mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utimensat setxattr fsetxattr";
/// More calls of one kind than this is a test that does not end.
const MOST: usize = 2000;

/// What is killed: a machine, and the call of the agent that goes to its end undisturbed.
struct Scene {
    fresh: fn() -> Node,
    words: &'static [&'static str],
}

#[test]
fn killed_at_every_call_that_changes_the_disk_the_end_is_the_same() {
    let points = everywhere(&Scene { fresh, words: &["up"] });
    println!("killed at {points} points");
    assert!(points > 100, "only {points} points");
}

/// What stood there before is given back, and is not taken for ours by whoever goes on.
#[test]
fn killed_while_it_gives_back_what_stood_there_the_end_is_the_same() {
    let brought_up = || {
        let node = with_originals();
        node.up();
        node
    };
    let points = everywhere(&Scene { fresh: brought_up, words: &["reset", "--yes"] });
    assert!(points > 50, "only {points} points");
    let with_less = || {
        let node = with_originals();
        node.up();
        let mut plan = over_image(r#"{"extra": 1}"#);
        plan.steps.retain(|step| !["folder", "link", "one", "two"].contains(&step.name.as_str()));
        node.give(&plan);
        node
    };
    let points = everywhere(&Scene { fresh: with_less, words: &["up"] });
    assert!(points > 50, "only {points} points");
}

/// A machine that has something of every kind where the plan writes.
fn with_originals() -> Node {
    let node = fresh();
    node.put("/etc/deep/two", "of the image\n");
    std::fs::create_dir_all(node.path("/opt/bin")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/other", node.path("/opt/bin/k")).unwrap();
    node.put("/var/lib/own/of-somebody", "");
    node
}

/// Kills it at every call of every kind; at how many.
fn everywhere(scene: &Scene) -> usize {
    needs_root();
    assert!(
        Command::new("strace").arg("--version").output().is_ok(),
        "strace is missing; install it, or run ./test as root on Debian"
    );
    let (tree, calls) = undisturbed(scene);
    let points = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Two at a time: most of it is waiting for processes to start. Half of the calls are writes.
        let (writes, others) = calls.split_at(1);
        for half in [writes, others] {
            let (points, tree) = (&points, &tree);
            scope.spawn(move || {
                for call in half {
                    let mut at = 1;
                    while killed_at(scene, call, at, tree) {
                        at += 1;
                        assert!(at < MOST, "{call} does not end");
                    }
                    points.fetch_add(at - 1, Ordering::Relaxed);
                }
            });
        }
    });
    points.into_inner()
}

/// A machine whose image has a file that settings are laid over.
fn fresh() -> Node {
    let node = Node::new(&over_image(r#"{"extra": 1}"#));
    node.put(IMAGES, r#"{"image": 1}"#);
    node
}

/// What a run leaves that nobody disturbs, and the calls that it makes.
fn undisturbed(scene: &Scene) -> (Tree, Vec<&'static str>) {
    let node = (scene.fresh)();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let wanted: Vec<String> = CALLS.split_whitespace().map(|call| format!("?{call}")).collect();
    let traced = ran(
        Command::new("strace")
            .args(["-f", "-qq", "-e", &format!("trace={}", wanted.join(",")), "-o"])
            .arg(trace.path())
            .arg(agent())
            .args(node.words(scene.words)),
        "",
    );
    assert_eq!(traced.code, Some(0), "{}", traced.errors);
    let lines = std::fs::read_to_string(trace.path()).unwrap();
    let made = |call: &&str| lines.contains(&format!(" {call}("));
    (node.tree(), CALLS.split_whitespace().filter(made).collect())
}

/// Kills the agent at a call and runs it again. False if it came to its end before.
fn killed_at(scene: &Scene, call: &str, at: usize, tree: &Tree) -> bool {
    let node = (scene.fresh)();
    let inject = format!("inject={call}:signal=KILL:when={at}");
    let killed = ran(
        Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject])
            .arg(agent())
            .args(node.words(scene.words)),
        "",
    );
    // Strace ends as what it watches has ended: by the same signal, without a code.
    if killed.code == Some(0) {
        return false;
    }
    assert_eq!(killed.code, None, "{call} {at}: {}", killed.errors);
    let again = node.run(scene.words);
    assert_eq!(again.code, Some(0), "{call} {at}: {}", again.errors);
    let (is, mut unlike) = (node.tree(), Vec::new());
    for path in is.keys().chain(tree.keys()).filter(|path| is.get(*path) != tree.get(*path)) {
        unlike.push((path, is.get(path), tree.get(path)));
    }
    assert!(unlike.is_empty(), "killed at {call} {at}: {unlike:#?}");
    true
}
