//! Every lint with what it says and where, and the first seed's sample with all of its faults in one run.

use bringup_cloudinit::{DocumentPart, Origin, Part, decode, lint, lint_parts, lint_unit};
use bringup_diag::{Finding, Findings, Position, Severity};

/// `line:column severity code` of each finding.
fn shown(findings: &Findings) -> Vec<String> {
    let line = |finding: &Finding| {
        let place = finding.place.as_ref();
        let (file, start) = place.map(|place| (place.file.as_str(), place.span.start)).unwrap_or_default();
        let part = file.split_once('#').map(|(_, part)| format!("{part}:")).unwrap_or_default();
        format!("{part}{}:{} {} {}", start.line, start.column, finding.severity.word(), finding.code.name)
    };
    findings.iter().map(line).collect()
}

fn linted(text: &str) -> Vec<String> {
    shown(&lint(&decode("input", text.as_bytes())))
}

fn config(text: &str) -> Vec<String> {
    linted(&format!("#cloud-config\n{text}"))
}

/// The sample of the first seed. Its faults, as tried on cloud-init 22.4.2: the tabs; ` #` eats the redirection of
/// `TimeoutSec`; that setting is moot in a oneshot; `systemd daemon-reload` is no command and, being last, fails the
/// module; `>>` grows the drop-in at each boot; `/lib/systemd/system` is Debian's; the path of nodeup is kops' old one;
/// and bootcmd comes before the file that it names.
#[test]
fn the_first_seeds_sample_yields_all_of_its_faults_in_one_run() {
    let findings = lint(&decode("sample.yaml", include_bytes!("seed-sample.yaml")));
    assert_eq!(
        shown(&findings),
        [
            "7:1 error part/tab",
            "9:14 warning unit/vendor-path",
            "10:20 warning part/append-every-boot",
            "10:23 warning unit/vendor-path",
            "11:33 note part/before-files",
            "11:71 warning part/append-every-boot",
            "11:74 warning unit/vendor-path",
            "12:1 error part/tab",
            "12:33 note part/kops-path",
            "12:89 warning part/append-every-boot",
            "12:92 warning unit/vendor-path",
            "13:5 note unit/timeout-moot",
            "13:30 error part/swallowed",
            "14:5 error unit/not-systemctl",
        ]
    );
    let last = findings.iter().last().unwrap();
    assert_eq!(
        last.message,
        "`systemd daemon-reload` is no command: it fails, and as the last command fails all of `bootcmd`"
    );
    assert_eq!(last.hint.as_deref(), Some("write `systemctl daemon-reload`"));
    assert!(
        findings
            .iter()
            .filter(|finding| finding.severity != Severity::Note)
            .all(|finding| finding.hint.is_some())
    );
}

/// The same sample in a document: its lines are the document's.
#[test]
fn a_finding_in_a_documents_part_points_into_the_document() {
    let origin = Origin::block("cluster.yaml", Position { line: 40, column: 11 });
    let text = include_str!("seed-sample.yaml");
    let (parts, unpacking) =
        Part::of_document([document_part(0, "setup", "text/cloud-config", text, origin)]);
    assert!(unpacking.is_empty());
    let findings = lint_parts(&parts);
    assert_eq!(findings.len(), 14);
    let last = findings.iter().last().unwrap().place.clone().unwrap();
    assert_eq!((last.file.as_str(), last.span.start), ("cluster.yaml", Position { line: 53, column: 15 }));
}

#[test]
fn commands() {
    let cases: &[(&str, &[&str])] = &[
        ("runcmd:\n- echo a\n- [ls, '-l']\n", &[]),
        ("runcmd:\n- echo a # why\n", &["3:10 note part/swallowed"]),
        ("runcmd:\n- echo a # why | wc\n", &["3:10 error part/swallowed"]),
        ("runcmd:\n- echo 'a # b'\n", &["3:11 error part/swallowed"]),
        ("runcmd:\n- \"echo 'a # b'\"\n", &[]),
        ("runcmd:\n- echo a: b\n", &["3:3 error part/command-type"]),
        (
            "runcmd:\n- [chmod, 0755, /x]\n- [echo, on]\n",
            &["3:11 warning part/yaml-1.1", "4:10 warning part/yaml-1.1"],
        ),
        ("runcmd:\n- echo x >> /etc/y\n", &[]),
        ("bootcmd:\n- |\n  true\n  echo x >> /etc/y\n", &["5:10 warning part/append-every-boot"]),
        ("bootcmd:\n- [sh, -c, 'echo x >> /etc/y']\n", &["3:3 warning part/append-every-boot"]),
        ("bootcmd:\n- cloud-init-per once x sh -c 'echo x >> /etc/y'\n", &[]),
        (
            "bootcmd: [/opt/x.sh]\nwrite_files: [{path: /opt/x.sh, content: x}]\n",
            &["2:11 error part/before-files"],
        ),
        // A unit that is written now runs the script later.
        (
            "bootcmd:\n- printf '%s' 'ExecStartPre=/bin/sh /opt/x.sh' >/etc/y\nwrite_files: [{path: /opt/x.sh, content: x}]\n",
            &["3:37 note part/before-files"],
        ),
        ("bootcmd: echo\n", &["2:10 error part/command-type"]),
        ("runcmd: [1]\n", &["2:10 error part/command-type"]),
    ];
    for (text, expected) in cases {
        assert_eq!(config(text), *expected, "{text}");
    }
}

#[test]
fn files() {
    let cases: &[(&str, &[&str])] = &[
        ("write_files: [{path: /a, content: x, permissions: '0644'}]\n", &[]),
        ("write_files: [{path: /a, content: x, permissions: 755}]\n", &["2:51 error part/permissions"]),
        ("write_files: [{path: /a, content: x, permissions: 0755}]\n", &[]),
        ("write_files: [{path: /a, content: x, permissions: 'u+x'}]\n", &["2:51 error part/permissions"]),
        ("write_files: [{path: /a, content: x, owner: 'etcd:etcd'}]\n", &["2:45 warning part/owner"]),
        ("write_files: [{path: /a, content: x, owner: 'etcd:etcd', defer: true}]\n", &[]),
        (
            "write_files: [{path: /a, content: x, owner: 'etcd:etcd'}]\nusers: [{name: etcd}]\n",
            &["2:15 error part/write-files"],
        ),
        ("write_files: [{path: /a, content: x, owner: '0:0'}]\n", &["2:15 error part/write-files"]),
        ("write_files: [{path: /a, content: yes}]\n", &["2:15 error part/write-files"]),
        (
            "write_files: [{path: /data/a, content: x}]\nmounts: [[vdb, /data]]\n",
            &["2:22 warning part/under-mount"],
        ),
        ("write_files: [{path: /data/a, content: x, defer: true}]\nmounts: [[vdb, /data]]\n", &[]),
        ("write_files: [{path: /database, content: x}]\nmounts: [[vdb, /data]]\n", &[]),
        ("write_files: [{path: /tmp/a, content: x}]\n", &["2:22 note part/temporary"]),
    ];
    for (text, expected) in cases {
        assert_eq!(config(text), *expected, "{text}");
    }
}

#[test]
fn units() {
    let unit = |text: &str| {
        let indented: String = text.lines().flat_map(|line| ["    ", line, "\n"]).collect();
        config(&format!("write_files:\n- path: /etc/systemd/system/x.service\n  content: |\n{indented}"))
    };
    let cases: &[(&str, &[&str])] = &[
        ("[Unit]\nRequires=a.service\nAfter=a.service\n", &[]),
        (
            "[Unit]\nRequires=a.service b.service\nAfter=b.service\n",
            &["6:5 warning unit/requires-without-after"],
        ),
        ("[Unit]\nWants=network-online.target b.service\n", &["6:5 warning unit/requires-without-after"]),
        ("[Service]\nType=oneshot\nTimeoutStartSec=infinity\n", &["7:5 note unit/timeout-moot"]),
        ("[Service]\nType=simple\nTimeoutStartSec=infinity\n", &[]),
        ("[Service]\nExecStart=/bin/echo x >> /etc/y\n", &["6:5 warning unit/no-shell"]),
        ("[Service]\nExecStart=/bin/sh -c 'echo x >> /etc/y'\n", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(unit(text), *expected, "{text}");
    }
    let vendor = "write_files:\n- path: /lib/systemd/system/x.service\n  content: ''\n";
    assert_eq!(config(vendor), ["3:9 warning unit/vendor-path"]);
    let drop_in = "write_files:\n- path: /etc/systemd/system/x.service.d/y.conf\n  content: \"[Unit]\\nRequires=a.service\\n\"\n";
    assert_eq!(config(drop_in), ["4:12 note unit/requires-without-after"]);
}

#[test]
fn keys_and_yaml() {
    let cases: &[(&str, &[&str])] = &[
        ("run_cmd: [a]\n", &["2:1 warning part/unknown-key"]),
        ("x-shared: &a {b: c}\n", &[]),
        ("runcmd: [a]\nruncmd: [b]\n", &["3:1 warning part/duplicate-key"]),
        ("runcmd: [a\n", &["3:1 error part/yaml"]),
        ("cloud_final_modules: [runcmd]\n", &["2:1 note part/module-list"]),
        ("- a\n", &["1:1 error part/unmergeable"]),
        ("", &["1:1 error part/unmergeable"]),
        (
            "a:\tb\nc: \u{1}\n",
            &[
                "2:1 warning part/unknown-key",
                "2:3 error part/tab",
                "3:1 warning part/unknown-key",
                "3:4 error part/unprintable",
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(config(text), *expected, "{text}");
    }
    let findings = lint(&decode("input", b"#cloud-config\nrun_cmd: [a]\n"));
    assert_eq!(findings.iter().next().unwrap().hint.as_deref(), Some("did you mean `runcmd`?"));
}

#[test]
fn whole_inputs() {
    let cases: &[(&str, &[&str])] = &[
        ("#!/bin/sh\necho\n", &[]),
        ("\n#!/bin/sh\necho\n", &["1:1 error part/missing-shebang"]),
        ("#cloud-boothook\n#!/bin/sh\nfalse\n", &[]),
        ("#cloud-boothook\nfalse\n", &["1:1 error part/missing-shebang"]),
        ("#cloud-boothook\n#!/bin/sh\necho x >> /etc/y\n", &["3:8 warning part/append-every-boot"]),
        ("#!/bin/sh\necho x >> /etc/y\nsystemd restart z\n", &["3:1 error unit/not-systemctl"]),
        ("#!/bin/sh\necho\r\n", &["2:1 warning part/line-ends"]),
        ("#!/bin/sh\r\necho\r\n", &[]),
        ("#include\nhttps://example.com/x\n", &["1:1 note part/include"]),
        ("# cloud-config\nruncmd: [a]\n", &["1:1 error part/unhandled-type"]),
        ("\u{feff}#cloud-config\n{}\n", &["1:1 error part/byte-order-mark"]),
        ("hello\n", &["1:1 error part/unhandled-type"]),
        ("#cloud-config-archive\na: b\n", &["2:1 error part/archive"]),
        (
            "## template: jinja\n#cloud-config\nruncmd: ['echo {{ v1.region }}']\n",
            &["1:1 note part/node-fact"],
        ),
        (
            "## template: jinja\n#cloud-config\nruncmd: [{{ v1.region }}, 'echo {% if %}']\n",
            &["1:1 error part/jinja"],
        ),
        (
            "## template: jinja\n#cloud-config\n{% if v1.x %}\nbootcmd:\n- echo {{ v1.x }} >> /etc/y\n{% endif %}\n",
            &["1:1 note part/node-fact", "5:19 warning part/append-every-boot"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(linted(text), *expected, "{text}");
    }
}

fn message(parts: &[(&str, &str, &str)]) -> String {
    let part = |(name, content_type, body): &(&str, &str, &str)| {
        let disposition = format!("Content-Disposition: attachment; filename=\"{name}\"");
        format!("--B\nContent-Type: {content_type}\n{disposition}\n\n{body}\n")
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n{}--B--\n", parts.concat())
}

#[test]
fn several_parts() {
    const SCRIPT: &str = "#!/bin/sh";
    type Case = (&'static [(&'static str, &'static str, &'static str)], &'static [&'static str]);
    let cases: &[Case] = &[
        (&[("a", "text/x-shellscript", SCRIPT), ("b", "text/x-shellscript", SCRIPT)], &[]),
        (
            &[("9", "text/x-shellscript", SCRIPT), ("10", "text/x-shellscript", SCRIPT)],
            &["10:1:1 note part/script-order"],
        ),
        (
            &[("a", "text/x-shellscript", SCRIPT), ("/a", "text/x-shellscript", SCRIPT)],
            &["/a:1:1 note part/script-order"],
        ),
        (
            &[("a", "text/x-shellscript", SCRIPT), ("a", "text/x-shellscript", SCRIPT)],
            &["a:1:1 error part/duplicate-name"],
        ),
        (&[("a", "text/x-shellscript", SCRIPT), ("a", "text/x-shellscript-per-boot", SCRIPT)], &[]),
        (
            &[("runcmd", "text/x-shellscript", SCRIPT), ("c", "text/cloud-config", "runcmd: [a]")],
            &["runcmd:1:1 error part/reserved-name"],
        ),
        (&[("…", "text/x-shellscript", SCRIPT)], &["…:1:1 error part/name"]),
        (&[("a", "text/x-shellscript", "#!/bin/sh\necho …")], &["a:2:6 error part/not-ascii"]),
        (
            &[("a", "text/cloud-config", "runcmd: [a]"), ("b", "text/cloud-config", "runcmd: [b]")],
            &["b:1:9 warning part/replaced-key"],
        ),
        (
            &[
                ("a", "text/cloud-config", "runcmd: [a]"),
                ("b", "text/cloud-config", "merge_how: list(append)+dict(recurse_list)\nruncmd: [b]"),
            ],
            &[],
        ),
        (
            &[
                ("a", "text/cloud-config", "merge_how: list(append)+dict(recurse_list)\nruncmd: [a]"),
                ("b", "text/cloud-config", "runcmd: [b]"),
            ],
            &["a:1:1 warning part/merge-how", "b:1:9 warning part/replaced-key"],
        ),
        (
            &[
                ("a", "text/cloud-config", "mounts: [[vdb, /data]]"),
                ("b", "text/cloud-config", "write_files: [{path: /data/x, content: y}]"),
            ],
            &["b:1:22 warning part/under-mount"],
        ),
        (&[("a", "text/upstart-job", "x")], &["a:1:1 error part/unhandled-type"]),
        (&[("a", "text/cloud-confg", "x")], &["a:1:1 error part/unhandled-type"]),
        (&[("a", "application/node.eks.aws", "x")], &[]),
        (
            &[("h", "text/part-handler", "#part-handler"), ("a", "text/x-own", "x")],
            &["a:1:1 note part/unhandled-type", "h:1:1 note part/part-handler"],
        ),
        (&[("a", "text/x-shellscript", "#cloud-config\n{}")], &["a:1:1 note part/other-type"]),
        (
            &[("a", "text/cloud-config", "## template: jinja\n#cloud-config\n{}")],
            &["a:1:1 warning part/jinja-not-rendered"],
        ),
    ];
    for (parts, expected) in cases {
        assert_eq!(linted(&message(parts)), *expected, "{parts:?}");
    }
}

/// As a carrier numbers it behind our own part.
fn document_part<'text>(
    number: usize,
    name: &'text str,
    content_type: &'text str,
    text: &'text str,
    origin: Origin,
) -> DocumentPart<'text> {
    let carried_as = format!("{:03}-{name}", (number + 1) * 10);
    DocumentPart { name, carried_as, content_type, text, origin }
}

/// What an archive holds keeps its names, and runs by them among the numbered ones.
#[test]
fn names_in_an_archive_of_a_document() {
    let of = |archive: &str| {
        let archive = format!("#cloud-config-archive\n{archive}");
        let part = |number: usize, name, kind, text| {
            document_part(number, name, kind, text, Origin::whole(format!("d#{number}")))
        };
        let parts = [
            part(0, "more", "text/cloud-config-archive", archive.as_str()),
            part(1, "late.sh", "text/x-shellscript", "#!/bin/sh\n"),
        ];
        shown(&lint_parts(&Part::of_document(parts).0))
    };
    // Without a name each gets one by its number in the message: nobody wrote `part-002`.
    assert_eq!(
        of("- \"#!/bin/sh\\n\"\n- |\n  #cloud-config\n  timezone: UTC\n"),
        ["1:1:1 note part/script-order"]
    );
    let named =
        |name: &str| format!("- {{type: text/x-shellscript, filename: {name}, content: \"#!/bin/sh\\n\"}}\n");
    assert_eq!(of(&named("020-late.sh")), ["1:1:1 error part/duplicate-name"]);
    assert_eq!(of(&named("015-early.sh")), [] as [&str; 0]);
}

#[test]
fn names_of_a_documents_parts() {
    let of = |names: &[&str]| {
        let parts = names.iter().enumerate().map(|(number, name)| {
            let origin = Origin::whole(format!("d#{number}"));
            document_part(number, name, "text/x-shellscript", "#!/bin/sh\n", origin)
        });
        shown(&lint_parts(&Part::of_document(parts).0))
    };
    assert_eq!(of(&["a", "b", "0"]), [] as [&str; 0]);
    assert_eq!(of(&["nodeup.sh"]), ["0:1:1 warning part/reserved-name"]);
    assert_eq!(of(&["part-001"]), ["0:1:1 warning part/reserved-name"]);
    assert_eq!(of(&["runcmd"]), ["0:1:1 warning part/reserved-name"]);
    // The carrier numbers them: both are written, and both run.
    assert_eq!(of(&["a", "a"]), ["1:1:1 note part/duplicate-name"]);
    assert_eq!(of(&["%%%"]), [] as [&str; 0]);
}

#[test]
fn a_part_that_its_name_does_not_tell_is_told_by_its_number() {
    const SCRIPT: &str = "#!/bin/sh";
    let told = |parts: &[(&str, &str, &str)]| {
        let findings = lint(&decode("input", message(parts).as_bytes()));
        findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&[("a", "text/x-shellscript", SCRIPT), ("%%%", "text/x-shellscript", SCRIPT)]),
        ["nothing of `%%%`, the name of part 2, can be a file name: the part is lost"]
    );
    assert_eq!(
        told(&[("x", "text/cloud-config", "runcmd: [a]"), ("x", "text/cloud-config", "runcmd: [b]")]),
        [
            "part 1 and part 2, both named `x`, set `runcmd`: cloud-init keeps that of part 2, all of part 1's is lost"
        ]
    );
}

#[test]
fn a_comment_that_ends_the_content_of_a_file_is_told() {
    let cases: &[(&str, &[&str])] = &[
        ("write_files:\n- path: /a\n  content: key=value # why\n", &["4:22 note part/swallowed"]),
        ("write_files:\n- path: /a\n  content: echo 'a # b'\n", &["4:20 error part/swallowed"]),
        (
            "write_files:\n- path: /a\n  content: #!/bin/sh\n",
            &["3:3 error part/write-files", "4:12 error part/swallowed"],
        ),
        ("write_files:\n- path: /a\n  content: # the key\n    key=value\n", &[]),
        ("write_files:\n- path: /a\n  content: | # the key\n    a # b\n", &[]),
        ("write_files:\n- path: /a\n  content: 'a # b' # why\n", &[]),
        ("write_files:\n- path: /a # why\n  content: a#b\n  permissions: '0644' # mode\n", &[]),
        ("packages:\n- nginx # web server\nhostname: foo # mine\n", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(config(text), *expected, "{text}");
    }
}

#[test]
fn secrets_stay_out_of_messages() {
    let findings = lint(&decode("input", b"#cloud-config\nruncmd:\n- login token=hunter2 # x > y\n"));
    assert_eq!(findings.len(), 1);
    assert!(findings.iter().all(|finding| !finding.message.contains("hunter2")), "{findings:?}");
}

#[test]
fn texts_of_units() {
    let cases: &[(&str, &[&str])] = &[
        ("[Unit]\nAfter=b.service\nRequires=b.service\n[Service]\nExecStart=/x\n", &[]),
        ("[Service\nExecStart=/x\n", &["1:1 error unit/syntax"]),
        ("[Unit]\nDescription=a\n[Service] # own\nExecStart=/x\n", &["3:1 error unit/syntax"]),
        ("[Service]\nExecStart=/x\nthen do y\n", &["3:1 error unit/syntax"]),
        ("Description=x\n[Service]\nExecStart=/x\n", &["1:1 warning unit/syntax"]),
        ("[Service]\nExecSart=/x\n", &["2:1 warning unit/unknown-setting"]),
        ("[Service]\nAfter=x.service\n", &["2:1 warning unit/unknown-setting"]),
        ("[Service]\nHowever=x\nX-Own=y\n[X-Own]\nAny=thing\n", &["2:1 note unit/unknown-setting"]),
        // A line goes on where a backslash ends it, past remarks.
        (
            "[Unit]\nRequires=a.service \\\n  b.service\nAfter=a.service \\\n# not this\n  b.service\n",
            &["6:1 warning unit/syntax"],
        ),
        (
            "[Unit]\nRequires=a.service \\\n  b.service\nAfter=a.service\n",
            &["2:1 warning unit/requires-without-after"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(
            shown(&lint_unit("a.service", false, text, &Origin::whole("a.service"))),
            *expected,
            "{text}"
        );
    }
}

/// Packed by Python's `gzip` and `base64`; the same unit each time, with two faults.
#[test]
fn a_unit_is_looked_into_however_it_is_encoded() {
    let base64 = "W1VuaXRdClJlcXVpcmVzPWNvbnRhaW5lcmQuc2VydmljZQpbU2VydmljZV0KRXhlY1N0YXJ0UHJlPXN5c3RlbWQgZGFlbW9uLXJlbG9hZAo=";
    let packed = "H4sIAAAAAAACA4sOzcssieUKSi0szSxKLbZNzs8rSczMSy1K0StOLSrLTE7lig6GMGK5XCtSk4NLEotKAopSbYsri0tSc1MUUhJTc/PzdItSc/ITU7gAoWc+TFAAAAA=";
    let plain = "|\n      [Unit]\n      Requires=containerd.service\n      [Service]\n      ExecStartPre=systemd daemon-reload\n";
    let path = "write_files:\n  - path: /etc/systemd/system/a.service\n";
    for (content, lines) in [
        (format!("    content: {plain}"), ["6:7", "8:7"]),
        (format!("    content: {plain}    encoding: text/plain\n"), ["6:7", "8:7"]),
        (format!("    encoding: b64\n    content: {base64}\n"), ["5:14", "5:14"]),
        (format!("    content: !!binary {base64}\n"), ["4:14", "4:14"]),
        (format!("    encoding: gz+b64\n    content: {packed}\n"), ["5:14", "5:14"]),
    ] {
        let codes = ["warning unit/requires-without-after", "error unit/not-systemctl"];
        let expected: Vec<String> =
            lines.iter().zip(codes).map(|(line, code)| format!("{line} {code}")).collect();
        let mut found = config(&format!("{path}{content}"));
        found.sort_by_key(|line| line.ends_with("not-systemctl"));
        assert_eq!(found, expected, "{content}");
    }
    let broken = config(&format!("{path}    encoding: gz+b64\n    content: {base64}\n"));
    assert!(!broken.iter().any(|line| line.contains("unit/")), "{broken:?}");
}

#[test]
fn what_a_later_part_does_not_replace_is_lost() {
    let with = |text: &str| {
        message(&[
            ("a", "text/cloud-config", "hostname: a\napt: {proxy: x, primary: y}\nruncmd: [a]"),
            (
                "b",
                "text/cloud-config",
                &format!("merge_how: list(append)+dict(no_replace,recurse_list)+str()\n{text}"),
            ),
        ])
    };
    assert_eq!(linted(&with("hostname: b")), ["b:2:11 warning part/replaced-key"]);
    assert_eq!(linted(&with("apt: {proxy: z}")), ["b:2:6 warning part/replaced-key"]);
    for kept in ["hostname: a", "apt: {proxy: x}", "apt: {more: x}", "runcmd: [b]"] {
        assert_eq!(linted(&with(kept)), [] as [&str; 0], "{kept}");
    }
}

#[test]
fn words_that_no_shell_sees_and_bits_that_do_not_stay() {
    let cases: &[(&str, &[&str])] = &[
        ("bootcmd:\n- [logger, 'x >> /etc/y']\n", &[]),
        ("bootcmd:\n- [sh, -c, 'echo x >> /etc/y']\n", &["3:3 warning part/append-every-boot"]),
        ("bootcmd:\n- echo 'x >> /etc/y'\n", &[]),
        ("write_files:\n- {path: /opt/x, permissions: '4755'}\n", &["3:31 warning part/permissions"]),
        ("write_files:\n- {path: /opt/x, permissions: '2744'}\n", &[]),
        ("write_files:\n- {path: /opt/x, permissions: '4755', owner: ~}\n", &[]),
        (
            "cloud_config_modules: []\nruncmd: [a]\n",
            &["2:1 note part/module-list", "3:9 warning part/module-list"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(config(text), *expected, "{text}");
    }
}

#[test]
fn lists_of_modules_say_what_runs_and_when() {
    let run = |text: &str| {
        let effects =
            bringup_cloudinit::effects(&decode("input", format!("#cloud-config\n{text}").as_bytes()));
        let steps = effects.steps.iter().map(|step| format!("{:?} {}", step.stage, step.run));
        let acts = effects.modules.iter().map(|act| format!("{:?} {}", act.stage, act.does));
        steps.chain(acts).collect::<Vec<_>>()
    };
    let usual = "bootcmd: [a]\nruncmd: [b]\ntimezone: UTC\nhostname: node\n";
    assert_eq!(
        run(usual),
        ["Init a", "Final b", "Init sets the host name: node", "Config sets the time zone: UTC"]
    );
    // The form that AWS' documentation gives to run scripts at every boot.
    assert_eq!(
        run(&format!("cloud_final_modules:\n- [scripts-user, always]\n{usual}")),
        ["Init a", "EveryBoot b", "Init sets the host name: node", "Config sets the time zone: UTC"]
    );
    assert_eq!(run(&format!("cloud_init_modules: [bootcmd]\ncloud_config_modules: []\n{usual}")), ["Init a"]);
    assert_eq!(
        run(&format!(
            "cloud_config_modules: [{{name: cc_runcmd}}, timezone, set-hostname]\ncloud_init_modules: []\n{usual}"
        )),
        ["Final b", "Config sets the time zone: UTC", "Config sets the host name: node"]
    );
}
