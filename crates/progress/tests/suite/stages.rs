//! Stages that are the work of other units: an agent comes to one, leaves it, and goes on once it is done.

use bringup_plan::Plan;
use bringup_progress::{Range, Standing};
use bringup_spec::Phase;
use serde_json::{Value, json};

use crate::machine::{End, Machine};
use crate::plans::{file, gate, identify, kubelet, plan, report, run, with};

const MARK: &str = "/opt/tectonic/init_bootkube.done";

fn elected(step: Value) -> Value {
    with(step, "electedOnly", json!(true))
}

fn staged(name: &str, phase: &str) -> Vec<Value> {
    let done = format!("/opt/tectonic/init_{name}.done");
    let to = json!({"path": format!("{name}.path"), "service": format!("{name}.service"), "done": done});
    vec![elected(with(run(name, phase, 2, "pause"), "handedTo", to)), elected(file(&done, phase, ""))]
}

fn master() -> Plan {
    let mut steps = vec![identify(), gate(), kubelet()];
    steps.extend(staged("bootkube", "control-plane"));
    steps.push(run("registered", "registered", 2, "pause"));
    steps.extend(staged("tectonic", "platform"));
    steps.push(report());
    plan(&steps)
}

fn only(phase: Phase) -> Range {
    Range { from: Some(phase), until: Some(phase) }
}

fn from_gate() -> Range {
    Range { from: Some(Phase::Gate), until: None }
}

/// The units of the machine, as they start each other.
fn through(machine: &mut Machine, plan: &Plan) -> Vec<&'static str> {
    let mut began = Vec::new();
    for _ in 0..20 {
        match machine.up_within(plan, from_gate(), false) {
            End::Done(_) => return began,
            End::HandedOver(unit) => {
                let (word, phase) = match unit.as_str() {
                    "bootkube.path" => ("bootkube", Phase::ControlPlane),
                    _ => ("tectonic", Phase::Platform),
                };
                began.push(word);
                let _ = machine.up_within(plan, only(phase), false);
            }
            // What died is started again.
            End::Died => machine.life = None,
            end => panic!("{end:?}"),
        }
    }
    panic!("it never ends");
}

fn gated(plan: &Plan) -> Machine {
    let mut machine = Machine { elected: true, ..Machine::new() };
    machine.up_within(plan, Range { from: None, until: Some(Phase::Gate) }, false);
    machine
}

#[test]
fn a_stage_is_left_to_its_units_and_the_course_goes_on_after_them() {
    let plan = master();
    let mut machine = gated(&plan);
    let End::HandedOver(unit) = machine.up_within(&plan, from_gate(), false) else { panic!() };
    assert_eq!(unit, "bootkube.path");
    let status = machine.statuses.last().unwrap();
    assert_eq!((status.standing, status.step.as_deref()), (Standing::HandedOver, Some("bootkube")));
    assert_eq!(
        status.why,
        "`bootkube.service` does it, and starts as soon as `bootkube.path` sees what it needs"
    );
    // Nothing was begun, and nothing that follows.
    assert_eq!(machine.ran.get("bootkube"), None);
    assert_eq!(machine.ran.get("registered"), None);
    assert!(!machine.tree.contains_key(MARK));
    assert_eq!(through(&mut machine, &plan), ["bootkube", "tectonic"]);
    for step in ["bootkube", "registered", "tectonic"] {
        assert_eq!(machine.ran.get(step), Some(&1), "{step}");
    }
    // A later boot has nothing to hand over: no path unit is started on behalf of a service that would not run.
    machine.reboot();
    machine.up_within(&plan, Range { from: None, until: Some(Phase::Gate) }, false);
    assert_eq!(through(&mut machine, &plan), [] as [&str; 0]);
    assert_eq!(machine.ran.get("bootkube"), Some(&1));
}

#[test]
fn a_node_that_is_not_elected_hands_nothing_over() {
    let plan = master();
    let mut machine = Machine { elected: false, ..gated(&plan) };
    assert_eq!(through(&mut machine, &plan), [] as [&str; 0]);
    assert_eq!(machine.ran.get("bootkube"), None);
    assert!(!machine.tree.contains_key(MARK));
}

#[test]
fn killed_at_every_tick_each_stage_runs_once_and_is_marked_after_it() {
    let plan = master();
    let mut points = 0;
    for life in 0..400 {
        let mut machine = gated(&plan);
        assert!(matches!(machine.up_within(&plan, from_gate(), false), End::HandedOver(_)));
        machine.life = Some(life);
        let died = matches!(machine.up_within(&plan, only(Phase::ControlPlane), false), End::Died);
        assert!(
            !machine.tree.contains_key(MARK) || machine.ran.get("bootkube") == Some(&1),
            "marked before it was done, killed after {life} ticks"
        );
        machine.life = None;
        // The path unit would not start the service once the mark is there: whoever comes next must not need it.
        let marked = machine.tree.contains_key(MARK);
        let began = through(&mut machine, &plan);
        assert!(!(marked && began.contains(&"bootkube")), "handed over although marked, after {life} ticks");
        assert_eq!(machine.ran.get("bootkube"), Some(&1), "killed after {life} ticks");
        assert_eq!(machine.ran.get("tectonic"), Some(&1), "killed after {life} ticks");
        assert!(machine.tree.contains_key(MARK));
        if !died {
            break;
        }
        points += 1;
    }
    assert!(points > 15, "{points}");
}
