//! What the parser keeps, refuses and survives.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use bringup_diag::Position;
use bringup_yaml::{Content, Limits, Path, Style, Value, parse, parse_one, to_yaml};
use proptest::prelude::*;

fn one(text: &str) -> bringup_yaml::Node {
    parse_one(text, Limits::default()).unwrap().unwrap()
}

#[test]
fn every_key_and_value_knows_its_place() {
    let node = one("spec:\n  groups:\n    - name: gpu\n      size: 3\n");
    let path = Path::root().keys(["spec", "groups"]).index(0).key("size");
    assert_eq!(path.to_string(), "spec.groups[0].size");
    assert_eq!(node.span_at(&path).start, Position { line: 4, column: 13 });
    assert_eq!(node.span_at(&path).end, Position { line: 4, column: 14 });
    assert_eq!(node.key_span_at(&path).start, Position { line: 4, column: 7 });
    let beyond = path.key("nothing").key("here");
    assert_eq!(node.span_at(&beyond).start, Position { line: 4, column: 13 });
}

#[test]
fn duplicates_tags_and_styles_are_kept() {
    let node = one("a: 1\na: '2'\nb: !Ref Name\nc: |\n  text\n");
    let Content::Map(entries) = &node.content else { panic!("a mapping") };
    assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["a", "a", "b", "c"]);
    assert_eq!(node.get("a").unwrap().scalar().unwrap().style, Style::Quoted);
    assert_eq!(node.get("b").unwrap().tag.as_deref(), Some("!Ref"));
    assert_eq!(node.get("c").unwrap().text(), Some("text\n"));
}

#[test]
fn json_is_read_too() {
    let node = one("{\n\t\"a\": [1, true, null, \"x\\u00e9\"],\n\t\"b\": {}\n}\n");
    assert_eq!(node.to_value().to_json(), serde_json::json!({"a": [1, true, null, "xé"], "b": {}}));
}

#[test]
fn json_may_escape_characters_as_surrogate_pairs() {
    let node = one(r#"{"a": "\ud83d\ude00\/x", "b": "\\ud83d"}"#);
    assert_eq!(node.to_value().to_json(), serde_json::json!({"a": "😀/x", "b": "\\ud83d"}));
}

#[test]
fn a_block_starts_with_its_first_line_be_it_blank() {
    let node = one("a: |\n  text\nb: |2\n\n\n  text\nc: >-\n\n  text\n");
    let starts = ["a", "b", "c"].map(|key| node.get(key).unwrap().span.start);
    assert_eq!(starts, [2, 4, 8].map(|line| Position { line, column: 3 }));
}

#[test]
fn a_quoted_value_ends_at_its_quote_and_not_behind_the_comment() {
    let node = one("a: !!str \"日本\" # note\nb: [\"x\" , 'y']\n");
    let span = node.get("a").unwrap().span;
    assert_eq!((span.start, span.end), (Position { line: 1, column: 4 }, Position { line: 1, column: 14 }));
    let ends: Vec<u32> =
        node.get("b").unwrap().items().unwrap().iter().map(|item| item.span.end.column).collect();
    assert_eq!(ends, [8, 14]);
}

#[test]
fn a_nest_of_any_depth_is_refused_with_the_limit_that_it_breaks() {
    for piece in ["[", "{\"a\":", "- ", "{a: [", "? "] {
        for count in [101, 300, 20_000] {
            let fault = parse(&piece.repeat(count), Limits::default()).unwrap_err();
            assert_eq!(fault.message, "nested deeper than 100 levels", "{piece} {count} times");
            assert!(fault.hint.is_some());
        }
    }
}

#[test]
fn several_documents_and_empty_ones() {
    let documents = parse("# head\n---\na: 1\n---\n---\nb: 2\n", Limits::default()).unwrap();
    assert_eq!(documents.len(), 2);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", vec![alias; 10].join(", ")).unwrap();
    }
    let fault = parse(&text, Limits::default()).unwrap_err();
    assert!(fault.message.contains("aliases"), "{}", fault.message);
}

#[test]
fn a_deep_nest_is_refused() {
    let fault = parse(&"[".repeat(100_000), Limits::default()).unwrap_err();
    assert!(
        fault.message.contains("nested")
            || fault.message.contains("depth")
            || fault.message.contains("recursion"),
        "{}",
        fault.message
    );
}

#[test]
fn a_tab_in_the_indentation_gets_a_hint() {
    let fault = parse("a:\n  - x\n\t- y\n", Limits::default()).unwrap_err();
    assert_eq!(fault.span.start.line, 3);
    assert!(fault.hint.unwrap().contains("spaces"));
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~\n\té…]{0,24}",
        Just("yes".to_owned()),
        Just("0755".to_owned()),
        Just("1.30".to_owned()),
        any::<String>()
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        (-1.0e9..1.0e9).prop_map(Value::Float),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(value in values()) {
        let text = to_yaml(&value);
        let back = parse_one(&text, Limits::default());
        let back = back.map_err(|fault| TestCaseError::fail(format!("{fault:?} in\n{text}")))?;
        let back = back.map_or(Value::Null, |node| node.to_value());
        prop_assert_eq!(back, value, "{}", text);
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = parse(&text, Limits::default());
    }

    #[test]
    fn yaml_like_text_never_panics(text in "[-:{}\\[\\],&*!|>'\"%@ \t\na-c0-9#?~]{0,80}") {
        let _ = parse(&text, Limits::default());
    }
}

#[test]
fn a_flow_collection_ends_at_its_bracket_and_not_behind_the_comment() {
    let node = one("a: [1, 2]   # note\nb: {c: d} # note\n");
    // Columns from one; `end` is just behind the bracket.
    for (key, columns) in [("a", (4, 10)), ("b", (4, 10))] {
        let span = node.get(key).unwrap().span;
        assert_eq!((span.start.column, span.end.column), columns, "{key}");
    }
}
