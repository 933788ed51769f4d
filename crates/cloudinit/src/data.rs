//! Values as PyYAML constructs them and Python prints them, each with the place where it was written.

use std::fmt::Write as _;

use bringup_diag::Span;
use bringup_yaml::{Content, Entry, Node, Resolved, Scalar, Style};

use crate::date::printed_date;
use crate::transfer::base64_lenient;

/// A value of a cloud-config.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// What it is.
    pub value: Value,
    /// The number of the part that it stands in, and where there; nothing for what a JSON patch brought.
    pub at: Option<(usize, Span)>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`.
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// A number with a point.
    Float(f64),
    /// A date or time, as Python prints it.
    Date(String),
    /// Text.
    Text(String),
    /// `!!binary`.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Datum>),
    /// A dictionary in the order of insertion.
    Map(Vec<(Key, Datum)>),
}

/// A key of a dictionary. Only texts are looked for; `yes:` makes a key that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A text.
    Text(String),
    /// Anything else, as Python prints it.
    Other(String),
}

/// What PyYAML refuses to construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconstructible {
    /// Why.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl Datum {
    /// A value without a place.
    pub fn unplaced(value: Value) -> Self {
        Self { value, at: None }
    }

    /// What PyYAML makes of a node of part number `part`.
    pub fn construct(node: &Node, part: usize) -> Result<Self, Unconstructible> {
        let fault = |message: String| Unconstructible { message, span: node.span };
        let value = match (&node.content, node.tag.as_deref()) {
            (Content::Scalar(scalar), None | Some("!")) => {
                // A lonely `!` makes it look even into quotes.
                let is_plain = scalar.style == Style::Plain || node.tag.is_some();
                // It knows a type for each of these, and how to make a value of neither; as keys they are fine.
                if is_plain && matches!(scalar.text.as_str(), "=" | "<<") {
                    return Err(fault(format!("PyYAML has no value for a plain `{}`", scalar.text)));
                }
                let style = if is_plain { Style::Plain } else { scalar.style };
                scalar_value(&Scalar { text: scalar.text.clone(), style }, None).map_err(fault)?
            }
            (Content::Scalar(scalar), tag) => scalar_value(scalar, tag).map_err(fault)?,
            (Content::List(items), None | Some("!" | "!!seq" | "!!omap" | "!!pairs")) => {
                Value::List(items.iter().map(|item| Self::construct(item, part)).collect::<Result<_, _>>()?)
            }
            (Content::Map(entries), None | Some("!" | "!!map" | "!!set")) => {
                let mut pairs = Vec::with_capacity(entries.len());
                for entry in flattened(entries)? {
                    let value = Self::construct(&entry.value, part)?;
                    set(&mut pairs, key_of(entry)?, value);
                }
                Value::Map(pairs)
            }
            (_, Some(tag)) => return Err(fault(format!("the tag `{tag}` is unknown to cloud-init"))),
        };
        Ok(Self { value, at: Some((part, node.span)) })
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Datum> {
        let Value::Map(pairs) = &self.value else { return None };
        pairs.iter().find(|(name, _)| matches!(name, Key::Text(name) if name == key)).map(|(_, value)| value)
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Datum]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Whether cloud-init takes it for true: a truth, or a text or number that says so.
    pub fn is_true(&self) -> bool {
        match &self.value {
            Value::Bool(truth) => *truth,
            Value::Null => false,
            _ => matches!(self.python_str().to_lowercase().trim(), "true" | "1" | "on" | "yes"),
        }
    }

    /// What Python's `str` makes of it.
    pub fn python_str(&self) -> String {
        if let Value::Text(text) | Value::Date(text) = &self.value {
            return text.clone();
        }
        let mut out = String::new();
        self.write_repr(&mut out);
        out
    }

    fn write_repr(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("None"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Integer(number) => {
                let _ = write!(out, "{number}");
            }
            Value::Float(number) => out.push_str(&float_repr(*number)),
            Value::Date(text) => {
                let numbers = text.split('-').map(|digits| digits.trim_start_matches('0'));
                let _ = write!(out, "datetime.date({})", numbers.collect::<Vec<_>>().join(", "));
            }
            Value::Text(text) => write_text_repr(out, text),
            Value::Bytes(bytes) => {
                out.push('b');
                let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
                write_text_repr(out, &text);
            }
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    item.write_repr(out);
                }
                out.push(']');
            }
            Value::Map(pairs) => {
                out.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    match key {
                        Key::Text(text) => write_text_repr(out, text),
                        Key::Other(text) => out.push_str(text),
                    }
                    out.push_str(": ");
                    value.write_repr(out);
                }
                out.push('}');
            }
        }
    }

    /// From JSON.
    pub fn from_json(json: serde_json::Value) -> Self {
        Self::unplaced(match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            serde_json::Value::Number(number) => number
                .as_i128()
                .map_or_else(|| Value::Float(number.as_f64().unwrap_or_default()), Value::Integer),
            serde_json::Value::String(text) => Value::Text(text),
            serde_json::Value::Array(items) => Value::List(items.into_iter().map(Self::from_json).collect()),
            serde_json::Value::Object(pairs) => Value::Map(
                pairs.into_iter().map(|(key, value)| (Key::Text(key), Self::from_json(value))).collect(),
            ),
        })
    }

    /// The word for its type in Python.
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Date(_) => "a date",
            Value::Text(_) => "a string",
            Value::Bytes(_) => "binary",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Sets a key in its place, or at the end, as a Python dictionary does.
pub(crate) fn set(pairs: &mut Vec<(Key, Datum)>, key: Key, value: Datum) {
    match pairs.iter_mut().find(|(name, _)| *name == key) {
        Some(pair) => pair.1 = value,
        None => pairs.push((key, value)),
    }
}

fn scalar_value(scalar: &Scalar, tag: Option<&str>) -> Result<Value, String> {
    let as_plain = |text: &str| Scalar { text: text.to_owned(), style: Style::Plain }.yaml11();
    Ok(match tag {
        None => match scalar.yaml11() {
            Resolved::Null => Value::Null,
            Resolved::Bool(truth) => Value::Bool(truth),
            Resolved::Integer(number) => Value::Integer(number),
            Resolved::Float(number) => Value::Float(number),
            Resolved::Timestamp(text) => {
                printed_date(&text).map(Value::Date).ok_or_else(|| no_date(&text))?
            }
            Resolved::String(text) => Value::Text(text),
        },
        Some("!!str" | "!!python/unicode") => Value::Text(scalar.text.clone()),
        Some("!!null") => Value::Null,
        Some("!!bool") => match scalar.text.to_lowercase().as_str() {
            "yes" | "true" | "on" => Value::Bool(true),
            "no" | "false" | "off" => Value::Bool(false),
            other => return Err(format!("`{other}` is no truth value")),
        },
        Some("!!int") => match as_plain(&scalar.text) {
            Resolved::Integer(number) => Value::Integer(number),
            _ => return Err(format!("`{}` is no number", scalar.text)),
        },
        Some("!!float") => match as_plain(&scalar.text) {
            #[expect(clippy::cast_precision_loss, reason = "this is what a float tag asks for")]
            Resolved::Integer(number) => Value::Float(number as f64),
            Resolved::Float(number) => Value::Float(number),
            _ => return Err(format!("`{}` is no number", scalar.text)),
        },
        Some("!!timestamp") => {
            printed_date(&scalar.text).map(Value::Date).ok_or_else(|| no_date(&scalar.text))?
        }
        Some("!!binary") => base64_lenient(scalar.text.as_bytes())
            .map(Value::Bytes)
            .map_err(|_| "the binary value is not base64".to_owned())?,
        Some(tag) => return Err(format!("the tag `{tag}` is unknown to cloud-init")),
    })
}

fn no_date(text: &str) -> String {
    format!("`{text}` looks like a date, but there is no such day or time")
}

/// The entries with `<<` resolved: what is merged in comes first, so that the mapping's own keys win.
fn flattened(entries: &[Entry]) -> Result<Vec<&Entry>, Unconstructible> {
    let is_merge = |entry: &Entry| entry.key == "<<" && entry.key_style == Style::Plain;
    let mut merged = Vec::new();
    for entry in entries.iter().filter(|entry| is_merge(entry)) {
        let fault = || Unconstructible {
            message: "`<<` merges a mapping or a list of mappings".to_owned(),
            span: entry.value.span,
        };
        match &entry.value.content {
            Content::Map(inner) => merged.extend(flattened(inner)?),
            Content::List(items) => {
                // Earlier mappings win, so they come last.
                for item in items.iter().rev() {
                    merged.extend(flattened(item.entries().ok_or_else(fault)?)?);
                }
            }
            Content::Scalar(_) => return Err(fault()),
        }
    }
    merged.extend(entries.iter().filter(|entry| !is_merge(entry)));
    Ok(merged)
}

fn key_of(entry: &Entry) -> Result<Key, Unconstructible> {
    // A key that is a list or a mapping is shown as its place in brackets, which no plain scalar can start with.
    if entry.key_style == Style::Plain && entry.key.starts_with('[') {
        let message = "a mapping or list cannot be a key".to_owned();
        return Err(Unconstructible { message, span: entry.key_span });
    }
    let scalar = Scalar { text: entry.key.clone(), style: entry.key_style };
    if scalar.text.is_empty() && scalar.style == Style::Plain {
        let message = "a key is missing before the colon".to_owned();
        return Err(Unconstructible { message, span: entry.key_span });
    }
    Ok(match scalar_value(&scalar, None) {
        Ok(Value::Text(text)) => Key::Text(text),
        Ok(value) => Key::Other(Datum::unplaced(value).python_str()),
        Err(message) => return Err(Unconstructible { message, span: entry.key_span }),
    })
}

fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let text = format!("{number:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn write_text_repr(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter == quote => {
                out.push('\\');
                out.push(letter);
            }
            letter if u32::from(letter) < 0x20 || (0x7f..0xa1).contains(&u32::from(letter)) => {
                let _ = write!(out, "\\x{:02x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::{Datum, Key, Value};

    fn load(text: &str) -> Result<Datum, String> {
        let node = bringup_yaml::parse_one(text, bringup_yaml::Limits::default()).unwrap().unwrap();
        Datum::construct(&node, 0).map_err(|fault| fault.message)
    }

    /// The right column was printed by `str(yaml.safe_load(...))` with PyYAML 6.0.3 on Python 3.11.
    #[test]
    fn values_print_as_python_prints_them() {
        let cases = [
            ("[yes, null, 0x1F, 1:30, 0755, 1_000]", "[True, None, 31, 90, 493, 1000]"),
            ("[1.5, 1.0, 1.0e+16, 1.0e-5, .inf, -.inf, .nan]", "[1.5, 1.0, 1e+16, 1e-05, inf, -inf, nan]"),
            (
                "[\"it's\", 'say \"x\"', \"both ' and \\\"\", \"t\\tn\\n\"]",
                r#"["it's", 'say "x"', 'both \' and "', 't\tn\n']"#,
            ),
            ("{a: {b: [1]}, yes: 2, 3: c}", "{'a': {'b': [1]}, True: 2, 3: 'c'}"),
            ("a: !!binary aGk=", "{'a': b'hi'}"),
            ("[2020-01-02]", "[datetime.date(2020, 1, 2)]"),
            ("{a: &x {k: 1, l: 2}, b: {<<: *x, l: 3}}", "{'a': {'k': 1, 'l': 2}, 'b': {'k': 1, 'l': 3}}"),
            ("{a: {<<: [{k: 1}, {k: 2, m: 3}]}}", "{'a': {'k': 1, 'm': 3}}"),
            ("[!!str 1, !!int '7', !!float 2]", "['1', 7, 2.0]"),
            ("{=: 1, a: '='}", "{'=': 1, 'a': '='}"),
            ("[! 5, ! '5', ! yes, ! x]", "[5, 5, True, 'x']"),
        ];
        for (written, printed) in cases {
            assert_eq!(load(written).unwrap().python_str(), printed, "{written}");
        }
    }

    #[test]
    fn what_pyyaml_refuses_is_refused() {
        for written in ["a: !foo b", "? [a]\n: b", "a: !!python/tuple [1]", "<<: 1", "a: {{ b }}", ": a"] {
            assert!(load(written).is_err(), "{written}");
        }
    }

    #[test]
    fn a_truth_as_a_key_is_not_its_text() {
        let map = load("on: 1\n'on': 2\n").unwrap();
        assert_eq!(map.get("on").unwrap().value, Value::Integer(2));
        let Value::Map(pairs) = &map.value else { panic!("a mapping") };
        assert_eq!(pairs[0].0, Key::Other("True".to_owned()));
    }

    /// By `cloudinit.util.translate_bool`.
    #[test]
    fn truths_are_cloud_inits() {
        for (written, truth) in [
            ("yes", true),
            ("'yes'", true),
            ("'y'", false),
            ("1", true),
            ("2", false),
            ("' On '", true),
            ("~", false),
        ] {
            assert_eq!(
                load(&format!("a: {written}")).unwrap().get("a").unwrap().is_true(),
                truth,
                "{written}"
            );
        }
    }
}
