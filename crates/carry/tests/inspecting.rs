//! Inputs of all kinds, ours and other people's, and what they would do.

mod sample;

use std::sync::LazyLock;

use bringup_carry::{Inspection, base64_text, gzip, inspect, read_plan};
use bringup_plan::Action;
use bringup_spec::{Carrier, Phase};
use proptest::prelude::*;
use serde_json::{Value, json};

fn paths(inspection: &Inspection) -> Vec<&str> {
    inspection.files.iter().map(|file| file.path.as_str()).collect()
}

fn layers(inspection: &Inspection) -> Vec<&str> {
    inspection.layers.iter().map(|layer| layer.name()).collect()
}

fn codes(inspection: &Inspection) -> Vec<&str> {
    inspection.findings.iter().map(|finding| finding.code.name).collect()
}

#[test]
fn our_first_stage_shows_the_files_that_it_places() {
    let document = sample::document("aws", "ubuntu", "");
    let (mut plan, parts) = (sample::plan(&document), sample::parts(&document));
    // One that the script itself enables.
    plan.units[1].enabled = Some(true);
    let load = sample::load(&document, &plan, &parts);
    let expected = [
        "/etc/bringup/plan.json",
        "/etc/systemd/system/bringup-gate.target",
        "/etc/systemd/system/bringup.service",
        "/etc/systemd/system/kubelet.service.d/10-bringup.conf",
    ];
    for (carrier, stage, layer) in
        [(Carrier::CloudInit, "init", "cloud-config"), (Carrier::Multipart, "boothook", "mime")]
    {
        let rendered = load.render(carrier);
        let packed = base64_text(&gzip(&rendered.bytes));
        let inspection = inspect("user-data", packed.as_bytes());
        assert_eq!(paths(&inspection), expected, "{carrier}");
        assert_eq!(layers(&inspection)[..3], ["base64", "gzip", layer]);
        let stages: Vec<&str> = inspection.steps.iter().map(|step| step.stage).collect();
        assert_eq!(stages, [stage]);
        assert_eq!(inspection.plan.as_ref(), Some(&plan));
        let units = json!([{"name": "bringup-gate.target", "enabled": true}, {"name": "bringup.service", "enabled": false}]);
        assert_eq!(inspection.to_json()["units"], units);
        let record = &inspection.to_json()["files"][0];
        let digest = plan.digest();
        let size = plan.to_json().len();
        let shown = json!({"path": expected[0], "mode": "0600", "owner": "root:root", "size": size, "sha256": digest});
        assert_eq!(*record, shown);
    }
}

#[test]
fn modules_of_cloud_init_are_told_with_their_place_among_the_commands() {
    let config = "#cloud-config\nusers: [default]\npackages: [jq, [nginx, \"1.2\"]]\nbootcmd: [a]\nruncmd: [b]\nrandom_seed: {data: x}\npower_state: {mode: reboot}\n";
    let value = inspect("a.yaml", config.as_bytes()).to_json();
    // The order of the modules in Debian's /etc/cloud/cloud.cfg.
    let expected = json!([
        {"stage": "init", "module": "random_seed", "does": "seeds the random number generator", "afterSteps": 0},
        {"stage": "init", "module": "users", "does": "makes users", "afterSteps": 1},
        {"stage": "final", "module": "packages", "does": "installs packages: jq nginx=1.2", "afterSteps": 1},
        {"stage": "final", "module": "power_state", "does": "runs `shutdown -r now` last", "afterSteps": 2},
    ]);
    assert_eq!(value["modules"], expected);
    assert_eq!(value["steps"], json!([{"stage": "init", "run": "a"}, {"stage": "final", "run": "b"}]));
}

#[test]
fn what_starts_like_json_and_is_none_is_told_with_the_place() {
    for (text, message, place) in [
        ("{\"ignition\":".repeat(100_000), "nested deeper than 100 levels", (1, 3061)),
        ("{\n\"ignition\": {\"version\": \"3.3.0\"},\n}\n".to_owned(), "trailing comma", (3, 1)),
        ("{\"ignition\": {".to_owned(), "EOF while parsing an object", (1, 14)),
        ("Resources:\n  A:\n   Type: AWS::EC2::Instance\n  - x\n".to_owned(), "block mapping", (4, 5)),
    ] {
        for bytes in [text.clone().into_bytes(), base64_text(&gzip(text.as_bytes())).into_bytes()] {
            let inspection = inspect("x.json", &bytes);
            assert_eq!(codes(&inspection), ["inspect/syntax"], "{text:.40}");
            let finding = inspection.findings.iter().next().expect("one");
            assert!(finding.message.contains(message), "{}", finding.message);
            let at = finding.place.as_ref().map(|place| (place.span.start.line, place.span.start.column));
            assert_eq!(at, Some(place), "{text:.40}");
        }
    }
}

/// The template's own boothook names the stack; `${AWS::StackName}` stands there until it is deployed.
#[test]
fn of_two_writers_of_a_path_the_last_is_shown() {
    let document = sample::document("aws", "ubuntu", "");
    let (plan, parts) = (sample::plan(&document), sample::parts(&document));
    let mut text =
        String::from_utf8(sample::load(&document, &plan, &parts).render(Carrier::CloudInit).bytes).unwrap();
    text.push_str("write_files:\n- {path: /etc/bringup/plan.json, content: x}\n");
    let inspection = inspect("user-data", text.as_bytes());
    let sizes: Vec<_> = inspection
        .files
        .iter()
        .filter(|file| file.path == "/etc/bringup/plan.json")
        .map(|file| file.size)
        .collect();
    // write_files comes after bootcmd.
    assert_eq!(sizes, [Some(1)]);
}

#[test]
fn the_file_that_names_the_stack_is_among_the_files_of_a_template() {
    let signals = "      instanceTypes: [m5.large]\n      scaling: {max: 3}\n      signals:\n        - kind: cloudformation\n";
    for os in ["ubuntu", "flatcar"] {
        let document = sample::document("aws", os, signals);
        let (mut plan, parts) = (sample::plan(&document), sample::parts(&document));
        plan.units[1].enabled = Some(true);
        let signal = Action::Signal {
            kind: bringup_spec::SignalKind::CloudFormation,
            target: std::collections::BTreeMap::new(),
            token: None,
        };
        plan.steps.push(sample::step("signal", Phase::Report, signal));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudFormation);
        let inspection = inspect("template.yaml", &rendered.bytes);
        let file = inspection.files.iter().find(|file| file.path == "/etc/bringup/stack.json").expect(os);
        let content = "{\"resource\":\"NodeGroup\",\"stack\":\"${AWS::StackName}\"}\n";
        assert_eq!(file.content.as_deref(), Some(content.as_bytes()), "{os}");
        assert_eq!(
            (file.mode.as_str(), file.owner.as_str(), file.size),
            ("0644", "root:root", Some(content.len()))
        );
        assert!(inspection.files.is_sorted_by_key(|file| &file.path));
        let mut names: Vec<&str> = inspection.units.iter().map(|unit| unit.name.as_str()).collect();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{os}: {names:?}");
        assert!(names.contains(&"bringup-gate.target"));
    }
}

#[test]
fn templates_with_several_machines_have_a_part_for_each() {
    let template = "
Resources:
  First:
    Type: AWS::EC2::Instance
    Properties:
      UserData: !Base64
        Fn::Sub: |
          #!/bin/bash
          echo ${AWS::Region}
  Second:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        UserData: IyEvYmluL3NoCmVjaG8gc2Vjb25kCg==
";
    let inspection = inspect("template.yaml", template.as_bytes());
    let answer = inspection.to_json();
    let names: Vec<&str> =
        answer["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["First", "Second"]);
    assert_eq!(answer["parts"][0]["layers"], json!(["cloudformation", "shellscript"]));
    assert_eq!(answer["parts"][1]["steps"][0]["stage"], "final");
    let script = inspection.parts[1].steps[0].script.as_deref();
    assert_eq!(script, Some("#!/bin/sh\necho second\n"));
}

/// As `aws cloudformation get-template --query …UserData` prints it.
#[test]
fn a_bare_json_string_holds_packed_user_data() {
    let config = "#cloud-config\nwrite_files:\n- {path: /etc/eksctl/kubelet.env, permissions: \"0644\", content: \"A=b\"}\nruncmd:\n- - /var/lib/cloud/scripts/eksctl/bootstrap.al2.sh\n";
    let printed = format!("\"{}\"\n", base64_text(&gzip(config.as_bytes())).trim());
    let inspection = inspect("answer", printed.as_bytes());
    assert_eq!(layers(&inspection), ["aws-json", "base64", "gzip", "cloud-config"]);
    assert_eq!(paths(&inspection), ["/etc/eksctl/kubelet.env"]);
    assert_eq!(
        inspection.files[0].sha256.as_deref(),
        Some("64409e69f441fef8e96a18abde9f045bb9f09c6336447271967f9199f3796fef")
    );
    assert!(inspection.decoded);
}

/// Merging, packing and owners are as the real Ignition treats them in the configs of the tools suite.
#[test]
fn ignition_configs_show_their_tree_and_their_faults() {
    let config = json!({
        "ignition": {"version": "3.3.0", "config": {"merge": [
            {"source": "data:,%7B%22ignition%22:%7B%22version%22:%223.0.0%22%7D,%22storage%22:%7B%22files%22:%5B%7B%22path%22:%22/etc/a%22,%22mode%22:448%7D%5D%7D%7D"},
            {"source": "https://example.com/more.ign"},
        ]}},
        "storage": {
            "files": [
                {"path": "/etc/a", "mode": 420, "contents": {"source": "data:,one%0A"}},
                {"path": "/etc/packed", "contents": {"compression": "gzip", "source": "data:;base64,H4sIAAAAAAAAA8tIzcnJ5wIAIDA6NgYAAAA=", "verification": {"hash": "sha256-5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"}}},
                {"path": "/etc/wrong", "contents": {"source": "data:,x", "verification": {"hash": format!("sha256-{}", "0".repeat(64))}}},
                {"path": "/etc/remote", "contents": {"source": "https://example.com/f", "verification": {"hash": format!("sha256-{}", "1".repeat(64))}}},
                {"path": "/run/gone", "contents": {"source": "data:,x"}},
                {"path": "/etc/owned", "user": {"id": 500}, "append": [{"source": "data:,y"}]},
                {"path": "/etc/a/beneath"},
            ],
            "links": [{"path": "/etc/link", "target": "/opt"}],
        },
        "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\nExecStart=/bin/true\n"}]},
    });
    let inspection = inspect("config.ign", config.to_string().as_bytes());
    assert_eq!(layers(&inspection), ["ignition"]);
    let file = |path: &str| inspection.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file("/etc/a").mode, "0700");
    assert_eq!(file("/etc/a").content.as_deref(), Some(&b"one\n"[..]));
    assert_eq!(file("/etc/packed").content.as_deref(), Some(&b"hello\n"[..]));
    assert_eq!((file("/etc/remote").size, file("/etc/remote").sha256.clone()), (None, Some("1".repeat(64))));
    assert_eq!(file("/etc/owned").owner, "500:root");
    assert_eq!(file("/etc/systemd/system/a.service").mode, "0644");
    let mut found = codes(&inspection);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "ignition/append",
            "ignition/beneath",
            "ignition/digest",
            "ignition/no-install",
            "ignition/volatile-path"
        ]
    );
    let steps: Vec<(&str, &str)> =
        inspection.steps.iter().map(|step| (step.stage, step.run.as_str())).collect();
    assert_eq!(steps, [("ignition", "merge https://example.com/more.ign")]);
}

#[test]
fn plans_bundles_settings_and_node_configs_are_known_for_what_they_are() {
    let document = sample::document("aws", "ubuntu", "");
    let (plan, parts) = (sample::plan(&document), sample::parts(&document));
    let bare = inspect("plan.json", plan.to_json().as_bytes());
    assert_eq!(bare.plan.as_ref(), Some(&plan));
    assert!(paths(&bare).contains(&"/etc/example/zone"));
    assert_eq!(bare.files.iter().find(|file| file.path == "/etc/example/zone").unwrap().size, None);
    let bundle = sample::load(&document, &plan, &parts).render(Carrier::Bundle);
    let bundle = inspect("bundle.tar", &bundle.bytes);
    assert_eq!(bundle.plan.as_ref(), Some(&plan));
    let agent = bundle.units.iter().find(|unit| unit.name == "bringup.service").unwrap();
    assert_eq!(agent.enabled, Some(true));
    let settings = inspect("settings", b"# for Bottlerocket\n[settings.kubernetes]\ncluster-name = \"x\"\n");
    assert_eq!(layers(&settings), ["toml"]);
    let node = inspect("node", b"---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n");
    assert!(node.decoded && node.findings.is_empty());
    let newer = plan.to_json().replace("\"format\":1", "\"format\":99");
    assert_eq!(codes(&inspect("plan.json", newer.as_bytes())), ["inspect/plan-format"]);
}

#[test]
fn bombs_are_refused_with_a_word() {
    let bomb = gzip(&vec![b'a'; 17 << 20]);
    assert_eq!(codes(&inspect("bomb", &bomb)), ["part/too-large"]);
    let mut nest = b"#!/bin/sh\n".to_vec();
    for _ in 0..9 {
        nest = gzip(&nest);
    }
    assert!(codes(&inspect("nest", &nest)).contains(&"part/too-deep"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(inspect("deep", deep.as_bytes()).files.len(), 0);
    // Many texts that each expand to much: an alias bomb in every string.
    let aliases = "a: &a [x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\\n";
    let texts = format!("[{}]", vec![format!("\"{aliases}\""); 2000].join(","));
    assert_eq!(read_plan(texts.as_bytes()), None);
    let mut config = r#"{"ignition":{"version":"3.3.0"}}"#.to_owned();
    for _ in 0..12 {
        config = json!({"ignition": {"version": "3.3.0", "config": {"merge": [
            {"source": format!("data:;base64,{}", base64_text(config.as_bytes()).trim())}]}}})
        .to_string();
    }
    assert_eq!(codes(&inspect("nest.ign", config.as_bytes())), ["ignition/too-deep"]);
}

#[test]
fn an_answer_says_what_the_contract_says_and_nothing_else() {
    let answer = inspect("x", b"#!/bin/sh\necho x\n").to_json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["files", "findings", "layers", "steps", "units"]);
    assert_eq!(answer["layers"], json!(["shellscript"]));
    assert_eq!(
        answer["steps"],
        json!([{"stage": "final", "run": "/var/lib/cloud/instance/scripts/part-001"}])
    );
    assert_eq!(answer["files"], Value::Array(Vec::new()));
}

/// Heads that lead into each of the readers.
const HEADS: [&str; 12] = [
    "",
    "#cloud-config\n",
    "#!/bin/sh\n# bringup: first stage 1\n",
    "# bringup: first stage 1\nplace 0644 /x <<'E'\n",
    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\n\n",
    "{\"ignition\":{\"version\":\"3.3.0\"},\"storage\":{\"files\":[{\"path\":",
    "{\"ignition\":{\"version\":\"3.3.0\"},\"storage\":{\"files\":[{\"path\":\"/x\",\"contents\":{\"source\":\"data:",
    "Resources:\n  A:\n    Type: AWS::EC2::Instance\n    Properties:\n      UserData: !Sub ",
    "\"",
    "{\"format\":1,\"steps\":[",
    "#cloud-config-archive\n- ",
    "\u{1f}\u{8b}\u{8}",
];

static CARRIERS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let document = sample::document("aws", "ubuntu", "");
    let (plan, parts) = (sample::plan(&document), sample::parts(&document));
    let load = sample::load(&document, &plan, &parts);
    [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition, Carrier::Bundle, Carrier::CloudFormation]
        .map(|carrier| load.render(carrier).bytes)
        .to_vec()
});

proptest! {
    #[test]
    fn arbitrary_bytes_are_survived(head in 0..HEADS.len(), tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = HEADS[head].as_bytes().to_vec();
        bytes.extend(tail);
        let _ = inspect("input", &bytes).to_json();
        let _ = read_plan(&bytes);
    }

    #[test]
    fn arbitrary_text_is_survived(head in 0..HEADS.len(), tail in "[ -~\n\t]{0,300}") {
        let text = format!("{}{tail}", HEADS[head]);
        let _ = inspect("input", text.as_bytes()).to_json();
        let _ = read_plan(text.as_bytes());
    }

    #[test]
    fn damaged_carriers_are_survived(which in 0..5_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = CARRIERS[which].clone();
        let position = at.index(bytes.len());
        bytes[position] = byte;
        let _ = inspect("input", &bytes).to_json();
        bytes.truncate(cut.index(bytes.len()));
        let _ = inspect("input", &bytes).to_json();
    }
}

/// The commonest template of EKS: the message in it starts within the bytes in which cloud-init looks for one.
#[test]
fn a_template_that_holds_a_message_is_a_template() {
    const PLAIN: &[u8] = include_bytes!("../../../tests/tools/foreign/cloudformation/al2023-nodegroup.yaml");
    const JOINED: &[u8] = include_bytes!("../../../tests/tools/foreign/cloudformation/al2023-join.json");
    const ANSWER: &[u8] =
        include_bytes!("../../../tests/tools/foreign/cloudformation/al2023-get-template.json");
    for (name, bytes, layers) in [
        ("plain", PLAIN, ["cloudformation", "mime", "shellscript"].as_slice()),
        ("joined", JOINED, &["cloudformation", "mime", "shellscript"]),
        ("answer", ANSWER, &["aws-json", "cloudformation", "mime", "shellscript"]),
    ] {
        let inspection = inspect(name, bytes);
        let found = serde_json::to_value(&inspection.layers).unwrap();
        assert_eq!(found, serde_json::to_value(layers).unwrap(), "{name}");
        let steps: Vec<&str> = inspection.steps.iter().map(|step| step.run.as_str()).collect();
        assert_eq!(steps, ["/var/lib/cloud/instance/scripts/part-002"], "{name}");
        assert!(inspection.pieces.iter().any(|piece| piece.kind == "application/node.eks.aws"), "{name}");
    }
}

/// The verdicts were given by `ignition-validate` 2.14; the tools suite asks it again.
#[test]
fn ignition_refuses_and_warns_where_its_own_validator_does() {
    let recorded = include_str!("ignition-validate-2.14/verdicts.jsonl");
    assert_eq!(recorded.lines().count(), 88);
    for line in recorded.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let inspection = inspect("config.ign", case["config"].as_str().unwrap().as_bytes());
        let errors = inspection.findings.has_errors();
        assert_eq!(Value::from(errors), case["refused"], "{line}\n{:?}", inspection.findings);
        if errors {
            // Nothing of a refused config happens.
            assert!(
                inspection.files.is_empty() && inspection.units.is_empty() && inspection.steps.is_empty(),
                "{line}"
            );
            continue;
        }
        let same = ["ignition/unused-key", "ignition/special-bits", "ignition/no-install"];
        let warned = codes(&inspection).iter().any(|code| same.contains(code));
        assert_eq!(Value::from(warned), case["warned"], "{line}\n{:?}", inspection.findings);
    }
}

#[test]
fn everything_that_an_ignition_config_does_is_shown() {
    let config = json!({
        "ignition": {
            "version": "3.3.0",
            "timeouts": {"httpTotal": 30},
            "security": {"tls": {"certificateAuthorities": [{"source": "https://example.com/ca.pem"}]}},
        },
        "kernelArguments": {"shouldExist": ["quiet"], "shouldNotExist": ["mitigations=off"]},
        "storage": {
            "disks": [{"device": "/dev/sdb", "wipeTable": true, "partitions": [
                {"number": 1, "label": "data", "sizeMiB": 512, "startMiB": 0},
                {"number": 2, "shouldExist": false},
            ]}],
            "raid": [{"name": "md0", "level": "raid1", "devices": ["/dev/sdc", "/dev/sdd"]}],
            "luks": [{"name": "secret", "device": "/dev/sde", "wipeVolume": true}],
            "filesystems": [{"device": "/dev/md0", "format": "ext4", "path": "/var", "label": "var", "wipeFilesystem": true}],
        },
        "passwd": {
            "groups": [{"name": "ops", "gid": 700}],
            "users": [{"name": "core", "passwordHash": "$6$secret", "groups": ["wheel"],
                "sshAuthorizedKeys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIexample me@example"]}],
        },
        "systemd": {"units": [
            {"name": "update-engine.service", "mask": true},
            {"name": "a.service", "contents": "[Unit]\nRequires=b.service\n[Service]\nExecSart=/x\n"},
        ]},
    });
    let inspection = inspect("config.ign", config.to_string().as_bytes());
    let steps: Vec<&str> = inspection.steps.iter().map(|step| step.run.as_str()).collect();
    assert_eq!(
        steps,
        [
            "fetch with httpTotal of 30 s",
            "trust the certificate authority https://example.com/ca.pem",
            "add kernel argument quiet",
            "remove kernel argument mitigations=off",
            "wipe the partition table of /dev/sdb",
            "make partition 1 `data` on /dev/sdb: 512 MiB from 0 MiB",
            "remove partition 2 of /dev/sdb",
            "make raid md0 of level raid1 from /dev/sdc, /dev/sdd",
            "encrypt /dev/sde as secret with a key of its own, wiping what is there",
            "make ext4 on /dev/md0, label var, for /var, wiping what is there",
            "make group ops (gid 700)",
            "make or change user core, in groups wheel, with a password, with key ssh-ed25519 AAAAC3NzaC1lZDI1… me@example",
            "mask update-engine.service",
        ]
    );
    assert!(inspection.steps.iter().all(|step| step.stage == "ignition"));
    assert_eq!(codes(&inspection), ["unit/requires-without-after", "unit/unknown-setting"]);
    let old = json!({
        "ignition": {"version": "2.2.0"},
        "storage": {
            "filesystems": [{"name": "oem", "mount": {"device": "/dev/disk/by-label/OEM", "format": "ext4"}}],
            "files": [{"filesystem": "oem", "path": "/grub.cfg", "contents": {"source": "data:,x"}}],
        },
        "passwd": {"users": [{"name": "core", "create": {"uid": 1000}}]},
    });
    let inspection = inspect("config.ign", old.to_string().as_bytes());
    assert_eq!(paths(&inspection), ["oem:/grub.cfg"]);
    let steps: Vec<&str> = inspection.steps.iter().map(|step| step.run.as_str()).collect();
    assert_eq!(
        steps,
        ["make ext4 on /dev/disk/by-label/OEM, named oem", "make or change user core (uid 1000)"]
    );
    let twice =
        br#"{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"/a"}]},"storage":{"links":[]}}"#;
    assert_eq!(codes(&inspect("config.ign", twice)), ["ignition/duplicate-key"]);
}

#[test]
fn what_only_the_node_knows_has_no_digest() {
    let appended = b"#cloud-config\nwrite_files:\n- {path: /etc/hosts, content: x, append: true}\n- {path: /etc/own, content: x}\n- {path: /etc/own, content: y, append: true}\n";
    let inspection = inspect("user-data", appended);
    let sizes: Vec<_> = inspection.files.iter().map(|file| (file.path.as_str(), file.size)).collect();
    assert_eq!(sizes, [("/etc/hosts", None), ("/etc/own", Some(2))]);
    let facts = b"## template: jinja\n#cloud-config\nwrite_files:\n- {path: /etc/zone, content: 'in {{ v1.availability_zone }}'}\n- {path: /etc/own, content: x}\n";
    let inspection = inspect("user-data", facts);
    let known: Vec<_> =
        inspection.files.iter().map(|file| (file.path.as_str(), file.sha256.is_some())).collect();
    assert_eq!(known, [("/etc/own", true), ("/etc/zone", false)]);
}
