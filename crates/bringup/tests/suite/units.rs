//! Tectonic's units and configs at the command line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{error, out, run};

const KUBELET: &str =
    "[Service]\nExecStart=/opt/bin/kubelet --max-pods=50\n[Install]\nWantedBy=multi-user.target\n";
const ADDITIONS: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {name: reef}\nspec: {kubernetes: {version: \"1.33.4\"}}\n";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tectonic")
}

/// A directory of units, drop-ins and all, is one group; what is no unit is passed over, and without any unit it is refused.
#[test]
fn a_directory_of_units_is_built_and_converted_to_the_same_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("units/kubelet.service", KUBELET);
    write("units/kubelet.service.d/10-more.conf", "[Service]\nCPUWeight=200\n");
    write("units/README.md", "[Unit]\nnot a unit\n");
    write("additions.yaml", ADDITIONS);
    write("empty/README.md", "nothing\n");
    let built = run(folder.path(), &["build", "units", "--with", "additions.yaml", "-o", "out"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let plan = std::fs::read_to_string(folder.path().join("out/reef/workers/plan.json")).expect("a plan");
    assert!(plan.contains("CPUWeight=200") && !plan.contains("not a unit"), "{plan}");

    let convert = ["convert", "units", "--with", "additions.yaml", "--to", "bringup", "-o", "own.yaml"];
    let converted = run(folder.path(), &convert);
    assert_eq!(converted.status.code(), Some(0), "{}", error(&converted));
    let again = run(folder.path(), &["build", "own.yaml", "-o", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", error(&again));
    let own = std::fs::read_to_string(folder.path().join("again/reef/workers/plan.json")).expect("a plan");
    assert_eq!(plan, own);

    let refused = run(folder.path(), &["build", "empty"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(error(&refused).contains("`empty` is a directory without unit files"), "{}", error(&refused));
}

/// A config of somebody else's is a carrier, which `inspect` takes apart; and of ours it has nothing to say.
#[test]
fn our_own_config_draws_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().to_str().expect("UTF-8");
    let built = run(&examples(), &["build", "master.json", "--with", "additions.yaml", "-o", target]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let inspect = |path: &Path| -> Value {
        let output = run(&examples(), &["inspect", path.to_str().expect("UTF-8"), "--output", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let ours = inspect(&folder.path().join("lighthouse/masters/ignition.json"));
    assert_eq!(ours["findings"], Value::Array(Vec::new()));
    let theirs = inspect(Path::new("master.json"));
    assert!(theirs["units"].to_string().contains("k8s-node-bootstrap.service"), "{theirs}");
}

/// With `runtime.versions` old data is looked for at each boot; the machine is not rebooted at each.
#[test]
fn a_reboot_is_drawn_for_a_first_boot_or_a_change() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/docker");
    let output = run(&folder, &["explain", "cluster.yaml", "--graph", "text"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let text = out(&output);
    let line = text.lines().find(|line| line.trim_start().starts_with("reboot")).unwrap_or_default();
    assert!(line.ends_with("first boot or a change"), "{text}");
}
