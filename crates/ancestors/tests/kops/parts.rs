//! `additionalUserData`.

use serde_json::{Value, json};

use crate::{cluster, errors, first_group, group, warnings};

fn part(name: &str, kind: &str, content: &str) -> String {
    format!("- name: {name}\n  type: {kind}\n  content: |\n    {content}\n")
}

fn with_parts(parts: &[String]) -> String {
    format!("{}{}", cluster(""), group(&format!("additionalUserData:\n{}", parts.concat())))
}

fn steps(group: &Value) -> Vec<&str> {
    group["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect()
}

const SCRIPT: &str = "text/x-shellscript";

/// cloud-init runs scripts by sorted names, kops' own among them as `nodeup.sh`: what sorts before it is done first.
#[test]
fn scripts_before_nodeup_are_steps_in_the_order_of_their_names() {
    let text = with_parts(&[
        part("myscript.sh", SCRIPT, "#!/bin/sh"),
        part("zz.sh", SCRIPT, "#!/bin/sh"),
        part("Early.sh", SCRIPT, "#!/bin/sh"),
        part("10.sh", SCRIPT, "#!/bin/sh"),
        part("9.sh", SCRIPT, "#!/bin/sh"),
    ]);
    let group = first_group(&text);
    let names: Vec<&str> =
        group["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
    // By code points: digits first, `10` before `9`, upper case before lower.
    assert_eq!(
        names,
        [
            "await-cloud-init",
            "10-sh",
            "9-sh",
            "early-sh",
            "myscript-sh",
            "release-cloud-init",
            "kernel-settings"
        ]
    );
    for step in group["steps"].as_array().unwrap() {
        assert_eq!(step["before"], json!(["runtime"]));
        let on_failure = if step["name"] == "await-cloud-init" { "pause" } else { "continue" };
        assert_eq!(step["onFailure"], on_failure, "a failing script stops nothing in cloud-init");
        assert_eq!(step["attempts"], 1);
    }
    let parts: Vec<&str> =
        group["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(parts, ["nodeup.sh", "zz.sh"]);
}

/// cloud-init installs packages before it runs any script, and the scripts one after the other: those of the agent start when
/// cloud-init is at its scripts, and its own go on when they have ended.
#[test]
fn scripts_of_the_agent_come_after_what_cloud_init_makes_of_other_parts() {
    let script = part("a-script.sh", SCRIPT, "#!/bin/sh");
    let config = part("b-packages.txt", "text/cloud-config", "#cloud-config\n    packages: [jq]");
    let group = first_group(&with_parts(&[script.clone(), config.clone()]));
    assert_eq!(steps(&group), ["await-cloud-init", "a-script-sh", "release-cloud-init", "kernel-settings"]);
    let parts: Vec<&str> =
        group["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(parts, ["nodeup.sh", "b-packages.txt"]);
    let text = |index: usize| group["steps"][index]["script"].as_str().unwrap().to_owned();
    let meeting = group["parts"][0]["content"].as_str().unwrap();
    // What one side makes the other waits for.
    for (maker, waiter, mark) in
        [(meeting, text(0), "may-run"), (text(2).as_str(), meeting.to_owned(), "have-run")]
    {
        assert!(maker.contains(&format!(": >/run/bringup-scripts/{mark}\n")), "{maker}");
        assert!(waiter.contains(&format!("[ -e /run/bringup-scripts/{mark} ]")), "{waiter}");
    }
    // A script alone waits for nothing, and on Flatcar there is no cloud-init to wait for.
    let alone = first_group(&with_parts(std::slice::from_ref(&script)));
    assert_eq!(steps(&alone), ["a-script-sh", "kernel-settings"]);
    assert_eq!(alone.get("parts"), None);
    let flatcar = with_parts(&[script, config]).replace(
        "ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610",
        "075585003325/Flatcar-stable-3815.2.0-hvm",
    );
    assert_eq!(steps(&first_group(&flatcar)), ["a-script-sh", "kernel-settings"]);
}

/// cloud-config parts merge in the order of the message; scripts keep theirs by name, in the places of scripts.
#[test]
fn other_parts_keep_the_order_of_the_message() {
    let text = with_parts(&[
        part("z.txt", "text/cloud-config", "#cloud-config"),
        part("zz.sh", SCRIPT, "#!/bin/sh"),
        part("a.txt", "text/cloud-config", "#cloud-config"),
        part("pp.sh", SCRIPT, "#!/bin/sh"),
        part("hook", "text/cloud-boothook", "#!/bin/sh"),
        part("more", "text/x-include-url", "https://example.com/part"),
    ]);
    let group = first_group(&text);
    let parts: Vec<&str> =
        group["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(parts, ["nodeup.sh", "z.txt", "pp.sh", "a.txt", "zz.sh", "hook", "more"]);
    assert_eq!(steps(&group), ["await-cloud-init", "kernel-settings"]);
}

/// With kops the node is set up by a script of cloud-init's final stage: what other parts ask for is there by then, scripts or not.
#[test]
fn the_node_is_set_up_when_cloud_init_is_at_its_scripts() {
    let config = |content: &str| part("b.txt", "text/cloud-config", &format!("#cloud-config\n    {content}"));
    let waits = |part: String| {
        let group = first_group(&with_parts(&[part]));
        let meets = group["parts"][0]["name"] == "nodeup.sh";
        assert_eq!(steps(&group).contains(&"await-cloud-init"), meets);
        // No step of a script has to end before cloud-init goes on.
        assert!(!steps(&group).contains(&"release-cloud-init"));
        assert!(!meets || !group["parts"][0]["content"].as_str().unwrap().contains("have-run"));
        meets
    };
    for content in [
        "packages: [nvidia-headless-570-server]",
        "package_update: true",
        "apt: {sources: {}}",
        "users: [default]",
        "mounts: [[xvdb, /data]]",
        "write_files: [{path: /a}]\n    runcmd: [b]",
        "a: [",
    ] {
        assert!(waits(config(content)), "{content}");
    }
    for content in ["runcmd: [b]", "power_state: {mode: reboot}\n    merge_how: list(append)", ""] {
        assert!(!waits(config(content)), "{content}");
    }
    for (kind, content) in [
        ("text/cloud-config-archive", "#cloud-config-archive\n    - '#!/bin/sh'"),
        ("text/cloud-boothook", "#!/bin/sh"),
        ("text/x-include-url", "https://example.com/part"),
        (SCRIPT, "#cloud-config\n    packages: [jq]"),
        (SCRIPT, "#include\n    https://example.com/part"),
    ] {
        assert!(waits(part("zz", kind, content)), "{kind}");
    }
    for (kind, content) in [
        ("text/upstart-job", "start on runlevel"),
        (SCRIPT, "#!/bin/sh"),
        (SCRIPT, "#cloud-config\n    runcmd: [b]"),
    ] {
        assert!(!waits(part("zz", kind, content)), "{kind}");
    }
}

/// A script without a shebang is written and fails to run: it is left as it is, for the lints of parts to tell.
#[test]
fn a_script_that_cannot_run_is_no_step() {
    let group = first_group(&with_parts(&[part("a.sh", SCRIPT, "echo hello")]));
    assert_eq!(steps(&group), ["kernel-settings"]);
    assert_eq!(group["parts"][0]["name"], "a.sh");
}

/// What looks like a fact of ours is text of the script's own.
#[test]
fn scripts_are_taken_by_the_letter() {
    let group = first_group(&with_parts(&[part("a.sh", SCRIPT, "#!/bin/sh -c '@{zone}'")]));
    assert_eq!(group["steps"][0]["script"], "#!/bin/sh -c '@@{zone}'\n");
}

#[test]
fn parts_that_kops_or_cloud_init_would_lose_are_told() {
    let none = errors(&with_parts(&["- name: a\n  type: text/cloud-config\n".to_owned()]));
    assert_eq!(none, ["a part of additionalUserData needs a name and a content"]);
    let kind = errors(&with_parts(&[part("a", "text/x-shelscript", "#!/bin/sh")]));
    assert_eq!(kind, ["kops knows no part of the type `text/x-shelscript`"]);
    let own = errors(&with_parts(&[part("nodeup.sh", SCRIPT, "#!/bin/sh")]));
    assert_eq!(own, ["a script of this name takes the place of kops' own, and no node would come up"]);
    let twins = with_parts(&[part("a", SCRIPT, "#!/bin/one"), part("a", SCRIPT, "#!/bin/two")]);
    assert!(warnings(&twins).contains(&"there are two scripts `a`: cloud-init keeps the last".to_owned()));
    assert_eq!(first_group(&twins)["steps"][0]["script"], "#!/bin/two\n");
    // Only scripts are files: a cloud-config is merged whatever its name.
    let both = with_parts(&[part("a", "text/cloud-config", "#cloud-config"), part("a", SCRIPT, "#!/bin/sh")]);
    assert!(!warnings(&both).iter().any(|warning| warning.contains("cloud-init keeps the last")));
    let group = first_group(&both);
    assert_eq!(steps(&group), ["a", "kernel-settings"]);
    assert_eq!(group["parts"][0]["type"], "text/cloud-config");
}

#[test]
fn a_script_that_reboots_asks_for_it() {
    let group = first_group(&with_parts(&[part("a.sh", SCRIPT, "#!/bin/sh\n    touch /a && reboot")]));
    let asks = "#!/bin/sh\ntouch /a && { : >\"$BRINGUP_REBOOT\"; exit 0; }\n";
    assert_eq!(group["steps"][0]["script"], asks);
}
