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
