//! Mistakes of newcomers: each must be told so that its author knows what to change.
//!
//! A folder of `tests/mistakes` is a case. Its document says in `# must say:` lines, written before the message was
//! seen, what the message has to contain; `expected.txt` holds the whole of it.

use crate::program::{cases, compare, error, run};

#[test]
fn every_mistake_is_told_with_what_to_change() {
    let mut faults = Vec::new();
    let folders = cases("mistakes");
    assert!(folders.len() >= 30, "{} mistakes", folders.len());
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().to_string_lossy().into_owned();
        let output = run(&folder, &["build", "cluster.yaml", "-o", &target]);
        let said = error(&output);
        let document = std::fs::read_to_string(folder.join("cluster.yaml")).expect("a document");
        for phrase in document.lines().filter_map(|line| line.strip_prefix("# must say: ")) {
            // The quoted source and this very comment may hold the words, too: they say nothing.
            let is_said = |line: &str| {
                let line = line.trim_start();
                ["error", "warning", "note", "= hint: "].iter().any(|start| line.starts_with(start))
            };
            if !said.lines().any(|line| is_said(line) && line.contains(phrase)) {
                faults.push(format!("{name}: nothing says {phrase:?}:\n{said}"));
            }
        }
        // A warning leaves a build that can be used; everything else is a wrong input.
        let good = if said.contains("error[") { 2 } else { 0 };
        if output.status.code() != Some(good) {
            faults.push(format!("{name}: exit {:?} instead of {good}\n{said}", output.status.code()));
        }
        // Only the last line, a count, may stand without a hint.
        let findings = said.matches("error[").count() + said.matches("warning[").count();
        if findings == 0 || said.matches("= hint: ").count() < findings {
            faults.push(format!("{name}: a finding without a hint:\n{said}"));
        }
        compare(&folder.join("expected.txt"), said.as_bytes(), &mut faults);
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
