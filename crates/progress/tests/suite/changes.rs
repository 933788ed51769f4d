//! Changed plans, changed machines.

use bringup_progress::{Happened, Made, Range};
use bringup_spec::Phase;
use serde_json::json;

use crate::machine::{End, Machine};
use crate::plans::{every_boot, file, gate, identify, kubelet, plan, report, run, start, step, with, worker};

fn up(machine: &mut Machine, steps: &[serde_json::Value]) {
    machine.events.clear();
    machine.retired.clear();
    assert!(matches!(machine.up_through_reboots(&plan(steps)), End::Done(_)));
}

fn finished(machine: &Machine) -> Vec<&str> {
    let done = [Happened::Finished.word(), Happened::Opened.word()];
    let events = machine.events.iter().filter(|event| done.contains(&event.event.as_str()));
    events.map(|event| event.step.as_str()).filter(|step| *step != "identify").collect()
}

#[test]
fn a_changed_file_is_written_and_its_reader_restarted() {
    let config = "/etc/containerd/config.toml";
    let steps = |text| {
        vec![
            identify(),
            file(config, "runtime", text),
            start("containerd.service", &[config]),
            run("once", "post-install", 1, "pause"),
        ]
    };
    let mut machine = Machine::new();
    up(&mut machine, &steps("a"));
    // It may have been running since the machine started.
    assert_eq!(machine.restarted.get("containerd.service"), Some(&1));
    up(&mut machine, &steps("a"));
    assert_eq!(finished(&machine), Vec::<&str>::new());
    up(&mut machine, &steps("b"));
    assert_eq!(finished(&machine), ["file:/etc/containerd/config.toml", "containerd.service"]);
    assert_eq!(machine.restarted.get("containerd.service"), Some(&2));
    machine.reboot();
    up(&mut machine, &steps("b"));
    assert_eq!(finished(&machine), ["containerd.service"]);
    assert_eq!(machine.restarted.get("containerd.service"), Some(&2));
    assert_eq!(machine.ran.get("once"), Some(&1));
}

#[test]
fn a_reader_is_restarted_even_if_the_agent_died_between_the_write_and_its_record() {
    let config = "/etc/containerd/config.toml";
    let steps =
        |text| plan(&[identify(), file(config, "runtime", text), start("containerd.service", &[config])]);
    for life in 0.. {
        let mut machine = Machine::new();
        assert!(matches!(machine.up(&steps("a")), End::Done(_)));
        machine.life = Some(life);
        let died = matches!(machine.up(&steps("b")), End::Died);
        machine.life = None;
        assert!(matches!(machine.up(&steps("b")), End::Done(_)));
        assert!(machine.restarted.get("containerd.service") >= Some(&2), "killed after {life} ticks");
        if !died {
            break;
        }
    }
}

#[test]
fn kubelet_is_restarted_for_what_changed_after_the_gate_opened_only() {
    let steps =
        |text| vec![identify(), file("/etc/kubernetes/kubelet.json", "configure", text), gate(), kubelet()];
    let mut machine = Machine::new();
    up(&mut machine, &steps("a"));
    assert_eq!(machine.restarted.get("kubelet"), None);
    machine.reboot();
    up(&mut machine, &steps("b"));
    assert_eq!(machine.restarted.get("kubelet"), None);
    up(&mut machine, &steps("c"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&1));
    up(&mut machine, &steps("c"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&1));
}

/// Where nothing holds it back, kubelet starts with the machine: a plan that comes later finds it with old files.
#[test]
fn without_a_gate_kubelet_is_restarted_for_what_changed_since_it_was_healthy() {
    let steps = |text| vec![identify(), file("/etc/kubernetes/kubelet.json", "configure", text), kubelet()];
    let mut machine = Machine::new();
    // It may run already; a restart starts it, too, and once.
    up(&mut machine, &steps("a"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&1));
    machine.reboot();
    up(&mut machine, &steps("a"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&1));
    up(&mut machine, &steps("b"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&2));
    machine.reboot();
    up(&mut machine, &steps("c"));
    assert_eq!(machine.restarted.get("kubelet"), Some(&3));
}

#[test]
fn what_the_plan_no_longer_has_is_retired_once_and_made_again_when_it_is_back() {
    let with_it = [identify(), file("/etc/extra", "fetch", "x"), file("/etc/kept", "fetch", "y"), gate()];
    let without = [identify(), file("/etc/kept", "fetch", "y"), gate()];
    let mut machine = Machine::new();
    up(&mut machine, &with_it);
    up(&mut machine, &without);
    assert_eq!(machine.retired, [Made::File("/etc/extra".to_owned())]);
    assert!(!machine.tree.contains_key("/etc/extra"));
    assert_eq!(machine.words("retire"), ["retired"]);
    up(&mut machine, &without);
    assert_eq!(machine.retired, []);
    up(&mut machine, &with_it);
    assert_eq!(machine.tree.get("/etc/extra").map(String::as_str), Some("x"));
}

#[test]
fn a_plan_that_is_back_writes_its_files_again_but_runs_its_programs_never_again() {
    let first = [identify(), file("/etc/a", "fetch", "1"), run("once", "pre-install", 1, "pause")];
    let second = [identify(), file("/etc/a", "fetch", "2")];
    let mut machine = Machine::new();
    up(&mut machine, &first);
    up(&mut machine, &second);
    up(&mut machine, &first);
    assert_eq!(machine.tree.get("/etc/a").map(String::as_str), Some("1"));
    assert_eq!(machine.ran.get("once"), Some(&1));
}

#[test]
fn another_timeout_is_no_reason_to_run_a_program_again() {
    let mut machine = Machine::new();
    up(&mut machine, &[identify(), run("once", "pre-install", 1, "pause")]);
    up(&mut machine, &[identify(), run("once", "pre-install", 5, "give-up")]);
    assert_eq!(machine.ran.get("once"), Some(&1));
}

#[test]
fn another_instance_type_redoes_what_depends_on_it() {
    let steps = [
        identify(),
        file("/etc/pods", "configure", "INSTANCE"),
        file("/etc/other", "configure", "x"),
        gate(),
    ];
    let mut machine = Machine::new();
    up(&mut machine, &steps);
    machine.reboot();
    machine.instance = "large".to_owned();
    up(&mut machine, &steps);
    assert_eq!(finished(&machine), ["file:/etc/pods", "gate"]);
    assert_eq!(machine.tree.get("/etc/pods").map(String::as_str), Some("large"));
}

#[test]
fn an_image_of_another_machine_starts_afresh_and_still_retires_what_was_made_there() {
    let mut machine = Machine::new();
    up(
        &mut machine,
        &[identify(), file("/etc/builder", "fetch", "x"), run("once", "pre-install", 1, "pause"), gate()],
    );
    machine.identity = "two".to_owned();
    machine.reboot();
    up(
        &mut machine,
        &[identify(), file("/etc/a", "fetch", "x"), run("once", "pre-install", 1, "pause"), gate()],
    );
    assert_eq!(machine.ran.get("once"), Some(&2));
    assert_eq!(machine.retired, [Made::File("/etc/builder".to_owned())]);
    // The same machine again: its own.
    machine.reboot();
    up(
        &mut machine,
        &[identify(), file("/etc/a", "fetch", "x"), run("once", "pre-install", 1, "pause"), gate()],
    );
    assert_eq!(machine.ran.get("once"), Some(&2));
}

#[test]
fn only_the_elected_node_does_what_is_for_it() {
    let steps = [
        identify(),
        with(run("init", "kubelet", 1, "pause"), "electedOnly", json!(true)),
        with(run("join", "kubelet", 1, "pause"), "othersOnly", json!(true)),
    ];
    let mut machine = Machine::new();
    up(&mut machine, &steps);
    assert_eq!(machine.ran.keys().collect::<Vec<_>>(), ["join"]);
    let mut machine = Machine { elected: true, ..Machine::new() };
    up(&mut machine, &steps);
    assert_eq!(machine.ran.keys().collect::<Vec<_>>(), ["init"]);
}

#[test]
fn two_services_share_the_way_at_the_gate() {
    let steps = [
        identify(),
        run("early", "pre-install", 1, "pause"),
        gate(),
        kubelet(),
        run("late", "post-install", 1, "pause"),
        report(),
    ];
    let plan = plan(&steps);
    let mut machine = Machine::new();
    let until = Range { from: None, until: Some(Phase::Gate) };
    let from = Range { from: Some(Phase::Gate), until: None };
    let course = |machine: &Machine| {
        let state = bringup_progress::State::fold(&machine.records());
        bringup_progress::Course::new(&plan, from, state, &machine.identity, &machine.boot())
            .missing_before()
            .map(str::to_owned)
    };
    let another = |machine: &Machine, plan: &bringup_plan::Plan| {
        let state = bringup_progress::State::fold(&machine.records());
        bringup_progress::Course::new(plan, from, state, &machine.identity, &machine.boot())
            .is_of_another_plan()
    };
    assert_eq!(course(&machine).as_deref(), Some("early"));
    assert!(another(&machine, &plan));
    assert!(matches!(machine.up_within(&plan, until, false), End::Done(_)));
    assert!(!another(&machine, &plan) && another(&machine, &crate::plans::plan(&steps[1..])));
    assert_eq!(machine.ran.keys().collect::<Vec<_>>(), ["early"]);
    assert_eq!(course(&machine), None);
    machine.events.clear();
    let End::Done(done) = machine.up_within(&plan, from, false) else { panic!() };
    assert_eq!(finished(&machine), ["kubelet", "late", "report"]);
    assert_eq!(machine.words("gate"), ["skipped"]);
    assert!(done.steps.iter().all(|step| step.progress == bringup_progress::StepProgress::Done));
}

#[test]
fn a_worker_comes_up() {
    let mut machine = Machine::new();
    up(&mut machine, &worker());
    assert_eq!(machine.boots, 2);
    assert_eq!(machine.words("reboot"), ["started", "rebooting", "rebooted", "finished"]);
    assert_eq!(machine.words("gate"), ["started", "opened"]);
}

#[test]
fn a_step_of_which_the_unit_content_changed_is_done_again() {
    let mut machine = Machine::new();
    let units = |content: &str| {
        let mut plan = plan(&[identify(), step("units", "configure", json!({"do": "placeUnits"}))]);
        plan.units = serde_json::from_value(json!([
            {"name": "a.service", "content": content, "placedBy": "agent", "dropIns": {"x.conf": ""}, "aliases": ["b.service"]},
            {"name": "ours.service", "content": "", "placedBy": "carrier"},
        ]))
        .unwrap();
        plan
    };
    assert!(matches!(machine.up(&units("1")), End::Done(_)));
    machine.events.clear();
    assert!(matches!(machine.up(&units("2")), End::Done(_)));
    assert_eq!(finished(&machine), ["units"]);
    assert!(matches!(machine.up(&plan(&[identify(), gate()])), End::Done(_)));
    assert_eq!(
        machine.retired,
        [
            Made::File("/etc/systemd/system/a.service.d/x.conf".to_owned()),
            Made::Link("/etc/systemd/system/b.service".to_owned()),
            Made::Unit("a.service".to_owned()),
        ]
    );
}

#[test]
fn a_swap_file_goes_together_with_its_unit() {
    let swap = |action: serde_json::Value| every_boot(step("swap", "runtime", action));
    let file = json!({"do": "setSwap", "policy": "file", "sizeMib": 64, "path": "/var/swap-file"});
    let off = json!({"do": "setSwap", "policy": "off"});
    let mut machine = Machine::new();
    up(&mut machine, &[identify(), swap(file), gate()]);
    up(&mut machine, &[identify(), swap(off), gate()]);
    let unit = Made::Unit("var-swap\\x2dfile.swap".to_owned());
    assert_eq!(machine.retired, [Made::File("/var/swap-file".to_owned()), unit]);
}

#[test]
fn a_file_that_is_gone_is_written_again_unless_it_takes_a_secret() {
    let mut secret = file("/etc/secret", "fetch", "x");
    secret["action"]["content"] = serde_json::json!({"secret": {"file": "/etc/token"}});
    let plan = plan(&[
        identify(),
        file("/etc/a", "fetch", "x"),
        secret,
        run("driver", "pre-install", 1, "pause"),
        file("/etc/b", "configure", "x"),
    ]);
    let mut machine = Machine::new();
    assert!(matches!(machine.up(&plan), End::Done(_)));
    let whole = machine.tree.clone();
    machine.reboot();
    machine.events.clear();
    machine.tree.remove("/etc/a");
    machine.tree.remove("/etc/secret");
    assert!(matches!(machine.up(&plan), End::Done(_)));
    assert_eq!(machine.tree, whole);
    assert_eq!(machine.words("file:/etc/a"), ["started", "finished"]);
    let started = machine.events.iter().find(|event| event.step == "file:/etc/a").unwrap();
    assert_eq!(started.why, "`/etc/a` is gone");
    // A secret may be far away, and a program may have used it up: whoever needs it again makes it so.
    for step in ["file:/etc/secret", "driver", "file:/etc/b"] {
        assert_eq!(machine.words(step), ["skipped"], "{step}");
    }
}
