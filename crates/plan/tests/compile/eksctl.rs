//! The node that eksctl's own design had: its files, their variables, its principles.

use std::collections::{BTreeMap, BTreeSet};

use bringup_plan::{Action, Content, InstallSource, Plan, max_pods, sha256_hex};
use bringup_spec::{Document, Fact, Text};

use crate::support::{content, eks_with, mode, plan, step, text, unit};

const AL2: &str = "os: amazon-linux-2";
const UBUNTU: &str = "os: {family: ubuntu, version: \"22.04\"}";

fn eksctl(os: &str, group: &str) -> Document {
    let group = format!(
        "{os}\ninstanceTypes: [m5.large]\nlabels: {{alpha.eksctl.io/instance-id: \"@{{instanceId}}\"}}\ntaints: [{{key: k, effect: NoSchedule}}]\n{group}"
    );
    eks_with("1.29", "flavour: eksctl", &group)
}

/// What stands at a path beneath these folders: files, and where links lead.
fn beneath(plan: &Plan, folders: &[&str]) -> BTreeMap<String, Option<String>> {
    let placed = plan.steps.iter().filter_map(|step| match &step.action {
        Action::WriteFile { path, .. } => Some((path.clone(), None)),
        Action::MakeLink { path, target } => Some((path.clone(), Some(target.clone()))),
        _ => None,
    });
    placed.filter(|(path, _)| folders.iter().any(|folder| path.starts_with(folder))).collect()
}

fn keys(plan: &Plan, path: &str) -> Vec<String> {
    text(plan, path).lines().map(|line| line.split_once('=').unwrap().0.to_owned()).collect()
}

/// The set and the variables are those of the third ancestor's document; Ubuntu's had the name server beside them.
#[test]
fn eksctls_files_stand_where_they_were() {
    for (os, script, dns) in
        [(AL2, "bootstrap.al2.sh", None), (UBUNTU, "bootstrap.ubuntu.sh", Some("CLUSTER_DNS"))]
    {
        for agent in ["", "agent: none"] {
            let plan = plan(&eksctl(os, agent));
            let found = beneath(&plan, &["/etc/eksctl/", "/var/lib/cloud/"]);
            let agents = agent.is_empty().then(|| "/opt/bringup/bin/bringup-node".to_owned());
            let mut expected: BTreeMap<String, Option<String>> = [
                "metadata.env",
                "kubelet.env",
                "kubelet.local.env",
                "kubelet.yaml",
                "kubeconfig.yaml",
                "ca.crt",
                "max_pods.map",
            ]
            .into_iter()
            .map(|name| (format!("/etc/eksctl/{name}"), None))
            .collect();
            expected.insert(format!("/var/lib/cloud/scripts/eksctl/{script}"), agents);
            assert_eq!(found, expected, "{os} {agent}");
            let metadata =
                ["AWS_DEFAULT_REGION", "AWS_EKS_CLUSTER_NAME", "AWS_EKS_ENDPOINT", "AWS_EKS_ECR_ACCOUNT"];
            assert_eq!(keys(&plan, "/etc/eksctl/metadata.env"), metadata);
            let expected: Vec<&str> = ["NODE_LABELS", "NODE_TAINTS"].into_iter().chain(dns).collect();
            assert_eq!(keys(&plan, "/etc/eksctl/kubelet.env"), expected);
            let local = ["NODE_IP", "INSTANCE_ID", "INSTANCE_TYPE", "MAX_PODS"];
            assert_eq!(keys(&plan, "/etc/eksctl/kubelet.local.env"), local);
        }
    }
}

#[test]
fn eksctls_variables_have_the_nodes_own_values() {
    let plan = plan(&eksctl(UBUNTU, ""));
    assert_eq!(
        text(&plan, "/etc/eksctl/metadata.env"),
        "AWS_DEFAULT_REGION=eu-central-1\nAWS_EKS_CLUSTER_NAME=demo\nAWS_EKS_ENDPOINT=https://api.example.com\nAWS_EKS_ECR_ACCOUNT=602401143452\n"
    );
    assert_eq!(
        text(&plan, "/etc/eksctl/kubelet.env"),
        "NODE_LABELS=alpha.eksctl.io/instance-id=@{instanceId}\nNODE_TAINTS=k=:NoSchedule\nCLUSTER_DNS=10.100.0.10\n"
    );
    assert_eq!(
        text(&plan, "/etc/eksctl/kubelet.local.env"),
        "NODE_IP=@{address}\nINSTANCE_ID=@{instanceId}\nINSTANCE_TYPE=@{instanceType}\nMAX_PODS=29\n"
    );
}

/// Whoever reads the file finds what kubelet has: the group's own servers, and those that only the node learns.
#[test]
fn the_name_servers_in_eksctls_file_are_kubelets() {
    let servers = |document: &Document| {
        let file = text(&plan(document), "/etc/eksctl/kubelet.env");
        file.lines().last().unwrap().strip_prefix("CLUSTER_DNS=").unwrap().to_owned()
    };
    let own = "kubelet: {config: {clusterDNS: [169.254.20.10, 10.100.0.10]}}";
    assert_eq!(servers(&eksctl(UBUNTU, own)), "169.254.20.10,10.100.0.10");
    let flag = "kubelet: {flags: {cluster-dns: 169.254.20.11}}";
    assert_eq!(servers(&eksctl(UBUNTU, flag)), "169.254.20.11");
    let mut learned = eksctl(UBUNTU, "");
    learned.cluster.spec.api = None;
    learned.cluster.spec.network.service_ranges.clear();
    assert_eq!(servers(&learned), "@{clusterDns}");
}

#[test]
fn kubelets_drop_in_keeps_its_misspelt_name() {
    let al2 = plan(&eksctl(AL2, ""));
    let drop_in = &unit(&al2, "kubelet.service").drop_ins["10-eksclt.al2.conf"];
    assert!(drop_in.contains(
        "EnvironmentFile=/etc/eksctl/metadata.env\nEnvironmentFile=/etc/eksctl/kubelet.env\n\
         EnvironmentFile=/etc/eksctl/kubelet.local.env\nEnvironmentFile=/run/bringup/kubelet.env\n"
    ));
}

#[test]
fn pods_by_type_are_all_there_and_may_be_chosen() {
    // 215 rows were eksctl's; the table has all types since, and m5.large is 3 * (10 - 1) + 2.
    let table = max_pods::map();
    assert!(table.lines().count() > 1000 && table.lines().any(|row| row == "m5.large 29"));
    assert!(
        table.lines().all(|row| row.split_once(' ').is_some_and(|(_, pods)| pods.parse::<u32>().is_ok()))
    );
    let plan_of = |group: &str| plan(&eksctl(AL2, group));
    // It does not travel: the agent has it, and its digest tells whether it is the same.
    let digest = sha256_hex(table.as_bytes());
    assert_eq!(*content(&plan_of(""), "/etc/eksctl/max_pods.map"), Content::PodTable(digest));
    assert_eq!(text(&plan_of("agent: none"), "/etc/eksctl/max_pods.map"), "m5.large 29\n");
    let chosen = plan_of("maxPods: 17");
    assert!(text(&chosen, "/etc/eksctl/kubelet.env").ends_with("\nMAX_PODS=17\n"));
    assert!(text(&chosen, "/etc/eksctl/kubelet.local.env").ends_with("\nMAX_PODS=17\n"));
}

#[test]
fn ubuntus_kubelet_is_a_snap_that_waits_for_the_gate() {
    let plan = plan(&eksctl(UBUNTU, "kubelet: {environment: {HTTP_PROXY: \"http://p\"}}"));
    assert_eq!(plan.kubelet_unit(), "snap.kubelet-eks.daemon.service");
    let kubelet = unit(&plan, "snap.kubelet-eks.daemon.service");
    assert_eq!((kubelet.enabled, kubelet.content.as_ref()), (Some(false), None));
    assert_eq!(kubelet.aliases, ["kubelet.service"]);
    let drop_in = &kubelet.drop_ins["10-eksctl.conf"];
    assert!(drop_in.contains("Requires=bringup-gate.target\nAfter=bringup-gate.target\n"), "{drop_in}");
    // It cannot start without the gate's file, and its program is the snap's own.
    assert!(
        drop_in.contains("\nEnvironmentFile=/run/bringup/kubelet.env\n") && !drop_in.contains("ExecStart")
    );
    let Action::OpenGate { environment, queue_kubelet } = &step(&plan, "gate").action else { panic!() };
    // It is set once the gate is open, and started then: nobody queues it before.
    assert!(environment.keys().eq(["HTTP_PROXY"]) && !queue_kubelet, "{environment:?}");
    let Action::StartKubelet { snap: Some(snap), .. } = &step(&plan, "kubelet").action else { panic!() };
    assert_eq!(snap.name, "kubelet-eks");
    // As eksctl's script for Ubuntu has them.
    assert!(
        snap.aliases
            .iter()
            .map(|(alias, program)| (alias.as_str(), program.as_str()))
            .eq([("kubectl", "kubectl-eks.kubectl"), ("kubelet", "kubelet-eks.kubelet")])
    );
    for (name, value) in [
        ("config", "/etc/eksctl/kubelet.yaml"),
        ("kubeconfig", "/etc/eksctl/kubeconfig.yaml"),
        ("node-ip", "@{address}"),
        ("node-labels", "alpha.eksctl.io/instance-id=@{instanceId}"),
        ("cloud-provider", "external"),
    ] {
        assert_eq!(snap.settings[name].to_string(), value, "{name}");
    }
    assert!(plan.units.iter().all(|unit| unit.name != "kubelet.service"));
}

#[test]
fn a_kubelet_that_comes_from_elsewhere_is_no_snap() {
    let elsewhere = plan(&eksctl(UBUNTU, "software: {kubelet: {from: package}}"));
    assert_eq!(elsewhere.kubelet_unit(), "kubelet.service");
    assert!(matches!(&step(&elsewhere, "kubelet").action, Action::StartKubelet { snap: None, .. }));
    assert_eq!(plan(&eksctl(AL2, "")).kubelet_unit(), "kubelet.service");
    let ours = plan(&eks_with("1.29", "", UBUNTU));
    assert_eq!(ours.kubelet_unit(), "kubelet.service");
}

#[test]
fn without_an_agent_a_script_sets_the_snap() {
    let plan = plan(&eksctl(UBUNTU, "agent: none"));
    let path = "/var/lib/cloud/scripts/eksctl/bootstrap.ubuntu.sh";
    let script = text(&plan, path);
    assert_eq!(mode(&plan, path), "0755");
    assert!(script.starts_with("#!/bin/sh\n"), "{script}");
    for line in [
        "\nsnap alias kubectl-eks.kubectl kubectl || :\nsnap alias kubelet-eks.kubelet kubelet || :\n",
        "snap stop --disable kubelet-eks\nsnap set kubelet-eks \\\n    'cloud-provider=external' \\\n    'config=/etc/eksctl/kubelet.yaml' \\\n",
        "    'node-ip=@{address}' \\\n",
        "'\nsnap start kubelet-eks\n",
    ] {
        assert!(script.contains(line), "{line:?} in {script}");
    }
    let service = unit(&plan, "eksctl-bootstrap.service");
    assert!(service.content.as_deref().is_some_and(|text| text.contains(&format!("ExecStart={path}\n"))));
    assert!(service.content.as_deref().is_some_and(|text| text.contains("After=snapd.seeded.service ")));
    // Nobody starts the snap before it is set, on any boot: the script does.
    assert_eq!(unit(&plan, "snap.kubelet-eks.daemon.service").enabled, None);
}

/// Words of every text that the plan puts on a node, without the folders of programs.
fn words(plan: &Plan) -> BTreeSet<String> {
    let joined = |texts: Vec<&Text>| texts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let files = plan.steps.iter().map(|step| match &step.action {
        Action::WriteFile { content: Content::Text(text), .. } => text.to_string(),
        Action::Run { command, .. } => joined(command.iter().collect()),
        Action::OpenGate { environment, .. } => joined(environment.values().collect()),
        Action::StartKubelet { snap: Some(snap), .. } => joined(snap.settings.values().collect()),
        _ => String::new(),
    });
    let units = plan.units.iter().flat_map(|unit| unit.content.iter().chain(unit.drop_ins.values()).cloned());
    let split = |text: String| -> Vec<String> {
        let between = |letter: char| letter.is_whitespace() || "\"'`;|&()$,[]{}".contains(letter);
        text.split(between).map(|word| word.rsplit('/').next().unwrap_or(word).to_owned()).collect()
    };
    files.chain(units).flat_map(split).collect()
}

#[test]
fn nothing_on_an_eksctl_node_calls_aws_jq_awk_sed_or_curl() {
    for os in [AL2, UBUNTU] {
        let words = words(&plan(&eksctl(os, "")));
        for banned in ["aws", "jq", "awk", "sed", "curl", "wget", "python", "python3"] {
            assert!(!words.contains(banned), "{banned}: {os}");
        }
        assert!(words.contains("kubelet.yaml"));
    }
}

/// What the third ancestor has bootstrap avoid: software that is installed, configuration that is downloaded, programs that run.
#[test]
fn an_eksctl_node_installs_downloads_and_runs_nothing() {
    for os in [AL2, UBUNTU] {
        for step in plan(&eksctl(os, "")).steps {
            let is_in_image = match &step.action {
                Action::Install { source, .. } => *source == InstallSource::Image,
                Action::Fetch { .. } | Action::Run { .. } => false,
                _ => true,
            };
            assert!(is_in_image, "{os}: {}", step.name);
        }
    }
}

/// Address, id and type are what the third ancestor asks the metadata service for. No tags are looked for, and EKS is not asked.
#[test]
fn an_eksctl_node_learns_what_the_design_asks_for_and_no_more() {
    for os in [AL2, UBUNTU] {
        // The zone is part of the provider's id, and the host's name the node's own: one more question each.
        let asked = [Fact::Address, Fact::InstanceId, Fact::InstanceType, Fact::Zone, Fact::Hostname];
        let of_machine = [Fact::Cores, Fact::NodeName, Fact::ReservedCpu];
        let known: BTreeSet<Fact> = asked.into_iter().chain(of_machine).collect();
        assert_eq!(plan(&eksctl(os, "")).facts, known, "{os}");
    }
}

/// Whole in the plan and written once: nothing is edited, on the node or later.
#[test]
fn files_of_an_eksctl_node_are_whole_and_written_once() {
    for os in [AL2, UBUNTU] {
        let mut filled = Vec::new();
        let mut paths = BTreeSet::new();
        for step in plan(&eksctl(os, "")).steps {
            let Action::WriteFile { path, content, .. } = step.action else { continue };
            assert!(paths.insert(path.clone()), "{os}: {path} is written twice");
            match content {
                Content::Text(text) if text.as_literal().is_none() => filled.push(path),
                Content::Text(_) | Content::PodTable(_) => {}
                other => panic!("{os}: {path} is {other:?}"),
            }
        }
        // Values that only the node knows stand in files of variables, and kubelet's own numbers beside those that are known.
        let names: Vec<&str> = filled.iter().filter_map(|path| path.strip_prefix("/etc/eksctl/")).collect();
        assert_eq!(names, ["kubelet.yaml", "kubelet.env", "kubelet.local.env"], "{os}: {filled:?}");
    }
}

/// What a group says changes values and never the course: there are no flags of the agent's, and no step that some machines leave out.
#[test]
fn an_eksctl_node_is_brought_up_in_one_mode() {
    for os in [AL2, UBUNTU] {
        let course = |group: &str| {
            let plan = plan(&eksctl(os, group));
            assert!(plan.steps.iter().all(|step| !step.elected_only && !step.others_only), "{os}");
            let names: Vec<String> = plan.steps.iter().map(|step| step.name.clone()).collect();
            let unit = unit(&plan, "bringup.service").content.clone();
            (names, unit)
        };
        let usual = course("");
        for group in ["maxPods: 20", "kubelet: {config: {evictionHard: {memory.available: 200Mi}}}"] {
            assert_eq!(course(group), usual, "{os}: {group}");
        }
        assert!(usual.1.is_some_and(|unit| unit.contains("bringup-node up --until gate\n")), "{os}");
    }
}

/// The design's `kubelet.yaml`, but for its driver of control groups, which is the runtime's.
#[test]
fn eksctls_configuration_of_kubelet_is_fully_formed() {
    for os in [AL2, UBUNTU] {
        let found = text(&plan(&eksctl(os, "")), "/etc/eksctl/kubelet.yaml").replace("@{", "{");
        let found = bringup_yaml::parse_one(&found, bringup_yaml::Limits::default()).unwrap().unwrap();
        for (path, expected) in [
            ("kind", "KubeletConfiguration"),
            ("apiVersion", "kubelet.config.k8s.io/v1beta1"),
            ("clusterDomain", "cluster.local"),
            ("authentication/anonymous/enabled", "false"),
            ("authentication/webhook/enabled", "true"),
            ("authentication/webhook/cacheTTL", "2m0s"),
            ("authentication/x509/clientCAFile", "/etc/eksctl/ca.crt"),
            ("authorization/mode", "Webhook"),
            ("authorization/webhook/cacheAuthorizedTTL", "5m0s"),
            ("authorization/webhook/cacheUnauthorizedTTL", "30s"),
            ("serverTLSBootstrap", "true"),
        ] {
            let value = path.split('/').try_fold(&found, |node, key| node.get(key));
            assert_eq!(value.and_then(bringup_yaml::Node::text), Some(expected), "{os}: {path}");
        }
    }
}
