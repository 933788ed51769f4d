//! YAML: what was read and written again reads the same, in both dialects.
#![no_main]

use bringup_yaml::{Limits, Value, parse, parse_one, to_yaml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let limits = Limits { bytes: 1 << 16, depth: 40, nodes: 20_000 };
    for node in parse(text, limits).unwrap_or_default() {
        let value = node.to_value();
        if holds_not_a_number(&value) {
            continue;
        }
        let written = to_yaml(&value);
        let back = parse_one(&written, Limits::default());
        let back = back.unwrap_or_else(|fault| panic!("{fault:?}\n{written}"));
        assert_eq!(back.map_or(Value::Null, |node| node.to_value()), value, "{written}");
    }
});

/// Not a number equals nothing, itself included.
fn holds_not_a_number(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_nan(),
        Value::List(items) => items.iter().any(holds_not_a_number),
        Value::Map(pairs) => pairs.iter().any(|(_, value)| holds_not_a_number(value)),
        _ => false,
    }
}
