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
        // What somebody wrote there is not lost; what a power cut leaves is worth nothing.
        let aside = node.read("/var/lib/bringup/journal.damaged");
        assert_eq!(aside.as_deref(), Some(garbage).filter(|garbage| garbage.contains('\n')));
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
    let journal = std::fs::read(node.path(JOURNAL)).unwrap();
    assert!(journal.starts_with(&whole));
    // What came after it is whole: nothing of it is lost to the run that follows.
    assert_eq!(bringup_progress::decode(&journal).unwrap().damage, None);
    let ran = node.up();
    assert!(!ran.errors.contains("the journal"), "{}", ran.errors);
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
    node.put("/run/bringup/.status.json.bringup-new", "{");
    node.put("/run/bringup/status.json", "{\"cluster\":");
    node.put("/var/lib/bringup/.done.json.bringup-new", "{");
    // The lock of a process that is gone is nobody's.
    node.put("/run/bringup/lock", "");
    node.up();
    assert_eq!(node.tree(), clean.tree());
    assert_eq!(node.run(&["status"]).code, Some(0));
}

/// Between two boots, and by years: nothing is decided by the clock.
#[test]
fn records_of_another_time_count_as_any_other() {
    needs_root();
    for at_ms in ["0", "18446744073709551615", "4102444800000"] {
        let node = Node::new(&small());
        node.up();
        let text = node.read(JOURNAL).unwrap();
        // Sealed anew: the chain is over the whole line.
        let mut writer = bringup_progress::Writer::default();
        let mut changed = String::new();
        for line in text.lines() {
            let mut record: serde_json::Value =
                serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
            record["at_ms"] = at_ms.parse::<u64>().unwrap().into();
            let record: bringup_progress::Record = serde_json::from_value(record).unwrap();
            let (line, next) = writer.line(&record).unwrap();
            changed.push_str(&line);
            writer = next;
        }
        node.put(JOURNAL, &changed);
        assert_eq!(Node::begun(&node.up()), ["identify"], "{at_ms}");
        assert_eq!(node.run(&["status"]).code, Some(0), "{at_ms}");
    }
}
