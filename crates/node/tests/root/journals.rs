//! Journals that are not as the agent left them.

use std::io::Write as _;

use crate::node::{Node, needs_root};
use crate::plans::small;

const JOURNAL: &str = "/var/lib/bringup/journal";

#[test]
fn garbage_for_a_journal_is_a_journal_of_nobody() {
    needs_root();
    for garbage in ["garbage\n", "\0\0\0\0", "0123456789abcdef {\"is\":\"machine\"}\n", ""] {
        let node = Node::new(&small());
        node.put(JOURNAL, garbage);
        node.up();
        assert_eq!(node.up().errors.matches(": skipped").count(), 9, "{garbage:?}");
    }
}

#[test]
fn a_torn_tail_is_cut_off_and_nothing_before_it_is_done_again() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    let whole = std::fs::read(node.path(JOURNAL)).unwrap();
    let mut journal = std::fs::OpenOptions::new().append(true).open(node.path(JOURNAL)).unwrap();
    journal.write_all(b"0123456789abcdef {\"at_ms\":1,\"boo").unwrap();
    let ran = node.up();
    assert!(ran.errors.contains("the journal's last 32 bytes were torn off"), "{}", ran.errors);
    assert_eq!(Node::begun(&ran), ["identify"]);
    assert!(std::fs::read(node.path(JOURNAL)).unwrap().starts_with(&whole));
}

#[test]
fn a_changed_line_is_told_and_what_follows_it_is_done_again() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    let tree = node.tree();
    let text = node.read(JOURNAL).unwrap();
    let changed = text.replacen("\"step\":\"folder\"", "\"step\":\"foldes\"", 1);
    assert_ne!(text, changed);
    node.put(JOURNAL, &changed);
    let ran = node.up();
    assert!(ran.errors.contains("the journal is damaged"), "{}", ran.errors);
    assert!(Node::begun(&ran).contains(&"two"), "{:?}", Node::begun(&ran));
    assert_eq!(node.read("/var/lib/bringup/journal.damaged").as_deref(), Some(changed.as_str()));
    assert_eq!(node.tree(), tree);
}

#[test]
fn leftovers_of_a_dead_agent_are_written_over() {
    needs_root();
    let clean = Node::new(&small());
    clean.up();
    let node = Node::new(&small());
    node.put("/etc/.one.bringup-new", "half of");
    node.put("/etc/deep/.two.bringup-new", "");
    node.put("/run/bringup/.kubelet.env.bringup-new", "BRINGUP");
    node.up();
    assert_eq!(node.tree(), clean.tree());
}
