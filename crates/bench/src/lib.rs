//! Documents of any size for the benchmarks.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// The text of a document with so many node groups, no two alike.
///
/// They differ in what reaches the plan: names, labels, taints, instance types, pods, files, steps, kubelet's configuration.
pub fn document_of(groups: usize) -> String {
    let mut text = String::from(HEAD);
    for number in 0..groups {
        let effect = ["NoSchedule", "NoExecute", "PreferNoSchedule"][number % 3];
        let instance = INSTANCE_TYPES[number % INSTANCE_TYPES.len()];
        let machine = match number % 3 {
            0 => format!(
                "platform: aws\n      os: amazon-linux-2023\n      instanceTypes: [{instance}]\n      carriers: [cloud-init]"
            ),
            1 => "os: flatcar\n      carriers: [ignition]".to_owned(),
            _ => "os: debian\n      carriers: [multipart]".to_owned(),
        };
        let _ = write!(
            text,
            "    - name: group-{number}
      {machine}
      labels:
        example.com/pool: pool-{number}
        example.com/host: \"@{{hostname}}\"
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
            address = @{{address}}
      steps:
        - name: tune-{number}
          run: [/usr/local/bin/tune, --profile, profile-{number}]
          before: [gate]
",
            team = number % 17,
            threshold = 86 + number % 10,
            somaxconn = 1024 + number,
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
  kubernetes:
    version: \"1.33\"
  api:
    endpoint: https://192.0.2.10:6443
    certificateAuthority: |
      -----BEGIN CERTIFICATE-----
      MIIBljCCAT2gAwIBAgIUB+OUEFOibhqgzIcMD4tgoPVwvY8wCgYIKoZIzj0EAwIw
      IDEeMBwGA1UEAwwVZXhhbXBsZS1rdWJlcm5ldGVzLWNhMCAXDTI2MTExNTIxMDAx
      NloYDzIxMjYxMDIyMjEwMDE2WjAgMR4wHAYDVQQDDBVleGFtcGxlLWt1YmVybmV0
      ZXMtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT+X9bTpHQXxZcjBjp9exdo
      4mXZL8i8yEUWSyHc1x+JPb6fAk1aCYCl78dNrybqrtJ0OEq097Dfpbx4cbKWA6vN
      o1MwUTAdBgNVHQ4EFgQUiiIwNjL1EnSDFnky4ZNzNGv/RZ0wHwYDVR0jBBgwFoAU
      iiIwNjL1EnSDFnky4ZNzNGv/RZ0wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
      AgNHADBEAiAmH4EB/oGzAjDRV6rODXv3DrEB6mKBzoeE423dAVBS6gIgPWV4CpSY
      zPE6tv0KZaQD8BZM3XISQOtdvYgZBA7zS7Y=
      -----END CERTIFICATE-----
  network:
    serviceRanges: [10.96.0.0/12]
  join:
    method: bootstrap-token
    token: {file: /etc/example/token}
  aws:
    region: eu-central-1
  nodeGroups:
";
