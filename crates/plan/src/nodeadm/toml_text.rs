//! TOML as Go's `go-toml` writes it: sorted, literal strings where they can be, a header for every table.

use std::fmt::Write as _;

use toml::{Table, Value};

/// Tables are merged deeply, everything else is replaced whole.
pub(super) fn lay_over(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => lay_over(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The whole text.
pub(super) fn text(table: &Table) -> String {
    let mut text = String::new();
    body(&mut text, &mut Vec::new(), table, None);
    text
}

/// What comes first among the keys of a table, by its path and the key; of equals, the name decides.
pub(super) type Rank<'rank> = &'rank dyn Fn(&[&str], &str) -> usize;

/// The whole text with keys in an order, and each table indented in the one around it.
pub(super) fn in_order(table: &Table, rank: Rank<'_>) -> String {
    let mut text = String::new();
    body(&mut text, &mut Vec::new(), table, Some(rank));
    text
}

fn body<'a>(text: &mut String, path: &mut Vec<&'a str>, table: &'a Table, rank: Option<Rank<'_>>) {
    let mut entries: Vec<_> = table.iter().collect();
    if let Some(rank) = rank {
        entries.sort_by_key(|(key, _)| rank(path, key));
    }
    let (tables, values): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(_, value)| has_header(value));
    let deep = |depth: usize| if rank.is_some() { "  ".repeat(depth) } else { String::new() };
    for (key, value) in &values {
        let _ = writeln!(text, "{}{} = {}", deep(path.len()), key_text(key), inline(value));
    }
    for (index, (key, value)) in tables.into_iter().enumerate() {
        if index > 0 || !values.is_empty() {
            text.push('\n');
        }
        path.push(key);
        let name: Vec<String> = path.iter().map(|key| key_text(key)).collect();
        let (name, before) = (name.join("."), deep(path.len().saturating_sub(1)));
        match value {
            Value::Table(table) => {
                let _ = writeln!(text, "{before}[{name}]");
                body(text, path, table, rank);
            }
            Value::Array(items) => {
                for (index, item) in items.iter().filter_map(Value::as_table).enumerate() {
                    if index > 0 {
                        text.push('\n');
                    }
                    let _ = writeln!(text, "{before}[[{name}]]");
                    body(text, path, item, rank);
                }
            }
            _ => {}
        }
        path.pop();
    }
}

/// Whether it is written beneath a header of its own.
fn has_header(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_table),
        _ => false,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "nan".to_owned(),
        Value::Float(number) if number.is_infinite() => {
            if *number > 0.0 {
                "inf".to_owned()
            } else {
                "-inf".to_owned()
            }
        }
        Value::Float(number) if number.fract() == 0.0 => format!("{number:.1}"),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(date) => date.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", key_text(key), inline(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

fn key_text(key: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { string(key) }
}

fn string(text: &str) -> String {
    let literal = |letter: char| letter != '\'' && (letter == '\t' || !letter.is_control());
    if text.chars().all(literal) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values first, then tables; a blank line before a table, unless it follows the header that it is in.
    #[test]
    fn tables_follow_values_and_every_one_has_its_header() {
        let table: Table =
            "version = 3\n[plugins.'a.b'.c]\nx = \"it's\"\ny = [1, 'z']\nz = 1.0\n[grpc]\naddress = \"/a\"\n[[l]]\nm = 1\n[[l]]\n"
                .parse()
                .unwrap();
        let expected = "version = 3\n\n[grpc]\naddress = '/a'\n\n[[l]]\nm = 1\n\n[[l]]\n\n[plugins]\n\
                        [plugins.'a.b']\n[plugins.'a.b'.c]\nx = \"it's\"\ny = [1, 'z']\nz = 1.0\n";
        assert_eq!(text(&table), expected);
        assert_eq!(text(&table).parse::<Table>().unwrap(), table);
    }
}
