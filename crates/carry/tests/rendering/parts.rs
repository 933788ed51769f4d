//! The operator's own parts beside ours.

use bringup_spec::Carrier;
use serde_json::Value;
use std::fmt::Write as _;

use crate::{CONFIGS, PARTS, SIGNALS, sample, text};

#[test]
fn the_operators_parts_keep_their_order_and_ours_is_first() {
    let document = sample::document("generic", "debian", PARTS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::Multipart);
    let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
    let leaves: Vec<(String, String, Vec<u8>)> = message
        .walk()
        .into_iter()
        .filter_map(|part| {
            let name = part.headers.filename()?;
            Some((name, part.headers.get("Content-Type")?.to_owned(), part.payload()?.bytes))
        })
        .collect();
    let names: Vec<&str> = leaves.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["000-bringup-boothook", "010-zz", "020-aa"]);
    assert_eq!(leaves[0].1, "text/cloud-boothook");
    assert_eq!(leaves[2].2, "#!/bin/sh\necho caf\u{e9}\n".as_bytes());
    let sizes: usize = rendered.parts.iter().map(|part| part.bytes).sum();
    assert!(sizes <= rendered.bytes.len() && sizes + 300 > rendered.bytes.len());
}

#[test]
fn parts_of_other_types_make_a_message_of_a_cloud_config() {
    let document = sample::document("generic", "debian", PARTS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
    assert_eq!(rendered.file_name, "user-data.mime");
    let codes: Vec<&str> = rendered.findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(codes, ["part/forces-multipart"]);
}

/// cloud-init runs only the modules of such a list: `bootcmd`, where our first stage stands in one document, may not be
/// among them, or only once. A boothook of a message runs whatever the lists say.
#[test]
fn a_list_of_modules_cannot_take_our_first_stage_away() {
    for list in ["[write_files]", "[[bootcmd, once], write_files]", "[bootcmd, write_files]"] {
        let extra = format!(
            "      parts:\n        - name: own\n          type: text/cloud-config\n          content: |\n            \
             #cloud-config\n            cloud_init_modules: {list}\n            runcmd: [x]\n"
        );
        let document = sample::document("generic", "debian", &extra);
        let plan = sample::plan(&document);
        let parts = sample::parts(&document);
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
        assert_eq!(rendered.file_name, "user-data.mime", "{list}");
        let messages: Vec<&str> = rendered.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "one cloud-config cannot hold the group's parts: part `own` replaces the list of modules that `bootcmd` is in; the carrier is a multipart message"
            ]
        );
        let inspection = bringup_carry::inspect("user-data", &rendered.bytes);
        assert_eq!(inspection.steps[0].stage, "boothook", "{list}");
    }
}

#[test]
fn cloud_configs_merge_as_cloud_init_merges_them_and_ours_is_added() {
    let document = sample::document("generic", "debian", CONFIGS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
    assert_eq!(rendered.file_name, "cloud-config.yaml");
    let tree =
        bringup_yaml::parse_one(&text(&rendered.bytes), bringup_yaml::Limits::default()).unwrap().unwrap();
    let commands = tree.get("bootcmd").unwrap().items().unwrap();
    assert_eq!(commands.len(), 2);
    assert!(commands[0].text().unwrap().starts_with("# bringup: first stage 1\n"));
    assert_eq!(commands[1].text(), Some("echo theirs"));
    // As PyYAML reads `0600` and `yes` in the part.
    assert!(text(&rendered.bytes).contains("permissions: 384\n  content: true"), "{}", text(&rendered.bytes));
    assert!(text(&rendered.bytes).contains("runcmd:\n- echo two\n"));
    assert_eq!(text(&rendered.bytes).matches("runcmd:").count(), 1);
    assert!(rendered.findings.is_empty(), "{:?}", rendered.findings);
}

/// What `CloudConfigPartHandler` of cloud-init 22.4.2 made of several parts is what stands in the one document.
#[test]
fn one_document_holds_what_cloud_init_would_have_merged() {
    let recorded = include_str!("../../../cloudinit/tests/cloud-init-22.4.2/merge.jsonl");
    let mut compared = Vec::new();
    for line in recorded.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Some(given) = case["parts"].as_array() else { continue };
        if given.iter().any(|part| part["header"] != "") {
            continue;
        }
        let mut extra = "\n      parts:\n".to_owned();
        for (number, part) in given.iter().enumerate() {
            let indented = part["text"].as_str().unwrap().replace('\n', "\n            ");
            let head = "          type: text/cloud-config\n          content: |\n            #cloud-config\n";
            let _ = writeln!(extra, "        - name: p{number}\n{head}            {indented}");
        }
        let document = sample::document("generic", "debian", &extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
        if rendered.file_name != "cloud-config.yaml" {
            continue;
        }
        let json = |text: &str| {
            let tree = bringup_yaml::parse_one(text, bringup_yaml::Limits::default()).unwrap().unwrap();
            tree.to_value().to_json()
        };
        let mut ours = json(&text(&rendered.bytes));
        ours.as_object_mut().unwrap().remove("bootcmd");
        // Python's way to print a mapping is YAML, but for its name of nothing.
        assert_eq!(ours, json(&case["merged"].as_str().unwrap().replace("None", "null")), "{line}");
        compared.push(case["name"].as_str().unwrap().to_owned());
    }
    assert!(compared.len() >= 7, "{compared:?}");
}

/// The operator's own parts stay separate parts, in a template too.
#[test]
fn a_template_keeps_the_operators_parts_apart() {
    for extra in [CONFIGS.to_owned(), format!("{CONFIGS}{}", SIGNALS.trim_start_matches('\n'))] {
        let document = sample::document("aws", "ubuntu", &extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudFormation);
        let template = text(&rendered.bytes);
        let reading = bringup_cloudformation::read("template.yaml", &template).unwrap();
        let message = text(&reading.parts[0].bytes);
        let names: Vec<&str> = message
            .lines()
            .filter_map(|line| line.strip_prefix("Content-Disposition: attachment; filename="))
            .map(|name| name.trim_matches('"'))
            .collect();
        let all = ["000-aws-stack.sh", "000-bringup-boothook", "010-one", "020-two"];
        assert_eq!(names, if extra == CONFIGS { &all[1..] } else { &all[..] });
    }
}
