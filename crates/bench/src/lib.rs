//! Documents of any size for the benchmarks.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// The text of a document with so many node groups, no two alike.
///
/// They differ in what reaches the plan: names, labels, taints, instance types, pods, files, steps, kubelet's configuration.
pub fn document_of(groups: usize) -> String {
    let mut text = String::from(HEAD);
    for number in 0..groups {
        let instance = INSTANCE_TYPES[number % INSTANCE_TYPES.len()];
        let effect = ["NoSchedule", "NoExecute", "PreferNoSchedule"][number % 3];
        let _ = write!(
            text,
            "    - name: group-{number}
      platform: aws
      os: amazon-linux-2023
      instanceTypes: [{instance}]
      labels:
        example.com/pool: pool-{number}
        example.com/zone: \"@{{zone}}\"
      taints:
        - {{key: example.com/team-{team}, value: \"{number}\", effect: {effect}}}
      kubelet:
        config:
          imageGCHighThresholdPercent: {threshold}
      sysctls:
        net.core.somaxconn: {somaxconn}
      files:
        - path: /etc/example/group-{number}.conf
          content: |
            group = {number}
            instance = @{{instanceId}}
      steps:
        - name: tune-{number}
          run: [/usr/local/bin/tune, --profile, profile-{number}]
          before: [gate]
      carriers: [{carrier}]
",
            team = number % 17,
            threshold = 70 + number % 25,
            somaxconn = 1024 + number,
            carrier = ["cloud-init", "ignition", "bundle"][number % 3],
        );
    }
    text
}

const INSTANCE_TYPES: [&str; 8] = [
    "m5.large",
    "m5.xlarge",
    "c5.4xlarge",
    "r5.2xlarge",
    "g5.xlarge",
    "m6i.large",
    "c6i.8xlarge",
    "p4d.24xlarge",
];

const HEAD: &str = "apiVersion: bringup.dev/v1alpha1
kind: Cluster
metadata:
  name: many
spec:
  flavour: eks
  kubernetes:
    version: \"1.33\"
  api:
    endpoint: https://0123456789abcdef.gr7.eu-central-1.eks.amazonaws.com
  network:
    serviceRanges: [10.100.0.0/16]
  join:
    method: eks-token
  aws:
    region: eu-central-1
  nodeGroups:
";
