//! Units and files that a carrier places, with an agent and without one.

use bringup_carry::read_plan;
use bringup_plan::{Action, PlacedBy};
use bringup_spec::{Carrier, Phase, Text};
use serde_json::{Value, json};

use crate::forms::CARRYING;
use crate::{sample, text};

#[test]
fn ignition_does_what_it_can_by_itself() {
    let document = sample::document("aws", "flatcar", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    let link = Action::MakeLink { path: "/opt/link".to_owned(), target: "/opt/real".to_owned() };
    plan.steps.push(sample::step("link", Phase::Configure, link));
    plan.steps.push(sample::file("/opt/link/beneath", "x\n"));
    plan.steps.push(sample::file("/run/volatile", "x\n"));
    let arguments = ["quiet", "quiet", "console=ttyS0"].map(str::to_owned).to_vec();
    plan.steps.push(sample::step("kargs", Phase::Configure, Action::SetKernelArguments { arguments }));
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::Ignition);
    let config: Value = serde_json::from_slice(&rendered.bytes).unwrap();
    assert_eq!(config["ignition"]["version"], "3.3.0");
    let paths: Vec<&str> = config["storage"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/etc/bringup/plan.json", "/etc/example/greeting.conf", "/opt/link/beneath"]);
    assert_eq!(config["storage"]["links"], Value::Null);
    assert_eq!(config["storage"]["files"][0]["mode"], 0o600);
    assert_eq!(config["kernelArguments"]["shouldExist"], json!(["quiet", "console=ttyS0"]));
    let units = config["systemd"]["units"].as_array().unwrap();
    let unit = |name: &str| units.iter().find(|unit| unit["name"] == name).unwrap();
    assert_eq!(unit("bringup.service")["enabled"], true);
    assert_eq!(unit("drivers.service")["enabled"], true);
    assert_eq!(unit("kubelet.service")["enabled"], false);
    assert_eq!(unit("kubelet.service")["dropins"][0]["name"], "10-bringup.conf");
    assert_eq!(unit("update-engine.service")["mask"], true);
    assert!(rendered.findings.is_empty(), "{:?}", rendered.findings);
}

#[test]
fn without_an_agent_static_files_are_carried_and_the_rest_is_an_error() {
    let document = sample::document("generic", "debian", "      agent: none\n");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    let run = Action::Run {
        command: vec![Text::literal("/bin/true")],
        environment: std::collections::BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    };
    plan.steps.push(sample::step("mine", Phase::PostInstall, run));
    let owned = Action::MakeDirectory {
        path: "/srv/data".to_owned(),
        mode: "0755".to_owned(),
        owner: "postgres:postgres".to_owned(),
    };
    plan.steps.push(sample::step("theirs", Phase::Configure, owned));
    for carrier in [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition, Carrier::Bundle] {
        let rendered = sample::load(&document, &plan, &parts).render(carrier);
        let told: Vec<&str> = rendered.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(told.len(), 3, "{carrier}: {told:?}");
        assert!(told.iter().any(|message| message.contains("`theirs`")));
        assert!(told.iter().any(|message| message.contains("`mine`")));
        assert!(told.iter().any(|message| message.contains("`write zone`")));
        assert_eq!(read_plan(&rendered.bytes), None, "{carrier}");
    }
}

#[test]
fn other_names_of_a_unit_and_units_of_the_image_are_seen_to() {
    let document = sample::document("generic", "debian", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.units[0].aliases = vec!["kops-configuration.service".to_owned()];
    let mut image = sample::unit("snapd.service", None, PlacedBy::Carrier);
    image.enabled = Some(false);
    plan.units.push(image);
    let load = sample::load(&document, &plan, &parts);
    let script = text(&load.render(Carrier::CloudInit).bytes);
    let link = "ln -sfn /etc/systemd/system/bringup.service /etc/systemd/system/kops-configuration.service\n";
    assert!(script.find(link).unwrap() < script.find("systemctl daemon-reload").unwrap());
    assert!(script.contains("systemctl disable snapd.service\n"));
    // kubelet's link goes on every boot, and a unit that we bring has none.
    assert_eq!(script.matches("systemctl disable").count(), 1);
    let bundle = bringup_carry::inspect("bundle.tar", &load.render(Carrier::Bundle).bytes);
    let target = bundle.links.get("/etc/systemd/system/kops-configuration.service").map(String::as_str);
    assert_eq!(target, Some("/etc/systemd/system/bringup.service"));
}

#[test]
fn without_an_agent_units_are_started_by_the_carrier() {
    let document = sample::document("generic", "debian", "      agent: none\n");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.steps.retain(|step| step.name != "write zone");
    plan.units = vec![
        bringup_plan::Unit {
            enabled: Some(true),
            ..sample::unit("kubelet.service", None, PlacedBy::Carrier)
        },
        sample::unit("containerd.service", None, PlacedBy::Carrier),
        // A systemd that mounts it by itself refuses to start it.
        bringup_plan::Unit {
            enabled: Some(true),
            ..sample::unit("sys-fs-bpf.mount", Some("[Mount]\nWhat=bpffs\n"), PlacedBy::Carrier)
        },
    ];
    let start = Action::StartUnit { unit: "containerd.service".to_owned(), reads: Vec::new() };
    plan.steps.push(sample::step("runtime", Phase::Runtime, start));
    let load = sample::load(&document, &plan, &parts);
    let script = load.render(Carrier::CloudInit);
    assert!(script.findings.is_empty(), "{:?}", script.findings);
    let lines = text(&script.bytes);
    let calls: Vec<&str> =
        lines.lines().map(str::trim).filter(|line| line.starts_with("systemctl")).collect();
    assert_eq!(
        calls,
        [
            "systemctl daemon-reload",
            "systemctl restart --no-block containerd.service",
            "systemctl enable kubelet.service",
            "systemctl start --no-block kubelet.service",
            "systemctl enable sys-fs-bpf.mount",
            "systemctl start --no-block sys-fs-bpf.mount || :",
        ]
    );
    let config: Value = serde_json::from_slice(&load.render(Carrier::Ignition).bytes).unwrap();
    let units = json!([
        {"name": "containerd.service", "enabled": true},
        {"name": "kubelet.service", "enabled": true},
        {"name": "sys-fs-bpf.mount", "enabled": true, "contents": "[Mount]\nWhat=bpffs\n"},
    ]);
    assert_eq!(config["systemd"]["units"], units);
}

#[test]
fn units_of_the_agent_stay_with_it_and_the_order_of_a_plan_is_all_that_counts() {
    let document = sample::document("generic", "debian", "");
    let plan = sample::plan(&document);
    assert!(plan.units.iter().any(|unit| unit.placed_by == PlacedBy::Agent));
    let parts = sample::parts(&document);
    let load = sample::load(&document, &plan, &parts);
    for carrier in CARRYING {
        assert_eq!(load.render(carrier).bytes, load.render(carrier).bytes);
    }
    let script = text(&load.render(Carrier::CloudInit).bytes);
    assert!(!script.contains("place 0644 /etc/systemd/system/drivers.service"));
}

/// The third ancestor's way: version 2 of the metadata service, nothing started if an answer is missing.
#[test]
fn without_an_agent_a_script_fills_in_what_the_machine_knows() {
    let document = sample::document("aws", "amazon-linux-2", "      agent: none\n");
    let parts = sample::parts(&document);
    let plan = sample::plan(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
    assert!(rendered.findings.is_empty(), "{:?}", rendered.findings);
    let script = text(&rendered.bytes);
    let at = |piece: &str| script.find(piece).unwrap_or_else(|| panic!("{piece}:\n{script}"));
    assert!(at("set -eu") < at("-X PUT") && at("-X PUT") < at("zone=$(ask placement/availability-zone)"));
    assert!(at("zone=$(ask") < at("${zone}") && at("${zone}") < at("systemctl daemon-reload"));
    let words: Vec<&str> = script.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    for program in ["jq", "awk", "sed", "python"] {
        assert!(!words.contains(&program), "{program}: {script}");
    }
}
