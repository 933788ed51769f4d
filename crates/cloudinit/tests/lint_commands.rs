//! Commands and what only looks like one: in scripts, in `bootcmd` and `runcmd`, in units.

use bringup_cloudinit::{decode, effects, lint};

/// `line:column severity code` of each finding.
fn linted(text: &str) -> Vec<String> {
    lint(&decode("input", text.as_bytes()))
        .iter()
        .map(|finding| {
            let start = finding.place.as_ref().map(|place| place.span.start).unwrap_or_default();
            format!("{}:{} {} {}", start.line, start.column, finding.severity.word(), finding.code.name)
        })
        .collect()
}

fn config(text: &str) -> Vec<String> {
    linted(&format!("#cloud-config\n{text}"))
}

fn units(text: &str) -> Vec<String> {
    let found = effects(&decode("input", text.as_bytes())).units;
    found.iter().map(|unit| format!("{} {}", unit.name, unit.enabled)).collect()
}

#[test]
fn text_about_systemd_is_no_command() {
    for line in [
        "echo \"waiting for systemd start jobs\"",
        "logger \"systemd status follows\"",
        "# systemd restart is not needed",
        "true # systemd restart is not needed",
        "echo 'systemd enable'",
        "echo systemd restart",
        "apt-get install -y systemd start-stop-daemon",
        "cat <<EOF >/etc/motd\n  systemd restart\n  EOF\n  systemd start\nEOF",
        "printf '%s\n  systemd restart x\n' >/etc/motd",
        "case $1 in systemd) start ;; esac",
    ] {
        assert_eq!(linted(&format!("#!/bin/sh\n{line}\n")), [] as [&str; 0], "{line}");
        let block = format!("  {}\n", line.replace('\n', "\n  "));
        assert_eq!(config(&format!("runcmd:\n- |\n{block}- [ls]\n")), [] as [&str; 0], "{line}");
    }
    for item in ["[echo, systemd, restart]", "[logger, 'systemd restart']", "[sh, -c, 'echo systemd start']"]
    {
        assert_eq!(config(&format!("runcmd:\n- {item}\n- [ls]\n")), [] as [&str; 0], "{item}");
    }
    let unit = "write_files:\n- path: /etc/systemd/system/a.service\n  content: |\n    [Unit]\n    Description=after systemd start jobs\n    [Service]\n    ExecStart=/bin/echo systemd restart\n";
    assert_eq!(config(unit), [] as [&str; 0]);
}

#[test]
fn systemd_in_the_place_of_a_command_is_told() {
    for (line, place) in [
        ("systemd daemon-reload", "2:1"),
        ("a && systemd enable x", "2:6"),
        ("if true; then systemd restart x; fi", "2:15"),
        ("! sudo -n systemd restart x", "2:11"),
        ("LANG=C /usr/bin/env systemd stop x", "2:21"),
        ("sh -c 'systemd restart x'", "2:8"),
        ("cat <<EOF >/etc/motd\nhello\nEOF\nsystemd restart x", "5:1"),
        ("(systemd restart x)", "2:2"),
        ("x=$(systemd status y)", "2:5"),
    ] {
        let expected = [format!("{place} error unit/not-systemctl")];
        assert_eq!(linted(&format!("#!/bin/sh\n{line}\n")), expected, "{line}");
    }
    for (text, place) in [
        ("runcmd:\n- [systemd, daemon-reload]\n", "3:3"),
        ("runcmd:\n- [sh, -c, 'true; systemd restart x']\n", "3:3"),
        ("runcmd:\n- |\n  true\n  systemd restart x\n", "5:3"),
        ("runcmd:\n- echo ExecStartPre=systemd restart x >/etc/systemd/system/a.service.d/b.conf\n", "3:3"),
        (
            "write_files:\n- path: /etc/systemd/system/a.service\n  content: |\n    [Service]\n    ExecStart=-/bin/sh -c 'systemd restart x'\n",
            "6:5",
        ),
    ] {
        assert_eq!(config(text), [format!("{place} error unit/not-systemctl")], "{text}");
    }
}

/// PyYAML cuts each of these words where the ` #` stands.
#[test]
fn a_comment_that_cuts_a_word_of_a_command_is_told() {
    let cases: &[(&str, &[&str])] = &[
        (
            "- - sh\n  - -c\n  - echo TimeoutSec=infinity # note >> /etc/x.conf\n",
            &["5:30 error part/swallowed"],
        ),
        ("- [sh, -c, echo a # b >> /etc/x\n  ]\n", &["3:19 error part/swallowed"]),
        ("- - bash\n  - -ec\n  - echo 'a # b'\n", &["5:13 error part/swallowed"]),
        // What is said of a word, or of the whole command, is a remark.
        ("- - sh\n  - -c\n  - systemctl restart x  # after the config -> before kubelet\n", &[]),
        ("- - echo\n  - don't  # remark\n", &[]),
        ("- - useradd\n  - -c\n  - operator  # name > x\n", &[]),
        ("- - mkdir\n  - -p # its parents; always\n  - /x\n", &[]),
        ("- [sh, -c, ls] # list > nothing\n", &[]),
        ("- [sh, -c, # the shell; runs\n  ls]\n", &[]),
        ("- [sh, -c, ls, # the shell; runs\n  x]\n", &[]),
        ("- - sh\n  - -c\n  - \"echo # b\" # a > b\n", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(config(&format!("runcmd:\n{text}")), *expected, "{text}");
    }
    for remark in [
        "kubelet refuses swap; see docs",
        "mirror -> faster pulls",
        "see https://x/y?a=1&&b=2",
        "memory > 1 GiB",
    ] {
        let text = format!("runcmd:\n- swapoff -a  # {remark}\n");
        assert_eq!(config(&text), ["3:15 note part/swallowed"], "{remark}");
    }
    let path = "write_files:\n- path: /etc/conf.d # old/new\n  content: x\n";
    assert_eq!(config(path), ["3:21 note part/swallowed"]);
}

#[test]
fn words_of_an_array_are_no_command() {
    let script = "#!/bin/bash\nunits=(systemd start stop)\nfor unit in \"${units[@]}\"; do echo $unit; done\nsystemctl enable a\n";
    assert_eq!(units(script), ["a.service true"]);
    assert_eq!(linted(script), [] as [&str; 0]);
}

#[test]
fn only_commands_enable_units() {
    let script = "#!/bin/sh\n# systemctl enable foo\necho \"run systemctl enable bar later\"\ncat <<EOF\nsystemctl enable baz\nEOF\n";
    assert_eq!(units(script), [] as [&str; 0]);
    let script = "#!/bin/sh\nif true; then systemctl enable a; fi\nsystemctl enable --now b \\\n  c.timer >/dev/null 2>&1\nbash <<'EOF'\nsystemctl disable d\nEOF\nsu -c \"systemctl mask e\"\n";
    assert_eq!(
        units(script),
        ["a.service true", "b.service true", "c.timer true", "d.service false", "e.service false"]
    );
    let config = "#cloud-config\nruncmd:\n- [systemctl, enable, a]\n- [sh, -c, 'systemctl enable b && true']\n- [echo, systemctl enable c]\n- cloud-init-per once x systemctl enable d\n";
    assert_eq!(units(config), ["a.service true", "b.service true", "d.service true"]);
}
