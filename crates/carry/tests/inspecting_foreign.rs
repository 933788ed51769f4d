//! Inputs of other people's making that are easily taken for something else.

use bringup_carry::{Inspection, base64_text, gzip, inspect};
use serde_json::json;

fn codes(inspection: &Inspection) -> Vec<&str> {
    inspection.findings.iter().map(|finding| finding.code.name).collect()
}

fn told(inspection: &Inspection) -> Vec<&str> {
    inspection.findings.iter().map(|finding| finding.message.as_str()).collect()
}

#[test]
fn includes_and_part_handlers_are_user_data() {
    for (text, code) in [
        ("#include\nhttps://example.com/one\n", "part/include"),
        ("#include-once\nhttps://example.com/one\n", "part/include"),
        ("#part-handler\ndef list_types():\n    return [\"text/x-own\"]\n", "part/part-handler"),
    ] {
        for bytes in [text.as_bytes().to_vec(), base64_text(text.as_bytes()).into_bytes()] {
            let inspection = inspect("x", &bytes);
            assert!(inspection.decoded, "{text}");
            assert_eq!(codes(&inspection), [code], "{text}");
            assert_eq!(inspection.pieces[0].text, text);
        }
    }
    for text in ["hello\n", "", "# cloud-config\n{}\n"] {
        assert!(!inspect("x", text.as_bytes()).decoded, "{text}");
    }
}

/// Ignition's `docs/migrating-configs.md`: 2.x takes a path several times, and `append: true` adds to what is there;
/// "duplicate entries are no longer allowed" came with 3.0.0.
#[test]
fn old_ignition_configs_may_name_a_path_twice() {
    let file = |text: &str, append: bool| json!({"filesystem": "root", "path": "/etc/x", "append": append, "contents": {"source": format!("data:,{text}")}});
    let of = |files: serde_json::Value| {
        let config = json!({"ignition": {"version": "2.3.0"}, "storage": {"files": files}});
        inspect("old.ign", config.to_string().as_bytes())
    };
    let twice = of(json!([file("hello", true), file("world", true)]));
    assert_eq!(codes(&twice), ["ignition/append"]);
    // What the image has there is not known.
    assert_eq!(twice.files[0].content.as_deref(), Some(&b"helloworld"[..]));
    assert_eq!((twice.files[0].size, &twice.files[0].sha256), (None, &None));
    let whole = of(json!([file("hello", false), file("world", true)]));
    assert_eq!(codes(&whole), ["ignition/append"]);
    assert_eq!((whole.files.len(), whole.files[0].size), (1, Some(10)));
    let replaced = of(json!([file("hello", false), file("world!", false)]));
    assert_eq!((codes(&replaced).len(), replaced.files[0].size), (0, Some(6)));
}

/// By Ignition's notes on its releases: the specifications before 3.6.0 drop these bits and warn.
#[test]
fn special_bits_of_modes_are_kept_from_3_6_0_on() {
    for (version, mode) in [("3.3.0", "0755"), ("3.4.0", "0755"), ("3.5.0", "0755"), ("3.6.0", "4755")] {
        let config = json!({"ignition": {"version": version}, "storage": {"files": [
            {"path": "/opt/x", "mode": 0o4755, "contents": {"source": "data:,x"}}]}});
        let inspection = inspect("x.ign", config.to_string().as_bytes());
        assert_eq!(inspection.files[0].mode, mode, "{version}");
        let hints: Vec<_> =
            inspection.findings.iter().filter_map(|finding| finding.hint.as_deref()).collect();
        if mode == "0755" {
            assert_eq!(codes(&inspection), ["ignition/special-bits"], "{version}");
            assert_eq!(hints, ["write version 3.6.0, or a mode without them: 420 is 0644"]);
        } else {
            assert!(hints.is_empty(), "{version}");
        }
    }
}

#[test]
fn what_unpacks_to_too_much_is_said_to_do_so() {
    let bomb = base64_text(&gzip(&vec![0; (16 << 20) + 1]));
    let config = format!(
        "#cloud-config\nwrite_files:\n- {{path: /etc/x, encoding: gz+b64, content: {}}}\n",
        bomb.trim()
    );
    assert_eq!(
        told(&inspect("x.yaml", config.as_bytes())),
        ["`content` unpacks to more than 16 MiB and is not read further"]
    );
    let source = format!("data:;base64,{}", bomb.trim());
    let config = json!({"ignition": {"version": "3.3.0"}, "storage": {"files": [
        {"path": "/etc/x", "contents": {"compression": "gzip", "source": source}}]}});
    assert_eq!(
        told(&inspect("x.ign", config.to_string().as_bytes())),
        ["the content unpacks to more than 16 MiB and is not read further"]
    );
}

#[test]
fn user_data_that_only_the_stack_knows_is_not_judged() {
    for value in ["!Ref Given", "!Base64 {Ref: Given}", "{'Fn::Transform': {Name: Own}}"] {
        let template = format!(
            "Parameters:\n  Given: {{Type: String}}\nResources:\n  Node:\n    Type: AWS::EC2::Instance\n    Properties:\n      UserData: {value}\n"
        );
        let inspection = inspect("x.yaml", template.as_bytes());
        assert!(inspection.decoded);
        assert_eq!(codes(&inspection), ["template/unknown-value"], "{value}: {:?}", told(&inspection));
    }
    // Beside something that is known it is as good as any text.
    let template = "Parameters:\n  Given: {Type: String}\nResources:\n  Node:\n    Type: AWS::EC2::Instance\n    Properties:\n      UserData:\n        Fn::Base64: !Sub |\n          #!/bin/sh\n          echo ${Given}\n";
    let inspection = inspect("x.yaml", template.as_bytes());
    assert_eq!(codes(&inspection), ["template/unknown-value"]);
    assert_eq!(inspection.steps.len(), 1);
}

/// cloud-init's documentation of `write_files`, 24.3: `source` with a `uri`, before `content`.
#[test]
fn a_file_that_cloud_init_fetches_has_no_digest_before() {
    let config = "#cloud-config\nwrite_files:\n- {path: /etc/x, source: {uri: https://example.com/x}}\n";
    let file = inspect("x.yaml", config.as_bytes()).files.remove(0);
    assert_eq!((file.size, file.sha256), (None, None));
    assert_eq!(file.source.as_deref(), Some("https://example.com/x"));
}
