//! YAML as the programs of Kubernetes read it: Go's YAML 1.1 (`sigs.k8s.io/yaml`), turned into JSON.

use std::collections::BTreeMap;

use crate::{Content, Entry, Node, Resolved, Scalar, Style, Value};

impl Scalar {
    /// By YAML 1.1 as Go's reader takes it: `y` and `on` are true, `0755` and `0o755` are octal, `1:30` is text, and so is
    /// a date.
    pub fn go(&self) -> Resolved {
        if self.style != Style::Plain {
            return Resolved::String(self.text.clone());
        }
        let text = self.text.as_str();
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                return Resolved::Bool(true);
            }
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                return Resolved::Bool(false);
            }
            _ => {}
        }
        if !text.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-' | '.')) {
            return Resolved::String(text.to_owned());
        }
        let plain = text.replace('_', "");
        if let Some(number) = whole(&plain) {
            return Resolved::Integer(number);
        }
        // What is left of numbers is written alike in both dialects, but for the digits of an octal number that is none.
        match (Scalar { text: plain, style: Style::Plain }).core() {
            Resolved::Float(number) => Resolved::Float(number),
            #[expect(clippy::cast_precision_loss, reason = "Go's reader has only a float left for it")]
            Resolved::Integer(number) => Resolved::Float(number as f64),
            _ => Resolved::String(text.to_owned()),
        }
    }
}

/// As Go reads a number whose base its beginning tells, within 64 bits.
fn whole(text: &str) -> Option<i128> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match body.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (body.get(2..)?, 16),
        Some("0b") => (body.get(2..)?, 2),
        Some("0o") => (body.get(2..)?, 8),
        Some(begin) if begin.starts_with('0') => (body.get(1..)?, 8),
        _ => (body, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).ok()?;
    let number = if text.starts_with('-') { -number } else { number };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(number)
}

impl Entry {
    /// The key as a program in Go would have it: JSON has texts only, but what was no text was read as what it is.
    pub fn go_key(&self) -> String {
        match (Scalar { text: self.key.clone(), style: self.key_style }).go() {
            Resolved::Bool(truth) => truth.to_string(),
            Resolved::Integer(number) => number.to_string(),
            _ => self.key.clone(),
        }
    }
}

impl Node {
    /// The plain value as a program in Go would have it; of duplicate keys the last counts, tags are dropped.
    pub fn to_go_value(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => match self.tag.as_deref() {
                Some("!!str" | "!") => Value::String(scalar.text.clone()),
                _ => scalar.go().into(),
            },
            Content::List(items) => Value::List(items.iter().map(Node::to_go_value).collect()),
            Content::Map(entries) => {
                let mut map: Vec<(String, Value)> = Vec::with_capacity(entries.len());
                let mut slots: BTreeMap<String, usize> = BTreeMap::new();
                for entry in entries {
                    let (key, value) = (entry.go_key(), entry.value.to_go_value());
                    let slot = *slots.entry(key.clone()).or_insert(map.len());
                    match map.get_mut(slot) {
                        Some(slot) => slot.1 = value,
                        None => map.push((key, value)),
                    }
                }
                Value::Map(map)
            }
        }
    }

    /// The same tree with `<<` replaced by what it stands for; what is written beside it wins. One that stands for
    /// nothing stays, so that its reader can tell of it.
    #[must_use]
    pub fn with_merge_keys(self) -> Self {
        let Self { content, span, tag } = self;
        let content = match content {
            Content::Map(entries) => {
                let (merged, own): (Vec<Entry>, Vec<Entry>) = entries
                    .into_iter()
                    .map(|entry| Entry { value: entry.value.with_merge_keys(), ..entry })
                    .partition(|entry| {
                        entry.key == "<<" && entry.key_style == Style::Plain && lends(&entry.value)
                    });
                let mut whole: Vec<Entry> = Vec::new();
                for source in merged.into_iter().map(|entry| entry.value) {
                    let sources = match source.content {
                        Content::List(items) => items,
                        content => vec![Self { content, ..source }],
                    };
                    for entry in sources.into_iter().filter_map(entries_of).flatten() {
                        if whole.iter().chain(&own).all(|there| there.key != entry.key) {
                            whole.push(entry);
                        }
                    }
                }
                whole.extend(own);
                Content::Map(whole)
            }
            Content::List(items) => Content::List(items.into_iter().map(Node::with_merge_keys).collect()),
            Content::Scalar(scalar) => Content::Scalar(scalar),
        };
        Self { content, span, tag }
    }
}

/// Whether a mapping can take keys from here: from a mapping, or from a list of them.
fn lends(node: &Node) -> bool {
    match &node.content {
        Content::Map(_) => true,
        Content::List(items) => items.iter().all(|item| item.entries().is_some()),
        Content::Scalar(_) => false,
    }
}

fn entries_of(node: Node) -> Option<Vec<Entry>> {
    if let Content::Map(entries) = node.content { Some(entries) } else { None }
}

#[cfg(test)]
mod tests {
    use super::Resolved::{Bool, Float, Integer, Null, String as Text};
    use super::*;
    use crate::{Limits, parse_one};

    /// By the tables of `sigs.k8s.io/yaml/goyaml.v2`, resolve.go.
    #[test]
    fn plain_scalars_are_what_go_takes_them_for() {
        let text = |text: &str| Text(text.to_owned());
        for (written, resolved) in [
            ("y", Bool(true)),
            ("off", Bool(false)),
            ("~", Null),
            ("0755", Integer(493)),
            ("0o755", Integer(493)),
            ("0888", Float(888.0)),
            ("1:30", text("1:30")),
            ("1_000", Integer(1000)),
            ("1e3", Float(1000.0)),
            ("-7", Integer(-7)),
            ("18446744073709551615", Integer(18_446_744_073_709_551_615)),
            ("2020-01-02", text("2020-01-02")),
            ("10.100.0.0/16", text("10.100.0.0/16")),
            ("100Mi", text("100Mi")),
            ("--v=5", text("--v=5")),
        ] {
            let scalar = Scalar { text: written.to_owned(), style: Style::Plain };
            assert_eq!(scalar.go(), resolved, "{written}");
        }
    }

    #[test]
    fn keys_that_are_no_texts_are_read_first() {
        let node = parse_one("{y: 1, 'n': 2, 010: 3, a: 4}", Limits::default()).unwrap().unwrap();
        let expected = serde_json::json!({"true": 1, "n": 2, "8": 3, "a": 4});
        assert_eq!(node.to_go_value().to_json(), expected);
    }

    #[test]
    fn a_merge_key_gives_what_is_not_written_beside_it() {
        let text = "base: &base {a: 1, b: 2}\nover:\n  <<: *base\n  b: 3\n";
        let node = parse_one(text, Limits::default()).unwrap().unwrap().with_merge_keys();
        let over = node.get("over").unwrap().to_go_value();
        assert_eq!(over.to_json(), serde_json::json!({"a": 1, "b": 3}));
    }
}
