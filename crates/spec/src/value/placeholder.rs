//! Text with placeholders for what only the node knows.

use std::fmt;

use bringup_diag::closest;
use bringup_yaml::Node;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Fault;
use crate::codes;
use crate::decode::{Decode, Reader, Schemas};

/// What only the node knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Fact {
    /// The instance's id.
    InstanceId,
    /// The instance's type.
    InstanceType,
    /// The region.
    Region,
    /// The availability zone.
    Zone,
    /// `spot`, `on-demand` and the like.
    Lifecycle,
    /// The node's primary address.
    Address,
    /// The host's name as the platform gives it.
    Hostname,
    /// How many processors.
    Cores,
    /// How much memory, in MiB.
    MemoryMiB,
    /// The name that the node registers with; worked out from other facts.
    NodeName,
    /// The platform's name of the machine in Kubernetes' form; worked out from other facts.
    ProviderId,
    /// How many pods the node takes; worked out from the instance type.
    MaxPods,
    /// Processor time kept for kubelet and the runtime, such as `80m`; worked out from the cores.
    ReservedCpu,
    /// Memory kept for kubelet and the runtime, such as `893Mi`; worked out from the pods really in force.
    ReservedMemory,
    /// A tag of the instance.
    Tag(String),
}

impl Fact {
    /// The names of the facts that take no argument.
    pub const NAMES: [&'static str; 9] = [
        "instanceId",
        "instanceType",
        "region",
        "zone",
        "lifecycle",
        "address",
        "hostname",
        "cores",
        "memoryMiB",
    ];

    /// Reads a fact's name.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        Ok(match text {
            "instanceId" => Self::InstanceId,
            "instanceType" => Self::InstanceType,
            "region" => Self::Region,
            "zone" => Self::Zone,
            "lifecycle" => Self::Lifecycle,
            "address" => Self::Address,
            "hostname" => Self::Hostname,
            "cores" => Self::Cores,
            "memoryMiB" => Self::MemoryMiB,
            "nodeName" => Self::NodeName,
            "providerId" => Self::ProviderId,
            "maxPods" => Self::MaxPods,
            "reservedCpu" => Self::ReservedCpu,
            "reservedMemory" => Self::ReservedMemory,
            _ => {
                if let Some(tag) = text.strip_prefix("tags.").filter(|tag| !tag.is_empty()) {
                    return Ok(Self::Tag(tag.to_owned()));
                }
                let hint = match closest(text, Self::NAMES) {
                    Some(near) => format!("did you mean `@{{{near}}}`? Write `@@{{` for a literal `@{{`"),
                    None => format!(
                        "write one of {}, or `tags.NAME`; write `@@{{` for a literal `@{{`",
                        Self::NAMES.join(", ")
                    ),
                };
                return Err(Fault::new(format!("`@{{{text}}}` names no fact of a node"), hint));
            }
        })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InstanceId => "instanceId",
            Self::InstanceType => "instanceType",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Lifecycle => "lifecycle",
            Self::Address => "address",
            Self::Hostname => "hostname",
            Self::Cores => "cores",
            Self::MemoryMiB => "memoryMiB",
            Self::NodeName => "nodeName",
            Self::ProviderId => "providerId",
            Self::MaxPods => "maxPods",
            Self::ReservedCpu => "reservedCpu",
            Self::ReservedMemory => "reservedMemory",
            Self::Tag(tag) => return write!(formatter, "tags.{tag}"),
        })
    }
}

impl From<Fact> for String {
    fn from(fact: Fact) -> Self {
        fact.to_string()
    }
}

impl TryFrom<String> for Fact {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|fault| fault.message)
    }
}

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
    pub fn parse(text: &str) -> Result<Self, Vec<(usize, Fault)>> {
        let mut segments = Vec::new();
        let mut faults = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find("@{") {
            let open = at + found;
            // `@@{` is an escaped `@{`.
            if text[at..open].ends_with('@') {
                literal.push_str(&text[at..open - 1]);
                literal.push_str("@{");
                at = open + 2;
                continue;
            }
            literal.push_str(&text[at..open]);
            let Some(length) = text[open..].find('}') else {
                faults.push((
                    open,
                    Fault::new(
                        "this `@{` is never closed",
                        "close it with `}`, or write `@@{` for a literal `@{`",
                    ),
                ));
                at = text.len();
                break;
            };
            match Fact::parse(&text[open + 2..open + length]) {
                Ok(fact) => {
                    if !literal.is_empty() {
                        segments.push(Segment::Literal(std::mem::take(&mut literal)));
                    }
                    segments.push(Segment::Fact { fact });
                }
                Err(fault) => faults.push((open, fault)),
            }
            at = open + length + 1;
        }
        literal.push_str(&text[at..]);
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal));
        }
        if faults.is_empty() { Ok(Self { segments }) } else { Err(faults) }
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
    pub fn filled<'a>(&'a self, mut value: impl FnMut(&Fact) -> Option<String>) -> Result<String, &'a Fact> {
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
        for segment in &self.segments {
            match segment {
                Segment::Literal(literal) => formatter.write_str(&literal.replace("@{", "@@{"))?,
                Segment::Fact { fact } => write!(formatter, "@{{{fact}}}")?,
            }
        }
        Ok(())
    }
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

impl Decode for Text {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = String::decode(node, reader)?;
        match Self::parse(&text) {
            Ok(text) => Some(text),
            Err(faults) => {
                for (_, fault) in faults {
                    let _: Option<()> =
                        reader.fault(codes::PLACEHOLDER, node.span, fault.message, fault.hint);
                }
                None
            }
        }
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "string", "description": "Text; `@{zone}` and other facts are filled in on the node, `@@{` is a literal `@{`."})
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(faults.len(), 4);
        assert!(faults[0].1.hint.contains("@{zone}"));
    }
}
