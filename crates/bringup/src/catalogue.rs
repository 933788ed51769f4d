//! What the programs know by name: codes of findings and schemas.

use bringup_diag::Code;
use serde_json::Value;

/// Every code of every crate, by name.
pub fn codes() -> Vec<Code> {
    let lists: [&[Code]; 7] = [
        crate::outcome::codes::ALL,
        bringup_ancestors::codes::ALL,
        bringup_carry::codes::ALL,
        bringup_cloudformation::codes::ALL,
        bringup_cloudinit::codes::ALL,
        bringup_plan::codes::ALL,
        bringup_spec::codes::ALL,
    ];
    let mut codes: Vec<Code> = lists.into_iter().flatten().copied().collect();
    codes.sort();
    codes
}

/// Schemas that are written by hand: of what the program prints, and of the plan. Those of what a node writes stand
/// beside its types.
const WRITTEN: [(&str, &str); 10] = [
    ("build", include_str!("schemas/build.json")),
    ("diff", include_str!("schemas/diff.json")),
    ("explain", include_str!("schemas/explain.json")),
    ("failure", include_str!("schemas/failure.json")),
    ("findings", include_str!("schemas/findings.json")),
    ("init", include_str!("schemas/init.json")),
    ("inspect", include_str!("schemas/inspect.json")),
    ("plan", include_str!("schemas/plan.json")),
    ("publish", include_str!("schemas/publish.json")),
    ("try", include_str!("schemas/try.json")),
];

/// Every published schema, by name; the document's first.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let mut schemas = vec![("cluster", bringup_spec::json_schema())];
    let written = WRITTEN.into_iter().chain(bringup_progress::SCHEMAS);
    schemas.extend(written.map(|(name, text)| (name, serde_json::from_str(text).unwrap_or_default())));
    schemas
}

#[cfg(test)]
mod tests {
    use super::codes;

    /// What happens if it is ignored, and what to do: neither fits into a line that says the name again.
    #[test]
    fn every_finding_is_explained_beyond_its_name() {
        let short: Vec<String> = codes()
            .into_iter()
            .filter_map(|code| {
                let about = code.about.split_whitespace().collect::<Vec<_>>().join(" ");
                let (_, title) = code.name.split_once('/')?;
                let repeats = about.to_lowercase().starts_with(&title.replace('-', " "));
                let sentences = about.matches(". ").count() + usize::from(about.ends_with('.'));
                (about.len() < 100 || sentences < 2 || repeats).then(|| format!("{}: {about}", code.name))
            })
            .collect();
        assert!(short.is_empty(), "{} findings are not explained:\n{}", short.len(), short.join("\n"));
    }
}
