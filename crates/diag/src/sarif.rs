//! Findings as SARIF 2.1.0, which code hosts show beside the changed lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::mask::masked_message;
use crate::{Finding, Findings, Place, Position};

/// The findings as one SARIF run of the tool `bringup`.
pub fn to_sarif(findings: &Findings, version: &str) -> Value {
    let about: BTreeMap<&str, &str> =
        findings.iter().map(|finding| (finding.code.name, finding.code.about)).collect();
    let indices: BTreeMap<&str, usize> =
        about.keys().enumerate().map(|(index, name)| (*name, index)).collect();
    let rules: Vec<Value> = about
        .into_iter()
        .map(|(name, about)| json!({"id": name, "shortDescription": {"text": sentence(about)}}))
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut result = result(finding);
            result["ruleIndex"] = indices.get(finding.code.name).copied().into();
            result
        })
        .collect();
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
    let text = match &finding.hint {
        Some(hint) => format!("{}; {}", masked_message(&finding.message), masked_message(hint)),
        None => masked_message(&finding.message),
    };
    let locations: Vec<Value> = finding.place.iter().map(|place| location(place, None)).collect();
    let related: Vec<Value> =
        finding.related.iter().map(|(place, label)| location(place, Some(&masked_message(label)))).collect();
    let mut result = json!({"ruleId": finding.code.name, "level": finding.severity.word(), "message": {"text": text}, "locations": locations});
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    result
}

/// The paragraph of a code on one line.
fn sentence(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file as a URI reference: what may not stand in one is escaped. The `#part` of a carrier is its fragment.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    let mut in_fragment = false;
    for byte in file.bytes() {
        let keep = byte.is_ascii_alphanumeric() || b"-._~/:@!$&'()*+,;=".contains(&byte);
        if keep || (byte == b'#' && !in_fragment) {
            in_fragment |= byte == b'#';
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn location(place: &Place, label: Option<&str>) -> Value {
    let start = Position { line: place.span.start.line.max(1), column: place.span.start.column.max(1) };
    let end = Position { line: place.span.end.line.max(1), column: place.span.end.column.max(1) }.max(start);
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(&place.file)},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }});
    if let Some(label) = label {
        location["message"] = json!({"text": label});
    }
    location
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::to_sarif;
    use crate::{Code, Finding, Findings, Place, Position, Span};

    const TAB: Code = Code { name: "part/tab", about: " Tabs cannot\n indent YAML.\n" };
    const FIRST: Code = Code { name: "a/first", about: "First." };

    #[test]
    fn results_refer_to_their_rules_and_places_are_whole() {
        let span = Span { start: Position { line: 2, column: 5 }, end: Position { line: 2, column: 1 } };
        let findings = Findings::from_iter([
            Finding::error(TAB, "a tab").at(Place::new("my file.mime#part 1#", span)).hint("use spaces"),
            Finding::note(FIRST, "all").related(Place::new("b", Span::default()), "here"),
        ]);
        let sarif = to_sarif(&findings, "1.2.3");
        let run = &sarif["runs"][0];
        assert_eq!(
            run["tool"]["driver"]["rules"],
            json!([
                {"id": "a/first", "shortDescription": {"text": "First."}},
                {"id": "part/tab", "shortDescription": {"text": "Tabs cannot indent YAML."}},
            ])
        );
        assert_eq!(
            run["results"][0],
            json!({
                "ruleId": "part/tab", "ruleIndex": 1, "level": "error",
                "message": {"text": "a tab; use spaces"},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": "my%20file.mime#part%201%23"},
                    "region": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 5},
                }}],
            })
        );
        assert_eq!(run["results"][1]["locations"], json!([]));
        assert_eq!(run["results"][1]["relatedLocations"][0]["message"], json!({"text": "here"}));
        assert_eq!(run["results"][1]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 1);
    }
}
