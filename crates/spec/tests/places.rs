//! Each fault of a document is told with its place, counted by hand, and with what to write instead.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use bringup_diag::Finding;

/// Twelve lines, so that what a test adds begins at line 13, inside of the node group.
const HEAD: &str = r#"apiVersion: bringup.dev/v1alpha1
kind: Cluster
metadata:
  name: demo
spec:
  kubernetes:
    version: "1.33"
  join:
    method: eks-token
  nodeGroups:
    - name: gpu
      os: ubuntu
"#;

fn told(finding: &Finding) -> String {
    let span = finding.place.as_ref().unwrap().span;
    let (start, end) = (span.start, span.end);
    let width = if start.line == end.line {
        format!("{}:{}-{}", start.line, start.column, end.column)
    } else {
        format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
    };
    let hint = finding.hint.as_deref().unwrap_or("(none)");
    format!("{width} {} {}: {} => {hint}", finding.severity.word(), finding.code.name, finding.message)
}

fn all(text: &str) -> Vec<String> {
    bringup_spec::read("a.yaml", text).findings.iter().map(told).collect()
}

/// What is told about lines that are added to the node group, from line 13 on.
fn group(lines: &str) -> Vec<String> {
    all(&format!("{HEAD}{lines}"))
}

/// What is told if a line of the head is written otherwise.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(HEAD.contains(from), "{from}");
    all(&HEAD.replacen(from, to, 1))
}

#[test]
fn a_small_document_is_good() {
    assert_eq!(all(HEAD), [""; 0]);
}

#[test]
fn all_faults_of_a_document_are_told_in_one_run() {
    let lines = "      labels: [a]\n      maxPods: many\n      files:\n        - path: etc/x\n          mode: 644\n        - path: /etc/y\n          colour: red\n";
    let mut text = HEAD.replace("name: demo", "name: Demo_1").replace("eks-token", "eks");
    text.push_str(lines);
    assert_eq!(
        all(&text),
        [
            "4:9-15 error document/wrong-value: `Demo_1` is no name: lower-case letters, digits and `-`, at most 63 => write `demo-1`",
            "9:13-16 error document/wrong-value: `eks` is no way to join => write one of `eks-token`, `bootstrap-token`, `kubeconfig`, `kubeadm`",
            "13:15-18 error document/wrong-type: a mapping is expected here => write lines of `key: value`",
            "14:16-20 error document/wrong-type: a whole number or a mapping is expected here => write a number such as 110, or `{prefixDelegation: true}` or `{}` to have it worked out from the instance type",
            "16:17-22 error document/wrong-value: `etc/x` is no path on the node => write `/etc/x`",
            "17:17-20 error document/wrong-value: `644` does not look like an octal mode => write \"0644\"",
            "19:11-17 error document/unknown-key: unknown key `colour` in a file => known keys are `path`, `content`, `encoding`, `src`, `urls`, `sha256`, `secret`, `mode`, `owner`",
        ]
    );
}

#[test]
fn a_missing_key_is_told_at_the_head_of_its_mapping() {
    assert_eq!(
        changed("    version: \"1.33\"\n", "    {}\n"),
        ["7:5-7 error document/missing-key: `kubernetes` has no `version` => add `version:`"]
    );
    // The value of `kubernetes` is nothing at all: its key is all there is to point at.
    assert_eq!(
        changed("    version: \"1.33\"\n", ""),
        ["6:3-13 error document/missing-key: `kubernetes` has no `version` => add `version:`"]
    );
    assert_eq!(
        changed("      os: ubuntu\n", ""),
        ["11:7-11 error document/missing-key: a node group has no `os` => add `os:`"]
    );
}

#[test]
fn nothing_is_an_empty_list_or_mapping_but_no_value() {
    assert_eq!(group("      labels:\n      files: ~\n      kubelet:\n      taints: null\n"), [""; 0]);
    assert_eq!(
        group("      role:\n      agent:\n      instanceTypes:\n        -\n"),
        [
            "13:7-11 error document/wrong-type: a role is expected here, not nothing => write one of `worker`, `control-plane`",
            "14:7-12 error document/wrong-type: a way for the agent to arrive is expected here, not nothing => write one of `image`, `fetch`, `none`",
            "16:10-10 error document/wrong-type: a value is expected here, not nothing => write a value, or remove the key",
        ]
    );
}

#[test]
fn an_unknown_key_hears_where_it_belongs() {
    let hint = |key: &str, place: &str| {
        let told = match place {
            "top" => all(&format!("{key}: x\n{HEAD}")),
            "spec" => changed("  join:\n", &format!("  {key}: x\n  join:\n")),
            _ => group(&format!("      {key}: x\n")),
        };
        assert_eq!(told.len(), 1, "{told:?}");
        told[0].split(" => ").nth(1).unwrap().to_owned()
    };
    assert_eq!(hint("Labels", "group"), "did you mean `labels`?");
    assert_eq!(hint("instance-types", "group"), "did you mean `instanceTypes`?");
    assert_eq!(hint("tiants", "group"), "did you mean `taints`?");
    assert_eq!(hint("labels", "spec"), "`labels` belongs under `metadata` or under `spec.nodeGroups[]`");
    assert_eq!(hint("podRanges", "group"), "`podRanges` belongs under `spec.network`");
    assert_eq!(hint("nodeGroups", "top"), "`nodeGroups` belongs under `spec`");
    assert_eq!(hint("nodegroups", "top"), "did you mean `nodeGroups`? it belongs under `spec`");
    assert_eq!(hint("hopLimit", "group"), "`hopLimit` belongs under `spec.nodeGroups[].launch.metadata`");
    assert_eq!(hint("kubeletExtraConfig", "group"), "write `kubelet.config`");
    let merged = "write the keys themselves; an alias may stand for a whole value, as in `labels: *common`";
    assert_eq!(hint("<<", "group"), merged);
    assert_eq!(hint("banana", "top"), "known keys are `apiVersion`, `kind`, `metadata`, `spec`");
}

#[test]
fn a_key_that_stands_twice_is_told_with_both_places() {
    let read = bringup_spec::read("a.yaml", &format!("{HEAD}      role: worker\n      os: debian\n"));
    let findings: Vec<&Finding> = read.findings.iter().collect();
    assert_eq!(findings.len(), 1);
    assert!(
        told(findings[0]).starts_with("14:7-9 error document/duplicate-key: the key `os` stands twice => ")
    );
    assert_eq!(findings[0].related[0].0.span.start.line, 12);
    // Also inside of what others define.
    let config = group("      kubelet:\n        config:\n          a: {b: 1, b: 2}\n");
    assert!(config[0].starts_with("15:21-22 error document/duplicate-key"), "{config:?}");
}

#[test]
fn quotes_are_asked_for_where_other_readers_would_lose_something() {
    assert_eq!(
        changed("\"1.33\"", "1.30"),
        [
            "7:14-18 error document/wrong-type: a string is expected here; `1.30` without quotes is a number => write \"1.30\""
        ]
    );
    assert_eq!(
        group("      files:\n        - {path: /a, mode: 0644}\n        - {path: /b, mode: \"0644\"}\n"),
        [
            "14:28-32 error document/wrong-type: a string is expected here; `0644` without quotes is a number => write \"0644\""
        ]
    );
    assert_eq!(
        group("      labels:\n        a: yes\n        b: \"yes\"\n        c: true\n        d: 2020-01-02\n"),
        [
            "14:12-15 note document/ambiguous-scalar: `yes` without quotes is a boolean to many readers of YAML => write \"yes\"",
            "16:12-16 error document/wrong-type: a string is expected here; `true` without quotes is a boolean => write \"true\"",
            "17:12-22 note document/ambiguous-scalar: `2020-01-02` without quotes is a date to many readers of YAML => write \"2020-01-02\"",
        ]
    );
    assert_eq!(
        group("      sysctls: {vm.swappiness: 10, net.ipv4.ip_forward: \"1\"}\n      swap: off\n"),
        [""; 0]
    );
    assert_eq!(
        group("      swap: false\n"),
        ["13:13-18 error document/wrong-value: `false` is no policy on swap => did you mean `off`?"]
    );
}

#[test]
fn types_are_told_with_what_to_write() {
    assert_eq!(
        group(
            "      instanceTypes: p4d.24xlarge\n      role: [worker]\n      labels: a=b\n      bootstrap: yes\n"
        ),
        [
            "13:22-34 error document/wrong-type: a list is expected here => write [\"p4d.24xlarge\"], or start each item on its own line with `- `",
            "14:13-21 error document/wrong-type: a role is a single word => write one of `worker`, `control-plane`",
            "15:15-18 error document/wrong-type: a mapping is expected here => write `a: b` on a line of its own",
            "16:18-21 error document/wrong-type: a boolean is expected here => write `true`, without quotes",
        ]
    );
    assert_eq!(
        group(
            "      maxPods: \"110\"\n      launch: {metadata: {hopLimit: 70000}}\n      swap: {sizeMiB: -1}\n"
        ),
        [
            "13:16-21 error document/wrong-type: a whole number is expected here => write 110 without quotes",
            "14:37-42 error document/wrong-value: `70000` is out of range => write a number from 0 to 65535",
            "15:23-25 error document/wrong-value: `-1` is out of range => write a number from 0 to 4294967295",
        ]
    );
    assert_eq!(
        group("      update: {timeout: 90}\n      reboot: {timeout: {}}\n"),
        [
            "13:25-27 error document/wrong-value: `90` is no length of time => write a number with a unit, such as `500ms`, `90s`, `5m` or `1h30m`",
            "14:25-27 error document/wrong-type: a single value is expected here => write it on the same line",
        ]
    );
    assert_eq!(
        group("      labels:\n        a: {{ zone }}\n"),
        ["14:12-22 error document/wrong-type: a string is expected here => write a single value"]
    );
}

#[test]
fn a_wrong_placeholder_is_told_at_its_own_column() {
    let literal = "for a literal `@{` write `@@{`";
    assert_eq!(
        group(
            "      labels:\n        a: é@{zoen}-@{zone}-@{regoin}\n        b: \"x\\\"@@{y}@{lifecicle}\"\n"
        ),
        [
            format!(
                "14:13-20 error document/placeholder: `zoen` names no fact of a node => did you mean `zone`? {literal}"
            ),
            format!(
                "14:29-38 error document/placeholder: `regoin` names no fact of a node => did you mean `region`? {literal}"
            ),
            format!(
                "15:21-33 error document/placeholder: `lifecicle` names no fact of a node => did you mean `lifecycle`? {literal}"
            ),
        ]
    );
    let content = "      files:\n        - path: /a\n          content: |\n            one\n            two @{zoen}\n\n              @{hostnam}\n        - path: /b\n          content: >\n            folded\n            @{\n";
    assert_eq!(
        group(content),
        [
            format!("17:17-24 error document/placeholder: `zoen` names no fact of a node => did you mean `zone`? {literal}"),
            format!("19:15-25 error document/placeholder: `hostnam` names no fact of a node => did you mean `hostname`? {literal}"),
            "23:13-15 error document/placeholder: this `@{` is never closed => close it with `}`, or write `@@{` for a literal `@{`".to_owned(),
        ]
    );
    // An escaped sign leaves no trace of the placeholder in the text: the whole value is meant.
    assert_eq!(
        group("      labels: {a: \"\\x40{zoen}\"}\n"),
        [format!(
            "13:19-31 error document/placeholder: `zoen` names no fact of a node => did you mean `zone`? {literal}"
        )]
    );
    assert_eq!(
        group("      bootstrap: {fact: zoen, equals: a}\n"),
        ["13:25-29 error document/placeholder: `zoen` names no fact of a node => did you mean `zone`?"]
    );
}

#[test]
fn tags_are_not_dropped_silently() {
    assert_eq!(
        group("      labels: {a: !!str 5, b: !Ref Zone}\n"),
        [
            "13:31-35 error document/tag: the tag `!Ref` is not known => remove the tag and write out the value"
        ]
    );
}

#[test]
fn places_count_in_the_file_across_marks_line_ends_and_documents() {
    let wrong = HEAD.replace("name: gpu", "name: GPU");
    let expected = |line: u32| {
        format!(
            "{line}:13-16 error document/wrong-value: `GPU` is no name: lower-case letters, digits and `-`, at most 63 => write `gpu`"
        )
    };
    assert_eq!(all(&wrong), [expected(11)]);
    assert_eq!(all(&format!("\u{feff}{wrong}")), [expected(11)]);
    assert_eq!(all(&wrong.replace('\n', "\r\n")), [expected(11)]);
    let two = format!("# two\n---\n{HEAD}---\n{}", wrong.replace("name: demo", "name: other"));
    let read = bringup_spec::read("a.yaml", &two);
    assert_eq!(read.documents.len(), 2, "what is meant is plain");
    assert_eq!(all(&two), [expected(2 + 12 + 1 + 11)]);
}

#[test]
fn json_has_places_too() {
    let text = "{\n\t\"apiVersion\": \"bringup.dev/v1alpha1\", \"kind\": \"Cluster\",\n\t\"metadata\": {\"name\": \"a\"},\n\t\"spec\": {\"kubernetes\": {\"version\": 1.33}, \"join\": {\"method\": \"kubeadm\"}, \"nodeGroup\": []}\n}\n";
    assert_eq!(
        all(text),
        [
            "4:37-41 error document/wrong-type: a string is expected here; `1.33` without quotes is a number => write \"1.33\"",
            "4:75-86 error document/unknown-key: unknown key `nodeGroup` in `spec` => did you mean `nodeGroups`?",
        ]
    );
}

#[test]
fn names_are_unique_and_references_lead_somewhere() {
    let lines = "    - name: gpu\n      os: debian\n  machines:\n    - nodeGroup: gpus\n      address: a\n    - nodeGroup: gpu\n      address: b\n      agent: true\n      password: {environment: P}\n    - {nodeGroup: gpu, address: b, agent: true, name: x}\n";
    let hint = "write one of `key: {file: PATH}`, `password: {environment: NAME}` and `agent: true`";
    assert_eq!(
        group(lines),
        [
            "13:13-16 error document/duplicate-name: there is a node group `gpu` already => give one of the two another name".to_owned(),
            "16:18-22 error document/dangling-reference: there is no node group `gpus` => did you mean `gpu`?".to_owned(),
            format!("17:16-17 error document/missing-key: nothing says how to log in to `a` => {hint}"),
            format!("20:7-12 error document/conflict: `password`, `agent` exclude each other => {hint}"),
            "22:33-34 error document/duplicate-name: there is a machine at `b:22` already => remove one of the two, or write the other machine's address".to_owned(),
        ]
    );
    let twice = all(&format!("{HEAD}---\n{HEAD}"));
    assert_eq!(
        twice,
        [
            "17:9-13 error document/duplicate-name: there is a cluster `demo` already => give one of the two another name"
        ]
    );
    let none = changed("    - name: gpu\n      os: ubuntu\n", "");
    assert_eq!(
        none,
        [
            "5:1-5 warning document/missing-key: there is no node group, so that there is nothing to build => add one to `spec.nodeGroups`"
        ]
    );
}
