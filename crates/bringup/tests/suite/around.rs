//! What stands around user-data in a template, taken over or named.

use crate::program::{error, out, run};

const ADDITIONS: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  kubernetes: {version: \"1.33\"}\n  aws: {region: eu-west-1}\n";

const TEMPLATE: &str = r#"AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  NodeInstanceType: {Type: String, Default: m5.large}
  NodeImageId: {Type: String, Default: ""}
  NodeImageIdSSMParam:
    Type: AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>
    Default: /team/images/node
Conditions:
  HasNodeImageId: !Not [!Equals [!Ref NodeImageId, ""]]
Resources:
  NodeLaunchTemplate:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !If [HasNodeImageId, !Ref NodeImageId, !Ref NodeImageIdSSMParam]
        InstanceType: !Ref NodeInstanceType
        KeyName: ops
        BlockDeviceMappings:
          - DeviceName: /dev/xvda
            Ebs: {VolumeSize: 77, VolumeType: gp2, Odd: 1}
        SecurityGroupIds: [!Ref NodeSecurityGroup]
        MetadataOptions: {HttpPutResponseHopLimit: 1, HttpTokens: optional}
        CpuOptions: {CoreCount: 2}
        UserData:
          Fn::Base64: |
            #!/bin/bash
            /etc/eks/bootstrap.sh acme
  NodeSecurityGroup:
    Type: AWS::EC2::SecurityGroup
    Properties: {GroupDescription: nodes}
  NodeGroup:
    Type: AWS::AutoScaling::AutoScalingGroup
    UpdatePolicy: {AutoScalingRollingUpdate: {MaxBatchSize: 1}}
    Properties:
      MinSize: "1"
      MaxSize: "5"
      DesiredCapacity: "3"
      LaunchTemplate: {LaunchTemplateId: !Ref NodeLaunchTemplate, Version: "1"}
  Bucket:
    Type: AWS::S3::Bucket
Outputs:
  Name: {Value: !Ref Bucket}
"#;

fn folder(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, text) in [(name, text), ("additions.yaml", ADDITIONS)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// The rest of a template is not lost: what a document can say is in it, and the rest is named where it stands.
#[test]
fn a_template_is_taken_over_with_its_machines() {
    let folder = folder("nodes.yaml", TEMPLATE);
    let arguments = ["convert", "nodes.yaml", "--to", "bringup", "--with", "additions.yaml"];
    let converted = run(folder.path(), &arguments);
    let document = out(&converted);
    for line in [
        "    instanceTypes:\n    - m5.large\n",
        "      imageParameter: /team/images/node\n",
        "      keyName: ops\n",
        "      - device: /dev/xvda\n        sizeGiB: 77\n        type: gp2\n        encrypted: false\n",
        "        tokensRequired: false\n        hopLimit: 1\n",
        "    scaling:\n      min: 1\n      max: 5\n      desired: 3\n      rollingUpdate:\n        maxBatchSize: 1\n",
        "    carriers:\n    - cloud-init\n    - cloudformation\n",
    ] {
        assert!(document.contains(line), "{line}\n{document}{}", error(&converted));
    }
    let chosen = run(
        folder.path(),
        &[
            &arguments[..],
            &[
                "--parameter",
                "NodeImageId=ami-0123456789abcdef0",
                "--parameter",
                "NodeInstanceType=c5.xlarge",
            ],
        ]
        .concat(),
    );
    assert!(out(&chosen).contains("image: ami-0123456789abcdef0"), "{}{}", out(&chosen), error(&chosen));
    assert!(out(&chosen).contains("- c5.xlarge"), "{}", out(&chosen));

    let built = run(folder.path(), &["build", "nodes.yaml", "--with", "additions.yaml"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let told = error(&built);
    assert!(!told.contains("launch/no-image"), "{told}");
    for (message, place) in [
        ("unknown field `Odd` in `Ebs` of a block device", "nodes.yaml:20:"),
        ("`SecurityGroupIds` hangs on `${NodeSecurityGroup}`", "nodes.yaml:21:"),
        ("`CpuOptions` of the launch settings is not carried out", "nodes.yaml:23:"),
        (
            "the resource `NodeSecurityGroup` of the type `AWS::EC2::SecurityGroup` shapes the stack",
            "nodes.yaml:28:",
        ),
        ("the resource `Bucket` of the type `AWS::S3::Bucket` shapes the stack", "nodes.yaml:39:"),
        ("the section `Outputs` shapes the stack", "nodes.yaml:41:"),
    ] {
        let found = told.split(message).nth(1).and_then(|rest| rest.lines().nth(1));
        assert!(found.is_some_and(|line| line.contains(place)), "{message} at {found:?}\n{told}");
    }
}

/// Nobody signals: that an update waits for it is told, also where only the stack knows whether it does; without numbers of nodes
/// all of it is lost, and told once.
#[test]
fn an_update_that_may_wait_for_signals_is_told() {
    let policy = |waits: &str| {
        let policy = format!(
            "    UpdatePolicy: {{AutoScalingRollingUpdate: {{MaxBatchSize: 1, WaitOnResourceSignals: {waits}}}}}\n"
        );
        TEMPLATE
            .replace("    UpdatePolicy: {AutoScalingRollingUpdate: {MaxBatchSize: 1}}\n", &policy)
            .replace("Parameters:\n", "Parameters:\n  Waits: {Type: String}\n")
    };
    let told = |template: &str| {
        let folder = folder("nodes.yaml", template);
        error(&run(folder.path(), &["build", "nodes.yaml", "--with", "additions.yaml"]))
    };
    let waits = "with the new template it waits for the pause only";
    for (word, expected) in [("true", true), ("false", false), ("!Ref Waits", true)] {
        let told = told(&policy(word));
        assert_eq!(told.contains(waits), expected, "{word}\n{told}");
    }
    let sizes = "      MinSize: \"1\"\n      MaxSize: \"5\"\n      DesiredCapacity: \"3\"\n";
    let lost = told(&policy("true").replace(sizes, ""));
    assert!(lost.contains("`UpdatePolicy` is left out") && !lost.contains(waits), "{lost}");
}

/// The fifth seed's template: subnets, the pace of an update and the wait for the first nodes are the new template's, too.
#[test]
fn the_pace_of_updates_and_the_subnets_are_taken_over() {
    let policy = "    CreationPolicy: {ResourceSignal: {Count: 3, Timeout: PT20M}}\n    UpdatePolicy:\n      AutoScalingRollingUpdate: {MaxBatchSize: 2, MinInstancesInService: !Ref Least, PauseTime: PT5M, SuspendProcesses: [AZRebalance]}\n    Properties:\n      VPCZoneIdentifier: !Ref Subnets\n";
    let parameters = "Parameters:\n  Least: {Type: Number, Default: 3}\n  Subnets: {Type: \"List<AWS::EC2::Subnet::Id>\"}\n";
    let signal = "/etc/eks/bootstrap.sh acme\n            /opt/aws/bin/cfn-signal --exit-code $? --stack ${AWS::StackName} --resource NodeGroup --region ${AWS::Region}\n";
    let template = TEMPLATE
        .replace("    UpdatePolicy: {AutoScalingRollingUpdate: {MaxBatchSize: 1}}\n    Properties:\n", policy)
        .replace("Parameters:\n", parameters)
        .replace("Fn::Base64: |", "Fn::Base64: !Sub |")
        .replace("/etc/eks/bootstrap.sh acme\n", signal);
    let folder = folder("nodes.yaml", &template);
    let arguments = ["convert", "nodes.yaml", "--to", "bringup", "--with", "additions.yaml"];
    let given = ["--parameter", "Subnets=subnet-0123456789abcdef0,subnet-0123456789abcdef1"];
    let converted = run(folder.path(), &[&arguments[..], &given[..]].concat());
    let document = out(&converted);
    for line in [
        "      rollingUpdate:\n        maxBatchSize: 2\n        minInService: 3\n        pause: 300s\n      creationTimeout: 1200s\n",
        "    subnets:\n    - subnet-0123456789abcdef0\n    - subnet-0123456789abcdef1\n",
    ] {
        assert!(document.contains(line), "{line}\n{document}{}", error(&converted));
    }
    let told = error(&converted);
    assert!(told.contains("the new template suspends `HealthCheck`"), "{told}");
    assert!(!told.contains("who deploys the new template is asked"), "{told}");
    let build = ["build", "nodes.yaml", "--with", "additions.yaml", "-o", "built"];
    let built = run(folder.path(), &[&build[..], &given[..]].concat());
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let made =
        std::fs::read_dir(folder.path().join("built/acme")).expect("the cluster").next().expect("a group");
    let made = made.expect("a folder").path().join("template.yaml");
    let made = std::fs::read_to_string(made).expect("the template");
    for line in ["Timeout: PT20M", "MaxBatchSize: 2", "MinInstancesInService: 3", "PauseTime: PT5M"] {
        assert!(made.contains(line), "{line}\n{made}");
    }
    // Nobody knows the subnets, and no script signals: both are told.
    let silent = template.replace(signal, "/etc/eks/bootstrap.sh acme\n");
    std::fs::write(folder.path().join("nodes.yaml"), silent).expect("a file");
    let told = error(&run(folder.path(), &arguments));
    assert!(told.contains("who deploys the new template is asked"), "{told}");
    assert!(
        told.contains("the stack waits for signals of its first nodes, and no script sends any"),
        "{told}"
    );
}

/// `aws ec2 describe-launch-template-versions`.
#[test]
fn what_aws_prints_of_a_launch_template_is_taken_over() {
    let answer = r#"{"LaunchTemplateVersions": [{"LaunchTemplateName": "nodes", "VersionNumber": 3,
"LaunchTemplateData": {
"IamInstanceProfile": {"Arn": "arn:aws:iam::111122223333:instance-profile/team/eks-node"},
"ImageId": "ami-0123456789abcdef0", "InstanceType": "m5.large", "EbsOptimized": true,
"SecurityGroupIds": ["sg-0123456789abcdef0"],
"TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "shop"}]}],
"UserData": "IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIGFjbWUK"}}]}"#;
    let folder = folder("answer.json", answer);
    let built = run(folder.path(), &["build", "answer.json", "--with", "additions.yaml"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let converted =
        run(folder.path(), &["convert", "answer.json", "--to", "bringup", "--with", "additions.yaml"]);
    for line in [
        "    - m5.large\n",
        "      image: ami-0123456789abcdef0\n",
        "        team: shop\n",
        "      - sg-0123456789abcdef0\n",
        "        instanceProfile: eks-node\n        accessEntry: false\n",
        "      ebsOptimized: true\n",
    ] {
        assert!(out(&converted).contains(line), "{line}\n{}{}", out(&converted), error(&converted));
    }
}
