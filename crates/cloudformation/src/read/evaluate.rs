//! What CloudFormation's functions give, as far as it can be known; `${NAME}` stands for the rest.

use std::collections::BTreeMap;

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
    prelude::BASE64_STANDARD,
};
use bringup_diag::{Code, Finding, Findings, Place, Span};
use bringup_yaml::{Content, Node, Resolved};

use super::environment::{Environment, Parameter};
use super::substitute::{Cursor, Piece, pieces};
use crate::codes;

/// How much text a template may make: functions inside each other can multiply it.
const MOST_TEXT: usize = 1 << 20;
/// How many values may be worked out on the way.
const MOST_STEPS: usize = 200_000;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Text; `open` if part of it is only known to the stack.
    Text { text: String, open: bool },
    /// The base64 of this text.
    Encoded { text: String, open: bool },
    /// A list.
    List(Vec<Known>),
    /// The property is not there.
    Nothing,
}

/// What became of a `UserData`.
pub(super) enum Outcome {
    /// These bytes.
    Bytes(Vec<u8>),
    /// There is none.
    Nothing,
}

/// The function that a value calls, with its argument, and whether the argument's own tag is the function's name.
pub(super) fn function(node: &Node) -> Option<(&str, &Node, bool)> {
    if let Some(name) = node.tag.as_deref().and_then(|tag| tag.strip_prefix('!'))
        && !name.is_empty()
        && !name.starts_with('!')
    {
        return Some((name, node, true));
    }
    long_form(node)
}

fn long_form(node: &Node) -> Option<(&str, &Node, bool)> {
    let [entry] = node.entries()? else { return None };
    match entry.key.as_str() {
        name @ ("Ref" | "Condition") => Some((name, &entry.value, false)),
        name => name.strip_prefix("Fn::").map(|name| (name, &entry.value, false)),
    }
}

/// Works out values.
pub(super) struct Evaluator<'a> {
    file: &'a str,
    pub(super) environment: &'a Environment<'a>,
    findings: Findings,
    /// While a condition is worked out, what is unknown in it is told once, by the condition's name.
    pub(super) quiet: usize,
    pub(super) conditions: BTreeMap<String, Option<bool>>,
    text_left: usize,
    steps_left: usize,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(file: &'a str, environment: &'a Environment<'a>) -> Self {
        Self {
            file,
            environment,
            findings: Findings::new(),
            quiet: 0,
            conditions: BTreeMap::new(),
            text_left: MOST_TEXT,
            steps_left: MOST_STEPS,
        }
    }

    pub(super) fn into_findings(self) -> Findings {
        self.findings.sorted()
    }

    pub(super) fn tell(&mut self, code: Code, span: Span, message: String, hint: &str) {
        if self.quiet == 0 {
            let place = Place::new(self.file, span);
            let finding = if code == codes::UNKNOWN_VALUE {
                Finding::note(code, message)
            } else {
                Finding::warning(code, message)
            };
            self.findings.push(finding.at(place).hint(hint));
        }
    }

    /// The bytes of a `UserData`.
    pub(super) fn user_data(&mut self, node: &Node) -> Outcome {
        match self.value(node) {
            Known::Nothing | Known::List(_) => Outcome::Nothing,
            Known::Encoded { text, .. } => Outcome::Bytes(text.into_bytes()),
            Known::Text { text, open } => {
                let decoded = if open { None } else { from_base64(&text) };
                // Of a value that is not known at all, nobody can tell what it is; that it is unknown was told.
                let unknown = open && text.starts_with("${") && text.find('}') == text.len().checked_sub(1);
                if decoded.is_none() && !unknown {
                    let hint = "wrap it in `Fn::Base64`";
                    let message = "this user-data is no base64, which EC2 wants".to_owned();
                    self.tell(codes::NOT_BASE64, node.span, message, hint);
                }
                Outcome::Bytes(decoded.unwrap_or_else(|| text.into_bytes()))
            }
        }
    }

    pub(super) fn value(&mut self, node: &Node) -> Known {
        let Some(left) = self.steps_left.checked_sub(1) else { return Known::Nothing };
        self.steps_left = left;
        match function(node) {
            Some((name, argument, tagged)) => self.call(name, argument, tagged, node.span),
            None => self.plain(node),
        }
    }

    /// The argument of a function; of a tagged one, the value beneath the tag.
    fn argument(&mut self, node: &Node, tagged: bool) -> Known {
        if !tagged {
            return self.value(node);
        }
        match long_form(node) {
            Some((name, argument, _)) => self.call(name, argument, false, node.span),
            None => self.plain(node),
        }
    }

    fn plain(&mut self, node: &Node) -> Known {
        match &node.content {
            Content::Scalar(scalar) if matches!(scalar.core(), Resolved::Null) => Known::Nothing,
            Content::Scalar(scalar) => self.text(scalar.text.clone(), false),
            Content::List(items) => Known::List(items.iter().map(|item| self.value(item)).collect()),
            Content::Map(_) => {
                self.tell(
                    codes::FUNCTION,
                    node.span,
                    "text is expected here, not a mapping".to_owned(),
                    "write text or a function",
                );
                Known::Nothing
            }
        }
    }

    /// A text, if the template may still make so much of it.
    fn text(&mut self, text: String, open: bool) -> Known {
        match self.text_left.checked_sub(text.len()) {
            Some(left) => {
                self.text_left = left;
                Known::Text { text, open }
            }
            None => Known::Text { text: String::new(), open: true },
        }
    }

    /// A list of texts, of which each costs at least something.
    fn list(&mut self, items: &[&str]) -> Known {
        let mut list = Vec::new();
        for item in items {
            let Some(left) = self.text_left.checked_sub(item.len().saturating_add(1)) else { break };
            self.text_left = left;
            list.push(Known::Text { text: (*item).to_owned(), open: false });
        }
        Known::List(list)
    }

    /// A value that only the stack knows.
    fn open(&mut self, name: &str, span: Span) -> Known {
        let message = format!("`{name}` is only known to the stack");
        self.tell(
            codes::UNKNOWN_VALUE,
            span,
            message,
            "it stands as it is written; look at a deployed instance for its value",
        );
        self.text(format!("${{{name}}}"), true)
    }

    fn call(&mut self, name: &str, argument: &Node, tagged: bool, span: Span) -> Known {
        match name {
            "Base64" => {
                let (text, open) = self.as_text(argument, tagged);
                Known::Encoded { text, open }
            }
            "Ref" => {
                let (name, _) = self.as_text(argument, tagged);
                self.reference(&name, span)
            }
            "Sub" => self.sub(argument, tagged, span),
            "Join" => self.join(argument, span),
            "If" => self.either(argument, span),
            "Select" => self.select(argument, span),
            "Split" => self.split(argument, span),
            "FindInMap" => self.mapped(argument, span),
            "GetAtt" => {
                let parts = self.argument(argument, tagged);
                let name = flat(&parts, ".").0;
                self.open(&name, span)
            }
            // A macro takes a mapping, which says nothing of the value that comes of it.
            _ if argument.entries().is_some() && function(argument).is_none() => {
                self.open(&format!("Fn::{name}"), span)
            }
            _ => {
                let what = flat(&self.argument(argument, tagged), ",").0;
                let shown: String = what.chars().take(80).collect();
                self.open(&format!("{name} {shown}"), span)
            }
        }
    }

    fn as_text(&mut self, node: &Node, tagged: bool) -> (String, bool) {
        let value = self.argument(node, tagged);
        let (text, open) = flat(&value, ",");
        match self.text(text, open) {
            Known::Text { text, open } => (text, open),
            _ => (String::new(), true),
        }
    }

    fn wrong(&mut self, name: &str, span: Span, hint: &str) -> Known {
        self.tell(
            codes::FUNCTION,
            span,
            format!("`Fn::{name}` is not used as CloudFormation wants it"),
            hint,
        );
        self.text(format!("${{Fn::{name}}}"), true)
    }

    fn reference(&mut self, name: &str, span: Span) -> Known {
        if name == "AWS::NoValue" {
            return Known::Nothing;
        }
        match self.environment.parameter(name) {
            Some(Parameter::Text(text)) => self.text(text.to_owned(), false),
            Some(Parameter::List(items)) => self.list(&items),
            Some(Parameter::Open) | None => self.open(name, span),
        }
    }

    fn sub(&mut self, argument: &Node, tagged: bool, span: Span) -> Known {
        let (source, variables) = match argument.items() {
            Some([source, variables]) => (source, Some(variables)),
            Some([source]) => (source, None),
            Some(_) => return self.wrong("Sub", span, "write a text, or a list of a text and a mapping"),
            None => (argument, None),
        };
        let template = self.as_text(source, tagged && argument.items().is_none()).0;
        let mut cursor = Cursor::of(source);
        let mut text = String::new();
        let mut open = false;
        for piece in pieces(&template) {
            let span = match piece {
                Piece::Literal(literal) => cursor.pass(literal),
                Piece::Escaped(inside) => cursor.pass(&format!("${{!{inside}}}")),
                Piece::Refused(inside) | Piece::Name(inside) => cursor.pass(&format!("${{{inside}}}")),
            };
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Escaped(inside) => {
                    text.push_str("${");
                    text.push_str(inside);
                    text.push('}');
                }
                Piece::Refused(inside) => {
                    let message = format!("CloudFormation refuses `${{{inside}}}` in `Fn::Sub`");
                    self.tell(
                        codes::FUNCTION,
                        span,
                        message,
                        &format!("write `${{!{inside}}}` if the shell is meant"),
                    );
                    text.push_str("${");
                    text.push_str(inside);
                    text.push('}');
                    open = true;
                }
                Piece::Name(name) => {
                    let value = match variables.and_then(|variables| variables.get(name)) {
                        Some(node) => self.value(node),
                        None => self.reference(name, span),
                    };
                    let (value, unknown) = flat(&value, ",");
                    text.push_str(&value);
                    open |= unknown;
                }
            }
            if text.len() > self.text_left {
                return self.too_much(span);
            }
        }
        self.text(text, open)
    }

    fn too_much(&mut self, span: Span) -> Known {
        let message = format!("the template makes more than {MOST_TEXT} bytes of text");
        self.tell(codes::FUNCTION, span, message, "no user-data can be so long");
        self.text_left = 0;
        Known::Text { text: String::new(), open: true }
    }

    fn join(&mut self, argument: &Node, span: Span) -> Known {
        let Some([delimiter, list]) = argument.items() else {
            return self.wrong("Join", span, "write a list of a delimiter and a list");
        };
        let delimiter = self.as_text(delimiter, false).0;
        let list = self.value(list);
        let items = if let Known::List(items) = &list { items.len() } else { 1 };
        if delimiter.len().saturating_mul(items) > self.text_left {
            return self.too_much(span);
        }
        let (text, open) = flat(&list, &delimiter);
        self.text(text, open)
    }

    fn either(&mut self, argument: &Node, span: Span) -> Known {
        let Some([condition, yes, no]) = argument.items() else {
            return self.wrong("If", span, "write a list of a condition and two values");
        };
        let name = condition.text().unwrap_or_default();
        let holds = self.condition(name);
        if holds.is_none() {
            let message = format!(
                "whether the condition `{name}` holds is only known to the stack: it is taken as true"
            );
            self.tell(
                codes::UNKNOWN_VALUE,
                span,
                message,
                "give the parameters on which it depends a default",
            );
        }
        self.value(if holds == Some(false) { no } else { yes })
    }

    fn select(&mut self, argument: &Node, span: Span) -> Known {
        let Some([index, list]) = argument.items() else {
            return self.wrong("Select", span, "write a list of a number and a list");
        };
        let index: Option<usize> = self.as_text(index, false).0.parse().ok();
        match (index, self.value(list)) {
            (Some(index), Known::List(items)) => match items.into_iter().nth(index) {
                Some(item) => item,
                None => self.wrong("Select", span, "the list is shorter than that"),
            },
            (_, Known::Text { text, open: true }) => self.text(text, true),
            _ => self.wrong("Select", span, "write a list of a number and a list"),
        }
    }

    fn split(&mut self, argument: &Node, span: Span) -> Known {
        let Some([delimiter, text]) = argument.items() else {
            return self.wrong("Split", span, "write a list of a delimiter and a text");
        };
        let delimiter = self.as_text(delimiter, false).0;
        let (text, open) = self.as_text(text, false);
        if open || delimiter.is_empty() {
            return Known::Text { text, open: true };
        }
        self.list(&text.split(&delimiter).collect::<Vec<_>>())
    }

    fn mapped(&mut self, argument: &Node, span: Span) -> Known {
        let Some([map, first, second, others @ ..]) = argument.items() else {
            return self.wrong("FindInMap", span, "write a list of a mapping and two keys");
        };
        let mut key = |node| self.as_text(node, false).0;
        let (map, first, second) = (key(map), key(first), key(second));
        if let Some(found) = self.environment.mapped(&map, &first, &second) {
            // What a mapping holds are constants; a function in it could refer to itself.
            return match &found.content {
                Content::Scalar(scalar) => self.text(scalar.text.clone(), false),
                Content::List(items) => self.list(&items.iter().filter_map(Node::text).collect::<Vec<_>>()),
                Content::Map(_) => self.wrong("FindInMap", span, "a mapping holds texts and lists"),
            };
        }
        match others.first().and_then(|other| other.get("DefaultValue")) {
            Some(default) => self.value(default),
            None => self.open(&format!("{map}.{first}.{second}"), span),
        }
    }
}

/// A value as text; the items of a list with the delimiter between them.
pub(super) fn flat(value: &Known, delimiter: &str) -> (String, bool) {
    match value {
        Known::Text { text, open } => (text.clone(), *open),
        Known::Encoded { text, open } => (BASE64_STANDARD.encode(text), *open),
        Known::Nothing => (String::new(), false),
        Known::List(items) => {
            let items: Vec<(String, bool)> = items
                .iter()
                .filter(|item| **item != Known::Nothing)
                .map(|item| flat(item, delimiter))
                .collect();
            let open = items.iter().any(|(_, open)| *open);
            let texts: Vec<String> = items.into_iter().map(|(text, _)| text).collect();
            (texts.join(delimiter), open)
        }
    }
}

/// Base64 with or without padding and line breaks.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let packed: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    LENIENT.decode(packed).ok()
}
