//! What the template of a node group holds.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod groups;

use bringup_cloudformation::{STACK_FILE, Template};
use bringup_yaml::Value;
use groups::{VARIANTS, document, plan, template};
use serde_json::json;

fn variant(name: &str) -> Template {
    let (_, extra) = VARIANTS.iter().find(|(known, _)| *known == name).unwrap();
    template(extra)
}

/// The value at a JSON pointer, as JSON.
fn at(template: &Template, pointer: &str) -> serde_json::Value {
    template.value.to_json().pointer(pointer).cloned().unwrap_or_default()
}

fn codes(extra: &str) -> Vec<(&'static str, u32)> {
    let findings = template(extra).findings;
    findings
        .iter()
        .map(|finding| (finding.code.name, finding.place.as_ref().unwrap().span.start.line))
        .collect()
}

#[test]
fn yaml_and_json_say_the_same() {
    for (name, extra) in VARIANTS {
        let template = template(extra);
        let yaml = bringup_yaml::parse_one(&template.to_yaml(), bringup_yaml::Limits::default());
        let json: serde_json::Value = serde_json::from_str(&template.to_json()).unwrap();
        assert_eq!(yaml.unwrap().unwrap().to_value().to_json(), json, "{name}");
        assert_eq!(template.to_yaml(), groups::template(extra).to_yaml(), "{name}");
    }
}

#[test]
fn every_name_that_is_referred_to_is_declared() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Map(pairs) => {
                for (key, value) in pairs {
                    match (key.as_str(), value) {
                        ("Ref", Value::String(name)) => found.push(name.clone()),
                        ("Fn::GetAtt", Value::List(parts)) => {
                            found.extend(parts.first().and_then(Value::as_str).map(str::to_owned));
                        }
                        _ => references(value, found),
                    }
                }
            }
            Value::List(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    for (name, extra) in VARIANTS {
        let template = template(extra);
        let mut found = Vec::new();
        references(&template.value, &mut found);
        for target in found.iter().filter(|target| !target.starts_with("AWS::")) {
            let declared = ["Parameters", "Resources"]
                .iter()
                .any(|section| template.value.get(section).unwrap().get(target).is_some());
            assert!(declared, "{name}: {target}");
        }
    }
}

#[test]
fn images_come_from_the_publisher_of_the_system() {
    let image = |extra: &str| {
        at(&template(extra), "/Parameters/NodeImageIdSSMParam/Default")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let eks = |group: &str| {
        image(&format!(
            "  join: {{method: eks-token}}\n  nodeGroups: [{{name: a, platform: aws, {group}}}]\n"
        ))
    };
    let prefix = "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023";
    assert_eq!(eks("os: amazon-linux-2023"), format!("{prefix}/x86_64/standard/recommended/image_id"));
    assert_eq!(
        eks("os: amazon-linux-2023, architecture: aarch64, instanceTypes: [m7g.large]"),
        format!("{prefix}/arm64/standard/recommended/image_id")
    );
    assert_eq!(
        eks("os: amazon-linux-2023, instanceTypes: [g5.xlarge]"),
        format!("{prefix}/x86_64/nvidia/recommended/image_id")
    );
    assert_eq!(
        eks("os: amazon-linux-2023, instanceTypes: [trn1.32xlarge]"),
        format!("{prefix}/x86_64/neuron/recommended/image_id")
    );
    assert_eq!(
        eks("os: ubuntu"),
        "/aws/service/canonical/ubuntu/eks/24.04/1.33/stable/current/amd64/hvm/ebs-gp3/ami-id"
    );
    assert_eq!(
        eks("os: {family: ubuntu, version: '22.04'}"),
        "/aws/service/canonical/ubuntu/eks/22.04/1.33/stable/current/amd64/hvm/ebs-gp2/ami-id"
    );
    assert_eq!(eks("os: debian"), "/aws/service/debian/release/12/latest/amd64");
    assert_eq!(eks("os: ubuntu, launch: {imageParameter: /team/image}"), "/team/image");
    // There is no image of Amazon Linux 2 for 1.33, and none of Flatcar anywhere: it must be named.
    assert_eq!(eks("os: amazon-linux-2"), "");
    let own = "  join: {method: kubeadm}\n  nodeGroups: [{name: a, platform: aws, os: ubuntu}]\n";
    assert_eq!(
        image(own),
        "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id"
    );
    assert_eq!(
        codes("  join: {method: eks-token}\n  nodeGroups: [{name: a, platform: aws, os: flatcar}]\n"),
        [("launch/no-image", 8)]
    );
}

#[test]
fn tokens_are_required_and_tags_hidden_by_default() {
    let template = variant("minimal");
    let options =
        at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/MetadataOptions");
    let tokens = json!({"Fn::If": ["IMDSv1Disabled", "required", "optional"]});
    assert_eq!(
        options,
        json!({"HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 2, "HttpTokens": tokens, "InstanceMetadataTags": "disabled"})
    );
    assert_eq!(at(&template, "/Parameters/DisableIMDSv1/Default"), "true");
    assert_eq!(at(&variant("existing-profile"), "/Parameters/DisableIMDSv1/Default"), "false");
}

#[test]
fn an_instance_profile_that_exists_is_used_and_nothing_made() {
    let template = variant("existing-profile");
    let resources = at(&template, "/Resources");
    assert_eq!(resources.get("NodeInstanceRole"), None);
    assert_eq!(resources.get("NodeInstanceProfile"), None);
    assert_eq!(
        resources.pointer("/NodeAccessEntry/Properties/PrincipalArn").unwrap(),
        "arn:aws:iam::111122223333:role/nodes"
    );
    let profile = "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/IamInstanceProfile";
    assert_eq!(at(&template, profile), json!({"Name": "nodes"}));
    let by_arn = json!({"Arn": "arn:aws:iam::111122223333:instance-profile/nodes"});
    assert_eq!(at(&variant("profile-by-arn"), profile), by_arn);
}

#[test]
fn a_single_type_on_demand_needs_no_mixture() {
    let group = "/Resources/NodeGroup/Properties";
    assert_eq!(at(&variant("gpu"), &format!("{group}/MixedInstancesPolicy")), json!(null));
    let mixed = at(&variant("mixed-spot"), &format!("{group}/MixedInstancesPolicy"));
    assert_eq!(
        mixed.get("InstancesDistribution").unwrap(),
        &json!({"OnDemandPercentageAboveBaseCapacity": 20, "SpotAllocationStrategy": "price-capacity-optimized"})
    );
    assert_eq!(
        mixed.pointer("/LaunchTemplate/Overrides").unwrap(),
        &json!([{"InstanceType": {"Ref": "NodeInstanceType"}}, {"InstanceType": "m6i.large"}, {"InstanceType": "m5.large"}])
    );
    assert_eq!(at(&variant("mixed-spot"), &format!("{group}/LaunchTemplate")), json!(null));
}

/// How long a new node may take is the same whether its stack is new or not.
#[test]
fn an_update_waits_for_signals_as_long_as_the_creation_unless_it_is_told() {
    let pause = |rest: &str| {
        let extra = format!(
            "\n  join: {{method: eks-token}}\n  nodeGroups:\n  - name: a\n    platform: aws\n    os: amazon-linux-2023\n    {rest}\n"
        );
        let path = "/Resources/NodeGroup/UpdatePolicy/AutoScalingRollingUpdate/PauseTime";
        at(&template(&extra), path)
    };
    let signals = "signals: [{kind: cloudformation}]\n    scaling:";
    assert_eq!(pause(&format!("{signals} {{max: 3}}")), "PT15M");
    assert_eq!(pause(&format!("{signals} {{max: 3, creationTimeout: 40m}}")), "PT40M");
    // CloudFormation takes no longer pause than that.
    assert_eq!(pause(&format!("{signals} {{max: 3, creationTimeout: 2h}}")), "PT1H");
    assert_eq!(pause(&format!("{signals} {{max: 3, rollingUpdate: {{pause: 10m}}}}")), "PT10M");
    assert_eq!(pause("scaling: {max: 3, creationTimeout: 40m}"), "PT5M");
}

#[test]
fn a_stack_that_is_signalled_waits_and_tells_its_name() {
    let template = variant("signals");
    let group = at(&template, "/Resources/NodeGroup");
    let signal = json!({"Count": {"Ref": "NodeAutoScalingGroupDesiredCapacity"}, "Timeout": "PT20M"});
    assert_eq!(group.pointer("/CreationPolicy/ResourceSignal").unwrap(), &signal);
    let update = group.pointer("/UpdatePolicy/AutoScalingRollingUpdate").unwrap();
    assert_eq!(update.get("WaitOnResourceSignals").unwrap(), true);
    assert_eq!(update.get("PauseTime").unwrap(), "PT10M");
    assert_eq!(group.pointer("/Properties/LifecycleHookSpecificationList/0/HeartbeatTimeout").unwrap(), 1200);
    let user_data = at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/UserData");
    let text = user_data.pointer("/Fn::Base64/Fn::Sub").unwrap().as_str().unwrap();
    assert!(text.contains(STACK_FILE));
    // In front of our own part, by its name too.
    assert!(text.contains("filename=\"000-aws-stack.sh\""), "{text}");
    assert!(text.contains(r#""group":"${AWS::StackName}-NodeGroup""#));
    // Two names, each up to 128 letters, where the template has 17.
    assert_eq!(template.user_data_bytes, text.len() + 2 * (128 - 17));
    let role = at(&template, "/Resources/NodeInstanceRole/Properties/Policies").to_string();
    assert!(role.contains("cloudformation:SignalResource") && role.contains(":stack/${AWS::StackName}/*"));
    assert!(role.contains("autoScalingGroupName/${AWS::StackName}-NodeGroup"));
    // A stack that the document names need not be told.
    let named =
        at(&variant("named-stack"), "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/UserData");
    assert!(named.is_string());
}

#[test]
fn a_master_may_make_the_object_that_elects_it_and_read_who_did() {
    let (_, extra) = VARIANTS.iter().find(|(known, _)| *known == "minimal").unwrap();
    let document = document(extra);
    let (path, group) = document.groups().next().unwrap();
    let mut plan = plan(&document);
    plan.bootstrap = Some(bringup_plan::Election::Store { object: "s3://harbour/first".to_owned() });
    let template = bringup_cloudformation::write(&document, &path, group, &plan, b"#cloud-config\n{}\n");
    let statements =
        at(&template, "/Resources/NodeInstanceRole/Properties/Policies/0/PolicyDocument/Statement");
    let object = json!([{"Fn::Sub": "arn:${AWS::Partition}:s3:::harbour/first"}]);
    for action in ["s3:GetObject", "s3:PutObject"] {
        let statement = statements.as_array().unwrap().iter().find(|one| one["Action"] == json!([action]));
        let resources = statement.unwrap()["Resource"].as_array().unwrap().clone();
        assert!(resources.contains(&object[0]), "{action}: {resources:?}");
    }
}

#[test]
fn the_role_may_do_what_the_plan_does_and_no_more() {
    let statements =
        at(&variant("minimal"), "/Resources/NodeInstanceRole/Properties/Policies/0/PolicyDocument/Statement");
    let actions: Vec<&str> = statements
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|statement| statement["Action"].as_array().unwrap())
        .filter_map(serde_json::Value::as_str)
        .collect();
    assert_eq!(actions, ["s3:GetObject", "secretsmanager:GetSecretValue", "ssm:GetParameter"]);
    assert_eq!(
        statements[0]["Resource"],
        json!([{"Fn::Sub": "arn:${AWS::Partition}:s3:::assets/one"}, {"Fn::Sub": "arn:${AWS::Partition}:s3:::secrets/two"}])
    );
}

#[test]
fn nodes_that_are_the_control_plane_join_its_security_group() {
    let template = variant("flatcar-control-plane");
    let groups =
        at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/SecurityGroupIds");
    assert_eq!(groups, json!([{"Ref": "NodeSecurityGroup"}, {"Ref": "ClusterControlPlaneSecurityGroup"}]));
    assert_eq!(at(&template, "/Resources/ControlPlaneEgressToNodeSecurityGroup"), json!(null));
    // Without EKS there is no access entry, and the API server's port is its address's.
    assert_eq!(at(&template, "/Resources/NodeAccessEntry"), json!(null));
    let workers = variant("kubeadm-workers");
    assert_eq!(at(&workers, "/Resources/ClusterControlPlaneSecurityGroupIngress/Properties/FromPort"), 6443);
}

#[test]
fn the_root_device_is_the_systems() {
    let device = |name| {
        at(
            &variant(name),
            "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/BlockDeviceMappings/0/DeviceName",
        )
    };
    assert_eq!(device("ubuntu"), "/dev/sda1");
    assert_eq!(device("minimal"), "/dev/xvda");
    assert_eq!(device("flatcar-control-plane"), "/dev/xvda");
}

#[test]
fn fewer_nodes_stay_in_service_than_there_may_be() {
    let in_service = |name| {
        at(&variant(name), "/Resources/NodeGroup/UpdatePolicy/AutoScalingRollingUpdate/MinInstancesInService")
    };
    assert_eq!(in_service("gpu"), json!({"Ref": "NodeAutoScalingGroupDesiredCapacity"}));
    assert_eq!(in_service("signals"), 3);
    // The desired number is the largest.
    assert_eq!(in_service("existing-profile"), 0);
}

#[test]
fn spot_without_a_share_means_spot_only() {
    let extra = group("    launch: {spot: true}\n");
    let distribution = "/Resources/NodeGroup/Properties/MixedInstancesPolicy/InstancesDistribution";
    assert_eq!(at(&template(&extra), distribution)["OnDemandPercentageAboveBaseCapacity"], 0);
    assert_eq!(at(&variant("arm64"), distribution), json!({"OnDemandPercentageAboveBaseCapacity": 100}));
}

#[test]
fn pods_with_ipv6_addresses_need_a_policy_of_their_own() {
    let role = |name| at(&variant(name), "/Resources/NodeInstanceRole/Properties");
    let six = role("ipv6").to_string();
    assert!(!six.contains("AmazonEKS_CNI_Policy") && six.contains("ec2:AssignIpv6Addresses"));
    let four = role("minimal").to_string();
    assert!(four.contains("AmazonEKS_CNI_Policy") && !four.contains("ec2:AssignIpv6Addresses"));
}

#[test]
fn the_document_gives_the_parameters_their_defaults() {
    let parameters = at(&variant("gpu"), "/Parameters");
    let expected = [
        ("ClusterName", json!("shop-production")),
        ("ClusterControlPlaneSecurityGroup", json!("sg-0123456789abcdef0")),
        ("NodeGroupName", json!("gpu")),
        ("NodeAutoScalingGroupMinSize", json!(0)),
        ("NodeAutoScalingGroupDesiredCapacity", json!(2)),
        ("NodeAutoScalingGroupMaxSize", json!(4)),
        ("NodeInstanceType", json!("g5.xlarge")),
        ("NodeVolumeSize", json!(200)),
        ("KeyName", json!("operators")),
        ("VpcId", json!("vpc-0123456789abcdef0")),
        ("Subnets", json!("subnet-0123456789abcdef0,subnet-0123456789abcdef1")),
    ];
    for (name, default) in expected {
        assert_eq!(parameters[name]["Default"], default, "{name}");
    }
    // What the document does not know is asked for.
    assert_eq!(at(&variant("minimal"), "/Parameters/Subnets").get("Default"), None);
    assert_eq!(
        at(&variant("minimal"), "/Resources/ClusterControlPlaneSecurityGroupIngress/Properties/FromPort"),
        443
    );
}

#[test]
fn instances_that_read_their_tags_do_not_get_one_with_a_slash() {
    let tags = at(&variant("tags-in-metadata"), "/Resources/NodeGroup/Properties/Tags");
    assert_eq!(tags[1]["Key"], json!({"Fn::Sub": "kubernetes.io/cluster/${ClusterName}"}));
    assert_eq!(tags[1]["PropagateAtLaunch"], false);
    let shown =
        "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData/MetadataOptions/InstanceMetadataTags";
    assert_eq!(at(&variant("tags-in-metadata"), shown), "enabled");
    // Elsewhere the cluster's tag reaches the nodes; what is meant for the autoscaler stays with the group.
    let tags = at(&variant("gpu"), "/Resources/NodeGroup/Properties/Tags");
    let reaches: Vec<bool> =
        tags.as_array().unwrap().iter().map(|tag| tag["PropagateAtLaunch"] == true).collect();
    assert_eq!(reaches, [false, true, true, false]);
}

/// A document whose line 13 holds the settings.
fn group(settings: &str) -> String {
    format!(
        "  join: {{method: eks-token}}\n  nodeGroups:\n  - name: a\n    platform: aws\n    os: amazon-linux-2023\n    instanceTypes: [m5.large]\n{settings}"
    )
}

#[test]
fn what_ec2_would_refuse_is_told_with_its_line() {
    let cases: &[(&str, &[(&str, u32)])] = &[
        ("    launch: {volumes: [{sizeGiB: 10}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50, type: gp2, iops: 4000}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50, type: io1}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50, type: gp2, throughput: 250}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50, throughput: 1000}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50, encrypted: false, kmsKey: k}]}\n", &[("launch/volume", 13)]),
        ("    launch: {volumes: [{sizeGiB: 50}, {sizeGiB: 50}]}\n", &[("launch/device", 13)]),
        (
            "    launch: {volumes: [{sizeGiB: 50}, {sizeGiB: 50, device: /dev/xvda}]}\n",
            &[("launch/device", 13)],
        ),
        ("    launch: {image: ami-0123456789abcdef0, imageParameter: /a}\n", &[("launch/two-images", 13)]),
        ("    launch: {image: my-image}\n", &[("launch/malformed", 13)]),
        ("    launch: {securityGroups: [default]}\n", &[("launch/malformed", 13)]),
        ("    launch: {metadata: {hopLimit: 65}}\n", &[("launch/hop-limit", 13)]),
        ("    launch: {tags: {'aws:owner': me}}\n", &[("launch/tag", 13)]),
        ("    launch: {tags: {a/b: c}}\n", &[]),
        (
            "    launch: {tags: {a/b: c}, metadata: {instanceTags: true}}\n",
            &[("launch/tag-in-metadata", 13), ("launch/tag-in-metadata", 13)],
        ),
        (
            "    launch: {role: {instanceProfile: nodes}}\n",
            &[("launch/role", 13), ("launch/permissions", 13)],
        ),
        ("    launch: {role: {arn: 'arn:aws:iam::1:role/a'}}\n", &[("launch/role", 13)]),
        ("    launch: {spot: true}\n", &[("launch/spot", 13)]),
        ("    scaling: {min: 3, max: 2}\n", &[("launch/sizes", 13)]),
        ("    scaling: {min: 1, max: 3, desired: 4}\n", &[("launch/sizes", 13)]),
        ("    scaling: {max: 3, rollingUpdate: {minInService: 3}}\n", &[("launch/rolling-update", 13)]),
        ("    scaling: {max: 1}\n", &[("launch/rolling-update", 13)]),
        ("    scaling: {max: 3, rollingUpdate: {pause: 2h}}\n", &[("launch/timeout", 13)]),
        ("    scaling: {max: 3, onDemandPercentage: 101}\n", &[("launch/spot", 13)]),
        ("    scaling: {max: 3, lifecycleHook: not ready}\n", &[("launch/lifecycle-hook", 13)]),
        ("    signals: [{kind: lifecycle-action, hook: ready}]\n", &[("launch/lifecycle-hook", 13)]),
        ("    signals: [{kind: cloudformation, resource: Other}]\n", &[("launch/signal", 13)]),
    ];
    for (settings, expected) in cases {
        assert_eq!(&codes(&group(settings)), expected, "{settings}");
    }
}

#[test]
fn a_group_elsewhere_cannot_be_launched_by_cloudformation() {
    let extra = "  join: {method: eks-token}\n  nodeGroups: [{name: a, os: debian}]\n";
    assert_eq!(codes(extra), [("launch/platform", 8)]);
}

#[test]
fn a_tag_that_the_plan_reads_must_be_shown() {
    let document = document(&group(""));
    let (path, group) = document.groups().next().unwrap();
    let mut plan = plan(&document);
    plan.facts.insert(bringup_spec::Fact::Tag("pool".into()));
    let findings = bringup_cloudformation::check(&document, &path, group, &plan);
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(codes, ["launch/tags-hidden"]);
}

#[test]
fn settings_that_no_carrier_uses_are_told() {
    let document = document(&group("    launch: {keyName: a}\n    scaling: {max: 3}\n"));
    let (path, group) = document.groups().next().unwrap();
    let findings = bringup_cloudformation::unused(&document, &path, group);
    let lines: Vec<u32> =
        findings.iter().map(|finding| finding.place.as_ref().unwrap().span.start.line).collect();
    assert_eq!(lines, [13, 14]);
}

/// What eksctl's groups have beside types and disks, in CloudFormation's own words.
#[test]
fn machines_are_made_and_chosen_as_the_document_says() {
    let template = variant("fabric");
    assert_eq!(template.findings.iter().filter(|finding| finding.code.name != "launch/spot").count(), 0);
    let data = at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData");
    assert_eq!(data["SecurityGroupIds"], json!(null), "they are the interfaces'");
    let interfaces = data["NetworkInterfaces"].as_array().unwrap();
    let cards: Vec<_> = interfaces
        .iter()
        .map(|card| (&card["NetworkCardIndex"], &card["DeviceIndex"], &card["InterfaceType"]))
        .collect();
    let efa = json!("efa");
    let numbers: Vec<_> = (0..4).map(|number| json!(number)).collect();
    assert_eq!(
        cards,
        [(0, 0), (1, 1), (2, 1), (3, 1)].map(|(card, device)| (&numbers[card], &numbers[device], &efa))
    );
    assert_eq!(
        interfaces[0]["Groups"],
        json!([{"Ref": "NodeSecurityGroup"}, {"Ref": "NodeFabricSecurityGroup"}])
    );
    assert_eq!(data["Placement"], json!({"GroupName": {"Ref": "NodePlacementGroup"}}));
    assert_eq!(at(&template, "/Resources/NodePlacementGroup/Properties/Strategy"), json!("cluster"));
    for rule in [
        "NodeFabricIngress/Properties/SourceSecurityGroupId",
        "NodeFabricEgress/Properties/DestinationSecurityGroupId",
    ] {
        assert_eq!(at(&template, &format!("/Resources/{rule}")), json!({"Ref": "NodeFabricSecurityGroup"}));
    }
    assert_eq!(data["KeyName"], json!({"Fn::If": ["HasKey", {"Ref": "KeyName"}, {"Ref": "NodeKeyPair"}]}));
    assert!(at(&template, "/Resources/NodeKeyPair/Properties/PublicKeyMaterial").is_string());
    assert_eq!(data["EnclaveOptions"], json!({"Enabled": true}));
    assert_eq!(data["BlockDeviceMappings"][1]["Ebs"]["SnapshotId"], json!("snap-0123456789abcdef0"));
    let group = at(&template, "/Resources/NodeGroup/Properties");
    assert_eq!(
        group["MixedInstancesPolicy"]["InstancesDistribution"],
        json!({
            "OnDemandPercentageAboveBaseCapacity": 50, "OnDemandBaseCapacity": 1,
            "SpotAllocationStrategy": "lowest-price", "SpotInstancePools": 2, "SpotMaxPrice": "12.5",
        })
    );
    assert_eq!(group["CapacityRebalance"], json!(true));
    assert_eq!(group["MaxInstanceLifetime"], json!(864_000));
    assert_eq!(group["LoadBalancerNames"], json!(["front"]));
    assert_eq!(group["TargetGroupARNs"].as_array().unwrap().len(), 1);

    let template = variant("burstable");
    let data = at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData");
    assert_eq!(data["CreditSpecification"], json!({"CpuCredits": "unlimited"}));
    assert_eq!(data["Placement"], json!({"GroupName": "apart"}));
    let policy = at(&template, "/Resources/NodeGroup/Properties/MixedInstancesPolicy/InstancesDistribution");
    assert_eq!(policy["SpotAllocationStrategy"], json!("capacity-optimized-prioritized"));
}

#[test]
fn what_ec2_would_refuse_of_keys_cards_and_spot_capacity_is_told() {
    let group = |fields: &str| {
        let text = format!(
            "\n  join: {{method: eks-token}}\n  nodeGroups:\n  - name: a\n    platform: aws\n    os: amazon-linux-2023\n    instanceTypes: [m7i.large, m6i.large]\n    {fields}\n"
        );
        codes(&text).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    let fine = "ssh-ed25519 AAAA a";
    for (fields, wanted) in [
        (format!("launch: {{publicKey: {fine}, keyName: b}}"), "launch/key"),
        ("launch: {publicKey: AAAA}".to_owned(), "launch/key"),
        ("launch: {efaInterfaces: 33}".to_owned(), "launch/efa"),
        ("launch: {volumes: [{sizeGiB: 80, snapshot: snap}]}".to_owned(), "launch/malformed"),
        ("scaling: {max: 3, spotPools: 21}".to_owned(), "launch/spot"),
        ("scaling: {max: 3, spotPools: 2, spotStrategy: capacity-optimized}".to_owned(), "launch/spot"),
        ("scaling: {max: 3, spotMaxPrice: cheap}".to_owned(), "launch/spot"),
        ("scaling: {max: 3, maxInstanceLifetime: 1h}".to_owned(), "launch/timeout"),
    ] {
        assert!(group(&fields).contains(&wanted), "{fields}: {:?}", group(&fields));
    }
    assert_eq!(group(&format!("launch: {{publicKey: {fine}, efaInterfaces: 32}}")), Vec::<&str>::new());
}

/// What the fifth ancestor quotes of AWS' own template, value by value. Its groups are Auto Scaling groups, not managed ones.
#[test]
fn the_resources_have_what_those_of_the_official_template_have() {
    let template = variant("gpu");
    let all = at(&template, "/Resources");
    for (path, expected) in [
        ("NodeLaunchTemplate/Type", json!("AWS::EC2::LaunchTemplate")),
        ("NodeGroup/Type", json!("AWS::AutoScaling::AutoScalingGroup")),
    ] {
        assert_eq!(all.pointer(&format!("/{path}")), Some(&expected), "{path}");
    }
    let data = at(&template, "/Resources/NodeLaunchTemplate/Properties/LaunchTemplateData");
    let root = &data["BlockDeviceMappings"][0];
    assert_eq!(root["DeviceName"], "/dev/xvda");
    assert_eq!(root["Ebs"]["DeleteOnTermination"], true);
    assert_eq!(root["Ebs"]["VolumeSize"], json!({"Ref": "NodeVolumeSize"}));
    let profile = json!({"Arn": {"Fn::GetAtt": ["NodeInstanceProfile", "Arn"]}});
    let image = json!({"Fn::If": ["HasNodeImageId", {"Ref": "NodeImageId"}, {"Ref": "NodeImageIdSSMParam"}]});
    assert_eq!((&data["IamInstanceProfile"], &data["ImageId"]), (&profile, &image));
    assert_eq!(data["InstanceType"], json!({"Ref": "NodeInstanceType"}));
    // A key is no longer asked of everybody.
    assert_eq!(data["KeyName"]["Fn::If"][1], json!({"Ref": "KeyName"}));
    assert_eq!(data["SecurityGroupIds"][0], json!({"Ref": "NodeSecurityGroup"}));
    assert!(data["UserData"].is_object() || data["UserData"].is_string());
    let group = at(&template, "/Resources/NodeGroup/Properties");
    for (key, parameter) in [
        ("DesiredCapacity", "NodeAutoScalingGroupDesiredCapacity"),
        ("MaxSize", "NodeAutoScalingGroupMaxSize"),
        ("MinSize", "NodeAutoScalingGroupMinSize"),
        ("VPCZoneIdentifier", "Subnets"),
    ] {
        assert_eq!(group[key], json!({"Ref": parameter}), "{key}");
    }
    assert_eq!(
        group["LaunchTemplate"],
        json!({"LaunchTemplateId": {"Ref": "NodeLaunchTemplate"}, "Version": {"Fn::GetAtt": ["NodeLaunchTemplate", "LatestVersionNumber"]}})
    );
    let owned = json!({"Key": {"Fn::Sub": "kubernetes.io/cluster/${ClusterName}"}, "PropagateAtLaunch": true, "Value": "owned"});
    assert!(group["Tags"].as_array().unwrap().contains(&owned), "{}", group["Tags"]);
    assert_eq!(group["Tags"][0]["Value"], json!({"Fn::Sub": "${ClusterName}-${NodeGroupName}-Node"}));
    let update = at(&template, "/Resources/NodeGroup/UpdatePolicy/AutoScalingRollingUpdate");
    assert_eq!((&update["MaxBatchSize"], &update["PauseTime"]), (&json!(1), &json!("PT5M")));
    assert_eq!(update["MinInstancesInService"], json!({"Ref": "NodeAutoScalingGroupDesiredCapacity"}));
}
