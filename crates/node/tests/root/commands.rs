//! What the commands say, and how they end.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use bringup_plan::Action;
use rustix::fs::{FlockOperation, flock};

use crate::node::{Node, agent, needs_root, ran};
use crate::plans::small;

#[test]
fn two_agents_at_once_are_kept_apart() {
    let node = Node::new(&small());
    node.put("/run/bringup/lock", "");
    let lock = std::fs::File::options().write(true).open(node.path("/run/bringup/lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let ran = node.run(&["up"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(
        ran.errors,
        "bringup-node: another agent is at work on this machine; see `bringup-node status`\n"
    );
    assert!(!node.path("/var/lib/bringup/journal").exists());
}

/// Whoever can open the lock can hold it, and hold the agent up.
#[test]
fn only_root_can_open_the_lock() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    assert_eq!(mode(&node, "/run/bringup/lock"), 0o600);
    std::fs::set_permissions(node.path("/run/bringup/lock"), std::fs::Permissions::from_mode(0o644)).unwrap();
    node.up();
    assert_eq!(mode(&node, "/run/bringup/lock"), 0o600);
}

#[test]
fn a_lock_that_is_no_file_leads_nowhere_and_holds_nobody() {
    type Make<'a> = &'a dyn Fn(&std::path::Path);
    let pipe = |path: &std::path::Path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    let link = |path: &std::path::Path| std::os::unix::fs::symlink("../../etc/shadow", path).unwrap();
    let folder = |path: &std::path::Path| std::fs::create_dir(path).unwrap();
    let makes: [(&str, Make<'_>); 3] = [("a pipe", &pipe), ("a link", &link), ("a folder", &folder)];
    for (what, make) in makes {
        let node = Node::new(&small());
        std::fs::create_dir_all(node.path("/run/bringup")).unwrap();
        make(&node.path("/run/bringup/lock"));
        let mut agent = crate::disks::Paused::start(&node);
        assert_eq!(agent.code(), Some(3), "{what}");
        let why = "cannot lock `/run/bringup/lock`: it is not a file; remove it\n";
        assert!(agent.said().ends_with(why), "{what}: {}", agent.said());
        assert!(!node.path("/etc/shadow").exists() && !node.path("/var/lib/bringup/journal").exists());
    }
}

#[test]
fn a_plan_of_a_newer_format_is_refused_with_both() {
    let mut plan = small();
    plan.format = 7;
    let node = Node::new(&plan);
    for command in ["up", "explain"] {
        let ran = node.run(&[command]);
        assert_eq!(ran.code, Some(2));
        assert!(
            ran.errors.contains("the plan has format 7, this agent knows formats up to 1"),
            "{}",
            ran.errors
        );
    }
}

#[test]
fn a_plan_that_is_none_is_a_wrong_call() {
    let node = Node::new(&small());
    node.put("/etc/bringup/plan.json", "{");
    assert_eq!(node.run(&["up"]).code, Some(2));
    std::fs::remove_file(node.path("/etc/bringup/plan.json")).unwrap();
    let ran = node.run(&["up"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.errors.contains("there is no plan at `/etc/bringup/plan.json`"), "{}", ran.errors);
    assert_eq!(node.run(&["up", "--until", "lunch"]).code, Some(2));
    assert_eq!(node.run(&["up", "--ignore-preflight", "lunch"]).code, Some(2));
}

#[test]
fn facts_of_another_platform_are_a_wrong_call() {
    let mut plan = small();
    let node = Node::new(&plan);
    plan.platform = bringup_spec::Platform::Aws;
    node.give(&plan);
    for command in ["up", "explain"] {
        let ran = node.run(&[command]);
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.errors);
        let why = "facts.json` is about a machine of platform `generic`, and the plan is for `aws`: \
                   give the facts of the machine, or its plan";
        assert!(ran.errors.contains(why), "{command}: {}", ran.errors);
    }
    assert!(!node.path("/var/lib/bringup/journal").exists());
}

#[test]
fn status_says_how_it_stands() {
    needs_root();
    let node = Node::new(&small());
    let ran = node.run(&["status"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(node.run(&["up", "--until", "configure"]).code, Some(0));
    let ran = node.run(&["status"]);
    assert_eq!(ran.code, Some(3), "what comes after it is not done");
    let head = "c/g on i-0123456789abcdef0\ndone up to configure\n\n";
    assert!(ran.output.starts_with(head), "{}", ran.output);
    assert!(ran.output.contains("done      configure  units\n"), "{}", ran.output);
    assert!(ran.output.contains("          gate       gate\n"), "{}", ran.output);
    node.up();
    let ran = node.run(&["status", "--output", "json"]);
    assert_eq!(ran.code, Some(0));
    let status: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(status["standing"], "done");
    node.put("/run/bringup/status.json", "{");
    assert_eq!(node.run(&["status"]).code, Some(2));
}

/// What a program wrote is for root alone; that it failed, and what to mend, for everybody.
#[test]
fn who_is_not_root_sees_all_of_a_status_but_output() {
    needs_root();
    let node = Node::new(&small());
    node.up();
    let mut status: serde_json::Value =
        serde_json::from_str(&node.read("/run/bringup/status.json").unwrap()).unwrap();
    status["standing"] = "paused".into();
    status["why"] = "it ended with code 3".into();
    node.put("/run/bringup/status.json", &status.to_string());
    status["tail"] = "password=hunter2\n".into();
    node.put("/run/bringup/status-full.json", &status.to_string());
    let shut = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(node.path("/run/bringup/status-full.json"), shut).unwrap();
    // Where everybody can find it.
    let copy = node.beside("bringup-node");
    // By a process of its own: one that another test starts meanwhile would hold a copy of ours open, and busy.
    assert!(Command::new("cp").args([&agent(), &copy]).status().unwrap().success());
    std::fs::set_permissions(copy.parent().unwrap(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (user, told) in [(0, true), (65534, false)] {
        for format in ["human", "json"] {
            let words = node.words(&["status", "--output", format]);
            let ran = ran(Command::new(&copy).args(words).uid(user).gid(user), "");
            assert_eq!(ran.code, Some(3), "{}", ran.errors);
            assert!(ran.output.contains("it ended with code 3"), "{}", ran.output);
            assert_eq!(ran.output.contains("hunter2"), told, "{user}: {}", ran.output);
        }
    }
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert!(!node.path("/run/bringup/status-full.json").exists());
}

#[test]
fn what_comes_later_waits_for_what_comes_before() {
    let node = Node::new(&small());
    let ran = node.run(&["up", "--from", "gate"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.errors.contains("`folder` must be done before `gate`"), "{}", ran.errors);
}

#[test]
fn a_dry_run_shows_all_and_does_nothing() {
    needs_root();
    let node = Node::new(&small());
    let before = node.tree();
    let ran = node.run(&["explain"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert_eq!(node.tree(), before);
    for part in [
        "makes the directory `/var/lib/own`",
        "links `/opt/bin/k` to `/usr/bin/kubectl`",
        "--- /etc/one\n+++ /etc/one\n@@ -0,0 +1 @@\n+g5.xlarge\n",
        "writes `/etc/deep/two`, which is not shown",
        "+[Service]\n+ExecStart=/bin/true\n",
        "opens the gate",
    ] {
        assert!(ran.output.contains(part), "{part}: {}", ran.output);
    }
    let json = node.run(&["explain", "--output", "json"]);
    let explained: serde_json::Value = serde_json::from_str(&json.output).unwrap();
    assert_eq!(explained["steps"][0]["step"], "folder");
}

#[test]
fn a_reset_removes_what_was_made_and_nothing_else() {
    needs_root();
    let mut plan = small();
    let mut runtime = plan.steps.last().cloned().unwrap();
    runtime.name = "start-runtime".to_owned();
    runtime.action = Action::StartUnit { unit: "containerd.service".to_owned(), reads: Vec::new() };
    plan.steps.push(runtime);
    let node = Node::new(&plan);
    node.put("/var/lib/own-not", "mine\n");
    node.up();
    node.put("/etc/deep/mine", "mine\n");
    let refused = node.answer(&["reset"], "n\n");
    assert_eq!(refused.code, Some(1));
    assert!(refused.output.ends_with("go on? [y/N] nothing was changed\n"), "{}", refused.output);
    assert!(node.path("/etc/one").exists());
    let stays = "leaves\n  pods that still run, and what kubelet keeps in `/var/lib/kubelet`\n  \
                 `containerd.service`, which goes on running, and what runs in it\n  \
                 directories that were made on the way to a file, which it does not tell from others\n  \
                 the plan and the units that its carrier placed\n";
    assert!(refused.output.contains(stays), "{}", refused.output);
    let ran = node.answer(&["reset"], "y\n");
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    // `/etc/deep` has something of somebody else's in it, and `/etc` the plan.
    let (_, hollow) =
        ran.output.split_once("done\nnothing is left in these, which may have been there before\n").unwrap();
    for path in ["/opt", "/opt/bin", "/var/lib/bringup"] {
        assert!(hollow.contains(&format!("  {path}/\n")) && node.path(path).is_dir(), "{path}: {hollow}");
    }
    for path in ["/etc", "/etc/deep", "/var/lib", "/var/lib/own"] {
        assert!(!hollow.contains(&format!("  {path}/\n")), "{path}: {hollow}");
    }
    for path in ["/etc/one", "/etc/deep/two", "/opt/bin/k", "/var/lib/own", "/run/bringup/kubelet.env"] {
        assert!(node.path(path).symlink_metadata().is_err(), "{path}");
    }
    for path in ["/var/lib/bringup/journal", "/var/lib/bringup/done.json", "/run/bringup/status.json"] {
        assert!(!node.path(path).exists(), "{path}");
    }
    for path in ["/etc/deep/mine", "/var/lib/own-not", "/etc/bringup/plan.json", "/etc/machine-id"] {
        assert!(node.path(path).exists(), "{path}");
    }
    let again = node.run(&["reset", "--yes"]);
    assert_eq!((again.code, again.output.as_str()), (Some(0), "nothing was done here\n"));
    node.up();
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.xlarge\n"));
}

#[test]
fn checks_before_the_start_change_nothing_when_they_fail() {
    needs_root();
    let mut plan = small();
    plan.cluster_ranges = vec!["192.0.2.0/24".to_owned()];
    let node = Node::new(&plan);
    let mut paused = crate::disks::Paused::start(&node);
    let status = paused.until_paused(&node);
    paused.end();
    assert_eq!(status["step"], "identify");
    let why = status["why"].as_str().unwrap();
    assert!(why.contains("[address] the machine's address 192.0.2.10 lies in 192.0.2.0/24"), "{why}");
    assert!(!node.path("/var/lib/own").exists());
    assert_eq!(node.run(&["status"]).code, Some(3));
    assert_eq!(node.run(&["up", "--ignore-preflight", "address"]).code, Some(0));
    // What has passed, or was ignored, is not asked again for the same plan.
    node.up();
}

/// What stood there before is not the agent's to lose.
#[test]
fn what_was_written_over_is_put_back() {
    needs_root();
    let mut plan = small();
    let node = Node::new(&plan);
    node.put("/etc/one", "of the image\n");
    node.put("/etc/deep/two", "of the image, too\n");
    node.put("/etc/systemd/system/tidy.service", "[Service]\nExecStart=/bin/false\n");
    std::fs::set_permissions(node.path("/etc/one"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(node.path("/opt/bin")).unwrap();
    std::fs::create_dir_all(node.path("/var/lib/own")).unwrap();
    std::fs::set_permissions(node.path("/var/lib/own"), std::fs::Permissions::from_mode(0o711)).unwrap();
    std::os::unix::fs::symlink("/usr/bin/other", node.path("/opt/bin/k")).unwrap();
    let before = node.tree();
    node.up();
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.xlarge\n"));
    assert_eq!(mode(&node, "/var/lib/bringup/originals"), 0o700);
    // Another version of ours is no original.
    node.facts("i-0123456789abcdef0", "g5.2xlarge");
    node.up();
    // A plan that lets go of a file gives it back.
    plan.steps.retain(|step| step.name != "two");
    node.give(&plan);
    let explained = node.run(&["explain"]);
    assert!(explained.output.contains("puts back what stood at `/etc/deep/two`"), "{}", explained.output);
    node.up();
    assert_eq!(node.read("/etc/deep/two").as_deref(), Some("of the image, too\n"));
    let refused = node.answer(&["reset"], "n\n");
    let back = "puts back what stood there before\n  /etc/one\n  /var/lib/own\n  /opt/bin/k\n  /etc/systemd/system/tidy.service\n";
    assert!(refused.output.contains(back), "{}", refused.output);
    assert_eq!(node.read("/etc/one").as_deref(), Some("g5.2xlarge\n"));
    // Of an agent that died while it watched kubelet.
    node.put("/run/bringup/kubelet-begun.json", "{}");
    assert_eq!(node.answer(&["reset"], "y\n").code, Some(0));
    assert!(!node.path("/run/bringup/kubelet-begun.json").exists());
    let mut after = node.tree();
    after.insert("etc/bringup/plan.json".to_owned(), before["etc/bringup/plan.json"].clone());
    for (path, is) in &before {
        assert_eq!(after.get(path), Some(is), "{path}");
    }
    assert!(!node.path("/var/lib/bringup/originals").exists());
}

fn mode(node: &Node, path: &str) -> u32 {
    node.path(path).metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn there_is_a_manual_and_shells_complete() {
    let node = Node::new(&small());
    let folder = node.beside("man");
    let wrote = ran(Command::new(agent()).arg("man").arg(&folder), "");
    assert_eq!(wrote.code, Some(0), "{}", wrote.errors);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().display().to_string())
        .collect();
    names.sort();
    let commands = [
        "-bootstrap",
        "-completions",
        "-explain",
        "-man",
        "-reset",
        "-signal",
        "-status",
        "-token",
        "-up",
        "",
    ];
    assert_eq!(names, commands.map(|command| format!("bringup-node{command}.8")));
    let page = std::fs::read_to_string(folder.join("bringup-node-up.8")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("ignore\\-preflight"), "{page}");
    let page = std::fs::read_to_string(folder.join("bringup-node-bootstrap.8")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("apiserver\\-endpoint"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let script = ran(Command::new(agent()).args(["completions", shell]), "");
        assert_eq!(script.code, Some(0));
        assert!(script.output.contains("ignore-preflight"), "{shell}");
    }
}

/// What an old manager is told to start.
#[test]
fn the_agent_becomes_a_program_whose_output_goes_to_a_file() {
    let node = Node::new(&small());
    let output = node.beside("output");
    std::fs::write(&output, "before\n").unwrap();
    let exec = |words: &[&str]| {
        let mut command = Command::new(agent());
        ran(command.args(["exec", "--output"]).arg(&output).arg("--").args(words), "")
    };
    let ended = exec(&["/bin/sh", "-c", "echo \"$0 $1\"; echo ill >&2; exit 5", "--help", "$HOME"]);
    assert_eq!((ended.code, ended.output.as_str(), ended.errors.as_str()), (Some(5), "", ""));
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "before\n--help $HOME\nill\n");
    assert_eq!(exec(&["/no/such/program"]).code, Some(203));
}
