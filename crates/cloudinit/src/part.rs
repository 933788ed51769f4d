//! One part of user-data as cloud-init attaches it, and how one thing that arrives becomes several parts.

use bringup_diag::{Finding, Findings, Span};
use bringup_yaml::{Node, Style};

use crate::data::{Datum, Key, Value};
use crate::kind::{Kind, settled, sniffed};
use crate::load::load;
use crate::mime::Headers;
use crate::{Layer, Origin, codes};

/// A part of user-data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its file name, or `part-001` and so on.
    pub name: String,
    /// Its name where cloud-init meets it: a carrier of ours numbers the parts of a document.
    pub carried_as: String,
    /// What cloud-init takes it for.
    pub kind: Kind,
    /// The type that cloud-init settled on.
    pub content_type: String,
    /// The type that its header declares.
    pub declared_type: String,
    /// Its header fields.
    pub headers: Headers,
    /// Its text as the person wrote it.
    pub written: String,
    /// Its text as it arrives at cloud-init's handler; nothing where it is lost on the way.
    pub arrives: Option<String>,
    /// Where it was written.
    pub origin: Origin,
}

/// A part as a document has it.
#[derive(Clone, Debug)]
pub struct DocumentPart<'text> {
    /// Its name in the document.
    pub name: &'text str,
    /// The name that the carrier gives it.
    pub carried_as: String,
    /// Its type.
    pub content_type: &'text str,
    /// Its text.
    pub text: &'text str,
    /// Where it was written.
    pub origin: Origin,
}

/// Something with a type and a text, before its type is settled.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub name: Option<String>,
    pub carried_as: Option<String>,
    pub declared_type: String,
    pub headers: Headers,
    pub written: String,
    pub arrives: Option<String>,
    pub origin: Origin,
}

/// What has come in so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub parts: Vec<Part>,
    pub layers: Vec<Layer>,
    pub findings: Findings,
    /// Parts that cloud-init counts for their names; includes and archives themselves are not.
    attached: usize,
}

impl Part {
    /// The parts that a document holds: they will be carried in base64, so that they arrive as they were written, behind
    /// one part of ours.
    ///
    /// An archive becomes the parts that it holds; findings are about archives that cannot be unpacked.
    pub fn of_document<'text>(parts: impl IntoIterator<Item = DocumentPart<'text>>) -> (Vec<Self>, Findings) {
        let mut received = Received { attached: 1, ..Received::default() };
        for part in parts {
            received.take(Incoming {
                name: Some(part.name.to_owned()),
                carried_as: Some(part.carried_as),
                declared_type: part.content_type.to_owned(),
                headers: Headers::default(),
                written: part.text.to_owned(),
                arrives: Some(part.text.to_owned()),
                origin: part.origin,
            });
        }
        (received.parts, received.findings)
    }
}

impl Received {
    /// The name that the next part gets if it has none of its own.
    pub(crate) fn next_name(&self) -> String {
        format!("part-{:03}", self.attached.saturating_add(1))
    }

    /// Counts one that is attached and comes to nothing by itself.
    pub(crate) fn count(&mut self) {
        self.attached = self.attached.saturating_add(1);
    }

    pub(crate) fn layer(&mut self, layer: Layer) {
        if !self.layers.contains(&layer) {
            self.layers.push(layer);
        }
    }

    /// Settles the type and attaches, or unpacks an archive.
    pub(crate) fn take(&mut self, incoming: Incoming) {
        let content_type = settled(&incoming.declared_type, &incoming.written);
        let kind = Kind::of(&content_type);
        if kind == Kind::Archive {
            self.layer(Layer::CloudConfigArchive);
            self.unpack(&incoming);
        } else {
            self.attach(incoming, content_type, kind);
        }
    }

    fn attach(&mut self, incoming: Incoming, content_type: String, kind: Kind) {
        match kind {
            Kind::CloudConfig | Kind::JsonPatch => self.layer(Layer::CloudConfig),
            Kind::Jinja => self.layer(Layer::Jinja),
            kind if kind.is_script() => self.layer(Layer::Shellscript),
            _ => {}
        }
        let name = incoming.name.filter(|name| !name.is_empty()).unwrap_or_else(|| self.next_name());
        if !matches!(kind, Kind::Include | Kind::IncludeOnce) {
            self.count();
        }
        self.parts.push(Part {
            carried_as: incoming.carried_as.unwrap_or_else(|| name.clone()),
            name,
            kind,
            content_type,
            declared_type: incoming.declared_type,
            headers: incoming.headers,
            written: incoming.written,
            arrives: incoming.arrives,
            origin: incoming.origin,
        });
    }

    fn unpack(&mut self, archive: &Incoming) {
        let loaded = load(&archive.written, self.parts.len(), &archive.origin);
        self.findings.append(loaded.findings);
        let refused = archive.arrives.is_none() || loaded.datum.is_none();
        let Some(node) = loaded.node else { return };
        let Some(items) = node.items() else {
            self.findings.push(
                Finding::error(codes::ARCHIVE, "an archive is a list of parts; cloud-init drops this one")
                    .at(archive.origin.place(node.span))
                    .hint("write `- type: text/x-shellscript` and `content: |` for each part"),
            );
            return;
        };
        for item in items {
            let Ok(entry) = Datum::construct(item, 0) else { continue };
            self.unpack_entry(archive, item, &entry, refused);
        }
    }

    fn unpack_entry(&mut self, archive: &Incoming, item: &Node, entry: &Datum, refused: bool) {
        let (content_node, content) = match &entry.value {
            Value::Text(text) => (Some(item), text.clone()),
            Value::Map(_) => match entry.get("content").map(|content| &content.value) {
                None => (None, String::new()),
                Some(Value::Text(text)) => (item.get("content"), text.clone()),
                Some(Value::Bytes(bytes)) => (None, String::from_utf8_lossy(bytes).into_owned()),
                Some(_) => {
                    self.findings.push(
                        Finding::error(codes::ARCHIVE, "the content of a part is a string; cloud-init fails here and drops all user-data")
                            .at(archive.origin.place(item.span))
                            .hint("write `content: |` and the text below it"),
                    );
                    return;
                }
            },
            _ => return,
        };
        let text_of = |key: &str| entry.get(key).map(Datum::python_str).filter(|text| !text.is_empty());
        let declared = text_of("type").map(|declared| declared.to_lowercase());
        let content_type =
            declared.unwrap_or_else(|| sniffed(&content).unwrap_or("text/cloud-config").to_owned());
        // Types are settled here once and for all: an archive or an include inside an archive has no handler.
        let kind = match Kind::of(&content_type) {
            Kind::Archive | Kind::Include | Kind::IncludeOnce => Kind::Unhandled,
            kind => kind,
        };
        let mut headers = vec![("Content-Type".to_owned(), content_type.clone())];
        if let Value::Map(pairs) = &entry.value {
            headers.extend(pairs.iter().filter_map(|(key, value)| match key {
                Key::Text(key) if !matches!(key.to_lowercase().as_str(), "content" | "filename" | "type") => {
                    Some((key.clone(), value.python_str()))
                }
                _ => None,
            }));
        }
        let incoming = Incoming {
            name: text_of("filename"),
            carried_as: None,
            declared_type: content_type.clone(),
            headers: Headers::from_pairs(headers),
            arrives: (!refused).then(|| content.clone()),
            written: content,
            origin: entry_origin(&archive.origin, content_node, item.span),
        };
        self.attach(incoming, content_type, kind);
    }
}

fn entry_origin(archive: &Origin, content: Option<&Node>, entry: Span) -> Origin {
    let is_block = |node: &&Node| node.scalar().is_some_and(|scalar| scalar.style == Style::Block);
    match content.filter(is_block) {
        Some(node) => Origin::block(archive.file(), archive.place(node.span).span.start),
        None => Origin::fixed(archive.file(), archive.place(content.map_or(entry, |node| node.span)).span),
    }
}
