//! Software that is fetched: what stood there before is kept until the new version is known to work.

use bringup_plan::{Action, InstallSource, Plan};
use sha2::{Digest as _, Sha256};

use crate::node::{Node, needs_root};
use crate::plans::small;

const KUBELET: &str = "/opt/bin/kubelet";

/// The small plan with a kubelet of this content.
fn with_kubelet(content: &str) -> Plan {
    let mut plan = small();
    let sha256 =
        Sha256::digest(content).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let urls = vec![format!("file:///assets/{content}")];
    let at = plan.steps.iter().position(|step| step.name == "one").unwrap();
    let mut step = plan.steps.get(at).cloned().unwrap();
    "install-kubelet".clone_into(&mut step.name);
    step.action = Action::Install {
        software: "kubelet".to_owned(),
        version: None,
        source: InstallSource::Url { urls, sha256, path: KUBELET.to_owned() },
    };
    plan.steps.insert(at, step);
    plan
}

#[test]
fn a_new_kubelet_keeps_the_old_one_and_is_started() {
    needs_root();
    let node = Node::new(&with_kubelet("first"));
    node.put(KUBELET, "of the image");
    for version in ["first", "second"] {
        node.put(&format!("/assets/{version}"), version);
    }
    node.up();
    let old = || node.read(&format!("{KUBELET}.bringup-old"));
    assert_eq!((node.read(KUBELET).as_deref(), old().as_deref()), (Some("first"), Some("of the image")));
    node.give(&with_kubelet("second"));
    let ran = node.up();
    assert_eq!(Node::begun(&ran), ["identify", "install-kubelet", "kubelet"]);
    // On a directory no kubelet gets healthy: the version of the image is still the one that worked.
    assert_eq!((node.read(KUBELET).as_deref(), old().as_deref()), (Some("second"), Some("of the image")));
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert_eq!((node.read(KUBELET).as_deref(), old()), (Some("of the image"), None));
}

#[test]
fn the_version_that_an_image_tells_is_checked() {
    needs_root();
    let mut plan = with_kubelet("first");
    for step in &mut plan.steps {
        if let Action::Install { version, source, .. } = &mut step.action {
            (*version, *source) = (Some("1.33.4".to_owned()), InstallSource::Image);
        }
    }
    let node = Node::new(&plan);
    node.put("/etc/eks/kubelet-version.txt", "1.32.9\n");
    let mut agent = crate::disks::Paused::start(&node);
    let status = agent.until_paused(&node);
    assert_eq!(status["why"], "kubelet is 1.32.9 in the image, and 1.33.4 is expected");
    node.put("/etc/eks/kubelet-version.txt", "1.33.4\n");
    assert_eq!(agent.code(), Some(0));
    let journal = node.read("/var/lib/bringup/journal").unwrap();
    assert!(journal.contains("\"kept\":{\"version\":\"1.33.4\"}"), "{journal}");
}
