//! Commands before the node's set-up, and what stands in the place of eksctl's own bootstrap.

use bringup_plan::{Action, Step};
use bringup_spec::{JoinMethod, MaxPods, NodeGroup, NodeNamePolicy, OnFailure, Phase, RuntimeName};
use serde_json::json;

use crate::{config, document, group, labels, plan, taints, told};

/// The operator's own programs of a plan, in order, with the phase of each.
fn programs(text: &str) -> Vec<(String, Phase, Vec<String>)> {
    let plan = plan(&document(text), 0);
    let run = |step: &Step| match &step.action {
        Action::Run { command, .. } => {
            Some((step.name.clone(), step.phase, command.iter().map(ToString::to_string).collect()))
        }
        _ => None,
    };
    plan.steps.iter().filter_map(run).collect()
}

/// eksctl gives each command to `/bin/bash -c`, in order; here all of them end before the runtime is set up.
#[test]
fn commands_run_one_behind_the_other_before_the_node_is_set_up() {
    let text = config(
        "nodeGroups:\n- name: ng\n  amiFamily: Ubuntu2204\n  preBootstrapCommands:\n  - echo ${HOME} @{zone}\n  - |\n    touch /a\n    touch /b\n",
    );
    let programs = programs(&text);
    let names: Vec<&str> = programs.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["pre-bootstrap-1", "pre-bootstrap-2"]);
    let commands: Vec<Vec<&str>> =
        programs.iter().map(|(.., command)| command.iter().map(String::as_str).collect()).collect();
    // A text's own form of a literal `@{` is `@@{`: nothing that the person wrote is taken for a fact.
    assert_eq!(
        commands,
        [["/bin/bash", "-c", "echo ${HOME} @@{zone}"], ["/bin/bash", "-c", "touch /a\ntouch /b\n"]]
    );
    assert!(programs.iter().all(|(_, phase, _)| *phase == Phase::PreInstall), "{programs:?}");
    let plan = plan(&document(&text), 0);
    let place = |name: &str| plan.steps.iter().position(|step| step.name == name).unwrap();
    assert!(place("pre-bootstrap-2") < place("kernel-modules"), "the first of the node's own set-up");
}

/// On Amazon Linux 2023 a command is a script of bash, as eksctl's MIME parts are.
#[test]
fn commands_of_amazon_linux_2023_are_scripts_of_bash() {
    let group = group(&config("nodeGroups:\n- name: ng\n  preBootstrapCommands: [touch /a]\n"));
    let step = group.steps.first().unwrap();
    assert_eq!(step.script.as_ref().map(ToString::to_string).as_deref(), Some("#!/bin/bash\ntouch /a"));
    assert_eq!(step.before, ["runtime"]);
}

/// cloud-init runs what is behind a command that has failed, and runs none twice: so it is here.
#[test]
fn a_command_that_fails_is_passed_over_as_under_eksctl() {
    for family in ["AmazonLinux2", "AmazonLinux2023", "Ubuntu2204"] {
        let text = config(&format!(
            "nodeGroups:\n- name: ng\n  amiFamily: {family}\n  preBootstrapCommands: [\"false\", touch /a]\n"
        ));
        let policies: Vec<(u32, OnFailure)> =
            group(&text).steps.iter().map(|step| (step.attempts, step.on_failure)).collect();
        assert_eq!(policies, [(1, OnFailure::Continue), (1, OnFailure::Continue)], "{family}");
    }
}

#[test]
fn kubelets_own_fields_are_passed_on_and_eksctls_are_refused() {
    let group = group(&config(
        "nodeGroups:\n- name: ng\n  clusterDNS: 169.254.20.10\n  kubeletExtraConfig:\n    evictionHard: {memory.available: 300Mi}\n    featureGates: {RotateKubeletServerCertificate: true}\n",
    ));
    assert_eq!(group.kubelet.config.get("clusterDNS"), Some(&json!(["169.254.20.10"])));
    assert_eq!(group.kubelet.config.get("evictionHard"), Some(&json!({"memory.available": "300Mi"})));
    // The seven that eksctl names.
    for field in [
        "kind",
        "apiVersion",
        "address",
        "clusterDomain",
        "authentication",
        "authorization",
        "serverTLSBootstrap",
    ] {
        let text = config(&format!("nodeGroups:\n- name: ng\n  kubeletExtraConfig: {{{field}: x}}\n"));
        let wanted = format!(
            "error ancestor/field-refused 9 eksctl lets nobody set `{field}` in `kubeletExtraConfig`"
        );
        assert!(told(&text).contains(&wanted), "{field}: {:#?}", told(&text));
    }
}

/// eksctl's last part of user-data is the person's NodeConfig, so that it wins: fields are merged deeply, labels of a
/// second `--node-labels` add up, taints of a second `--register-with-taints` stand alone.
#[test]
fn a_node_config_is_laid_over_the_group() {
    let group = group(&config(
        r#"nodeGroups:
- name: ng
  labels: {pool: a}
  taints: {old: "x:NoSchedule"}
  kubeletExtraConfig:
    evictionHard: {memory.available: 300Mi, nodefs.available: 10%}
  overrideBootstrapCommand: |
    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec:
      kubelet:
        config:
          evictionHard: {memory.available: 500Mi}
        flags:
        - --node-labels=more=b
        - --register-with-taints=new=y:NoExecute
        - --max-pods=30
        - --v=4
      containerd:
        config: |
          [metrics]
          address = "127.0.0.1:1338"
      featureGates: {InstanceIdNodeName: true}
"#,
    ));
    let eviction = json!({"memory.available": "500Mi", "nodefs.available": "10%"});
    assert_eq!(group.kubelet.config.get("evictionHard"), Some(&eviction));
    assert!(labels(&group).contains(&"pool=a".to_owned()) && labels(&group).contains(&"more=b".to_owned()));
    assert_eq!(taints(&group), ["new=y:NoExecute"]);
    assert_eq!(group.max_pods, Some(MaxPods::Fixed(30)));
    assert_eq!(group.kubelet.flags.get("v").map(ToString::to_string).as_deref(), Some("4"));
    assert_eq!(group.runtime.config.as_deref(), Some("[metrics]\naddress = \"127.0.0.1:1338\"\n"));
    assert_eq!(group.node_name, Some(NodeNamePolicy::InstanceId));
}

/// What a NodeConfig says of the cluster is the cluster's.
#[test]
fn a_node_config_may_name_the_cluster() {
    let document = document(&config(
        "nodeGroups:\n- name: ng\n  overrideBootstrapCommand: |\n    kind: NodeConfig\n    apiVersion: node.eks.aws/v1alpha1\n    spec: {cluster: {name: demo, apiServerEndpoint: 'https://api.example', cidr: 10.100.0.0/16}}\n",
    ));
    let spec = &document.cluster.spec;
    assert_eq!(spec.api.as_ref().map(|api| api.endpoint.as_str()), Some("https://api.example"));
    assert_eq!(
        spec.network.service_ranges.first().map(ToString::to_string).as_deref(),
        Some("10.100.0.0/16")
    );
    assert_eq!(spec.join.method, JoinMethod::EksToken);
}

/// The call of the image's script is carried out, not run: kubelet gets its flags and nothing else of eksctl's. What
/// stands before and after it are steps.
#[test]
fn a_script_in_the_place_of_eksctls_is_read_around_its_call() {
    let text = config(
        r#"nodeGroups:
- name: ng
  amiFamily: AmazonLinux2
  labels: {pool: a}
  taints: {gone: "x:NoSchedule"}
  overrideBootstrapCommand: |
    #!/bin/bash
    set -ex
    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh
    mkdir -p /mnt/data
    /etc/eks/bootstrap.sh ${CLUSTER_NAME} --container-runtime containerd --use-max-pods false \
      --dns-cluster-ip 172.20.0.10 \
      --kubelet-extra-args "--node-labels=${NODE_LABELS},extra=b --max-pods=17 --v=3"
    touch /joined
"#,
    );
    let group = group(&text);
    assert_eq!(
        labels(&group),
        [
            "alpha.eksctl.io/cluster-name=demo",
            "alpha.eksctl.io/instance-id=@{instanceId}",
            "alpha.eksctl.io/nodegroup-name=ng",
            "extra=b",
            "node-lifecycle=@{lifecycle}",
            "pool=a",
        ]
    );
    assert!(group.taints.is_empty(), "the call passes on no taints");
    assert_eq!(group.max_pods, Some(MaxPods::Fixed(17)));
    assert_eq!(group.kubelet.config.get("clusterDNS"), Some(&json!(["172.20.0.10"])));
    assert_eq!(group.kubelet.flags.keys().collect::<Vec<_>>(), ["v"]);
    assert_eq!(group.runtime.name, RuntimeName::Containerd);
    let scripts: Vec<String> =
        group.steps.iter().filter_map(|step| step.script.as_ref()).map(ToString::to_string).collect();
    assert_eq!(
        scripts,
        [
            "#!/bin/bash\nset -ex\nset -o errexit -o pipefail -o nounset\nmkdir -p /mnt/data\n",
            "#!/bin/bash\nset -ex\nset -o errexit -o pipefail -o nounset\ntouch /joined\n",
        ]
    );
    let order: Vec<(String, Phase)> =
        programs(&text).into_iter().map(|(name, phase, _)| (name, phase)).collect();
    assert_eq!(order.first(), Some(&("before-bootstrap".to_owned(), Phase::PreInstall)));
    assert!(order.iter().any(|(name, phase)| name == "after-bootstrap" && *phase >= Phase::Kubelet));
}

#[test]
fn a_call_that_only_a_shell_can_follow_is_refused() {
    let text = config(
        "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  overrideBootstrapCommand: |\n    /etc/eks/bootstrap.sh $(cat /name)\n",
    );
    let told = told(&text);
    assert!(
        told.iter().any(|line| line.starts_with("error ancestor/field-refused 11 the call of")),
        "{told:#?}"
    );
}

/// eksctl reads a NodeConfig there, and nothing else.
#[test]
fn a_script_is_no_node_config() {
    let text =
        config("nodeGroups:\n- name: ng\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    touch /a\n");
    let told = told(&text);
    assert!(
        told.iter().any(|line| line.starts_with("error ancestor/field-refused 9 on Amazon Linux 2023")),
        "{told:#?}"
    );
}

/// eksctl's script lays `kubeletExtraConfig` over kubelet's file, and an own bootstrap takes its place.
#[test]
fn settings_beside_an_own_bootstrap_are_told_of() {
    let about = |family: &str| {
        let groups = format!(
            "nodeGroups:\n- name: ng\n  amiFamily: {family}\n  ami: ami-0123456789abcdef0\n  kubeletExtraConfig: {{maxOpenFiles: 1000000}}\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    /etc/eks/bootstrap.sh demo\n"
        );
        crate::told(&crate::config(&groups))
            .iter()
            .any(|line| line.contains("`kubeletExtraConfig` is carried out here"))
    };
    assert!(about("AmazonLinux2") && about("Ubuntu2204"));
}

/// eksctl's own script passes labels and taints on, and one in its place only what it says itself.
#[test]
fn marks_that_an_own_bootstrap_does_not_pass_on_are_told_of() {
    let told = |call: &str| {
        let groups = format!(
            "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  ami: ami-0123456789abcdef0\n  labels: {{team: a}}\n  taints: {{dedicated: gpu:NoSchedule}}\n  maxPodsPerNode: 40\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    {call}\n"
        );
        let told = crate::told(&crate::config(&groups));
        ["these `labels`", "these `taints`", "`maxPodsPerNode` is carried out here"]
            .map(|words| told.iter().any(|line| line.contains(words)))
    };
    assert_eq!(told("/etc/eks/bootstrap.sh demo"), [true, true, true]);
    let passes = "source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n    /etc/eks/bootstrap.sh demo --kubelet-extra-args \"--node-labels=$NODE_LABELS --register-with-taints=$NODE_TAINTS --max-pods=40\"";
    assert_eq!(told(passes), [false, false, false]);
}

/// Scripts of a group's own steps.
fn scripts(group: &NodeGroup) -> Vec<String> {
    group.steps.iter().filter_map(|step| step.script.as_ref()).map(ToString::to_string).collect()
}

#[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
/// What both parts leave behind when they run one behind the other, as the plan runs them: on Linux, by bash itself.
fn outcome(group: &NodeGroup, folder: &std::path::Path) -> String {
    let state = "/var/lib/bringup";
    let here = folder.to_str().unwrap();
    for step in &group.steps {
        let script = step
            .script
            .as_ref()
            .unwrap()
            .to_string()
            .replace(state, here)
            .replace("/out", &format!("{here}/out"));
        let path = folder.join(step.name.as_str());
        std::fs::write(&path, script).unwrap();
        let mut bash = std::process::Command::new("bash");
        bash.arg(&path).env_clear().env("PATH", std::env::var("PATH").unwrap()).current_dir("/");
        bash.envs(step.environment.iter().map(|(name, value)| (name, value.to_string())));
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::read_to_string(folder.join("out")).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
/// A script is one shell under eksctl: what its first half has set, exported, defined or entered is there in its second.
#[test]
fn the_part_behind_the_call_goes_on_with_what_the_part_before_it_has_set() {
    let text = config(
        r#"nodeGroups:
- name: ng
  amiFamily: AmazonLinux2
  labels: {pool: a}
  overrideBootstrapCommand: |
    #!/bin/bash
    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh
    FOO="$(echo it\'s here)"
    export BAR=$(echo bar)
    LIST=(a "b c")
    greet() {
      echo "hello $1"
    }
    if true; then
      CHOSEN=yes
    else
      CHOSEN=no
    fi
    cd /usr
    /etc/eks/bootstrap.sh ${CLUSTER_NAME} --kubelet-extra-args "--node-labels=${NODE_LABELS}"
    echo "$FOO|$(bash -c 'echo $BAR')|${LIST[1]}|$CHOSEN|$PWD|$CLUSTER_NAME" > /out
    greet "$CLUSTER_NAME" >> /out
    case ${NODE_LABELS} in *pool=a*) echo labels >> /out ;; esac
    echo "${KUBELET_CONFIG}" >> /out
"#,
    );
    let folder = std::env::temp_dir().join(format!("bringup-halves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let left = outcome(&group(&text), &folder);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(folder.join("before-bootstrap.state")).unwrap().permissions(),
    );
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(
        left,
        "it's here|bar|b c|yes|/usr|demo\nhello demo\nlabels\n/etc/kubernetes/kubelet/kubelet-config.json\n"
    );
    assert_eq!(mode & 0o777, 0o600, "what a script has set may be secret");
}

/// A `#!/bin/sh` need not be bash, and no other shell can write down what it has set.
#[test]
fn what_another_shell_has_set_is_told_of() {
    let text = config(
        "nodeGroups:\n- name: ng\n  amiFamily: Ubuntu2204\n  overrideBootstrapCommand: |\n    #!/bin/sh\n    FOO=$(hostname)\n    /etc/eks/bootstrap.sh demo\n    touch /after-$FOO\n",
    );
    let told = told(&text);
    assert!(
        told.iter().any(|line| line.starts_with(
            "warning ancestor/field-differs 12 `FOO=$(hostname)` changes the shell that the part behind the call runs in"
        )),
        "{told:#?}"
    );
}

/// The address and the authority are the document's, where it has them: the helper's variables hold them.
#[test]
fn the_helpers_variables_are_given_to_both_parts() {
    let script = "  overrideBootstrapCommand: |\n    #!/bin/bash\n    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n    echo $API_SERVER_URL > /before\n    /etc/eks/bootstrap.sh ${CLUSTER_NAME}\n    echo $API_SERVER_URL $B64_CLUSTER_CA > /after\n";
    let text = config(&format!(
        "status: {{endpoint: 'https://api.example', certificateAuthorityData: QUJD}}\nnodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n{script}"
    ));
    let read = crate::read_text(&text);
    let group = read.documents.first().unwrap().cluster.spec.node_groups.first().unwrap().clone();
    for step in &group.steps {
        let url = step.environment.get("API_SERVER_URL").map(ToString::to_string);
        assert_eq!(url.as_deref(), Some("https://api.example"), "{}", step.name);
    }
    let authority = group.steps.last().unwrap().environment.get("B64_CLUSTER_CA").map(ToString::to_string);
    assert_eq!(authority.as_deref(), Some("QUJD"));
    let told = told(&config(&format!("nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n{script}")));
    for name in ["API_SERVER_URL", "B64_CLUSTER_CA"] {
        let wanted =
            format!("warning ancestor/field-differs 10 this script uses `{name}`, which is empty here");
        assert!(told.iter().any(|line| line.starts_with(&wanted)), "{told:#?}");
    }
}

/// Without `set -e` the script goes on to the call whatever has failed; with it, a failure leaves the node where it is.
/// Behind the call kubelet runs, whatever fails.
#[test]
fn a_script_that_fails_holds_the_node_back_where_it_would_under_eksctl() {
    let policies = |head: &str| -> Vec<(u32, OnFailure)> {
        let group = group(&config(&format!(
            "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  overrideBootstrapCommand: |\n    #!/bin/bash\n{head}    false\n    /etc/eks/bootstrap.sh demo\n    touch /b\n"
        )));
        group.steps.iter().map(|step| (step.attempts, step.on_failure)).collect()
    };
    assert_eq!(policies(""), [(1, OnFailure::Continue), (1, OnFailure::Continue)]);
    for head in [
        "    set -euo pipefail\n",
        "    set -o errexit\n",
        "    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n",
    ] {
        assert_eq!(policies(head), [(1, OnFailure::Pause), (1, OnFailure::Continue)], "{head}");
    }
}

/// A block keeps all of its lines: without the `echo`, this would be no script.
#[test]
fn blocks_stay_whole() {
    let group = group(&config(
        "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    if [ -e /x ]; then\n      echo there\n    fi\n    /etc/eks/bootstrap.sh demo\n",
    ));
    assert_eq!(scripts(&group), ["#!/bin/bash\nif [ -e /x ]; then\n  echo there\nfi\n"]);
}

/// Both programs of EKS' images keep 11 MiB for each pod of the instance type's own number, and 255: m5.large has
/// addresses for 29 pods, so that is 574, whatever kubelet is told.
#[test]
fn memory_is_kept_for_the_pods_of_the_instance_type() {
    for family in ["AmazonLinux2", "AmazonLinux2023", "Ubuntu2204"] {
        for pods in [11, 123] {
            let text = config(&format!(
                "nodeGroups:\n- {{name: ng, amiFamily: {family}, instanceType: m5.large, maxPodsPerNode: {pods}}}\n"
            ));
            group(&text);
            let plan = plan(&document(&text), 0);
            // What the node says of itself is what kubelet is told; memory is another matter.
            assert_eq!(plan.max_pods, bringup_plan::PodLimit::Fixed(pods));
            assert_eq!(plan.memory_for_pods, Some(bringup_plan::PodLimit::Fixed(29)));
            let json = serde_json::to_string(&plan).unwrap().replace(['\\', ' '], "");
            assert!(json.contains("\"memory\":\"574Mi\""), "{family}: {json}");
            assert!(json.contains(&format!("\"maxPods\":{pods}")), "{family}: {json}");
            if family != "AmazonLinux2023" {
                assert!(json.contains(&format!("MAX_PODS={pods}")), "{family}: {json}");
            }
        }
    }
}

/// eksctl's script passes `maxPodsPerNode` on as a flag, which stands above kubelet's configuration; a number in that alone is
/// what kubelet is told.
#[test]
fn of_two_numbers_of_pods_the_flag_counts() {
    let plan_of = |pods: &str| {
        let text = config(&format!(
            "nodeGroups:\n- {{name: ng, amiFamily: AmazonLinux2, instanceType: m5.large, {pods}kubeletExtraConfig: {{maxPods: 33}}}}\n"
        ));
        (plan(&document(&text), 0), text)
    };
    for (pods, expected) in [("maxPodsPerNode: 20, ", 20), ("", 33)] {
        let (plan, text) = plan_of(pods);
        assert_eq!(plan.max_pods, bringup_plan::PodLimit::Fixed(expected), "{text}");
        let json = serde_json::to_string(&plan).unwrap().replace(['\\', ' '], "");
        assert!(json.contains(&format!("\"maxPods\":{expected}")), "{json}");
        assert!(json.contains(&format!("MAX_PODS={expected}")), "{json}");
    }
}

/// The rest of a NodeConfig is carried out as where it stands by itself: name servers before any command, disks
/// behind them, as nodeadm's two services stand around cloud-init's scripts.
/// Of two NodeConfigs, nodeadm lays the second over the first: `maxPods` is a field of kubelet's, whose memory the
/// expression decides.
#[test]
fn all_of_a_node_config_is_carried_out() {
    let text = config(
        r#"nodeGroups:
- name: ng
  instanceType: m5d.xlarge
  maxPodsPerNode: 40
  preBootstrapCommands: ["true"]
  overrideBootstrapCommand: |
    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec:
      kubelet: {maxPodsExpression: "max_pods - 8"}
      containerd: {baseRuntimeSpec: {process: {rlimits: []}}}
      instance:
        localStorage: {strategy: RAID0, mountPath: /mnt/fast}
        network: {nameservers: [10.1.1.1], domains: [lab.example]}
        environment: {default: {A: "1"}, containerd: {B: "2"}}
      featureGates: {FastImagePull: true}
"#,
    );
    let group = group(&text);
    let steps: Vec<&str> = group.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["name-resolution", "pre-bootstrap-1", "local-disks", "import-pause-image"]);
    let ran: Vec<String> = programs(&text).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(ran, ["name-resolution", "pre-bootstrap-1", "local-disks", "import-pause-image"]);
    let files: Vec<&str> = group.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        files,
        [
            "/etc/containerd/base-runtime-spec.json",
            "/etc/soci-snapshotter-grpc/config.toml",
            "/etc/systemd/system.conf.d/environment.conf",
            "/etc/systemd/resolved.conf.d/40-eks.conf"
        ]
    );
    let units: Vec<&str> = group.units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(units, ["containerd.service"]);
    // m5d.xlarge: 4 interfaces with 15 addresses, 58 pods; 50 by the expression: 50 * 11 + 255.
    let json = serde_json::to_string(&plan(&document(&text), 0)).unwrap().replace(['\\', ' '], "");
    assert!(json.contains("\"maxPods\":40") && json.contains("\"memory\":\"805Mi\""), "{json}");
    let told = told(&text);
    assert!(!told.iter().any(|line| line.contains("not carried out")), "{told:#?}");
}

#[test]
fn a_command_that_reboots_asks_for_it() {
    let group = group(&config("nodeGroups:\n- name: ng\n  preBootstrapCommands: [touch /a; init 6]\n"));
    assert_eq!(scripts(&group), ["#!/bin/bash\ntouch /a; { : >\"$BRINGUP_REBOOT\"; exit 0; }"]);
}
