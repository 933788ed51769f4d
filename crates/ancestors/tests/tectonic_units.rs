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
