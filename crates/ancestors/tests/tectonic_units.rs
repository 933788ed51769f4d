//! What systemd makes of the units of Tectonic's kind is what the document asks for: commands in their order, what may fail,
//! what a drop-in resets, and what nothing starts.
#![allow(clippy::unwrap_used, reason = "a test that cannot look at what it tests ends there")]

mod support;

use bringup_ancestors::Read;
use bringup_diag::Severity;
use bringup_plan::LocalFiles;
use serde_json::{Value, json};

use support::{converts, plans, read, told, value};

const MASTER: &str = include_str!("../../../examples/tectonic/master.json");
const ADDITIONS: &str = include_str!("../../../examples/tectonic/additions.yaml");

/// The example's master, with changes to its units.
fn changed(change: impl Fn(&str, &mut Value)) -> Read {
    let mut config: Value = serde_json::from_str(MASTER).unwrap();
    for unit in config["systemd"]["units"].as_array_mut().unwrap() {
        let name = unit["name"].as_str().unwrap().to_owned();
        change(&name, unit);
    }
    // The list of digests is for a stage that is there.
    let additions = ADDITIONS.split("    - name: masters").next().unwrap();
    read(&[("master.json", &config.to_string()), ("additions.yaml", additions)])
}

/// The example's master with lines put before a line of a unit's text.
fn with_lines(of: &str, before: &str, lines: &str) -> Read {
    changed(|name, unit| {
        if name == of {
            let contents = unit["contents"].as_str().unwrap();
            let added = contents.replacen(before, &format!("{lines}\n{before}"), 1);
            assert_ne!(added, contents, "{before}");
            unit["contents"] = json!(added);
        }
    })
}

fn with_drop_in(of: &str, contents: &str) -> Read {
    changed(|name, unit| {
        if name == of {
            unit["dropins"] = json!([{"name": "10-x.conf", "contents": contents}]);
        }
    })
}

fn group(read: &Read, path: &str) -> Value {
    value(read, &format!("spec/nodeGroups/0/{path}"))
}

/// The script of the stage, or its command.
fn stage(read: &Read, name: &str) -> String {
    let run = group(read, &format!("{name}/run"));
    run.as_array().unwrap().last().unwrap().as_str().unwrap().to_owned()
}

fn says(read: &Read, severity: Severity, text: &str) -> bool {
    told(read, severity).iter().any(|line| line.contains(text))
}

const BOOTKUBE: &str = "'/usr/bin/bash' '/opt/tectonic/bootkube.sh'";

/// systemd.service(5): conditions, then what is before, the program, and what is after it, wherever the lines stand.
#[test]
fn commands_run_in_systemds_order() {
    let lines =
        "ExecStartPost=/opt/bin/notify\nExecCondition=/opt/bin/may-start\nExecStartPre=/opt/bin/before";
    let read = with_lines("bootkube.service", "RemainAfterExit", lines);
    assert_eq!(
        stage(&read, "controlPlane"),
        format!("'/opt/bin/may-start'\n'/opt/bin/before'\n{BOOTKUBE}\n'/opt/bin/notify'")
    );
    assert!(says(
        &read,
        Severity::Warning,
        "`ExecCondition=/opt/bin/may-start` ends an attempt of the stage"
    ));
    converts(&read, &LocalFiles::default());

    let read = with_drop_in("tectonic.service", "[Service]\nExecStartPre=/opt/bin/before\n");
    assert_eq!(
        stage(&read, "platformStage"),
        "'/opt/bin/before'\n'/usr/bin/bash' '/opt/tectonic/tectonic-rkt.sh'"
    );

    let lines = "ExecStartPost=/opt/bin/c\nExecStart=/opt/bin/b";
    let read = with_lines("k8s-node-bootstrap.service", "ExecStartPre=/usr/bin/mkdir", lines);
    let read_again = with_lines("k8s-node-bootstrap.service", "ExecStart=", "ExecStartPre=/opt/bin/a");
    assert_eq!(group(&read_again, "steps/0/run"), json!(["/opt/bin/a"]));
    assert_eq!(group(&read, "steps/0/run"), json!(["/opt/bin/b"]));
    assert_eq!(group(&read, "steps/1/run"), json!(["/opt/bin/c"]));
}

/// systemd.service(5), "Special executable prefixes": `-` is a failure that counts for nothing, `@` names the program.
#[test]
fn what_may_fail_may_fail_here_too() {
    let read = with_lines("bootkube.service", "ExecStart=", "ExecStartPre=-/opt/bin/may 'a b'");
    assert_eq!(stage(&read, "controlPlane"), format!("'/opt/bin/may' 'a b' || true\n{BOOTKUBE}"));

    // One command alone, too.
    let read = changed(|name, unit| {
        if name == "tectonic.service" {
            unit["contents"] = json!(unit["contents"].as_str().unwrap().replace("ExecStart=", "ExecStart=-"));
        }
    });
    assert_eq!(stage(&read, "platformStage"), "'/usr/bin/bash' '/opt/tectonic/tectonic-rkt.sh' || true");

    let read = with_lines(
        "k8s-node-bootstrap.service",
        "ExecStart=",
        "ExecStartPre=-/opt/bin/may\nExecStartPre=-/bin/mkdir /x\nExecStartPre=@/opt/bin/named other x\nExecStartPre=+/opt/bin/must",
    );
    let run = |name: &str, words: Value| json!({"name": name, "run": words, "before": ["runtime"]});
    let mut may = run("node-bootstrap-1", json!(["/opt/bin/may"]));
    may["attempts"] = json!(1);
    may["onFailure"] = json!("continue");
    assert_eq!(
        group(&read, "steps"),
        json!([
            may,
            run("node-bootstrap-2", json!(["/opt/bin/named", "x"])),
            run("node-bootstrap-3", json!(["/opt/bin/must"]))
        ])
    );
    assert!(says(&read, Severity::Note, "`ExecStartPre=-/bin/mkdir /x` may fail there"));
    assert!(says(&read, Severity::Warning, "`ExecStartPre=@/opt/bin/named other x` is run by its own name"));
    converts(&read, &LocalFiles::default());

    // `:` leaves variables alone, as is done here with all of them.
    for (command, is_told) in [
        ("/opt/a $X", true),
        ("/opt/a b${X}", true),
        ("/opt/a %H", true),
        (":/opt/a $X", false),
        ("/bin/sh -c 'a $$X 1%%'", false),
    ] {
        let read = with_lines("bootkube.service", "ExecStart=", &format!("ExecStartPre={command}"));
        assert_eq!(says(&read, Severity::Warning, "is run as it is written"), is_told, "{command}");
    }

    // What stays a line of a unit keeps its letters.
    let read = with_lines("kubelet.service", "ExecStart=", "ExecStartPre=-+/opt/bin/may");
    let drop_in = group(&read, "units").as_array().unwrap().last().unwrap()["dropIns"][0]["content"].clone();
    assert!(drop_in.as_str().unwrap().contains("ExecStartPre=-+/opt/bin/may\n"), "{drop_in}");
}

/// systemd.service(5): an empty value resets the commands before it.
#[test]
fn what_a_drop_in_resets_is_gone() {
    let read = with_drop_in("bootkube.service", "[Service]\nExecStart=\nExecStart=/opt/bin/other\n");
    assert_eq!(group(&read, "controlPlane/run"), json!(["/opt/bin/other"]));

    let read =
        with_drop_in("k8s-node-bootstrap.service", "[Service]\nExecStartPre=\nExecStartPre=/opt/bin/a\n");
    assert_eq!(group(&read, "steps/0/run"), json!(["/opt/bin/a"]));
    // Nothing asks the API server for its version any more.
    assert_eq!(value(&read, "spec/kubernetes"), json!({"version": "1.33.4"}));

    let read = with_drop_in(
        "kubelet.service",
        "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --node-labels=only=this --kubeconfig=/etc/kubernetes/kubeconfig\nExecStartPre=\n",
    );
    assert_eq!(group(&read, "labels"), json!({"only": "this"}));
    assert_eq!(group(&read, "taints"), Value::Null);
    converts(&read, &LocalFiles::default());
}

fn enabled(names: &[&str], is: Option<bool>) -> Read {
    changed(|name, unit| {
        if names.contains(&name) {
            let fields = unit.as_object_mut().unwrap();
            fields.remove("enabled");
            if let Some(is) = is {
                fields.insert("enabled".to_owned(), json!(is));
            }
        }
    })
}

#[test]
fn what_nothing_starts_is_not_started_or_told() {
    for is in [Some(false), None] {
        let read = enabled(&["bootkube.path"], is);
        assert_eq!(group(&read, "role"), json!("control-plane"));
        assert_eq!(group(&read, "bootstrap"), Value::Null);
        assert_eq!([group(&read, "controlPlane"), group(&read, "platformStage")], [Value::Null, Value::Null]);
        assert!(says(
            &read,
            Severity::Note,
            "nothing starts `bootkube.path` in this config: its machines start no cluster"
        ));
        assert!(!says(&read, Severity::Note, "every machine of this config starts a cluster"));
        let plan = plans(&read, &LocalFiles::default()).remove("masters").unwrap();
        assert_eq!(plan.bootstrap, None);
        assert!(!plan.steps.iter().any(|step| step.elected_only));
        converts(&read, &LocalFiles::default());

        let read = enabled(&["tectonic.path"], is);
        assert_eq!(group(&read, "bootstrap"), json!(true));
        // The flavour's own stage would wait for what never comes.
        assert_eq!(group(&read, "platformStage"), json!({"run": ["/bin/true"]}));
        assert!(says(&read, Severity::Note, "nothing starts `tectonic.path` in this config"));
        converts(&read, &LocalFiles::default());

        let all = ["bootkube.path", "tectonic.path", "kubelet.service", "k8s-node-bootstrap.service"];
        let read = enabled(&all, is);
        assert!(says(
            &read,
            Severity::Warning,
            "nothing starts `kubelet.service` in this config, and the gate starts kubelet all the same"
        ));
        assert!(says(
            &read,
            Severity::Warning,
            "nothing starts `k8s-node-bootstrap.service` in this config, and the agent does its work all the same"
        ));
        // bootkube.service wants kubelet.
        let read = enabled(&["kubelet.service"], is);
        assert!(says(&read, Severity::Note, "`kubelet.service` is not enabled, and other units start it"));
    }
    assert!(!says(&changed(|_, _| {}), Severity::Note, "nothing starts"));
}

/// Typhoon and Lokomotive push the assets over SSH and start the service there: their configs have no path unit.
#[test]
fn a_cluster_that_is_started_by_hand_is_told_with_what_to_write() {
    let mut config: Value = serde_json::from_str(MASTER).unwrap();
    let bootkube = "[Unit]\nConditionPathExists=!/opt/bootkube/init_bootkube.done\n[Service]\nType=oneshot\nRemainAfterExit=true\nWorkingDirectory=/opt/bootkube\nExecStart=/opt/bootkube/bootkube-start --quick\nExecStartPost=/bin/touch /opt/bootkube/init_bootkube.done\n[Install]\nWantedBy=multi-user.target\n";
    let units = config["systemd"]["units"].as_array_mut().unwrap();
    units.retain(|unit| {
        !unit["name"].as_str().unwrap().contains("kube.")
            && !unit["name"].as_str().unwrap().starts_with("tectonic.")
    });
    units.push(json!({"name": "bootkube.service", "contents": bootkube}));
    let additions = ADDITIONS.split("    - name: masters").next().unwrap();
    let plain = read(&[("master.json", &config.to_string()), ("additions.yaml", additions)]);
    assert_eq!([group(&plain, "bootstrap"), group(&plain, "controlPlane")], [Value::Null, Value::Null]);
    let found: Vec<_> = plain
        .findings
        .iter()
        .filter(|one| one.message.contains("nothing starts `bootkube.service`"))
        .collect();
    let [told] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(told.severity, Severity::Warning);
    assert!(
        told.message.ends_with("whoever starts it by hand, once the assets are there, does not find it"),
        "{told:?}"
    );
    let advised = "`bootstrap: true` and `controlPlane: {run: [\"/opt/bootkube/bootkube-start\", \"--quick\"], directory: \"/opt/bootkube\", waitFor: [{manifest: PATH}]}`";
    assert!(told.hint.as_deref().unwrap().ends_with(advised), "{told:?}");

    // What the hint says to write starts the cluster, when the list of assets is whole.
    let more = "    - name: masters\n      bootstrap: true\n      controlPlane: {run: [\"/opt/bootkube/bootkube-start\", \"--quick\"], waitFor: [{manifest: /opt/bootkube/SHA256SUMS}]}\n";
    let heeded =
        read(&[("master.json", &config.to_string()), ("additions.yaml", &format!("{additions}{more}"))]);
    assert!(!says(&heeded, Severity::Warning, "nothing starts"));
    let plan = plans(&heeded, &LocalFiles::default()).remove("masters").unwrap();
    let stage = plan.steps.iter().find(|step| step.name == "bootkube").unwrap();
    let action = serde_json::to_value(&stage.action).unwrap();
    assert_eq!(action["command"], json!(["/opt/bootkube/bootkube-start", "--quick"]));
    assert!(
        stage.elected_only && action["waitFor"].to_string().contains("/opt/bootkube/SHA256SUMS"),
        "{action}"
    );
}

/// A link is what `systemctl enable` makes; a service that is enabled itself does not wait for what its path would.
#[test]
fn units_are_started_by_others_and_by_links() {
    let mut config: Value = serde_json::from_str(MASTER).unwrap();
    for unit in config["systemd"]["units"].as_array_mut().unwrap() {
        if unit["name"] == "bootkube.path" {
            unit["enabled"] = json!(false);
        }
    }
    let additions = ADDITIONS.split("    - name: masters").next().unwrap();
    let whole = |config: &Value| read(&[("master.json", &config.to_string()), ("additions.yaml", additions)]);
    let mut linked = config.clone();
    linked["storage"]["links"] = json!([{"path": "/etc/systemd/system/multi-user.target.wants/bootkube.path", "target": "/etc/systemd/system/bootkube.path"}]);
    assert_eq!(group(&whole(&linked), "bootstrap"), json!(true));

    let mut wanted = config.clone();
    wanted["systemd"]["units"].as_array_mut().unwrap().push(json!({"name": "own.service", "enabled": true, "contents": "[Unit]\nWants=bootkube.service\n[Service]\nExecStart=/opt/own\n[Install]\nWantedBy=multi-user.target\n"}));
    let read = whole(&wanted);
    assert_eq!(group(&read, "bootstrap"), json!(true));
    assert_eq!(group(&read, "controlPlane/waitFor"), json!(["/opt/tectonic/bootkube.sh"]));
}

const KUBELET: &str = "[Service]\nExecStart=/usr/bin/kubelet --kubeconfig=/etc/kubernetes/kubeconfig\n[Install]\nWantedBy=multi-user.target\n";
const SAID: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: t}\nspec: {kubernetes: {version: \"1.33.4\"}, api: {endpoint: \"https://api.example.com:6443\"}}\n";

/// Unit files of a node, by name.
fn units(files: &[(&str, &str)]) -> Read {
    let read = read(&[files, &[("additions.yaml", SAID)]].concat());
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    converts(&read, &LocalFiles::default());
    read
}

/// A node whose bootstrap has these lines.
fn bootstrap(lines: &str) -> Read {
    let unit =
        format!("[Service]\n{lines}\nExecStart=/usr/bin/echo done\n[Install]\nWantedBy=multi-user.target\n");
    units(&[("k8s-node-bootstrap.service", &unit), ("kubelet.service", KUBELET)])
}

/// `systemd --test` of 252 shows `%%` as one `%`, and one that nothing known follows as itself.
#[test]
fn percent_signs_of_flags_are_what_kubelet_gets() {
    let unit = "[Service]\nEnvironment=SOFT=memory.available<10%%\nEnvironmentFile=/etc/own.env\nExecStart=/usr/bin/kubelet --eviction-hard=memory.available<5%%,nodefs.available<10% --eviction-soft=${SOFT} --image-credential-provider-bin-dir %S/bin --eviction-minimum-reclaim=${RECLAIM} --hostname-override=%H\n[Install]\nWantedBy=multi-user.target\n";
    let config = json!({"ignition": {"version": "3.3.0"}, "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": unit}]}, "storage": {"files": [{"path": "/etc/own.env", "contents": {"source": "data:,RECLAIM=nodefs.available%3D7%25%0A"}}]}});
    let read = read(&[("a.json", &config.to_string()), ("additions.yaml", SAID)]);
    assert_eq!(
        group(&read, "kubelet/config"),
        json!({
            "evictionHard": {"memory.available": "5%", "nodefs.available": "10%"},
            "evictionSoft": {"memory.available": "10%"},
            "evictionMinimumReclaim": {"nodefs.available": "7%"},
        })
    );
    assert_eq!(group(&read, "kubelet/flags"), json!({"image-credential-provider-bin-dir": "/var/lib/bin"}));
    let warnings = told(&read, Severity::Warning);
    let unknown: Vec<&String> =
        warnings.iter().filter(|line| line.contains("only the machine knows")).collect();
    assert_eq!(unknown.len(), 1, "{warnings:#?}");
    assert!(
        unknown[0].ends_with("what `--hostname-override` is only the machine knows: `%H` is not taken over")
    );
}

#[test]
fn directories_have_the_modes_that_commands_give_them() {
    let lines = "ExecStartPre=/usr/bin/mkdir --mode=0700 -p /var/lib/secret\nExecStartPre=/bin/mkdir -p /var/lib/plain /var/lib/secret\nExecStartPre=/usr/bin/install -d -m 0750 -o core -g core /var/lib/core\nExecStartPre=/bin/mkdir -m 0711 /var/lib/secret\nExecStartPre=/bin/mkdir -m go-rwx /var/lib/relative";
    let read = bootstrap(lines);
    assert_eq!(
        group(&read, "directories"),
        json!([
            {"path": "/var/lib/secret", "mode": "0700"},
            {"path": "/var/lib/plain"},
            {"path": "/var/lib/core", "mode": "0750", "owner": "core:core"},
        ])
    );
    // A mode that hangs on another is the program's to work out.
    assert_eq!(group(&read, "steps/0/run"), json!(["/bin/mkdir", "-m", "go-rwx", "/var/lib/relative"]));
    assert!(says(
        &read,
        Severity::Warning,
        "k8s-node-bootstrap.service:5:1 ancestor/field-differs the mode of `/var/lib/secret` is `0700`, which is said before, and not `0711`"
    ));
    let kubelet = KUBELET.replace("ExecStart=", "ExecStartPre=/usr/bin/mkdir -m 0700 -p /var/lib/secret\nExecStop=/bin/mkdir /run/stopped\nExecStart=");
    let read = units(&[("kubelet.service", &kubelet)]);
    assert_eq!(group(&read, "directories"), json!([{"path": "/var/lib/secret", "mode": "0700"}]));
    assert_eq!(
        group(&read, "units/0/dropIns/0/content"),
        json!("[Service]\nExecStop=/bin/mkdir /run/stopped\n")
    );
}

/// Only what looks after Tectonic's own containers has nothing to do.
#[test]
fn commands_of_the_operator_are_run() {
    let lines = "ExecStartPre=/usr/bin/touch /etc/needed\nExecStartPre=/usr/bin/rkt run docker://example.com/prepare --exec /prepare\nExecStartPre=/usr/bin/docker image prune -af\nExecStartPre=-/usr/bin/docker rm k8s-node-bootstrap\nExecStartPre=/bin/chmod 0600 %E/a\nExecStartPost=/bin/systemctl start own.service kubelet.service\nExecStartPost=/bin/systemctl --no-block start kubelet";
    let read = bootstrap(lines);
    let steps = group(&read, "steps");
    let run: Vec<&Value> = steps.as_array().unwrap().iter().map(|step| &step["run"]).collect();
    assert_eq!(
        run,
        [
            &json!(["/usr/bin/touch", "/etc/needed"]),
            &json!(["/usr/bin/rkt", "run", "docker://example.com/prepare", "--exec", "/prepare"]),
            &json!(["/usr/bin/docker", "image", "prune", "-af"]),
            &json!(["/bin/chmod", "0600", "/etc/a"]),
            &json!(["/bin/systemctl", "start", "own.service"]),
        ]
    );
    assert!(says(
        &read,
        Severity::Note,
        "`ExecStartPre=-/usr/bin/docker rm k8s-node-bootstrap` has no container"
    ));
    assert!(says(&read, Severity::Note, "start kubelet` does not start kubelet: the gate does"));

    let kubelet = KUBELET.replace("ExecStart=", "ExecStartPre=/usr/bin/rkt run docker://example.com/prepare\nExecStartPre=-/usr/bin/rkt rm --uuid-file=/var/cache/kubelet-pod.uuid\nExecStart=");
    let read = units(&[("kubelet.service", &kubelet)]);
    assert_eq!(
        group(&read, "units/0/dropIns/0/content"),
        json!("[Service]\nExecStartPre=/usr/bin/rkt run docker://example.com/prepare\n")
    );
}

/// A mark that the unit itself looks at is made, and does not keep the agent from the next boot.
#[test]
fn a_mark_of_the_bootstrap_is_made_and_ends_nothing() {
    let unit = "[Unit]\nConditionPathExists=!/opt/done\nConditionPathExists=/opt/there\n[Service]\nExecStartPre=/opt/prepare\nExecStart=/bin/touch /opt/done\n[Install]\nWantedBy=multi-user.target\n";
    let read = units(&[("k8s-node-bootstrap.service", unit), ("kubelet.service", KUBELET)]);
    assert_eq!(group(&read, "steps/1/run"), json!(["/bin/touch", "/opt/done"]));
    assert_eq!(group(&read, "units/0/dropIns/0/content"), json!("[Unit]\nConditionPathExists=/opt/there\n"));
    assert!(says(&read, Severity::Note, "`ConditionPathExists=!/opt/done` is not kept"));
}

/// systemd.exec(5): variables, directory and account are those of everything that a unit runs.
#[test]
fn what_a_bootstrap_runs_has_what_the_unit_has_around_it() {
    let unit = "[Service]\nEnvironment=\"A=b c\" P=5%%\nEnvironmentFile=-/etc/missing.env\nWorkingDirectory=/opt/own\nUser=core\nExecStartPre=/opt/own/prepare ${A} $P\nExecStart=/usr/bin/echo done\n[Install]\nWantedBy=multi-user.target\n";
    let read = units(&[("k8s-node-bootstrap.service", unit), ("kubelet.service", KUBELET)]);
    assert_eq!(
        group(&read, "steps/0"),
        json!({
            "name": "node-bootstrap-1",
            "run": ["/opt/own/prepare", "b c", "5%"],
            "before": ["runtime"],
            "environment": {"A": "b c", "P": "5%"},
            "directory": "/opt/own",
        })
    );
    let drop_ins = group(&read, "units/0/dropIns");
    assert!(
        !drop_ins.to_string().contains("User=") && !drop_ins.to_string().contains("Directory="),
        "{drop_ins}"
    );
    let warnings = told(&read, Severity::Warning);
    for expected in [
        "k8s-node-bootstrap.service:3:1 ancestor/field-differs what the unit runs does not see the variables of `EnvironmentFile=-/etc/missing.env`",
        "k8s-node-bootstrap.service:5:1 ancestor/field-differs `User=core` is not kept: the agent, and what it runs, is root",
    ] {
        assert!(warnings.iter().any(|line| line == expected), "{expected}\n{warnings:#?}");
    }
}

/// The same of a stage; what only the machine knows is told.
#[test]
fn a_stage_has_what_systemd_puts_in() {
    let lines = "Environment=\"A=1%%\" B=$x\nExecStartPre=/opt/a ${A}";
    let read = with_lines("bootkube.service", "ExecStart=", lines);
    assert_eq!(stage(&read, "controlPlane"), format!("'/opt/a' '1%'\n{BOOTKUBE}"));
    assert_eq!(group(&read, "controlPlane/run/1"), json!("A=1%"));
    assert_eq!(group(&read, "controlPlane/run/2"), json!("B=$x"));
    for line in ["Environment=A=%H", "WorkingDirectory=/opt/%m"] {
        let read = with_lines("bootkube.service", "ExecStart=", line);
        assert!(
            says(&read, Severity::Warning, &format!("`{line}` of `bootkube.service` is not carried out")),
            "{line}"
        );
    }
}

/// A directory is made where its command stands, if what stands before it, or the next boot, would take it away again.
#[test]
fn what_is_removed_first_is_made_behind_that() {
    let lines = "ExecStartPre=/bin/mkdir -p /var/lib/first\nExecStartPre=/bin/rm -rf /var/lib/cni\nExecStartPre=/bin/mkdir -p /var/lib/cni/networks\nExecStartPre=/bin/mkdir -p /var/lib/cnis";
    let read = bootstrap(lines);
    let run = ["/bin/rm -rf /var/lib/cni", "/bin/mkdir -p /var/lib/cni/networks"];
    let steps = group(&read, "steps");
    for (step, run) in steps.as_array().unwrap().iter().zip(run) {
        assert_eq!(step["run"], json!(run.split(' ').collect::<Vec<_>>()));
    }
    assert_eq!(group(&read, "directories"), json!([{"path": "/var/lib/first"}, {"path": "/var/lib/cnis"}]));

    let lines = "ExecStartPre=/bin/sh -c 'rm -rf /var/lib/cni/*'\nExecStartPre=/bin/mkdir -p /var/lib/cni\nExecStartPre=/bin/mkdir -p %t/own\n";
    let kubelet = KUBELET.replace("ExecStart=", &format!("{lines}ExecStart="));
    let read = units(&[("kubelet.service", &kubelet)]);
    assert_eq!(group(&read, "units/0/dropIns/0/content"), json!(format!("[Service]\n{lines}")));
    assert_eq!(group(&read, "directories"), Value::Null);
}

/// What the agent writes when it configures kubelet is there for the commands that read it, and in their order.
#[test]
fn commands_that_read_what_the_agent_writes_come_behind_it() {
    let lines = "ExecStartPre=/opt/first\nExecStartPre=/bin/sh -c 'grep server /etc/kubernetes/kubeconfig > /etc/server'\nExecStartPre=/opt/last";
    let read = bootstrap(lines);
    let plan = plans(&read, &LocalFiles::default()).remove("workers").unwrap();
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let order = ["node-bootstrap-1", "kubeconfig", "node-bootstrap-2", "node-bootstrap-3", "gate"].map(at);
    assert!(order.is_sorted(), "{names:#?}");

    let env = "/etc/kubernetes/kubelet.env";
    let installer = "/etc/kubernetes/installer/kubelet.env";
    let read = bootstrap(&format!(
        "ExecStartPre=/bin/cp {installer} {env}\nExecStartPre=/bin/sed -i s/a/b/ {env}\nExecStartPre=/opt/own {installer}"
    ));
    assert_eq!(group(&read, "steps").as_array().unwrap().len(), 2);
    let warnings = told(&read, Severity::Warning);
    for (line, expected) in [
        (
            3,
            format!(
                "`ExecStartPre=/bin/sed -i s/a/b/ {env}` does not find `{env}`, which is written when the gate opens"
            ),
        ),
        (
            4,
            format!(
                "`ExecStartPre=/opt/own {installer}` does not find `{installer}`: the file is read here, and not written"
            ),
        ),
    ] {
        let expected = format!("k8s-node-bootstrap.service:{line}:1 ancestor/field-differs {expected}");
        assert!(warnings.contains(&expected), "{expected}\n{warnings:#?}");
    }
    assert_eq!(warnings.iter().filter(|line| line.contains("does not find")).count(), 2, "{warnings:#?}");
}

/// systemd.unit(5): sections of other programs are passed over.
#[test]
fn sections_of_other_programs_are_passed_over() {
    let kubelet = KUBELET.replace("[Install]", "[X-Fleet]\nGlobal=true\n[Install]");
    assert_eq!(group(&units(&[("kubelet.service", &kubelet)]), "units"), Value::Null);
}
