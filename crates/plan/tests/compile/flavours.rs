//! Names that the users of another system rely on, and units for an old systemd.

use bringup_diag::Severity;
use bringup_plan::{Action, Awaited, Content, Election, LocalFiles};
use bringup_spec::{Fact, Phase};

use crate::support::{AUTHORITY, cluster, codes, eks, eks_with, names, plain, plan, step, text, unit};

#[test]
fn the_agents_unit_answers_to_the_seeds_names() {
    let kops = plan(&eks_with("1.33", "flavour: kops", "os: amazon-linux-2023"));
    assert_eq!(unit(&kops, "bringup.service").aliases, ["kops-configuration.service"]);
    let content = unit(&kops, "bringup.service").content.clone().unwrap_or_default();
    assert!(content.ends_with("WantedBy=multi-user.target\nAlias=kops-configuration.service\n"), "{content}");
    assert!(unit(&plan(&eks("1.33", "")), "bringup.service").aliases.is_empty());
}

#[test]
fn tectonics_stages_run_on_the_elected_node() {
    let spec = format!(
        "flavour: tectonic\nkubernetes: {{version: \"1.33.4+coreos.0\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
    );
    let plan =
        plan(&cluster(&spec, "os: flatcar\nrole: control-plane\nbootstrap: {fact: hostname, equals: m1}"));
    assert_eq!(unit(&plan, "bringup.service").aliases, ["k8s-node-bootstrap.service"]);
    assert_eq!(
        text(&plan, "/etc/kubernetes/kubelet.env"),
        "KUBELET_IMAGE_URL=quay.io/coreos/hyperkube\nKUBELET_IMAGE_TAG=v1.33.4_coreos.0\n"
    );
    // Never the gate alone: the volatile file counts too.
    let drop_in = &unit(&plan, "kubelet.service").drop_ins["90-bringup.conf"];
    assert!(
        drop_in.contains(
            "EnvironmentFile=/etc/kubernetes/kubelet.env\nEnvironmentFile=/run/bringup/kubelet.env\n"
        )
    );
    for (name, phase) in [("bootkube", Phase::ControlPlane), ("tectonic", Phase::Platform)] {
        assert_eq!((step(&plan, name).phase, step(&plan, name).elected_only), (phase, true));
    }
    for (name, phase) in [("bootkube", "control-plane"), ("tectonic", "platform")] {
        let done = format!("/opt/tectonic/init_{name}.done");
        text(&plan, &done);
        // Written after the stage, and by whoever finds it missing: its units no longer start then.
        assert!(step(&plan, &format!("{name}-done")).handed_to.is_none());
        let to = step(&plan, name).handed_to.clone().expect("units");
        assert_eq!(
            (&*to.path, &*to.service, &to.done),
            (&*format!("{name}.path"), &*format!("{name}.service"), &done)
        );
        let script = if name == "bootkube" { "bootkube.sh" } else { "tectonic-rkt.sh" };
        let path = unit(&plan, &to.path);
        assert_eq!(
            path.content.as_deref(),
            Some(&*format!(
                "[Unit]\nDescription=Wait for what {name}.service needs\nDocumentation=https://bringup.dev/\n\
                 ConditionPathExists=!{done}\n\n[Path]\nPathExists=/opt/tectonic/{script}\nUnit={name}.service\n"
            ))
        );
        let service = unit(&plan, &to.service);
        let text = service.content.clone().unwrap_or_default();
        let needs = match name {
            "bootkube" => "Wants=kubelet.service\nAfter=kubelet.service bringup-after.service\n",
            _ => "Requires=bootkube.service\nAfter=bootkube.service bringup-after.service\n",
        };
        assert!(text.contains(&format!("ConditionPathExists=!{done}\n{needs}")), "{text}");
        assert!(text.contains("Type=oneshot\nRemainAfterExit=true\n"), "{text}");
        assert!(text.contains(&format!("up --from {phase} --until {phase}\n")), "{text}");
        // The agent starts them, once kubelet is healthy: nothing of theirs is in the transaction of a boot.
        assert_eq!((path.enabled, service.enabled), (Some(false), Some(false)));
        assert!(!text.contains("[Install]"));
    }
    assert!(plan.facts.contains(&Fact::Hostname));
    let position = |name: &str| names(&plan).iter().position(|other| *other == name);
    assert!(position("kubelet") < position("bootkube"));
    assert!(position("bootkube") < position("registered"));
    assert!(position("registered") < position("tectonic"));
}

#[test]
fn only_a_master_that_may_start_the_cluster_has_the_units_of_its_stages() {
    let spec = format!(
        "flavour: tectonic\nkubernetes: {{version: \"1.33.4\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
    );
    for group in ["os: flatcar", "os: flatcar\nrole: control-plane"] {
        let plan = plan(&cluster(&spec, group));
        assert!(plan.units.iter().all(|unit| !unit.name.starts_with("bootkube")), "{group}");
        assert_eq!(unit(&plan, "bringup.service").aliases, ["k8s-node-bootstrap.service"]);
    }
    // Without a name of Tectonic's, the agent does its stages itself.
    let ours = spec.replace("tectonic", "bringup");
    let group = "os: flatcar\nrole: control-plane\nbootstrap: true\ncontrolPlane: {run: [/opt/start, 100%], waitFor: [\"/opt/100%\"]}";
    assert_eq!(step(&plan(&cluster(&ours, group)), "control-plane-stage").handed_to, None);
    // A percent sign begins a specifier in a unit.
    let path = unit(&plan(&cluster(&spec, group)), "bootkube.path").content.clone().unwrap_or_default();
    assert!(path.contains("PathExists=/opt/100%%\n"), "{path}");
}

#[test]
fn a_node_that_joins_may_take_its_tag_from_the_cluster() {
    let spec = format!(
        "flavour: tectonic\nkubernetes: {{version: \"1.33.4\", detect: true}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
    );
    let plan = plan(&cluster(&spec, "os: flatcar"));
    assert_eq!(plan.detect.as_ref().map(|server| server.endpoint.as_str()), Some("https://x"));
    assert!(plan.facts.contains(&Fact::KubernetesTag));
    assert!(text(&plan, "/etc/kubernetes/kubelet.env").ends_with("KUBELET_IMAGE_TAG=@{kubernetesTag}\n"));
    let found = codes(&cluster(&spec, "os: flatcar\nagent: none"));
    assert!(found.contains(&"group/field-without-effect"), "{found:?}");
}

/// Their units are the agent under other names.
#[test]
fn flavours_whose_units_are_the_agent_need_one() {
    let spec = |flavour: &str| {
        format!(
            "flavour: {flavour}\nkubernetes: {{version: \"1.33.4\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
        )
    };
    let errors = |flavour: &str, group: &str| {
        let compiled = bringup_plan::compile(&cluster(&spec(flavour), group), 0, &LocalFiles::default());
        let told = compiled.findings.iter().filter(|finding| finding.severity <= Severity::Warning);
        told.map(|finding| (finding.code.name, finding.severity)).collect::<Vec<_>>()
    };
    let code = "flavour/needs-agent";
    assert_eq!(errors("tectonic", "os: flatcar\nagent: none"), [(code, Severity::Error)]);
    assert_eq!(errors("kops", "os: debian\nagent: none"), [(code, Severity::Warning)]);
    assert_eq!(errors("bringup", "os: debian\nagent: none"), []);
    assert_eq!(errors("tectonic", "os: flatcar\nagent: image"), []);
}

#[test]
fn a_list_of_digests_is_what_a_stage_waits_for() {
    let spec = format!(
        "flavour: tectonic\nkubernetes: {{version: \"1.33.4\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
    );
    let group = "os: flatcar\nrole: control-plane\nbootstrap: true\ncontrolPlane: {run: [/opt/start], waitFor: [/opt/a, {manifest: /opt/SHA256SUMS}]}";
    let plan = plan(&cluster(&spec, group));
    let Action::Run { wait_for, .. } = &step(&plan, "bootkube").action else { panic!() };
    let manifest = "/opt/SHA256SUMS".to_owned();
    assert_eq!(*wait_for, [Awaited::Path("/opt/a".to_owned()), Awaited::Manifest { manifest }]);
    // It is written last: the path unit waits for nothing else.
    let path = unit(&plan, "bootkube.path").content.clone().unwrap_or_default();
    assert!(path.ends_with("[Path]\nPathExists=/opt/SHA256SUMS\nUnit=bootkube.service\n"), "{path}");
}

#[test]
fn the_first_to_make_an_object_may_be_the_one_that_starts_the_cluster() {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\naws: {{region: eu-west-1}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{file: /k}}}}"
    );
    let group = "os: flatcar\nplatform: aws\nrole: control-plane\nbootstrap: {store: \"s3://harbour/first\"}\ncontrolPlane: {run: [/opt/start]}";
    let plan = plan(&cluster(&spec, group));
    assert_eq!(plan.bootstrap, Some(Election::Store { object: "s3://harbour/first".to_owned() }));
    assert!(step(&plan, "control-plane-stage").elected_only);
    for (change, to) in [
        ("platform: aws", "platform: generic"),
        ("s3://harbour", "https://harbour"),
        ("s3://harbour", "s3://Ha"),
    ] {
        let found = codes(&cluster(&spec, &group.replace(change, to)));
        assert!(found.contains(&"bootstrap/store"), "{to}: {found:?}");
    }
}

#[test]
fn eks_paths_are_those_of_its_images() {
    let al2023 = plan(&eks_with("1.33", "flavour: eks", "os: amazon-linux-2023"));
    assert!(
        text(&al2023, "/etc/eks/kubelet/environment")
            .starts_with("NODEADM_KUBELET_ARGS=\"--cloud-provider=external ")
    );
    text(&al2023, "/etc/eks/image-credential-provider/config.json");
    text(&al2023, "/etc/kubernetes/kubelet/config.json");
    // The file of the image is not known here: what is laid over it is in the plan.
    let group = "os: amazon-linux-2\nagent: none";
    text(&plan(&eks_with("1.29", "flavour: eks", group)), "/etc/kubernetes/kubelet/kubelet-config.json");
}

fn layers(plan: &bringup_plan::Plan, path: &str) -> (serde_json::Value, Vec<serde_json::Value>) {
    let found = plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path: own, content: Content::Merged { otherwise, over }, .. } if own == path => {
            Some((otherwise.clone(), over.clone()))
        }
        _ => None,
    });
    let (otherwise, over) = found.expect(path);
    // Facts that stand for numbers are made into some.
    let read = |text: &bringup_spec::Text| {
        let text = text.to_string().replace(": @{maxPods}", ": 1");
        serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
    };
    (read(&otherwise), over.iter().map(read).collect())
}

/// eksctl's script for images with `bootstrap.sh` merges `/etc/eksctl/kubelet-extra.json` over the image's configuration by jq
/// and restarts kubelet; there, docker and the environment have files beside it.
#[test]
fn settings_are_laid_over_the_images_own() {
    let group = "os: amazon-linux-2\nmaxPods: 17\nlabels: {a: b}\ntaints: [{key: k, effect: NoSchedule}]\nruntime: {name: docker, dockerConfig: {log-opts: {max-size: 1m}}}\nkubelet: {config: {evictionHard: {memory.available: 200Mi}, cpuManagerPolicy: static, kubeReserved: {cpu: 1000m}}}";
    let plan = plan(&eks_with("1.23", "flavour: eks\nnetwork: {dns: [10.100.0.10]}", group));
    let (otherwise, over) = layers(&plan, "/etc/kubernetes/kubelet/kubelet-config.json");
    let [ours, extra] = over.as_slice() else { panic!("{over:?}") };
    assert_eq!(
        *extra,
        serde_json::json!({"evictionHard": {"memory.available": "200Mi"}, "cpuManagerPolicy": "static", "kubeReserved": {"cpu": "1000m"}})
    );
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text(&plan, "/etc/eksctl/kubelet-extra.json")).ok(),
        Some(extra.clone())
    );
    // What the image decides is not ours to write over, but for where the authority is.
    assert_eq!(otherwise["hairpinMode"], "hairpin-veth");
    assert_eq!(otherwise["authentication"]["anonymous"]["enabled"], false);
    for key in ["hairpinMode", "tlsCipherSuites", "readOnlyPort"] {
        assert_eq!(ours[key], serde_json::Value::Null, "{key}");
    }
    assert_eq!(
        ours["authentication"],
        serde_json::json!({"x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"}})
    );
    assert_eq!((&ours["maxPods"], &ours["clusterDNS"][0]), (&17.into(), &"10.100.0.10".into()));
    let (_, over) = layers(&plan, "/etc/docker/daemon.json");
    let extra =
        serde_json::json!({"exec-opts": ["native.cgroupdriver=systemd"], "log-opts": {"max-size": "1m"}});
    assert_eq!(over, std::slice::from_ref(&extra));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text(&plan, "/etc/eksctl/docker-extra.json")).ok(),
        Some(extra)
    );
    let environment = text(&plan, "/etc/eksctl/kubelet.env");
    let lines: Vec<&str> =
        environment.lines().filter(|line| !line.starts_with("B64_CLUSTER_CA=LS0tLS1CRUdJTi")).collect();
    assert_eq!(
        lines,
        [
            "CLUSTER_NAME=demo",
            "API_SERVER_URL=https://api.example.com",
            "CLUSTER_DNS=10.100.0.10",
            "CONTAINER_RUNTIME=dockerd",
            "NODE_LABELS=a=b,alpha.eksctl.io/instance-id=@{instanceId},node-lifecycle=@{lifecycle}",
            "NODE_TAINTS=k=:NoSchedule",
            "MAX_PODS=17",
        ]
    );
    let gate = step(&plan, "gate");
    let Action::OpenGate { environment, .. } = &gate.action else { panic!() };
    let arguments = environment.values().map(ToString::to_string).collect::<String>();
    assert!(arguments.contains("node-lifecycle=@{lifecycle}"), "{arguments}");
    // All of it is before the gate, so that kubelet starts once.
    let position = |name: &str| names(&plan).iter().position(|other| *other == name);
    assert!(position("kubelet-config") < position("gate"));
    assert_eq!(
        plan.steps.iter().filter(|step| matches!(step.action, Action::StartKubelet { .. })).count(),
        1
    );
}

#[test]
fn a_label_that_the_document_gives_is_not_the_flavours() {
    let group = "os: amazon-linux-2\nlabels: {node-lifecycle: mine}";
    let plan = plan(&eks_with("1.29", "flavour: eks", group));
    assert!(text(&plan, "/etc/eksctl/kubelet.env").contains(",node-lifecycle=mine\n"));
    assert!(!plan.facts.contains(&Fact::Lifecycle));
}

#[test]
fn our_units_have_the_shape_that_holds() {
    let plan = plan(&eks("1.33", ""));
    let service = unit(&plan, "bringup.service");
    assert_eq!(
        service.content.as_deref(),
        Some(
            "[Unit]\nDescription=Bring this machine up to a Kubernetes node\nDocumentation=https://bringup.dev/\nDefaultDependencies=no\n\
             RequiresMountsFor=/etc/bringup /opt/bringup /var/lib/bringup\nWants=network-online.target\n\
             After=local-fs.target systemd-tmpfiles-setup.service dbus.socket network-online.target\nConflicts=shutdown.target\nBefore=shutdown.target\nStartLimitIntervalSec=0\n\n\
             [Service]\nType=oneshot\nNotifyAccess=main\nExecStart=/opt/bringup/bin/bringup-node up --until gate\nRestart=on-failure\nRestartPreventExitStatus=1 2\nRestartSec=5\nStandardOutput=journal+console\n\n\
             [Install]\nWantedBy=multi-user.target\n"
        )
    );
    let gate = unit(&plan, "bringup-gate.target").content.clone().unwrap_or_default();
    assert!(gate.ends_with(
        "Wants=bringup.service\nAfter=bringup.service\nAssertPathExists=/run/bringup/kubelet.env\n"
    ));
    let after = unit(&plan, "bringup-after.service").content.clone().unwrap_or_default();
    assert!(after.contains("ConditionPathExists=/run/bringup/kubelet.env\n") && !after.contains("WantedBy"));
    // Nothing depends on what follows the gate.
    assert!(plan.units.iter().all(|unit| {
        let all: String = unit.content.iter().chain(unit.drop_ins.values()).cloned().collect();
        !all.contains("bringup-after")
    }));
}

#[test]
fn an_old_systemd_gets_what_it_knows() {
    let al2 = plan(&eks_with("1.29", "", "os: amazon-linux-2"));
    let service = unit(&al2, "bringup.service").content.clone().unwrap_or_default();
    assert!(
        service.contains("Type=notify\nNotifyAccess=main\nStartLimitInterval=0\nTimeoutStartSec=0\n"),
        "{service}"
    );
    assert!(
        !service.contains("IntervalSec") && !service.contains("infinity") && !service.contains("oneshot")
    );
    // The image's unit requires docker, so that ours takes its place.
    let kubelet = unit(&al2, "kubelet.service");
    assert!(kubelet.content.as_deref().is_some_and(|unit| !unit.contains("docker")));
    // Ubuntu 18.04 has systemd 237: limits, but no restart of a oneshot.
    let spec = "os: {family: ubuntu, version: \"18.04\"}";
    let bionic = plan(&eks_with("1.33", "", spec));
    let service = unit(&bionic, "bringup.service").content.clone().unwrap_or_default();
    assert!(service.contains("StartLimitIntervalSec=0\n") && service.contains("Type=notify\n"), "{service}");
}

#[test]
fn without_an_agent_kubelet_starts_by_itself() {
    let plan = plan(&plain("1.33", "agent: none"));
    assert!(plan.units.iter().all(|unit| !unit.name.starts_with("bringup")));
    let kubelet = unit(&plan, "kubelet.service");
    assert_eq!(kubelet.enabled, Some(true));
    assert!(!kubelet.drop_ins["90-bringup.conf"].contains("bringup-gate"));
    let environment = text(&plan, "/etc/kubernetes/kubelet.env");
    assert!(environment.starts_with("BRINGUP_KUBELET_ARGS='--bootstrap-kubeconfig="), "{environment}");
    // The carrier's script works out what kubelet reserves; where there is none, nobody does.
    assert!(plan.facts.contains(&Fact::ReservedCpu) && plan.facts.contains(&Fact::Cores), "{:?}", plan.facts);
    let silent = crate::support::plan(&plain("1.33", "agent: none\ncarriers: [bundle]"));
    assert!(silent.facts.is_empty(), "{:?}", silent.facts);
}

#[test]
fn stages_and_elections_need_a_control_plane() {
    let found = |group: &str| codes(&plain("1.33", group));
    assert_eq!(found("controlPlane: {run: [a]}"), ["stage/on-worker"]);
    assert_eq!(found("role: control-plane\ncontrolPlane: {run: [a]}"), ["stage/never-runs"]);
    assert_eq!(found("bootstrap: true"), ["bootstrap/on-worker"]);
    assert_eq!(found("role: control-plane\nbootstrap: true\nplatformStage: {run: []}"), ["step/command"]);
}
