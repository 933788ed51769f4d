//! A MIME reader that agrees with Python's `email`, defects included: that is what decides on a node.

use crate::letters::first_letter;
use crate::mime::Headers;
use crate::transfer::{base64_of_mail, quoted_printable};

/// Deeper nests of messages are a bomb.
const DEPTH_LIMIT: usize = 20;
/// More parts are a bomb.
const PART_LIMIT: usize = 10_000;

/// A message or one of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Its header fields.
    pub headers: Headers,
    /// What follows them.
    pub body: Body,
}

/// What follows the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text as it stands, still in its transfer encoding.
    Text(String),
    /// The parts of a multipart, or the one message inside a `message/*`.
    Parts(Vec<Entity>),
}

/// A body with its transfer encoding undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The bytes that Python hands on.
    pub bytes: Vec<u8>,
    /// The first letter that Python does not hand on as it is: line, column (from one) and letter. Python encodes an
    /// undeclared body letter by letter as Latin-1, and wider letters as a backslash escape.
    pub mangled: Option<(u32, u32, char)>,
}

/// More parts or deeper nests than any honest message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MimeBomb;

/// Reads a message.
pub fn read(text: &str) -> Result<Entity, MimeBomb> {
    let lines = split_lines(text);
    Reader { lines, position: 0, boundaries: Vec::new(), parts: 0 }.entity(0)
}

/// Lines with their ends; a lone CR ends one too.
fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).map_or(rest.len(), |at| {
            let crlf = rest.get(at..).is_some_and(|tail| tail.starts_with("\r\n"));
            at.saturating_add(if crlf { 2 } else { 1 })
        });
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        lines.push(line);
        rest = after;
    }
    lines
}

struct Reader<'text> {
    lines: Vec<&'text str>,
    position: usize,
    /// The boundaries of all multiparts around the current place: each of them ends what is being read.
    boundaries: Vec<String>,
    parts: usize,
}

impl<'text> Reader<'text> {
    /// The next line, unless it is a boundary of something around.
    fn line(&mut self) -> Option<&'text str> {
        let line = *self.lines.get(self.position)?;
        if self.boundaries.iter().any(|boundary| boundary_end(line, boundary).is_some()) {
            return None;
        }
        self.position = self.position.saturating_add(1);
        Some(line)
    }

    fn unread(&mut self) {
        self.position = self.position.saturating_sub(1);
    }

    fn rest(&mut self) -> String {
        let mut text = String::new();
        while let Some(line) = self.line() {
            text.push_str(line);
        }
        text
    }

    fn entity(&mut self, depth: usize) -> Result<Entity, MimeBomb> {
        self.parts = self.parts.saturating_add(1);
        if depth > DEPTH_LIMIT || self.parts > PART_LIMIT {
            return Err(MimeBomb);
        }
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            if !is_header_line(line) {
                if !line.starts_with(['\r', '\n']) {
                    self.unread();
                }
                break;
            }
            lines.push(line);
        }
        let headers = Headers::parse(&lines);
        let body = match headers.main_type().as_str() {
            "message" => Body::Parts(vec![self.entity(depth.saturating_add(1))?]),
            "multipart" => match headers.boundary() {
                Some(boundary) => self.multipart(&boundary, depth)?,
                None => Body::Text(self.rest()),
            },
            _ => Body::Text(self.rest()),
        };
        Ok(Entity { headers, body })
    }

    fn multipart(&mut self, boundary: &str, depth: usize) -> Result<Body, MimeBomb> {
        let mut parts = Vec::new();
        let mut preamble = String::new();
        let mut started = false;
        while let Some(line) = self.line() {
            match boundary_end(line, boundary) {
                Some(true) => {
                    if started {
                        // What follows the end is an epilogue, up to whatever is around.
                        self.rest();
                    }
                    break;
                }
                Some(false) => {
                    started = true;
                    // Boundaries in a row make no empty parts between them, and a closing one among them closes nothing.
                    while self.lines.get(self.position).is_some_and(|line| {
                        boundary_end(line, boundary).is_some() && !self.is_outer_boundary(line)
                    }) {
                        self.position = self.position.saturating_add(1);
                    }
                    self.boundaries.push(boundary.to_owned());
                    let part = self.entity(depth.saturating_add(1));
                    self.boundaries.pop();
                    let mut part = part?;
                    strip_last_line_end(&mut part);
                    parts.push(part);
                }
                None => preamble.push_str(line),
            }
        }
        if started {
            return Ok(Body::Parts(parts));
        }
        self.rest();
        Ok(Body::Text(preamble))
    }

    fn is_outer_boundary(&self, line: &str) -> bool {
        self.boundaries.iter().any(|boundary| boundary_end(line, boundary).is_some())
    }
}

/// `Some(true)` for the closing boundary, `Some(false)` for one between parts.
fn boundary_end(line: &str, boundary: &str) -> Option<bool> {
    let rest = line.strip_prefix("--")?.strip_prefix(boundary)?;
    let blank = |rest: &str| {
        let end = rest.trim_start_matches([' ', '\t']);
        matches!(end, "" | "\n" | "\r" | "\r\n")
    };
    match rest.strip_prefix("--") {
        Some(rest) if blank(rest) => Some(true),
        _ => blank(rest).then_some(false),
    }
}

fn is_header_line(line: &str) -> bool {
    if line.starts_with([' ', '\t']) || line.starts_with("From ") {
        return true;
    }
    line.split_once(':').is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// The line end before a boundary belongs to the boundary.
fn strip_last_line_end(entity: &mut Entity) {
    let main_type = entity.headers.main_type();
    match &mut entity.body {
        Body::Text(text) if main_type != "multipart" => {
            let stripped = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\r', '\n']));
            if let Some(length) = stripped.map(str::len) {
                text.truncate(length);
            }
        }
        Body::Parts(parts) if main_type == "message" => {
            if let Some(inner) = parts.last_mut() {
                strip_last_line_end(inner);
            }
        }
        Body::Text(_) | Body::Parts(_) => {}
    }
}

impl Entity {
    /// The body with its transfer encoding undone; none of a container.
    pub fn payload(&self) -> Option<Payload> {
        let Body::Text(text) = &self.body else { return None };
        let raw = raw_unicode_escape(text);
        Some(match self.headers.transfer_encoding().as_str() {
            "base64" => Payload { bytes: base64_of_mail(&raw), mangled: None },
            "quoted-printable" => Payload { bytes: quoted_printable(&raw), mangled: None },
            _ => Payload { mangled: first_mangled(text, &raw), bytes: raw },
        })
    }

    /// All entities inside, itself first, depth first: the order in which cloud-init meets them.
    pub fn walk(&self) -> Vec<&Entity> {
        let mut found = vec![self];
        if let Body::Parts(parts) = &self.body {
            for part in parts {
                found.extend(part.walk());
            }
        }
        found
    }
}

/// Python's codec of that name, by which `email` makes bytes of a body's text.
fn raw_unicode_escape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match (u8::try_from(letter), u32::from(letter)) {
            (Ok(byte), _) => bytes.push(byte),
            (Err(_), code @ ..=0xffff) => bytes.extend(format!("\\u{code:04x}").into_bytes()),
            (Err(_), code) => bytes.extend(format!("\\U{code:08x}").into_bytes()),
        }
    }
    bytes
}

fn first_mangled(text: &str, raw: &[u8]) -> Option<(u32, u32, char)> {
    if text.is_ascii() || text.as_bytes() == raw {
        return None;
    }
    let (place, letter) = first_letter(text, |letter| !letter.is_ascii())?;
    Some((place.line, place.column, letter))
}

#[cfg(test)]
mod tests {
    use super::{Body, DEPTH_LIMIT, Entity, MimeBomb, read};

    fn leaves(text: &str) -> Vec<String> {
        let entity = read(text).unwrap();
        let leaf = |entity: &&Entity| {
            entity.payload().map(|payload| String::from_utf8_lossy(&payload.bytes).into_owned())
        };
        entity.walk().iter().filter_map(leaf).collect()
    }

    /// Each right side was printed by Python 3.11: `[p.get_payload(decode=True) for p in msg.walk() if not p.is_multipart()]`.
    #[test]
    fn odd_messages_are_read_as_python_reads_them() {
        let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n";
        let cases: [(&str, &[&str]); 12] = [
            ("--B\n\none\n--B\n\ntwo\n--B--\n", &["one", "two"]),
            ("preamble\n--B\n\none\n\n--B--\nepilogue\n", &["one\n"]),
            ("--B\n\nno end\n", &["no end"]),
            ("--B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B--\r\n", &["one", "two"]),
            ("--B\nno header\n--B--\n", &["no header"]),
            ("--B\n--B\n\none\n--B--\n", &["one"]),
            ("--B\n--B--\n\none\n", &["one"]),
            ("--B \t\n\none\n--Bx\n--B--", &["one\n--Bx"]),
            ("nothing here\n", &["nothing here\n"]),
            ("--B\nX-A: 1\n\n--B\n\n\n--B--\n", &["", ""]),
            ("--B\n\none\r--B\n\ntwo\n--B--\n", &["one", "two"]),
            (
                "--B\nContent-Type: multipart/mixed; boundary=C\n\n--C\n\nin\n--B\n\nout\n--B--\n",
                &["in", "out"],
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(leaves(&format!("{head}{body}")), expected, "{body}");
        }
    }

    #[test]
    fn a_message_inside_a_part_is_walked_too() {
        let text = "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: message/rfc822\n\nSubject: x\n\ninner\n--B--\n";
        let entity = read(text).unwrap();
        assert_eq!(entity.walk().len(), 3);
        assert_eq!(leaves(text), ["inner"]);
    }

    #[test]
    fn letters_outside_ascii_are_mangled_unless_encoded() {
        let plain =
            read("MIME-Version: 1.0\nContent-Transfer-Encoding: 8bit\n\necho a\ncaf\u{e9} \u{2026}\n")
                .unwrap();
        let payload = plain.payload().unwrap();
        assert_eq!(payload.bytes, b"echo a\ncaf\xe9 \\u2026\n");
        assert_eq!(payload.mangled, Some((2, 4, '\u{e9}')));
        let encoded = read("Content-Transfer-Encoding: base64\n\nY2Fmw6k=\n").unwrap();
        assert_eq!(encoded.payload().unwrap().bytes, "caf\u{e9}".as_bytes());
        assert_eq!(encoded.payload().unwrap().mangled, None);
    }

    #[test]
    fn a_nest_of_messages_is_refused() {
        let nest = "Content-Type: message/rfc822\n\n".repeat(DEPTH_LIMIT + 2);
        assert_eq!(read(&nest), Err(MimeBomb));
        let many = format!("Content-Type: multipart/mixed; boundary=B\n\n{}", "--B\n\nx\n".repeat(10_001));
        assert_eq!(read(&many), Err(MimeBomb));
        let flat = read("Content-Type: multipart/mixed\n\n--B\n").unwrap();
        assert_eq!(flat.body, Body::Text("--B\n".to_owned()));
    }
}
