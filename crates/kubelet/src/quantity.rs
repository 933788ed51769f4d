//! Go's durations and Kubernetes' quantities, as far as to say whether a text is one.

/// Units of `time.ParseDuration`, with their length in nanoseconds; longer names first where one begins another.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration by the rules of Go's `time.ParseDuration`; `None` if it is none, or longer than 292 years.
pub fn duration_nanoseconds(text: &str) -> Option<i64> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    // The one number that needs no unit.
    if unsigned == "0" {
        return Some(0);
    }
    let mut rest = unsigned;
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total =
            total.checked_add(whole.checked_mul(*length)?)?.checked_add(fraction_of(fraction, *length))?;
        rest = after;
    }
    // Go keeps the one value that has no positive twin.
    if negative && total == i64::MIN.unsigned_abs() {
        return Some(i64::MIN);
    }
    let value = i64::try_from(total).ok()?;
    Some(if negative { -value } else { value })
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The part of `length` that a decimal fraction names. Go computes it in floating point; so do we, to agree to the nanosecond.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is positive and below `length`, and the loss is the same as Go's"
)]
fn fraction_of(fraction: &str, length: u64) -> u64 {
    let mut digits: u64 = 0;
    let mut scale = 1.0_f64;
    for digit in fraction.bytes() {
        let Some(more) = digits
            .checked_mul(10)
            .and_then(|tenfold| tenfold.checked_add(u64::from(digit - b'0')))
            .filter(|more| i64::try_from(*more).is_ok())
        else {
            break;
        };
        digits = more;
        scale *= 10.0;
    }
    (digits as f64 * (length as f64 / scale)) as u64
}

/// Suffixes of `resource.Quantity` beside decimal exponents.
const SUFFIXES: [&str; 16] =
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Whether a text is a quantity by the grammar of `resource.ParseQuantity`. That function also reads `Mi` and `-` as nothing,
/// against its own grammar; nobody means that, so here they are refused.
pub fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, after) = digits(unsigned);
    let (fraction, suffix) = match after.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", after),
    };
    if whole.is_empty() && fraction.is_empty() {
        return false;
    }
    if SUFFIXES.contains(&suffix) {
        return true;
    }
    let Some(exponent) = suffix.strip_prefix(['e', 'E']) else {
        return false;
    };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.len() <= 18 && exponent.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: Go's time.ParseDuration, see tools/strict-decode.
    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("5s", Some(5_000_000_000)),
            ("1h30m", Some(5_400_000_000_000)),
            ("1.5h", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            (".5s", Some(500_000_000)),
            ("5.s", Some(5_000_000_000)),
            ("300ms", Some(300_000_000)),
            ("1\u{b5}s", Some(1_000)),
            ("0.3333333333333333333h", Some(1_200_000_000_000)),
            ("", None),
            ("5", None),
            ("s", None),
            (".s", None),
            ("5 s", None),
            ("1d", None),
            ("5S", None),
            ("+-5s", None),
            ("9223372036854775807ns", Some(i64::MAX)),
            ("9223372036854775808ns", None),
            ("-9223372036854775808ns", Some(i64::MIN)),
        ] {
            assert_eq!(duration_nanoseconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn quantities_follow_the_grammar() {
        for good in ["0", "100Mi", "1.5Gi", "250m", "1e3", "1E3", "5E", "-1", "+.5k", "1.", "12e-3"] {
            assert!(is_quantity(good), "{good}");
        }
        for bad in ["", "Mi", "100MiB", "100mi", "1 Gi", "10%", ".", "1e", "K", "5K", "0x10"] {
            assert!(!is_quantity(bad), "{bad}");
        }
    }
}
