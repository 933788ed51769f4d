//! Parts of a node that must say the same: kubelet, the runtime, their units and the agent.

use bringup_diag::Severity;
use bringup_plan::{Action, PlacedBy, max_pods};
use bringup_spec::Fact;
use serde_json::json;

use crate::support::{
    arguments, cluster, codes, eks, eks_with, kubelet_config, only, plain, plan, step, text, unit,
};

fn health(group: &str) -> String {
    match &step(&plan(&plain("1.33", group)), "kubelet").action {
        Action::StartKubelet { health, .. } => health.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn memory_is_kept_by_the_node_where_pods_hang_on_its_cores() {
    for kubelet in
        ["config: {maxPods: 50, podsPerCore: 10}", "config: {maxPods: 50}, flags: {pods-per-core: \"10\"}"]
    {
        let plan = plan(&eks("1.33", &format!("kubelet: {{{kubelet}}}")));
        assert_eq!(plan.pods_per_core, Some(10));
        assert!(plan.facts.contains(&Fact::ReservedMemory) && plan.facts.contains(&Fact::Cores));
    }
    let none = plan(&eks("1.33", "kubelet: {config: {maxPods: 50, podsPerCore: 0}}"));
    assert_eq!(none.pods_per_core, None);
    assert!(!none.facts.contains(&Fact::ReservedMemory));
}

#[test]
fn the_agent_asks_kubelet_where_it_answers() {
    assert_eq!(health(""), "http://127.0.0.1:10248/healthz");
    assert_eq!(health("kubelet: {config: {healthzPort: 10300}}"), "http://127.0.0.1:10300/healthz");
    assert_eq!(
        health("kubelet: {config: {healthzBindAddress: 10.0.0.5, healthzPort: 1}}"),
        "http://10.0.0.5:1/healthz"
    );
    assert_eq!(health("kubelet: {config: {healthzBindAddress: 0.0.0.0}}"), "http://127.0.0.1:10248/healthz");
    assert_eq!(health("kubelet: {config: {healthzBindAddress: \"::\"}}"), "http://[::1]:10248/healthz");
    assert_eq!(
        health("kubelet: {config: {healthzBindAddress: \"fd00::1\"}}"),
        "http://[fd00::1]:10248/healthz"
    );
    let both = "kubelet: {config: {healthzPort: 1}, flags: {healthz-port: \"10301\", healthz-bind-address: \"::1\"}}";
    assert_eq!(health(both), "http://[::1]:10301/healthz");
    for off in ["config: {healthzPort: 0}", "flags: {healthz-port: \"0\"}"] {
        let finding = only(&plain("1.33", &format!("kubelet: {{{off}}}")), "kubelet/field-value");
        assert_eq!(finding.severity, Severity::Error);
        assert!(finding.message.contains("agent"), "{finding:?}");
    }
    let unknown = plain("1.33", "kubelet: {config: {healthzBindAddress: \"@{address}\"}}");
    assert_eq!(codes(&unknown), ["kubelet/field-value"]);
}

#[test]
fn what_is_said_of_the_runtimes_unit_is_there_when_it_starts() {
    let group = "units: [{name: containerd.service, dropIns: [{name: 20-limits.conf, content: \"[Service]\\nLimitNOFILE=1048576\\n\"}]}, {name: other.service, content: \"[Service]\\nExecStart=/bin/true\\n\"}]";
    let plan_ = plan(&eks("1.33", group));
    assert_eq!(unit(&plan_, "containerd.service").placed_by, PlacedBy::Carrier);
    assert!(unit(&plan_, "containerd.service").drop_ins.contains_key("20-limits.conf"));
    assert_eq!(unit(&plan_, "other.service").placed_by, PlacedBy::Agent);
    let docker = "runtime: {name: docker}\nunits: [{name: docker.service, enabled: true, dropIns: [{name: a.conf, content: \"[Service]\\n\"}]}]";
    let plan_ = plan(&eks("1.23", docker));
    assert_eq!(unit(&plan_, "docker.service").placed_by, PlacedBy::Carrier);
    assert_eq!(unit(&plan_, "docker.service").enabled, Some(true));
    assert_eq!(codes(&eks("1.33", "units: [{name: containerd.service, mask: true}]")), ["unit/reserved"]);
}

#[test]
fn a_units_other_name_is_the_unit() {
    for (flavour, alias) in
        [("kops", "kops-configuration.service"), ("tectonic", "k8s-node-bootstrap.service")]
    {
        let group = |units: &str| {
            eks_with(
                "1.33",
                &format!("flavour: {flavour}\n"),
                &format!("os: amazon-linux-2023\nunits: [{units}]"),
            )
        };
        let drop_in = |name: &str| {
            format!("{{name: {name}, dropIns: [{{name: 20-mine.conf, content: \"[Service]\\n\"}}]}}")
        };
        let plan_ = plan(&group(&drop_in(alias)));
        let ours = unit(&plan_, "bringup.service");
        assert!(ours.drop_ins.contains_key("20-mine.conf"), "{alias}");
        assert_eq!(ours.placed_by, PlacedBy::Carrier);
        assert!(!plan_.units.iter().any(|unit| unit.name == alias), "{alias}");
        let twice = format!("{}, {}", drop_in(alias), drop_in("bringup.service"));
        assert_eq!(codes(&group(&twice)), ["unit/duplicate"]);
        assert_eq!(codes(&group(&format!("{{name: {alias}, mask: true}}"))), ["unit/reserved"]);
    }
}

#[test]
fn only_nitro_machines_and_bare_metal_take_prefixes() {
    // By `HypervisorType` and `IsBareMetal` in the CNI plugin's own table.
    for name in [
        "t2.large",
        "m4.16xlarge",
        "c4.large",
        "r4.large",
        "i3.large",
        "p3.2xlarge",
        "x1.32xlarge",
        "d2.xlarge",
    ] {
        assert!(!max_pods::takes_prefixes(name), "{name}");
    }
    for name in ["m5.large", "t3.micro", "i3en.large", "i3.metal", "p3dn.24xlarge", "x1e2.large", "c5.metal"]
    {
        assert!(max_pods::takes_prefixes(name), "{name}");
    }
    let group = "instanceTypes: [m4.large]\nmaxPods: {prefixDelegation: true}";
    let document = eks("1.33", group);
    let finding = only(&document, "group/no-prefix-delegation");
    assert_eq!(finding.severity, Severity::Warning);
    // m4.large: 2 * (10 - 1) + 2.
    assert_eq!(kubelet_config(&plan(&document))["maxPods"], json!(20));
    assert!(codes(&eks("1.33", "instanceTypes: [m5.large]\nmaxPods: {prefixDelegation: true}")).is_empty());
}

fn driver(document: &bringup_spec::Document) -> serde_json::Value {
    kubelet_config(&plan(document))["cgroupDriver"].clone()
}

const RUNC: &str =
    "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\\nSystemdCgroup = ";

#[test]
fn kubelet_follows_the_runtimes_driver() {
    let told = |systemd: bool, kubelet: &str| {
        plain("1.33", &format!("runtime: {{config: \"{RUNC}{systemd}\"}}\n{kubelet}"))
    };
    assert_eq!(driver(&told(false, "")), "cgroupfs");
    assert_eq!(driver(&told(true, "")), "systemd");
    for kubelet in
        ["kubelet: {config: {cgroupDriver: systemd}}", "kubelet: {flags: {cgroup-driver: systemd}}"]
    {
        let finding = only(&told(false, kubelet), "runtime/cgroup-driver");
        assert_eq!(finding.severity, Severity::Error);
    }
    // The runtime follows a flag as it follows a field.
    let flag = plain("1.33", "kubelet: {flags: {cgroup-driver: cgroupfs}}");
    assert!(text(&plan(&flag), "/etc/containerd/config.toml").contains("SystemdCgroup = false"));
    let nvidia = "runtime:\n  config: |\n    [plugins.'io.containerd.grpc.v1.cri'.containerd]\n    default_runtime_name = 'nvidia'\n    [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.nvidia]\n    runtime_type = 'io.containerd.runc.v2'";
    assert_eq!(only(&plain("1.33", nvidia), "runtime/cgroup-driver").severity, Severity::Warning);
    let told = format!("{nvidia}\n    options = {{SystemdCgroup = true}}");
    assert!(codes(&plain("1.33", &told)).is_empty());
    let sandboxed = nvidia.replace("runc.v2", "runsc.v1");
    assert!(codes(&plain("1.33", &sandboxed)).is_empty());
}

#[test]
fn kubelet_follows_dockers_driver() {
    let docker = |options: &str, kubelet: &str| {
        plain(
            "1.23",
            &format!("runtime: {{name: docker, dockerConfig: {{exec-opts: [{options}]}}}}\n{kubelet}"),
        )
    };
    assert_eq!(driver(&docker("native.cgroupdriver=cgroupfs", "")), "cgroupfs");
    let both = docker("native.cgroupdriver=cgroupfs", "kubelet: {config: {cgroupDriver: systemd}}");
    assert_eq!(only(&both, "runtime/cgroup-driver").severity, Severity::Error);
    let lost = only(&docker("native.umask=normal", ""), "runtime/cgroup-driver");
    assert_eq!(lost.hint.as_deref(), Some("add `native.cgroupdriver=systemd`"));
}

#[test]
fn kubelet_speaks_to_the_socket_that_containerd_listens_on() {
    let moved = "runtime: {config: \"[grpc]\\naddress = '/run/mine/containerd.sock'\"}";
    let config = kubelet_config(&plan(&plain("1.33", moved)));
    assert_eq!(config["containerRuntimeEndpoint"], "unix:///run/mine/containerd.sock");
    let old = arguments(&plan(&plain("1.26", moved)));
    assert!(
        old.contains(&"--container-runtime-endpoint=unix:///run/mine/containerd.sock".to_owned()),
        "{old:?}"
    );
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {}}}\njoin: {{method: kubeadm, token: {{file: /t}}}}",
        crate::support::AUTHORITY
    );
    let joined = plan(&cluster(&spec, &format!("os: debian\n{moved}")));
    assert!(text(&joined, "/etc/kubernetes/kubeadm-join.yaml").contains("unix:///run/mine/containerd.sock"));
    let other = "kubelet: {config: {containerRuntimeEndpoint: \"unix:///run/mine/containerd.sock\"}}";
    assert_eq!(only(&plain("1.33", other), "runtime/socket").severity, Severity::Error);
    assert!(codes(&plain("1.33", &format!("{moved}\n{other}"))).is_empty());
    let same =
        "kubelet: {config: {containerRuntimeEndpoint: \"unix:///var/run/containerd/containerd.sock\"}}";
    assert!(codes(&plain("1.33", same)).is_empty());
}
