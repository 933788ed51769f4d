//! Header fields and their parameters.

/// The header fields of a message, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// From the raw lines before the body, folded lines joined to the field that they continue.
    pub(super) fn parse(lines: &[&str]) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut in_field = false;
        for line in lines {
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut().filter(|_| in_field) {
                    value.push_str(line);
                }
                continue;
            }
            in_field = false;
            if line.starts_with("From ") {
                continue;
            }
            if let Some((name, value)) = line.split_once(':').filter(|(name, _)| !name.is_empty()) {
                fields.push((name.to_owned(), value.trim_start_matches([' ', '\t']).to_owned()));
                in_field = true;
            }
        }
        for (_, value) in &mut fields {
            value.truncate(value.trim_end_matches(['\r', '\n']).len());
        }
        Self(fields)
    }

    /// From pairs of name and value.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// The first field of this name, in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The media type in lower case; `text/plain` where there is none or it is malformed.
    pub fn content_type(&self) -> String {
        let value = self.get("Content-Type").unwrap_or_default();
        let media_type = value.split(';').next().unwrap_or_default().trim().to_lowercase();
        if media_type.matches('/').count() == 1 { media_type } else { "text/plain".to_owned() }
    }

    /// What stands before the slash of the media type.
    pub fn main_type(&self) -> String {
        self.content_type().split('/').next().unwrap_or_default().to_owned()
    }

    /// The line that separates the parts, without its dashes.
    pub fn boundary(&self) -> Option<String> {
        parameter(self.get("Content-Type")?, "boundary").map(|boundary| boundary.trim_end().to_owned())
    }

    /// The name of a part: `filename` of the disposition, else `name` of the type.
    pub fn filename(&self) -> Option<String> {
        let by_type = || self.get("Content-Type").and_then(|value| parameter(value, "name"));
        self.disposition_name().or_else(|| by_type().map(|name| name.trim().to_owned()))
    }

    /// `filename` of the disposition: what is left of a name once the type is replaced.
    pub fn disposition_name(&self) -> Option<String> {
        let name = self.get("Content-Disposition").and_then(|value| parameter(value, "filename"));
        name.map(|name| name.trim().to_owned())
    }

    /// How the body is encoded, in lower case.
    pub fn transfer_encoding(&self) -> String {
        self.get("Content-Transfer-Encoding").unwrap_or_default().to_lowercase()
    }
}

/// The value of a parameter of a field such as `multipart/mixed; boundary="x"`.
fn parameter(field: &str, name: &str) -> Option<String> {
    let parameters = split_parameters(field);
    let plain = parameters.iter().find(|(key, _)| key == name).map(|(_, value)| unquote(value));
    plain.or_else(|| extended_parameter(&parameters, name))
}

/// RFC 2231: `name*=charset'language'percent%20encoded`, and `name*0`, `name*1*` for long values.
fn extended_parameter(parameters: &[(String, String)], name: &str) -> Option<String> {
    let whole = format!("{name}*");
    if let Some((_, value)) = parameters.iter().find(|(key, _)| *key == whole) {
        let value = unquote(value);
        let encoded = value.splitn(3, '\'').nth(2).unwrap_or(&value);
        return Some(percent_decoded(encoded));
    }
    let mut joined: Option<String> = None;
    for number in 0..parameters.len() {
        let (plain, encoded) = (format!("{name}*{number}"), format!("{name}*{number}*"));
        let Some((key, value)) = parameters.iter().find(|(key, _)| *key == plain || *key == encoded) else {
            break;
        };
        let value = unquote(value);
        let piece = match (key == &encoded, number) {
            (true, 0) => percent_decoded(value.splitn(3, '\'').nth(2).unwrap_or(&value)),
            (true, _) => percent_decoded(&value),
            (false, _) => value,
        };
        joined.get_or_insert_with(String::new).push_str(&piece);
    }
    joined
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = (*byte == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits at semicolons outside quotes.
fn split_parameters(field: &str) -> Vec<(String, String)> {
    let mut pieces = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for letter in field.chars() {
        if letter == ';' && !quoted {
            pieces.push(String::new());
            continue;
        }
        if letter == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = letter == '\\';
        if let Some(piece) = pieces.last_mut() {
            piece.push(letter);
        }
    }
    let pair = |piece: &String| {
        piece.split_once('=').map(|(key, value)| (key.trim().to_lowercase(), value.trim().to_owned()))
    };
    pieces.iter().skip(1).filter_map(pair).collect()
}

fn unquote(value: &str) -> String {
    let within = |open: char, close: char| {
        value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).filter(|_| value.len() > 1)
    };
    if let Some(inner) = within('"', '"') {
        inner.replace("\\\\", "\\").replace("\\\"", "\"")
    } else {
        within('<', '>').unwrap_or(value).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Headers;

    /// The right column was printed by `get_filename` of Python 3.11's `email`.
    #[test]
    fn names_of_parts_are_read_as_python_reads_them() {
        let cases = [
            ("Content-Disposition: attachment; filename=\"a;b.sh\"", Some("a;b.sh")),
            ("Content-Disposition: attachment; filename=plain.sh", Some("plain.sh")),
            ("Content-Type: text/x-shellscript; name=\"from-type.sh\"", Some("from-type.sh")),
            ("Content-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.sh", Some("résumé.sh")),
            (
                "Content-Disposition: attachment; filename*0=\"long-\"; filename*1=\"name.sh\"",
                Some("long-name.sh"),
            ),
            ("Content-Disposition: attachment; FILENAME=\"case.sh\"", Some("case.sh")),
            ("Content-Disposition: attachment; filename=\" spaced \"", Some("spaced")),
            ("Content-Disposition: attachment; filename=\"quo\\\"te\"", Some("quo\"te")),
            ("Content-Disposition: attachment", None),
        ];
        for (line, name) in cases {
            assert_eq!(Headers::parse(&[line]).filename().as_deref(), name, "{line}");
        }
    }

    #[test]
    fn types_and_folds() {
        let headers = Headers::parse(&["Content-Type: Multipart/Mixed;\r\n", "\tboundary=\"=== x\"\r\n"]);
        assert_eq!(headers.content_type(), "multipart/mixed");
        assert_eq!(headers.boundary().as_deref(), Some("=== x"));
        assert_eq!(Headers::parse(&["Content-Type: text"]).content_type(), "text/plain");
        assert_eq!(Headers::default().content_type(), "text/plain");
    }
}
