//! A cloud-config's text as PyYAML loads it, and as a person meant it where PyYAML refuses.

use bringup_diag::{Finding, Findings, Span};
use bringup_yaml::{Content, Limits, Node, Style, parse};

use crate::data::Datum;
use crate::letters::first_letter;
use crate::scan::{Scan, scan};
use crate::{Origin, codes};

/// What a text holds.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The tree once tabs are repaired: for reading on. Nothing where even that does not parse.
    pub node: Option<Node>,
    /// What cloud-init gets: nothing where PyYAML refuses the text, or where it is empty.
    pub datum: Option<Datum>,
    /// Where what is in the tree was written.
    pub origin: Origin,
    /// Tabs and comments of the raw text.
    pub scan: Scan,
    /// Why PyYAML refuses it, and what it takes otherwise than it looks.
    pub findings: Findings,
}

/// User-data is small; what asks for more than this is a bomb.
fn limits() -> Limits {
    Limits { bytes: 16 << 20, depth: 60, nodes: 500_000 }
}

/// Loads the text of part number `part`.
pub(crate) fn load(text: &str, part: usize, origin: &Origin) -> Loaded {
    let raw = scan(text);
    let mut findings = Findings::new();
    for tab in &raw.tabs {
        let span = Span {
            start: *tab,
            end: bringup_diag::Position { column: tab.column.saturating_add(1), ..*tab },
        };
        findings.push(
            Finding::error(codes::TAB, "a tab outside quotes: cloud-init refuses the whole part")
                .at(origin.place(span))
                .hint("YAML is indented and separated with spaces only; replace the tab"),
        );
    }
    let mut refused = !raw.tabs.is_empty();
    if let Some((span, letter)) = first_unprintable(text) {
        refused = true;
        let code = u32::from(letter);
        findings.push(
            Finding::error(
                codes::UNPRINTABLE,
                format!("U+{code:04X} may not stand in YAML: cloud-init refuses the whole part"),
            )
            .at(origin.place(span))
            .hint("delete it, or write the content in base64 with `encoding: b64`"),
        );
    }
    let mut loaded =
        Loaded { node: None, datum: None, origin: origin.widened(raw.widened.clone()), scan: raw, findings };
    let origin = loaded.origin.clone();
    let mut documents = match parse(&loaded.scan.repaired, limits()) {
        Ok(documents) => documents,
        Err(fault) => {
            let finding = Finding::error(codes::YAML, format!("not YAML: {}", fault.message))
                .at(origin.place(fault.span));
            let hint = fault.hint.unwrap_or_else(|| {
                "cloud-init drops the whole part; quote the value, or check its indentation".to_owned()
            });
            loaded.findings.push(finding.hint(hint));
            return loaded;
        }
    };
    if let Some(second) = second_document(text).or_else(|| documents.get(1).map(|second| second.span)) {
        refused = true;
        loaded.findings.push(
            Finding::error(codes::YAML, "a second document starts here: cloud-init refuses the whole part")
                .at(origin.place(second))
                .hint("a cloud-config is one document; make it a part of its own"),
        );
    }
    documents.truncate(1);
    let Some(mut node) = documents.pop() else { return loaded };
    unended(&mut node, text);
    duplicate_keys(&node, &origin, &mut loaded.findings);
    match Datum::construct(&node, part) {
        Ok(datum) if !refused => loaded.datum = Some(datum),
        Ok(_) => {}
        Err(fault) => loaded.findings.push(
            Finding::error(codes::YAML, fault.message)
                .at(origin.place(fault.span))
                .hint("cloud-init drops the whole part; put the value in quotes"),
        ),
    }
    loaded.node = Some(node);
    loaded
}

/// PyYAML gives the last line of a block no line end that the text does not have; YAML 1.2 does.
fn unended(node: &mut Node, text: &str) {
    let span = node.span;
    match &mut node.content {
        Content::List(items) => items.last_mut().into_iter().for_each(|item| unended(item, text)),
        Content::Map(entries) => {
            entries.last_mut().into_iter().for_each(|entry| unended(&mut entry.value, text));
        }
        Content::Scalar(scalar) => {
            let last_line = text.rsplit('\n').next().unwrap_or_default();
            let indent = usize::try_from(span.start.column.saturating_sub(1)).unwrap_or(0);
            let within =
                !last_line.trim().is_empty() && last_line.chars().take(indent).all(|letter| letter == ' ');
            if within && matches!(scalar.style, Style::Block | Style::Folded) && scalar.text.ends_with('\n') {
                scalar.text.pop();
            }
        }
    }
}

/// The line with the mark of a second document, be it empty.
fn second_document(text: &str) -> Option<Span> {
    let is_mark = |line: &str| {
        line.strip_prefix("---").is_some_and(|rest| rest.trim_start().len() < rest.len() || rest.is_empty())
    };
    let starts = |line: &str| {
        is_mark(line)
            || !(line.trim().is_empty() || line.trim_start().starts_with('#') || line.starts_with('%'))
    };
    let first = text.lines().position(starts)?;
    let (number, line) =
        text.lines().enumerate().skip(first.saturating_add(1)).find(|(_, line)| is_mark(line))?;
    Some(Span::line(u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1), line))
}

fn first_unprintable(text: &str) -> Option<(Span, char)> {
    let is_printable = |letter| matches!(letter, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    let (place, letter) = first_letter(text, |letter| !is_printable(letter))?;
    Some((Span::point(place.line, place.column), letter))
}

fn duplicate_keys(node: &Node, origin: &Origin, findings: &mut Findings) {
    match &node.content {
        Content::Scalar(_) => {}
        Content::List(items) => items.iter().for_each(|item| duplicate_keys(item, origin, findings)),
        Content::Map(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                let earlier = entries.iter().take(index).rfind(|earlier| earlier.key == entry.key);
                if let Some(earlier) =
                    earlier.filter(|_| entry.key != "<<" || entry.key_style != Style::Plain)
                {
                    findings.push(
                        Finding::warning(
                            codes::DUPLICATE_KEY,
                            format!("`{}` stands twice in one mapping; only this one counts", entry.key),
                        )
                        .at(origin.place(entry.key_span))
                        .related(origin.place(earlier.key_span), "lost")
                        .hint("join the two, or delete one"),
                    );
                }
                duplicate_keys(&entry.value, origin, findings);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::load;
    use crate::Origin;

    fn codes(text: &str) -> (bool, Vec<&'static str>) {
        let loaded = load(text, 0, &Origin::whole("x"));
        let mut names: Vec<_> = loaded.findings.iter().map(|finding| finding.code.name).collect();
        names.dedup();
        (loaded.datum.is_some(), names)
    }

    /// The truths are PyYAML 6.0.3's: whether `safe_load` gives a value.
    #[test]
    fn what_pyyaml_refuses_is_no_config() {
        let cases: [(&str, bool, &[&str]); 13] = [
            ("a: b\n", true, &[]),
            ("a:\tb\n", false, &["part/tab"]),
            ("a: b\n---\nc: d\n", false, &["part/yaml"]),
            ("a: b\n---\n", false, &["part/yaml"]),
            ("# head\n---\na: |\n  ---\n", true, &[]),
            ("a: [b\n", false, &["part/yaml"]),
            ("a: {{ b }}\n", false, &["part/yaml"]),
            ("a: !foo b\n", false, &["part/yaml"]),
            ("a: \u{7}\n", false, &["part/unprintable"]),
            ("a: 1\na: 2\n", true, &["part/duplicate-key"]),
            ("# nothing\n", false, &[]),
            ("a: echo: b\n", false, &["part/yaml"]),
            ("a: 'b' c\n", false, &["part/yaml"]),
        ];
        for (text, accepted, expected) in cases {
            let (datum, names) = codes(text);
            assert_eq!((datum, names.as_slice()), (accepted, expected), "{text:?}");
        }
    }

    /// By PyYAML 6.0.3: the text's own last line end is the block's.
    #[test]
    fn a_block_at_the_end_has_the_line_end_that_is_written() {
        let cases = [
            ("a: |\n  x", "{'a': 'x'}"),
            ("a: |\n  x\n", r"{'a': 'x\n'}"),
            ("a:\n- b: |\n    x\n    y", r"{'a': [{'b': 'x\ny'}]}"),
            ("a: |\n  x\n# c", r"{'a': 'x\n'}"),
            ("a: >\n  x", "{'a': 'x'}"),
            ("a: |+\n  x", "{'a': 'x'}"),
        ];
        for (text, expected) in cases {
            assert_eq!(load(text, 0, &Origin::whole("x")).datum.unwrap().python_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn past_the_tabs_the_rest_is_read() {
        let loaded = load("a:\n        - b\n\t- c\nd: [e,\tf]\n", 0, &Origin::whole("x"));
        assert!(loaded.datum.is_none());
        let node = loaded.node.unwrap();
        assert_eq!(node.get("a").unwrap().items().unwrap().len(), 2);
        assert_eq!(node.get("d").unwrap().items().unwrap().len(), 2);
        assert_eq!(loaded.findings.len(), 2);
    }
}
