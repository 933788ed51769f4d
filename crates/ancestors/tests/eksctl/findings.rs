//! Nothing is dropped in silence.

use bringup_ancestors::{Input, read};
use bringup_diag::Severity;

use crate::{config, read_text, told};

#[test]
fn every_field_that_is_not_carried_out_is_named_with_its_line() {
    let text = config(
        "cloudWatch: {clusterLogging: {enableTypes: [\"*\"]}}\nnodeGroups:\n- name: ng\n  efaEnabled: true\n  privateNetworking: false\n  asgSuspendProcesses: [AZRebalance]\n  maxPodPerNode: 10\n  somethingNew: 1\n  instanceType: c5n.18xlarge\n",
    );
    assert_eq!(
        told(&text),
        [
            "note ancestor/field-aside 7 `cloudWatch` of a ClusterConfig shapes the control plane's logs, not the node: it is left aside",
            "warning ancestor/field-differs 10 the launch template has interfaces of the type EFA, but no driver is installed for them: unless the image has it, the node will differ",
            "warning ancestor/field-differs 12 `asgSuspendProcesses` is not carried out, for CloudFormation cannot say it: the nodes are the same, and the Auto Scaling group will differ",
            "error ancestor/unknown-field 13 unknown field `maxPodPerNode` in a node group of eksctl",
            "warning ancestor/unknown-field 14 unknown field `somethingNew` in a node group of eksctl",
        ]
    );
}

#[test]
fn a_document_that_is_not_eksctls_own_is_refused() {
    for (from, to) in [("kind: ClusterConfig", "kind: Nodegroup"), ("v1alpha5", "v1alpha4")] {
        let text = config("nodeGroups:\n- name: ng\n").replace(from, to);
        let told = told(&text);
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told.iter().all(|line| line.starts_with("error ancestor/field-refused")));
    }
}

/// eksctl makes such clusters, for AWS' own nodes: nothing is wrong with them.
#[test]
fn a_cluster_without_node_groups_has_nothing_to_bring_up() {
    let text = config("autoModeConfig: {enabled: true}\n");
    let told = told(&text);
    assert!(
        told.iter().any(|line| line.starts_with("note ") && line.contains("has no node groups")),
        "{told:#?}"
    );
    let read = read_text(&text);
    assert!(read.documents.is_empty() && !read.findings.has_errors(), "{told:#?}");
}

/// A group that cannot be brought up is left out by itself; additions for it are for nobody.
#[test]
fn a_group_that_is_refused_leaves_the_others_as_they_are() {
    let one = config("nodeGroups:\n- name: linux\nmanagedNodeGroups:\n- name: other\n");
    let refused = [
        "- {name: bad, amiFamily: WindowsServer2022CoreContainer}\n",
        "- {name: bad, amiFamily: Bottlerocket, bottlerocket: {settings: {}}}\n",
        "- {name: bad, launchTemplate: {id: lt-0123456789abcdef0}}\n",
        "- {name: bad, amiFamily: AmazonLinux2, overrideBootstrapCommand: \"bash -c \\\"$(fetch)\\\" /etc/eks/bootstrap.sh\"}\n",
    ];
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  nodeGroups:\n  - {name: bad, agent: none}\n";
    let alone = read(&[Input { name: "a", text: &one }]);
    for bad in refused {
        let text = format!("{one}{bad}");
        let found = read(&[Input { name: "a", text: &text }, Input { name: "b", text: additions }]);
        assert!(!found.findings.has_errors(), "{:#?}", found.findings);
        let [out] = found.refused.as_slice() else { panic!("{bad}: {:#?}", found.refused) };
        assert_eq!((out.cluster.as_str(), out.group.as_str()), ("demo", "bad"));
        assert!(out.findings.has_errors());
        let tree = |read: &bringup_ancestors::Read| {
            bringup_yaml::to_yaml(&read.documents.first().unwrap().tree().to_value())
        };
        assert_eq!(tree(&found), tree(&alone));
    }
}

/// A mistake within a group is a mistake of the document: each is told once, those of a group that is refused as well.
#[test]
fn what_is_wrong_within_a_group_is_wrong_with_the_document() {
    let one = config("nodeGroups:\n- name: linux\n  amiFamily: AmazonLinux2\n- name: other\n");
    for (bad, columns) in [
        ("- {name: bad, maxPodsPerNode: many}\n", vec![31]),
        ("- {name: bad, taints: [{key: a, valu: b, effect: NoSchedul}]}\n", vec![33, 50]),
        ("- {name: bad, instanceType: 17}\n", vec![29]),
        ("- {name: bad, volumeSize: big, labls: {a: b}}\n", vec![27, 32]),
        ("- {name: bad, taints: {a: \"b:c:d\"}}\n", vec![27]),
        ("- {name: bad, volumeSize: big, amiFamily: Bottlerocket}\n", vec![27]),
    ] {
        let text = format!("{one}{bad}");
        let found = read(&[Input { name: "a", text: &text }]);
        let errors = found.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let places: Vec<u32> =
            errors.filter_map(|finding| Some(finding.place.as_ref()?.span.start.column)).collect();
        assert_eq!(places, columns, "{bad}: {:#?}", found.findings);
        let why = found.refused.iter().flat_map(|refused| &refused.findings);
        let why = why.filter(|finding| finding.severity == Severity::Error).map(|finding| finding.code.name);
        let expected = if bad.contains("Bottlerocket") { vec!["ancestor/field-refused"] } else { Vec::new() };
        assert_eq!(why.collect::<Vec<_>>(), expected, "{bad}");
    }
}

/// Anything may stand where a group, a list or a mapping is expected.
#[test]
fn values_of_other_types_are_told_of() {
    for text in [
        "nodeGroups: 3\n",
        "nodeGroups: [3]\n",
        "nodeGroups:\n- name: ng\n-\n",
        "nodeGroups:\n- [a]\n",
        "nodeGroups:\n- name: [a]\n",
        "nodeGroups:\n- {name: ng, labels: [a], taints: 3}\n",
        "nodeGroups:\n- {name: ng, taints: {a: \"b:c:d\"}}\n",
        "nodeGroups:\n- {name: ng, preBootstrapCommands: echo}\n",
        "nodeGroups:\n- {name: ng, preBootstrapCommands: [{a: b}]}\n",
        "nodeGroups:\n- {name: ng, kubeletExtraConfig: 3}\n",
        "nodeGroups:\n- {name: ng, overrideBootstrapCommand: [a]}\n",
        "nodeGroups:\n- {name: ng, amiFamily: Ubuntu2204, overrideBootstrapCommand: [a]}\n",
        "nodeGroups:\n- {name: ng, iam: a, ssh: b, securityGroups: c}\n",
        "nodeGroups:\n- {name: ng, instancesDistribution: [a], additionalVolumes: {a: b}}\n",
        "vpc: a\nnodeGroups: [{name: ng}]\n",
        "vpc: {subnets: [a]}\nnodeGroups: [{name: ng}]\n",
        "kubernetesNetworkConfig: {ipFamily: [a]}\nnodeGroups: [{name: ng}]\n",
    ] {
        let told = told(&config(text));
        assert!(told.iter().any(|line| line.starts_with("error ")), "{text}: {told:#?}");
    }
}

/// What stands in the text of a NodeConfig is told of with its own line.
#[test]
fn fields_inside_a_node_config_are_named_with_their_lines() {
    let text = config(
        "nodeGroups:\n- name: ng\n  overrideBootstrapCommand: |\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec:\n      instance: {localStorage: {strategies: RAID0, size: 1}}\n      kubelet:\n        config: {evictionHrad: {}}\n        flag: []\n",
    );
    let told = told(&text);
    assert_eq!(
        told,
        [
            "error ancestor/unknown-field 13 unknown field `strategies` in `localStorage` of a NodeConfig",
            "warning ancestor/unknown-field 13 unknown field `size` in `localStorage` of a NodeConfig",
            "error ancestor/unknown-field 16 unknown field `flag` in `kubelet` of a NodeConfig",
        ]
    );
    let read = read_text(&text.replace("        flag: []\n", "").replace("strategies", "strategy"));
    let document = read.documents.first().unwrap();
    let compiled = bringup_plan::compile(document, 0, &bringup_plan::LocalFiles::default());
    let misspelt = compiled.findings.iter().find(|finding| finding.message.contains("evictionHrad")).unwrap();
    let start = misspelt.place.as_ref().unwrap().span.start;
    assert_eq!((start.line, start.column), (15, 18));
}

/// People change the image's scripts and files with commands: what the plan overtakes is told of.
#[test]
fn commands_that_change_what_the_plan_overtakes_are_told_of() {
    let text = config(
        "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  preBootstrapCommands:\n  - sed -i '/^set -o errexit/a export USE_MAX_PODS=false' /etc/eks/bootstrap.sh\n  - touch /etc/fine\n  - sed -i s/a/b/ /etc/eks/containerd/containerd-config.toml\n  - echo 'm5.large 9' >> /etc/eks/eni-max-pods.txt\n  - cp /x /etc/systemd/system/kubelet.service.d/05-x.conf\n  - printf '[Service]\\nEnvironment=A=b\\n' > /etc/systemd/system/kubelet.service.d/99-x.conf\n",
    );
    assert_eq!(
        told(&text),
        [
            "warning ancestor/field-differs 11 this line has to do with `/etc/eks/bootstrap.sh`, which is not run on the node: what it changes there is lost",
            "warning ancestor/field-differs 13 this line has to do with `/etc/eks/containerd/containerd-config.toml`, which `bootstrap.sh` reads and the plan does not: what it changes there is lost",
            "warning ancestor/field-differs 14 this line has to do with `/etc/eks/eni-max-pods.txt`, which `bootstrap.sh` reads and the plan does not: what it changes there is lost",
            "warning ancestor/field-differs 15 this line has to do with `/etc/systemd/system/kubelet.service.d/`: kubelet is started by a drop-in of the plan's own, and `ExecStart`, `EnvironmentFile` and `KUBELET_EXTRA_ARGS` of others count for nothing",
        ]
    );
}

/// Ubuntu's kubelet is a snap with a unit of its own, and what containers start from is the plan's in the place of nodeadm.
#[test]
fn files_of_each_family_that_the_plan_overtakes_are_told_of() {
    for (family, command, path) in [
        (
            "Ubuntu2204",
            "cp /x /etc/systemd/system/snap.kubelet-eks.daemon.service.d/05-x.conf",
            "/etc/systemd/system/snap.kubelet-eks.daemon.service.d/",
        ),
        (
            "AmazonLinux2023",
            "sed -i s/1/2/ /etc/containerd/base-runtime-spec.json",
            "/etc/containerd/base-runtime-spec.json",
        ),
    ] {
        let text = config(&format!(
            "nodeGroups:\n- name: ng\n  amiFamily: {family}\n  preBootstrapCommands:\n  - {command}\n"
        ));
        let wanted = format!("warning ancestor/field-differs 11 this line has to do with `{path}`");
        assert!(told(&text).iter().any(|line| line.starts_with(&wanted)), "{:#?}", told(&text));
    }
}

/// Whether an agent comes is said beside eksctl's document: notes about one are told only where there is one.
#[test]
fn notes_about_the_agent_follow_what_additions_say_of_it() {
    let text = config("nodeGroups:\n- name: one\n  preBootstrapCommands: [\"true\"]\n- name: two\n");
    let additions = |groups: &str| {
        format!("apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  nodeGroups:\n{groups}")
    };
    let told = |groups: &str| -> Vec<(u32, String)> {
        let additions = additions(groups);
        let read = read(&[Input { name: "a", text: &text }, Input { name: "b", text: &additions }]);
        let note = "the agent is taken to be in the image";
        let of_agent = read.findings.iter().filter(|finding| finding.message.starts_with(note));
        let line =
            |finding: &bringup_diag::Finding| finding.place.as_ref().map_or(0, |place| place.span.start.line);
        of_agent.map(|finding| (line(finding), finding.message.chars().take(9).collect())).collect()
    };
    let said = |line: u32, message: &str| (line, message.to_owned());
    // The first group stands at line 8 of the file, the second at line 10.
    assert_eq!(told("  - {name: one, nodeName: instance-id}\n"), [said(8, "the agent")]);
    assert_eq!(told("  - {name: one, agent: {from: none}}\n"), [said(10, "the agent")]);
    assert_eq!(told("  - {name: one, agent: image}\n"), [said(10, "the agent")]);
    assert_eq!(told("  - {agent: none}\n"), []);
}

/// A key that is not let in shapes nothing; what else `ssh` says is accounted for all the same.
#[test]
fn fields_beside_a_key_that_is_not_let_in_are_named() {
    let text = config(
        "nodeGroups:\n- name: ng\n  ssh:\n    allow: false\n    publicKeyPath: some.pub\n    enableSSM: true\n    enableSsm: true\n",
    );
    assert_eq!(
        told(&text),
        [
            "error ancestor/unknown-field 12 unknown field `enableSSM` in `ssh`",
            "note ancestor/field-aside 13 `enableSsm` of `ssh` shapes an agent that EKS' images have in any case, not the node: it is left aside",
        ]
    );
}

/// eksctl puts the nodes of all of its groups into a security group of the cluster's stack (`withShared`, on by default), EKS
/// those of managed groups into the cluster's. Where the file does not say which, groups do not reach each other.
#[test]
fn groups_that_do_not_reach_each_other_are_told_of() {
    let about = |text: &str| {
        let told = read_text(text).findings;
        told.into_iter()
            .filter(|finding| finding.message.contains("share"))
            .map(|f| f.severity)
            .collect::<Vec<_>>()
    };
    let one = "nodeGroups:\n- name: a\n";
    let two = "nodeGroups:\n- name: a\n- name: b\n  securityGroups: {withShared: true}\n";
    assert_eq!(about(&config(one)), [Severity::Note]);
    assert_eq!(about(&config(two)), [Severity::Warning]);
    let named = format!("vpc: {{sharedNodeSecurityGroup: sg-0123456789abcdef0}}\n{two}");
    assert_eq!(about(&config(&named)), []);
    let attached = "managedNodeGroups:\n- {name: a, securityGroups: {attachIDs: [sg-0123456789abcdef0]}}\n- {name: b, securityGroups: {attachIDs: [sg-0123456789abcdef0]}}\n";
    assert_eq!(about(&config(attached)), []);
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  nodeGroups:\n  - {name: a, launch: {securityGroups: [sg-0123456789abcdef0]}}\n  - {name: b, launch: {securityGroups: [sg-0123456789abcdef0]}}\n";
    let read = read(&[
        Input { name: "cluster.yaml", text: &config(two) },
        Input { name: "additions.yaml", text: additions },
    ]);
    assert!(!read.findings.iter().any(|finding| finding.message.contains("share")), "{:#?}", read.findings);
}

/// eksctl has no Amazon Linux 2 from 1.33 on; additions stand above the file, and above eksctl's default.
#[test]
fn the_version_that_additions_say_is_the_one_that_counts() {
    let text = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: demo, region: us-west-2}\nnodeGroups: [{name: ng, amiFamily: AmazonLinux2}]\n";
    let of = |version: &str| {
        let additions = format!(
            "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {{kubernetes: {{version: '{version}'}}}}\n"
        );
        let read = read(&[Input { name: "a", text }, Input { name: "b", text: &additions }]);
        assert!(!read.findings.iter().any(|finding| finding.message.contains("no version of Kubernetes")));
        read.refused.len()
    };
    assert_eq!((of("1.29"), of("1.33")), (0, 1));
    let alone = read(&[Input { name: "a", text }]);
    assert!(
        alone.findings.iter().any(|finding| finding.message.contains("no version of Kubernetes is named"))
    );
}

/// eksctl names the types of a group in one way: `instanceType` beside a list or a selector is refused, a list beside a
/// selector is what EC2 must find by it.
#[test]
fn a_second_way_to_name_instance_types_is_told_of() {
    let of = |fields: &str| told(&config(&format!("managedNodeGroups:\n- name: ng\n{fields}")));
    let one = "  instanceType: m5.large\n";
    let (list, selector) = ("  instanceTypes: [c5.large]\n", "  instanceSelector: {vCPUs: 2}\n");
    let about = |lines: Vec<String>| -> Vec<String> {
        lines
            .into_iter()
            .filter(|line| line.contains("`instanceType` ") || line.contains("Selector"))
            .collect()
    };
    assert_eq!(
        about(of(&format!("{one}{list}"))),
        [
            "warning ancestor/field-differs 9 beside `instanceTypes`, `instanceType` counts for nothing, and eksctl refuses the two"
        ]
    );
    assert_eq!(
        about(of(&format!("{one}{selector}"))),
        [
            "warning ancestor/field-differs 10 beside `instanceType`, `instanceSelector` counts for nothing, and eksctl refuses the two"
        ]
    );
    assert_eq!(
        about(of(&format!("{list}{selector}"))),
        [
            "note ancestor/difference 10 the types that are listed are taken; whether `instanceSelector` means the same, nobody is asked"
        ]
    );
    assert_eq!(about(of(list)), Vec::<String>::new());
}
