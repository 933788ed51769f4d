//! Source lines are quoted in diagnostics; what looks like a secret on them is not.

/// Words in a key that make its value unfit for print.
const SECRET_WORDS: [&str; 6] = ["password", "passwd", "token", "secret", "privatekey", "credential"];

/// The line with each character of a secret value replaced, so that columns still fit.
///
/// A value is secret by the name of its key: the check is by text, because it must also hold for lines that do not parse.
pub fn masked_line(line: &str) -> String {
    let Some(separator) = separator_after_secret_key(line) else { return line.to_owned() };
    let mut masked = String::with_capacity(line.len());
    for (index, letter) in line.char_indices() {
        let keep =
            index <= separator || letter.is_whitespace() || matches!(letter, '"' | '\'' | '{' | '}' | ',');
        masked.push(if keep { letter } else { '*' });
    }
    masked
}

fn separator_after_secret_key(line: &str) -> Option<usize> {
    line.char_indices().filter(|(_, letter)| matches!(letter, ':' | '=')).map(|(index, _)| index).find(
        |index| {
            let key: String = line[..*index]
                .rsplit(|letter: char| {
                    !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '"' | '\''))
                })
                .next()
                .unwrap_or_default()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|letter| letter.to_ascii_lowercase())
                .collect();
            // A reference (`secretRef: {file: …}`, `tokenFile: …`) names a secret without holding it.
            !key.ends_with("ref")
                && !key.ends_with("file")
                && SECRET_WORDS.iter().any(|word| key.contains(word))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::masked_line;

    #[test]
    fn values_of_secret_keys_are_masked_in_place() {
        assert_eq!(masked_line("  token: abcdef.0123"), "  token: ***********");
        assert_eq!(masked_line(r#"{"password": "TGV0"}"#), r#"{"password": "****"}"#);
        assert_eq!(masked_line("KUBE_TOKEN=xyz"), "KUBE_TOKEN=***");
    }

    #[test]
    fn other_lines_and_references_stay() {
        assert_eq!(masked_line("  name: gpu # not a token"), "  name: gpu # not a token");
        assert_eq!(masked_line("  tokenFile: /run/token"), "  tokenFile: /run/token");
    }
}
