//! Disks, roles, tags, numbers of nodes.

use bringup_spec::{CpuCredits, Launch, Scaling, Span, SpotStrategy, VolumeType};

use crate::{config, group, told};

fn launch(fields: &str) -> Launch {
    group(&config(&format!("nodeGroups:\n- name: ng\n{fields}"))).launch.unwrap()
}

fn scaling(kind: &str, fields: &str) -> Scaling {
    group(&config(&format!("{kind}:\n- name: ng\n{fields}"))).scaling.unwrap()
}

/// 80 GiB and gp3 are eksctl's defaults, also of further volumes; io1 gets 100 operations.
#[test]
fn volumes_are_eksctls() {
    let launch = launch(
        "  volumeType: io1\n  volumeName: /dev/xvda\n  additionalVolumes:\n  - {volumeName: /dev/sdf, volumeSize: 20, volumeEncrypted: true, volumeKmsKeyID: key}\n  - {volumeName: /dev/sdg, volumeType: gp2, volumeEncrypted: false}\n",
    );
    let volumes: Vec<_> = launch
        .volumes
        .iter()
        .map(|volume| (volume.device.as_deref(), volume.size_gib, volume.kind, volume.iops, volume.encrypted))
        .collect();
    assert_eq!(
        volumes,
        [
            (Some("/dev/xvda"), 80, VolumeType::Io1, Some(100), true),
            (Some("/dev/sdf"), 20, VolumeType::Gp3, None, true),
            (Some("/dev/sdg"), 80, VolumeType::Gp2, None, false),
        ]
    );
    assert_eq!(launch.volumes.get(1).and_then(|volume| volume.kms_key.as_deref()), Some("key"));
}

/// Tokens are required unless `disableIMDSv1: false`; `disablePodIMDS` requires them, and allows one hop.
#[test]
fn the_metadata_service_is_as_eksctl_sets_it() {
    let options = |fields: &str| {
        let launch = group(&config(&format!("nodeGroups:\n- name: ng\n{fields}"))).launch;
        let metadata = launch.map(|launch| launch.metadata).unwrap_or_default();
        (metadata.tokens_required, metadata.hop_limit)
    };
    assert_eq!(options(""), (true, 2));
    assert_eq!(options("  disableIMDSv1: false\n"), (false, 2));
    assert_eq!(options("  disableIMDSv1: false\n  disablePodIMDS: true\n"), (true, 1));
}

/// Without numbers there are two nodes; what is missing follows from what is there.
#[test]
fn numbers_of_nodes_are_eksctls() {
    let numbers = |kind: &str, fields: &str| {
        let scaling = scaling(kind, fields);
        (scaling.min, scaling.max, scaling.desired)
    };
    assert_eq!(numbers("nodeGroups", ""), (2, 2, None));
    assert_eq!(numbers("nodeGroups", "  desiredCapacity: 4\n"), (4, 4, Some(4)));
    assert_eq!(numbers("nodeGroups", "  minSize: 1\n  maxSize: 9\n"), (1, 9, None));
    assert_eq!(numbers("managedNodeGroups", "  desiredCapacity: 0\n"), (0, 1, Some(0)));
    let update = scaling("managedNodeGroups", "  maxSize: 9\n  updateConfig: {maxUnavailable: 3}\n");
    assert_eq!(update.rolling_update.max_batch_size, 3);
}

/// eksctl tags groups for the autoscaler, and with `propagateASGTags` says what an empty group's node would be.
#[test]
fn the_autoscalers_tags_are_set() {
    let scaling = scaling(
        "nodeGroups",
        "  labels: {pool: a}\n  taints: {gpu: \"x:NoSchedule\"}\n  propagateASGTags: true\n  iam: {withAddonPolicies: {autoScaler: true, ebs: false}}\n",
    );
    let tags: Vec<String> = scaling.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        tags,
        [
            "k8s.io/cluster-autoscaler/demo=owned",
            "k8s.io/cluster-autoscaler/enabled=true",
            "k8s.io/cluster-autoscaler/node-template/label/alpha.eksctl.io/cluster-name=demo",
            "k8s.io/cluster-autoscaler/node-template/label/alpha.eksctl.io/nodegroup-name=ng",
            "k8s.io/cluster-autoscaler/node-template/label/pool=a",
            "k8s.io/cluster-autoscaler/node-template/taint/gpu=x",
        ]
    );
}

#[test]
fn roles_images_keys_and_tags_are_passed_on() {
    let launch = launch(
        "  ami: ami-0123456789abcdef0\n  amiFamily: AmazonLinux2023\n  instancePrefix: edge\n  tags: {team: a}\n  ebsOptimized: false\n  enableDetailedMonitoring: true\n  ssh: {publicKeyName: operators}\n  securityGroups: {attachIDs: [sg-0123456789abcdef0]}\n  iam:\n    attachPolicyARNs: [\"arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore\"]\n    withAddonPolicies: {cloudWatch: true, imageBuilder: false}\n",
    );
    assert_eq!(launch.image.as_deref(), Some("ami-0123456789abcdef0"));
    assert_eq!(launch.key_name.as_deref(), Some("operators"));
    assert_eq!(launch.tags.get("Name").map(String::as_str), Some("edge-demo-ng-Node"));
    assert_eq!(launch.tags.get("team").map(String::as_str), Some("a"));
    assert_eq!((launch.ebs_optimized, launch.monitoring), (Some(false), true));
    assert_eq!(launch.security_groups, ["sg-0123456789abcdef0"]);
    assert_eq!(
        launch.role.policies,
        [
            "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
            "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy",
        ]
    );
}

/// Documents of the wild have stand-ins where ids belong: they are told of, and nothing else is lost.
#[test]
fn ids_that_cannot_be_are_left_out_and_told() {
    let text =
        config("nodeGroups:\n- name: ng\n  securityGroups: {attachIDs: [sg-1, sg-0123456789abcdef0]}\n");
    assert_eq!(group(&text).launch.unwrap().security_groups, ["sg-0123456789abcdef0"]);
    assert_eq!(told(&text).len(), 1);
    assert!(
        told(&text).iter().all(|line| line.starts_with("warning ancestor/field-differs 9 this can be no id"))
    );
}

/// eksctl sets no encryption of its own; the template has it unless the group says otherwise, and that is told once.
#[test]
fn volumes_that_say_nothing_are_encrypted_and_it_is_told_once() {
    let about = |groups: &str| {
        let read = crate::read_text(&config(groups));
        read.findings.iter().filter(|finding| finding.message.contains("`volumeEncrypted`")).count()
    };
    assert_eq!(about("nodeGroups:\n- name: a\n- name: b\nmanagedNodeGroups:\n- name: c\n"), 1);
    assert_eq!(about("nodeGroups:\n- {name: a, volumeEncrypted: false}\n"), 0);
}

/// What eksctl writes into its own Auto Scaling group and launch template is in ours too.
#[test]
fn settings_of_the_group_and_its_machines_are_carried() {
    let text = config(
        "nodeGroups:\n- name: ng\n  maxInstanceLifetime: 864000\n  cpuCredits: Unlimited\n  enclaveEnabled: true\n  placement: {groupName: close}\n  classicLoadBalancerNames: [front]\n  targetGroupARNs: [\"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/a/0123456789abcdef\"]\n  ssh: {publicKey: \"ssh-ed25519 AAAA team\"}\n  additionalVolumes: [{volumeName: /dev/sdf, snapshotID: snap-0123456789abcdef0}]\n  instancesDistribution:\n    instanceTypes: [t3.small, t3.medium]\n    maxPrice: 0.017\n    onDemandBaseCapacity: 0\n    onDemandPercentageAboveBaseCapacity: 50\n    spotInstancePools: 2\n    spotAllocationStrategy: lowest-price\n    capacityRebalance: true\n",
    );
    assert_eq!(told(&text), Vec::<String>::new(), "all of it is carried out");
    let group = group(&text);
    let (launch, scaling) = (group.launch.unwrap(), group.scaling.unwrap());
    assert_eq!((launch.cpu_credits, launch.enclave), (Some(CpuCredits::Unlimited), true));
    assert_eq!(launch.placement_group.as_deref(), Some("close"));
    assert_eq!(launch.public_key.as_deref(), Some("ssh-ed25519 AAAA team"));
    let snapshot = launch.volumes.get(1).and_then(|volume| volume.snapshot.as_deref());
    assert_eq!(snapshot, Some("snap-0123456789abcdef0"));
    assert_eq!((scaling.on_demand_base, scaling.on_demand_percentage), (Some(0), Some(50)));
    assert_eq!((scaling.spot_pools, scaling.spot_strategy), (Some(2), Some(SpotStrategy::LowestPrice)));
    assert_eq!((scaling.spot_max_price.as_deref(), scaling.capacity_rebalance), (Some("0.017"), true));
    assert_eq!(scaling.max_instance_lifetime, Some(Span::seconds(864_000)));
    assert_eq!(scaling.load_balancers, ["front"]);
    assert_eq!(scaling.target_groups.len(), 1);
}

/// eksctl puts an interface on each network card that all of the group's types have.
#[test]
fn interfaces_of_the_type_efa_are_on_every_card() {
    let cards = |types: &str| {
        launch(&format!("  efaEnabled: true\n  instancesDistribution: {{instanceTypes: [{types}]}}\n"))
            .efa_interfaces
    };
    assert_eq!(cards("c5n.18xlarge"), 1);
    assert_eq!(cards("p4d.24xlarge"), 4);
    assert_eq!(cards("p5.48xlarge, p4d.24xlarge"), 4);
    // Others of those families have other numbers.
    assert_eq!(cards("p5.4xlarge"), 1);
    assert_eq!((cards("c6in.32xlarge"), cards("c8gn.48xlarge"), cards("c8gn.24xlarge")), (2, 2, 1));
    assert_eq!((cards("g7e.48xlarge"), cards("dl1.24xlarge"), cards("hpc6id.32xlarge")), (4, 4, 2));
}

/// eksctl refuses a type that EC2 says has no EFA; which types there are changes, so that an unknown one is only told of.
#[test]
fn types_without_efa_are_named() {
    let findings = |types: &str| {
        let group = format!(
            "nodeGroups:\n- name: ng\n  efaEnabled: true\n  instancesDistribution: {{instanceTypes: [{types}]}}\n"
        );
        let mut told = told(&config(&group));
        told.retain(|line| !line.contains("no driver is installed"));
        told
    };
    assert_eq!(findings("c5n.18xlarge, trn1.32xlarge"), Vec::<String>::new());
    assert_eq!(
        findings("c5n.18xlarge, m5.large"),
        [
            "warning ancestor/field-differs 9 `m5.large` is not among the instance types that are known to have EFA: EC2 does not launch one without it"
        ]
    );
    // 17 cards, of which all but the first have it.
    assert_eq!(
        findings("p6-b300.48xlarge"),
        [
            "error ancestor/field-refused 9 the first network card of `p6-b300.48xlarge` has no EFA: it cannot be launched with such an interface there"
        ]
    );
}

/// eksctl's own documentation has such an example: EC2 would refuse it, and all else can be seen.
#[test]
fn devices_and_snapshots_that_cannot_be_are_left_out() {
    let text = config(
        "nodeGroups:\n- name: ng\n  volumeName: root\n  additionalVolumes:\n  - {volumeName: /dev/sdf, volumeSize: 8, snapshotID: snap-0123456789abcdef0}\n  - {volumeName: /tmp/mount-1, volumeSize: 8, snapshotID: snapshot-id}\n",
    );
    let launch = group(&text).launch.unwrap();
    let devices: Vec<Option<&str>> = launch.volumes.iter().map(|volume| volume.device.as_deref()).collect();
    assert_eq!(devices, [None, Some("/dev/sdf"), Some("/dev/sdg")]);
    let snapshots: Vec<Option<&str>> =
        launch.volumes.iter().map(|volume| volume.snapshot.as_deref()).collect();
    assert_eq!(snapshots, [None, Some("snap-0123456789abcdef0"), None]);
    let told = told(&text);
    let warned =
        |what: &str| told.iter().filter(|line| line.starts_with("warning") && line.contains(what)).count();
    assert_eq!((warned("no device of an instance"), warned("no id of AWS'")), (2, 1), "{told:#?}");
}
