//! The same input gives the same bytes: in another process, in another folder, with its maps and files in another order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bringup_yaml::{Limits, Value, parse, to_yaml};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::program::{cases, error, run, tree};

/// The value with every map in an order that follows from `seed`.
fn shuffled(value: &Value, seed: &mut u64) -> Value {
    match value {
        Value::Map(pairs) => {
            let mut keyed: Vec<(u64, String, Value)> =
                pairs.iter().map(|(key, value)| (next(seed), key.clone(), shuffled(value, seed))).collect();
            keyed.sort_by_key(|(order, _, _)| *order);
            Value::Map(keyed.into_iter().map(|(_, key, value)| (key, value)).collect())
        }
        Value::List(items) => Value::List(items.iter().map(|item| shuffled(item, seed)).collect()),
        other => other.clone(),
    }
}

/// A number that follows from the one before: an xorshift, so that a failure can be repeated.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Everything that a build in `folder` writes, without the report, which tells line numbers.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let output = run(folder, &["build", "cluster.yaml", "-o", "out"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", error(&output));
    let mut files = tree(&folder.join("out"));
    files.remove("report.html").expect("a report");
    files
}

/// A case in a new folder, its files written in another order and its maps shuffled.
fn copied(case: &Path, seed: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut state = seed | 1;
    let mut files: Vec<(u64, String, Vec<u8>)> = tree(case)
        .into_iter()
        .filter(|(name, _)| !name.starts_with("out/"))
        .map(|(name, bytes)| (next(&mut state), name, bytes))
        .collect();
    files.sort_by_key(|(order, _, _)| *order);
    for (_, name, bytes) in files {
        let (from, path) = (case.join(&name), folder.path().join(&name));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, bytes).expect("written");
        let permissions = std::fs::metadata(from).expect("there").permissions();
        std::fs::set_permissions(&path, permissions).expect("set");
    }
    let text = std::fs::read_to_string(case.join("cluster.yaml")).expect("a document");
    let documents: Vec<String> = parse(&text, Limits::default())
        .expect("YAML")
        .iter()
        .map(|document| to_yaml(&shuffled(&document.to_value(), &mut state)))
        .collect();
    std::fs::write(folder.path().join("cluster.yaml"), documents.join("---\n")).expect("written");
    folder
}

#[test]
fn maps_and_files_in_another_order_give_the_same_bytes() {
    let cases: Vec<PathBuf> = cases("golden");
    let expected: Vec<BTreeMap<String, Vec<u8>>> =
        cases.iter().map(|case| outputs(copied(case, 1).path())).collect();
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let strategy = (0..cases.len(), any::<u64>());
    runner
        .run(&strategy, |(index, seed)| {
            let folder = copied(&cases[index], seed);
            let found = outputs(folder.path());
            for (name, bytes) in &expected[index] {
                prop_assert!(
                    found.get(name) == Some(bytes),
                    "{} of {} differs",
                    name,
                    cases[index].display()
                );
            }
            prop_assert_eq!(found.len(), expected[index].len());
            Ok(())
        })
        .expect("the same bytes");
}

#[test]
fn two_processes_write_the_same_report() {
    for case in cases("golden") {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let pages = ["one", "two"].map(|name| {
            let target = scratch.path().join(name);
            run(&case, &["build", "cluster.yaml", "-o", &target.to_string_lossy()]);
            std::fs::read(target.join("report.html")).expect("a report")
        });
        assert!(pages[0] == pages[1], "{}", case.display());
    }
}
