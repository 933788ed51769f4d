//! MIME multipart as Go's `net/mail` and `mime/multipart` take it apart, as far as user-data goes.

/// One part: its media type, its name if it has one, and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) media_type: String,
    pub(super) name: Option<String>,
    /// Whether the body is in quoted-printable, which Go undoes by itself.
    pub(super) quoted_printable: bool,
    pub(super) body: &'a [u8],
}

/// A message that is multipart but does not hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MimeFault {
    /// There is no boundary that parts could be told apart by.
    NoBoundary,
}

/// The parts of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) all: Vec<Part<'a>>,
    /// Whether the last of them has an end. Go refuses all of them otherwise, and Python's reader takes them.
    pub(super) closed: bool,
    /// Whether an empty line ends its header. Go refuses all of it otherwise, and Python's reader takes it.
    pub(super) ended: bool,
    /// Whether the boundary has the quotes that it needs: likewise.
    pub(super) quoted: bool,
}

/// The parts of a multipart message; nothing if it is none.
pub(super) fn parts(data: &[u8]) -> Option<Result<Parts<'_>, MimeFault>> {
    let whole = headers(data);
    let ended = whole.is_some();
    let (headers, body) = whole.unwrap_or_else(|| headers_without_end(data));
    let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value)?;
    let (boundary, quoted) = match media_type(kind) {
        Some((media_type, _)) if !media_type.starts_with("multipart/") => return None,
        Some((_, parameters)) => {
            (parameters.into_iter().find(|(name, _)| name == "boundary").map(|(_, value)| value), true)
        }
        None => (Some(boundary_without_quotes(kind)?), false),
    };
    Some(boundary.filter(|text| !text.is_empty()).ok_or(MimeFault::NoBoundary).map(|boundary| Parts {
        ended,
        quoted,
        ..split(body, &boundary)
    }))
}

/// The boundary of a multipart type, such as `//`, whose letters may not stand without quotes.
fn boundary_without_quotes(kind: &str) -> Option<String> {
    let mut pieces = kind.split(';').map(str::trim);
    if !pieces.next()?.to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    let boundary = pieces
        .filter_map(|piece| piece.split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("boundary"));
    boundary.map(|(_, value)| value.to_owned()).filter(|value| !value.contains('"'))
}

fn split<'a>(body: &'a [u8], boundary: &str) -> Parts<'a> {
    let dashes = format!("--{boundary}");
    let mut parts = Vec::new();
    // Where the part that is being read begins; nothing before the first boundary.
    let mut open: Option<usize> = None;
    let mut at = 0;
    while at < body.len() {
        let line = line_at(body, at);
        let next = at.saturating_add(line.len());
        if let Some(rest) = line.strip_prefix(dashes.as_bytes()) {
            let closes = rest.strip_prefix(b"--").is_some_and(is_blank);
            if closes || is_blank(rest) {
                if let Some(start) = open {
                    parts.push(part(without_line_end(body.get(start..at).unwrap_or_default())));
                }
                if closes {
                    return Parts { all: parts, closed: true, ended: true, quoted: true };
                }
                open = Some(next);
            }
        }
        at = next;
    }
    let last = open.and_then(|start| body.get(start..)).filter(|rest| !is_blank(rest));
    parts.extend(last.map(part));
    Parts { all: parts, closed: false, ended: true, quoted: true }
}

fn part(text: &[u8]) -> Part<'_> {
    let (headers, body) = headers(text).unwrap_or_else(|| headers_without_end(text));
    let value =
        |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let (kind, mut parameters) = value("content-type").and_then(media_type).unwrap_or_default();
    if let Some((_, more)) = value("content-disposition").and_then(media_type) {
        parameters.extend(more);
    }
    let name = parameters.into_iter().find(|(name, _)| name == "filename" || name == "name");
    let encoding = value("content-transfer-encoding").unwrap_or_default();
    Part {
        media_type: kind,
        name: name.map(|(_, value)| value),
        quoted_printable: encoding.trim().eq_ignore_ascii_case("quoted-printable"),
        body,
    }
}

/// Names in lower case with their values, and what follows the blank line; nothing if this is no header.
#[expect(clippy::type_complexity, reason = "a list of pairs and a rest need no name")]
fn headers(data: &[u8]) -> Option<(Vec<(String, String)>, &[u8])> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    loop {
        let line = line_at(data, at);
        at = at.saturating_add(line.len());
        if is_line_end(line) || line.is_empty() {
            return Some((headers, data.get(at..).unwrap_or_default()));
        }
        let text = std::str::from_utf8(line).ok()?.trim_end_matches(['\r', '\n']);
        if text.starts_with([' ', '\t']) {
            let (_, value) = headers.last_mut()?;
            value.push(' ');
            value.push_str(text.trim());
            continue;
        }
        let (name, value) = text.split_once(':')?;
        headers.push((name.trim_end().to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// The headers of a part whose body follows without a blank line, as EKS itself writes scripts: cloud-init takes the first line
/// that is no header for the beginning of the body.
fn headers_without_end(data: &[u8]) -> (Vec<(String, String)>, &[u8]) {
    let is_header = |line: &[u8]| {
        let name = line.iter().take_while(|byte| (0x21..=0x7e).contains(*byte) && **byte != b':').count();
        line.get(name) == Some(&b':')
    };
    let mut at = 0;
    while is_header(line_at(data, at)) {
        at = at.saturating_add(line_at(data, at).len());
    }
    let (head, body) = data.split_at_checked(at).unwrap_or((&[], data));
    (headers(head).map(|(headers, _)| headers).unwrap_or_default(), body)
}

/// A type in lower case, and its parameters by name.
type MediaType = (String, Vec<(String, String)>);

/// The type in lower case, and its parameters with quotes undone; nothing if it is not well-formed.
fn media_type(value: &str) -> Option<MediaType> {
    let mut rest = value;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let mut quoted = false;
        let end = rest
            .char_indices()
            .find(|(_, letter)| {
                quoted ^= *letter == '"';
                *letter == ';' && !quoted
            })
            .map_or(rest.len(), |(at, _)| at);
        let (piece, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        pieces.push(piece.trim());
        rest = behind.strip_prefix(';').unwrap_or_default();
    }
    let (kind, parameters) = pieces.split_first()?;
    let parameters = parameters.iter().filter(|piece| !piece.is_empty()).map(|piece| {
        let (name, value) = piece.split_once('=')?;
        let text = match value.strip_prefix('"') {
            Some(inner) => inner.strip_suffix('"')?,
            None => Some(value).filter(|value| is_token(value))?,
        };
        Some((name.trim().to_ascii_lowercase(), text.to_owned()))
    });
    Some((kind.to_ascii_lowercase(), parameters.collect::<Option<_>>()?))
}

/// Whether a text may stand without quotes, RFC 2045 5.1.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte))
}

/// The line that begins here, with its end.
fn line_at(data: &[u8], at: usize) -> &[u8] {
    let rest = data.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end.saturating_add(1));
    rest.get(..end).unwrap_or_default()
}

fn is_line_end(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

fn is_blank(rest: &[u8]) -> bool {
    rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// The line end before a boundary belongs to the boundary.
fn without_line_end(body: &[u8]) -> &[u8] {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    body.strip_suffix(b"\r").unwrap_or(body)
}
