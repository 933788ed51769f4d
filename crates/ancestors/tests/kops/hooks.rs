//! `hooks` and `fileAssets`.

use serde_json::{Value, json};

use crate::{cluster, errors, first_group, group, named_group, spec, warnings};

fn unit<'a>(group: &'a Value, name: &str) -> &'a Value {
    let units = group["units"].as_array().map(Vec::as_slice).unwrap_or_default();
    units.iter().find(|unit| unit["name"] == name).unwrap_or(&Value::Null)
}

fn step<'a>(group: &'a Value, name: &str) -> &'a Value {
    let steps = group["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().find(|step| step["name"] == name).unwrap_or(&Value::Null)
}

/// kops puts a manifest into `[Service]`, `requires` and `before` into `[Unit]`. What is required is followed as well.
#[test]
fn a_hook_before_kubelet_is_waited_for_before_the_gate() {
    let text = format!(
        "{}{}",
        cluster(""),
        group(
            "hooks:\n- name: drivers\n  before: [kubelet.service]\n  requires: [containerd.service]\n  manifest: |\n    Type=oneshot\n    ExecStart=/opt/drivers\n"
        )
    );
    let group = first_group(&text);
    assert_eq!(
        unit(&group, "drivers.service")["content"],
        "[Unit]\nDescription=Kops Hook drivers\nRequires=containerd.service\nAfter=containerd.service\nBefore=kubelet.service\n\n[Service]\nType=oneshot\nExecStart=/opt/drivers\n"
    );
    let step = step(&group, "hook-drivers");
    assert_eq!(step["run"], json!(["/usr/bin/systemctl", "start", "drivers.service"]));
    assert_eq!((&step["after"], &step["before"]), (&json!(["configure"]), &json!(["gate"])));
    // kops runs its set-up, and starts hooks, at every boot.
    assert_eq!(step["everyBoot"], true);
}

/// A raw manifest is the whole unit; its own `Before=` counts as well. Nothing waits for other hooks.
#[test]
fn raw_manifests_are_whole_units() {
    let raw = |line: &str| {
        let text = format!(
            "{}{}",
            cluster(""),
            group(&format!(
                "hooks:\n- name: raw.service\n  useRawManifest: true\n  manifest: |\n    [Unit]\n    {line}\n    [Service]\n    ExecStart=/opt/raw\n"
            ))
        );
        let group = first_group(&text);
        assert_eq!(
            unit(&group, "raw.service")["content"],
            format!("[Unit]\n{line}\n[Service]\nExecStart=/opt/raw\n")
        );
        step(&group, "hook-raw-service").clone()
    };
    assert_eq!(raw("Before=kubelet.service")["before"], json!(["gate"]));
    let beside = raw("Description=x");
    assert_eq!(beside["run"], json!(["/usr/bin/systemctl", "start", "--no-block", "raw.service"]));
    assert_eq!(beside["after"], json!(["configure"]));
    // Before the gate it would wait for kubelet, and kubelet for it.
    assert_eq!(raw("After=kubelet.service")["after"], json!(["kubelet"]));
}

/// kops pulls and runs the image with `ctr`, completes its name, and passes variables in the order of their names.
#[test]
fn containers_are_run_by_containerd() {
    let text = format!(
        "{}{}",
        cluster(""),
        group(
            "hooks:\n- before: [kubelet.service]\n  execContainer:\n    image: busybox\n    command: [sh, -c, chroot /rootfs apt-get update]\n    environment: {B: b, A: a c}\n"
        )
    );
    let group = first_group(&text);
    let content = unit(&group, "kops-hook-0-ig.service")["content"].as_str().unwrap().to_owned();
    let run = content.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    assert!(run.ends_with("--net-host --privileged --env \"A=a c\" --env B=b docker.io/library/busybox:latest kops-hook-0-ig sh -c \"chroot /rootfs apt-get update\""), "{run}");
    assert!(content.contains(
        "ExecStartPre=/usr/bin/ctr --namespace k8s.io image pull docker.io/library/busybox:latest\n"
    ));
    assert!(content.contains("Requires=containerd.service\nAfter=containerd.service\n"));
    assert!(content.ends_with("Type=oneshot\n\n[Install]\nWantedBy=multi-user.target\n"));
}

/// The group's hooks come first and win by name; unnamed ones are counted after those of other roles are left out.
#[test]
fn hooks_of_cluster_and_group_are_one_list() {
    let hooks = "hooks:\n- roles: [Master]\n  manifest: ExecStart=/opt/masters\n- roles: [Node]\n  manifest: ExecStart=/opt/nodes\n- name: shared\n  manifest: ExecStart=/opt/clusters\n- name: off\n  manifest: ExecStart=/opt/off\n";
    let own = "hooks:\n- name: shared\n  manifest: ExecStart=/opt/groups\n- name: off\n  disabled: true\n";
    let text = format!("{}{}{}", cluster(hooks), group(own), named_group("masters", "Master", ""));
    let spec = spec(&text);
    let units = |index: usize| -> Vec<(String, String)> {
        let units = spec["nodeGroups"][index]["units"].as_array().unwrap();
        let last = |unit: &Value| unit["content"].as_str().unwrap().lines().last().unwrap().to_owned();
        units.iter().map(|unit| (unit["name"].as_str().unwrap().to_owned(), last(unit))).collect()
    };
    let pair = |name: &str, line: &str| (name.to_owned(), format!("ExecStart=/opt/{line}"));
    assert_eq!(units(0), [pair("shared.service", "groups"), pair("kops-hook-0.service", "nodes")]);
    assert_eq!(
        units(1),
        [
            pair("kops-hook-0.service", "masters"),
            pair("shared.service", "clusters"),
            pair("off.service", "off")
        ]
    );
}

/// v1alpha2 says `disabled`, v1alpha3 `enabled`. Without a unit of its own a hook switches one of the image off.
#[test]
fn a_disabled_hook_stops_a_unit_of_the_image() {
    for word in ["disabled: true", "enabled: false"] {
        let text = format!("{}{}", cluster(&format!("hooks:\n- name: update-engine\n  {word}\n")), group(""));
        let group = first_group(&text);
        assert_eq!(unit(&group, "update-engine.service")["enabled"], false);
        let stop = step(&group, "stop-update-engine-service");
        assert_eq!(stop["run"], json!(["/usr/bin/systemctl", "stop", "update-engine.service"]));
    }
}

#[test]
fn a_hook_without_anything_to_run_is_told() {
    // `validateHookSpec` of kops.
    for hook in ["name: a", "{name: a, execContainer: {}}", "{name: a, useRawManifest: true, manifest: \"\"}"]
    {
        let text = format!("{}{}", cluster(&format!("hooks:\n- {hook}\n")), group(""));
        assert_eq!(errors(&text), ["the hook `a` has nothing to run, which kops refuses"], "{hook}");
    }
}

/// kops passes over a hook whose name it has met.
#[test]
fn a_second_hook_of_a_name_is_told() {
    let text = |second: &str| {
        let hooks = format!("hooks:\n- {{name: d, roles: [Node], manifest: ExecStart=/one}}\n- {second}\n");
        format!("{}{}", cluster(&hooks), group(""))
    };
    let told = |second: &str| {
        warnings(&text(second))
            .contains(&"there is a hook `d` already: the first stands, with kops as here".to_owned())
    };
    assert!(told("{name: d, manifest: ExecStart=/two}"));
    let group = first_group(&text("{name: d, manifest: ExecStart=/two}"));
    assert!(unit(&group, "d.service")["content"].as_str().unwrap().contains("/one"));
    assert!(!told("{name: d, roles: [Master], manifest: ExecStart=/two}"));
    assert!(!told("{name: e, manifest: ExecStart=/two}"));
}

/// The agent's own unit starts hooks, and those before kubelet it waits for: one that waits for it in turn would hold both.
#[test]
fn a_hook_that_follows_the_agent_is_not_waited_for() {
    let hook = |lines: &str| {
        let text = format!("{}{}", cluster(&format!("hooks:\n- name: late\n{lines}")), group(""));
        (
            first_group(&text),
            warnings(&text).iter().any(|warning| warning.contains("follows the unit that starts it")),
        )
    };
    let raw = "  useRawManifest: true\n  manifest: |\n    [Unit]\n    After=network.target kops-configuration.service\n    Before=kubelet.service\n    [Service]\n    ExecStart=/bin/true\n";
    let (group, told) = hook(raw);
    let start = step(&group, "hook-late");
    assert_eq!(start["run"], json!(["/usr/bin/systemctl", "start", "--no-block", "late.service"]));
    // It is queued before kubelet is, which follows it.
    assert_eq!(start["before"], json!(["gate"]));
    assert!(told);
    // To require alone gives no order with kops, and what starts it is there.
    let requires = "  before: [kubelet.service]\n  requires: [kops-configuration.service]\n  manifest: ExecStart=/bin/true\n";
    let (group, told) = hook(requires);
    let content = unit(&group, "late.service")["content"].as_str().unwrap().to_owned();
    assert!(!content.contains("kops-configuration.service"), "{content}");
    assert_eq!(step(&group, "hook-late")["run"], json!(["/usr/bin/systemctl", "start", "late.service"]));
    assert!(!told);
}

/// Paths default to kops' directory, modes to 0440; base64 is taken with and without its padding; the group's file wins.
#[test]
fn file_assets_are_files() {
    let clusters = "fileAssets:\n- name: one\n  content: cluster\n- name: two\n  path: /etc/two\n  mode: \"755\"\n  isBase64: true\n  content: aGk=\n- name: masters\n  roles: [Master, ControlPlane]\n  content: x\n";
    let own = "fileAssets:\n- name: one\n  content: group @{x}\n- name: three\n  path: /etc/three\n  roles: [Node]\n  isBase64: true\n  content: aGk\n";
    let text = format!("{}{}", cluster(clusters), group(own));
    let files = first_group(&text)["files"].clone();
    // The first is kops' own.
    assert_eq!(
        files.as_array().unwrap()[1..],
        *json!([
            {"path": "/srv/kubernetes/assets/one", "content": "group @@{x}", "mode": "0440"},
            {"path": "/etc/three", "content": "aGk", "encoding": "base64", "mode": "0440"},
            {"path": "/etc/two", "content": "aGk=", "encoding": "base64", "mode": "0755"},
        ])
        .as_array()
        .unwrap()
    );
}

/// kops compares roles by the letter, and has no others: what is for another role is for no group, without a word.
#[test]
fn roles_that_no_group_has_are_told() {
    let text = format!(
        "{}{}",
        cluster(
            "fileAssets:\n- {name: a, content: x, roles: [Nodes]}\n- {name: b, content: x, roles: [bogusrole]}\nhooks:\n- {name: c, roles: [Worker], manifest: ExecStart=/c}\n- {name: d, roles: [Node, Bastion], manifest: ExecStart=/d}\n"
        ),
        group("")
    );
    let told = warnings(&text);
    for message in [
        "kops has no role `Nodes`: the file `/srv/kubernetes/assets/a` is left out of every group for it",
        "kops has no role `bogusrole`: the file `/srv/kubernetes/assets/b` is left out of every group for it",
        "kops has no role `Worker`: the hook `c` is left out of every group for it",
    ] {
        assert!(told.contains(&message.to_owned()), "{message} in {told:?}");
    }
    let group = first_group(&text);
    assert_eq!(group["files"].as_array().unwrap().len(), 1, "kops' own settings of the kernel");
    assert_eq!(group["units"].as_array().unwrap().len(), 1);
}

/// The rules of kops' validation of hooks; those that are switched off are not looked at.
#[test]
fn hooks_that_kops_refuses_or_half_ignores_are_told() {
    let of = |hook: &str| format!("{}{}", cluster(&format!("hooks:\n- {{name: h, {hook}}}\n")), group(""));
    let raw = "useRawManifest: true, manifest: \"[Service]\\nExecStart=/x\\n\"";
    assert_eq!(
        errors(&of(&format!("{raw}, requires: [docker.service], before: [kubelet.service]"))),
        [
            "the hook `h` has `requires` beside `useRawManifest`, which kops refuses",
            "the hook `h` has `before` beside `useRawManifest`, which kops refuses"
        ]
    );
    assert_eq!(
        errors(&of(&format!("{raw}, execContainer: {{image: busybox}}"))),
        ["the hook `h` has `execContainer` beside `useRawManifest`, which kops refuses"]
    );
    assert_eq!(
        errors(&of(&format!("{raw}, requires: [docker.service], disabled: true"))),
        Vec::<String>::new()
    );
    let both = of("execContainer: {image: busybox}, manifest: ExecStart=/x");
    assert!(warnings(&both).contains(
        &"`manifest` of the hook `h` is not carried out: like kops, the container is run alone".to_owned()
    ));
}
