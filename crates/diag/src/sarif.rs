//! Findings as SARIF 2.1.0, which code hosts show beside the changed lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Finding, Findings, Place, Severity};

/// The findings as one SARIF run of the tool `bringup`.
pub fn to_sarif(findings: &Findings, version: &str) -> Value {
    let rules: BTreeMap<&str, &str> =
        findings.iter().map(|finding| (finding.code.name, finding.code.about)).collect();
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|(name, about)| json!({"id": name, "shortDescription": {"text": about.trim()}}))
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "bringup", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let text = match &finding.hint {
        Some(hint) => format!("{}; {hint}", finding.message),
        None => finding.message.clone(),
    };
    let locations: Vec<Value> = finding.place.iter().map(|place| location(place, None)).collect();
    let related: Vec<Value> =
        finding.related.iter().map(|(place, label)| location(place, Some(label))).collect();
    let mut result = json!({"ruleId": finding.code.name, "level": level, "message": {"text": text}, "locations": locations});
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    result
}

fn location(place: &Place, label: Option<&str>) -> Value {
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": place.file},
        "region": {
            "startLine": place.span.start.line.max(1),
            "startColumn": place.span.start.column.max(1),
            "endLine": place.span.end.line.max(1),
            "endColumn": place.span.end.column.max(1),
        },
    }});
    if let Some(label) = label {
        location["message"] = json!({"text": label});
    }
    location
}
