//! NodeConfigs, read and merged by nodeadm's rules.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Findings, Place, Severity, Span};
use bringup_spec::nodeconfig::{NodeConfig, check, merge, read, unpack};
use proptest::prelude::{any, proptest};
use serde_json::json;

fn spec(text: &str) -> String {
    let indented: String = text.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    format!("---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{indented}")
}

fn config(text: &str) -> NodeConfig {
    let (mut configs, findings) = read("node.yaml", &spec(text));
    assert!(findings.is_empty(), "{findings:?}");
    configs.remove(0)
}

fn merged(texts: &[&str]) -> NodeConfig {
    merge(texts.iter().map(|text| config(text))).unwrap()
}

fn told(findings: &Findings) -> Vec<(Severity, &str, u32)> {
    let line = |place: &Option<Place>| place.as_ref().map_or(0, |place| place.span.start.line);
    findings.iter().map(|finding| (finding.severity, finding.code.name, line(&finding.place))).collect()
}

#[test]
fn every_field_is_read() {
    let config = config(
        "cluster: {name: c, apiServerEndpoint: https://e, certificateAuthority: YWI=, cidr: 10.0.0.0/16, id: i, enableOutpost: true}
kubelet: {config: {maxPods: 3}, flags: [--v=5], maxPodsExpression: max_pods}
containerd: {config: 'version = 3', baseRuntimeSpec: {process: {cwd: /}}}
instance:
  localStorage: {strategy: RAID0, mountPath: /mnt, disabledMounts: [SOCI]}
  environment: {default: {A: b}, kubelet.x: {C.D: ''}}
  network: {nameservers: [8.8.8.8], domains: [d]}
featureGates: {InstanceIdNodeName: yes, FastImagePull: false}",
    );
    assert_eq!(config.cluster.certificate_authority.as_deref(), Some(b"ab".as_slice()));
    assert!(config.is_on_outpost());
    assert_eq!(config.kubelet.config["maxPods"], json!(3));
    assert_eq!(config.kubelet.flags, ["--v=5"]);
    assert_eq!(config.containerd.config[0].text, "version = 3");
    assert_eq!(config.instance.local_storage.disabled_mounts, ["SOCI"]);
    assert_eq!(config.instance.environment["kubelet.x"].as_ref().unwrap()["C.D"], "");
    assert_eq!(config.instance.nameservers, ["8.8.8.8"]);
    // Go's reader of YAML takes `yes` for true.
    assert!(config.has_feature("InstanceIdNodeName"));
    assert!(!config.has_feature("FastImagePull"));
}

#[test]
fn what_nodeadm_drops_is_named_with_its_line() {
    let text = spec("cluster:\n  name-not-real: c\nkublet: {}\nfeatureGates: {Unknown: true}");
    let (configs, findings) = read("node.yaml", &text);
    assert_eq!(configs.len(), 1);
    assert_eq!(
        told(&findings.sorted()),
        [
            (Severity::Warning, "nodeconfig/unknown-key", 6),
            (Severity::Warning, "nodeconfig/unknown-key", 7),
            (Severity::Warning, "nodeconfig/value", 8),
        ]
    );
}

#[test]
fn what_nodeadm_refuses_is_an_error() {
    for (text, code, line) in [
        ("cluster: {name: 5}", "nodeconfig/wrong-type", 5),
        ("cluster: {certificateAuthority: '%'}", "nodeconfig/wrong-type", 5),
        ("kubelet:\n  flags: --v=5", "nodeconfig/wrong-type", 6),
        ("kubelet:\n  config: '{}'", "nodeconfig/wrong-type", 6),
        ("instance: {environment: {default: {A: 1}}}", "nodeconfig/wrong-type", 5),
    ] {
        let (configs, findings) = read("node.yaml", &spec(text));
        assert!(configs.is_empty(), "{text}");
        assert_eq!(told(&findings), [(Severity::Error, code, line)], "{text}");
    }
    for text in ["", "a: 1", "apiVersion: node.eks.aws/v1\nkind: NodeConfig"] {
        let (configs, findings) = read("node.yaml", text);
        assert!(configs.is_empty());
        assert_eq!(told(&findings), [(Severity::Error, "nodeconfig/kind", 1)], "{text}");
    }
}

#[test]
fn only_the_first_document_of_a_text_counts() {
    let text = format!("{}{}", spec("cluster: {name: a}"), spec("cluster: {name: b}"));
    let (configs, findings) = read("node.yaml", &text);
    assert_eq!(configs[0].cluster.name, "a");
    assert_eq!(told(&findings), [(Severity::Warning, "nodeconfig/further-document", 7)]);
}

/// Later wins, empty never does; `false` is empty where it is a field of its own, and not where it is in a map.
#[test]
fn typed_fields_are_overridden_by_what_is_not_empty() {
    let whole = merged(&[
        "cluster: {name: a, cidr: 10.0.0.0/16, certificateAuthority: YQ==, enableOutpost: true}
instance: {network: {nameservers: [a, b], domains: [x]}, environment: {default: {A: a, B: b}}}
featureGates: {InstanceIdNodeName: true}",
        "cluster: {name: b, cidr: '', certificateAuthority: '', enableOutpost: false}
instance: {network: {nameservers: [c], domains: []}, environment: {default: {A: ''}, kubelet: {C: c}}}
featureGates: {InstanceIdNodeName: false}",
    ]);
    assert_eq!(whole.cluster.name, "b");
    assert_eq!(whole.cluster.cidr, "10.0.0.0/16");
    assert_eq!(whole.cluster.certificate_authority.as_deref(), Some(b"a".as_slice()));
    assert!(whole.is_on_outpost());
    assert_eq!(whole.instance.nameservers, ["c"]);
    assert_eq!(whole.instance.domains, ["x"]);
    assert_eq!(whole.instance.environment["default"].as_ref().unwrap()["A"], "");
    assert_eq!(whole.instance.environment["default"].as_ref().unwrap()["B"], "b");
    assert_eq!(whole.instance.environment["kubelet"].as_ref().unwrap()["C"], "c");
    assert!(!whole.has_feature("InstanceIdNodeName"));
    let taken_back =
        merged(&["instance: {environment: {default: {A: a}}}", "instance: {environment: {default: null}}"]);
    assert_eq!(taken_back.instance.environment["default"], None);
}

/// Maps merge deeply, lists are replaced whole, and `""`, 0, false and null win; flags are added up.
#[test]
fn free_documents_are_merged_deeply() {
    let whole = merged(&[
        "kubelet: {config: {a: {b: 1, c: [1, 2]}, d: x, e: 5, f: true, g: {h: 1}, i: 1}, flags: [--a]}",
        "kubelet: {config: {a: {c: [3]}, d: '', e: 0, f: false, g: null, i: {j: 1}, k: {}}, flags: [--b]}",
    ]);
    let expected = json!({
        "a": {"b": 1, "c": [3]}, "d": "", "e": 0, "f": false, "g": null, "i": {"j": 1}, "k": {}
    });
    assert_eq!(serde_json::Value::from(whole.kubelet.config), expected);
    assert_eq!(whole.kubelet.flags, ["--a", "--b"]);
}

#[test]
fn the_whole_needs_four_things_and_an_id_on_an_outpost() {
    let whole = Place::new("node.yaml", Span::point(1, 1));
    let codes = |config: &NodeConfig| check(config, &whole).len();
    assert_eq!(codes(&NodeConfig::default()), 4);
    let good = "cluster: {name: c, apiServerEndpoint: e, certificateAuthority: '', cidr: 'fd00::/108'}";
    assert_eq!(codes(&config(good)), 0);
    assert_eq!(codes(&merged(&[good, "cluster: {enableOutpost: true}"])), 1);
    assert_eq!(codes(&merged(&[good, "cluster: {cidr: 10.0.0.0}"])), 1);
    assert_eq!(codes(&merged(&[good, "cluster: {cidr: 10.0.0.0/33}"])), 1);
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn user_data_is_taken_apart_whatever_it_is_wrapped_in() {
    let text = spec("cluster: {name: a}");
    let packed = BASE64_STANDARD.encode(gzip(text.as_bytes()));
    let message = format!(
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary=\"//\"\r\n\r\n--//\r\n\
         Content-Type: application/node.eks.aws\r\n\r\n{text}\r\n--//\r\n\
         Content-Type: text/x-shellscript; charset=\"us-ascii\"\r\n\r\n#!/bin/sh\r\n--//\r\n\
         Content-Type: application/node.eks.aws; charset=utf-8\r\n\
         Content-Disposition: attachment; filename=\"two.yaml\"\r\n\r\n{packed}\r\n--//--\r\n"
    );
    let parts = [("u#part-001".to_owned(), text.clone()), ("u#two.yaml".to_owned(), text.clone())];
    for bytes in [
        message.clone().into_bytes(),
        gzip(message.as_bytes()),
        BASE64_STANDARD.encode(&message).into_bytes(),
        BASE64_STANDARD.encode(gzip(message.as_bytes())).into_bytes(),
    ] {
        let unpacked = unpack("u", &bytes);
        assert!(unpacked.findings.is_empty());
        assert_eq!(unpacked.texts, parts);
    }
    let bare = unpack("u", packed.as_bytes());
    assert_eq!(bare.texts, [("u".to_owned(), text)]);
}

#[test]
fn what_cannot_be_taken_apart_is_told() {
    let kind = "Content-Type: multipart/mixed; boundary=b\n\n";
    for text in [
        "Content-Type: multipart/mixed\n\n".to_owned(),
        format!("{kind}--b\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n"),
        format!("{kind}--b\nContent-Type: text/cloud-config\n\na: 1\n--b--\n"),
        // Go's reader refuses a boundary of such letters without quotes.
        format!("{kind}--b\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n--b--\n")
            .replace("boundary=b", "boundary=//")
            .replace("--b", "--//"),
    ] {
        let unpacked = unpack("u", text.as_bytes());
        assert_eq!(told(&unpacked.findings), [(Severity::Error, "nodeconfig/source", 1)], "{text}");
    }
    let mut cut = gzip(b"apiVersion: node.eks.aws/v1alpha1");
    cut.truncate(20);
    assert_eq!(told(&unpack("u", &cut).findings), [(Severity::Error, "nodeconfig/source", 1)]);
}

proptest! {
    #[test]
    fn any_bytes_end_in_texts_or_findings(bytes in any::<Vec<u8>>(), head in "(Content-Type: multipart/mixed; boundary=b\n\n)?(--b\n)?") {
        let bytes = [head.into_bytes(), bytes].concat();
        let unpacked = unpack("u", &bytes);
        assert!(!unpacked.texts.is_empty() || unpacked.findings.has_errors());
    }

    #[test]
    fn any_text_ends_in_a_node_config_or_findings(text in "[a-z:{}\\[\\]\\-,&*<|>\"' \n]{0,80}") {
        let (configs, findings) = read("n", &spec(&text));
        assert!(!configs.is_empty() || findings.has_errors());
    }
}
