//! What is no YAML, no document of ours, or a secret in the clear.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use bringup_diag::{Colour, Findings, Severity, Sources, to_json, to_sarif, to_text};

const HEAD: &str = r#"apiVersion: bringup.dev/v1alpha1
kind: Cluster
metadata:
  name: demo
spec:
  kubernetes:
    version: "1.33"
  join:
    method: bootstrap-token
  nodeGroups:
    - name: gpu
      os: ubuntu
"#;

fn findings(text: &str) -> Findings {
    bringup_spec::read("a.yaml", text).findings
}

/// Line, column, message and hint of the only finding.
fn only(text: &str) -> (u32, u32, String, String) {
    let findings = findings(text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = findings.iter().next().unwrap();
    let start = finding.place.as_ref().unwrap().span.start;
    (start.line, start.column, finding.message.clone(), finding.hint.clone().unwrap_or_default())
}

#[test]
fn a_number_of_pods_that_is_worked_out_has_a_mapping() {
    for word in ["auto", "\"auto\"", "many", "[prefixDelegation]"] {
        let (line, column, message, hint) = only(&format!("{HEAD}      maxPods: {word}\n"));
        assert_eq!((line, column), (13, 16), "{word}");
        assert_eq!(message, "a whole number or a mapping is expected here", "{word}");
        assert_eq!(
            hint,
            "write a number such as 110, or `{prefixDelegation: true}` or `{}` to have it worked out from the instance type",
            "{word}"
        );
    }
    let (.., hint) = only(&format!("{HEAD}      maxPods: \"110\"\n"));
    assert_eq!(hint, "write 110 without quotes");
}

#[test]
fn what_is_no_yaml_is_told_in_words_that_help() {
    let cases = [
        ("a: @{zone}\n", 1, 4, "a value cannot begin with `@` unless it is in quotes", "write \"@{zone}\""),
        ("a: `x`\n", 1, 4, "a value cannot begin with a backtick", "write \"`x`\""),
        ("a: b: c\n", 1, 5, "a `: ` stands where no key can be", "in quotes"),
        ("a:b\nc: d\n", 2, 2, "a `: ` stands where no key can be", "missing space"),
        ("a: *x\n", 1, 4, "this alias names no anchor", "in quotes"),
        ("a: \"x\nb: c\n", 1, 4, "this quote is never closed", "close it"),
        ("a: 'it's'\n", 1, 8, "text follows the closing quote", "`''` for `'`"),
        ("a: \"C:\\Windows\"\n", 1, 4, "an escape in this string is not known", "single quotes"),
        ("a: - b\n", 1, 4, "a list cannot begin here", "on a line of its own"),
        (" a: b\nc: d\n", 2, 1, "this line does not fit the indentation around it", "siblings"),
        ("a: {b: c\nd: e\n", 2, 2, "this `{` or `[` is never closed", "comma"),
        ("a: 1\nlonely\n", 2, 1, "a key without a value", "`key: value`"),
        ("a:\n\tb: c\n", 2, 1, "a tab in the indentation", "spaces"),
        ("a: x\u{0}y\n", 1, 5, "a character that YAML does not allow", "UTF-8"),
    ];
    for (text, line, column, message, hint) in cases {
        let told = only(text);
        assert_eq!((told.0, told.1), (line, column), "{text:?} {told:?}");
        assert!(told.2.starts_with(message), "{text:?} {told:?}");
        assert!(told.3.contains(hint), "{text:?} {told:?}");
    }
}

#[test]
fn bombs_are_refused() {
    let mut text = String::from("a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\n");
    for letter in 'b'..='i' {
        let before = char::from(u8::try_from(letter).unwrap() - 1);
        let items = vec![format!("*{before}"); 10].join(", ");
        writeln!(text, "{letter}: &{letter} [{items}]").unwrap();
    }
    assert!(only(&text).2.contains("aliases"));
    assert!(only(&format!("{}{}", "[".repeat(200), "]".repeat(200))).2.contains("nested deeper"));
}

#[test]
fn a_document_of_another_kind_is_named() {
    let cases = [
        ("", 1, 1, "there is no document in this file", "bringup init"),
        ("# only a comment\n", 1, 1, "there is no document in this file", "bringup init"),
        ("- a\n", 1, 1, "a document is a mapping", "apiVersion"),
        ("kind: Cluster\n", 1, 1, "the document has no `apiVersion`", "bringup.dev/v1alpha1"),
        ("apiVersion: bringup.dev/v1alpha1\n", 1, 1, "the document has no `kind`", "kind: Cluster"),
        ("apiVersion: bringup.dev/v1alpha1\nkind:\n", 1, 1, "the document has no `kind`", "kind: Cluster"),
        (
            "apiVersion: bringup.dev/v1alpha1\nkind: cluster\n",
            2,
            7,
            "`kind: cluster` is not known",
            "did you mean `Cluster`?",
        ),
        (
            "apiVersion: bringup.dev/v2\nkind: Cluster\n",
            1,
            13,
            "this version does not know the format `bringup.dev/v2`",
            "v1alpha1",
        ),
        ("apiVersion: v1\nkind: ConfigMap\n", 1, 13, "`apiVersion: v1` is not known", "bringup.dev/v1alpha1"),
        (
            "kind: ClusterConfig\napiVersion: eksctl.io/v1alpha5\n",
            2,
            13,
            "`ClusterConfig` of eksctl is not understood by this version",
            "bringup init",
        ),
        (
            "apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\n",
            1,
            13,
            "`InstanceGroup` of kops is not understood by this version",
            "bringup init",
        ),
        (
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n",
            1,
            13,
            "`NodeConfig` of the EKS node agent is not understood",
            "bringup init",
        ),
        (
            "apiVersion: platform.tkestack.io/v1\nkind: Machine\n",
            1,
            13,
            "`Machine` of tkestack is not understood",
            "bringup init",
        ),
        (
            "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
            1,
            13,
            "`KubeletConfiguration` of kubelet",
            "spec.nodeGroups[].kubelet.config",
        ),
        ("#!/bin/sh\necho: hi\n", 1, 1, "this is a script that joins no cluster", "bringup inspect"),
        ("<powershell>\n$x = 1\n", 1, 1, "this is user-data of Windows", "EKS' images"),
        (
            "# ours\n\n[settings.kubernetes]\n\"cluster-name\" = \"x\"\n",
            1,
            1,
            "these are settings of Bottlerocket",
            "bringup inspect",
        ),
        ("\nMIME-Version: 1.0\nx\n", 1, 1, "this is a MIME message that joins no cluster", "bringup inspect"),
        ("#cloud-config\nruncmd: [x]\n", 2, 1, "this is a cloud-config, not a document", "bringup inspect"),
        (
            "{\"ignition\": {\"version\": \"3.3.0\"}}",
            1,
            1,
            "this is an Ignition config, not a document",
            "bringup inspect",
        ),
    ];
    for (text, line, column, message, hint) in cases {
        let told = only(text);
        assert_eq!((told.0, told.1), (line, column), "{text:?} {told:?}");
        assert!(told.2.starts_with(message), "{text:?} {told:?}");
        assert!(told.3.contains(hint), "{text:?} {told:?}");
    }
}

#[test]
fn a_document_beside_one_of_another_kind_is_still_read() {
    let read = bringup_spec::read("a.yaml", &format!("{HEAD}---\napiVersion: v1\nkind: Secret\n"));
    assert_eq!(read.documents.len(), 1);
    assert_eq!(read.findings.count(Severity::Error), 1);
}

/// Every way in which a secret can be written where a reference belongs, and none of them shown in any output.
#[test]
fn a_secret_is_refused_and_never_repeated() {
    let machine = "  machines:\n    - nodeGroup: gpu\n      address: a\n";
    let join =
        |token: &str| HEAD.replace("bootstrap-token\n", &format!("bootstrap-token\n    token: {token}\n"));
    let cases = [
        join("hunter2"),
        join("\"hunter2\""),
        join("|\n      hunter2"),
        join("\n      hunter2"),
        join("[hunter2]"),
        join("\n      - hunter2"),
        join("{value: hunter2}"),
        join("{fiel: hunter2}"),
        join("\n      value: hunter2"),
        join("!x hunter2"),
        format!("{HEAD}{machine}      password: hunter2\n"),
        format!("{HEAD}{machine}      password: \"hunter2\" hunter2\n"),
        format!(
            "{HEAD}      steps: [{{name: a, environment: {{DB_PASSWORD: hunter2, API_TOKEN: \"@{{hunter2\"}}}}]\n"
        ),
        format!("{HEAD}      labels: {{password: [hunter2]}}\n"),
    ];
    for text in cases {
        let findings = findings(&text);
        assert!(!findings.is_empty(), "{text}");
        let mut sources = Sources::new();
        sources.add("a.yaml", &text);
        for shown in [
            to_text(&findings, &sources, Colour::Never),
            to_json(&findings).to_string(),
            to_sarif(&findings, "0").to_string(),
        ] {
            assert!(!shown.contains("hunter2"), "{text}\n{shown}");
        }
    }
}

#[test]
fn a_number_under_a_secret_key_is_not_repeated() {
    let text = format!("{HEAD}      kubelet: {{environment: {{DB_PASSWORD: 918273645}}}}\n");
    let findings = findings(&text);
    assert!(findings.has_errors());
    assert!(!to_json(&findings).to_string().contains("918273645"), "{findings:?}");
}

#[test]
fn a_plain_secret_hears_how_to_refer_to_it() {
    let text = HEAD.replace("bootstrap-token\n", "bootstrap-token\n    token: hunter2\n");
    let (line, column, message, hint) = only(&text);
    assert_eq!((line, column), (10, 12));
    assert_eq!(message, "a reference to a secret is expected here, not the secret itself");
    assert!(hint.contains("`{file: /run/token}`"), "{hint}");
    let text = text.replace("hunter2", "");
    assert_eq!(only(&text).2, "a reference to a secret is expected here");
}

#[test]
fn a_private_key_in_the_clear_is_a_warning() {
    let key =
        "-----BEGIN EC PRIVATE KEY-----\n            MHcCAQEE\n            -----END EC PRIVATE KEY-----\n";
    let text = format!(
        "{HEAD}      files:\n        - path: /etc/tls.key\n          content: |\n            # mine\n            {key}"
    );
    let read = bringup_spec::read("a.yaml", &text);
    assert_eq!(read.documents.len(), 1);
    let (line, column, message, hint) = only(&text);
    assert_eq!((line, column, message.as_str()), (17, 13, "a private key stands in the clear"));
    assert!(hint.starts_with("write `secret:`"), "{hint}");
    let finding = read.findings.iter().next().unwrap();
    assert_eq!((finding.code.name, finding.severity), ("document/secret-in-clear", Severity::Warning));
    let mut sources = Sources::new();
    sources.add("a.yaml", &text);
    assert!(!to_text(&read.findings, &sources, Colour::Never).contains("MHcC"));
    // The same in base64: printf -- '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n' | base64 -w0
    let packed = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUUKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=";
    let text = format!("{HEAD}      files:\n        - {{path: /a, encoding: base64, content: {packed}}}\n");
    assert_eq!(only(&text).2, "a private key stands in the clear");
}

#[test]
fn a_private_key_for_a_certificate_is_refused_once() {
    let authority = "  api:\n    endpoint: https://x\n    certificateAuthority: |\n      -----BEGIN PRIVATE KEY-----\n      MIIE\n      -----END PRIVATE KEY-----\n";
    let (line, column, message, _) = only(&format!("{HEAD}{authority}"));
    assert_eq!((line, column, message.as_str()), (16, 7, "this holds a private key"));
}

#[test]
fn a_secret_in_the_environment_is_a_warning() {
    let text = format!(
        "{HEAD}      kubelet:\n        environment:\n          HTTP_TOKEN: abc\n          TOKEN_FILE: /run/x\n"
    );
    let told = only(&text);
    assert_eq!((told.0, told.1, told.2.as_str()), (15, 11, "the value of `HTTP_TOKEN` stands in the clear"));
}

#[test]
fn merge_keys_are_told_wherever_they_stand() {
    let text = "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {name: demo}\nspec:\n  kubernetes: {version: \"1.33\"}\n  join: {method: kubeconfig}\n  nodeGroups:\n    - name: a\n      os: debian\n      labels: &l {a: b}\n    - name: b\n      os: debian\n      labels: {<<: *l, c: d}\n      kubelet: {config: {evictionHard: {<<: *l}}}\n";
    let read = bringup_spec::read("f", text);
    let told: Vec<&str> = read.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(told, ["merge keys are not supported: `<<` is no part of YAML 1.2"; 2]);
}
