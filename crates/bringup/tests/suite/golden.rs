//! Whole builds against what they should give. A folder of `tests/golden` is a case; `UPDATE_GOLDEN=1` rewrites them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use crate::program::{cases, compare, error, run, tree, updating};

#[test]
fn every_case_gives_its_files_and_findings() {
    let mut faults = Vec::new();
    for folder in cases("golden") {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().join("out");
        let output = run(&folder, &["build", "cluster.yaml", "-o", &target.to_string_lossy()]);
        compare(&folder.join("diagnostics.txt"), error(&output).as_bytes(), &mut faults);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{}: exit {:?}\n{}",
            folder.display(),
            output.status,
            error(&output)
        );
        let expected_folder = folder.join("out");
        if updating() {
            let _ = std::fs::remove_dir_all(&expected_folder);
        }
        let found = readable(&target);
        for name in tree(&expected_folder).keys().filter(|name| !found.contains_key(*name)) {
            faults.push(format!("{}: {name} is missing", folder.display()));
        }
        for (name, text) in found {
            compare(&expected_folder.join(name), &text, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What `inspect` has to say of other people's user-data holds for ours: nothing in it is lost or changed on the way.
#[test]
fn our_own_carriers_pass_our_own_lints() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let examples = std::fs::read_dir(examples).expect("the examples").map(|entry| entry.expect("one").path());
    let folders = cases("golden").into_iter().chain(examples.filter(|path| path.is_dir()));
    let mut faults = Vec::new();
    let mut count = 0;
    for folder in folders {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().join("out");
        let target_name = target.to_string_lossy();
        let mut arguments = vec!["build", "cluster.yaml", "-o", &target_name];
        // What another system's document cannot say stands beside it.
        if folder.join("additions.yaml").exists() {
            arguments.extend(["--with", "additions.yaml"]);
        }
        let built = run(&folder, &arguments);
        let told = error(&built);
        for name in tree(&target).into_keys() {
            let file = name.rsplit('/').next().unwrap_or_default();
            if matches!(file, "plan.json" | "report.html" | ".bringup-build.json") {
                continue;
            }
            let path = target.join(&name);
            let output = run(&folder, &["inspect", &path.to_string_lossy(), "--output", "json"]);
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let parts = answer["parts"].as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
            count += parts.len();
            for finding in parts.iter().flat_map(|part| part["findings"].as_array().into_iter().flatten()) {
                let code = finding["code"].as_str().expect("a code");
                // What the document's author was told of their own parts may be said again.
                if finding["severity"] != "note" && !told.contains(code) {
                    faults.push(format!("{}: {name}: {code}: {}", folder.display(), finding["message"]));
                }
            }
        }
    }
    assert!(count > 20, "only {count} carriers");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The files of a build in a form that people can compare: archives as listings, compressed files unpacked.
fn readable(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    tree(folder)
        .into_iter()
        // The report is looked at by other tests; its whole text would only repeat what the plan says.
        .filter(|(name, _)| name != "report.html" && !name.ends_with(".bringup-build.json"))
        .map(|(name, bytes)| {
            if let Some(plain) = name.strip_suffix(".gz") {
                // Another compressor may give other bytes; what they stand for must not change.
                let mut text = Vec::new();
                flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).expect("gzip");
                return (format!("{plain}.gz.txt"), text);
            }
            if Path::new(&name).extension().is_some_and(|extension| extension == "tar") {
                return (format!("{name}.txt"), listing(&bytes).into_bytes());
            }
            if name.ends_with("plan.json") {
                let plan: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
                return (name, format!("{plan:#}\n").into_bytes());
            }
            (name, bytes)
        })
        .collect()
}

/// Path, mode, owner, size and digest of each entry.
fn listing(bytes: &[u8]) -> String {
    let mut archive = tar::Archive::new(bytes);
    let mut text = String::new();
    for entry in archive.entries().expect("a tar") {
        let mut entry = entry.expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("content");
        let header = entry.header();
        let _ = writeln!(
            text,
            "{:o} {}:{} {} {} {}",
            header.mode().expect("a mode"),
            header.uid().expect("an owner"),
            header.gid().expect("a group"),
            content.len(),
            bringup_plan::sha256_hex(&content),
            entry.path().expect("a path").display(),
        );
    }
    text
}
