//! Findings for machines, in the shape that the contracts fix.

use serde::Serialize;

use crate::mask::masked_message;
use crate::{Finding, Findings, Severity};

/// One finding as JSON.
#[derive(Debug, Serialize)]
pub struct FindingRecord<'a> {
    code: &'a str,
    severity: Severity,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    message: String,
    hint: Option<String>,
}

impl<'a> From<&'a Finding> for FindingRecord<'a> {
    fn from(finding: &'a Finding) -> Self {
        let place = finding.place.as_ref();
        Self {
            code: finding.code.name,
            severity: finding.severity,
            file: place.map(|place| place.file.as_str()),
            line: place.map(|place| place.span.start.line),
            column: place.map(|place| place.span.start.column),
            message: masked_message(&finding.message),
            hint: finding.hint.as_deref().map(masked_message),
        }
    }
}

/// The findings as a JSON array.
pub fn to_json(findings: &Findings) -> serde_json::Value {
    let records: Vec<FindingRecord> = findings.iter().map(FindingRecord::from).collect();
    serde_json::to_value(records).unwrap_or_default()
}
