//! Values of the right type that cannot be meant, whatever they are for.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

/// A document with `spec` lines and lines of its one group.
fn document(spec: &str, group: &str) -> String {
    let lines = |text: &str, by: usize| {
        let mut moved = String::new();
        for line in text.lines() {
            moved.extend([" ".repeat(by).as_str(), line, "\n"]);
        }
        moved
    };
    format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n  kubernetes: {{version: \"1.33\"}}\n  join: {{method: bootstrap-token}}\n{}  nodeGroups:\n    - name: gpu\n      os: ubuntu\n{}",
        lines(spec, 2),
        lines(group, 6)
    )
}

/// Line, column, message and hint of each finding.
fn told(text: &str) -> Vec<(u32, u32, String, String)> {
    let findings = bringup_spec::read("a.yaml", text).findings;
    findings
        .iter()
        .map(|finding| {
            let start = finding.place.as_ref().unwrap().span.start;
            (start.line, start.column, finding.message.clone(), finding.hint.clone().unwrap_or_default())
        })
        .collect()
}

/// Asserts that a group is refused with this message and hint, at this column of its last line.
fn refused(group: &str, column: u32, message: &str, hint: &str) {
    let text = document("", group);
    let line = u32::try_from(text.lines().count()).unwrap();
    assert_eq!(told(&text), [(line, column, message.to_owned(), hint.to_owned())], "{group}");
}

#[test]
fn a_text_that_says_nothing_is_no_value() {
    let optional = |key: &str| format!("write a value on one line, or remove `{key}`");
    refused("launch: {keyName: \"\"}", 25, "`keyName` is empty", &optional("keyName"));
    refused("launch: {keyName: \"  \"}", 25, "`keyName` is empty", &optional("keyName"));
    refused("files: [{path: /etc/a, src: \"\"}]", 35, "`src` is empty", &optional("src"));
    refused("parts: [{name: a, type: text/cloud-config, src: \"\"}]", 55, "`src` is empty", &optional("src"));
    refused(
        "parts: [{name: \"\", type: text/cloud-config, content: x}]",
        22,
        "`name` is empty",
        "write a value on one line",
    );
    refused(
        "runtime: {sandboxImage: \"a\\nb\"}",
        31,
        "`sandboxImage` has a line break or another control character in it",
        &optional("sandboxImage"),
    );
    refused("instanceTypes: [m5.large, \"\"]", 33, "this item is empty", "write a value, or remove the item");
    refused("labels: {\"\": a}", 16, "this key is empty", "write a name before the `:`");
}

#[test]
fn a_text_that_may_be_empty_or_have_lines_is_taken() {
    for group in [
        "taints: [{key: a, value: \"\", effect: NoSchedule}]",
        "labels: {a: \"\"}",
        "files: [{path: /etc/a, content: \"\"}]",
        "runtime: {config: \"\"}",
        "runtime:\n  config: |\n    version = 2\n    x = 1",
        "launch: {tags: {a: \"\"}}",
        "kubelet: {environment: {A: \"\"}, flags: {v: \"\"}}",
        "steps: [{name: a, run: [/bin/echo, \"\"]}]",
    ] {
        assert_eq!(told(&document("", group)), [], "{group}");
    }
}

#[test]
fn addresses_to_fetch_from_have_a_host() {
    let asset = |url: &str| {
        format!("assets: [{{name: a, sha256: {}, path: /opt/a, urls: [\"{url}\"]}}]", "ab".repeat(32))
    };
    for right in [
        "https://example.com/a",
        "https://example.com:8443/a?b#c",
        "http://10.0.0.1/a",
        "https://[fd00::a]:1/a",
        "https://user:word@example.com/a",
        "s3://bucket/key/more",
        "file:///opt/a",
    ] {
        assert_eq!(told(&document("", &asset(right))), [], "{right}");
    }
    for (wrong, message, hint) in [
        (
            "https:///a",
            "is no name of a host",
            "write a name of letters, digits, `-` and `.`, or an IP address",
        ),
        ("https://10.0.0.999/a", "is neither an IP address", "write four numbers from 0 to 255, or a name"),
        (
            "https://example.com:99999/a",
            "in this address, `99999` is no port",
            "write a number from 1 to 65535",
        ),
        ("https://fd00::a/x", "stands without brackets", "write `[fd00::a]`"),
        ("s3://bucket", "`s3://bucket` names no object in S3", "write `s3://BUCKET/KEY`"),
        ("ftp://example.com/a", "is no address to fetch from", "write one that starts with `https://`"),
    ] {
        let found = told(&document("", &asset(wrong)));
        assert_eq!(found.len(), 1, "{wrong} {found:?}");
        assert!(found[0].2.contains(message), "{wrong} {found:?}");
        assert!(found[0].3.starts_with(hint), "{wrong} {found:?}");
    }
}

#[test]
fn references_to_secrets_have_a_form() {
    let file = |secret: &str| document("", &format!("files: [{{path: /etc/a, secret: {{{secret}}}}}]"));
    for right in [
        "s3: s3://bucket/key",
        "environment: TOKEN_1",
        "ssmParameter: /a/b",
        "secretsManager: a/b-c",
        "file: /run/a",
    ] {
        assert_eq!(told(&file(right)), [], "{right}");
    }
    for (wrong, message, hint) in [
        ("s3: s3://", "this is no S3 address", "write `s3://BUCKET/KEY`"),
        ("s3: s3://bucket", "this is no S3 address", "write `s3://BUCKET/KEY`"),
        (
            "environment: $TOKEN",
            "this is no name of an environment variable",
            "write letters, digits and `_`, without a `$`",
        ),
        (
            "environment: 1A",
            "this is no name of an environment variable",
            "write letters, digits and `_`, without a `$`",
        ),
        ("ssmParameter: a b", "a name at AWS has no spaces", "write the name or the ARN"),
    ] {
        let found = told(&file(wrong));
        assert_eq!(found.len(), 1, "{wrong} {found:?}");
        assert_eq!((found[0].2.as_str(), found[0].3.as_str()), (message, hint), "{wrong}");
    }
}

#[test]
fn paths_modes_and_modules_are_ones_that_linux_takes() {
    let long = format!("files: [{{path: /{}, content: a}}]", "a".repeat(256));
    let found = told(&document("", &long));
    assert!(found[0].2.ends_with("is longer than Linux allows"), "{found:?}");
    refused(
        "files: [{path: /etc/a, content: a, mode: 420}]",
        48,
        "`420` does not look like an octal mode",
        "write \"0420\", or \"0644\" if that is a decimal number",
    );
    refused(
        "kernelModules: [/lib/br_netfilter.ko.xz]",
        23,
        "`/lib/br_netfilter.ko.xz` is no kernel module",
        "write `br_netfilter`",
    );
    refused(
        "kernelModules: [\".ko\"]",
        23,
        "`.ko` is no kernel module",
        "write a name such as `br_netfilter`",
    );
    let long = format!("kernelModules: [{}]", "a".repeat(56));
    assert_eq!(told(&document("", &long)).len(), 1);
    refused(
        "sysctls: {vm.swappiness: \" \"}",
        32,
        "a kernel setting needs a value on one line",
        "write a number or a word",
    );
}

#[test]
fn a_placeholder_in_a_field_of_kubelets_is_told_where_it_stands() {
    refused(
        "kubelet: {config: {providerID: \"aws:///@{zoen}/@{instanceId}\"}}",
        46,
        "`zoen` names no fact of a node",
        "did you mean `zone`? for a literal `@{` write `@@{`",
    );
}
