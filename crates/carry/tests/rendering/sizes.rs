//! What does not fit, and what is done about it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_carry::{Form, read_plan};
use bringup_plan::{Action, Content};
use bringup_spec::{Carrier, Phase};
use serde_json::Value;

use crate::{CONFIGS, PARTS, lines, sample, text};

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

/// How each file of an Ignition config is held.
fn encodings(bytes: &[u8]) -> Vec<(String, bool)> {
    let config: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let files = config["storage"]["files"].as_array().into_iter().flatten();
    let path = |file: &Value| file["path"].as_str().unwrap_or_default().to_owned();
    files.map(|file| (path(file), file["contents"]["compression"] == "gzip")).collect()
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

/// kops' user-data has the digest of the configuration, and where it is; not the configuration.
#[test]
fn user_data_of_kops_is_tiny_where_plans_are_published() {
    let agent = format!(
        "      agent:\n        from: fetch\n        downloads:\n          x86_64: {{urls: [https://mirror.example/bringup-node], sha256: {}}}\n",
        "a5".repeat(32)
    );
    for (os, carriers) in [
        ("ubuntu", vec![Carrier::CloudInit, Carrier::Multipart, Carrier::CloudFormation]),
        ("flatcar", vec![Carrier::Ignition, Carrier::CloudFormation]),
    ] {
        let mut document = sample::document("aws", os, &agent);
        document.cluster.spec.flavour = bringup_spec::Flavour::Kops;
        let parts = sample::parts(&document);
        let plan = sample::plan(&document);
        let url = format!("https://plans.example/plan/{}.json", plan.digest());
        for carrier in carriers {
            let load = sample::load(&document, &plan, &parts);
            let whole = load.render(carrier);
            assert!(!whole.plan_fetched, "{os} {carrier}: nothing says where it could be");
            let load = load.published_at(Some("https://plans.example/"));
            let rendered = load.render(carrier);
            assert!(rendered.plan_fetched, "{os} {carrier}");
            let told: Vec<_> =
                rendered.findings.iter().filter(|finding| finding.code.name == "size/fetched-plan").collect();
            assert_eq!(told.len(), 1);
            assert_eq!(told[0].severity, bringup_diag::Severity::Note);
            if carrier == Carrier::CloudInit || carrier == Carrier::Ignition {
                assert!(text(&rendered.bytes).contains(&url), "{}", text(&rendered.bytes));
            }
            let (tiny, whole) = (rendered.budget.unwrap(), whole.budget.unwrap());
            assert!(tiny.plain < whole.plain, "{os} {carrier}");
            // However much is configured, the user-data has a digest of it.
            let mut more = plan.clone();
            more.steps.push(noise("/etc/noise"));
            let more = sample::load(&document, &more, &parts).published_at(Some("https://plans.example/"));
            let more = more.render(carrier);
            assert_eq!(more.budget.unwrap().plain, tiny.plain, "{os} {carrier}");
        }
    }
}
