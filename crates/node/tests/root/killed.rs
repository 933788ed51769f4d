//! Killed at every call that changes the disk, and run again: the same tree.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::node::{Node, agent, needs_root, ran};
use crate::plans::small;

/// Calls that change what is on the disk.
const CALLS: [&str; 9] =
    ["write", "fsync", "renameat", "unlinkat", "mkdirat", "symlinkat", "fchown", "fchmod", "ftruncate"];
/// More calls of one kind than this is a test that does not end.
const MOST: usize = 2000;

#[test]
fn killed_at_every_call_that_changes_the_disk_the_end_is_the_same() {
    needs_root();
    assert!(
        Command::new("strace").arg("--version").output().is_ok(),
        "strace is missing; install it, or run ./test as root on Debian"
    );
    let clean = Node::new(&small());
    clean.up();
    let tree = clean.tree();
    let points = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Two at a time: most of it is waiting for processes to start.
        for half in [&CALLS[..1], &CALLS[1..]] {
            let (points, tree) = (&points, &tree);
            scope.spawn(move || {
                for call in half {
                    let mut at = 1;
                    while killed_at(call, at, tree) {
                        at += 1;
                        assert!(at < MOST, "{call} does not end");
                    }
                    points.fetch_add(at - 1, Ordering::Relaxed);
                }
            });
        }
    });
    let points = points.into_inner();
    println!("killed at {points} points");
    assert!(points > 100, "only {points} points");
}

/// Kills the agent at a call and runs it again. False if it came to its end before.
fn killed_at(call: &str, at: usize, tree: &crate::node::Tree) -> bool {
    let node = Node::new(&small());
    let inject = format!("inject={call}:signal=KILL:when={at}");
    let killed = ran(
        Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject])
            .arg(agent())
            .args(node.words(&["up"])),
        "",
    );
    // Strace ends as what it watches has ended: by the same signal, without a code.
    if killed.code == Some(0) {
        return false;
    }
    assert_eq!(killed.code, None, "{call} {at}: {}", killed.errors);
    node.up();
    assert_eq!(node.tree(), *tree, "killed at {call} {at}");
    true
}
