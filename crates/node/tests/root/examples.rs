//! What the plans of the examples leave on a machine.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use bringup_plan::{Action, Content, GATE_FILE, PlacedBy};
use bringup_spec::SecretSource;

use crate::node::{Node, needs_root};
use crate::plans;

#[test]
fn every_example_ends_as_its_plan_says_and_stays_so() {
    needs_root();
    let plans = plans::of_examples();
    assert!(plans.len() >= 12, "{} plans", plans.len());
    for (name, plan) in plans {
        let node = Node::new(&plan);
        for step in &plan.steps {
            if let Action::WriteFile { content, .. } = &step.action {
                give_secrets(&node, content);
            }
        }
        node.up();
        // Which node starts the cluster is a matter of facts: what only one of them does is not looked at.
        for step in plan.steps.iter().filter(|step| !step.elected_only && !step.others_only) {
            check(&node, &name, &step.action);
        }
        for unit in plan.units.iter().filter(|unit| unit.placed_by == PlacedBy::Agent) {
            if let Some(content) = &unit.content {
                let path = format!("/etc/systemd/system/{}", unit.name);
                assert_eq!(node.read(&path).as_deref(), Some(content.as_str()), "{name}: {path}");
            }
        }
        assert!(node.path("/var/lib/bringup/done.json").exists(), "{name}");
        let tree = node.tree();
        let second = node.up();
        assert_eq!(Node::begun(&second), ["identify"], "{name}: a second run does nothing again");
        assert_eq!(node.tree(), tree, "{name}: a second run changes nothing");
        let explained = node.run(&["explain"]);
        assert_eq!(
            (explained.code, explained.output.as_str()),
            (Some(0), "nothing is to be done\n"),
            "{name}: {}",
            explained.errors
        );
    }
}

fn give_secrets(node: &Node, content: &Content) {
    match content {
        Content::Secret(SecretSource::File(path)) => node.put(path, "abcdef.0123456789abcdef\n"),
        Content::Pieces(pieces) => pieces.iter().for_each(|piece| give_secrets(node, piece)),
        _ => {}
    }
}

fn check(node: &Node, name: &str, action: &Action) {
    let mode = |path: &str, mode: &str| {
        let metadata = node.path(path).symlink_metadata().unwrap_or_else(|_| panic!("{name}: no {path}"));
        let bits = format!("{:04o}", metadata.permissions().mode() & 0o7777);
        assert_eq!((bits.as_str(), metadata.uid()), (mode, 0), "{name}: {path}");
    };
    match action {
        Action::WriteFile { path, mode: bits, content, .. } => {
            mode(path, bits);
            let is = node.read(path).unwrap();
            match content {
                Content::Text(text) => match text.as_literal() {
                    Some(text) => assert_eq!(is, text, "{name}: {path}"),
                    None => assert!(!is.is_empty() && !is.contains("@{"), "{name}: {path}"),
                },
                Content::Pieces(_) => assert!(is.contains("0123456789abcdef"), "{name}: {path}"),
                // No image has anything there.
                Content::Merged { .. } => {
                    assert!(is.starts_with('{') && !is.contains("@{"), "{name}: {path}");
                }
                Content::PodTable(_) => assert_eq!(is, bringup_plan::max_pods::map(), "{name}: {path}"),
                Content::Secret(_) | Content::Base64(_) => {}
            }
        }
        Action::MakeDirectory { path, mode: bits, .. } => mode(path, bits),
        Action::MakeLink { path, target } => {
            assert_eq!(std::fs::read_link(node.path(path)).unwrap().to_str(), Some(target.as_str()));
        }
        Action::LoadModules { modules } => {
            let file = node.read("/etc/modules-load.d/90-bringup.conf").unwrap();
            assert_eq!(file.lines().collect::<Vec<_>>(), *modules, "{name}");
        }
        Action::SetSysctls { settings, .. } => {
            let file = node.read("/etc/sysctl.d/90-bringup.conf").unwrap();
            assert_eq!(file.lines().count(), settings.len(), "{name}");
        }
        Action::OpenGate { environment, .. } => {
            mode(GATE_FILE, "0600");
            let gate = node.read(GATE_FILE).unwrap();
            for variable in environment.keys() {
                assert!(gate.contains(&format!("{variable}=\"")), "{name}: {gate}");
            }
        }
        _ => {}
    }
}
