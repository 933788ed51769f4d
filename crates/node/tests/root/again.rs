//! A second run, with another plan, other facts or another machine.

use std::os::unix::fs::PermissionsExt as _;

use bringup_plan::{Action, Content};
use bringup_spec::Text;

use crate::node::{Node, needs_root};
use crate::plans::small;

#[test]
fn a_changed_plan_does_only_what_changed_and_removes_what_is_gone() {
    needs_root();
    let mut plan = small();
    let node = Node::new(&plan);
    node.up();
    // One file is another, one step is gone, and so is a unit.
    for step in &mut plan.steps {
        if let Action::WriteFile { path, content, .. } = &mut step.action
            && path == "/etc/deep/two"
        {
            *content = Content::Text(Text::literal("another two\n"));
        }
    }
    plan.steps.retain(|step| !matches!(step.name.as_str(), "link" | "units"));
    plan.units.clear();
    node.give(&plan);
    let explained = node.run(&["explain"]);
    assert_eq!(explained.code, Some(1), "{}", explained.output);
    for line in
        ["removes `/opt/bin/k`", "removes `/etc/systemd/system/tidy.service`", "writes `/etc/deep/two`"]
    {
        assert!(explained.output.contains(line), "{line}: {}", explained.output);
    }
    // What only its owner may read is not shown.
    assert!(!explained.output.contains("another two"), "{}", explained.output);
    let ran = node.up();
    assert_eq!(Node::begun(&ran), ["identify", "two", "kubelet"]);
    assert_eq!(node.read("/etc/deep/two").as_deref(), Some("another two\n"));
    assert!(!node.path("/opt/bin/k").exists() && !node.path("/etc/systemd/system/tidy.service").exists());
}

#[test]
fn other_facts_do_only_what_depends_on_them() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.xlarge\n"));
    node.facts("i-0123456789abcdef0", "g5.2xlarge");
    let explained = node.run(&["explain"]);
    assert!(explained.output.contains("-g5.xlarge\n+g5.2xlarge\n"), "{}", explained.output);
    let ran = node.up();
    assert_eq!(Node::begun(&ran), ["identify", "one", "kubelet"]);
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.2xlarge\n"));
}

#[test]
fn an_image_of_another_machine_begins_afresh() {
    needs_root();
    let plan = small();
    let node = Node::new(&plan);
    node.up();
    node.facts("i-0fedcba9876543210", "g5.xlarge");
    let ran = node.up();
    let all: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(Node::begun(&ran), all);
}

/// A node must not come up without what its plan says; nothing of anybody's is lost by that.
#[test]
fn what_is_gone_is_written_again() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    let tree = node.tree();
    for path in ["/etc/one", "/opt/bin/k", "/etc/systemd/system/tidy.service"] {
        std::fs::remove_file(node.path(path)).unwrap();
    }
    std::fs::remove_dir(node.path("/var/lib/own")).unwrap();
    let explained = node.run(&["explain"]);
    assert_eq!(explained.code, Some(1), "{}", explained.output);
    for part in ["makes the directory `/var/lib/own`", "links `/opt/bin/k`", "+g5.xlarge\n", "+[Service]\n"] {
        assert!(explained.output.contains(part), "{part}: {}", explained.output);
    }
    let ran = node.up();
    assert_eq!(Node::begun(&ran), ["identify", "folder", "link", "one", "units", "kubelet"]);
    assert!(ran.errors.contains("one: started: `/etc/one` is gone\n"), "{}", ran.errors);
    assert_eq!(node.tree(), tree);
    assert_eq!(Node::begun(&node.up()), ["identify"]);
}

/// It may be the operator's own doing, or that of a program of theirs.
#[test]
fn what_somebody_has_changed_stays_and_is_shown() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    assert_eq!(node.run(&["explain"]).output, "nothing is to be done\n");
    node.put("/etc/one", "by hand\n");
    node.put("/etc/deep/two", "a secret by hand\n");
    node.put("/etc/systemd/system/tidy.service", "[Service]\nExecStart=/bin/false\n");
    std::fs::remove_file(node.path("/opt/bin/k")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/mine", node.path("/opt/bin/k")).unwrap();
    std::fs::set_permissions(node.path("/var/lib/own"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let changed = node.tree();
    let explained = node.run(&["explain"]);
    assert_eq!(explained.code, Some(0), "nothing would be done: {}", explained.output);
    for part in [
        "not as it was written, and left so; remove it to have it written again\n",
        "  `/var/lib/own` has the permissions 0700 instead of 0750\n",
        "  `/opt/bin/k` does not lead to `/usr/bin/kubectl`\n",
        "--- /etc/one\n+++ /etc/one\n@@ -1 +1 @@\n-by hand\n+g5.xlarge\n",
        "  `/etc/deep/two` is another, which is not shown\n",
        "-ExecStart=/bin/false\n+ExecStart=/bin/true\n",
    ] {
        assert!(explained.output.contains(part), "{part}: {}", explained.output);
    }
    assert!(!explained.output.contains("secret"), "{}", explained.output);
    let json = node.run(&["explain", "--output", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.output).unwrap();
    let names: Vec<&str> =
        json["changed"].as_array().unwrap().iter().map(|item| item["step"].as_str().unwrap()).collect();
    assert_eq!(names, ["folder", "link", "one", "two", "units"]);
    assert_eq!(Node::begun(&node.up()), ["identify"]);
    assert_eq!(node.tree(), changed);
    std::fs::remove_file(node.path("/etc/one")).unwrap();
    node.up();
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.xlarge\n"));
}
