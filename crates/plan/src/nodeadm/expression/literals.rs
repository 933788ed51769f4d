//! Numbers and texts as CEL writes them.

use super::values::Value;

/// The number at the beginning of a text, and what is behind it.
pub(super) fn number(text: &str) -> Result<(Value, &str), String> {
    let bytes = text.as_bytes();
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let mut end = if hex { 2 } else { 0 };
    while let Some(byte) = bytes.get(end) {
        let before = end.checked_sub(1).and_then(|at| bytes.get(at));
        let sign = matches!(byte, b'+' | b'-') && matches!(before, Some(b'e' | b'E'));
        let next = end.checked_add(1).and_then(|at| bytes.get(at));
        let part = match byte {
            _ if hex => byte.is_ascii_hexdigit(),
            // A point with nothing behind it is no part of a number, and no number has members.
            b'.' if !next.is_some_and(u8::is_ascii_digit) => return Err("a number has no members".to_owned()),
            _ => byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || sign,
        };
        if !part {
            break;
        }
        end = end.saturating_add(1);
    }
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let unsigned = rest.strip_prefix(['u', 'U']);
    let (body, radix) = if hex { (digits.get(2..).unwrap_or_default(), 16) } else { (digits, 10) };
    let number = match unsigned {
        Some(_) => u64::from_str_radix(body, radix).ok().map(Value::Uint),
        None if !hex && digits.contains(['.', 'e', 'E']) => digits.parse().ok().map(Value::Double),
        None => i64::from_str_radix(body, radix).ok().map(Value::Int),
    };
    let number = number.ok_or_else(|| format!("`{digits}` is no number that can be had"))?;
    Ok((number, unsigned.unwrap_or(rest)))
}

/// Why a text in quotes is none.
pub(super) enum NoText {
    /// It is one of bytes.
    Bytes,
    /// CEL does not know it, either.
    Broken(&'static str),
}

/// The text in quotes at the beginning of a text, and what is behind it; none if there is none.
pub(super) fn text(text: &str) -> Result<Option<(String, &str)>, NoText> {
    let prefix: String = text.chars().take_while(|letter| "rRbB".contains(*letter)).collect();
    let quoted = text.get(prefix.len()..).unwrap_or_default();
    if prefix.len() > 2 || !quoted.starts_with(['\'', '"']) {
        return Ok(None);
    }
    if prefix.contains(['b', 'B']) {
        return Err(NoText::Bytes);
    }
    let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| quoted.starts_with(quote));
    let quote = quote.unwrap_or("'");
    let mut rest = quoted.get(quote.len()..).unwrap_or_default();
    let mut value = String::new();
    loop {
        if let Some(behind) = rest.strip_prefix(quote) {
            return Ok(Some((value, behind)));
        }
        let Some(letter) = rest.chars().next() else { return Err(NoText::Broken("a text in it has no end")) };
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '\\' if prefix.is_empty() => {
                let (letter, behind) =
                    escaped(rest).ok_or(NoText::Broken("a text in it has an unknown escape"))?;
                value.push(letter);
                rest = behind;
            }
            '\n' | '\r' if quote.len() == 1 => {
                return Err(NoText::Broken("a text in it goes over a line's end"));
            }
            _ => value.push(letter),
        }
    }
}

/// The letter that stands for what follows a `\`, and what is behind that.
fn escaped(text: &str) -> Option<(char, &str)> {
    let first = text.chars().next()?;
    let rest = text.get(first.len_utf8()..)?;
    let numbered = |from: &'static str, count: usize, radix: u32| {
        let digits = text.get(from.len()..from.len().checked_add(count)?)?;
        let letter = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
        Some((letter, text.get(from.len().checked_add(count)?..)?))
    };
    let letter = match first {
        '\\' | '\'' | '"' | '`' | '?' => first,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' | 'X' => return numbered("x", 2, 16),
        'u' => return numbered("u", 4, 16),
        'U' => return numbered("U", 8, 16),
        '0'..='3' => return numbered("", 3, 8),
        _ => return None,
    };
    Some((letter, rest))
}
