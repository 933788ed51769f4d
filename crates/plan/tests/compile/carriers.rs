//! What the machines of a group cannot read, write or run.

use bringup_diag::Severity;
use bringup_plan::{Action, InstallSource};

use crate::support::{codes, eks_with, only, plain, plan, step};

/// The codes of a group of this system with this carrier, on AWS with EKS' token or elsewhere with another.
fn of(system: &str, carrier: &str, on_aws: bool) -> Vec<&'static str> {
    let group = format!("carriers: [{carrier}]");
    if on_aws {
        codes(&eks_with("1.33", "", &format!("os: {system}\n{group}")))
    } else {
        codes(&plain_on("1.33", system, &group))
    }
}

/// A group outside AWS with another system than `plain` has.
fn plain_on(version: &str, system: &str, group: &str) -> bringup_spec::Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://api.example.com:6443, certificateAuthority: {}}}\n\
         join: {{method: bootstrap-token, token: {{file: /etc/token}}}}\nnetwork: {{serviceRanges: [10.96.0.0/16]}}\n",
        crate::support::AUTHORITY
    );
    crate::support::cluster(&spec, &format!("os: {system}\n{group}"))
}

const SYSTEMS: [&str; 6] = ["amazon-linux-2", "amazon-linux-2023", "ubuntu", "debian", "flatcar", "generic"];

#[test]
fn each_system_reads_its_own_carriers() {
    let refused = vec!["carrier/not-read"];
    for system in SYSTEMS {
        let has_ignition = matches!(system, "flatcar" | "generic");
        for carrier in ["cloud-init", "multipart"] {
            let expected = if system == "flatcar" { refused.clone() } else { Vec::new() };
            assert_eq!(of(system, carrier, false), expected, "{system} {carrier}");
        }
        let expected = if has_ignition { Vec::new() } else { refused.clone() };
        assert_eq!(of(system, "ignition", false), expected, "{system}");
        assert_eq!(of(system, "bundle", false), Vec::<&str>::new(), "{system}");
        // Where there is neither EC2 nor EKS, no agent of EKS' has anything to read.
        assert_eq!(of(system, "nodeconfig", false), refused, "{system}");
    }
    let wrong = only(&plain_on("1.33", "flatcar", "carriers: [bundle, multipart]"), "carrier/not-read");
    assert_eq!(wrong.severity, Severity::Error);
    assert_eq!(wrong.hint.as_deref(), Some("write `ignition`"));
    // The second item of the list, on the document's twelfth line.
    let place = wrong.place.unwrap().span.start;
    assert_eq!((place.line, place.column), (12, 26));
}

#[test]
fn a_node_config_is_for_images_of_eks() {
    for (system, expected) in [
        ("amazon-linux-2023", None),
        ("ubuntu", Some("carrier/needs-image")),
        ("generic", Some("carrier/needs-image")),
        ("amazon-linux-2", Some("carrier/not-read")),
        ("debian", Some("carrier/not-read")),
        ("flatcar", Some("carrier/not-read")),
    ] {
        assert_eq!(of(system, "nodeconfig", true), expected.into_iter().collect::<Vec<_>>(), "{system}");
    }
    let image = only(&eks_with("1.33", "", "os: ubuntu\ncarriers: [nodeconfig]"), "carrier/needs-image");
    assert_eq!(image.severity, Severity::Warning);
}

/// `bringup render --as` takes any carrier, and says of it what the document would hear of listing it.
#[test]
fn a_carrier_that_is_not_listed_is_told_of_as_if_it_were() {
    use bringup_spec::Carrier;
    for system in SYSTEMS {
        for carrier in ["cloud-init", "multipart", "ignition", "nodeconfig", "bundle", "cloudformation"] {
            let wanted = Carrier::ALL.iter().find(|known| known.to_string() == carrier).unwrap();
            let group = format!("os: {system}\nagent: image");
            for (on_aws, document) in
                [(true, eks_with("1.33", "", &group)), (false, plain_on("1.33", system, "agent: image"))]
            {
                let found = bringup_plan::check_carrier(&document, 0, *wanted);
                let found: Vec<&str> = found.iter().map(|finding| finding.code.name).collect();
                let listed = of(system, carrier, on_aws);
                let listed: Vec<&str> =
                    listed.into_iter().filter(|code| code.starts_with("carrier/")).collect();
                assert_eq!(found, listed, "{system} {carrier} {on_aws}");
            }
        }
    }
    // The compiler has told it already.
    let listed = plain_on("1.33", "flatcar", "carriers: [multipart]");
    assert!(bringup_plan::check_carrier(&listed, 0, Carrier::Multipart).is_empty());
}

#[test]
fn a_carrier_that_is_there_twice_is_told() {
    assert_eq!(of("debian", "cloud-init, bundle, cloud-init", false), ["group/field-without-effect"]);
}

#[test]
fn nothing_is_written_into_flatcars_image() {
    let refused = |group: &str| {
        let finding = only(&plain_on("1.33", "flatcar", group), "file/read-only-path");
        assert_eq!(finding.severity, Severity::Error);
        finding.message
    };
    let sha256 = "ab".repeat(32);
    let download = format!("downloads: {{x86_64: {{urls: [https://x/y], sha256: {sha256}}}}}");
    for (group, root) in [
        ("files: [{path: /usr/bin/tool, content: a}]".to_owned(), "/usr"),
        ("files: [{path: /bin/tool, content: a}]".to_owned(), "/bin"),
        ("directories: [{path: /usr/local/share/x}]".to_owned(), "/usr"),
        ("links: [{path: /lib64/x, target: /opt/x}]".to_owned(), "/lib64"),
        (format!("assets: [{{name: a, urls: [https://x/y], sha256: {sha256}, path: /usr/lib/x}}]"), "/usr"),
        (format!("software: {{kubelet: {{from: url, path: /usr/bin/kubelet, {download}}}}}"), "/usr"),
        ("swap: {policy: file, sizeMiB: 1, path: /usr/swap}".to_owned(), "/usr"),
    ] {
        let message =
            format!("on Flatcar nothing can be written beneath `{root}`: it is part of the read-only image");
        assert_eq!(refused(&group), message, "{group}");
    }
    for group in [
        "files: [{path: /opt/bin/tool, content: a}]",
        "files: [{path: /usr/share/oem/x, content: a}]",
        "files: [{path: /usrlocal, content: a}]",
    ] {
        assert_eq!(codes(&plain_on("1.33", "flatcar", group)), Vec::<&str>::new(), "{group}");
    }
    assert_eq!(codes(&plain("1.33", "files: [{path: /usr/bin/tool, content: a}]")), Vec::<&str>::new());
    // Where we choose, we choose a place that can be written to.
    let document = plain_on("1.33", "flatcar", &format!("software: {{runtime: {{from: url, {download}}}}}"));
    let Action::Install { source: InstallSource::Url { path, .. }, .. } =
        &step(&plan(&document), "install-containerd").action.clone()
    else {
        panic!("no download");
    };
    assert_eq!(path, "/opt");
}

#[test]
fn extension_images_need_a_systemd_that_has_them() {
    let sha256 = "ab".repeat(32);
    let group = format!(
        "software: {{kubelet: {{from: extension, downloads: {{x86_64: {{urls: [https://x/y], sha256: {sha256}}}}}}}}}"
    );
    let refused = ["software/source"].as_slice();
    for (system, expected) in [
        ("amazon-linux-2", refused),
        ("{family: debian, version: \"11\"}", refused),
        ("{family: debian, version: \"12\"}", &[]),
        ("{family: ubuntu, version: \"20.04\"}", refused),
        ("{family: ubuntu, version: \"22.04\"}", &[]),
        ("flatcar", &[]),
    ] {
        assert_eq!(codes(&plain_on("1.33", system, &group)), expected, "{system}");
    }
}

#[test]
fn assertions_name_what_the_node_has() {
    let group = |order: &str| {
        format!(
            "os: amazon-linux-2023\norder: [{order}]\nsteps: [{{name: disks, run: [/opt/disks]}}]\nhooks: [{{name: greet, on: post-install, run: [/opt/greet]}}]\nunits: [{{name: drivers.service, enabled: true, content: \"[Service]\\nExecStart=/opt/x\\n[Install]\\nWantedBy=multi-user.target\\n\"}}]"
        )
    };
    let found = |order: &str| codes(&eks_with("1.33", "", &group(order)));
    for right in [
        "drivers.service before kubelet.service",
        "disks before gate",
        "runtime succeeds before kubelet",
        "greet before report",
        "kubelet-config before gate",
        "bringup.service before kubelet.service",
        "amazon-ssm-agent.service before kubelet.service",
        "var-lib-data.mount before containerd.service",
    ] {
        assert_eq!(found(right), Vec::<&str>::new(), "{right}");
    }
    for (wrong, hint) in [
        ("kubelte before gate", "did you mean `kubelet`?"),
        ("disk before gate", "did you mean `disks`?"),
        ("drivers before kubelet", "did you mean `drivers.service`?"),
        ("containerd before kubelet", "did you mean `containerd.service`?"),
        (
            "zzz eventually active",
            "write a unit with its suffix, such as `zzz.service`, a phase such as `gate`, or a step",
        ),
    ] {
        let finding = only(&eks_with("1.33", "", &group(wrong)), "order/unknown-name");
        assert_eq!(finding.severity, Severity::Error, "{wrong}");
        assert_eq!(finding.hint.as_deref(), Some(hint), "{wrong}");
    }
    // A unit that nobody here knows may be the image's, but hardly one that is nearly ours.
    let near =
        only(&eks_with("1.33", "", &group("driver.service before kubelet.service")), "order/unknown-name");
    assert_eq!(near.severity, Severity::Warning);
    // The cluster's assertions hold for every node.
    let cluster = eks_with("1.33", "order: [disk before gate]\n", &group("disks before gate"));
    assert_eq!(only(&cluster, "order/unknown-name").place.unwrap().span.start.line, 10);
}
