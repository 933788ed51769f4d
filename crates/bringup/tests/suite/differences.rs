//! `bringup diff` sees everything that a node would do differently.

use std::path::Path;
use std::process::Output;

use crate::program::{out, run};

const DOCUMENT: &str = r#"apiVersion: bringup.dev/v1alpha1
kind: Cluster
metadata: {name: lab}
spec:
  kubernetes: {version: "1.32"}
  api: {endpoint: "https://10.0.0.10:6443"}
  network: {serviceRanges: [10.96.0.0/12]}
  join:
    method: kubeadm
    token: {file: /run/token}
    kubeadm:
      caCertHashes: ["sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
  nodeGroups:
    - name: workers
      platform: generic
      os: {family: debian}
      agent: image
      software:
        kubelet: {from: package}
        kubeadm: {from: package}
        runtime: {from: package}
        cni: {from: package}
      carriers: [CARRIER]
      parts:
"#;
const FIRST: &str =
    "        - {name: first, type: text/cloud-config, content: \"#cloud-config\\npackages: [jq]\\n\"}\n";
const SECOND: &str =
    "        - {name: second, type: text/x-shellscript, content: \"#!/bin/sh\\necho two\\n\"}\n";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("written");
}

fn document(carrier: &str, parts: &[&str]) -> String {
    DOCUMENT.replace("CARRIER", carrier) + &parts.concat()
}

/// The difference, which must be there.
fn told(folder: &Path, old: &str, new: &str) -> String {
    let output: Output = run(folder, &["diff", old, new]);
    assert_eq!(output.status.code(), Some(1), "{old} and {new}: {}", String::from_utf8_lossy(&output.stderr));
    out(&output)
}

fn same(folder: &Path, old: &str, new: &str) {
    let output = run(folder, &["diff", old, new]);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), ""), "{old} and {new}");
}

#[test]
fn another_agent_is_a_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    for (carrier, file) in
        [("cloud-init", "cloud-config.yaml"), ("multipart", "user-data.mime"), ("bundle", "bundle.tar")]
    {
        let image = DOCUMENT.replace("CARRIER", carrier).replace("      parts:\n", "");
        let fetched = |digit: &str| {
            let urls = "[https://a.example/bringup-node, https://b.example/bringup-node]";
            let digest = digit.repeat(64);
            image.replace(
                "agent: image",
                &format!("agent: {{from: fetch, downloads: {{x86_64: {{urls: {urls}, sha256: {digest}}}}}}}"),
            )
        };
        for (name, text) in [("image", image.clone()), ("one", fetched("a")), ("two", fetched("b"))] {
            write(folder.path(), &format!("{name}.yaml"), &text);
            let output = run(folder.path(), &["build", &format!("{name}.yaml"), "-o", name]);
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        }
        for of in [".yaml".to_owned(), String::new(), format!("/lab/workers/{file}")] {
            let (one, two, image) = (format!("one{of}"), format!("two{of}"), format!("image{of}"));
            let text = told(folder.path(), &one, &two);
            assert!(
                text.contains("agent") && text.contains(&"a".repeat(64)) && text.contains(&"b".repeat(64)),
                "{text}"
            );
            assert!(text.contains("https://b.example/bringup-node"), "{text}");
            assert!(told(folder.path(), &image, &two).contains("in the image"));
            same(folder.path(), &one, &one);
        }
    }
}

#[test]
fn own_parts_are_compared_in_documents_builds_and_user_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (name, parts) in [("old", vec![SECOND]), ("new", vec![FIRST, SECOND])] {
        write(folder, &format!("{name}.yaml"), &document("multipart", &parts));
        let output = run(folder, &["build", &format!("{name}.yaml"), "-o", name]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let forms =
        |name: &str| [format!("{name}.yaml"), name.to_owned(), format!("{name}/lab/workers/user-data.mime")];
    for old in forms("old") {
        for new in forms("new") {
            let text = told(folder, &old, &new);
            assert!(text.contains("+ first (text/cloud-config)"), "{old} and {new}: {text}");
            assert!(text.contains("+packages: [jq]") && !text.contains("second"), "{old} and {new}: {text}");
        }
        for other in forms("old") {
            same(folder, &old, &other);
        }
    }
    write(folder, "new.yaml", &document("multipart", &[&SECOND.replace("echo two", "echo 2")]));
    assert!(told(folder, "old.yaml", "new.yaml").contains("+echo 2"));
    write(folder, "old.yaml", &document("multipart", &[SECOND, FIRST]));
    write(folder, "new.yaml", &document("multipart", &[FIRST, SECOND]));
    let text = told(folder, "old.yaml", "new.yaml");
    assert!(text.contains("order of the parts: second, first → first, second"), "{text}");
}

#[test]
fn keys_of_the_only_cloud_config_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "old.yaml", &document("cloud-init", &[FIRST]));
    write(folder, "new.yaml", &document("cloud-init", &[&FIRST.replace("jq", "yq")]));
    let text = told(folder, "old.yaml", "new.yaml");
    assert!(text.contains("~ packages") && text.contains("+- yq"), "{text}");
}

#[test]
fn modules_of_a_foreign_cloud_config_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "old", "#cloud-config\npackages: [jq]\nusers: [{name: eve, groups: a}]\nruncmd: [x]\n");
    write(folder, "new", "#cloud-config\npackages: [yq]\nusers: [{name: eve, groups: b}]\nruncmd: [x]\n");
    let text = told(folder, "old", "new");
    assert!(text.contains("+- yq") && text.contains("groups: b"), "{text}");
    assert!(!text.contains("runcmd"), "{text}");
    same(folder, "old", "old");
}

#[test]
fn disks_and_users_of_an_ignition_config_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let config = |device: &str, user: &str| {
        format!(
            r#"{{"ignition": {{"version": "3.3.0"}}, "passwd": {{"users": [{{"name": "{user}"}}]}},
                "storage": {{"disks": [{{"device": "/dev/{device}"}}], "filesystems": [{{"device": "/dev/{device}1", "format": "ext4"}}]}}}}"#
        )
    };
    write(folder, "old", &config("sda", "core"));
    write(folder, "new", &config("sdb", "admin"));
    let text = told(folder, "old", "new");
    for expected in ["passwd.users", "storage.disks", "storage.filesystems", "/dev/sdb1", "admin"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn templates_given_directly_are_compared_with_their_resources() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let template = |size: u32, tokens: &str| {
        format!(
            "Resources:\n  T:\n    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      LaunchTemplateData:\n        \
             BlockDeviceMappings:\n          - DeviceName: /dev/xvda\n            Ebs: {{VolumeSize: {size}}}\n        \
             MetadataOptions:\n          HttpTokens: {tokens}\n        UserData:\n          Fn::Base64: |\n            \
             #!/bin/sh\n            echo\n"
        )
    };
    write(folder, "old", &template(40, "optional"));
    write(folder, "new", &template(80, "required"));
    let text = told(folder, "old", "new");
    for expected in ["-            Ebs: {VolumeSize: 40}", "+          HttpTokens: required"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    same(folder, "old", "old");
}
