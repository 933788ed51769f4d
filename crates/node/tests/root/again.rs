//! A second run, with another plan, other facts or another machine.

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
