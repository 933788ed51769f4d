//! Without an agent, one unit runs the operator's steps in their order, each once, and starts kubelet behind them.
#![expect(clippy::panic, clippy::unwrap_used, reason = "what cannot be rendered or run must fail")]

use std::path::{Path, PathBuf};

use bringup_carry::{Inspection, Rendered, inspect, without_agent};
use bringup_plan::LocalFiles;
use bringup_spec::{Carrier, Document};

use crate::sample;

fn rendered(document: &Document, carrier: Carrier) -> Rendered {
    let compiled = bringup_plan::compile(document, 0, &LocalFiles::default());
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.findings));
    let parts = sample::parts(document);
    sample::load(document, &plan, &parts).render(carrier)
}

fn content(inspection: &Inspection, path: &str) -> String {
    let file = inspection.files.iter().find(|file| file.path == path);
    let bytes = file.and_then(|file| file.content.clone()).unwrap_or_else(|| panic!("{path}"));
    String::from_utf8(bytes).unwrap()
}

/// No agent makes a token of EKS on Flatcar. What kubelet has instead cannot be carried either, which is told.
fn text(os: &str, extra: &str) -> String {
    let other = "method: kubeconfig\n    kubeconfig: {file: /k}";
    let text = sample::text("aws", os, extra);
    if os == "flatcar" { text.replace("method: eks-token", other) } else { text }
}

fn document(os: &str, extra: &str) -> Document {
    let text = text(os, extra);
    let read = bringup_spec::read("cluster.yaml", &text);
    assert!(!read.findings.has_errors(), "{:?}", read.findings);
    read.documents.into_iter().next().unwrap()
}

fn is_of_kubelet(finding: &bringup_diag::Finding) -> bool {
    finding.message.starts_with("step `kube")
}

const RUNNER: &str = "/opt/bringup/bin/bringup-steps";
const UNIT: &str = "/etc/systemd/system/bringup-steps.service";

const STEPS: &str = "
      agent: none
      steps:
        - {name: second, run: [/bin/second, \"it's\", \"@{zone}\"], environment: {LEVEL: \"2\"}, directory: /srv, after: [first], before: [kubelet]}
        - {name: first, script: \"#!/bin/bash\\nexport A=1\\n\", before: [kubelet], timeout: 90s, attempts: 2}
        - {name: ready, run: [/bin/ready], after: [configure], before: [gate], everyBoot: true, onFailure: continue}
      hooks:
        - {name: early, on: pre-install, run: [/bin/early], onFailure: retry}
";

#[test]
fn steps_before_kubelet_have_a_unit_that_starts_it_behind_them() {
    for (os, carrier) in [
        ("amazon-linux-2", Carrier::CloudInit),
        ("ubuntu", Carrier::Multipart),
        ("flatcar", Carrier::Ignition),
    ] {
        let rendered = rendered(&document(os, STEPS), carrier);
        assert!(rendered.findings.iter().all(is_of_kubelet), "{os}: {:?}", rendered.findings);
        let inspection = inspect(&rendered.file_name, &rendered.bytes);
        let script = content(&inspection, RUNNER);
        let at = |piece: &str| script.find(piece).unwrap_or_else(|| panic!("{os}: {piece}:\n{script}"));
        let order = [
            "timeout -k 10 600 /bin/early\n",
            "timeout -k 10 90 /opt/bringup/steps/first-",
            "    export LEVEL=2\n    cd /srv || return\n    timeout -k 10 600 /bin/second 'it'\\''s' \"${zone}\"\n",
            "systemctl restart containerd.service",
            "timeout -k 10 600 /bin/ready\n",
            "systemctl start --no-block kubelet.service\n",
        ];
        assert!(order.map(at).is_sorted(), "{os}: {script}");
        // For ever; twice; three times, and on every boot.
        at("step run_1 hook:early ");
        assert!(script.contains(" 0 5\nrun_2()") && script.contains(" 2 5\nrun_3()"), "{os}: {script}");
        at("step run_4 ready '' 3 5 || echo bringup: step ready is passed over >&2\n");
        let unit = content(&inspection, UNIT);
        assert!(
            unit.contains("Before=kubelet.service ") && unit.contains("RequiredBy=kubelet.service\n"),
            "{unit}"
        );
        let whole = String::from_utf8_lossy(&rendered.bytes);
        // Were it enabled, the system would wait for the steps, and they may wait for the system.
        assert!(!whole.contains("systemctl enable kubelet.service"), "{os}");
        let words: Vec<&str> = script.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        for program in ["jq", "awk", "sed", "python"] {
            assert!(!words.contains(&program), "{program}: {script}");
        }
    }
    // As it was, where there is nothing to run.
    let none =
        rendered(&sample::document("aws", "amazon-linux-2", "      agent: none\n"), Carrier::CloudInit);
    let whole = String::from_utf8_lossy(&none.bytes);
    assert!(
        whole.contains("systemctl enable kubelet.service") && !whole.contains("bringup-steps"),
        "{whole}"
    );
}

/// On Ubuntu's images for EKS kubelet is a snap, and what sets it starts it.
#[test]
fn a_snap_is_set_behind_the_steps() {
    let text =
        sample::text("aws", "ubuntu", STEPS).replacen("  kubernetes:", "  flavour: eksctl\n  kubernetes:", 1);
    let document = bringup_spec::read("cluster.yaml", &text).documents.into_iter().next().unwrap();
    let rendered = rendered(&document, Carrier::CloudInit);
    assert!(!rendered.findings.has_errors(), "{:?}", rendered.findings);
    let inspection = inspect(&rendered.file_name, &rendered.bytes);
    let script = content(&inspection, RUNNER);
    assert!(script.ends_with("systemctl start --no-block eksctl-bootstrap.service\n"), "{script}");
    let unit = content(&inspection, UNIT);
    let held = "snap.kubelet-eks.daemon.service eksctl-bootstrap.service";
    assert!(
        unit.contains(&format!("Before={held} ")) && unit.contains(&format!("RequiredBy={held}\n")),
        "{unit}"
    );
    assert!(!String::from_utf8_lossy(&rendered.bytes).contains("systemctl enable eksctl-bootstrap.service"));
}

#[test]
fn what_has_no_place_before_kubelet_is_refused_where_it_is_written() {
    let steps = "
      agent: none
      steps:
        - {name: early, run: [/bin/early], before: [kubelet]}
        - {name: late, run: [/bin/late], after: [registered]}
      hooks:
        - {name: last, on: post-install, run: [/bin/last]}
";
    for (os, carrier) in [("amazon-linux-2", Carrier::CloudInit), ("flatcar", Carrier::Ignition)] {
        let rendered = rendered(&document(os, steps), carrier);
        let told: Vec<(String, u32)> = rendered
            .findings
            .iter()
            .filter(|finding| !is_of_kubelet(finding))
            .map(|finding| (finding.message.clone(), finding.place.as_ref().unwrap().span.start.line))
            .collect();
        let why =
            "cannot be done without the agent: nobody waits for kubelet to run before something else does";
        let line = |name: &str| {
            let place = text(os, steps).lines().position(|line| line.contains(name));
            u32::try_from(place.unwrap()).unwrap() + 1
        };
        assert_eq!(
            told,
            [
                (format!("step `late` {why}"), line("name: late")),
                (format!("hook `last` {why}"), line("name: last"))
            ],
            "{os}"
        );
    }
}

#[test]
fn the_report_says_what_steps_lose_without_an_agent() {
    let lost = |extra: &str| {
        let document = sample::document("aws", "amazon-linux-2", extra);
        let (path, group) = document.groups().next().unwrap();
        without_agent(&document, &path, group).remove(0).message
    };
    let with = lost(STEPS);
    for phrase in [
        "nothing but steps is tried again",
        "files are in place before the first step",
        "kubelet is not started",
        "a step that was cut short, or had ended and was not marked as done yet, runs again at the next boot",
    ] {
        assert!(with.contains(phrase), "{phrase}: {with}");
    }
    let without = lost("      agent: none\n");
    assert!(without.contains("nothing is tried again") && !without.contains("step"), "{without}");
}

/// A bundle is files alone: nobody would fill this one in.
#[test]
fn a_bundle_without_agent_tells_what_it_cannot_hold() {
    let extra = "      agent: none\n      carriers: [bundle]\n      files: [{path: /etc/where, content: \"@{zone}\\n\"}]\n      directories: [{path: /srv/x}]\n";
    let rendered = rendered(&sample::document("aws", "amazon-linux-2", extra), Carrier::Bundle);
    let told: Vec<&str> = rendered.findings.iter().map(|finding| finding.message.as_str()).collect();
    for path in ["`/etc/where`", "`/srv/x`"] {
        assert!(told.iter().any(|message| message.contains(path)), "{told:?}");
    }
}

/// A folder in which the script runs, with programs that stand in for those of the machine.
struct Machine {
    folder: PathBuf,
    script: String,
}

impl Drop for Machine {
    #[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
impl Machine {
    fn new(name: &str, steps: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("bringup-steps-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let extra =
            format!("      agent: none\n      steps:\n{steps}").replace("DIR", folder.to_str().unwrap());
        let rendered = rendered(&sample::document("aws", "amazon-linux-2", &extra), Carrier::CloudInit);
        assert!(!rendered.findings.has_errors(), "{:?}", rendered.findings);
        let script = content(&inspect(&rendered.file_name, &rendered.bytes), RUNNER);
        let machine = Self { folder, script };
        machine.stand_in("systemctl", "echo \"systemctl $*\" >>DIR/log");
        machine.stand_in("curl", "echo eu-west-1a");
        machine.stand_in("sync", "echo sync >>DIR/log");
        machine.stand_in("sleep", "echo \"sleep $*\" >>DIR/log");
        machine
    }

    fn here(&self, text: &str) -> String {
        text.replace("DIR", self.folder.to_str().unwrap())
    }

    fn stand_in(&self, name: &str, line: &str) {
        use std::io::Write as _;
        // By a process of its own: one that another test starts meanwhile would hold a file of ours open, and busy.
        let mut install = std::process::Command::new("install");
        install.args(["-m", "0755", "/dev/stdin"]).arg(self.folder.join("bin").join(name));
        let mut child = install.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let text = format!("#!/bin/sh\n{}\n", self.here(line));
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// One boot of a machine of this number: whether it went well, and what was done.
    fn boot(&self, number: &str) -> (bool, Vec<String>) {
        std::fs::write(self.folder.join("number"), number).unwrap();
        let script = self
            .script
            .replace("/var/lib/bringup", self.folder.to_str().unwrap())
            .replace("/run/bringup/reboot", &self.here("DIR/reboot"))
            .replace("</etc/resolv.conf", &self.here("<DIR/resolv.conf"))
            .replace("-e /run/systemd/resolve/resolv.conf", &self.here("-e DIR/upstream"))
            .replace("/sys/class/dmi/id/product_uuid", &self.here("DIR/number"));
        let path = std::env::var("PATH").unwrap();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).env("PATH", format!("{}:{path}", self.folder.join("bin").display()));
        let output = shell.output().unwrap();
        let log = self.folder.join("log");
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(&log);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("not found"), "{errors}");
        (output.status.success(), lines.lines().filter(|line| *line != "sync").map(str::to_owned).collect())
    }

    fn has(&self, name: &str) -> bool {
        Path::new(&self.folder).join(name).exists()
    }
}

const KUBELET: &str = "systemctl start --no-block kubelet.service";
const RUNTIME: &str = "systemctl restart containerd.service";

#[test]
fn a_step_runs_once_on_a_machine_and_one_of_every_boot_on_each() {
    let machine = Machine::new(
        "once",
        r#"        - {name: one, run: [/bin/sh, -c, "echo \"one $BRINGUP_STEP $BRINGUP_ATTEMPT $LEVEL $PWD $1\" >>DIR/log", sh, "@{zone}"], environment: {LEVEL: "7"}, directory: /usr, before: [kubelet]}
        - {name: each, run: [/bin/sh, -c, "echo each >>DIR/log"], after: [one], everyBoot: true}
        - {name: late, run: [/bin/sh, -c, "echo late >>DIR/log"], after: [configure]}
"#,
    );
    let first = ["one one 1 7 /usr eu-west-1a", "each", RUNTIME, "late", KUBELET].map(str::to_owned).to_vec();
    assert_eq!(machine.boot("number-1"), (true, first.clone()));
    assert_eq!(machine.boot("number-1"), (true, ["each", RUNTIME, KUBELET].map(str::to_owned).to_vec()));
    // Its disk has become the image of another machine.
    assert_eq!(machine.boot("number-2"), (true, first));
}

#[test]
fn a_step_that_fails_is_tried_again_leaves_no_mark_and_keeps_kubelet_down() {
    let machine = Machine::new(
        "fails",
        r#"        - {name: done, run: [/bin/sh, -c, "echo done >>DIR/log"], before: [kubelet]}
        - {name: bad, run: [/bin/sh, -c, "echo bad >>DIR/log; test -e DIR/mended"], attempts: 3, backoff: 4s, after: [done]}
        - {name: behind, run: [/bin/sh, -c, "echo behind >>DIR/log"], after: [bad]}
"#,
    );
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
    assert_eq!(machine.boot("1"), (false, lines(&["done", "bad", "sleep 4", "bad", "sleep 8", "bad"])));
    assert!(machine.has("steps/done") && !machine.has("steps/bad") && !machine.has("steps/behind"));
    machine.stand_in("sleep", "echo \"sleep $*\" >>DIR/log; : >DIR/mended");
    assert_eq!(machine.boot("1"), (true, lines(&["bad", "sleep 4", "bad", "behind", RUNTIME, KUBELET])));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
fn a_step_that_asks_for_a_reboot_gets_it_once_it_is_marked() {
    let machine = Machine::new(
        "asks",
        r#"        - {name: bad, run: [/bin/sh, -c, "echo bad >>DIR/log; test -e DIR/steps/bad.tried || { : >\"$BRINGUP_REBOOT\"; : >DIR/steps/bad.tried; exit 1; }"], attempts: 2, backoff: 4s, before: [kubelet]}
        - {name: asks, run: [/bin/sh, -c, "echo asks >>DIR/log; : >\"$BRINGUP_REBOOT\""], onFailure: continue, after: [bad]}
        - {name: each, run: [/bin/sh, -c, "echo each >>DIR/log; : >\"$BRINGUP_REBOOT\""], everyBoot: true, after: [asks]}
"#,
    );
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
    // What has asked and failed gets none.
    assert_eq!(machine.boot("1"), (false, lines(&["bad", "sleep 4", "bad", "asks", "systemctl reboot"])));
    assert!(machine.has("steps/bad") && machine.has("steps/asks"));
    std::fs::remove_dir_all(machine.folder.join("reboot")).unwrap();
    assert_eq!(machine.boot("1"), (true, lines(&["each", RUNTIME, KUBELET])));
}

#[test]
fn a_step_that_may_fail_is_passed_over() {
    let machine = Machine::new(
        "passed",
        r#"        - {name: bad, run: [/bin/false], attempts: 1, onFailure: continue, before: [kubelet]}
        - {name: good, run: [/bin/sh, -c, "echo good >>DIR/log"], after: [bad]}
"#,
    );
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
    assert_eq!(machine.boot("1"), (true, lines(&["good", RUNTIME, KUBELET])));
    assert!(!machine.has("steps/bad") && machine.has("steps/good"));
}

/// As the agent decides it, in `bringup-facts`.
#[test]
#[expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
fn the_shell_finds_the_servers_for_pods_as_the_agent_does() {
    let machine = Machine::new(
        "resolver",
        r#"        - {name: one, run: [/bin/sh, -c, "echo $1 >>DIR/log", sh, "@{resolvConf}"], everyBoot: true, before: [kubelet]}
"#,
    );
    let (own, upstream) = ("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf");
    for (system, behind) in [
        ("nameserver 127.0.0.53\n", upstream),
        ("nameserver ::1\noptions a\n", upstream),
        ("# none\n", upstream),
        ("nameserver 10.0.0.2\n", own),
        ("nameserver 127.0.0.1\nnameserver 10.0.0.2\n", own),
    ] {
        std::fs::write(machine.folder.join("resolv.conf"), system).unwrap();
        let _ = std::fs::remove_file(machine.folder.join("upstream"));
        assert!(machine.boot("1").1.iter().any(|line| line == own), "{system}");
        std::fs::write(machine.folder.join("upstream"), "").unwrap();
        assert!(machine.boot("1").1.iter().any(|line| line == behind), "{system}");
    }
}

/// Hooks of upgrades are the agent's, when a controller asks it.
#[test]
fn hooks_that_somebody_asks_for_are_refused_where_they_are_written() {
    let extra = "      agent: none\n      hooks: [{name: drain, on: pre-upgrade, run: [/bin/drain]}]\n";
    for (os, carrier) in [("amazon-linux-2", Carrier::CloudInit), ("flatcar", Carrier::Ignition)] {
        let rendered = rendered(&document(os, extra), carrier);
        let mut told = rendered.findings.iter().filter(|finding| !is_of_kubelet(finding));
        let finding = told.next().unwrap_or_else(|| panic!("{os}: nothing is told"));
        assert_eq!(
            finding.message,
            "hook `drain` cannot be done without the agent: nobody on the node runs it at `pre-upgrade`"
        );
        let line = text(os, extra).lines().position(|line| line.contains("drain")).unwrap();
        assert_eq!(finding.place.as_ref().unwrap().span.start.line, u32::try_from(line).unwrap() + 1);
        assert!(told.next().is_none(), "{os}");
    }
}

#[test]
fn a_link_has_its_folder_made() {
    let extra = "      agent: none\n      links: [{path: /opt/new/folder/link, target: /etc/hosts}]\n";
    let rendered = rendered(&sample::document("aws", "amazon-linux-2", extra), Carrier::CloudInit);
    let script = String::from_utf8_lossy(&rendered.bytes).into_owned();
    assert!(
        script.contains("mkdir -p /opt/new/folder\n  ln -sfn /etc/hosts /opt/new/folder/link\n"),
        "{script}"
    );
}

/// The agent's answers, from a shell.
#[test]
fn the_shell_takes_the_machines_own_name_and_counts_pods_by_core() {
    let script = |extra: &str| {
        let rendered = rendered(
            &sample::document("aws", "amazon-linux-2", &format!("      agent: none\n{extra}")),
            Carrier::CloudInit,
        );
        assert!(!rendered.findings.has_errors(), "{:?}", rendered.findings);
        String::from_utf8_lossy(&rendered.bytes).into_owned()
    };
    let files = "      files: [{path: /etc/name, content: \"@{nodeName}\"}]\n";
    let own = script(&format!("      nodeName: hostname\n{files}"));
    assert!(own.contains("hostname=$(hostname)\n") && !own.contains("local-hostname"), "{own}");
    assert!(script("      nodeName: private-dns\n").contains("hostname=$(ask local-hostname)\n"));
    let by_core = script("      maxPods: 58\n      kubelet: {config: {podsPerCore: 10}}\n");
    let line = "if [ $((cores * 10)) -lt \"$kept_pods\" ]; then kept_pods=$((cores * 10)); fi\n";
    let at = by_core.find(line).unwrap_or_else(|| panic!("{by_core}"));
    assert!(by_core.find("cores=$(getconf").unwrap() < at && at < by_core.find("reserved_memory=").unwrap());
}

/// What follows from the way a node joins is no step that somebody could leave out.
#[test]
fn a_join_that_needs_the_agent_says_so() {
    let join = |os: &str, method: &str| {
        let extra =
            "      agent: none\n      files: [{path: /etc/a, content: a, owner: \"nobody:nobody\"}]\n";
        let text = sample::text("generic", os, extra).replace("method: eks-token", method);
        let document = bringup_spec::read("cluster.yaml", &text).documents.into_iter().next().unwrap();
        let carrier = if os == "flatcar" { Carrier::Ignition } else { Carrier::CloudInit };
        let findings = rendered(&document, carrier).findings;
        let hint = |finding: &bringup_diag::Finding| (finding.message.clone(), finding.hint.clone().unwrap());
        findings.iter().filter(|finding| finding.code.name == "agent/needed").map(hint).collect::<Vec<_>>()
    };
    let token = "method: bootstrap-token\n    token: {file: /t}";
    let kubeconfig = "method: kubeconfig\n    kubeconfig: {file: /k}";
    for os in ["flatcar", "debian", "generic"] {
        for (method, name) in [(token, "bootstrap-token"), (kubeconfig, "kubeconfig")] {
            let told = join(os, method);
            let (files, own): (Vec<_>, Vec<_>) =
                told.into_iter().partition(|(message, _)| message.contains("/etc/a"));
            let expected = format!(
                "write `agent: image` or `agent: fetch`: without it, no node of this system joins by `{name}`"
            );
            assert!(!own.is_empty() && own.iter().all(|(_, hint)| *hint == expected), "{os}: {own:?}");
            assert!(files.iter().all(|(_, hint)| hint.ends_with("or leave it out")), "{os}: {files:?}");
            assert_eq!(files.len(), 1, "{os}");
        }
    }
}

/// Only the names that plans keep for themselves are ours.
#[test]
fn a_unit_of_the_operator_is_carried_whatever_it_is_called() {
    let unit = "      agent: none\n      units:\n        - {name: bringup-logs.service, content: \"[Service]\\nExecStart=/bin/true\\n\", enabled: false}\n";
    let rendered = rendered(&document("amazon-linux-2", unit), Carrier::CloudInit);
    let inspection = inspect("carrier", &rendered.bytes);
    let path = "/etc/systemd/system/bringup-logs.service";
    assert_eq!(content(&inspection, path), "[Service]\nExecStart=/bin/true\n");
}

/// Words of a carrier, without the folders of programs.
fn words(text: &str) -> std::collections::BTreeSet<&str> {
    let between = |letter: char| letter.is_whitespace() || "\"'`;|&()$,[]{}".contains(letter);
    text.split(between).map(|word| word.rsplit('/').next().unwrap_or(word)).collect()
}

/// With the agent in the image nothing is called at all; without, the few lines that ask the metadata service use curl.
#[test]
fn a_carrier_of_eksctl_calls_no_aws_jq_awk_or_sed_and_curl_only_without_the_agent() {
    for os in ["amazon-linux-2", "ubuntu"] {
        for agent in ["image", "none"] {
            let extra = format!("      agent: {agent}\n      instanceTypes: [m5.large]\n");
            let text = sample::text("aws", os, &extra).replacen(
                "  kubernetes:",
                "  flavour: eksctl\n  kubernetes:",
                1,
            );
            let document = bringup_spec::read("cluster.yaml", &text).documents.into_iter().next().unwrap();
            let rendered = rendered(&document, Carrier::CloudInit);
            assert!(!rendered.findings.has_errors(), "{:?}", rendered.findings);
            // The plan names the platform, and calls nothing by it.
            let carrier = String::from_utf8(rendered.bytes).unwrap().replace(r#""platform":"aws""#, "");
            let words = words(&carrier);
            for banned in ["aws", "jq", "awk", "sed", "wget", "python", "python3", "perl"] {
                assert!(!words.contains(banned), "{banned}: {os} {agent}");
            }
            assert_eq!(words.contains("curl"), agent == "none", "{os} {agent}");
        }
    }
}
