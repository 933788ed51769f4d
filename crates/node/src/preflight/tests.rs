use std::collections::{BTreeMap, BTreeSet};

use bringup_plan::{Action, Content, InstallSource, Plan, Step};
use bringup_spec::{Phase, SwapPolicy, Text};

use super::{ALL, CHECKS, Seen, failing, failure, names};

const PLAN: &str = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33.4",
"platform":"generic","os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname",
"maxPods":{"fixed":110},"clusterRanges":["10.96.0.0/12"],"units":[],"steps":[
{"name":"install-kubelet","phase":"configure","action":{"do":"install","software":"kubelet","source":{"from":"image"}}},
{"name":"start-runtime","phase":"runtime","action":{"do":"startUnit","unit":"containerd.service","reads":[]}},
{"name":"kubelet","phase":"kubelet","action":{"do":"startKubelet","health":"http://127.0.0.1:10248/healthz"}}]}"#;

fn plan() -> Plan {
    serde_json::from_str(PLAN).unwrap()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A machine with which nothing is wrong.
fn good() -> Seen {
    Seen {
        root: Some(true),
        systemd: Some(252),
        controllers: Some(set(&["cpuset", "cpu", "io", "memory", "pids"])),
        address: Some("192.0.2.7".to_owned()),
        node_name: Some(Ok("node-7".to_owned())),
        listening: BTreeSet::from([22]),
        kubelet_runs: false,
        programs: Some(set(&["kubelet"])),
        units: Some(set(&["containerd.service"])),
        room_mib: Some(20_000),
        memory_mib: Some(2000),
        clock_ms: Some(1_790_000_000_000),
        swaps: Vec::new(),
        architecture: Some("x86_64".to_owned()),
        system: Some(vec!["debian".to_owned()]),
    }
}

fn found(change: impl FnOnce(&mut Seen, &mut Plan)) -> Vec<&'static str> {
    let (mut seen, mut plan) = (good(), plan());
    change(&mut seen, &mut plan);
    let (failures, warnings) = failing(&seen, &plan, &BTreeSet::new());
    failures.into_iter().chain(warnings).map(|finding| finding.name).collect()
}

fn step(action: Action) -> Step {
    Step {
        name: "more".to_owned(),
        phase: Phase::Runtime,
        action,
        policy: None,
        every_boot: false,
        elected_only: false,
        others_only: false,
        handed_to: None,
    }
}

#[test]
fn a_machine_with_which_nothing_is_wrong_passes() {
    assert_eq!(found(|_, _| {}), [""; 0]);
    let nothing_seen = failing(&Seen::default(), &plan(), &BTreeSet::new());
    assert_eq!(nothing_seen, (Vec::new(), Vec::new()));
}

#[test]
fn each_check_finds_its_own_fault_and_no_other() {
    assert_eq!(found(|seen, _| seen.root = Some(false)), ["root"]);
    assert_eq!(found(|seen, _| seen.systemd = Some(218)), ["systemd"]);
    assert_eq!(found(|seen, _| seen.controllers = Some(set(&["cpu", "pids"]))), ["cgroups"]);
    assert_eq!(found(|seen, _| seen.architecture = Some("aarch64".to_owned())), ["architecture"]);
    assert_eq!(found(|seen, _| seen.system = Some(vec!["fedora".to_owned()])), ["os"]);
    assert_eq!(found(|seen, _| seen.clock_ms = Some(1_000)), ["clock"]);
    assert_eq!(found(|seen, _| seen.memory_mib = Some(500)), ["memory"]);
    assert_eq!(found(|seen, _| seen.room_mib = Some(1023)), ["disk-space"]);
    assert_eq!(found(|seen, _| seen.node_name = Some(Ok("localhost".to_owned()))), ["node-name"]);
    assert_eq!(found(|seen, _| seen.address = Some("10.97.1.1".to_owned())), ["address"]);
    assert_eq!(found(|seen, _| seen.listening = BTreeSet::from([10250])), ["port-kubelet"]);
    assert_eq!(found(|seen, _| seen.listening = BTreeSet::from([10248])), ["port-health"]);
    assert_eq!(found(|seen, _| seen.swaps = vec!["/dev/vda2".to_owned()]), ["swap"]);
    assert_eq!(found(|seen, _| seen.programs = Some(BTreeSet::new())), ["kubelet"]);
    assert_eq!(found(|seen, _| seen.units = Some(BTreeSet::new())), ["runtime-unit"]);
}

#[test]
fn what_the_plan_sees_to_is_no_fault() {
    let runs = found(|seen, _| {
        seen.listening = BTreeSet::from([10248, 10250]);
        seen.kubelet_runs = true;
    });
    assert_eq!(runs, [""; 0]);
    let off = Action::SetSwap { policy: SwapPolicy::Off, size_mib: None, path: None };
    let bears = Action::WriteFile {
        path: "/etc/kubernetes/kubelet/config.json".to_owned(),
        mode: "0644".to_owned(),
        owner: "root:root".to_owned(),
        content: Content::Text(Text::literal("{\n  \"failSwapOn\": false\n}")),
    };
    for action in [off, bears] {
        let passed = found(|seen, plan| {
            seen.swaps = vec!["/dev/vda2".to_owned()];
            plan.steps.push(step(action));
        });
        assert_eq!(passed, [""; 0]);
    }
    // A program of the operator, or a package, may bring what the image lacks.
    let run = Action::Run {
        command: vec![Text::literal("/opt/install")],
        environment: BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    };
    let package = Action::Install {
        software: "containerd".to_owned(),
        version: None,
        source: InstallSource::Package { package: "containerd".to_owned() },
        choices: Vec::new(),
        data: None,
    };
    for (action, left) in [(run, Vec::new()), (package, vec!["kubelet"])] {
        let passed = found(|seen, plan| {
            seen.programs = Some(BTreeSet::new());
            seen.units = Some(BTreeSet::new());
            plan.steps.insert(0, step(action));
        });
        assert_eq!(passed, left);
    }
}

#[test]
fn all_are_told_at_once_and_each_can_be_ignored() {
    let mut seen = good();
    seen.room_mib = Some(3);
    seen.address = Some("10.97.1.1".to_owned());
    let (both, _) = failing(&seen, &plan(), &BTreeSet::new());
    let failure = failure(&both);
    assert!(failure.why.contains("[disk-space] there is room for 3 MiB"), "{}", failure.why);
    assert!(failure.why.contains("[address] the machine's address 10.97.1.1 lies in 10.96.0.0/12"));
    assert!(failure.fix.ends_with("`bringup-node up --ignore-preflight disk-space,address`"));
    let (one, _) = failing(&seen, &plan(), &set(&["address"]));
    assert_eq!(one.iter().map(|finding| finding.name).collect::<Vec<_>>(), ["disk-space"]);
    assert!(failing(&seen, &plan(), &set(&[ALL])).0.is_empty());
}

#[test]
fn names_are_unique() {
    assert_eq!(names().collect::<BTreeSet<_>>().len(), CHECKS.len());
}

#[test]
fn every_name_is_explained() {
    let page = include_str!("../../../../docs/node.md");
    let explained: Vec<&str> = page
        .lines()
        .skip_while(|line| *line != "## Checks before the start")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
        .collect();
    assert_eq!(explained, names().collect::<Vec<_>>());
}
