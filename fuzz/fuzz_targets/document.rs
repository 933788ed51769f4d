//! Documents: reading never panics, every finding can be shown, and what reads without error reads the same again.
#![no_main]

use bringup_diag::{Colour, Sources, to_json, to_sarif, to_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read = bringup_spec::read("input", text);
    let mut sources = Sources::new();
    sources.add("input", text);
    let shown = to_text(&read.findings, &sources, Colour::Never);
    assert!(!shown.contains('\u{1b}'), "an escape of the input reached the terminal");
    let _ = to_json(&read.findings);
    let _ = to_sarif(&read.findings, "0");
    let again = bringup_spec::read("input", text);
    assert_eq!(read.findings, again.findings);
    for (one, other) in read.documents.iter().zip(&again.documents) {
        assert_eq!(one.cluster, other.cluster);
    }
});
