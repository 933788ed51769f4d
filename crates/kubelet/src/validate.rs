//! Would that minor's strict decoder take this configuration?
//!
//! Kubelet decodes its configuration strictly: names are case sensitive, an unknown one is an error. Beyond that, values of
//! an enumeration are checked here, because kubelet refuses to start with another.

use serde_json::{Map, Value};

use crate::faults::{ConfigFault, FaultKind, Segment};
use crate::kind::Kind;
use crate::lookup::{Lookup, field_suggestion};
use crate::quantity::{duration_nanoseconds, is_quantity};
use crate::table::{FIELDS, Minor, answering};

/// Everything that is wrong with a whole `KubeletConfiguration`, in the order of the document. `apiVersion` and `kind` may be left out.
pub fn validate_config(value: &Value, minor: Minor) -> Vec<ConfigFault> {
    let mut walk = Walk { minor: answering(minor), path: Vec::new(), faults: Vec::new() };
    match value {
        Value::Object(object) => {
            walk.header(object, "apiVersion", "kubelet.config.k8s.io/v1beta1");
            walk.header(object, "kind", "KubeletConfiguration");
            walk.object("", object);
        }
        other => walk.wrong_type(&Kind::Struct, other),
    }
    walk.faults
}

struct Walk {
    minor: Minor,
    path: Vec<Segment>,
    faults: Vec<ConfigFault>,
}

impl Walk {
    fn fault(&mut self, kind: FaultKind) {
        self.faults.push(ConfigFault { path: self.path.clone(), kind });
    }

    fn within(&mut self, segment: Segment, check: impl FnOnce(&mut Self)) {
        self.path.push(segment);
        check(self);
        self.path.pop();
    }

    fn header(&mut self, object: &Map<String, Value>, key: &str, expected: &str) {
        let Some(Value::String(found)) = object.get(key) else {
            return;
        };
        if found != expected {
            self.within(Segment::Key(key.to_owned()), |walk| {
                walk.fault(FaultKind::WrongValue {
                    expected: format!("`{expected}`"),
                    found: format!("`{found}`"),
                });
            });
        }
    }

    /// `below` is the table's path of the object with its separator: empty, `authentication.`, `registerWithTaints[].`.
    fn object(&mut self, below: &str, object: &Map<String, Value>) {
        for (key, value) in object {
            let path = format!("{below}{key}");
            self.within(Segment::Key(key.clone()), |walk| walk.field(&path, value));
        }
    }

    fn field(&mut self, path: &str, value: &Value) {
        let lookup = match FIELDS.get(path) {
            Some(row) => row.lookup(self.minor),
            None => Lookup::Unknown { suggestion: field_suggestion(path, self.minor) },
        };
        match lookup {
            Lookup::Known(known) => {
                if let Some(since) = known.deprecated {
                    self.fault(FaultKind::Deprecated { since, instead: known.instead });
                }
                self.value(path, known.kind, value);
            }
            Lookup::NotYet { added } => self.fault(FaultKind::NotYet { added }),
            Lookup::Removed { removed, instead } => self.fault(FaultKind::Removed { removed, instead }),
            Lookup::Unknown { suggestion } => self.fault(FaultKind::Unknown { suggestion }),
        }
    }

    fn value(&mut self, path: &str, kind: &'static Kind, value: &Value) {
        match (kind, value) {
            // A duration reads null as an empty text, and that is an error.
            (Kind::Duration { nullable: false }, Value::Null) => self.wrong_type(kind, value),
            // To Go, null is to leave the field alone.
            (_, Value::Null)
            | (Kind::Bool, Value::Bool(_))
            | (Kind::String, Value::String(_))
            | (Kind::Float, Value::Number(_)) => {}
            (Kind::Struct, Value::Object(object)) => self.object(&format!("{path}."), object),
            (Kind::List(element), Value::Array(entries)) => {
                let path = format!("{path}[]");
                for (index, entry) in entries.iter().enumerate() {
                    self.within(Segment::Index(index), |walk| walk.value(&path, element, entry));
                }
            }
            (Kind::Map(element), Value::Object(entries)) => {
                let path = format!("{path}{{}}");
                for (key, entry) in entries {
                    self.within(Segment::Key(key.clone()), |walk| walk.value(&path, element, entry));
                }
            }
            (Kind::Integer { least, most }, Value::Number(number)) => {
                let fits = match (number.as_i64(), number.as_u64()) {
                    (Some(n), _) if n < 0 => n >= *least,
                    (_, Some(n)) => n <= *most,
                    _ => false,
                };
                self.expect(fits, kind, || number.to_string());
            }
            (Kind::DurationOrNanoseconds, Value::Number(number)) => {
                self.expect(number.is_i64(), kind, || number.to_string());
            }
            (Kind::Duration { .. } | Kind::DurationOrNanoseconds, Value::String(text)) => {
                self.expect(duration_nanoseconds(text).is_some(), kind, || format!("`{text}`"));
            }
            (Kind::Quantity, Value::String(text)) => {
                self.expect(is_quantity(text.trim()), kind, || format!("`{text}`"));
            }
            (Kind::Quantity, Value::Number(number)) => {
                self.expect(is_quantity(&number.to_string()), kind, || number.to_string());
            }
            (Kind::Time, Value::String(text)) => self.expect(is_time(text), kind, || format!("`{text}`")),
            (Kind::OneOf(values), Value::String(text)) => {
                self.expect(text.is_empty() || values.contains(&text.as_str()), kind, || format!("`{text}`"));
            }
            _ => self.wrong_type(kind, value),
        }
    }

    fn expect(&mut self, holds: bool, kind: &Kind, found: impl FnOnce() -> String) {
        if !holds {
            self.fault(FaultKind::WrongValue { expected: kind.to_string(), found: found() });
        }
    }

    fn wrong_type(&mut self, expected: &'static Kind, value: &Value) {
        let found = match value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "a mapping",
        };
        self.fault(FaultKind::WrongType { expected, found });
    }
}

/// Whether a text is a time as in RFC 3339: `2024-01-02T03:04:05Z`, with a fraction or an offset.
fn is_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else {
        return false;
    };
    let Some((clock, offset)) = time.strip_suffix('Z').map(|clock| (clock, "00:00")).or_else(|| {
        let at = time.rfind(['+', '-'])?;
        Some((time.get(..at)?, time.get(at + 1..)?))
    }) else {
        return false;
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let whole_fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    let date = numbers(date, '-', [4, 2, 2]).is_some_and(|[year, month, day]| is_date(year, month, day));
    let clock = numbers(clock, ':', [2, 2, 2])
        .is_some_and(|[hour, minute, second]| hour < 24 && minute < 60 && second < 60);
    let offset = numbers(offset, ':', [2, 2]).is_some_and(|[hour, minute]| hour < 24 && minute < 60);
    date && clock && offset && whole_fraction
}

fn is_date(year: u16, month: u16, day: u16) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Numbers of fixed widths between separators.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u16; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}
