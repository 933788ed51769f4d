//! What holds for any document.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bringup_plan::{Action, LocalFiles, Plan, compile};
use bringup_spec::Phase;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{AUTHORITY, codes, eks, indented, names, plan};

/// A step's wishes: phases by number, other steps by number.
#[derive(Clone, Debug)]
struct Wishes {
    before: Vec<usize>,
    after: Vec<usize>,
    before_steps: Vec<usize>,
    after_steps: Vec<usize>,
}

fn wishes(steps: usize) -> impl Strategy<Value = Wishes> {
    let phases = || prop::collection::vec(0..Phase::ALL.len(), 0..2);
    let others = move || prop::collection::vec(0..steps, 0..2);
    (phases(), phases(), others(), others()).prop_map(|(before, after, before_steps, after_steps)| Wishes {
        before,
        after,
        before_steps,
        after_steps,
    })
}

fn all_wishes() -> impl Strategy<Value = Vec<Wishes>> {
    (1..5_usize).prop_flat_map(|steps| prop::collection::vec(wishes(steps), steps))
}

fn group(all: &[Wishes]) -> String {
    let mut text = "steps:\n".to_owned();
    for (index, wish) in all.iter().enumerate() {
        let list = |phases: &[usize], steps: &[usize]| {
            let phases = phases.iter().map(|phase| Phase::ALL[*phase].word().to_owned());
            let steps = steps.iter().map(|step| format!("s{step}"));
            phases.chain(steps).collect::<Vec<String>>().join(", ")
        };
        let before = list(&wish.before, &wish.before_steps);
        let after = list(&wish.after, &wish.after_steps);
        let _ = writeln!(text, "  - {{name: s{index}, run: [x], before: [{before}], after: [{after}]}}");
    }
    text
}

/// The slots between phases that a step may stand in: slot n is before phase n and after phase n - 1.
fn slots(wish: &Wishes) -> (usize, usize) {
    let number = |phase: Phase| Phase::ALL.iter().position(|other| *other == phase).unwrap();
    let (gate, kubelet) = (number(Phase::Gate), number(Phase::Kubelet));
    let lowest = wish.after.iter().map(|phase| if *phase == gate { kubelet + 1 } else { phase + 1 }).max();
    let highest = wish.before.iter().map(|phase| if *phase == kubelet { gate } else { *phase }).min();
    (lowest.unwrap_or(0), highest.unwrap_or(Phase::ALL.len()))
}

fn edges(all: &[Wishes]) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for (index, wish) in all.iter().enumerate() {
        edges.extend(wish.before_steps.iter().map(|other| (index, *other)));
        edges.extend(wish.after_steps.iter().map(|other| (*other, index)));
    }
    edges
}

/// Tries every slot for the steps from `at` on.
fn fits(all: &[Wishes], edges: &[(usize, usize)], assigned: &mut Vec<usize>, at: usize) -> bool {
    let Some(wish) = all.get(at) else {
        return edges.iter().all(|(first, then)| assigned[*first] <= assigned[*then]);
    };
    let (lowest, highest) = slots(wish);
    (lowest..=highest).any(|slot| {
        assigned[at] = slot;
        fits(all, edges, assigned, at + 1)
    })
}

/// Whether any order at all satisfies the wishes: every assignment of slots is tried, and every order of the steps.
fn possible(all: &[Wishes]) -> bool {
    let edges = edges(all);
    let acyclic = {
        let mut left: BTreeSet<usize> = (0..all.len()).collect();
        loop {
            let free = left
                .iter()
                .copied()
                .find(|step| !edges.iter().any(|(first, then)| then == step && left.contains(first)));
            match free {
                Some(step) => left.remove(&step),
                None => break left.is_empty(),
            };
        }
    };
    let mut assigned = vec![0; all.len()];
    acyclic && fits(all, &edges, &mut assigned, 0)
}

/// Whether the order of the plan satisfies the wishes.
fn satisfied(plan: &Plan, all: &[Wishes]) -> bool {
    let names = names(plan);
    let at = |step: usize| names.iter().position(|name| *name == format!("s{step}"));
    let ours = |phase: usize| {
        let phase = Phase::ALL[phase];
        let is_ours = |name: &str| name.strip_prefix('s').is_none_or(|rest| rest.parse::<usize>().is_err());
        plan.steps
            .iter()
            .enumerate()
            .filter(move |(_, step)| step.phase == phase && is_ours(&step.name))
            .map(|(index, _)| Some(index))
    };
    all.iter().enumerate().all(|(index, wish)| {
        wish.before.iter().flat_map(|phase| ours(*phase)).all(|other| at(index) < other)
            && wish.after.iter().flat_map(|phase| ours(*phase)).all(|other| other < at(index))
    }) && edges(all).iter().all(|(first, then)| at(*first) < at(*then))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_order_is_found_exactly_when_there_is_one(all in all_wishes()) {
        let document = eks("1.33", &group(&all));
        if possible(&all) {
            prop_assert!(satisfied(&plan(&document), &all));
        } else {
            let codes = codes(&document);
            prop_assert!(codes.iter().any(|code| ["step/impossible", "step/cycle"].contains(code)), "{codes:?}");
        }
    }
}

/// A document with these texts in the places that are asked for, and with values that fit in the others.
fn document_with(text: &str, other: &str, places: &[bool]) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let (text, other) = (quoted(text), quoted(other));
    let mut places = places.iter();
    let mut pick = |wild: String, tame: &str| {
        if places.next().copied().unwrap_or_default() { wild } else { tame.to_owned() }
    };
    let group = [
        pick(format!("labels: {{{other}: {text}}}"), "labels: {example.com/x: y}"),
        pick(format!("taints: [{{key: {other}, value: {text}, effect: NoSchedule}}]"), "taints: []"),
        pick(format!("instanceTypes: [{text}]"), "instanceTypes: [m5.large]"),
        pick(
            format!(
                "kubelet: {{config: {{{other}: {text}}}, flags: {{{other}: {text}}}, environment: {{{other}: {text}}}}}"
            ),
            "kubelet: {config: {maxOpenFiles: 5}}",
        ),
        pick(format!("runtime: {{version: {other}, config: {text}, sandboxImage: {text}}}"), "runtime: {}"),
        pick(format!("kernelArguments: [{text}]"), "kernelArguments: []"),
        pick(
            format!(
                "files: [{{path: /etc/a, content: {text}}}, {{path: /etc/b, content: {other}, encoding: base64}}, {{path: /etc/c, src: {text}}}]"
            ),
            // Whatever the text, a file can hold it.
            &format!("files: [{{path: /etc/a, content: {other}}}]"),
        ),
        pick(format!("links: [{{path: /etc/l, target: {text}}}]"), "links: [{path: /etc/l, target: /etc/m}]"),
        pick(
            format!(
                "steps: [{{name: a, run: [{text}], before: [{other}], environment: {{{other}: {text}}}}}]"
            ),
            "steps: [{name: a, run: [/bin/true]}]",
        ),
        pick(
            format!(
                "units: [{{name: {text}, content: {other}, dropIns: [{{name: {other}, content: {text}}}]}}]"
            ),
            "units: []",
        ),
    ];
    let head = [
        pick(
            format!("api: {{endpoint: {other}}}"),
            &format!("api: {{endpoint: \"https://k.example.com\", certificateAuthority: {AUTHORITY}}}"),
        ),
        pick(format!("aws: {{region: {text}, partition: {other}}}"), "aws: {region: eu-central-1}"),
        pick(format!("network: {{domain: {text}}}"), "network: {serviceRanges: [10.100.0.0/16]}"),
        pick(format!("proxy: {{http: {text}, noProxy: [{other}]}}"), "join: {method: eks-token}"),
    ];
    let join = if head.concat().contains("join:") { "" } else { "  join: {method: eks-token}\n" };
    format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n  kubernetes: {{version: \"1.33\"}}\n\
         {join}{}  nodeGroups:\n    - name: workers\n      platform: aws\n      os: amazon-linux-2023\n{}",
        indented(&head.join("\n"), 2),
        indented(&group.join("\n"), 6)
    )
}

/// Whatever people write into texts, there is a plan that reads back, or a finding. A good share gets as far as a plan:
/// a text that is refused at once would show nothing of what comes after.
#[test]
fn any_text_gives_a_plan_or_a_finding() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 192,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let plans = std::cell::Cell::new(0);
    let places = proptest::collection::vec(proptest::bool::weighted(0.08), 14);
    let texts = ("\\PC{0,20}", "[ -~]{0,12}", places);
    let outcome = runner.run(&texts, |(text, other, places)| {
        let text = document_with(&text, &other, &places);
        let read = bringup_spec::read("f", &text);
        // A value that could not be read has been told, and there is no plan without it.
        let told = read.findings.has_errors();
        for document in read.documents {
            let _ = bringup_plan::check_document(&document);
            let compiled = compile(&document, 0, &LocalFiles::default());
            prop_assert!(compiled.plan.is_some() || told || compiled.findings.has_errors());
            if let Some(plan) = compiled.plan {
                plans.set(plans.get() + 1);
                prop_assert_eq!(Plan::from_json(plan.to_json().as_bytes()), Ok(plan));
            }
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(plans.get() > 48, "only {} of 192 came to a plan", plans.get());
}

#[test]
fn no_two_steps_of_a_plan_share_a_name_or_write_one_path() {
    let group = "files: [{path: /etc/a, content: a}]\nswap: keep\nkernelArguments: [a]\nupdate: {}\nsignals: [{kind: file, path: /a}, {kind: file, path: /b}]\nhooks: [{name: h, on: pre-install, run: [x]}]\nsteps: [{name: a, run: [x]}, {name: b, script: \"#!/bin/sh\"}]";
    let plan = plan(&eks("1.33", group));
    let all = names(&plan);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    let paths: Vec<&String> = plan
        .steps
        .iter()
        .filter_map(|step| if let Action::WriteFile { path, .. } = &step.action { Some(path) } else { None })
        .collect();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len(), "{paths:?}");
}
