//! A walk over the example's configs: whatever is taken out of one or changed in it, down to the lines of its units, the
//! plan is another one or a finding is.
#![allow(clippy::unwrap_used, reason = "a test that cannot look at what it tests ends there")]

mod support;

use std::collections::BTreeSet;

use bringup_plan::LocalFiles;
use serde_json::{Map, Value, json};

use support::read;

const MASTER: &str = include_str!("../../../examples/tectonic/master.json");
const WORKER: &str = include_str!("../../../examples/tectonic/worker.json");
const ADDITIONS: &str = include_str!("../../../examples/tectonic/additions.yaml");

/// What may go without a word: the parts of its name, and why.
const SILENT: &[(&[&str], &str)] = &[
    (&["Description="], "for people"),
    (&["without", "[Unit]"], "the head of a section in which only a description stands"),
    (&["another", "[Unit]"], "the same"),
    (&["/ignition"], "configs of every version are read alike"),
    (&["installer/kubelet.env/"], "the file is read, not written, which is told"),
    (&["without", "/filesystem"], "root is where files go without it"),
    (&["without", "max-user-watches.conf/mode"], "0644 is the mode without one"),
    (&["without", "max-user-watches.conf/user"], "root is the owner without one"),
    (&["without", "max-user-watches.conf/group"], "root is the group without one"),
    (&["without", ".service/enabled"], "what is not said to be enabled is not"),
    (&["without", "Unit="], "a path unit starts the service of its name"),
    (&["RemainAfterExit="], "the agent knows by its journal what is done"),
    (&["Restart=on-failure"], "the agent tries again in its own process"),
    (&["k8s-node-bootstrap.service", "RestartSec="], "the agent tries again at times of its own"),
    (&["without", "Restart=always"], "kubelet is always started again"),
    (&["k8s-node-bootstrap.service/contents: -v "], "the container around what is the agent's work"),
    (&["ExecStartPre=/usr/bin/docker run --rm"], "the same"),
    (&["tectonic-torcx:v0.2.1"], "the same"),
    (&["/usr/bin/echo"], "nobody reads it"),
    (&["another", "RKT_RUN_ARGS"], "for a kubelet in a container, which is told"),
    (&["without", "Before=kubelet.service"], "the order is the gate's"),
    (&["without", "After="], "the order is the agent's"),
    (&["without", "Wants=kubelet.service"], "the same"),
    (&["without", "Requires=bootkube.service"], "the same"),
    (&["without", "ConditionPathExists=!"], "the marks are the agent's"),
    (&["without", "/bin/touch /opt/tectonic/init_"], "the same"),
    (&["without", "EnvironmentFile=/etc/kubernetes/kubelet.env"], "kubelet's unit always reads it"),
    (&["without", "--kubeconfig="], "it is where kubelet's is without the flag, too"),
    (&["without", "--cluster-domain=cluster.local"], "the cluster's, and the same without it"),
    (&["without", "--cluster-dns="], "the cluster's, and the other config says it"),
];

/// What a call shows: the plans, and what is told, wherever that stands.
fn outcome(master: &str, worker: &str) -> Vec<String> {
    // What additions say of the masters goes over what their config says.
    let additions = ADDITIONS.split("    - name: masters").next().unwrap();
    let read = read(&[("master.json", master), ("worker.json", worker), ("additions.yaml", additions)]);
    let mut shown = Vec::new();
    let mut findings = read.findings.clone();
    for document in &read.documents {
        findings.extend(bringup_plan::check_document(document));
        for (index, group) in document.cluster.spec.node_groups.iter().enumerate() {
            let compiled = bringup_plan::compile(document, index, &LocalFiles::default());
            findings.extend(compiled.findings);
            let digest = compiled.plan.map(|plan| plan.digest());
            shown.push(format!("{} {digest:?}", group.name));
        }
    }
    shown.extend(findings.iter().map(|finding| {
        let file = finding.place.as_ref().map(|place| place.file.clone());
        format!("{file:?} {} {}", finding.code.name, finding.message)
    }));
    shown.sort();
    shown
}

/// Every value with one thing taken out or changed, and what that is.
fn variants(value: &Value, at: &str) -> Vec<(String, Option<Value>)> {
    let mut found = vec![(format!("without {at}"), None)];
    match value {
        Value::Object(fields) => {
            // An empty mapping says nothing.
            for (key, inner) in fields.iter().filter(|(_, inner)| **inner != json!({})) {
                for (what, changed) in variants(inner, &format!("{at}/{key}")) {
                    let mut fields: Map<String, Value> = fields.clone();
                    match changed {
                        Some(changed) => fields.insert(key.clone(), changed),
                        None => fields.remove(key),
                    };
                    found.push((what, Some(Value::Object(fields))));
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                let name = inner["name"].as_str().or(inner["path"].as_str()).unwrap_or_default();
                for (what, changed) in variants(inner, &format!("{at}/{name}")) {
                    let mut items = items.clone();
                    match changed {
                        Some(changed) => items[index] = changed,
                        None => drop(items.remove(index)),
                    }
                    found.push((what, Some(Value::Array(items))));
                }
            }
        }
        Value::String(text) if text.contains('\n') => {
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                let body = line.trim_end_matches('\\').trim();
                let goes_on = if line.ends_with('\\') { " \\" } else { "" };
                let other = match body.strip_suffix("true") {
                    Some(start) => format!("{start}false{goes_on}"),
                    None => format!("{body}x{goes_on}"),
                };
                for (what, changed) in [("without", None), ("another", Some(other.as_str()))] {
                    let mut lines: Vec<&str> = lines.clone();
                    match changed {
                        Some(changed) => lines[index] = changed,
                        None => drop(lines.remove(index)),
                    }
                    let whole = lines.join("\n") + "\n";
                    found.push((format!("{what} {at}: {body}"), Some(json!(whole))));
                }
            }
        }
        Value::String(text) => found.push((format!("another {at}"), Some(json!(format!("{text}x"))))),
        Value::Bool(is) => found.push((format!("another {at}"), Some(json!(!is)))),
        Value::Number(_) => found.push((format!("another {at}"), Some(json!(value.as_u64().unwrap() + 1)))),
        Value::Null => {}
    }
    found
}

#[test]
fn whatever_changes_in_a_config_shows() {
    let [master, worker]: [Value; 2] = [MASTER, WORKER].map(|text| serde_json::from_str(text).unwrap());
    let as_it_is = outcome(MASTER, WORKER);
    assert_eq!(
        outcome(&master.to_string(), &worker.to_string()),
        as_it_is,
        "where something stands is no change"
    );
    let mut silent: BTreeSet<String> = BTreeSet::new();
    for (what, changed) in variants(&master, "") {
        let Some(changed) = changed else { continue };
        if outcome(&changed.to_string(), WORKER) == as_it_is {
            silent.insert(what);
        }
    }
    for (what, changed) in variants(&worker, "") {
        let Some(changed) = changed else { continue };
        if outcome(MASTER, &changed.to_string()) == as_it_is {
            silent.insert(what);
        }
    }
    let is_of = |what: &String, parts: &[&str]| parts.iter().all(|part| what.contains(part));
    let untold: Vec<&String> =
        silent.iter().filter(|what| !SILENT.iter().any(|(parts, _)| is_of(what, parts))).collect();
    assert!(untold.is_empty(), "{untold:#?}");
    // An exception that is none any more goes.
    for (parts, why) in SILENT {
        assert!(silent.iter().any(|what| is_of(what, parts)), "{parts:?}: {why}");
    }
}
