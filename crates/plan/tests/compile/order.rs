//! The order of steps: where the operator's land, and what cannot be.

use bringup_plan::Plan;
use bringup_spec::Phase;

use crate::support::{codes, eks, names, only, plan, step};

/// The names around `name`: the one before it and the one after it.
fn neighbours<'a>(plan: &'a Plan, name: &str) -> (&'a str, &'a str) {
    let names = names(plan);
    let at =
        names.iter().position(|other| *other == name).unwrap_or_else(|| panic!("no {name} in {names:?}"));
    (names[at - 1], names.get(at + 1).copied().unwrap_or_default())
}

fn with(steps: &str) -> Plan {
    plan(&eks("1.33", &format!("steps:\n{steps}")))
}

#[test]
fn our_own_steps_are_in_the_order_of_the_phases() {
    let plan = plan(&eks(
        "1.33",
        "files: [{path: /etc/a, content: a}]\nupdate: {}\nsignals: [{kind: file, path: /var/x}]\nhooks: [{name: a, on: pre-install, run: [a]}, {name: b, on: post-install, run: [b]}]",
    ));
    assert_eq!(
        names(&plan),
        [
            "identify",
            "file:/etc/a",
            "hook:a",
            "update",
            "kernel-modules",
            "sysctls",
            "install-containerd",
            "install-cni",
            "runtime-config",
            "start-runtime",
            "install-kubelet",
            "certificate-authority",
            "kubeconfig",
            "kubelet-config",
            "image-credential-provider",
            "reboot",
            "gate",
            "kubelet",
            "registered",
            "hook:b",
            "report",
            "signal:file",
        ]
    );
    assert!(plan.steps.windows(2).all(|pair| pair[0].phase <= pair[1].phase));
}

#[test]
fn a_step_without_a_wish_runs_in_pre_install() {
    let plan = with("  - {name: one, run: [a]}\n  - {name: two, run: [b]}");
    assert_eq!(step(&plan, "one").phase, Phase::PreInstall);
    assert_eq!(neighbours(&plan, "one"), ("identify", "two"));
}

#[test]
fn before_is_right_before_and_after_is_right_after() {
    let plan = with(
        "  - {name: a, run: [a], before: [runtime]}\n  - {name: b, run: [b], after: [runtime]}\n  - {name: c, run: [c], before: [gate]}\n  - {name: d, run: [d], after: [registered]}\n  - {name: e, run: [e], after: [report]}\n  - {name: f, run: [f], before: [identify]}\n  - {name: g, run: [g], before: [kubelet-config]}",
    );
    assert_eq!(neighbours(&plan, "a"), ("identify", "kernel-modules"));
    assert_eq!(neighbours(&plan, "b"), ("start-runtime", "install-kubelet"));
    assert_eq!(neighbours(&plan, "c"), ("image-credential-provider", "gate"));
    assert_eq!(neighbours(&plan, "d"), ("registered", "report"));
    assert_eq!(neighbours(&plan, "e"), ("report", ""));
    assert_eq!(names(&plan)[0], "f");
    assert_eq!(neighbours(&plan, "g"), ("kubeconfig", "kubelet-config"));
    let phases = ["a", "b", "c", "d", "e", "f", "g"].map(|name| step(&plan, name).phase);
    let expected = [
        Phase::Runtime,
        Phase::Runtime,
        Phase::Gate,
        Phase::Registered,
        Phase::Report,
        Phase::Identify,
        Phase::Configure,
    ];
    assert_eq!(phases, expected);
}

#[test]
fn before_kubelet_means_before_the_gate_which_queues_it() {
    let plan = with("  - {name: a, run: [a], before: [kubelet]}\n  - {name: b, run: [b], after: [gate]}");
    assert_eq!(neighbours(&plan, "a").1, "gate");
    assert_eq!(neighbours(&plan, "b"), ("kubelet", "registered"));
}

#[test]
fn steps_name_each_other_whatever_their_order_in_the_document() {
    let plan = with(
        "  - {name: third, run: [a], after: [second]}\n  - {name: first, run: [b], before: [second]}\n  - {name: second, run: [c], after: [runtime]}\n  - {name: zeroth, run: [d], before: [first]}",
    );
    let order: Vec<&str> = names(&plan)
        .into_iter()
        .filter(|name| ["zeroth", "first", "second", "third"].contains(name))
        .collect();
    assert_eq!(order, ["zeroth", "first", "second", "third"]);
    assert_eq!(neighbours(&plan, "zeroth").0, "start-runtime");
    assert_eq!(neighbours(&plan, "third").1, "install-kubelet");
}

#[test]
fn a_step_behind_a_late_one_is_not_pulled_forward() {
    // `after: [late]` alone: right behind it, wherever it is.
    let plan =
        with("  - {name: late, run: [a], before: [gate]}\n  - {name: behind, run: [b], after: [late]}");
    let all = names(&plan);
    let at = |name: &str| all.iter().position(|other| *other == name);
    assert!(at("late") < at("behind"), "{all:?}");
}

#[test]
fn hooks_can_be_named() {
    let group = "hooks: [{name: h, on: post-install, run: [h]}]\nsteps: [{name: a, run: [a], before: [h]}]";
    assert_eq!(neighbours(&plan(&eks("1.33", group)), "a").1, "hook:h");
}

#[test]
fn what_cannot_be_is_told() {
    let found = |steps: &str| codes(&eks("1.33", &format!("steps:\n{steps}")));
    assert_eq!(found("  - {name: a, run: [a], before: [gate], after: [registered]}"), ["step/impossible"]);
    assert_eq!(found("  - {name: a, run: [a], before: [kubelet], after: [gate]}"), ["step/impossible"]);
    assert_eq!(
        found("  - {name: a, run: [a], after: [b]}\n  - {name: b, run: [b], after: [a]}"),
        ["step/cycle"]
    );
    assert_eq!(found("  - {name: a, run: [a], after: [a]}"), ["step/cycle"]);
    assert_eq!(
        found(
            "  - {name: a, run: [a], after: [post-install]}\n  - {name: b, run: [b], after: [a], before: [gate]}"
        ),
        ["step/impossible"]
    );
    assert_eq!(found("  - {name: a, run: [a]}\n  - {name: a, run: [b]}"), ["step/duplicate-name"]);
    assert_eq!(found("  - {name: gate, run: [a]}"), ["step/reserved-name"]);
    assert_eq!(found("  - {name: kubelet-config, run: [a]}"), ["step/reserved-name"]);
    let finding =
        only(&eks("1.33", "steps: [{name: a, run: [a], before: [pre-instal]}]"), "step/unknown-name");
    assert_eq!(finding.hint.as_deref(), Some("did you mean `pre-install`?"));
}

#[test]
fn a_cycle_names_its_steps() {
    let group = "steps:\n  - {name: x, run: [a]}\n  - {name: a, run: [a], after: [c]}\n  - {name: b, run: [b], after: [a]}\n  - {name: c, run: [c], after: [b]}";
    let finding = only(&eks("1.33", group), "step/cycle");
    assert_eq!(finding.message, "these steps wait for each other: `a` after `c` after `b` after `a`");
}

#[test]
fn commands_are_never_for_a_shell() {
    let found = |step: &str| codes(&eks("1.33", &format!("steps: [{{name: a, {step}}}]")));
    assert_eq!(found("run: [apt-get install x]"), ["step/no-shell"]);
    assert_eq!(found("run: [echo, a, \">\", /tmp/b]"), ["step/no-shell"]);
    assert_eq!(found("script: \"echo a\""), ["step/no-shebang"]);
    assert_eq!(found("run: [a], script: \"#!/bin/sh\""), ["step/command"]);
    assert_eq!(found("attempts: 2"), ["step/command"]);
    assert_eq!(found("run: [a], attempts: 0"), ["step/attempts"]);
}

#[test]
fn a_changed_script_is_a_changed_command() {
    use bringup_plan::Action;
    let command = |script: &str| {
        let plan = plan(&eks("1.33", &format!("steps: [{{name: a, script: \"#!/bin/sh\\n{script}\"}}]")));
        let Action::Run { command, .. } = &step(&plan, "a").action else { panic!("no run") };
        let path = command[0].to_string();
        assert!(names(&plan).contains(&format!("file:{path}").as_str()), "{path}");
        path
    };
    assert!(command("echo a").starts_with("/opt/bringup/steps/a-"));
    assert_eq!(command("echo a"), command("echo a"));
    assert_ne!(command("echo a"), command("echo b"));
}

#[test]
fn phases_never_go_back() {
    let group = "steps:\n  - {name: a, run: [a], before: [gate], after: [configure]}\n  - {name: b, run: [b], before: [gate]}\n  - {name: c, run: [c], after: [b], before: [gate]}\n  - {name: d, run: [d], before: [registered], after: [kubelet]}";
    let plan = plan(&eks("1.33", group));
    let phases: Vec<_> = plan.steps.iter().map(|step| step.phase).collect();
    assert!(phases.is_sorted(), "{phases:?}");
}

#[test]
fn the_agent_of_the_image_makes_the_token_where_a_node_config_goes() {
    for carriers in ["", "\ncarriers: [nodeconfig]", "\ncarriers: [multipart, cloudformation]"] {
        let group = format!("agent: none{carriers}");
        assert!(!codes(&eks("1.33", &group)).contains(&"join/needs-agent"), "{group}");
    }
    let bundled = "agent: none\ncarriers: [nodeconfig, bundle]";
    assert!(codes(&eks("1.33", bundled)).contains(&"join/needs-agent"));
}
