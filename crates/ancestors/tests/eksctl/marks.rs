//! Labels, taints, and the number of pods.

use bringup_spec::MaxPods;

use crate::{config, config_of, group, labels, taints};

/// `bootstrap.helper.sh` of eksctl appends `node-lifecycle` and the instance's id to the labels of Amazon Linux 2 and
/// Ubuntu; the group's and the cluster's name are added everywhere.
#[test]
fn eksctls_labels_are_on_every_node_and_those_of_the_instance_where_its_script_runs() {
    for family in ["AmazonLinux2", "Ubuntu2204"] {
        let text =
            config(&format!("nodeGroups:\n- name: ng\n  amiFamily: {family}\n  labels: {{pool: a}}\n"));
        assert_eq!(
            labels(&group(&text)),
            [
                "alpha.eksctl.io/cluster-name=demo",
                "alpha.eksctl.io/instance-id=@{instanceId}",
                "alpha.eksctl.io/nodegroup-name=ng",
                "node-lifecycle=@{lifecycle}",
                "pool=a",
            ],
            "{family}"
        );
    }
    let newer = group(&config("nodeGroups:\n- name: ng\n  labels: {pool: a}\n"));
    assert_eq!(
        labels(&newer),
        ["alpha.eksctl.io/cluster-name=demo", "alpha.eksctl.io/nodegroup-name=ng", "pool=a"]
    );
}

/// EKS itself labels the nodes of managed groups; people's selectors name these.
#[test]
fn nodes_of_managed_groups_have_eks_labels() {
    for (spot, capacity) in [("true", "SPOT"), ("false", "ON_DEMAND")] {
        let text = config(&format!("managedNodeGroups:\n- name: m\n  spot: {spot}\n"));
        assert_eq!(
            labels(&group(&text)),
            [
                "alpha.eksctl.io/cluster-name=demo".to_owned(),
                "alpha.eksctl.io/nodegroup-name=m".to_owned(),
                format!("eks.amazonaws.com/capacityType={capacity}"),
                "eks.amazonaws.com/nodegroup=m".to_owned(),
            ]
        );
    }
}

/// `key: value:Effect` and `key: Effect`, or a list; an empty value stays.
#[test]
fn taints_are_read_in_both_forms() {
    let mapping = "nodeGroups:\n- name: ng\n  taints:\n    a: \"one:NoSchedule\"\n    b: \":NoExecute\"\n    c: PreferNoSchedule\n";
    let wanted = ["a=one:NoSchedule", "b=:NoExecute", "c=:PreferNoSchedule"];
    assert_eq!(taints(&group(&config(mapping))), wanted);
    let list = "nodeGroups:\n- name: ng\n  taints:\n  - {key: a, value: one, effect: NoSchedule}\n  - {key: b, effect: NoExecute}\n";
    assert_eq!(taints(&group(&config(list))), ["a=one:NoSchedule", "b=:NoExecute"]);
}

#[test]
fn the_number_of_pods_is_the_one_that_is_written() {
    let text = config("nodeGroups:\n- {name: ng, maxPodsPerNode: 42}\n");
    assert_eq!(group(&text).max_pods, Some(MaxPods::Fixed(42)));
    // eksctl takes 0 for nothing said.
    assert_eq!(group(&config("nodeGroups:\n- {name: ng, maxPodsPerNode: 0}\n")).max_pods, None);
}

/// eksctl forbids labels of Kubernetes' own that kubelet refuses; so does the plan.
#[test]
fn names_in_capitals_stay_in_labels() {
    let text = config_of("1.32", "nodeGroups:\n- name: GPU_Nodes\n");
    let text = text.replace("name: demo", "name: Render-Farm");
    let document = crate::document(&text);
    assert_eq!(document.cluster.metadata.name.as_str(), "render-farm");
    let aws = document.cluster.spec.aws.as_ref().unwrap();
    assert_eq!(aws.cluster_name.as_deref(), Some("Render-Farm"));
    let group = group(&text);
    assert_eq!(group.name.as_str(), "gpu-nodes");
    assert_eq!(
        labels(&group),
        ["alpha.eksctl.io/cluster-name=Render-Farm", "alpha.eksctl.io/nodegroup-name=GPU_Nodes"]
    );
}
