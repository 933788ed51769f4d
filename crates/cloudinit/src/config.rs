//! The one configuration that all cloud-config parts make together.

use bringup_diag::{Finding, Findings, Span};

use crate::codes;
use crate::data::{Datum, Key, Value};
use crate::handled::Handled;
use crate::kind::Kind;
use crate::load::load;
use crate::merge::{Mergers, Unmergeable};
use crate::part::Part;
use crate::patch::patched;

/// What the parts come to.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    /// The configuration.
    pub config: Datum,
    /// Parts that cloud-init fails to merge, and keys that a later part replaces.
    pub findings: Findings,
}

/// Merges in message order.
pub(crate) fn merged(parts: &[Part], handled: &[Handled]) -> Merged {
    let mut config = Datum::unplaced(Value::Map(Vec::new()));
    let mut findings = Findings::new();
    for item in handled {
        let Some(part) = parts.get(item.part) else { continue };
        let result = match item.kind {
            Kind::CloudConfig => merge_part(&config, part, item, parts, &mut findings),
            Kind::JsonPatch => patched(&config, &item.text),
            _ => continue,
        };
        match result {
            Ok(merged) => config = merged,
            Err(Unmergeable(why)) if why.is_empty() => {}
            Err(Unmergeable(why)) => findings.extend(item.place(parts, Span::point(1, 1)).map(|place| {
                Finding::error(codes::UNMERGEABLE, format!("cloud-init drops `{}`: {why}", part.name))
                    .at(place)
                    .hint("a cloud-config is a mapping; `merge_how: list(append)+dict(no_replace,recurse_list)+str()` is the form that joins lists")
            })),
        }
    }
    Merged { config, findings }
}

/// An error without a text is one that was told already, as a fault of the YAML.
fn merge_part(
    config: &Datum,
    part: &Part,
    item: &Handled,
    parts: &[Part],
    findings: &mut Findings,
) -> Result<Datum, Unmergeable> {
    let loaded = load(&item.text, item.part, &part.origin);
    let Some(mut datum) = loaded.datum else {
        let told = loaded.findings.has_errors();
        return Err(Unmergeable(if told { String::new() } else { "it is empty".to_owned() }));
    };
    if !matches!(datum.value, Value::Map(_)) {
        return Err(Unmergeable(format!("it is {}, not a mapping", datum.type_name())));
    }
    let mergers = Mergers::take(&mut datum, &part.headers)?;
    let merged = mergers.merge(config, &datum)?;
    lost_keys(config, &datum, &merged, item, parts, findings);
    Ok(merged)
}

/// Keys whose earlier or later value does not survive.
fn lost_keys(
    before: &Datum,
    part: &Datum,
    after: &Datum,
    item: &Handled,
    parts: &[Part],
    findings: &mut Findings,
) {
    let (Value::Map(pairs), Some(name)) = (&part.value, parts.get(item.part).map(|part| &part.name)) else {
        return;
    };
    for (key, value) in pairs {
        let Key::Text(key) = key else { continue };
        let (Some(old), Some(new)) = (before.get(key), after.get(key)) else { continue };
        if unplaced_equal(old, value) {
            continue;
        }
        let origin = old.at.and_then(|(number, _)| Some((number, &parts.get(number)?.name)));
        let told = |number: usize| format!("part {}", number.saturating_add(1));
        let (earlier, later, both) = match origin {
            Some((number, earlier)) if earlier == name => (
                told(number),
                told(item.part),
                format!("{} and {}, both named `{name}`,", told(number), told(item.part)),
            ),
            origin => {
                let earlier = origin.map_or("an earlier part".to_owned(), |(_, name)| format!("`{name}`"));
                let both = format!("both {earlier} and `{name}`");
                (earlier, format!("`{name}`"), both)
            }
        };
        let (lost, kept) = if unplaced_equal(new, value) {
            (earlier, later)
        } else if unplaced_equal(new, old) && !is_within(value, old) {
            (later, earlier)
        } else {
            continue;
        };
        let Some(place) = value.at.and_then(|(_, span)| item.place(parts, span)) else { continue };
        let finding = Finding::warning(
            codes::REPLACED_KEY,
            format!("{both} set `{key}`: cloud-init keeps that of {kept}, all of {lost}'s is lost"),
        )
        .at(place)
        .hint("write it once, or put `merge_how: list(append)+dict(no_replace,recurse_list)+str()` into the later part");
        let other = old.at.and_then(|(number, span)| Some(parts.get(number)?.origin.place(span)));
        findings.push(match other {
            Some(other) => finding.related(other, "the earlier one"),
            None => finding,
        });
    }
}

/// Whether a mapping says nothing that the other does not say too.
fn is_within(part: &Datum, whole: &Datum) -> bool {
    match &part.value {
        Value::Map(pairs) => pairs.iter().all(|(key, value)| match key {
            Key::Text(key) => whole.get(key).is_some_and(|known| is_within(value, known)),
            Key::Other(_) => false,
        }),
        _ => unplaced_equal(part, whole),
    }
}

fn unplaced_equal(one: &Datum, other: &Datum) -> bool {
    one.python_str() == other.python_str()
}

#[cfg(test)]
mod tests {
    use super::merged;
    use crate::handled::handled;
    use crate::mime::Headers;
    use crate::{Kind, Origin, Part};

    fn part(name: &str, kind: Kind, text: &str, merge_type: &str) -> Part {
        let header = (!merge_type.is_empty()).then(|| ("Merge-Type".to_owned(), merge_type.to_owned()));
        Part {
            name: name.to_owned(),
            carried_as: name.to_owned(),
            kind,
            content_type: String::new(),
            declared_type: String::new(),
            headers: Headers::from_pairs(header),
            written: text.to_owned(),
            arrives: Some(text.to_owned()),
            origin: Origin::whole(name),
        }
    }

    /// Each line was printed by `CloudConfigPartHandler` of cloud-init 22.4.2, given these parts: `str(handler.cloud_buf)`.
    #[test]
    fn parts_merge_as_cloud_init_merges_them() {
        let recorded = include_str!("../tests/cloud-init-22.4.2/merge.jsonl");
        assert_eq!(recorded.lines().count(), 44);
        for line in recorded.lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let parts: Vec<Part> = match case["patch"].as_str() {
                Some(patch) => {
                    let text = case["text"].as_str().unwrap();
                    let config = part("config", Kind::CloudConfig, text, "");
                    let patch = part("patch", Kind::JsonPatch, &format!("#cloud-config-jsonp\n{patch}"), "");
                    if text.is_empty() { vec![patch] } else { vec![config, patch] }
                }
                None => case["parts"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|given| {
                        let text = given["text"].as_str().unwrap();
                        part("part", Kind::CloudConfig, text, given["header"].as_str().unwrap())
                    })
                    .collect(),
            };
            let (handled, _) = handled(&parts);
            assert_eq!(merged(&parts, &handled).config.python_str(), case["merged"], "{line}");
        }
    }

    #[test]
    fn a_replaced_key_names_both_parts() {
        let parts = [
            part("one.yaml", Kind::CloudConfig, "runcmd: [a]\nsame: 1\n", ""),
            part("two.yaml", Kind::CloudConfig, "same: 1\nruncmd: [b]\n", ""),
        ];
        let (handled, _) = handled(&parts);
        let findings = merged(&parts, &handled).findings;
        let found: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            found,
            [
                "both `one.yaml` and `two.yaml` set `runcmd`: cloud-init keeps that of `two.yaml`, all of `one.yaml`'s is lost"
            ]
        );
        let finding = findings.iter().next().unwrap();
        assert_eq!(finding.place.as_ref().unwrap().file, "two.yaml");
        assert_eq!(finding.place.as_ref().unwrap().span.start.line, 2);
        assert_eq!(finding.related[0].0.file, "one.yaml");
    }
}
