//! From the bytes of user-data to its parts, as cloud-init takes them apart.

use bringup_diag::{Finding, Findings, Span};

use crate::gunzip::{GunzipFault, gunzip};
use crate::kind::{GZIP_TYPES, Kind, NOT_MULTIPART, settled, sniffed};
use crate::mime::{Body, Entity, Headers, is_mime, read};
use crate::part::{Incoming, Part, Received};
use crate::{Layer, Origin, Refused, codes, peel};

/// User-data taken apart.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Its wrappings and the kinds of content inside, each once, outermost first.
    pub layers: Vec<Layer>,
    /// Its parts in the order in which cloud-init handles them.
    pub parts: Vec<Part>,
    /// What is wrong with the wrapping.
    pub findings: Findings,
    /// The texts that findings point into, by the name that they use.
    pub sources: Vec<(String, String)>,
    /// cloud-init fails on the whole input: no part has any effect.
    pub dropped_whole: bool,
}

/// Takes user-data apart. `input` is what findings call it.
pub fn decode(input: &str, bytes: &[u8]) -> Decoded {
    let peeled = peel(bytes);
    let mut taker = Taker { input, received: Received::default(), sources: Vec::new(), dropped_whole: false };
    taker.received.layers.clone_from(&peeled.layers);
    taker.wrapping(&peeled.layers);
    if let Some(refused) = peeled.refused {
        taker.received.findings.push(refused.finding(input));
    } else if is_mime(&peeled.bytes) {
        taker.message(&peeled.bytes);
    } else {
        taker.single(&peeled.bytes, peeled.layers.is_empty());
    }
    let Received { layers, parts, findings, .. } = taker.received;
    Decoded { layers, parts, findings, sources: taker.sources, dropped_whole: taker.dropped_whole }
}

struct Taker<'input> {
    input: &'input str,
    received: Received,
    sources: Vec<(String, String)>,
    dropped_whole: bool,
}

impl Taker<'_> {
    /// An API takes base64 off, cloud-init one gzip; what is wrapped otherwise stays wrapped on the node.
    fn wrapping(&mut self, layers: &[Layer]) {
        let inner = layers.iter().skip_while(|layer| **layer == Layer::Base64).skip(1);
        let doubled = layers.iter().filter(|layer| **layer == Layer::Base64).count() > 1;
        if inner.count() > 0 || doubled {
            let wrapped: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
            self.received.findings.push(
                Finding::warning(
                    codes::WRAPPED_TWICE,
                    format!(
                        "wrapped as {}: a node takes off one base64 and one gzip only",
                        wrapped.join(" in ")
                    ),
                )
                .at(bringup_diag::Place::new(self.input, Span::point(1, 1)))
                .hint("gzip first, then base64 once, and nothing inside"),
            );
        }
    }

    /// A body that is no MIME message.
    fn single(&mut self, bytes: &[u8], plain: bool) {
        let written = String::from_utf8_lossy(bytes).into_owned();
        let arrives = std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
        let origin =
            if plain { Origin::whole(self.input) } else { Origin::whole(format!("{}#part-001", self.input)) };
        self.sources.push((origin.file().to_owned(), written.clone()));
        if arrives.is_none() {
            self.not_utf8(&origin);
        }
        self.received.take(Incoming {
            name: None,
            carried_as: None,
            declared_type: NOT_MULTIPART.to_owned(),
            headers: Headers::default(),
            written,
            arrives,
            origin,
        });
    }

    fn not_utf8(&mut self, origin: &Origin) {
        self.received.findings.push(
            Finding::error(codes::NOT_UTF8, "not UTF-8: cloud-init cannot write it and drops it")
                .at(origin.place(Span::point(1, 1)))
                .hint("save the file as UTF-8"),
        );
    }

    fn message(&mut self, bytes: &[u8]) {
        self.received.layer(Layer::Mime);
        let whole = Origin::whole(self.input);
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.dropped_whole = true;
            self.not_utf8(&whole);
            return;
        };
        let Ok(entity) = read(text) else {
            self.received.findings.push(
                Finding::error(
                    codes::TOO_DEEP,
                    "a MIME message with more parts or deeper nests than any user-data has",
                )
                .at(whole.place(Span::point(1, 1)))
                .hint("one multipart with its parts side by side is enough"),
            );
            return;
        };
        for part in entity.walk() {
            self.entity(part);
        }
    }

    fn entity(&mut self, entity: &Entity) {
        let content_type = entity.headers.content_type();
        if entity.headers.main_type() == "multipart" {
            if matches!(entity.body, Body::Text(_)) {
                self.received.findings.push(
                    Finding::error(codes::NO_BOUNDARY, "a multipart whose boundary is not declared or never found: cloud-init drops all of it")
                        .at(bringup_diag::Place::new(self.input, Span::point(1, 1)))
                        .hint("the `boundary=` of the header must stand on a line of its own, with two dashes before it, above each part"),
                );
            }
            return;
        }
        let Some(payload) = entity.payload() else {
            // A message in the message is attached as it is, and then so is what is in it.
            self.received.count();
            return;
        };
        let incoming = if GZIP_TYPES.contains(&content_type.as_str()) {
            let origin = self.origin(entity.headers.filename().as_deref());
            self.packed(entity, &payload.bytes, &origin)
        } else {
            let written = match &entity.body {
                Body::Text(text) if payload.mangled.is_some() => text.clone(),
                _ => String::from_utf8_lossy(&payload.bytes).into_owned(),
            };
            // Where cloud-init finds another type it replaces the header, and the name that may be in it.
            let name = if settled(&content_type, &written) == content_type {
                entity.headers.filename()
            } else {
                entity.headers.disposition_name()
            };
            let origin = self.origin(name.as_deref());
            let arrives = String::from_utf8(payload.bytes).ok();
            if let Some((line, column, letter)) = payload.mangled {
                self.mangled(&origin, Span::point(line, column), letter, arrives.as_deref());
            } else if arrives.is_none() && content_type.starts_with("text/") {
                self.not_utf8(&origin);
            }
            Some(Incoming {
                name,
                carried_as: None,
                declared_type: content_type,
                headers: entity.headers.clone(),
                written,
                arrives,
                origin,
            })
        };
        if let Some(incoming) = incoming {
            self.sources.push((incoming.origin.file().to_owned(), incoming.written.clone()));
            self.received.take(incoming);
        }
    }

    fn origin(&self, name: Option<&str>) -> Origin {
        let name = name.filter(|name| !name.is_empty()).map(ToOwned::to_owned);
        Origin::whole(format!("{}#{}", self.input, name.unwrap_or_else(|| self.received.next_name())))
    }

    /// A part typed as gzip. Python hands its text on as if it were undeclared, so letters outside ASCII are lost.
    fn packed(&mut self, entity: &Entity, bytes: &[u8], origin: &Origin) -> Option<Incoming> {
        self.received.layer(Layer::Gzip);
        let text = match gunzip(bytes) {
            Ok(unpacked) => String::from_utf8(unpacked).ok(),
            Err(GunzipFault::Corrupt) => None,
            Err(GunzipFault::TooLarge) => {
                self.received.findings.push(Refused::TooLarge.finding(origin.file()));
                return None;
            }
        };
        let Some(text) = text else {
            self.dropped_whole = true;
            self.received.findings.push(
                Finding::error(
                    codes::CORRUPT_GZIP,
                    "does not unpack to text: cloud-init fails and drops all user-data",
                )
                .at(origin.place(Span::point(1, 1)))
                .hint("check that the part was packed with gzip and encoded in base64"),
            );
            return None;
        };
        let kind = sniffed(&text).unwrap_or("text/plain");
        let mut arrives = Some(text.clone());
        // Archives and includes are opened before Python gets to hand the text on.
        if !matches!(Kind::of(kind), Kind::Archive | Kind::Include | Kind::IncludeOnce) {
            let again = Entity { headers: Headers::default(), body: Body::Text(text.clone()) }.payload()?;
            arrives = String::from_utf8(again.bytes).ok();
            if let Some((line, column, letter)) = again.mangled {
                self.mangled(origin, Span::point(line, column), letter, arrives.as_deref());
            }
        }
        // The unpacked part is a new one: of the headers only the name is copied.
        Some(Incoming {
            name: entity.headers.filename(),
            carried_as: None,
            declared_type: kind.to_owned(),
            headers: Headers::default(),
            written: text,
            arrives,
            origin: origin.clone(),
        })
    }

    fn mangled(&mut self, origin: &Origin, span: Span, letter: char, arrives: Option<&str>) {
        let fate = if arrives.is_none() { "cloud-init loses the whole part" } else { "it arrives changed" };
        self.received.findings.push(
            Finding::error(codes::NOT_ASCII, format!("`{letter}` in a part that is not base64: {fate}"))
                .at(origin.place(span))
                .hint(
                    "encode the part: `Content-Transfer-Encoding: base64`; 8bit or a charset does not help",
                ),
        );
    }
}
