//! A value as YAML that every reader understands alike.

use std::fmt::Write as _;

use crate::{Scalar, Style, Value, resolve::Resolved};

/// The value as a YAML document in block style, LF at the end.
///
/// A string is plain only where YAML 1.1 and 1.2 both read it back as that string; several lines become a block.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Map(pairs) if !pairs.is_empty() => write_map(&mut out, pairs, 0),
        Value::List(items) if !items.is_empty() => write_list(&mut out, items, 0),
        leaf => {
            write_leaf(&mut out, leaf, 0);
            out.push('\n');
        }
    }
    out
}

fn write_map(out: &mut String, pairs: &[(String, Value)], indent: usize) {
    for (position, (key, value)) in pairs.iter().enumerate() {
        if position > 0 || !at_line_content(out) {
            pad(out, indent);
        }
        write_string(out, key, None);
        out.push(':');
        write_nested(out, value, indent, indent);
    }
}

fn write_list(out: &mut String, items: &[Value], indent: usize) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 || !at_line_content(out) {
            pad(out, indent);
        }
        out.push('-');
        match item {
            Value::Map(pairs) if !pairs.is_empty() => {
                out.push(' ');
                write_map(out, pairs, indent + 2);
            }
            Value::List(items) if !items.is_empty() => {
                out.push(' ');
                write_list(out, items, indent + 2);
            }
            leaf => {
                out.push(' ');
                write_leaf(out, leaf, indent);
                out.push('\n');
            }
        }
    }
}

/// Whether the writer stands behind a `- ` on the same line.
fn at_line_content(out: &str) -> bool {
    out.ends_with("- ")
}

fn write_nested(out: &mut String, value: &Value, indent: usize, list_indent: usize) {
    match value {
        Value::Map(pairs) if !pairs.is_empty() => {
            out.push('\n');
            write_map(out, pairs, indent + 2);
        }
        Value::List(items) if !items.is_empty() => {
            out.push('\n');
            write_list(out, items, list_indent);
        }
        leaf => {
            out.push(' ');
            write_leaf(out, leaf, indent);
            out.push('\n');
        }
    }
}

fn write_leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => write_float(out, *number),
        Value::String(text) => write_string(out, text, Some(indent)),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

fn write_float(out: &mut String, number: f64) {
    if number.is_nan() {
        out.push_str(".nan");
    } else if number.is_infinite() {
        out.push_str(if number > 0.0 { ".inf" } else { "-.inf" });
    } else {
        // The display form never writes an exponent; a point is what makes a float in YAML 1.1.
        let text = format!("{number}");
        out.push_str(&text);
        if !text.contains('.') {
            out.push_str(".0");
        }
    }
}

fn write_string(out: &mut String, text: &str, block_indent: Option<usize>) {
    if let Some(indent) = block_indent
        && fits_block(text)
    {
        write_block(out, text, indent);
    } else if is_plain(text) {
        out.push_str(text);
    } else {
        write_quoted(out, text);
    }
}

/// Whether both dialects read the bare text back as the same string.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let safe_letter = |letter: char| {
        letter.is_ascii_alphanumeric() || " _-./+@%,()=^~$<>;\\".contains(letter) || letter == ':'
    };
    (first.is_ascii_alphanumeric() || matches!(first, '/' | '_' | '.' | '$' | '(' | '+' | '^'))
        && text.chars().all(safe_letter)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !matches!(text, "y" | "Y" | "n" | "N" | "=" | "<<" | "...")
        && {
            let scalar = Scalar { text: text.to_owned(), style: Style::Plain };
            matches!(scalar.core(), Resolved::String(_)) && matches!(scalar.yaml11(), Resolved::String(_))
        }
}

/// Text of several lines that a literal block can hold without loss.
fn fits_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with(['\n', ' ', '\t'])
        && is_printable_text(text)
        && text.lines().all(|line| !line.trim_start_matches(' ').is_empty() || line.is_empty())
}

/// Whether a literal block can hold every letter. Nearly all text is ASCII, and bytes are quicker to look at than letters.
fn is_printable_text(text: &str) -> bool {
    if text.is_ascii() {
        // All of them, without a way out: so the compiler looks at many at a time.
        return text.bytes().fold(true, |all, byte| all & matches!(byte, b'\n' | b'\t' | b' '..=b'~'));
    }
    text.chars().all(|letter| letter == '\n' || letter == '\t' || is_printable(letter))
}

fn is_printable(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
        && !matches!(letter, '\u{2028}' | '\u{2029}')
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    let trailing = text.len() - text.trim_end_matches('\n').len();
    out.push_str(match trailing {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    let body = text.strip_suffix('\n').unwrap_or(text);
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(out, indent + 2);
            out.push_str(line);
        }
    }
}

fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if is_printable(letter) => out.push(letter),
            letter => {
                let code = u32::from(letter);
                let _ = if code <= 0xff {
                    write!(out, "\\x{code:02x}")
                } else if code <= 0xffff {
                    write!(out, "\\u{code:04x}")
                } else {
                    write!(out, "\\U{code:08x}")
                };
            }
        }
    }
    out.push('"');
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}
