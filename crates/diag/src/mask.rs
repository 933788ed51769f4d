//! Source lines are quoted in diagnostics; what looks like a secret on them is not.
//!
//! The check is by text, because it must also hold for lines that do not parse. It would rather hide too much.

/// What the last word of a key must be for its value to be unfit for print.
const SECRET_ENDINGS: [&str; 13] = [
    "password",
    "passwd",
    "passwordhash",
    "passphrase",
    "token",
    "tokens",
    "secret",
    "secrets",
    "privatekey",
    "credentials",
    "accesskey",
    "apikey",
    "keydata",
];

/// A key that only sounds like one: whether the metadata service wants a token.
const HARMLESS: &str = "httptokens";

/// Keys of a reference to a secret: what follows them says where it is, not what it is.
const REFERENCES: [&str; 5] = ["file", "environment", "s3", "ssmParameter", "secretsManager"];

/// How the base64 of a PEM block begins, and how that of a certificate, which is no secret, goes on.
const PACKED_PEM: (&str, &str) = ("LS0tLS1CRUdJTi", "BDRVJU");

/// Whether the value of a key with this name is unfit for print: `DB_PASSWORD`, `client-key-data`, `authorization`.
pub fn is_secret_key(key: &str) -> bool {
    // Backwards and without a copy: every key of every document is asked.
    let letters = || {
        key.bytes()
            .rev()
            .filter(u8::is_ascii_alphanumeric)
            .skip_while(u8::is_ascii_digit)
            .map(|letter| letter.to_ascii_lowercase())
    };
    let ends_with = |ending: &str| {
        let mut letters = letters();
        ending.bytes().rev().all(|expected| letters.next() == Some(expected))
    };
    (SECRET_ENDINGS.iter().any(|ending| ends_with(ending)) && !letters().eq(HARMLESS.bytes().rev()))
        || letters().eq("authorization".bytes().rev())
}

/// The line with each character of a secret value replaced, so that columns still fit.
///
/// This sees one line only; a text as a whole, with values that go on over several lines, is for [`masked_lines`].
pub fn masked_line(line: &str) -> String {
    let from =
        [secret_value(line).map(|value| value.start), secret_argument(line), packed_key(line), pem_key(line)];
    let mut masked = match from.into_iter().flatten().min() {
        Some(from) => hidden_from(line, from),
        None => line.to_owned(),
    };
    masked = without_user_info(&masked);
    without_bootstrap_tokens(&masked)
}

/// A message or hint with the secrets masked that it repeats from a document, and long quotes cut.
///
/// What is secret by its shape is masked anywhere. What is secret by the key or flag before it is masked only where
/// the message quotes, between backticks: prose that speaks of `--token` is not a secret.
pub fn masked_message(message: &str) -> String {
    let quoted: Vec<String> = message
        .split('`')
        .enumerate()
        .map(|(index, piece)| if index % 2 == 1 { masked_quote(piece) } else { masked_prose(piece) })
        .collect();
    without_bootstrap_tokens(&without_user_info(&quoted.join("`")))
}

/// Most characters of a quote that a message repeats: a value may be a whole file.
const LONGEST_QUOTE: usize = 400;

fn masked_quote(quote: &str) -> String {
    if let Some((cut, _)) = quote.char_indices().nth(LONGEST_QUOTE) {
        let start = quote.get(..cut).unwrap_or_default();
        return format!("{}…", masked_quote(start));
    }
    let mut lines = masked_lines(quote).join("\n");
    if quote.ends_with('\n') {
        lines.push('\n');
    }
    lines
}

fn masked_prose(prose: &str) -> String {
    match packed_key(prose).into_iter().chain(pem_key(prose)).min() {
        Some(from) => hidden_from(prose, from),
        None => prose.to_owned(),
    }
}

/// The lines of a text, secrets masked, also where they stand on other lines than their key.
pub fn masked_lines(text: &str) -> Vec<String> {
    Exposures::of(text).map(Exposure::masked).collect()
}

/// A line of a text, and what of it may be printed.
#[derive(Clone, Copy)]
pub(crate) enum Exposure<'text> {
    /// What it shows by itself to be no secret.
    Line(&'text str),
    /// Nothing: it belongs to a secret that begins above.
    None(&'text str),
}

impl Exposure<'_> {
    pub(crate) fn masked(self) -> String {
        match self {
            Self::Line(line) => masked_line(line),
            Self::None(line) => hidden_from(line, 0),
        }
    }
}

/// Goes through the lines of a text. To know of each to which value it belongs is little effort beside masking it, so that is left to
/// whoever prints one.
pub(crate) struct Exposures<'text> {
    lines: std::str::Lines<'text>,
    open: Option<OpenValue>,
    in_private_key: bool,
}

impl<'text> Exposures<'text> {
    pub(crate) fn of(text: &'text str) -> Self {
        Self { lines: text.lines(), open: None, in_private_key: false }
    }
}

impl<'text> Iterator for Exposures<'text> {
    type Item = Exposure<'text>;

    fn next(&mut self) -> Option<Exposure<'text>> {
        let line = self.lines.next()?;
        if self.in_private_key {
            self.in_private_key = !line.contains("-----END");
            return Some(Exposure::None(line));
        }
        if pem_key(line).is_some() && !line.contains("-----END") {
            self.in_private_key = true;
        }
        if self.open.as_ref().is_some_and(|value| value.holds(line)) {
            let shown = starts_with_reference(line);
            return Some(if shown { Exposure::Line(line) } else { Exposure::None(line) });
        }
        self.open = OpenValue::after(line);
        Some(Exposure::Line(line))
    }
}

/// A secret key whose value may go on below.
struct OpenValue {
    indent: usize,
}

impl OpenValue {
    fn after(line: &str) -> Option<Self> {
        let value = secret_value(line)?;
        Some(Self { indent: value.key_column })
    }

    fn holds(&self, line: &str) -> bool {
        let indent = line.len() - line.trim_start().len();
        let is_item = line.trim_start().starts_with("- ") && indent == self.indent;
        line.trim().is_empty() || indent > self.indent || is_item
    }
}

struct SecretValue {
    /// Where the key starts, in bytes.
    key_column: usize,
    /// Where the value starts, in bytes.
    start: usize,
}

/// The first value on the line that stands behind a secret key and `:` or `=`.
fn secret_value(line: &str) -> Option<SecretValue> {
    line.char_indices().filter(|(_, letter)| matches!(letter, ':' | '=')).find_map(|(separator, _)| {
        let before = line.get(..separator)?.trim_end();
        let key = before
            .rsplit(|letter: char| {
                !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '"' | '\''))
            })
            .next()
            .unwrap_or_default();
        // The key first: the value is the rest of the line, and to look at it for every key would take for ever.
        if !is_secret_key(key) {
            return None;
        }
        let value = line.get(separator + 1..)?.trim();
        let shown = is_harmless(value) || value.strip_prefix('{').is_some_and(starts_with_reference);
        (!shown).then_some(SecretValue { key_column: before.len() - key.len(), start: separator + 1 })
    })
}

fn is_harmless(value: &str) -> bool {
    matches!(value.trim_end_matches([',', '}', ' ']), "true" | "false" | "null" | "~")
}

fn starts_with_reference(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['"', '\'']);
    REFERENCES.iter().any(|key| {
        text.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    })
}

/// What follows `--token ` or `"--token", `.
fn secret_argument(line: &str) -> Option<usize> {
    let mut end = 0;
    line.split_inclusive(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).find_map(|word| {
        let start = end;
        end += word.len();
        let word = word.trim_end_matches(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
        let flag = word.get(word.find("--")?..)?;
        let after = start + word.len();
        (is_secret_key(flag) && !line.get(after..)?.trim().is_empty()).then_some(after)
    })
}

fn packed_key(line: &str) -> Option<usize> {
    let (begin, certificate) = PACKED_PEM;
    line.match_indices(begin)
        .find(|(at, _)| !line.get(at + begin.len()..).is_some_and(|rest| rest.starts_with(certificate)))
        .map(|(at, _)| at)
}

fn pem_key(line: &str) -> Option<usize> {
    let at = line.find("-----BEGIN")?;
    let label = line.get(at..)?;
    let length = label.find("PRIVATE KEY-----")? + "PRIVATE KEY-----".len();
    Some(at + length)
}

fn hidden_from(line: &str, from: usize) -> String {
    line.char_indices()
        .map(|(index, letter)| {
            let keep =
                index < from || letter.is_whitespace() || matches!(letter, '"' | '\'' | '{' | '}' | ',');
            if keep { letter } else { '*' }
        })
        .collect()
}

/// `https://user:password@host` without the password.
fn without_user_info(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        masked.push_str(before);
        masked.push_str("://");
        let end = after
            .find(|letter: char| letter == '/' || letter.is_whitespace() || matches!(letter, '"' | '\''))
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        match authority.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host))) {
            Some(((user, password), host)) => {
                masked.push_str(user);
                masked.push(':');
                masked.extend(password.chars().map(|_| '*'));
                masked.push('@');
                masked.push_str(host);
            }
            None => masked.push_str(authority),
        }
        rest = tail;
    }
    masked.push_str(rest);
    masked
}

/// `abcdef.0123456789abcdef` is a bootstrap token wherever it stands.
fn without_bootstrap_tokens(line: &str) -> String {
    line.split_inclusive(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'))
        .map(|word| {
            let token =
                word.trim_end_matches(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            if is_bootstrap_token(token) {
                format!("{}{}", "*".repeat(token.len()), &word[token.len()..])
            } else {
                word.to_owned()
            }
        })
        .collect()
}

fn is_bootstrap_token(word: &str) -> bool {
    let fits = |part: &str, length: usize| {
        part.len() == length
            && part.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    word.split_once('.').is_some_and(|(id, secret)| fits(id, 6) && fits(secret, 16))
}

#[cfg(test)]
mod tests {
    use super::{is_secret_key, masked_line, masked_lines, masked_message};

    #[test]
    fn a_message_keeps_its_words_and_loses_its_secrets() {
        for (message, expected) in [
            ("`v` is `abcdef.0123456789abcdef`, no number", "`v` is `***********************`, no number"),
            ("`http://me:pw@host` has no port", "`http://me:**@host` has no port"),
            ("the words `join --token abc` hold a secret", "the words `join --token ***` hold a secret"),
            ("`password = \"hunter2` does not end", "`password = \"*******` does not end"),
            (
                "`-----BEGIN PRIVATE KEY-----\nMIIE\n` is no certificate",
                "`-----BEGIN PRIVATE KEY-----\n****\n` is no certificate",
            ),
        ] {
            assert_eq!(masked_message(message), expected);
        }
        for harmless in [
            "the flag `--bootstrap-token` is gone; use `--bootstrap-kubeconfig`",
            "write `token: {file: /run/token}` or leave `password` out: it is not needed",
        ] {
            assert_eq!(masked_message(harmless), harmless);
        }
    }

    #[test]
    fn a_message_does_not_repeat_a_whole_file() {
        let message = format!("`{}` is no name", "é".repeat(1 << 20));
        assert_eq!(masked_message(&message), format!("`{}…` is no name", "é".repeat(400)));
        let whole = format!("`{}` is no name", "é".repeat(400));
        assert_eq!(masked_message(&whole), whole);
    }

    #[test]
    fn values_of_secret_keys_are_masked_in_place() {
        assert_eq!(masked_line("  token: abcdef.0123"), "  token: ***********");
        assert_eq!(masked_line(r#"{"password": "TGV0"}"#), r#"{"password": "****"}"#);
        assert_eq!(masked_line("KUBE_TOKEN=xyz"), "KUBE_TOKEN=***");
        assert_eq!(masked_line("c: 'password = \"hunter2"), "c: 'password = \"*******");
        assert_eq!(masked_line("DB_PASSWORD_2: 1234"), "DB_PASSWORD_2: ****");
        assert_eq!(masked_line("    client-key-data: AAAA"), "    client-key-data: ****");
        assert_eq!(masked_line("kubeadm join --token abc x"), "kubeadm join --token *** *");
        assert_eq!(masked_line(r#"run: [x, "--token", "abc"]"#), r#"run: [x, "--token", "***"*"#);
    }

    #[test]
    fn a_very_long_line_is_masked_in_one_pass() {
        for piece in ["{\"ignition\":", "}", "--", "a=", "token: true}", "x://", "LS0tLS1CRUdJTiBDRVJU"] {
            let line = piece.repeat((1 << 18) / piece.len());
            // Were any of it quadratic, this would not end within the patience of anybody.
            assert_eq!(masked_line(&line).len(), line.len());
        }
    }

    #[test]
    fn values_that_are_secret_by_their_shape_are_masked() {
        assert_eq!(masked_line("x: abcdef.0123456789abcdef y"), "x: *********************** y");
        assert_eq!(masked_line("http: http://me:pw@host:3128/x"), "http: http://me:**@host:3128/x");
        assert_eq!(masked_line("content: LS0tLS1CRUdJTiBQUk"), "content: ******************");
        assert_eq!(masked_line("content: LS0tLS1CRUdJTiBDRVJU"), "content: LS0tLS1CRUdJTiBDRVJU");
    }

    #[test]
    fn other_lines_and_references_stay() {
        for line in [
            "  name: gpu # not a token",
            "  tokenFile: /run/token",
            "  tokensRequired: maybe",
            "  HttpTokens: required",
            "  httpTokens: optional",
            "  imageCredentialProvider: {}",
            "  secretsManager: prod/x",
            "  token: {file: /run/token}",
            r#"  "token": {"ssmParameter": "/x"}"#,
            "  lock_passwd: true",
            "  method: bootstrap-token",
            "  endpoint: https://example.com:6443/x",
            "  - 10.0.0.1",
        ] {
            assert_eq!(masked_line(line), line);
        }
        assert!(!is_secret_key("tokensRequired"));
        assert!(is_secret_key("secretAccessKey"));
    }

    #[test]
    fn a_value_on_lines_of_its_own_is_masked() {
        let text = "a:\n  - token: |\n      one\n\n      two\n    name: x\n  - password:\n    - three\n    user: y\nb: z\n";
        let expected = "a:\n  - token: *\n      ***\n\n      ***\n    name: x\n  - password:\n    * *****\n    user: y\nb: z";
        assert_eq!(masked_lines(text).join("\n"), expected);
    }

    #[test]
    fn a_reference_on_lines_of_its_own_stays() {
        let text = "token:\n  file: /run/token\n  valeu: x\nname: y";
        assert_eq!(masked_lines(text).join("\n"), "token:\n  file: /run/token\n  ****** *\nname: y");
    }

    #[test]
    fn a_private_key_is_masked_to_its_end() {
        let text =
            "content: |\n  -----BEGIN EC PRIVATE KEY-----\n  MHcC\n  -----END EC PRIVATE KEY-----\n  next";
        let lines = masked_lines(text);
        assert_eq!(lines[1], "  -----BEGIN EC PRIVATE KEY-----");
        assert_eq!(lines[2], "  ****");
        assert_eq!(lines[4], "  next");
        assert!(!masked_line("x: \"-----BEGIN PRIVATE KEY-----\\nMIIE\"").contains("MIIE"));
    }
}
