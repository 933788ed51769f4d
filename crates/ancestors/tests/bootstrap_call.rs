//! Flags of a call of `bootstrap.sh` that hang on the runtime or the region, and what stands around the call in a message.

mod support;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::Severity;
use serde_json::json;

const HEAD: &str = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca CERTIFICATE --service-ipv4-cidr 10.100.0.0/16";

fn more(version: &str) -> String {
    format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {{kubernetes: {{version: '{version}'}}, aws: {{region: us-west-2}}}}\n"
    )
}

fn certificate() -> String {
    let example = include_str!("../../../examples/eks-flavour/cluster.yaml");
    let lines = example.lines().map(str::trim);
    let from = lines.skip_while(|line| !line.starts_with("-----BEGIN"));
    let body: Vec<&str> = from.take_while(|line| !line.starts_with("-----END")).collect();
    BASE64_STANDARD.encode(format!("{}\n-----END CERTIFICATE-----\n", body.join("\n")))
}

fn read(text: &str, version: &str) -> bringup_ancestors::Read {
    let text = text.replace("CERTIFICATE", &certificate());
    let read = support::read(&[("user-data", &text), ("more.yaml", &more(version))]);
    assert_eq!(support::told(&read, Severity::Error), Vec::<String>::new());
    read
}

/// `bootstrap.sh` writes `bridge` and `live-restore` for docker, and only warns with containerd.
#[test]
fn dockers_bridge_is_dockers_alone() {
    let with = |runtime: &str| format!("{HEAD} --container-runtime {runtime} --enable-docker-bridge true\n");
    let docker = read(&with("dockerd"), "1.22");
    assert_eq!(
        support::value(&docker, "spec/nodeGroups/0/runtime/dockerConfig"),
        json!({"bridge": "docker0", "live-restore": false})
    );
    assert_eq!(support::told(&docker, Severity::Warning), Vec::<String>::new());
    let containerd = read(&with("containerd"), "1.32");
    assert_eq!(support::told(&containerd, Severity::Warning), Vec::<String>::new());
    let told = support::told(&containerd, Severity::Note);
    assert!(
        told.iter().any(|told| told.contains("`--enable-docker-bridge` of the call counts for nothing")),
        "{told:?}"
    );
}

/// The image is `ACCOUNT.dkr.ecr.REGION.DOMAIN/eks/pause:VERSION`.
#[test]
fn the_pause_container_is_the_one_of_the_call() {
    let account = read(
        &format!("{HEAD} --pause-container-account 123456789012 --pause-container-version 3.9\n"),
        "1.32",
    );
    let image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.9";
    assert_eq!(support::value(&account, "spec/nodeGroups/0/runtime/sandboxImage"), json!(image));
    assert_eq!(support::told(&account, Severity::Warning), Vec::<String>::new());
    // The region is not in the call: the account alone is taken over.
    let named =
        read("#!/bin/bash\n/etc/eks/bootstrap.sh demo --pause-container-account 123456789012\n", "1.32");
    assert_eq!(support::value(&named, "spec/aws/registryAccount"), json!("123456789012"));
    let version = read(&format!("{HEAD} --pause-container-version 3.9\n"), "1.32");
    let told = support::told(&version, Severity::Warning);
    assert!(matches!(told.as_slice(), [told] if told.contains("`--pause-container-version`")), "{told:?}");
}

/// cloud-init takes a part that is no more than a text by its beginning, in its place.
#[test]
fn scripts_that_say_they_are_texts_keep_their_place() {
    let part = |kind: &str, body: &str| format!("--//\nContent-Type: {kind}\n\n{body}\n");
    let text = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n{}{}{}--//--\n",
        part("text/plain", "#!/bin/bash\ntouch /first"),
        part("text/x-shellscript", HEAD),
        part("text/plain", "#!/bin/bash\ntouch /last"),
    );
    let read = read(&text, "1.32");
    let steps = support::value(&read, "spec/nodeGroups/0/steps");
    let side = |index: usize| {
        (steps[index]["script"].clone(), steps[index]["before"].clone(), steps[index]["after"].clone())
    };
    assert_eq!(side(0), (json!("#!/bin/bash\ntouch /first"), json!(["runtime"]), json!(["pre-install"])));
    assert_eq!(side(1), (json!("#!/bin/bash\ntouch /last"), serde_json::Value::Null, json!(["kubelet"])));
}

/// The plan writes containerd's configuration anew: what a script changes there before the call is lost, behind it is not.
#[test]
fn files_that_the_plan_writes_afterwards_are_named() {
    let change = "sed -i s/a/b/ /etc/containerd/config.toml";
    let told = |text: &str| support::told(&read(text, "1.32"), Severity::Warning);
    let call = HEAD.trim_start_matches("#!/bin/bash\n");
    let before = told(&format!("#!/bin/bash\n{change}\n{call}\n"));
    assert!(
        matches!(before.as_slice(), [told] if told.starts_with("user-data:2:1 ancestor/field-differs") && told.contains("`/etc/containerd/config.toml`")),
        "{before:?}"
    );
    assert_eq!(told(&format!("#!/bin/bash\n{call}\n{change}\n")), Vec::<String>::new());
}

/// The refusal names what stands there, and not a call that is none.
#[test]
fn what_else_is_done_with_the_script_is_refused_by_its_name() {
    let told = |text: &str| {
        let read = support::read(&[("user-data", text), ("more.yaml", &more("1.32"))]);
        support::told(&read, Severity::Error)
    };
    assert_eq!(
        told("#!/bin/bash\nsed -i s/a/b/ /etc/eks/bootstrap.sh\n"),
        [
            "user-data:2:1 ancestor/field-refused `sed -i s/a/b/ /etc/eks/bootstrap.sh` does something else with `/etc/eks/bootstrap.sh` than call it, and the plan does not run that script"
        ]
    );
    assert_eq!(
        told("#!/bin/bash\nfor i in 1 2; do\n  /etc/eks/bootstrap.sh demo && break\ndone\n"),
        [
            "user-data:3:1 ancestor/field-refused the call of `/etc/eks/bootstrap.sh` cannot be read beforehand: it stands in a loop; the agent tries again by itself where joining fails"
        ]
    );
}

/// kubelet is told the machine's IPv6 address where the cluster's ranges are of that family; a local cluster is joined by its id.
#[test]
fn flags_of_the_network_are_carried_out_or_told() {
    let call = |flags: &str| format!("#!/bin/bash\n/etc/eks/bootstrap.sh demo {flags}\n");
    let warnings = |flags: &str| support::told(&read(&call(flags), "1.32"), Severity::Warning);
    let told = warnings("--ip-family ipv6");
    assert!(
        matches!(told.as_slice(), [one] if one.contains("`--ip-family ipv6` of the call is not enough")),
        "{told:?}"
    );
    for flags in [
        "--ip-family ipv6 --service-ipv6-cidr fd00:10::/108",
        "--ip-family ipv6 --dns-cluster-ip fd00:10::a",
        "--ip-family ipv4",
    ] {
        assert_eq!(warnings(flags), Vec::<String>::new(), "{flags}");
    }
    let ranges = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}, network: {serviceRanges: ['fd00:10::/108']}}\n";
    let said = support::read(&[("user-data", &call("--ip-family ipv6")), ("more.yaml", ranges)]);
    assert_eq!(support::told(&said, Severity::Warning), Vec::<String>::new());
    let notes =
        support::told(&read(&call("--cluster-id x --aws-api-retry-attempts 9"), "1.32"), Severity::Note);
    for flag in ["--cluster-id", "--aws-api-retry-attempts"] {
        assert!(
            notes.iter().any(|note| note.contains(&format!("`{flag}` of the call counts for nothing"))),
            "{notes:?}"
        );
    }
}

/// `bootstrap.sh` has a file system for BPF mounted, which systemd 219 does not by itself.
#[test]
fn a_file_system_for_bpf_is_mounted_unless_the_call_says_otherwise() {
    let units =
        |flags: &str| support::value(&read(&format!("{HEAD} {flags}\n"), "1.32"), "spec/nodeGroups/0/units");
    let unit = &units("")[0];
    assert_eq!((&unit["name"], &unit["enabled"]), (&json!("sys-fs-bpf.mount"), &json!(true)));
    let content = unit["content"].as_str().unwrap();
    assert!(content.contains("Where=/sys/fs/bpf\nType=bpf\n"), "{content}");
    assert_eq!(units("--mount-bpf-fs false"), json!(null));
}

/// The image's configuration of containerd imports what is in `/etc/containerd/config.d`, where scripts leave files.
#[test]
fn containerd_takes_more_from_where_the_image_has_it() {
    let imports = |text: &str| {
        let read = read(text, "1.32");
        let plan = bringup_plan::compile(&read.documents[0], 0, &bringup_plan::LocalFiles::default()).plan;
        plan.expect("a plan").to_json().contains("imports = [\\\"/etc/containerd/config.d/*.toml\\\"]")
    };
    assert!(imports(&format!("{HEAD}\n")));
}
