//! Plans go into carriers and come out of them again.

mod sample;

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_carry::{Form, base64_text, gzip, read_plan};
use bringup_plan::{Action, Content, PlacedBy};
use bringup_spec::{Carrier, Phase, Text};
use serde_json::{Value, json};

const CARRYING: [Carrier; 4] = [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition, Carrier::Bundle];

const PARTS: &str = "
      parts:
        - name: zz
          type: text/x-shellscript
          content: |
            #!/bin/sh
            echo zz
        - name: aa
          type: text/x-shellscript
          content: |
            #!/bin/sh
            echo caf\u{e9}
";

const CONFIGS: &str = "
      parts:
        - name: one
          type: text/cloud-config
          content: |
            #cloud-config
            bootcmd: [echo theirs]
            runcmd: [[ls, -l]]
        - name: two
          type: text/cloud-config
          content: |
            #cloud-config
            runcmd:
              - echo two
            write_files:
              - {path: /etc/x, permissions: 0600, content: yes}
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text that compresses to about a fifth.
fn lines(count: usize) -> String {
    (0..count)
        .fold(String::new(), |text, number| text + "line " + &(number * 7919 % 10_007).to_string() + "\n")
}

#[test]
fn a_plan_comes_back_out_of_every_carrier() {
    for extra in ["", PARTS, CONFIGS] {
        let document = sample::document("generic", "debian", extra);
        let plan = sample::plan(&document);
        let parts = sample::parts(&document);
        let load = sample::load(&document, &plan, &parts);
        for carrier in CARRYING {
            let rendered = load.render(carrier);
            assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&plan), "{carrier} {extra}");
            assert_eq!(read_plan(&gzip(&rendered.bytes)).as_ref(), Some(&plan), "{carrier} in gzip");
            let packed = base64_text(&gzip(&rendered.bytes));
            assert_eq!(read_plan(packed.as_bytes()).as_ref(), Some(&plan), "{carrier} in base64");
        }
    }
}

#[test]
fn the_operators_parts_keep_their_order_and_ours_is_first() {
    let document = sample::document("generic", "debian", PARTS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::Multipart);
    let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
    let leaves: Vec<(String, String, Vec<u8>)> = message
        .walk()
        .into_iter()
        .filter_map(|part| {
            let name = part.headers.filename()?;
            Some((name, part.headers.get("Content-Type")?.to_owned(), part.payload()?.bytes))
        })
        .collect();
    let names: Vec<&str> = leaves.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["000-bringup-boothook", "010-zz", "020-aa"]);
    assert_eq!(leaves[0].1, "text/cloud-boothook");
    assert_eq!(leaves[2].2, "#!/bin/sh\necho caf\u{e9}\n".as_bytes());
    let sizes: usize = rendered.parts.iter().map(|part| part.bytes).sum();
    assert!(sizes <= rendered.bytes.len() && sizes + 300 > rendered.bytes.len());
}

#[test]
fn parts_of_other_types_make_a_message_of_a_cloud_config() {
    let document = sample::document("generic", "debian", PARTS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
    assert_eq!(rendered.file_name, "user-data.mime");
    let codes: Vec<&str> = rendered.findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(codes, ["part/forces-multipart"]);
}

/// cloud-init runs only the modules of such a list: `bootcmd`, where our first stage stands in one document, may not be
/// among them, or only once. A boothook of a message runs whatever the lists say.
#[test]
fn a_list_of_modules_cannot_take_our_first_stage_away() {
    for list in ["[write_files]", "[[bootcmd, once], write_files]", "[bootcmd, write_files]"] {
        let extra = format!(
            "      parts:\n        - name: own\n          type: text/cloud-config\n          content: |\n            \
             #cloud-config\n            cloud_init_modules: {list}\n            runcmd: [x]\n"
        );
        let document = sample::document("generic", "debian", &extra);
        let plan = sample::plan(&document);
        let parts = sample::parts(&document);
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
        assert_eq!(rendered.file_name, "user-data.mime", "{list}");
        let messages: Vec<&str> = rendered.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "one cloud-config cannot hold the group's parts: part `own` replaces the list of modules that `bootcmd` is in; the carrier is a multipart message"
            ]
        );
        let inspection = bringup_carry::inspect("user-data", &rendered.bytes);
        assert_eq!(inspection.steps[0].stage, "boothook", "{list}");
    }
}

#[test]
fn cloud_configs_merge_as_cloud_init_merges_them_and_ours_is_added() {
    let document = sample::document("generic", "debian", CONFIGS);
    let plan = sample::plan(&document);
    let parts = sample::parts(&document);
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
    assert_eq!(rendered.file_name, "cloud-config.yaml");
    let tree =
        bringup_yaml::parse_one(&text(&rendered.bytes), bringup_yaml::Limits::default()).unwrap().unwrap();
    let commands = tree.get("bootcmd").unwrap().items().unwrap();
    assert_eq!(commands.len(), 2);
    assert!(commands[0].text().unwrap().starts_with("# bringup: first stage 1\n"));
    assert_eq!(commands[1].text(), Some("echo theirs"));
    // As PyYAML reads `0600` and `yes` in the part.
    assert!(text(&rendered.bytes).contains("permissions: 384\n  content: true"), "{}", text(&rendered.bytes));
    assert!(text(&rendered.bytes).contains("runcmd:\n- echo two\n"));
    assert_eq!(text(&rendered.bytes).matches("runcmd:").count(), 1);
    assert!(rendered.findings.is_empty(), "{:?}", rendered.findings);
}

/// What `CloudConfigPartHandler` of cloud-init 22.4.2 made of several parts is what stands in the one document.
#[test]
fn one_document_holds_what_cloud_init_would_have_merged() {
    let recorded = include_str!("../../cloudinit/tests/cloud-init-22.4.2/merge.jsonl");
    let mut compared = Vec::new();
    for line in recorded.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Some(given) = case["parts"].as_array() else { continue };
        if given.iter().any(|part| part["header"] != "") {
            continue;
        }
        let mut extra = "\n      parts:\n".to_owned();
        for (number, part) in given.iter().enumerate() {
            let indented = part["text"].as_str().unwrap().replace('\n', "\n            ");
            let head = "          type: text/cloud-config\n          content: |\n            #cloud-config\n";
            let _ = writeln!(extra, "        - name: p{number}\n{head}            {indented}");
        }
        let document = sample::document("generic", "debian", &extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudInit);
        if rendered.file_name != "cloud-config.yaml" {
            continue;
        }
        let json = |text: &str| {
            let tree = bringup_yaml::parse_one(text, bringup_yaml::Limits::default()).unwrap().unwrap();
            tree.to_value().to_json()
        };
        let mut ours = json(&text(&rendered.bytes));
        ours.as_object_mut().unwrap().remove("bootcmd");
        // Python's way to print a mapping is YAML, but for its name of nothing.
        assert_eq!(ours, json(&case["merged"].as_str().unwrap().replace("None", "null")), "{line}");
        compared.push(case["name"].as_str().unwrap().to_owned());
    }
    assert!(compared.len() >= 7, "{compared:?}");
}

/// The operator's own parts stay separate parts, in a template too.
#[test]
fn a_template_keeps_the_operators_parts_apart() {
    for extra in [CONFIGS.to_owned(), format!("{CONFIGS}{}", SIGNALS.trim_start_matches('\n'))] {
        let document = sample::document("aws", "ubuntu", &extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::CloudFormation);
        let template = text(&rendered.bytes);
        let reading = bringup_cloudformation::read("template.yaml", &template).unwrap();
        let message = text(&reading.parts[0].bytes);
        let names: Vec<&str> = message
            .lines()
            .filter_map(|line| line.strip_prefix("Content-Disposition: attachment; filename="))
            .map(|name| name.trim_matches('"'))
            .collect();
        let all = ["000-aws-stack.sh", "000-bringup-boothook", "010-one", "020-two"];
        assert_eq!(names, if extra == CONFIGS { &all[1..] } else { &all[..] });
    }
}

#[test]
fn a_carrier_is_plain_while_it_fits_and_packed_no_more_than_it_must() {
    let document = sample::document("aws", "ubuntu", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    let form = |plan: &bringup_plan::Plan| {
        let rendered = sample::load(&document, plan, &parts).render(Carrier::CloudInit);
        assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(plan));
        (rendered.form, rendered.file_name.clone(), rendered.budget.clone().unwrap())
    };
    let (first, name, budget) = form(&plan);
    assert_eq!((first, name.as_str()), (Form::Plain, "cloud-config.yaml"));
    assert_eq!(budget.margin(), 16_384 - i64::try_from(budget.used).unwrap());
    plan.steps.push(sample::file("/etc/lines", &lines(2000)));
    let (packed, name, budget) = form(&plan);
    assert_eq!((packed, name.as_str()), (Form::Gzip, "cloud-config.yaml.gz"));
    assert!(budget.fits() && budget.plain > budget.limit);
}

#[test]
fn what_is_over_the_limit_is_an_error_that_names_the_largest_file() {
    let document = sample::document("aws", "ubuntu", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.steps.push(noise("/etc/noise"));
    for carrier in [Carrier::CloudInit, Carrier::Ignition] {
        let rendered = sample::load(&document, &plan, &parts).render(carrier);
        let findings: Vec<_> = rendered.findings.iter().collect();
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].code.name, "size/over-budget");
        assert!(findings[0].message.starts_with(&format!("the user-data of the carrier `{carrier}` has ")));
        assert!(findings[0].hint.as_ref().unwrap().contains("`/etc/noise` (30000 bytes)"), "{findings:?}");
    }
}

#[test]
fn a_message_over_the_limit_is_told_how_much_one_document_would_save() {
    for (extra, smaller) in [("", true), (CONFIGS, true), (PARTS, false)] {
        let document = sample::document("aws", "ubuntu", extra);
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(noise("/etc/noise"));
        let load = sample::load(&document, &plan, &parts);
        let used = load.render(Carrier::CloudInit).budget.unwrap().used;
        let rendered = load.render(Carrier::Multipart);
        let hint = rendered.findings.iter().next().and_then(|finding| finding.hint.clone()).unwrap();
        let told = format!("as one cloud-config (`cloud-init`) it has {used} bytes, still too much");
        assert_eq!(hint.contains(&told), smaller, "{hint}");
        assert_eq!(used < rendered.budget.unwrap().used, smaller);
    }
}

#[test]
fn the_pieces_of_a_carrier_reach_into_the_plan() {
    let document = sample::document("generic", "debian", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.steps.push(sample::file("/etc/lines", "one line of twenty\n"));
    let load = sample::load(&document, &plan, &parts);
    for carrier in [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition] {
        let rendered = load.render(carrier);
        let pieces = load.pieces(&rendered.parts);
        // Of a message, what our part places is one step further in.
        let outer = if carrier == Carrier::Multipart { &pieces[0].inside } else { &pieces };
        let of_plan = outer.iter().find(|piece| piece.name == "/etc/bringup/plan.json").unwrap();
        let file = of_plan.inside.iter().find(|piece| piece.name == "/etc/lines").unwrap();
        assert_eq!(file.bytes, 19, "{carrier:?}");
        let unit = of_plan.inside.iter().find(|piece| piece.name == "bringup.service");
        assert!(unit.is_some_and(|unit| unit.bytes > 0), "{carrier:?}: {of_plan:?}");
        let known: usize = of_plan.inside.iter().map(|piece| piece.bytes).sum();
        assert_eq!(known, load.plan_json().len(), "{carrier:?}");
    }
    let message = load.render(Carrier::Multipart);
    let script: usize = message.parts[0].inside.iter().map(|piece| piece.bytes).sum();
    let layers = text(&message.bytes);
    let encoded: String =
        layers.split("\n\n").nth(2).unwrap().lines().take_while(|line| !line.starts_with("--")).collect();
    assert_eq!(script, BASE64_STANDARD.decode(encoded).unwrap().len());
}

#[test]
fn user_data_is_in_base64_where_the_document_asks() {
    let document = sample::document("aws", "ubuntu", "      userDataEncoding: base64\n");
    let (plan, parts) = (sample::plan(&document), sample::parts(&document));
    let load = sample::load(&document, &plan, &parts);
    for (carrier, name) in [
        (Carrier::CloudInit, "cloud-config.yaml.b64"),
        (Carrier::Multipart, "user-data.mime.b64"),
        (Carrier::Ignition, "ignition.json.b64"),
    ] {
        let (rendered, plain) = (load.render(carrier), load.render_plain(carrier));
        assert_eq!(rendered.file_name, name);
        let encoded = text(&rendered.bytes);
        assert_eq!(BASE64_STANDARD.decode(encoded.trim_end()).unwrap(), plain.bytes);
        // EC2 counts raw bytes.
        assert_eq!(rendered.budget.unwrap().used, plain.bytes.len());
        assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&plan));
    }
    assert_eq!(load.render(Carrier::Bundle).file_name, "bundle.tar");
    let unused = |extra: &str| {
        let document = sample::document("aws", "ubuntu", extra);
        let (path, group) = document.groups().next().unwrap();
        bringup_carry::unused_encoding(&document, &path, group).map(|finding| finding.code.name)
    };
    assert_eq!(unused("      userDataEncoding: base64\n"), None);
    assert_eq!(unused("      carriers: [bundle]\n"), None);
    let both = "      carriers: [bundle]\n      userDataEncoding: base64\n";
    assert_eq!(unused(both), Some("carrier/encoding-unused"));
}

/// A file that does not compress.
fn noise(path: &str) -> bringup_plan::Step {
    let mut state = 1_u32;
    let bytes: Vec<u8> = (0..30_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect();
    let action = Action::WriteFile {
        path: path.to_owned(),
        mode: "0644".to_owned(),
        owner: "root:root".to_owned(),
        content: Content::Base64(BASE64_STANDARD.encode(bytes)),
    };
    sample::step("noise", Phase::Configure, action)
}

#[test]
fn a_plan_that_is_too_large_is_fetched_from_where_the_agent_was_published() {
    let digest = "a5".repeat(32);
    let agent = format!(
        "      agent:\n        from: fetch\n        downloads:\n          x86_64:\n            \
         urls: [https://mirror.example/b/agent/{digest}/bringup-node-x86_64]\n            sha256: {digest}\n"
    );
    let document = sample::document("aws", "ubuntu", &agent);
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.steps.push(noise("/etc/noise"));
    let url = format!("https://mirror.example/b/plan/{}.json", plan.digest());
    let mut told = bringup_diag::Findings::new();
    for carrier in [Carrier::CloudInit, Carrier::Ignition] {
        let rendered = sample::load(&document, &plan, &parts).render(carrier);
        assert!(rendered.plan_fetched, "{carrier}");
        assert!(rendered.budget.as_ref().unwrap().fits());
        assert!(text(&rendered.bytes).contains(&url), "{}", text(&rendered.bytes));
        assert!(text(&rendered.bytes).contains(&plan.digest()));
        assert_eq!(
            rendered.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>(),
            ["size/fetched-plan"]
        );
        told.append(rendered.findings);
    }
    // The same words, so that a group with several carriers is told once; what is in the plan no longer matters.
    let told: Vec<_> = told.sorted().into_iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let hint = "upload what `bringup publish` lays out before a machine starts";
    assert_eq!(told[0].hint.as_deref(), Some(hint));
}

/// curl and wget do not speak S3's protocol; Ignition does.
#[test]
fn a_plan_is_not_fetched_from_where_only_the_agent_could() {
    for os in ["ubuntu", "flatcar"] {
        let document = sample::document("aws", os, "");
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(noise("/etc/noise"));
        let carriers = [Carrier::CloudInit, Carrier::Multipart, Carrier::CloudFormation, Carrier::Ignition];
        for carrier in carriers {
            let rendered =
                sample::load(&document, &plan, &parts).published_at(Some("s3://bucket/x")).render(carrier);
            let codes: Vec<&str> = rendered.findings.iter().map(|finding| finding.code.name).collect();
            let by_ignition =
                carrier == Carrier::Ignition || carrier == Carrier::CloudFormation && os == "flatcar";
            assert_eq!(rendered.plan_fetched, by_ignition, "{carrier} {os}");
            assert_eq!(codes.contains(&"agent/scheme"), !by_ignition, "{carrier} {os}: {codes:?}");
        }
        // What fits is not fetched, wherever it is published.
        let small = sample::plan(&document);
        let load = sample::load(&document, &small, &parts).published_at(Some("s3://bucket/x"));
        assert!(!load.render(Carrier::CloudInit).findings.has_errors());
    }
}

/// How each file of an Ignition config is held.
fn encodings(bytes: &[u8]) -> Vec<(String, bool)> {
    let config: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let files = config["storage"]["files"].as_array().into_iter().flatten();
    let path = |file: &Value| file["path"].as_str().unwrap_or_default().to_owned();
    files.map(|file| (path(file), file["contents"]["compression"] == "gzip")).collect()
}

#[test]
fn files_of_an_ignition_config_are_packed_only_if_the_plain_config_is_too_large() {
    let document = sample::document("aws", "flatcar", "");
    let parts = sample::parts(&document);
    let with_lines = |count: usize| {
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        let rendered = sample::load(&document, &plan, &parts).render(Carrier::Ignition);
        assert!(rendered.budget.as_ref().unwrap().fits());
        assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&plan));
        encodings(&rendered.bytes)
    };
    let (plan, greeting, long) = ("/etc/bringup/plan.json", "/etc/example/greeting.conf", "/etc/lines");
    let expected = |files: &[(&str, bool)]| -> Vec<(String, bool)> {
        files.iter().map(|(path, packed)| ((*path).to_owned(), *packed)).collect()
    };
    // 300 lines of about ten bytes, in the plan and by themselves, in base64: about 8 KiB with the rest.
    assert_eq!(with_lines(300), expected(&[(plan, false), (greeting, false), (long, false)]));
    // 1,000 lines are over 16 KiB so, and compress well.
    assert_eq!(with_lines(1000), expected(&[(plan, true), (greeting, false), (long, true)]));
    // However close to the limit it is, a config that fits is plain.
    let closest = (300..1000).rev().find(|count| with_lines(*count).iter().all(|(_, packed)| !packed));
    let plain_size = |count: usize| {
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        sample::load(&document, &plan, &parts).render(Carrier::Ignition).bytes.len()
    };
    // A line adds at most eleven bytes to the plan and ten to the file, in base64 28.
    let closest = plain_size(closest.unwrap());
    assert!(closest > 16_384 - 32, "{closest}");
    // 2,500 lines fit only once.
    assert_eq!(with_lines(2500), expected(&[(plan, true)]));
}

#[test]
fn ignition_does_what_it_can_by_itself() {
    let document = sample::document("aws", "flatcar", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    let link = Action::MakeLink { path: "/opt/link".to_owned(), target: "/opt/real".to_owned() };
    plan.steps.push(sample::step("link", Phase::Configure, link));
    plan.steps.push(sample::file("/opt/link/beneath", "x\n"));
    plan.steps.push(sample::file("/run/volatile", "x\n"));
    let arguments = ["quiet", "quiet", "console=ttyS0"].map(str::to_owned).to_vec();
    plan.steps.push(sample::step("kargs", Phase::Configure, Action::SetKernelArguments { arguments }));
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::Ignition);
    let config: Value = serde_json::from_slice(&rendered.bytes).unwrap();
    assert_eq!(config["ignition"]["version"], "3.3.0");
    let paths: Vec<&str> = config["storage"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/etc/bringup/plan.json", "/etc/example/greeting.conf", "/opt/link/beneath"]);
    assert_eq!(config["storage"]["links"], Value::Null);
    assert_eq!(config["storage"]["files"][0]["mode"], 0o600);
    assert_eq!(config["kernelArguments"]["shouldExist"], json!(["quiet", "console=ttyS0"]));
    let units = config["systemd"]["units"].as_array().unwrap();
    let unit = |name: &str| units.iter().find(|unit| unit["name"] == name).unwrap();
    assert_eq!(unit("bringup.service")["enabled"], true);
    assert_eq!(unit("drivers.service")["enabled"], true);
    assert_eq!(unit("kubelet.service")["enabled"], false);
    assert_eq!(unit("kubelet.service")["dropins"][0]["name"], "10-bringup.conf");
    assert_eq!(unit("update-engine.service")["mask"], true);
    assert!(rendered.findings.is_empty(), "{:?}", rendered.findings);
}

#[test]
fn without_an_agent_static_files_are_carried_and_the_rest_is_an_error() {
    let document = sample::document("generic", "debian", "      agent: none\n");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    let run = Action::Run {
        command: vec![Text::literal("/bin/true")],
        environment: std::collections::BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    };
    plan.steps.push(sample::step("mine", Phase::PostInstall, run));
    let owned = Action::MakeDirectory {
        path: "/srv/data".to_owned(),
        mode: "0755".to_owned(),
        owner: "postgres:postgres".to_owned(),
    };
    plan.steps.push(sample::step("theirs", Phase::Configure, owned));
    for carrier in [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition, Carrier::Bundle] {
        let rendered = sample::load(&document, &plan, &parts).render(carrier);
        let told: Vec<&str> = rendered.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(told.len(), 3, "{carrier}: {told:?}");
        assert!(told.iter().any(|message| message.contains("`theirs`")));
        assert!(told.iter().any(|message| message.contains("`mine`")));
        assert!(told.iter().any(|message| message.contains("`write zone`")));
        assert_eq!(read_plan(&rendered.bytes), None, "{carrier}");
    }
}

#[test]
fn the_order_of_keys_in_the_document_does_not_matter() {
    let digest = "a5".repeat(32);
    let one = format!(
        "      agent:\n        from: fetch\n        downloads:\n          x86_64: {{urls: [https://a.example/x, https://b.example/x], sha256: {digest}}}\n          aarch64: {{urls: [https://a.example/y], sha256: {digest}}}\n      instanceTypes: [m5.large]\n      labels: {{a: b, c: d}}\n"
    );
    let other = format!(
        "      labels: {{c: d, a: b}}\n      instanceTypes: [m5.large]\n      agent:\n        downloads:\n          aarch64: {{sha256: {digest}, urls: [https://a.example/y]}}\n          x86_64: {{sha256: {digest}, urls: [https://a.example/x, https://b.example/x]}}\n        from: fetch\n"
    );
    let rendered = |extra: &str| -> Vec<Vec<u8>> {
        let document = sample::document("aws", "ubuntu", extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let load = sample::load(&document, &plan, &parts);
        Carrier::ALL.iter().map(|carrier| load.render(*carrier).bytes).collect()
    };
    let first = rendered(&one);
    assert_eq!(first, rendered(&other));
    // The order of mirrors does: they are tried in turn.
    assert_ne!(
        first,
        rendered(&one.replace("a.example/x, https://b.example/x", "b.example/x, https://a.example/x"))
    );
}

#[test]
fn other_names_of_a_unit_and_units_of_the_image_are_seen_to() {
    let document = sample::document("generic", "debian", "");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.units[0].aliases = vec!["kops-configuration.service".to_owned()];
    let mut image = sample::unit("snapd.service", None, PlacedBy::Carrier);
    image.enabled = Some(false);
    plan.units.push(image);
    let load = sample::load(&document, &plan, &parts);
    let script = text(&load.render(Carrier::CloudInit).bytes);
    let link = "ln -sfn /etc/systemd/system/bringup.service /etc/systemd/system/kops-configuration.service\n";
    assert!(script.find(link).unwrap() < script.find("systemctl daemon-reload").unwrap());
    assert!(script.contains("systemctl disable snapd.service\n"));
    // kubelet's link goes on every boot, and a unit that we bring has none.
    assert_eq!(script.matches("systemctl disable").count(), 1);
    let bundle = bringup_carry::inspect("bundle.tar", &load.render(Carrier::Bundle).bytes);
    let target = bundle.links.get("/etc/systemd/system/kops-configuration.service").map(String::as_str);
    assert_eq!(target, Some("/etc/systemd/system/bringup.service"));
}

#[test]
fn without_an_agent_units_are_started_by_the_carrier() {
    let document = sample::document("generic", "debian", "      agent: none\n");
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.steps.retain(|step| step.name != "write zone");
    plan.units = vec![
        bringup_plan::Unit {
            enabled: Some(true),
            ..sample::unit("kubelet.service", None, PlacedBy::Carrier)
        },
        sample::unit("containerd.service", None, PlacedBy::Carrier),
    ];
    let start = Action::StartUnit { unit: "containerd.service".to_owned(), reads: Vec::new() };
    plan.steps.push(sample::step("runtime", Phase::Runtime, start));
    let load = sample::load(&document, &plan, &parts);
    let script = load.render(Carrier::CloudInit);
    assert!(script.findings.is_empty(), "{:?}", script.findings);
    let lines = text(&script.bytes);
    let calls: Vec<&str> =
        lines.lines().map(str::trim).filter(|line| line.starts_with("systemctl")).collect();
    assert_eq!(
        calls,
        [
            "systemctl daemon-reload",
            "systemctl restart --no-block containerd.service",
            "systemctl enable kubelet.service",
            "systemctl start --no-block kubelet.service",
        ]
    );
    let config: Value = serde_json::from_slice(&load.render(Carrier::Ignition).bytes).unwrap();
    let units = json!([{"name": "containerd.service", "enabled": true}, {"name": "kubelet.service", "enabled": true}]);
    assert_eq!(config["systemd"]["units"], units);
}

#[test]
fn units_of_the_agent_stay_with_it_and_the_order_of_a_plan_is_all_that_counts() {
    let document = sample::document("generic", "debian", "");
    let plan = sample::plan(&document);
    assert!(plan.units.iter().any(|unit| unit.placed_by == PlacedBy::Agent));
    let parts = sample::parts(&document);
    let load = sample::load(&document, &plan, &parts);
    for carrier in CARRYING {
        assert_eq!(load.render(carrier).bytes, load.render(carrier).bytes);
    }
    let script = text(&load.render(Carrier::CloudInit).bytes);
    assert!(!script.contains("place 0644 /etc/systemd/system/drivers.service"));
}

/// With a signal to the stack, the template itself puts the stack's name in, so the whole cannot be compressed.
const SIGNALS: &str = "
      instanceTypes: [m5.large]
      scaling: {max: 3}
      signals:
        - kind: cloudformation
";

#[test]
fn templates_hold_the_plan_whatever_form_the_user_data_must_have() {
    for (extra, count) in [("", 0), ("", 2000), (SIGNALS, 0), (SIGNALS, 2000)] {
        let document = sample::document("aws", "ubuntu", extra);
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        if !extra.is_empty() {
            let signal = Action::Signal {
                kind: bringup_spec::SignalKind::CloudFormation,
                target: std::collections::BTreeMap::new(),
                token: None,
            };
            plan.steps.push(sample::step("signal", Phase::Report, signal));
        }
        let load = sample::load(&document, &plan, &parts);
        for carrier in [Carrier::CloudFormation, Carrier::CloudFormationJson] {
            let rendered = load.render(carrier);
            assert!(rendered.budget.as_ref().unwrap().fits(), "{carrier}: {:?}", rendered.budget);
            let unknown = rendered.findings.iter().any(|finding| finding.code.name == "launch/stack-unknown");
            assert!(!unknown, "{:?}", rendered.findings);
            assert_eq!(rendered.form, if count == 0 { Form::Plain } else { Form::Gzip });
            assert_eq!(
                read_plan(&rendered.bytes).as_ref(),
                Some(&plan),
                "{carrier} with {count} lines, {extra}"
            );
            assert_eq!(text(&rendered.bytes).contains("${AWS::StackName}"), !extra.is_empty());
        }
    }
}

#[test]
fn a_node_config_says_what_nodeadm_reads_and_what_it_cannot_do_is_told() {
    let extra = "
      nodeName: instance-id
      labels: {tier: web, zone: \"@{zone}\"}
      taints: [{key: gpu, value: \"yes\", effect: NoSchedule}]
      maxPods: 58
      kubelet:
        config: {imageGCHighThresholdPercent: 70}
        flags: {v: \"4\"}
      runtime: {config: \"version = 3\"}
      sysctls: {vm.swappiness: 0}
      parts:
        - {name: before.sh, type: text/x-shellscript, content: \"#!/bin/sh\"}
";
    let document = sample::document("aws", "amazon-linux-2023", extra);
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.node_name = bringup_spec::NodeNamePolicy::InstanceId;
    plan.environment.insert("https_proxy".to_owned(), "http://proxy:3128".to_owned());
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::NodeConfig);
    assert_eq!(rendered.file_name, "nodeconfig.mime");
    let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
    let parts: Vec<_> = message.walk().into_iter().skip(1).collect();
    let names: Vec<_> = parts.iter().filter_map(|part| part.headers.filename()).collect();
    assert_eq!(names, ["000-before.sh", "010-nodeconfig.yaml"]);
    assert_eq!(parts[1].headers.get("Content-Type"), Some("application/node.eks.aws"));
    // The shape is that of node.eks.aws/v1alpha1.
    let expected = "\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://api.example:6443
    cidr: 10.100.0.0/16
  kubelet:
    config:
      maxPods: 58
      registerWithTaints:
      - key: gpu
        value: \"yes\"
        effect: NoSchedule
      imageGCHighThresholdPercent: 70
    flags:
    - \"--node-labels=tier=web\"
    - \"--v=4\"
  containerd:
    config: version = 3
  instance:
    environment:
      default:
        https_proxy: http://proxy:3128
  featureGates:
    InstanceIdNodeName: true
";
    assert_eq!(text(&parts[1].payload().unwrap().bytes), expected);
    let told: Vec<(&str, &str)> =
        rendered.findings.iter().map(|finding| (finding.code.name, finding.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                "nodeconfig/missing",
                "a NodeConfig needs `certificateAuthority`, and the document does not say it"
            ),
            (
                "nodeconfig/not-carried",
                "nodeadm cannot carry `labels`: the value of label `zone` is known only on the node"
            ),
            ("nodeconfig/not-carried", "nodeadm cannot carry `sysctls`: it sets no sysctls of others"),
        ]
    );
}

#[test]
fn what_is_published_is_named_by_its_content() {
    let document = sample::document("aws", "ubuntu", "");
    let plan = sample::plan(&document);
    let agents = std::collections::BTreeMap::from([(bringup_spec::Architecture::X86_64, b"agent".to_vec())]);
    let published = bringup_carry::publish_layout([&plan, &plan], &agents, Some("https://m.example/b/"));
    let listed: Vec<(&str, Option<&str>)> =
        published.iter().map(|file| (file.path.as_str(), file.url.as_deref())).collect();
    // `printf agent | sha256sum`
    let agent = "agent/d4f0bc5a29de06b510f9aa428f1eedba926012b591fef7a518e776a7c9bd1824/bringup-node-x86_64";
    let plan_path = format!("plan/{}.json", plan.digest());
    let urls = [format!("https://m.example/b/{agent}"), format!("https://m.example/b/{plan_path}")];
    assert_eq!(listed, [(agent, Some(urls[0].as_str())), (plan_path.as_str(), Some(urls[1].as_str()))]);
    assert_eq!(published[1].bytes, plan.to_json().into_bytes());
    assert_eq!(published[1].about, "plan demo/workers");
}

/// cloud-init hands on a part that it has unpacked as if it had come in plain ASCII: other letters make it lose the part,
/// or change them. So they must not be in one.
#[test]
fn letters_beyond_ascii_arrive_in_every_form_of_every_carrier() {
    let parts_with_letters = format!(
        "{SIGNALS}      parts:
        - name: greeting.yaml
          type: text/cloud-config
          content: |
            #cloud-config
            timezone: Etc/UTC # Zürich
            write_files:
              - path: /etc/grüße
                content: Grüße
        - name: greet.sh
          type: text/x-shellscript
          content: |
            #!/bin/sh
            # {}
            echo Grüße aus Zürich >/etc/greeting
",
        "a long remark that compresses well; ".repeat(40)
    );
    for (agent, count) in [("image", 0), ("image", 2000), ("none", 0), ("none", 2000)] {
        let extra = format!("{parts_with_letters}      agent: {agent}\n");
        let document = sample::document("aws", "ubuntu", &extra);
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/naïve/motd", "Grüße, 雪, 🚀\n"));
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        let load = sample::load(&document, &plan, &parts);
        for carrier in [Carrier::CloudInit, Carrier::Multipart, Carrier::CloudFormation] {
            let rendered = load.render(carrier);
            let inspection = bringup_carry::inspect("user-data", &rendered.bytes);
            let lost: Vec<_> = inspection
                .all_findings()
                .iter()
                .filter(|finding| finding.code.name == "part/not-ascii")
                .map(|finding| finding.message.clone())
                .collect();
            assert_eq!(lost, [""; 0], "{carrier}, agent {agent}, {count} lines");
            let content = |path: &str| {
                let file = inspection.files.iter().find(|file| file.path == path);
                file.and_then(|file| file.content.clone()).map(|content| text(&content))
            };
            assert_eq!(content("/etc/grüße").as_deref(), Some("Grüße"), "{carrier}");
            if agent == "image" {
                assert_eq!(inspection.plan.as_ref(), Some(&plan), "{carrier}");
                assert!(load.plan_json().is_ascii());
            } else {
                assert_eq!(content("/etc/naïve/motd").as_deref(), Some("Grüße, 雪, 🚀\n"), "{carrier}");
            }
            let script = inspection.steps.iter().find(|step| step.run.ends_with("greet.sh"));
            let script = script.and_then(|step| step.script.as_deref()).unwrap_or_default();
            assert!(script.contains("echo Grüße aus Zürich"), "{carrier}: {script}");
        }
    }
}
