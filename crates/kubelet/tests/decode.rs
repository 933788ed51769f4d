//! The validator against the decoders of real minors: `tools/strict-decode/verdicts` recorded what they say.

use bringup_kubelet::{ConfigFault, FaultKind, Minor, validate_config};

const CASES: &str = include_str!("decode/cases.jsonl");
const VERDICTS: &str = include_str!("decode/verdicts.tsv");

/// Texts that Kubernetes reads as a quantity without a digit in it. We refuse them: nobody means them.
const NO_DIGITS: [&str; 5] = ["\".\"", "\"Mi\"", "\".Mi\"", "\"-\"", "\"e3\""];

fn stops_kubelet(fault: &ConfigFault) -> bool {
    !matches!(fault.kind, FaultKind::Deprecated { .. })
}

#[test]
fn the_validator_agrees_with_the_decoders_of_three_minors() {
    let verdicts: Vec<&str> = VERDICTS.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(CASES.lines().count(), verdicts.len(), "run tools/strict-decode/verdicts");
    let mut differences = Vec::new();
    for (case, verdicts) in CASES.lines().zip(verdicts) {
        let value = serde_json::from_str(case).unwrap();
        for (minor, verdict) in [20, 27, 37].into_iter().zip(verdicts.split('\t')) {
            let faults = validate_config(&value, Minor(minor));
            let ours = if faults.iter().any(stops_kubelet) { "error" } else { "ok" };
            let stricter = ours == "error" && NO_DIGITS.iter().any(|text| case.contains(text));
            if ours != verdict && !stricter {
                differences.push(format!("1.{minor} {case}: decoder {verdict}, we {faults:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
