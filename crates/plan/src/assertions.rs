//! Assertions on the order of units, as far as their form goes.

use bringup_diag::{Finding, Findings};
use bringup_spec::Document;
use bringup_yaml::Path;

use crate::codes;

/// Checks the assertions that stand at `path`.
pub(crate) fn check(document: &Document, path: &Path, assertions: &[String], findings: &mut Findings) {
    for (index, assertion) in assertions.iter().enumerate() {
        if !is_assertion(assertion) {
            let message = format!("`{assertion}` is no assertion on order");
            let hint = "write `A before B`, `A succeeds before B`, `B eventually active` or `B never while not network-online`, with units for A and B";
            let place = document.place(&path.index(index));
            findings.push(Finding::error(codes::ORDER_SYNTAX, message).at(place).hint(hint));
        }
    }
}

fn is_assertion(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    matches!(
        words.as_slice(),
        [_, "before", _]
            | [_, "succeeds", "before", _]
            | [_, "eventually", "active"]
            | [_, "never", "while", "not", "network-online"]
    )
}
