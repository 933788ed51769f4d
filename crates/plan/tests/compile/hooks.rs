//! Hooks: which node runs which, and in which order.

use std::fmt::Write as _;

use bringup_diag::{Finding, Severity};
use bringup_plan::{Action, LocalFiles, Plan, compile};
use bringup_spec::{Document, HookPoint, Phase, Text};

use crate::support::{AUTHORITY, cluster as document, codes, findings, names, only, step};

const HOOKS: &str = "[{name: last, on: post-cluster-install, run: [/opt/last]}, {name: own-last, on: post-install, run: [/opt/own-last]}, \
                     {name: own-first, on: pre-install, run: [/opt/own-first]}, {name: first, on: pre-cluster-install, run: [/opt/first, \"-v\"]}]";

/// A cluster with labels and annotations, these groups and these machines.
fn cluster(groups: &[&str], machines: &[(&str, &str)]) -> Document {
    let mut text = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\n\
         metadata: {{name: demo, labels: {{team: a}}, annotations: {{note: b c}}}}\nspec:\n  \
         kubernetes: {{version: \"1.33.4\"}}\n  \
         api: {{endpoint: https://api.example.com:6443, certificateAuthority: {AUTHORITY}}}\n  \
         join: {{method: kubeadm, token: {{file: /t}}, kubeadm: {{certificateKey: {{file: /c}}}}}}\n  \
         network: {{serviceRanges: [10.96.0.0/16]}}\n  hooks: {HOOKS}\n  nodeGroups:\n"
    );
    for group in groups {
        let _ = writeln!(text, "  - {{os: debian, {group}}}");
    }
    if !machines.is_empty() {
        text.push_str("  machines:\n");
    }
    for (group, address) in machines {
        let _ = writeln!(text, "  - {{nodeGroup: {group}, address: {address}, agent: true}}");
    }
    let mut read = bringup_spec::read("cluster.yaml", &text);
    assert!(!read.findings.has_errors(), "{:#?}\n{text}", read.findings);
    read.documents.remove(0)
}

fn plan_of(document: &Document, index: usize) -> Plan {
    let compiled = compile(document, index, &LocalFiles::default());
    assert!(!compiled.findings.has_errors(), "{:#?}", compiled.findings);
    compiled.plan.unwrap()
}

/// The hooks that nodes with this plan run by themselves, those of the first node marked.
fn run(plan: &Plan) -> Vec<String> {
    let hooks = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Run { command, hook: Some(_), .. } => {
            let words: Vec<String> = command.iter().map(Text::to_string).collect();
            Some(format!("{}{}", if step.elected_only { "first: " } else { "" }, words.join("|")))
        }
        _ => None,
    });
    hooks.collect()
}

const OF_EACH: [&str; 2] = ["/opt/own-first", "/opt/own-last"];
const OF_THE_FIRST: [&str; 4] = [
    "first: /opt/first|-v|team=a|note=b c",
    "/opt/own-first",
    "/opt/own-last",
    "first: /opt/last|team=a|note=b c",
];

fn kept(plan: &Plan) -> Vec<HookPoint> {
    plan.hooks.iter().map(|hook| hook.on).collect()
}

fn about_hooks(document: &Document) -> Vec<Finding> {
    findings(document).iter().filter(|finding| finding.code.name.starts_with("hook/")).cloned().collect()
}

#[test]
fn hooks_of_the_cluster_are_around_those_of_its_first_node() {
    let document = cluster(&["name: masters, role: control-plane, bootstrap: true", "name: workers"], &[]);
    let master = plan_of(&document, 0);
    assert_eq!(run(&master), OF_THE_FIRST);
    assert_eq!(kept(&master), []);
    assert_eq!(step(&master, "hook:first").phase, Phase::PreInstall);
    assert_eq!(step(&master, "hook:last").phase, Phase::PostInstall);
    let at = |name: &str| names(&master).iter().position(|known| *known == name).unwrap();
    // Before anything is installed, and once the control plane has answered.
    assert!(at("hook:first") < at("install-kubelet") && at("kubeadm-init") < at("registered"));
    assert!(at("registered") < at("hook:own-last") && at("hook:last") < at("report"));
    let worker = plan_of(&document, 1);
    assert_eq!(run(&worker), OF_EACH);
    assert_eq!(kept(&worker), []);
    assert_eq!(about_hooks(&document), []);
}

/// Machines of one group have one plan: the steps are there, and each machine finds out whether they are its own.
#[test]
fn of_several_masters_one_runs_the_clusters_hooks() {
    let condition = "name: masters, role: control-plane, bootstrap: {fact: hostname, equals: cp1}";
    let document = cluster(&[condition, "name: others, role: control-plane", "name: workers"], &[]);
    assert_eq!(run(&plan_of(&document, 0)), OF_THE_FIRST);
    for index in [1, 2] {
        let other = plan_of(&document, index);
        assert_eq!((run(&other), kept(&other)), (OF_EACH.map(str::to_owned).to_vec(), vec![]));
    }
    assert_eq!(about_hooks(&document), []);
    // The same where the machines say it.
    let groups = ["name: masters, role: control-plane", "name: others, role: control-plane", "name: workers"];
    let machines =
        [("workers", "10.0.0.9"), ("others", "10.0.0.1"), ("masters", "10.0.0.2"), ("others", "10.0.0.3")];
    let document = cluster(&groups, &machines);
    assert_eq!([0, 1, 2].map(|index| run(&plan_of(&document, index)).len()), [2, 4, 2]);
    assert_eq!(about_hooks(&document), []);
}

#[test]
fn where_nobody_starts_the_cluster_its_hooks_are_kept_and_told() {
    for group in
        ["name: masters, role: control-plane", "name: masters, role: control-plane, bootstrap: false"]
    {
        let document = cluster(&[group, "name: workers"], &[]);
        let master = plan_of(&document, 0);
        assert_eq!(run(&master), OF_EACH);
        assert_eq!(kept(&master), [HookPoint::PostClusterInstall, HookPoint::PreClusterInstall]);
        let command: Vec<String> = master.hooks[0].command.iter().map(Text::to_string).collect();
        assert_eq!(command, ["/opt/last", "team=a", "note=b c"]);
        let told = about_hooks(&document);
        assert_eq!(told.len(), 2, "{told:#?}");
        for finding in told {
            assert_eq!((finding.code.name, finding.severity), ("hook/nobody-starts", Severity::Warning));
            assert!(finding.message.contains("no node runs it by itself"), "{finding:?}");
        }
    }
    // Hooks of a group's own are nowhere else.
    let own = "name: others, role: control-plane, hooks: [{name: x, on: pre-cluster-install, run: [x]}]";
    let document = cluster(&["name: masters, role: control-plane, bootstrap: true", own], &[]);
    assert_eq!(kept(&plan_of(&document, 1)), [HookPoint::PreClusterInstall]);
    assert!(only(&document, "hook/nobody-starts").message.contains("no node of this group does"));
}

/// EKS has the control plane: there is no node of ours for it.
#[test]
fn without_a_control_plane_hooks_of_the_cluster_are_told() {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: eks-token}}\naws: {{region: eu-central-1}}\nnetwork: {{serviceRanges: [10.100.0.0/16]}}\nhooks: {HOOKS}"
    );
    let workers = document(&spec, "os: amazon-linux-2023\nplatform: aws");
    let plan = plan_of(&workers, 0);
    assert_eq!((run(&plan), kept(&plan)), (OF_EACH.map(str::to_owned).to_vec(), vec![]));
    let finding = only(&workers, "hook/no-control-plane");
    assert!(finding.message.contains("no plan holds them"), "{finding:?}");
    assert!(!codes(&workers).contains(&"hook/nobody-starts"));
}

#[test]
fn hooks_of_later_points_are_kept_for_a_controller() {
    let groups = [
        "name: masters, role: control-plane, bootstrap: true, hooks: [{name: u, on: pre-upgrade, run: [u]}, {name: e, on: post-cluster-delete, run: [e]}]",
        "name: workers, hooks: [{name: d, on: post-delete, run: [d]}]",
    ];
    let document = cluster(&groups, &[]);
    let master = plan_of(&document, 0);
    assert_eq!(kept(&master), [HookPoint::PreUpgrade, HookPoint::PostClusterDelete]);
    let commands: Vec<String> =
        master.hooks.iter().flat_map(|hook| &hook.command).map(Text::to_string).collect();
    // Parameters are for cluster scope.
    assert_eq!(commands, ["u", "e", "team=a", "note=b c"]);
    assert_eq!(kept(&plan_of(&document, 1)), [HookPoint::PostDelete]);
}

/// tkestack's installer looks for three names beside it.
#[test]
fn an_installers_hooks_have_places_in_the_document() {
    let masters = "name: masters, role: control-plane";
    let document = cluster(&[masters], &[("masters", "10.0.0.1")]);
    let told = bringup_plan::installer_hooks(&document, |_| true);
    let shown: Vec<(&str, &str)> = told
        .iter()
        .map(|finding| (finding.message.split('`').nth(1).unwrap(), finding.hint.as_deref().unwrap()))
        .collect();
    let places = ["`pre-cluster-install`", "`platformStage`", "`post-cluster-install`"];
    let names = ["hooks/pre-install", "hooks/post-cluster-ready", "hooks/post-install"];
    assert_eq!(shown.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    assert!(shown.iter().zip(places).all(|((_, hint), place)| hint.contains(place)), "{shown:?}");
    assert!(bringup_plan::installer_hooks(&document, |_| false).is_empty());
    // Nobody goes through machines that are not named.
    assert!(bringup_plan::installer_hooks(&cluster(&[masters], &[]), |_| true).is_empty());
    // Those places hold: on the first machine, in this order.
    let staged = format!("{masters}, platformStage: {{run: [/opt/ready]}}");
    let plan = plan_of(&cluster(&[&staged], &[("masters", "10.0.0.1"), ("masters", "10.0.0.2")]), 0);
    let elected: Vec<&str> =
        plan.steps.iter().filter(|step| step.elected_only).map(|step| step.name.as_str()).collect();
    assert_eq!(elected, ["hook:first", "kubeadm-init", "platform-stage", "hook:last"]);
}
