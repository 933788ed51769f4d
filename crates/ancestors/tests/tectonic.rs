//! Ignition configs and units of Tectonic's kind as Bringup documents.

mod support;

use bringup_ancestors::Read;
use bringup_diag::Severity;
use bringup_plan::{Action, LocalFiles, Plan};
use serde_json::{Value, json};

use support::{converts, plans, read, told, value};

const MASTER: &str = include_str!("../../../examples/tectonic/master.json");
const WORKER: &str = include_str!("../../../examples/tectonic/worker.json");
const ADDITIONS: &str = include_str!("../../../examples/tectonic/additions.yaml");

fn example() -> Read {
    read(&[("master.json", MASTER), ("worker.json", WORKER), ("additions.yaml", ADDITIONS)])
}

fn unit(name: &str, contents: &str) -> Value {
    json!({"name": name, "enabled": true, "contents": contents})
}

/// A config with a kubelet of these flags, and more units and files.
fn config(flags: &str, units: &[Value], files: &[Value]) -> String {
    let kubelet = format!(
        "[Service]\nExecStart=/usr/lib/coreos/kubelet-wrapper {flags}\n[Install]\nWantedBy=multi-user.target\n"
    );
    let mut all = vec![unit("kubelet.service", &kubelet)];
    all.extend_from_slice(units);
    json!({"ignition": {"version": "2.2.0"}, "systemd": {"units": all}, "storage": {"files": files}})
        .to_string()
}

fn with_additions(config: &str) -> Read {
    read(&[
        ("config.json", config),
        (
            "additions.yaml",
            "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: c}\nspec: {kubernetes: {version: \"1.33.4\"}}\n",
        ),
    ])
}

fn group(read: &Read, path: &str) -> Value {
    value(read, &format!("spec/nodeGroups/0/{path}"))
}

fn warnings(read: &Read) -> Vec<String> {
    told(read, Severity::Warning)
}

fn unit_text<'a>(plan: &'a Plan, name: &str) -> &'a str {
    let unit = plan.units.iter().find(|unit| unit.name == name);
    unit.and_then(|unit| unit.content.as_deref()).unwrap_or_default()
}

/// The second seed's two kinds of node: what its units ask for is in the document, and the plan is the same when written.
#[test]
fn the_configs_of_masters_and_workers_are_one_document() {
    let read = example();
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(warnings(&read), Vec::<String>::new());
    assert_eq!(value(&read, "metadata/name"), json!("lighthouse"));
    assert_eq!(value(&read, "spec/flavour"), json!("tectonic"));
    assert_eq!(value(&read, "spec/kubernetes"), json!({"version": "1.33.4", "detect": true}));
    assert_eq!(value(&read, "spec/network/dns"), json!(["10.3.0.10"]));
    assert_eq!(
        value(&read, "spec/join"),
        json!({"method": "kubeconfig", "kubeconfig": {"file": "/etc/kubernetes/kubeconfig"}})
    );
    assert_eq!(group(&read, "name"), json!("masters"));
    assert_eq!(group(&read, "role"), json!("control-plane"));
    assert_eq!(group(&read, "labels"), json!({"example.com/pool": "masters"}));
    assert_eq!(
        group(&read, "taints"),
        json!([{"key": "node-role.kubernetes.io/control-plane", "value": "", "effect": "NoSchedule"}])
    );
    assert_eq!(
        group(&read, "kubelet/config"),
        json!({"staticPodPath": "/etc/kubernetes/manifests", "authentication": {"anonymous": {"enabled": false}}})
    );
    // Additions wait for a list of digests where the path unit waited for a script.
    assert_eq!(
        group(&read, "controlPlane"),
        json!({"run": ["/usr/bin/bash", "/opt/tectonic/bootkube.sh"], "waitFor": [{"manifest": "/opt/tectonic/SHA256SUMS"}], "directory": "/opt/tectonic", "timeout": "1h"})
    );
    assert_eq!(group(&read, "platformStage/waitFor"), json!(["/opt/tectonic/tectonic-rkt.sh"]));
    assert_eq!(value(&read, "spec/nodeGroups/1/name"), json!("workers"));
    assert_eq!(value(&read, "spec/nodeGroups/1/role"), Value::Null);
    converts(&read, &LocalFiles::default());
}

/// facts: a failed bootstrap released kubelet; a path unit fell over a service whose condition no longer held; the mark was
/// written before the reboot; leftovers kept a rerun from working.
#[test]
fn the_known_faults_of_the_design_are_not_in_the_plan() {
    let plans = plans(&example(), &LocalFiles::default());
    let plan = &plans["masters"];
    let kubelet = plan.units.iter().find(|unit| unit.name == "kubelet.service").unwrap();
    let drop_ins: String = kubelet.drop_ins.values().cloned().collect();
    assert!(drop_ins.contains("Requires=bringup-gate.target"), "{drop_ins}");
    assert_ne!(kubelet.enabled, Some(true), "only the agent starts it");
    for (path, service) in [("bootkube.path", "bootkube.service"), ("tectonic.path", "tectonic.service")] {
        let stem = path.trim_end_matches(".path");
        let condition = format!("ConditionPathExists=!/opt/tectonic/init_{stem}.done\n");
        assert!(unit_text(plan, path).contains(&condition) && unit_text(plan, service).contains(&condition));
        assert!(
            !unit_text(plan, service).contains(".sh"),
            "the stage is the agent's, which knows what is done"
        );
    }
    // `kubelet.env` is no condition of anything.
    for unit in &plan.units {
        let text =
            unit.content.clone().unwrap_or_default() + &unit.drop_ins.values().cloned().collect::<String>();
        assert!(!text.contains("ConditionPathExists=!/etc/kubernetes/kubelet.env"), "{}: {text}", unit.name);
    }
    let stage = plan.steps.iter().find(|step| step.name == "bootkube").unwrap();
    assert!(
        matches!(&stage.action, Action::Run { directory: Some(folder), .. } if folder == "/opt/tectonic")
    );
}

#[test]
fn unit_files_alone_are_a_group_and_keep_their_lines() {
    let bootstrap = "[Unit]\nBefore=kubelet.service\nRequires=docker.service\n[Service]\nExecStartPre=/opt/bin/prepare 'a b'\nExecStart=/usr/bin/echo done\n[Install]\nWantedBy=multi-user.target\n";
    let kubelet = "[Service]\nEnvironmentFile=/etc/kubernetes/kubelet.env\nLimitNOFILE=40000\nExecStart=/opt/bin/kubelet \\\n  --node-ip=$PRIVATE \\\n  --max-pods=50\n[Install]\nWantedBy=multi-user.target\n";
    let files = [
        ("units/k8s-node-bootstrap.service", bootstrap),
        ("units/kubelet.service", kubelet),
        ("units/kubelet.service.d/20-more.conf", "[Service]\nCPUWeight=200\n"),
        ("units/kubelet.env", "KUBELET_IMAGE_TAG=v1.30.2_coreos.0\nOTHER=\"a b\"\n"),
        (
            "units/tx-off.service",
            "[Service]\nType=oneshot\nExecStart=/usr/sbin/ethtool -K eth0 tx off\n[Install]\nRequiredBy=network.target\n",
        ),
    ];
    let read = read(&files);
    assert_eq!(
        warnings(&read),
        [
            "units/kubelet.service:4:1 ancestor/field-differs what `--node-ip` is only the machine knows: `$PRIVATE` is not taken over"
        ]
    );
    let notes = told(&read, Severity::Note);
    for expected in [
        "units/k8s-node-bootstrap.service:3:1 ancestor/difference `Requires=docker.service` is taken for `Wants=`: one failure of it would end the agent's start for good",
        "units/k8s-node-bootstrap.service:1:1 ancestor/missing these files do not say the API's address",
    ] {
        assert!(notes.iter().any(|note| note == expected), "{expected}\n{notes:#?}");
    }
    assert_eq!(
        told(&read, Severity::Error),
        ["units/k8s-node-bootstrap.service:1:1 ancestor/missing these files do not say the cluster's name"]
    );

    let named =
        format!("{}spec: {{}}\n", "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: c}\n");
    let mut files = files.to_vec();
    files.push(("additions.yaml", &named));
    let read = support::read(&files);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(value(&read, "spec/kubernetes/version"), json!("1.30.2"));
    assert_eq!(group(&read, "maxPods"), json!(50));
    assert_eq!(group(&read, "kubelet/environment"), json!({"OTHER": "a b"}));
    assert_eq!(
        group(&read, "steps"),
        json!([{"name": "node-bootstrap-1", "run": ["/opt/bin/prepare", "a b"], "before": ["runtime"]}])
    );
    let units = group(&read, "units");
    let names: Vec<&str> =
        units.as_array().unwrap().iter().map(|unit| unit["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["k8s-node-bootstrap.service", "tx-off.service", "kubelet.service"]);
    assert_eq!(units[0]["dropIns"][0]["content"], json!("[Unit]\nWants=docker.service\n"));
    assert_eq!(units[1]["enabled"], json!(true));
    assert_eq!(units[2]["dropIns"][0]["content"], json!("[Service]\nLimitNOFILE=40000\nCPUWeight=200\n"));
    converts(&read, &LocalFiles::default());
}

/// Ignition's specification: the mode is decimal, a missing owner is root, a hash is of the unpacked bytes.
#[test]
fn files_come_in_every_form_of_a_config() {
    let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let files = [
        json!({"filesystem": "root", "path": "/etc/a", "mode": 384, "user": {"name": "core"}, "group": {"id": 500}, "contents": {"source": "data:,x%20@%7Bzone%7D%0A"}}),
        json!({"path": "/etc/b", "contents": {"source": "data:;base64,AP8="}}),
        json!({"path": "/etc/c", "contents": {"source": "https://example.com/c", "verification": {"hash": format!("sha256-{sha256}")}}}),
        json!({"path": "/etc/d", "contents": {"source": "https://example.com/d", "verification": {"hash": "sha512-00"}}}),
        json!({"path": "/etc/e", "append": true, "contents": {"source": "data:,x"}}),
        json!({"filesystem": "data", "path": "/e", "contents": {"source": "data:,x"}}),
        json!({"path": "/etc/f"}),
    ];
    let read = with_additions(&config("--v=2", &[], &files));
    let kept = json!([
        {"path": "/etc/a", "content": "x @@{zone}\n", "mode": "0600", "owner": "core:500"},
        {"path": "/etc/b", "content": "AP8=", "encoding": "base64"},
        {"path": "/etc/c", "urls": ["https://example.com/c"], "sha256": sha256},
        {"path": "/etc/f", "content": ""},
    ]);
    assert_eq!(group(&read, "files"), kept);
    let told: Vec<String> = warnings(&read)
        .into_iter()
        .filter_map(|line| Some(line.split_once("field-differs ")?.1.to_owned()))
        .collect();
    assert_eq!(
        told,
        [
            "`https://example.com/d` is not fetched to `/etc/d`: only its SHA-512 is known, and downloads are checked by SHA-256",
            "`/etc/e` is added to, which is not done here: the node will differ",
            "this goes to a filesystem of its own, and is not written: the node will differ",
        ]
    );
    converts(&read, &LocalFiles::default());
}

#[test]
fn nothing_of_a_config_is_dropped_in_silence() {
    let mut whole: Value =
        serde_json::from_str(&config("--a-flag-of-ours=1 --network-plugin=cni --cni-conf-dir=/x", &[], &[]))
            .unwrap();
    whole["ignition"]["config"] = json!({"append": [{"source": "https://example.com/more"}]});
    whole["storage"]["disks"] = json!([{"device": "/dev/sda"}]);
    whole["storage"]["links"] =
        json!([{"path": "/etc/l", "target": "/etc/m"}, {"path": "/etc/h", "target": "/etc/m", "hard": true}]);
    whole["passwd"] = json!({"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA me"], "passwordHash": "$6$secret"}]});
    whole["networkd"] = json!({"units": [{"name": "00-a.network", "contents": "[Match]\nName=a\n"}]});
    whole["kernelArguments"] = json!({"shouldExist": ["quiet"], "shouldNotExist": ["splash"]});
    whole["systemd"]["units"][0]["neverHeardOf"] = json!(1);
    let read = with_additions(&whole.to_string());
    let all = warnings(&read).join("\n");
    for expected in [
        "`append` of `config`",
        "`disks` of `storage`",
        "a hard link",
        "`passwordHash` of a user",
        "`shouldNotExist`",
        "unknown field `neverHeardOf`",
        "`--cni-conf-dir` since 1.24",
    ] {
        assert!(all.contains(expected), "{expected}\n{all}");
    }
    assert!(
        told(&read, Severity::Note)
            .iter()
            .any(|note| note.contains("`--network-plugin` since 1.24: it is left aside"))
    );
    // A flag that nobody knows is kubelet's own to refuse: the plan looks it up.
    assert_eq!(group(&read, "kubelet/flags"), json!({"a-flag-of-ours": "1"}));
    assert!(!all.contains("secret"), "{all}");
    assert_eq!(group(&read, "links"), json!([{"path": "/etc/l", "target": "/etc/m"}]));
    assert_eq!(group(&read, "kernelArguments"), json!(["quiet"]));
    let files = group(&read, "files");
    assert_eq!(files[0]["path"], json!("/etc/systemd/network/00-a.network"));
    assert_eq!(
        files[1],
        json!({"path": "/home/core/.ssh/authorized_keys", "content": "ssh-ed25519 AAAA me\n", "mode": "0600", "owner": "core:core"})
    );
}

/// A text with all escaped that may not stand in an address.
fn data_url(text: &str) -> String {
    let signs = [
        ('%', "%25"),
        ('\n', "%0A"),
        (' ', "%20"),
        ('"', "%22"),
        ('[', "%5B"),
        (']', "%5D"),
        ('{', "%7B"),
        ('}', "%7D"),
    ];
    signs.iter().fold(format!("data:,{text}"), |url, (sign, escape)| url.replace(*sign, escape))
}

/// A kubeconfig in the config says where the API is; its keys go nowhere.
#[test]
fn what_a_kubeconfig_says_is_taken_and_its_credentials_are_not() {
    let kubeconfig = "clusters:\n- name: My.Cluster\n  cluster: {server: 'https://api.example:443'}\nusers:\n- name: u\n  user: {token: very-secret}\n";
    let files = [
        json!({"path": "/etc/kubernetes/kubeconfig", "mode": 420, "contents": {"source": data_url(kubeconfig)}}),
    ];
    let text = config("--kubeconfig=/etc/kubernetes/kubeconfig", &[], &files);
    let other = told(&with_additions(&text), Severity::Error);
    assert!(other[0].ends_with("there is no cluster `c` to add to"), "{other:?}");
    let additions =
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: \"1.33.4\"}}\n";
    let read = support::read(&[("config.json", &text), ("additions.yaml", additions)]);
    assert!(
        warnings(&read).iter().any(|line| line.contains("ancestor/inline-secret")),
        "{:?}",
        warnings(&read)
    );
    assert_eq!(value(&read, "metadata/name"), json!("my-cluster"));
    assert_eq!(value(&read, "spec/api"), json!({"endpoint": "https://api.example:443"}));
    let tree = bringup_yaml::to_yaml(&read.documents[0].tree().to_value());
    assert!(!tree.contains("very-secret"), "{tree}");
}

/// tectonic-torcx: the first candidate for the minor; an update with the unit's own deadline; the kubeconfig from S3.
#[test]
fn the_bootstrap_units_work_becomes_fields() {
    let bootstrap = "[Service]\nTimeoutStartSec=30min\nExecStartPre=/opt/s3-puller.sh b/kubeconfig /etc/kubernetes/kubeconfig\nExecStartPre=/usr/bin/docker run q:1 /tectonic-torcx-bootstrap --upgrade-os=true --torcx-skip-setup=false --torcx-manifest-url=https://x --odd=1\nExecStart=/usr/bin/echo ok\n";
    let mapping = "kind: VersionManifestV1\nversions:\n  k8s:\n    1.22: {docker: [\"20.10\", \"19.03\"]}\n    1.23: {docker: [\"20.10\"]}\n";
    let files = [
        json!({"path": "/etc/kubernetes/installer/runtime-mappings.yaml", "contents": {"source": data_url(mapping)}}),
        json!({"path": "/etc/kubernetes/installer/kubelet.env", "contents": {"source": "data:,KUBELET_IMAGE_TAG=v1.22.4%0A"}}),
    ];
    let text = config(
        "--kubeconfig=/etc/kubernetes/kubeconfig",
        &[unit("k8s-node-bootstrap.service", bootstrap)],
        &files,
    );
    assert_eq!(read(&[("config.json", &text)]).documents.len(), 0, "there is no document without a name");
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: c}\nspec: {aws: {region: eu-west-1}}\n";
    let read = support::read(&[("config.json", &text), ("additions.yaml", additions)]);
    assert_eq!(group(&read, "update"), json!({"timeout": "1800s"}));
    assert_eq!(group(&read, "platform"), json!("aws"));
    assert_eq!(
        group(&read, "runtime"),
        json!({"name": "docker", "versions": [{"kubernetes": "1.22", "version": "20.10"}, {"kubernetes": "1.23", "version": "20.10"}]})
    );
    assert_eq!(value(&read, "spec/join/kubeconfig"), json!({"s3": "s3://b/kubeconfig"}));
    assert!(warnings(&read).iter().any(|line| line.contains("`--odd` of tectonic-torcx-bootstrap")));
    // With another version the mapping has nothing to say, and that is told.
    let newer = with_additions(&text);
    assert_eq!(group(&newer, "runtime"), Value::Null);
    assert!(warnings(&newer).iter().any(|line| line.contains("names no runtime for Kubernetes 1.33")));
}

/// Container Linux Config, as Tectonic's metal platform wrote it, and Butane.
#[test]
fn the_forms_that_people_write_are_read_like_configs() {
    let written = "HEADsystemd:
  units:
    - name: kubelet.service
      enable: true
      contents: |
        [Service]
        ExecStart=/opt/bin/kubelet --node-labels=a.example/b=c --odd
        Nice=$X
storage:
  files:
    - path: /etc/hostname
      mode: 0644
      contents: {inline: node1}
passwd:
  users: [{name: core, ssh_authorized_keys: [ssh-rsa AAAA]}]
";
    for head in ["", "variant: flatcar\nversion: 1.1.0\n"] {
        let text = written.replace("HEAD", head);
        let read = with_additions(&text);
        assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
        assert_eq!(group(&read, "labels"), json!({"a.example/b": "c"}));
        assert_eq!(
            group(&read, "files")[0],
            json!({"path": "/etc/hostname", "content": "node1", "mode": "0644"})
        );
        assert_eq!(group(&read, "kubelet/flags"), json!({"odd": "true"}));
    }
    // A unit in a block has lines of its own.
    let read = with_additions(&written.replace("HEAD", "").replace("--odd", "--node-ip=%H"));
    assert_eq!(
        warnings(&read),
        [
            "config.json:7:1 ancestor/field-differs what `--node-ip` is only the machine knows: `%H` is not taken over"
        ]
    );
}

#[test]
fn configs_that_bring_no_node_up_are_refused() {
    let etcd = json!({"ignition": {"version": "2.1.0"}, "systemd": {"units": [unit("etcd-member.service", "[Service]\nExecStart=/a\n")]}});
    let pointer = json!({"ignition": {"version": "2.1.0", "config": {"replace": {"source": "s3://b/ignition_master.json", "verification": {"hash": "sha512-00"}}}}});
    let ours = json!({"ignition": {"version": "3.3.0"}, "systemd": {"units": [unit("bringup.service", "[Service]\nExecStart=/a\n"), unit("kubelet.service", "")]}});
    let masked = json!({"ignition": {"version": "3.3.0"}, "systemd": {"units": [{"name": "kubelet.service", "mask": true}]}});
    for (config, expected) in [
        (
            etcd,
            "this config brings no node up: it has neither `kubelet.service` nor `k8s-node-bootstrap.service`",
        ),
        (
            pointer,
            "`replace` of `config` of a config: the config is at another address, and only the address is here",
        ),
        (ours, "this config has been built by Bringup: there is nothing to translate in it"),
        (masked, "`kubelet.service` is masked: no node comes up from this config"),
    ] {
        let read = read(&[("config.json", &config.to_string())]);
        let errors = told(&read, Severity::Error);
        assert!(errors.iter().any(|error| error.contains(expected)), "{expected}\n{errors:#?}");
    }
}

/// Kubelet in a container that another command watches, its configuration in a file, a mark of another name: as others of
/// Tectonic's kind have them.
#[test]
fn kubelet_in_a_container_with_its_configuration_in_a_file_is_read() {
    let kubelet = "[Service]\nEnvironment=KUBELET_IMAGE=quay.io/poseidon/kubelet:v1.32.1\nExecStartPre=/usr/bin/docker run -d --name kubelet --privileged $KUBELET_IMAGE --config=/etc/kubernetes/kubelet.yaml --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig --kubeconfig=/var/lib/kubelet/kubeconfig --cluster_domain=reef.local\nExecStart=docker logs -f kubelet\nExecStop=docker stop kubelet\n";
    let bootkube = "[Unit]\nConditionPathExists=!/opt/x/done\n[Service]\nType=oneshot\nExecStart=/opt/x/start\nExecStartPost=/bin/touch /opt/x/done\nExecStartPost=/bin/touch /opt/x/other\n";
    let yaml = format!(
        "variant: fcos\nversion: 1.5.0\nsystemd:\n  units:\n    - {}\n    - {}\nstorage:\n  files:\n    - path: /etc/kubernetes/kubelet.yaml\n      contents:\n        inline: |\n          kind: KubeletConfiguration\n          clusterDNS: [10.3.0.10]\n          readOnlyPort: 0\n    - path: /etc/containerd/config.toml\n      contents: {{inline: \"version = 2\\n\"}}\n",
        unit("kubelet.service", kubelet),
        unit("bootkube.service", bootkube)
    );
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: c}\nspec: {network: {serviceRanges: [10.3.0.0/16]}}\n";
    let read = read(&[("worker.yaml", &yaml), ("additions.yaml", additions)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(value(&read, "spec/kubernetes/version"), json!("1.32.1"));
    assert_eq!(value(&read, "spec/network/domain"), json!("reef.local"));
    assert_eq!(value(&read, "spec/network/dns"), json!(["10.3.0.10"]));
    assert_eq!(value(&read, "spec/join/kubeconfig/file"), json!("/etc/kubernetes/kubeconfig"));
    assert_eq!(group(&read, "os"), json!("generic"));
    assert_eq!(group(&read, "kubelet"), json!({"config": {"readOnlyPort": 0}}));
    assert_eq!(group(&read, "runtime"), json!({"config": "version = 2\n"}));
    assert_eq!(group(&read, "files"), Value::Null);
    assert_eq!(group(&read, "units"), Value::Null);
    // The mark is the agent's own; what else is made is made.
    assert_eq!(
        group(&read, "controlPlane/run"),
        json!(["/bin/sh", "-ec", "'/opt/x/start'\n'/bin/touch' '/opt/x/other'"])
    );
    converts(&read, &LocalFiles::default());
}
