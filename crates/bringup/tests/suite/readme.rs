//! The README is tested: blocks beneath a line such as `` `name.yaml`: `` are written as files, `console` blocks are run in
//! order, and what they say is compared.

use std::fmt::Write as _;
use std::path::Path;

use crate::program::{compare, error, out, run, tests, tree};

/// Runs a line such as `$ bringup build x.yaml` and gives what it prints, data first.
fn said(folder: &Path, line: &str) -> String {
    let words: Vec<&str> = line.trim_start_matches("$ ").split_whitespace().collect();
    let Some(("bringup", arguments)) = words.split_first().map(|(program, rest)| (*program, rest)) else {
        panic!("only `bringup` is run: {line}");
    };
    let output = run(folder, arguments);
    format!("{}{}", out(&output), error(&output))
}

#[test]
fn the_readme_says_what_the_program_does() {
    let root = tests().join("../../..");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for (name, bytes) in tree(&root.join("examples")) {
        let path = scratch.path().join("examples").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there");
    let mut written = String::new();
    let mut lines = readme.lines();
    let mut commands = 0;
    let mut name: Option<&str> = None;
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) else {
            if !line.is_empty() {
                name = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:"));
            }
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language == "console" {
            for command in block.iter().filter(|line| line.starts_with("$ ")) {
                commands += 1;
                let _ = write!(written, "{command}\n{}", said(scratch.path(), command));
            }
            written.push_str("```\n");
            continue;
        }
        if let Some(name) = name.take() {
            std::fs::write(scratch.path().join(name), block.join("\n") + "\n").expect("written");
        }
        written.push_str(&block.join("\n"));
        written.push_str("\n```\n");
    }
    assert!(commands >= 3, "{commands} commands");
    let mut faults = Vec::new();
    compare(&root.join("README.md"), written.as_bytes(), &mut faults);
    assert!(faults.is_empty(), "UPDATE_GOLDEN=1 rewrites it\n{}", faults.join("\n"));
}
