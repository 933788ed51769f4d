//! The runtime by the minor of Kubernetes, and what becomes of the old one's data.

use bringup_plan::{Action, InstallChoice, InstallSource, Plan};
use bringup_spec::{Document, OnFailure};

use crate::support::{AUTHORITY, cluster, codes, names, only, plain, plan, step, text};

/// Tectonic's own mapping in our words: an ordered list of dockers for each minor, of which the first counts.
const DOCKERS: &str = "\
software: {runtime: {from: url}}
runtime:
  name: docker
  versions:
    - {kubernetes: \"1.19-1.20\", version: 19.03.15, downloads: {x86_64: {urls: [\"https://x/19.tgz\"], sha256: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1}}}
    - {kubernetes: \"1.21-1.23\", version: 20.10.24, downloads: {x86_64: {urls: [\"https://x/20.tgz\"], sha256: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2}}}
";

const CONTAINERDS: &str = "\
software: {runtime: {from: package}}
runtime: {versions: [{kubernetes: \"1.30-1.32\", version: 1.7.24}, {kubernetes: \"1.33\", version: 1.7.28}, {kubernetes: \"1.34-1.35\", version: 1.7.29}]}
";

fn detecting(version: &str, group: &str) -> Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\", detect: true}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: bootstrap-token, token: {{file: /t}}}}\nnetwork: {{serviceRanges: [10.96.0.0/16]}}\n"
    );
    cluster(&spec, &format!("os: debian\n{group}"))
}

fn installed(plan: &Plan, name: &str) -> (String, InstallSource, Vec<InstallChoice>, Option<String>) {
    match &step(plan, name).action {
        Action::Install { version: Some(version), source, choices, data, .. } => {
            (version.clone(), source.clone(), choices.clone(), data.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_runtime_fits_the_version_of_kubernetes() {
    for (kubernetes, version, url) in
        [("1.20.15", "19.03.15", "https://x/19.tgz"), ("1.21", "20.10.24", "https://x/20.tgz")]
    {
        let plan = plan(&plain(kubernetes, DOCKERS));
        let (found, source, choices, data) = installed(&plan, "install-docker");
        assert_eq!(found, version);
        assert!(matches!(source, InstallSource::Url { urls, .. } if urls == [url]), "{kubernetes}");
        assert_eq!((choices, data.as_deref()), (Vec::new(), Some("/var/lib/docker")));
    }
    // What is chosen decides the schema of the configuration.
    let chosen = |kubernetes: &str| {
        let group = "runtime: {versions: [{kubernetes: \"1.32\", version: 1.7.28}, {kubernetes: \"1.33\", version: 2.1.4}]}";
        text(&plan(&plain(kubernetes, group)), "/etc/containerd/config.toml")
    };
    assert!(chosen("1.32").contains("version = 2\n") && chosen("1.33").contains("version = 3\n"));
}

#[test]
fn old_data_is_set_aside_before_the_reboot_and_removed_after_it() {
    let plan = plan(&plain("1.33", CONTAINERDS));
    let at = |name: &str| names(&plan).iter().position(|other| *other == name).unwrap();
    // No runtime of the new version starts on data of the old one.
    assert!(at("install-containerd") < at("start-runtime"));
    assert!(at("start-runtime") < at("reboot"));
    assert!(at("reboot") < at("runtime-data") && at("runtime-data") < at("gate"));
    assert!(matches!(step(&plan, "reboot").action, Action::Reboot { always: false }));
    let removal = step(&plan, "runtime-data");
    let Action::RemoveOldData { directories } = &removal.action else { panic!("{removal:?}") };
    assert_eq!(directories, &["/var/lib/containerd", "/var/lib/docker"]);
    // A node does not stay away because of what only takes up room.
    assert_eq!(removal.policy.as_ref().unwrap().on_failure, OnFailure::Continue);
    assert!(removal.every_boot);
    // The image's own is only looked at: there is nothing old.
    let image = CONTAINERDS.replace("from: package", "from: image");
    let plan = crate::support::plan(&plain("1.33", &image));
    assert_eq!(installed(&plan, "install-containerd").3, None);
    assert!(!names(&plan).iter().any(|name| matches!(*name, "reboot" | "runtime-data")));
}

#[test]
fn data_is_where_the_configuration_says() {
    let data = |group: &str, name: &str| installed(&plan(&plain("1.22", group)), name).3;
    let rooted = DOCKERS.replace("name: docker", "name: docker\n  dockerConfig: {data-root: /data/docker/}");
    assert_eq!(data(&rooted, "install-docker").as_deref(), Some("/data/docker"));
    let toml = "software: {runtime: {from: package}}\nruntime: {config: \"root = '/data/c'\", versions: [{kubernetes: \"1.22\", version: 1.7.28}]}";
    assert_eq!(data(toml, "install-containerd").as_deref(), Some("/data/c"));
    for shared in ["/", "/var", "/var/lib", "/usr", "data", "/data/../etc"] {
        let group = toml.replace("/data/c", shared);
        assert_eq!(codes(&plain("1.22", &group)), ["runtime/versions"], "{shared}");
    }
}

#[test]
fn a_node_that_finds_the_version_out_has_all_that_it_may_need() {
    let plan = plan(&detecting("1.32", CONTAINERDS));
    let (version, _, choices, _) = installed(&plan, "install-containerd");
    assert_eq!(version, "1.7.24");
    let of = |choice: &InstallChoice| (choice.kubernetes.to_string(), choice.version.clone());
    let expected = [("1.30-1.32", "1.7.24"), ("1.33", "1.7.28"), ("1.34-1.35", "1.7.29")];
    assert_eq!(
        choices.iter().map(of).collect::<Vec<_>>(),
        expected.map(|(range, version)| (range.to_owned(), version.to_owned()))
    );
    // kubelet may be three minors older than the API server, and never newer.
    let group = CONTAINERDS.replace("1.34-1.35", "1.36").replace("1.33", "1.34");
    let choices = installed(&crate::support::plan(&detecting("1.32", &group)), "install-containerd").2;
    assert_eq!(choices.len(), 2, "{choices:?}");
    let mixed = CONTAINERDS.replace("1.7.29", "2.1.4");
    let finding = only(&detecting("1.32", &mixed), "runtime/versions");
    assert!(finding.message.contains("containerd 2.1.4, which reads another schema"), "{finding:?}");
    // Where it cannot come to that, each minor has its own.
    assert!(codes(&plain("1.32", &mixed)).is_empty());
}

#[test]
fn each_minor_has_one_version() {
    let found = |group: &str| codes(&plain("1.33", group));
    let both = |runtime: &str| format!("software: {{runtime: {{from: package}}}}\nruntime: {{{runtime}}}");
    assert_eq!(found(&both("versions: [{kubernetes: \"1.32\", version: 1.7.28}]")), ["runtime/versions"]);
    assert_eq!(
        found(&both(
            "versions: [{kubernetes: \"1.31-1.33\", version: 1.7.28}, {kubernetes: \"1.33-1.34\", version: 1.7.29}]"
        )),
        ["runtime/versions"]
    );
    assert_eq!(
        found(&both("version: 1.7.28, versions: [{kubernetes: \"1.33\", version: 1.7.28}]")),
        ["runtime/versions"]
    );
    assert_eq!(found(&format!("{CONTAINERDS}reboot: {{policy: never}}")), ["reboot/needed"]);
    let late = CONTAINERDS.replace("from: package", "from: url");
    let finding = only(&plain("1.33", &late), "software/download");
    assert_eq!(finding.message, "there is no download of containerd for x86_64");
    let unused = CONTAINERDS.replace(
        "version: 1.7.28",
        &format!(
            "version: 1.7.28, downloads: {{x86_64: {{urls: [\"https://x\"], sha256: {}}}}}",
            "ab12".repeat(16)
        ),
    );
    assert_eq!(found(&unused), ["group/field-without-effect"]);
}

#[test]
fn a_version_is_one_for_every_minor() {
    let group =
        "runtime: {versions: [{kubernetes: \"1.32\", version: abc}, {kubernetes: \"1.33\", version: 2.1.4}]}";
    assert_eq!(codes(&plain("1.33", group)), ["runtime/versions"]);
}
