//! Prints templates of node groups of many kinds, for others to read: a JSON object `{NAME: {"yaml", "json"}}`.
//!
//! A group with an error among its findings makes the program fail, since its template would mean nothing.
#![expect(clippy::print_stdout, reason = "this program exists to print")]

use std::collections::BTreeMap;
use std::process::ExitCode;

#[path = "../tests/groups/mod.rs"]
mod groups;

fn main() -> ExitCode {
    let mut answer = BTreeMap::new();
    for (name, extra) in groups::VARIANTS {
        let template = groups::template(extra);
        if template.findings.has_errors() {
            println!("{name}: {}", bringup_diag::to_json(&template.findings));
            return ExitCode::FAILURE;
        }
        answer.insert(*name, serde_json::json!({"yaml": template.to_yaml(), "json": template.to_json()}));
    }
    println!("{}", serde_json::json!(answer));
    ExitCode::SUCCESS
}
