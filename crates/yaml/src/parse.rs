//! From text to located trees, within limits.

use std::collections::BTreeMap;

use bringup_diag::{Position, Span};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::quoted::{Cursor, without_surrogates};
use crate::{Content, Entry, Limits, Node, Scalar, Style};

/// Why a text is not YAML, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SyntaxFault {
    fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span, hint: None }
    }
}

/// All documents of a stream. Empty documents (only comments) are left out.
pub fn parse(text: &str, limits: Limits) -> Result<Vec<Node>, SyntaxFault> {
    if text.len() > limits.bytes {
        let message = format!("the input has {} bytes; at most {} are read", text.len(), limits.bytes);
        return Err(SyntaxFault::new(message, Span::point(1, 1)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let trees = Builder::new(limits).run(text);
    // Only JSON escapes with pairs, and only in JSON is a backslash surely inside double quotes.
    if trees.is_err()
        && text.trim_start().starts_with(['{', '['])
        && let Some(text) = without_surrogates(text)
    {
        return Builder::new(limits).run(&text);
    }
    trees
}

/// The only document of a stream; `None` if there is none.
pub fn parse_one(text: &str, limits: Limits) -> Result<Option<Node>, SyntaxFault> {
    let mut documents = parse(text, limits)?;
    if let Some(second) = documents.get(1) {
        return Err(SyntaxFault::new("a second document starts here; one was expected", second.span));
    }
    Ok(documents.pop())
}

/// Most values that aliases may repeat: what is written out costs its author something, what is repeated does not.
const MOST_ALIASED: usize = 200_000;

/// What is open while events arrive.
enum Frame {
    List { items: Vec<Node>, start: Position, anchor: usize, tag: Option<String> },
    Map { entries: Vec<Entry>, key: Option<Key>, start: Position, anchor: usize, tag: Option<String> },
}

struct Key {
    text: String,
    style: Style,
    span: Span,
}

struct Builder {
    limits: Limits,
    nodes: usize,
    aliased: usize,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, (Node, usize)>,
    documents: Vec<Node>,
}

impl Builder {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            nodes: 0,
            aliased: 0,
            stack: Vec::new(),
            anchors: BTreeMap::new(),
            documents: Vec::new(),
        }
    }

    fn run(mut self, text: &str) -> Result<Vec<Node>, SyntaxFault> {
        let mut cursor = Cursor::new(text);
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|fault| syntax_fault(&fault, text, self.limits))?;
            let mut span = Span { start: position(span.start), end: position(span.end) };
            if let Event::Scalar(_, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..) = event
                && let Some(end) = cursor.end_of_quoted(span.start)
            {
                span.end = end;
            }
            self.take(event, span)?;
        }
        Ok(self.documents)
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxFault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal => Style::Block,
                    ScalarStyle::Folded => Style::Folded,
                };
                let bare = tag.is_none() && anchor == 0;
                let is_block = matches!(style, Style::Block | Style::Folded);
                let span = if is_block && bare { with_blank_lines(span, &text) } else { span };
                let content = Content::Scalar(Scalar { text: text.into_owned(), style });
                let node = Node { content, span, tag: tag.as_deref().map(tag_text) };
                self.count(1, span)?;
                self.remember(anchor, &node, 1);
                self.place(node);
            }
            Event::SequenceStart(anchor, tag) => {
                self.descend(span)?;
                let tag = tag.as_deref().map(tag_text);
                self.stack.push(Frame::List { items: Vec::new(), start: span.start, anchor, tag });
            }
            Event::MappingStart(anchor, tag) => {
                self.descend(span)?;
                let tag = tag.as_deref().map(tag_text);
                self.stack.push(Frame::Map {
                    entries: Vec::new(),
                    key: None,
                    start: span.start,
                    anchor,
                    tag,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(|(_, size)| *size) else {
                    return Err(SyntaxFault::new("this alias stands inside its own anchor", span));
                };
                // Before the copy is made, not after.
                self.aliased = self.aliased.saturating_add(size);
                if self.aliased > MOST_ALIASED {
                    return Err(SyntaxFault {
                        hint: Some("write repeated parts out, or use fewer aliases".to_owned()),
                        ..SyntaxFault::new(format!("aliases repeat more than {MOST_ALIASED} values"), span)
                    });
                }
                self.count(size, span)?;
                if let Some((node, _)) = self.anchors.get(&anchor).cloned() {
                    self.place(Node { span, ..node });
                }
            }
            Event::DocumentEnd => self.anchors.clear(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        Ok(())
    }

    fn descend(&mut self, span: Span) -> Result<(), SyntaxFault> {
        self.count(1, span)?;
        if self.stack.len() >= self.limits.depth {
            return Err(too_deep(self.limits, span));
        }
        Ok(())
    }

    fn count(&mut self, more: usize, span: Span) -> Result<(), SyntaxFault> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > self.limits.nodes {
            let message = format!("more than {} values once aliases are expanded", self.limits.nodes);
            return Err(SyntaxFault {
                hint: Some("write repeated parts out, or use fewer aliases".to_owned()),
                ..SyntaxFault::new(message, span)
            });
        }
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node, size: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
    }

    fn close(&mut self, span: Span) {
        let (content, start, anchor, tag) = match self.stack.pop() {
            Some(Frame::List { items, start, anchor, tag }) => (Content::List(items), start, anchor, tag),
            Some(Frame::Map { entries, start, anchor, tag, .. }) => {
                (Content::Map(entries), start, anchor, tag)
            }
            None => return,
        };
        // A block collection's end is reported where the next token starts; its own last value ends earlier. That of a
        // flow collection is its bracket, with a comment behind it counted in.
        let end =
            if span.start == span.end { last_end(&content).unwrap_or(span.end) } else { behind(span.start) };
        let end = end.max(start);
        let node = Node { content, span: Span { start, end }, tag };
        if anchor > 0 {
            let size = size_of(&node);
            self.remember(anchor, &node, size);
        }
        self.place(node);
    }

    fn place(&mut self, node: Node) {
        match self.stack.last_mut() {
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => match key.take() {
                None => *key = Some(key_of(&node)),
                Some(Key { text, style, span }) => {
                    entries.push(Entry { key: text, key_style: style, key_span: span, value: node });
                }
            },
            None => {
                if !is_empty_document(&node) {
                    self.documents.push(node);
                }
            }
        }
    }
}

/// The position behind the one letter at this position.
fn behind(bracket: Position) -> Position {
    Position { column: bracket.column + 1, ..bracket }
}

fn is_empty_document(node: &Node) -> bool {
    matches!(&node.content, Content::Scalar(scalar) if scalar.text.is_empty() && scalar.style == Style::Plain)
}

fn key_of(node: &Node) -> Key {
    match &node.content {
        Content::Scalar(scalar) => Key { text: scalar.text.clone(), style: scalar.style, span: node.span },
        Content::List(_) | Content::Map(_) => {
            let text = format!("[{}:{}]", node.span.start.line, node.span.start.column);
            Key { text, style: Style::Plain, span: node.span }
        }
    }
}

fn size_of(node: &Node) -> usize {
    1 + match &node.content {
        Content::Scalar(_) => 0,
        Content::List(items) => items.iter().map(size_of).sum::<usize>(),
        Content::Map(entries) => entries.iter().map(|entry| size_of(&entry.value)).sum(),
    }
}

fn last_end(content: &Content) -> Option<Position> {
    match content {
        Content::Scalar(_) => None,
        Content::List(items) => items.last().map(|item| item.span.end),
        Content::Map(entries) => entries.last().map(|entry| entry.value.span.end.max(entry.key_span.end)),
    }
}

fn tag_text(tag: &Tag) -> String {
    let handle = if tag.handle == "tag:yaml.org,2002:" { "!!" } else { &tag.handle };
    format!("{handle}{}", tag.suffix)
}

/// The span of a block from its first line on; the parser's begins at the first that is not blank.
fn with_blank_lines(mut span: Span, text: &str) -> Span {
    let written = text.trim_start_matches('\n');
    if !written.is_empty() {
        let blank = u32::try_from(text.len().saturating_sub(written.len())).unwrap_or(0);
        span.start.line = span.start.line.saturating_sub(blank).max(1);
    }
    span
}

fn position(marker: Marker) -> Position {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: number(marker.line().max(1)), column: number(marker.col()).saturating_add(1) }
}

/// What the scanner says of more open brackets than it can count; it looks ahead of us, and may come first.
const SCANNER_DEPTH: &str = "recursion limit exceeded";

fn too_deep(limits: Limits, span: Span) -> SyntaxFault {
    SyntaxFault {
        hint: Some("look for a bracket that is never closed; nothing that is meant nests so deep".to_owned()),
        ..SyntaxFault::new(format!("nested deeper than {} levels", limits.depth), span)
    }
}

/// The parser notices a tab in the indentation only at the token before or after it: point at the tab itself.
fn syntax_fault(fault: &saphyr_parser::ScanError, text: &str, limits: Limits) -> SyntaxFault {
    let at = position(*fault.marker());
    if fault.info() == SCANNER_DEPTH {
        return too_deep(limits, Span { start: at, end: at });
    }
    let first = usize::try_from(at.line).unwrap_or(1).saturating_sub(1);
    for (number, line) in text.lines().enumerate().skip(first).take(2) {
        let indent = line.chars().take_while(|letter| letter.is_whitespace());
        if let Some(column) = indent.enumerate().find(|(_, letter)| *letter == '\t').map(|(column, _)| column)
        {
            let number_of = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
            let start = Position { line: number_of(number), column: number_of(column) };
            let span = Span { start, end: Position { column: start.column.saturating_add(1), ..start } };
            let hint = Some("YAML indents with spaces only; replace the tab".to_owned());
            return SyntaxFault { message: "a tab in the indentation".to_owned(), span, hint };
        }
    }
    SyntaxFault::new(fault.info(), Span { start: at, end: at })
}
