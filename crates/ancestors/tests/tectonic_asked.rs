//! What Ignition configs of Tectonic's kind ask for is done, or told: accounts, directories, hashes, kubelet's configuration
//! in a file, variables of its unit, and which machine starts the cluster.
#![allow(clippy::unwrap_used, reason = "a test that cannot look at what it tests ends there")]

mod support;

use bringup_ancestors::Read;
use bringup_diag::Severity;
use bringup_plan::LocalFiles;
use serde_json::{Value, json};

use support::{converts, plans, read, told, value};

const MASTER: &str = include_str!("../../../examples/tectonic/master.json");
const ADDITIONS: &str = include_str!("../../../examples/tectonic/additions.yaml");

/// The example's additions, without what is for its masters, and the version.
fn additions() -> String {
    let head = ADDITIONS.split("    - name: masters").next().unwrap();
    head.replacen("spec:\n", "spec:\n  kubernetes: {version: \"1.33.4\"}\n", 1)
}

/// A config with a kubelet whose unit has these lines of a service, and these files.
fn config(service: &str, files: &Value) -> Value {
    let contents = format!("[Service]\n{service}\n[Install]\nWantedBy=multi-user.target\n");
    json!({
        "ignition": {"version": "3.3.0"},
        "storage": {"files": files},
        "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": contents}]},
    })
}

fn given(config: &Value) -> Read {
    read(&[("config.json", &config.to_string()), ("additions.yaml", &additions())])
}

fn group(read: &Read, path: &str) -> Value {
    value(read, &format!("spec/nodeGroups/0/{path}"))
}

fn says(read: &Read, severity: Severity, text: &str) -> bool {
    told(read, severity).iter().any(|line| line.contains(text))
}

#[track_caller]
fn no_errors(read: &Read) {
    assert_eq!(told(read, Severity::Error), Vec::<String>::new());
}

/// Ignition makes the accounts that it is given the names of; the image has `core` and `root`.
#[test]
fn an_account_that_is_not_made_is_told() {
    let mut config = config("ExecStart=/usr/bin/kubelet", &json!([]));
    config["passwd"] = json!({"users": [{"name": "bob"}, {"name": "core"}, {"name": "root"}]});
    let read = given(&config);
    no_errors(&read);
    assert!(says(&read, Severity::Warning, "the account `bob` is not made"));
    assert!(!says(&read, Severity::Warning, "`core`") && !says(&read, Severity::Warning, "`root`"));
}

/// Ignition removes what is at the path of a directory with `overwrite: true`, and ends at a file that is there with
/// `overwrite: false`.
#[test]
fn overwrite_is_told_where_it_is_not_done() {
    let files = json!([
        {"path": "/etc/a", "overwrite": false, "contents": {"source": "data:,a"}},
        {"path": "/etc/b", "overwrite": true, "contents": {"source": "data:,b"}},
    ]);
    let mut config = config("ExecStart=/usr/bin/kubelet", &files);
    config["storage"]["directories"] =
        json!([{"path": "/var/lib/etcd", "overwrite": true}, {"path": "/var/lib/x", "overwrite": false}]);
    let read = given(&config);
    no_errors(&read);
    assert!(says(&read, Severity::Warning, "what is in `/var/lib/etcd` stays"));
    assert!(!says(&read, Severity::Warning, "/var/lib/x"));
    assert!(says(&read, Severity::Note, "`/etc/a` is written even if there is one already"));
    assert!(!says(&read, Severity::Note, "`/etc/b`"));
}

/// `printf hello | sha256sum` and `sha512sum`; Ignition hashes what has been unpacked.
#[test]
fn content_that_has_another_hash_is_an_error_with_both() {
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let sha512 = "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043";
    // printf hello | gzip -n | base64
    let packed = "data:;base64,H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==";
    let file = |source: Value, hash: &str| {
        let mut contents = source;
        contents["verification"] = json!({"hash": hash});
        given(&config("ExecStart=/usr/bin/kubelet", &json!([{"path": "/etc/a", "contents": contents}])))
    };
    let sources = [
        json!({"source": "data:,hello"}),
        json!({"inline": "hello"}),
        json!({"source": packed, "compression": "gzip"}),
    ];
    for source in sources {
        for hash in [format!("sha256-{sha256}"), format!("sha512-{}", sha512.to_uppercase())] {
            let read = file(source.clone(), &hash);
            no_errors(&read);
            assert_eq!(group(&read, "files/0/content"), json!("hello"), "{source}");
        }
        let zeros = "0".repeat(128);
        let read = file(source.clone(), &format!("sha512-{zeros}"));
        let expected = format!("`/etc/a` has the hash `sha512-{sha512}`, not `sha512-{zeros}`");
        assert!(says(&read, Severity::Error, &expected), "{source} {:#?}", told(&read, Severity::Error));
        let read = file(source.clone(), "md5-00");
        assert!(says(&read, Severity::Error, "`md5-00` is no hash that Ignition knows"), "{source}");
    }
}

/// A kubelet configuration as Typhoon writes it.
const CONFIGURATION: &str = "apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  x509: {clientCAFile: /etc/kubernetes/ca.crt}
clusterDNS: [10.3.0.10]
healthzPort: 0
readOnlyPort: 10255
registerWithTaints: [{key: node-role.kubernetes.io/controller, effect: NoSchedule}]
";

fn with_configuration(flags: &str, configuration: &str) -> Value {
    let files = json!([{"path": "/etc/kubernetes/kubelet.yaml", "contents": {"inline": configuration}}]);
    config(&format!("ExecStart=/usr/bin/kubelet {flags} --config=/etc/kubernetes/kubelet.yaml"), &files)
}

#[test]
fn fields_of_kubelet_that_the_plan_has_itself_are_taken_for_it() {
    let read = given(&with_configuration("", CONFIGURATION));
    no_errors(&read);
    assert_eq!(
        group(&read, "kubelet/config"),
        json!({"authentication": {"anonymous": {"enabled": false}}, "readOnlyPort": 10255})
    );
    assert_eq!(
        group(&read, "taints"),
        json!([{"key": "node-role.kubernetes.io/controller", "effect": "NoSchedule"}])
    );
    assert!(says(&read, Severity::Note, "`clientCAFile` is the plan's own"));
    assert!(says(&read, Severity::Warning, "`healthzPort: 0` is not taken over"));
    converts(&read, &LocalFiles::default());
    // By the flag it is the same.
    let read = given(&config("ExecStart=/usr/bin/kubelet --healthz-port=0", &json!([])));
    assert!(says(&read, Severity::Warning, "`healthzPort: 0` is not taken over"));
    assert_eq!(group(&read, "kubelet"), Value::Null);
}

/// Kubelet: a flag goes before the field of the file, wherever it stands.
#[test]
fn flags_go_before_the_file() {
    let flags = "--read-only-port=0 --authentication-token-webhook --register-with-taints=a=b:NoSchedule";
    let read = given(&with_configuration(flags, CONFIGURATION));
    no_errors(&read);
    assert_eq!(
        group(&read, "kubelet/config"),
        json!({"authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": true}}, "readOnlyPort": 0})
    );
    assert_eq!(group(&read, "taints"), json!([{"key": "a", "value": "b", "effect": "NoSchedule"}]));
}

/// Without the authority there is no file of it.
#[test]
fn an_authority_that_nobody_says_is_told() {
    let text = with_configuration("", CONFIGURATION).to_string();
    let bare = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: c}\nspec: {kubernetes: {version: \"1.33.4\"}}\n";
    let read = read(&[("config.json", &text), ("additions.yaml", bare)]);
    let expected = "nothing says the authority that `/etc/kubernetes/ca.crt` has: kubelet would take no client by its certificate";
    assert!(says(&read, Severity::Warning, expected), "{:#?}", told(&read, Severity::Warning));
    assert!(!says(&given(&with_configuration("", CONFIGURATION)), Severity::Warning, expected));
}

/// systemd.exec(5): a file of variables goes before `Environment=`.
#[test]
fn variables_are_those_of_the_files_of_the_unit() {
    let files = json!([
        {"path": "/etc/kubernetes/kubelet.env", "contents": {"inline": "NODE_LABELS=\"a.example/b=c,node.kubernetes.io/controller=true\"\nNODE_TAINTS='x=y:NoSchedule'\n"}},
        {"path": "/etc/more.env", "contents": {"inline": "# said\nPORT=1234\n"}},
    ]);
    let service = "Environment=PORT=1 NODE_LABELS=z=z\nEnvironmentFile=/etc/kubernetes/kubelet.env\nEnvironmentFile=-/etc/more.env\nEnvironmentFile=/run/metadata/coreos\nExecStart=/usr/bin/kubelet --node-labels=${NODE_LABELS} --register-with-taints=${NODE_TAINTS} --read-only-port=${PORT} --node-ip=${COREOS_IP}";
    let read = given(&config(service, &files));
    no_errors(&read);
    assert_eq!(group(&read, "labels"), json!({"a.example/b": "c", "node.kubernetes.io/controller": "true"}));
    assert_eq!(group(&read, "taints"), json!([{"key": "x", "value": "y", "effect": "NoSchedule"}]));
    assert_eq!(group(&read, "kubelet/config"), json!({"readOnlyPort": 1234}));
    let told = told(&read, Severity::Warning);
    assert_eq!(told.iter().filter(|line| line.contains("only the machine knows")).count(), 1, "{told:#?}");
}

/// systemd.unit(5): drop-ins are read in the order of their names, and the plan's is `90-bringup.conf`.
#[test]
fn what_the_plans_drop_in_would_take_back_stands_behind_it() {
    let service =
        "ExecStart=/usr/bin/kubelet\nRestartSec=10\nEnvironmentFile=/etc/more.env\nNice=1\nRestart=always";
    let read = given(&config(service, &json!([{"path": "/etc/more.env", "contents": {"inline": "A=b\n"}}])));
    no_errors(&read);
    let plans = plans(&read, &LocalFiles::default());
    let unit = plans["workers"].units.iter().find(|unit| unit.name == "kubelet.service").unwrap();
    assert!(unit.drop_ins["90-bringup.conf"].contains("RestartSec=5\n"));
    assert_eq!(unit.drop_ins["20-tectonic.conf"], "[Service]\nNice=1\n");
    assert_eq!(
        unit.drop_ins["95-tectonic.conf"],
        "[Service]\nRestartSec=10\nEnvironmentFile=/etc/more.env\n"
    );
    converts(&read, &LocalFiles::default());
}

#[test]
fn a_group_of_the_control_plane_is_named_for_it() {
    let control_plane = [
        "--node-labels=node.kubernetes.io/controller=true",
        "--node-labels=node.kubernetes.io/master",
        "--register-with-taints=node-role.kubernetes.io/controller=:NoSchedule",
        "--register-with-taints=node-role.kubernetes.io/master=:NoSchedule",
        "--register-with-taints=node-role.kubernetes.io/control-plane=:NoSchedule",
    ];
    for flags in control_plane {
        let read = given(&config(&format!("ExecStart=/usr/bin/kubelet {flags}"), &json!([])));
        assert_eq!(group(&read, "name"), json!("masters"), "{flags}");
        assert_eq!(group(&read, "role"), json!("control-plane"), "{flags}");
        converts(&read, &LocalFiles::default());
    }
    for flags in [
        "--node-labels=node.kubernetes.io/node",
        "--register-with-taints=node-role.kubernetes.io/x=:NoSchedule",
    ] {
        let read = given(&config(&format!("ExecStart=/usr/bin/kubelet {flags}"), &json!([])));
        assert_eq!(group(&read, "name"), json!("workers"), "{flags}");
    }
}

/// A config of masters that start a cluster says nothing of how many they are.
#[test]
fn which_master_starts_the_cluster_is_asked_for() {
    let expected = "every machine of this config starts a cluster";
    let with = |group: &str| {
        let additions = format!("{}{group}", additions());
        read(&[("master.json", MASTER), ("additions.yaml", &additions)])
    };
    assert!(says(&with(""), Severity::Warning, expected));
    for answer in ["{fact: hostname, equals: master-1}", "true"] {
        let read = with(&format!("    - name: masters\n      bootstrap: {answer}\n"));
        no_errors(&read);
        assert!(!says(&read, Severity::Warning, expected), "{answer}");
        converts(&read, &LocalFiles::default());
    }
}

/// `ignition-validate` 2.14 refuses each of these: what has no name, and twins, of files, directories and links among all.
#[test]
fn what_has_no_name_or_that_of_another_is_an_error_at_its_place() {
    let config = r#"{"ignition": {"version": "3.3.0"},
"storage": {
 "files": [{"path": null}, {"contents": {}}, {"path": "/a"},
  {"path": "/a"},
  {"path": "/etc/kubernetes/installer/kubelet.env", "contents": {"source": "data:,A=1"}},
  {"path": "/etc/kubernetes/installer/kubelet.env", "contents": {"source": "data:,A=2"}}],
 "directories": [{"path": "/a"}, {"mode": 448}],
 "links": [{"path": "/a/", "target": "/b"}, {"target": "/b"}]},
"passwd": {"users": [{"name": "core"}, {"name": "core"}, {}]},
"networkd": {"units": [{"contents": "[Match]"}]},
"systemd": {"units": [
 {"name": "kubelet.service", "enabled": true, "contents": "[Service]\nExecStart=/usr/bin/kubelet --max-pods=7\n[Install]\nWantedBy=multi-user.target\n"},
 {"name": "kubelet.service", "enabled": true, "contents": "[Service]\nExecStart=/usr/bin/kubelet --max-pods=9\n[Install]\nWantedBy=multi-user.target\n"},
 {"contents": "[Service]\nExecStart=/bin/lost\n"},
 {"name": "own.service", "dropins": [{"contents": "[Service]\n"}, {"name": "a.conf", "contents": "[Service]\n"}, {"name": "a.conf", "contents": "[Service]\n"}]},
 null]}}"#;
    let read = read(&[("config.json", config), ("additions.yaml", &additions())]);
    let errors = told(&read, Severity::Error);
    let lost = |what: &str, name: &str| {
        format!("ancestor/wrong-type another one has the {what} `{name}` already: one of them would be lost")
    };
    let nameless =
        |what: &str, key: &str| format!("ancestor/missing this {what} has no `{key}`: Ignition refuses it");
    let expected = [
        format!("3:21 {}", nameless("file", "path")),
        format!("3:28 {}", nameless("file", "path")),
        format!("4:12 {}", lost("path", "/a")),
        format!("6:12 {}", lost("path", "/etc/kubernetes/installer/kubelet.env")),
        format!("7:27 {}", lost("path", "/a")),
        format!("7:34 {}", nameless("directory", "path")),
        format!("8:21 {}", lost("path", "/a")),
        format!("8:45 {}", nameless("link", "path")),
        format!("9:49 {}", lost("name", "core")),
        format!("9:58 {}", nameless("user", "name")),
        format!("10:24 {}", nameless("unit of networkd", "name")),
        format!("13:11 {}", lost("name", "kubelet.service")),
        format!("14:2 {}", nameless("unit", "name")),
        format!("15:38 {}", nameless("drop-in", "name")),
        format!("15:123 {}", lost("name", "a.conf")),
        format!("16:2 {}", nameless("unit", "name")),
    ];
    let expected: Vec<String> = expected.into_iter().map(|line| format!("config.json:{line}")).collect();
    assert_eq!(errors, expected);

    // What is added to a file by another entry of its path is told as that.
    let mut added = self::config(
        "ExecStart=/usr/bin/kubelet",
        &json!([{"path": "/a"}, {"path": "/a", "append": true, "contents": {"source": "data:,x"}}]),
    );
    added["ignition"]["version"] = json!("2.2.0");
    no_errors(&given(&added));
}
