//! The type of a plain scalar, by dialect.

use crate::{Scalar, Style, Value};

/// A scalar with its type decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// A date or time, which PyYAML turns into an object of its own.
    Timestamp(String),
    /// Text.
    String(String),
}

impl Resolved {
    /// The word for its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Timestamp(_) => "a date",
            Self::String(_) => "a string",
        }
    }
}

impl From<Resolved> for Value {
    fn from(resolved: Resolved) -> Self {
        match resolved {
            Resolved::Null => Value::Null,
            Resolved::Bool(truth) => Value::Bool(truth),
            Resolved::Integer(number) => match i64::try_from(number) {
                Ok(number) => Value::Integer(number),
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "beyond 64 bits a reader of YAML has only a float left"
                )]
                Err(_) => Value::Float(number as f64),
            },
            Resolved::Float(number) => Value::Float(number),
            Resolved::Timestamp(text) | Resolved::String(text) => Value::String(text),
        }
    }
}

impl Scalar {
    /// By YAML 1.2's core schema.
    pub fn core(&self) -> Resolved {
        if self.style != Style::Plain {
            return Resolved::String(self.text.clone());
        }
        let text = self.text.as_str();
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
            "true" | "True" | "TRUE" => return Resolved::Bool(true),
            "false" | "False" | "FALSE" => return Resolved::Bool(false),
            _ => {}
        }
        if !starts_like_a_number(text) {
            return Resolved::String(text.to_owned());
        }
        let based =
            |prefix: &str, radix| text.strip_prefix(prefix).and_then(|digits| digits_in(digits, radix));
        if let Some(number) = based("0o", 8).or_else(|| based("0x", 16)) {
            return Resolved::Integer(number);
        }
        decimal(text).or_else(|| float(text)).unwrap_or_else(|| Resolved::String(text.to_owned()))
    }

    /// By YAML 1.1 as PyYAML reads it: `yes` and `on` are true, `0755` is octal, `1:30` is ninety.
    pub fn yaml11(&self) -> Resolved {
        if self.style != Style::Plain {
            return Resolved::String(self.text.clone());
        }
        let text = self.text.as_str();
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
            "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                return Resolved::Bool(true);
            }
            "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                return Resolved::Bool(false);
            }
            _ => {}
        }
        if !starts_like_a_number(text) {
            return Resolved::String(text.to_owned());
        }
        integer11(text)
            .or_else(|| float11(text))
            .or_else(|| is_timestamp(text).then(|| Resolved::Timestamp(text.to_owned())))
            .unwrap_or_else(|| Resolved::String(text.to_owned()))
    }
}

fn starts_like_a_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-' | '.'))
}

fn digits_in(digits: &str, radix: u32) -> Option<i128> {
    (!digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)))
        .then(|| i128::from_str_radix(digits, radix).ok())
        .flatten()
}

fn decimal(text: &str) -> Option<Resolved> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = digits_in(digits, 10)?;
    Some(Resolved::Integer(if text.starts_with('-') { -number } else { number }))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, infinities and not-a-number.
fn float(text: &str) -> Option<Resolved> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(body, ".inf" | ".Inf" | ".INF") {
        return Some(Resolved::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Resolved::Float(f64::NAN));
    }
    let (mantissa, exponent) =
        body.split_once(['e', 'E']).map_or((body, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let all_digits = |digits: &str| digits.chars().all(|digit| digit.is_ascii_digit());
    let mantissa_fits = all_digits(whole)
        && fraction.is_none_or(all_digits)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    (mantissa_fits && exponent_fits).then(|| text.parse().ok().map(Resolved::Float)).flatten()
}

/// `[-+]? ( 0b[01_]+ | 0[0-7_]+ | 0 | [1-9][0-9_]* | 0x[0-9a-fA-F_]+ | [1-9][0-9_]*(:[0-5]?[0-9])+ )`
fn integer11(text: &str) -> Option<Resolved> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = if let Some(digits) = body.strip_prefix("0b") {
        digits_in(&digits.replace('_', ""), 2)?
    } else if let Some(digits) = body.strip_prefix("0x") {
        digits_in(&digits.replace('_', ""), 16)?
    } else if let Some((first, rest)) = body.split_once(':') {
        if first.starts_with('0') {
            return None;
        }
        let mut number = grouped(first)?;
        for part in rest.split(':') {
            number = number.checked_mul(60)?.checked_add(sixtieth(part)?)?;
        }
        number
    } else if body.len() > 1 && body.starts_with('0') {
        digits_in(&body.replace('_', ""), 8)?
    } else {
        grouped(body)?
    };
    Some(Resolved::Integer(if text.starts_with('-') { -number } else { number }))
}

/// `[0-9][0-9_]*`
fn grouped(text: &str) -> Option<i128> {
    text.starts_with(|digit: char| digit.is_ascii_digit())
        .then(|| digits_in(&text.replace('_', ""), 10))
        .flatten()
}

/// `[0-5]?[0-9]`
fn sixtieth(text: &str) -> Option<i128> {
    digits_in(text, 10).filter(|digit| *digit < 60 && text.len() <= 2)
}

/// `[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?`, the same from the point on but without a sign, sixtieths with
/// a point, infinities and not-a-number: a float needs a point, and its exponent a sign.
fn float11(text: &str) -> Option<Resolved> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(body, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return float(text);
    }
    let (whole, rest) = body.split_once('.')?;
    if whole.contains(':') {
        return sexagesimal(text, whole, rest);
    }
    if whole.is_empty() {
        if body.len() != text.len() || !rest.starts_with(|digit: char| digit.is_ascii_digit()) {
            return None;
        }
    } else {
        grouped(whole)?;
    }
    if let Some((_, exponent)) = rest.split_once(['e', 'E'])
        && (!exponent.starts_with(['+', '-']) || exponent.contains('_'))
    {
        return None;
    }
    float(&text.replace('_', ""))
}

fn sexagesimal(text: &str, whole: &str, fraction: &str) -> Option<Resolved> {
    let mut parts = whole.split(':');
    let mut number = grouped(parts.next()?)?;
    let mut last = number;
    for part in parts {
        last = sixtieth(part)?;
        number = number.checked_mul(60)?.checked_add(last)?;
    }
    let seconds = float(&format!("{last}.{}", fraction.replace('_', "")))?;
    let (Resolved::Float(seconds), Ok(minutes)) = (seconds, i32::try_from(number - last)) else {
        return None;
    };
    let value = seconds + f64::from(minutes);
    Some(Resolved::Float(if text.starts_with('-') { -value } else { value }))
}

fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    if bytes.len() == 10 {
        return digits(0..4) && bytes[4] == b'-' && digits(5..7) && bytes[7] == b'-' && digits(8..10);
    }
    digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && bytes.iter().any(|byte| matches!(byte, b'T' | b't' | b' '))
        && text.matches(':').count() >= 2
        && bytes.iter().all(|byte| byte.is_ascii_digit() || b"-:.+TtZz \t".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::Resolved::{Bool, Float, Integer, Null, String as Text, Timestamp};
    use crate::{Scalar, Style};

    fn plain(text: &str) -> Scalar {
        Scalar { text: text.to_owned(), style: Style::Plain }
    }

    /// The YAML 1.1 column was read off PyYAML 6.0.3's `safe_load`.
    #[test]
    fn the_two_dialects_differ_where_they_should() {
        let text = |text: &str| Text(text.to_owned());
        let cases = [
            ("yes", text("yes"), Bool(true)),
            ("off", text("off"), Bool(false)),
            ("y", text("y"), text("y")),
            ("0755", Integer(755), Integer(493)),
            ("755", Integer(755), Integer(755)),
            ("0o755", Integer(493), text("0o755")),
            ("0888", Integer(888), text("0888")),
            ("1:30", text("1:30"), Integer(90)),
            ("1_000", text("1_000"), Integer(1000)),
            ("1e3", Float(1000.0), text("1e3")),
            ("1.5", Float(1.5), Float(1.5)),
            ("1.", Float(1.0), Float(1.0)),
            ("-.5", Float(-0.5), text("-.5")),
            ("+_12", text("+_12"), text("+_12")),
            ("1:3_0", text("1:3_0"), text("1:3_0")),
            ("1:30.5", text("1:30.5"), Float(90.5)),
            (".", text("."), text(".")),
            ("-", text("-"), text("-")),
            ("2020-01-02", text("2020-01-02"), Timestamp("2020-01-02".to_owned())),
            ("1.30", Float(1.3), Float(1.3)),
            ("10.0.0.1", text("10.0.0.1"), text("10.0.0.1")),
            ("~", Null, Null),
        ];
        for (written, core, yaml11) in cases {
            assert_eq!(plain(written).core(), core, "core {written}");
            assert_eq!(plain(written).yaml11(), yaml11, "1.1 {written}");
        }
    }
}
