//! Node groups of many kinds, each with a plan and user-data to put into a template.
#![allow(
    clippy::expect_used,
    clippy::needless_raw_string_hashes,
    dead_code,
    reason = "a test stops at the first surprise; documents look alike; each user takes what it needs"
)]

use bringup_cloudformation::Template;
use bringup_plan::Plan;
use bringup_spec::{Document, OsFamily};
use serde_json::json;

/// What stands in front of every document.
const HEAD: &str = r#"
apiVersion: bringup.dev/v1alpha1
kind: Cluster
metadata: {name: shop}
spec:
  kubernetes: {version: "1.33"}
"#;

/// Variants by name: what follows the head.
pub(crate) const VARIANTS: &[(&str, &str)] = &[
    (
        "minimal",
        "  join: {method: eks-token}\n  nodeGroups:\n  - {name: plain, platform: aws, os: amazon-linux-2023}\n",
    ),
    (
        "gpu",
        r#"
  join: {method: eks-token}
  aws:
    region: eu-central-1
    clusterName: shop-production
    vpc: vpc-0123456789abcdef0
    subnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]
    controlPlaneSecurityGroup: sg-0123456789abcdef0
  nodeGroups:
  - name: gpu
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [g5.xlarge]
    launch:
      keyName: operators
      ebsOptimized: true
      monitoring: true
      securityGroups: [sg-0123456789abcdef1]
      tags: {team: vision, Name: gpu-node}
      metadata: {hopLimit: 1}
      volumes:
      - {sizeGiB: 200, iops: 6000, throughput: 500, kmsKey: "arn:aws:kms:eu-central-1:111122223333:key/0123abcd-0123-0123-0123-0123456789ab"}
      - {device: /dev/sdf, sizeGiB: 500, type: io2, iops: 10000}
      - {device: /dev/sdg, sizeGiB: 500, type: st1, encrypted: false}
      role: {policies: ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]}
    scaling:
      min: 0
      max: 4
      desired: 2
      tags: {k8s.io/cluster-autoscaler/enabled: "true", cost-centre: "42"}
"#,
    ),
    (
        "fabric",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: training
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [p4d.24xlarge, p4de.24xlarge]
    launch:
      efaInterfaces: 4
      publicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBR5Nbe6iCsb2pn7cSNVnqWyZ5FGVPVuFR4SGx6JvJ5L team"
      enclave: true
      volumes:
      - {sizeGiB: 80}
      - {device: /dev/sdf, sizeGiB: 500, snapshot: snap-0123456789abcdef0}
    scaling:
      max: 4
      onDemandBase: 1
      onDemandPercentage: 50
      spotPools: 2
      spotMaxPrice: "12.5"
      capacityRebalance: true
      maxInstanceLifetime: 240h
      loadBalancers: [front]
      targetGroups: ["arn:aws:elasticloadbalancing:eu-central-1:111122223333:targetgroup/front/0123456789abcdef"]
"#,
    ),
    (
        "burstable",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: small
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [t3.large, t3a.large]
    launch: {cpuCredits: unlimited, placementGroup: apart}
    scaling: {max: 4, onDemandPercentage: 0, spotStrategy: capacity-optimized-prioritized}
"#,
    ),
    (
        "existing-profile",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: plain
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [m7i.large]
    launch:
      image: ami-0123456789abcdef0
      role: {instanceProfile: nodes, arn: "arn:aws:iam::111122223333:role/nodes"}
      metadata: {tokensRequired: false}
    scaling: {max: 1}
"#,
    ),
    (
        "profile-by-arn",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: plain
    platform: aws
    os: amazon-linux-2023
    launch:
      role: {instanceProfile: "arn:aws:iam::111122223333:instance-profile/nodes", accessEntry: false}
"#,
    ),
    (
        "mixed-spot",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: batch
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [m7i.large, m6i.large, m5.large]
    launch: {spot: true}
    scaling: {min: 0, max: 20, desired: 3, onDemandPercentage: 20}
"#,
    ),
    (
        "signals",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: careful
    platform: aws
    os: amazon-linux-2023
    instanceTypes: [m7i.large]
    scaling:
      min: 3
      max: 6
      lifecycleHook: node-ready
      creationTimeout: 20m
      rollingUpdate: {maxBatchSize: 2, minInService: 3, pause: 10m}
    signals:
    - {kind: cloudformation}
    - {kind: lifecycle-action, hook: node-ready}
"#,
    ),
    (
        "named-stack",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: careful
    platform: aws
    os: amazon-linux-2023
    scaling: {max: 3}
    signals: [{kind: cloudformation, stack: shop-nodes, resource: NodeGroup}]
"#,
    ),
    (
        "ubuntu",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: ubuntu
    platform: aws
    os: {family: ubuntu, version: "24.04"}
    instanceTypes: [m7i.large]
    launch: {volumes: [{sizeGiB: 40, type: gp2}]}
"#,
    ),
    (
        "arm64",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: arm
    platform: aws
    os: amazon-linux-2023
    architecture: aarch64
    instanceTypes: [m7g.large, m6g.large]
"#,
    ),
    (
        "ipv6",
        r#"
  join: {method: eks-token}
  network: {serviceRanges: ["fd12:3456:789a::/108"]}
  nodeGroups:
  - {name: six, platform: aws, os: amazon-linux-2023, instanceTypes: [m7i.large]}
"#,
    ),
    (
        "tags-in-metadata",
        r#"
  join: {method: eks-token}
  nodeGroups:
  - name: tagged
    platform: aws
    os: debian
    launch: {metadata: {instanceTags: true}, tags: {pool: blue}}
"#,
    ),
    (
        "flatcar-control-plane",
        r#"
  api: {endpoint: "https://api.shop.example:6443"}
  join: {method: kubeadm}
  aws: {region: eu-central-1, controlPlaneSecurityGroup: sg-0123456789abcdef0}
  nodeGroups:
  - name: masters
    platform: aws
    os: flatcar
    role: control-plane
    launch: {image: ami-0123456789abcdef0}
    signals: [{kind: cloudformation}]
"#,
    ),
    (
        "kubeadm-workers",
        r#"
  api: {endpoint: "https://api.shop.example:6443"}
  join: {method: kubeadm}
  aws: {region: eu-central-1, controlPlaneSecurityGroup: sg-0123456789abcdef0}
  nodeGroups:
  - {name: workers, platform: aws, os: ubuntu, instanceTypes: [t3.large]}
"#,
    ),
];

/// The document with this text behind its head.
pub(crate) fn document(extra: &str) -> Document {
    let read = bringup_spec::read("cluster.yaml", &format!("{HEAD}{extra}"));
    assert!(!read.findings.has_errors(), "{}", bringup_diag::to_json(&read.findings));
    read.documents.into_iter().next().expect("one document")
}

/// The template of the document's first group.
pub(crate) fn template(extra: &str) -> Template {
    let document = document(extra);
    let (path, group) = document.groups().next().expect("a node group");
    let plan = plan(&document);
    let flatcar = group.os.family == OsFamily::Flatcar;
    let user_data: &[u8] = if flatcar {
        br#"{"ignition":{"version":"3.3.0"}}"#
    } else {
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"=_0123\"\n\n--=_0123\nContent-Type: text/cloud-boothook\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"010-bringup.sh\"\n\nI2Nsb3VkLWJvb3Rob29rCiMhL2Jpbi9zaAp0cnVlCg==\n--=_0123--\n"
    };
    bringup_cloudformation::write(&document, &path, group, &plan, user_data)
}

/// A plan that reads from S3, from Parameter Store and from Secrets Manager.
pub(crate) fn plan(document: &Document) -> Plan {
    let (_, group) = document.groups().next().expect("a node group");
    let step =
        |name: &str, action: serde_json::Value| json!({"name": name, "phase": "fetch", "action": action});
    let secret = |source: serde_json::Value| json!({"do": "writeFile", "path": "/etc/secret", "mode": "0600", "owner": "root:root", "content": {"secret": source}});
    let asset = json!({
        "do": "fetch", "urls": ["https://example.com/asset", "s3://assets/one"], "sha256": "0".repeat(64),
        "path": "/opt/asset", "mode": "0644", "owner": "root:root", "unpack": "no",
    });
    let plan = json!({
        "format": bringup_plan::FORMAT,
        "cluster": document.cluster.metadata.name,
        "group": group.name,
        "flavour": document.cluster.spec.flavour,
        "kubernetes": "1.33",
        "platform": group.platform,
        "os": group.os.family,
        "architecture": group.architecture,
        "role": group.role,
        "nodeName": "private-dns",
        "maxPods": {"fixed": 110},
        "units": [],
        "steps": [
            step("asset", asset),
            step("parameter", secret(json!({"ssmParameter": "/shop/token"}))),
            step("secret", secret(json!({"secretsManager": "shop/key"}))),
            step("object", secret(json!({"s3": "s3://secrets/two"}))),
        ],
    });
    Plan::from_json(plan.to_string().as_bytes()).expect("a plan")
}
