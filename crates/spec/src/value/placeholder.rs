//! Text with placeholders for what only the node knows.

use std::fmt;

use bringup_yaml::Node;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Fact, Fault};
use crate::codes;
use crate::decode::{Decode, Reader, Schemas};

/// A piece of text, or a fact that stands for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// As it is.
    Literal(String),
    /// Filled in on the node.
    Fact {
        /// Which.
        fact: Fact,
    },
}

/// Text in which `@{zone}` and the like stand for facts. Parsed once: later stages see segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text {
    segments: Vec<Segment>,
}

impl Text {
    /// Text without placeholders, whatever it looks like.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { segments: if text.is_empty() { Vec::new() } else { vec![Segment::Literal(text)] } }
    }

    /// A single fact.
    pub fn fact(fact: Fact) -> Self {
        Self { segments: vec![Segment::Fact { fact }] }
    }

    /// Reads text with placeholders; all faults at once, each with the byte offset of its `@{`.
    ///
    /// Of the `@` before a `{`, two stand for one: `@@{` is a literal `@{`, and `@@@{zone}` is `@` and then the zone.
    pub fn parse(text: &str) -> Result<Self, Vec<(usize, Fault)>> {
        let mut parsed = Self::default();
        let mut faults = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find("@{") {
            let (before, after) =
                (rest.get(..=open).unwrap_or_default(), rest.get(open + 1..).unwrap_or_default());
            let plain = before.trim_end_matches('@');
            let signs = before.len() - plain.len();
            parsed.push_str(plain);
            parsed.push_str(&"@".repeat(signs / 2));
            let offset = text.len() - after.len() - 1;
            rest = after;
            if signs % 2 == 0 {
                continue;
            }
            let Some((name, behind)) = after.get(1..).and_then(|inner| inner.split_once('}')) else {
                let hint = "close it with `}`, or write `@@{` for a literal `@{`";
                faults.push((offset, Fault::new("this `@{` is never closed", hint)));
                continue;
            };
            match Fact::parse(name) {
                Ok(fact) => parsed.segments.push(Segment::Fact { fact }),
                Err(fault) => {
                    let joint = if fault.hint.ends_with('?') { "" } else { ";" };
                    let hint = format!("{}{joint} for a literal `@{{` write `@@{{`", fault.hint);
                    faults.push((offset, Fault::new(fault.message, hint)));
                }
            }
            rest = behind;
        }
        parsed.push_str(rest);
        if faults.is_empty() { Ok(parsed) } else { Err(faults) }
    }

    /// The pieces.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The facts that it needs.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.segments
            .iter()
            .filter_map(|segment| if let Segment::Fact { fact } = segment { Some(fact) } else { None })
    }

    /// The text, if it needs no facts.
    pub fn as_literal(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [] => Some(""),
            [Segment::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with each fact replaced by what `value` says; the first fact it cannot say is the error.
    pub fn filled(&self, mut value: impl FnMut(&Fact) -> Option<String>) -> Result<String, &Fact> {
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Literal(literal) => text.push_str(literal),
                Segment::Fact { fact } => text.push_str(&value(fact).ok_or(fact)?),
            }
        }
        Ok(text)
    }

    /// Adds text behind.
    pub fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.segments.last_mut() {
            Some(Segment::Literal(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Literal(text.to_owned())),
        }
    }

    /// Adds another text behind.
    pub fn push(&mut self, text: &Text) {
        for segment in &text.segments {
            match segment {
                Segment::Literal(literal) => self.push_str(literal),
                Segment::Fact { .. } => self.segments.push(segment.clone()),
            }
        }
    }
}

/// As a document would write it, placeholders and escapes included.
impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Literal(literal) => {
                    let before_fact = matches!(self.segments.get(index + 1), Some(Segment::Fact { .. }));
                    formatter.write_str(&escaped(literal, before_fact))?;
                }
                Segment::Fact { fact } => write!(formatter, "@{{{fact}}}")?,
            }
        }
        Ok(())
    }
}

/// The literal with each `@` doubled that stands before a `{`, or at the end if a placeholder follows.
fn escaped(literal: &str, before_fact: bool) -> String {
    let mut text = String::with_capacity(literal.len());
    let mut signs = 0;
    for letter in literal.chars() {
        if letter == '@' {
            signs += 1;
        } else {
            let times = if letter == '{' { 2 } else { 1 };
            text.push_str(&"@".repeat(signs * times));
            text.push(letter);
            signs = 0;
        }
    }
    text.push_str(&"@".repeat(if before_fact { signs * 2 } else { signs }));
    text
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::literal(text)
    }
}

/// A string where nothing is left open, else the list of segments.
impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_literal() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(&self.segments),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Literal(String),
            Segments(Vec<Segment>),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Literal(text) => Self::literal(text),
            Form::Segments(segments) => Self { segments },
        })
    }
}

impl Text {
    /// Reads the text of a node, each fault at its own placeholder.
    fn located(node: &Node, text: &str, reader: &mut Reader) -> Option<Self> {
        match Self::parse(text) {
            Ok(text) => Some(text),
            Err(faults) => {
                for (offset, fault) in faults {
                    let ordinal = text.get(..offset).unwrap_or_default().matches("@{").count();
                    let span = reader.span_within(node, "@{", ordinal);
                    let _: Option<()> = reader.fault(codes::PLACEHOLDER, span, fault.message, fault.hint);
                }
                None
            }
        }
    }

    /// Reports wrong placeholders in all strings of a free mapping, where they are filled in later.
    pub(crate) fn report_within(node: &Node, reader: &mut Reader) {
        for item in node.items().unwrap_or_default() {
            Self::report_within(item, reader);
        }
        for entry in node.entries().unwrap_or_default() {
            Self::report_within(&entry.value, reader);
        }
        if let Some(text) = node.text().filter(|text| text.contains("@{")) {
            let _: Option<Self> = Self::located(node, text, reader);
        }
    }
}

impl Decode for Text {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = String::decode(node, reader)?;
        Self::located(node, &text, reader)
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "string", "description": "Text; `@{zone}` and other facts are filled in on the node. Before a `{`, `@@` is a literal `@`."})
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fact, Segment, Text};

    #[test]
    fn placeholders_are_segments_and_escapes_are_text() {
        let text = Text::parse("a-@{zone}-@@{zone}").unwrap();
        let expected = [
            Segment::Literal("a-".into()),
            Segment::Fact { fact: Fact::Zone },
            Segment::Literal("-@{zone}".into()),
        ];
        assert_eq!(text.segments(), expected);
        assert_eq!(text.to_string(), "a-@{zone}-@@{zone}");
        assert_eq!(text.filled(|_| Some("eu".into())), Ok("a-eu-@{zone}".to_owned()));
        assert_eq!(serde_json::to_string(&text).unwrap(), r#"["a-",{"fact":"zone"},"-@{zone}"]"#);
    }

    #[test]
    fn all_wrong_placeholders_are_told_at_once() {
        let faults = Text::parse("@{zoen} @{x} @{tags.} @{").unwrap_err();
        let offsets: Vec<usize> = faults.iter().map(|(offset, _)| *offset).collect();
        assert_eq!(offsets, [0, 8, 13, 22]);
        assert_eq!(faults[0].1.message, "`zoen` names no fact of a node");
        assert_eq!(faults[0].1.hint, "did you mean `zone`? for a literal `@{` write `@@{`");
    }

    #[test]
    fn two_signs_before_a_brace_stand_for_one() {
        let literal = |text: &str| Text::parse(text).unwrap().as_literal().map(ToOwned::to_owned);
        assert_eq!(literal("@@{").as_deref(), Some("@{"));
        assert_eq!(literal("@@@@{x").as_deref(), Some("@@{x"));
        assert_eq!(literal("a@b @@ {").as_deref(), Some("a@b @@ {"));
        let text = Text::parse("core@@@{address}").unwrap();
        let expected = [Segment::Literal("core@".into()), Segment::Fact { fact: Fact::Address }];
        assert_eq!(text.segments(), expected);
        assert_eq!(text.to_string(), "core@@@{address}");
    }

    fn segments() -> impl Strategy<Value = Text> {
        let piece = prop_oneof![
            "[@{}a é]{1,6}".prop_map(Text::literal),
            Just(Text::fact(Fact::Zone)),
            "[a-z@:]{1,4}".prop_map(|tag| Text::fact(Fact::Tag(tag))),
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| {
            let mut text = Text::default();
            for piece in &pieces {
                text.push(piece);
            }
            text
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_the_same(text in segments()) {
            prop_assert_eq!(Text::parse(&text.to_string()), Ok(text));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "[@{}a-ztags.é]{0,40}") {
            if let Err(faults) = Text::parse(&text) {
                for (offset, _) in faults {
                    prop_assert_eq!(text.get(offset..offset + 2), Some("@{"));
                }
            }
        }
    }
}
