//! Wrong calls, unlikely inputs, secrets in unlikely places.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::program::{error, out, run, tree};

const TOKEN: &str = "abcdef.0123456789abcdef";

/// A folder with a starter document, its text changed by `edit`.
fn project(edit: impl Fn(String) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = run(folder.path(), &["init", "--starter", "kubeadm", "--name", "lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    rewrite(folder.path(), edit);
    folder
}

fn rewrite(folder: &Path, edit: impl Fn(String) -> String) {
    let path = folder.join("cluster.yaml");
    let text = std::fs::read_to_string(&path).expect("the document");
    std::fs::write(&path, edit(text)).expect("written");
}

#[test]
fn carriers_of_ours_are_compared_as_carriers() {
    // A system that nothing is known about may read cloud-init's user-data and Ignition's.
    let all = "      carriers: [cloud-init, multipart, ignition, bundle]\n";
    let folder = project(|text| text.replace("{family: debian, version: \"12\"}", "generic") + all);
    let built = run(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let group = folder.path().join("bringup-out/lab/workers");
    let mut compared = 0;
    for name in tree(&group).keys().filter(|name| !name.starts_with('.')) {
        let path = group.join(name).to_string_lossy().into_owned();
        let output = run(folder.path(), &["diff", &path, &path]);
        assert_eq!((output.status.code(), error(&output).as_str()), (Some(0), ""), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

#[test]
fn a_document_with_a_mistake_is_still_compared_as_a_document() {
    let folder = project(|text| text.replace("nodeGroups", "nodeGroup"));
    let output = run(folder.path(), &["diff", "cluster.yaml", "cluster.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("document/unknown-key"), "{}", error(&output));
}

#[test]
fn a_secret_is_in_no_message_of_any_form() {
    let folder =
        project(|text| format!("{text}      kubelet: {{flags: {{v: \"{TOKEN}\", frob: \"{TOKEN}\"}}}}\n"));
    for form in ["human", "json", "sarif"] {
        let output = run(folder.path(), &["build", "cluster.yaml", "--output", form]);
        let said = out(&output) + &error(&output);
        assert!(said.contains("kubelet/"), "{form}: {said}");
        assert!(!said.contains(TOKEN), "{form}: {said}");
    }
}

#[test]
fn a_password_of_a_proxy_is_in_no_form_of_a_difference() {
    let folder = project(|text| text);
    run(folder.path(), &["build", "cluster.yaml", "-o", "old"]);
    rewrite(folder.path(), |text| {
        text.replace("spec:\n", "spec:\n  proxy: {http: \"http://user:hunter2@proxy.example:3128\"}\n")
    });
    let built = run(folder.path(), &["build", "cluster.yaml", "-o", "new"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    for form in ["human", "json"] {
        let output = run(folder.path(), &["diff", "old", "new", "--output", form]);
        assert!(out(&output).contains("proxy.example"), "{form}: {}", out(&output));
        assert!(!out(&output).contains("hunter2"), "{form}: {}", out(&output));
    }
}

#[test]
fn what_a_build_writes_for_nodes_is_for_its_owner_alone() {
    let folder = project(|text| text);
    let group = folder.path().join("bringup-out/lab/workers");
    let built = run(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let modes = || {
        tree(&group).into_keys().map(|name| {
            (std::fs::metadata(group.join(&name)).expect("there").permissions().mode() & 0o777, name)
        })
    };
    for (mode, name) in modes() {
        assert_eq!(mode, 0o600, "{name}");
        std::fs::set_permissions(group.join(&name), std::fs::Permissions::from_mode(0o644)).expect("set");
    }
    // Also what is there already with the same bytes.
    run(folder.path(), &["build", "cluster.yaml"]);
    assert!(modes().all(|(mode, _)| mode == 0o600), "{:?}", modes().collect::<Vec<_>>());
}

#[test]
fn groups_that_the_document_no_longer_has_go() {
    let folder = project(|text| text);
    run(folder.path(), &["build", "cluster.yaml"]);
    let cluster = folder.path().join("bringup-out/lab");
    let foreign = cluster.join("mine");
    std::fs::create_dir(&foreign).expect("made");
    std::fs::write(foreign.join("plan.json"), "{}").expect("written");
    let other = folder.path().join("bringup-out/elsewhere/workers");
    std::fs::create_dir_all(&other).expect("made");
    std::fs::copy(cluster.join("workers/.bringup-build.json"), other.join(".bringup-build.json"))
        .expect("copied");
    std::fs::write(other.join("plan.json"), "{}").expect("written");
    rewrite(folder.path(), |text| {
        let (head, group) = text.split_once("    - name: workers\n").expect("a group");
        format!("{head}    - name: fresh\n{group}    - name: second\n{group}")
    });
    run(folder.path(), &["build", "cluster.yaml", "--group", "fresh"]);
    assert!(cluster.join("workers/plan.json").exists(), "one group was built, the others are not its affair");
    let output = run(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(!cluster.join("workers").exists());
    assert!(cluster.join("fresh/plan.json").exists() && cluster.join("second/plan.json").exists());
    assert!(foreign.join("plan.json").exists(), "no build has written it");
    assert!(other.join("plan.json").exists(), "its cluster was not built");
}

#[test]
fn a_failure_is_told_in_the_form_that_was_asked_for() {
    let folder = project(|text| text);
    std::fs::write(folder.path().join("latin.yaml"), b"name: \xe9\n").expect("written");
    std::fs::copy(folder.path().join("cluster.yaml"), folder.path().join("twin.yaml")).expect("copied");
    std::fs::write(folder.path().join("bad.yaml"), "apiVersion: bringup.dev/v1\nfrob: 1\n").expect("written");
    for (arguments, said) in [
        (vec!["build", "latin.yaml"], "UTF-8"),
        (vec!["build", "."], "directory"),
        (vec!["build", "cluster.yaml", "twin.yaml"], "there is a cluster `lab`"),
        (vec!["build", "cluster.yaml", "-o", "cluster.yaml"], "cannot write"),
        (vec!["publish", "nowhere"], "nowhere"),
        (vec!["inspect", "nowhere"], "nowhere"),
        (vec!["diff", "nowhere", "cluster.yaml"], "nowhere"),
        (vec!["diff", "bad.yaml", "cluster.yaml"], "bringup.dev/v1"),
        (vec!["explain", "latin.yaml"], "UTF-8"),
    ] {
        let forms: &[&str] = if arguments[0] == "build" { &["json", "sarif"] } else { &["json"] };
        for form in forms {
            let output = run(folder.path(), &[arguments.clone(), vec!["--output", form]].concat());
            assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}");
            let value: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{arguments:?} {form}: {:?}", out(&output)));
            assert!(value.to_string().contains(said), "{arguments:?} {form}: {value}");
            if *form == "json" {
                assert!(value["findings"][0]["code"].is_string(), "{arguments:?}: {value}");
            } else {
                assert!(value["runs"][0]["results"][0]["ruleId"].is_string(), "{arguments:?}: {value}");
            }
        }
    }
}

#[test]
fn a_base_url_is_a_url() {
    let folder = project(|text| text);
    for wrong in [
        "not a url",
        "mirror.example/b",
        "ftp://mirror.example",
        "https://",
        "https://a b/",
        "http://x?y=z",
        "https://x/a#b",
    ] {
        let output = run(folder.path(), &["build", "cluster.yaml", "--base-url", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(error(&output).contains("https://mirror.example/bringup"), "{}", error(&output));
    }
    for right in ["https://mirror.example/b/", "http://10.0.0.1:8080", "s3://bucket/prefix"] {
        let output = run(folder.path(), &["build", "cluster.yaml", "--base-url", right]);
        assert_ne!(output.status.code(), Some(2), "{right}: {}", error(&output));
    }
}

#[test]
fn settings_in_toml_are_shown() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = "[settings.kubernetes]\ncluster-name = \"lab\"\nbootstrap-token = \"hunter2\"\n";
    std::fs::write(folder.path().join("settings.toml"), text).expect("written");
    let output = run(folder.path(), &["inspect", "settings.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(out(&output).contains("cluster-name = \"lab\""), "{}", out(&output));
    assert!(!out(&output).contains("hunter2"), "{}", out(&output));
}

#[test]
fn both_forms_of_an_inspected_plan_have_every_step() {
    let folder = project(|text| text);
    run(folder.path(), &["build", "cluster.yaml"]);
    let plan = "bringup-out/lab/workers/plan.json";
    let text = std::fs::read(folder.path().join(plan)).expect("the plan");
    let whole: Value = serde_json::from_slice(&text).expect("JSON");
    let output = run(folder.path(), &["inspect", plan, "--output", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let steps = value["plan"].as_array().expect("a list");
    assert_eq!(steps.len(), whole["steps"].as_array().expect("a list").len(), "{value}");
}

#[test]
fn a_failure_to_write_says_what_to_do() {
    let folder = project(|text| text);
    let output = run(folder.path(), &["build", "cluster.yaml", "-o", "cluster.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("hint: "), "{}", error(&output));
    assert!(error(&output).contains("write to another directory"), "{}", error(&output));
}

#[test]
fn a_finding_in_a_file_beside_the_document_names_a_path_that_opens() {
    let folder = project(|text| {
        text.replacen(
            "    - name: workers\n",
            "    - name: workers\n      parts: [{name: p, type: text/x-shellscript, src: p.sh}]\n",
            1,
        )
    });
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("made");
    for (name, text) in [
        ("cluster.yaml", std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("read")),
        ("p.sh", "echo no shebang\n".to_owned()),
    ] {
        std::fs::write(inner.join(name), text).expect("written");
    }
    let output = run(folder.path(), &["build", "inner/cluster.yaml"]);
    assert!(error(&output).contains("--> inner/p.sh:1:1"), "{}", error(&output));
    assert!(error(&output).contains("1 | echo no shebang"), "{}", error(&output));
}

/// cloud-init's handler of scripts fails on such a part: it is never written.
#[test]
fn a_part_that_is_not_text_is_told() {
    let folder = project(|text| {
        text.replacen(
            "    - name: workers\n",
            "    - name: workers\n      parts: [{name: p, type: text/x-shellscript, src: p.sh}]\n",
            1,
        )
    });
    std::fs::write(folder.path().join("p.sh"), b"#!/bin/sh\necho \xff\n").expect("written");
    let output = run(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("error[part/not-utf8]"), "{}", error(&output));
    assert!(error(&output).contains("--> p.sh:1:1"), "{}", error(&output));
}

#[test]
fn people_see_the_text_of_a_script_without_its_secrets() {
    let folder = project(|text| text);
    let script = "#!/bin/sh\necho hello\nexport API_TOKEN=hunter2\n";
    for (name, text) in [
        ("a", script.to_owned()),
        ("b", bringup_carry::base64_text(script.as_bytes())),
        ("c", "#include\nhttps://example.com/more\n".to_owned()),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    for name in ["a", "b"] {
        let said = out(&run(folder.path(), &["inspect", name]));
        assert!(said.contains("│ echo hello\n"), "{said}");
        assert!(said.contains("│ export API_TOKEN="), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    let output = run(folder.path(), &["inspect", "c"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(out(&output).contains("  https://example.com/more\n"), "{}", out(&output));
}
