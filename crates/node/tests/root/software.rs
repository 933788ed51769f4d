//! Software that is fetched: what stood there before is kept until the new version is known to work.

use bringup_plan::{Action, InstallSource, Plan};
use sha2::{Digest as _, Sha256};

use crate::node::{Node, needs_root};
use crate::plans::small;

const KUBELET: &str = "/opt/bin/kubelet";

/// The small plan with a kubelet of this content.
pub(crate) fn with_kubelet(content: &str) -> Plan {
    let name = if content.len() < 20 { content } else { "kubelet" };
    with_software("kubelet", name, content.as_bytes(), KUBELET)
}

/// The small plan with a piece of software of this content, which stands in `/assets`.
fn with_software(software: &str, name: &str, content: &[u8], path: &str) -> Plan {
    let mut plan = small();
    let sha256 =
        Sha256::digest(content).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let urls = vec![format!("file:///assets/{name}")];
    let at = plan.steps.iter().position(|step| step.name == "one").unwrap();
    let mut step = plan.steps.get(at).cloned().unwrap();
    step.name = format!("install-{software}");
    step.action = Action::Install {
        software: software.to_owned(),
        version: None,
        source: InstallSource::Url { urls, sha256, path: path.to_owned() },
        choices: Vec::new(),
        data: None,
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

fn tarball(members: &[(&str, &str)]) -> Vec<u8> {
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(packer);
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[test]
fn an_archive_keeps_the_old_version_of_each_of_its_programs() {
    needs_root();
    let versions = [
        ("1.tar.gz", tarball(&[("bin/containerd", "one"), ("bin/ctr", "tool"), ("bin/shim", "shim")])),
        ("2.tar.gz", tarball(&[("bin/containerd", "two"), ("bin/ctr", "tool"), ("bin/shim", "new shim")])),
    ];
    let plan = |index: usize| {
        let (name, archive) = &versions[index];
        with_software("containerd", name, archive, "/usr/local")
    };
    let node = Node::new(&plan(0));
    std::fs::create_dir_all(node.path("/assets")).unwrap();
    for (name, archive) in &versions {
        std::fs::write(node.path("/assets").join(name), archive).unwrap();
    }
    let containerd = "/usr/local/bin/containerd";
    node.put(containerd, "of the image");
    let old = |path: &str| node.read(&format!("{path}.bringup-old"));
    node.up();
    assert_eq!(
        (node.read(containerd).as_deref(), old(containerd).as_deref()),
        (Some("one"), Some("of the image"))
    );
    node.give(&plan(1));
    node.up();
    // What worked last is still the image's; of what did not change nothing is kept.
    assert_eq!(
        (node.read(containerd).as_deref(), old(containerd).as_deref()),
        (Some("two"), Some("of the image"))
    );
    assert_eq!((old("/usr/local/bin/ctr"), old("/usr/local/bin/shim").as_deref()), (None, Some("shim")));
    let left = std::fs::read_dir(node.path("/var/lib/bringup/fetch")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of the archives");
    let ran = node.run(&["reset", "--yes"]);
    assert!(
        ran.output.contains("puts back what stood there before\n  /usr/local/bin/containerd\n"),
        "{}",
        ran.output
    );
    assert_eq!((node.read(containerd).as_deref(), old(containerd)), (Some("of the image"), None));
    assert_eq!(node.read("/usr/local/bin/ctr"), None);
    assert!(!node.path("/var/lib/bringup/originals").exists());
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

/// A plan with containerd in this version, whose data directory is seen to, and with the reboot that follows.
pub(crate) fn with_containerd(version: &str) -> Plan {
    let mut plan = with_software("containerd", version, version.as_bytes(), "/opt/bin/containerd");
    let at = plan.steps.iter().position(|step| step.name == "install-containerd").unwrap();
    if let Action::Install { version: expected, data, .. } = &mut plan.steps[at].action {
        *expected = Some(version.to_owned());
        *data = Some("/var/lib/containerd".to_owned());
    }
    let mut removal = plan.steps[at].clone();
    "runtime-data".clone_into(&mut removal.name);
    removal.every_boot = true;
    removal.action = Action::RemoveOldData { directories: vec!["/var/lib/containerd".to_owned()] };
    plan.steps.insert(at + 1, removal);
    plan
}

#[test]
fn another_runtime_finds_an_empty_directory_and_its_own_later() {
    needs_root();
    let node = Node::new(&with_containerd("1.7.28"));
    for version in ["1.7.28", "2.1.4"] {
        node.put(&format!("/assets/{version}"), version);
    }
    // The image's own has been at work.
    node.put("/etc/eks/containerd-version.txt", "containerd github.com/containerd/containerd 1.7.20 abc");
    node.put("/var/lib/containerd/meta.db", "of 1.7.20");
    std::os::unix::fs::symlink("/etc", node.path("/var/lib/containerd/etc")).unwrap();
    node.put("/var/lib/.containerd.bringup-older", "somebody's");
    node.up();
    let left = || {
        let names = std::fs::read_dir(node.path("/var/lib")).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let others = [".containerd.bringup-older", "bringup", "own"];
    assert_eq!(left(), others);
    assert!(node.path("/etc/eks/containerd-version.txt").exists(), "a link was followed");
    // What it writes is its own: nothing is done about it again.
    node.put("/var/lib/containerd/meta.db", "of 1.7.28");
    node.up();
    assert_eq!(node.read("/var/lib/containerd/meta.db").as_deref(), Some("of 1.7.28"));
    node.give(&with_containerd("2.1.4"));
    node.up();
    // All of it is aside, and goes when the machine has rebooted: here, it has not.
    assert_eq!(left(), [[".containerd.bringup-old1"].as_slice(), &others].concat());
    let aside = node.read("/var/lib/.containerd.bringup-old1/meta.db");
    assert_eq!(aside.as_deref(), Some("of 1.7.28"));
    let noted = node.read("/var/lib/bringup/runtime.json").unwrap();
    assert!(noted.starts_with(r#"{"software":"containerd","version":"2.1.4""#), "{noted}");
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert_eq!(node.read("/var/lib/bringup/runtime.json"), None);
}
