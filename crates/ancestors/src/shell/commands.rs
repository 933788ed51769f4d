//! The commands of one line, and where their output goes.

/// What stands behind a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Nothing, or `;`: the next follows however it ended.
    Follows,
    /// `&`: the next does not wait for it.
    Beside,
    /// `&&`: the next follows if it succeeded.
    Succeeds,
    /// `||`: the next follows if it failed.
    Fails,
    /// `|`: the next reads what it writes.
    Reads,
}

/// The commands of a line, each with what stands behind it. What is within quotes, `( )` or `{ }` stays together.
pub(crate) fn commands(line: &str) -> Vec<(&str, Behind)> {
    let mut commands = Vec::new();
    let mut begun = 0;
    let mut quote: Option<char> = None;
    let mut depth = 0_usize;
    let mut earlier = ' ';
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                letters.next();
            }
            ('\'' | '"' | '`', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            // A comment goes to the end of the line.
            ('#', None) if earlier.is_whitespace() && depth == 0 => {
                commands.push((line.get(begun..at).unwrap_or_default(), Behind::Follows));
                return settled(commands);
            }
            ('(' | '{', None) => depth = depth.saturating_add(1),
            (')' | '}', None) => depth = depth.saturating_sub(1),
            // What is within `[[ ]]` are no commands.
            ('[', None) if earlier == '[' => depth = depth.saturating_add(1),
            (']', None) if earlier == ']' => depth = depth.saturating_sub(1),
            (';' | '&' | '|', None) if depth == 0 && !redirects(line, at) => {
                let twice = letters.next_if(|(_, next)| *next == letter).is_some();
                let behind = match (letter, twice) {
                    ('&', true) => Behind::Succeeds,
                    ('&', false) => Behind::Beside,
                    ('|', true) => Behind::Fails,
                    ('|', false) => Behind::Reads,
                    _ => Behind::Follows,
                };
                commands.push((line.get(begun..at).unwrap_or_default(), behind));
                begun = at + if twice { 2 } else { 1 };
                // `|&` hands on errors, too.
                if behind == Behind::Reads && letters.next_if(|(_, next)| *next == '&').is_some() {
                    begun += 1;
                }
            }
            _ => {}
        }
        earlier = letter;
    }
    commands.push((line.get(begun..).unwrap_or_default(), Behind::Follows));
    settled(commands)
}

fn settled(commands: Vec<(&str, Behind)>) -> Vec<(&str, Behind)> {
    let trimmed = commands.into_iter().map(|(command, behind)| (command.trim(), behind));
    trimmed.filter(|(command, _)| !command.is_empty()).collect()
}

/// Whether the `&` or `|` here belongs to `>&`, `&>` or `>|`.
fn redirects(line: &str, at: usize) -> bool {
    let (before, behind) = line.split_at_checked(at).unwrap_or((line, ""));
    before.ends_with(['>', '<']) || behind.starts_with("&>")
}

/// A command without what says where its output goes and where its input comes from: the words are the same.
pub(super) fn without_redirections(command: &str) -> String {
    let mut kept = String::with_capacity(command.len());
    let mut quote: Option<char> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                kept.push(letter);
                kept.extend(letters.next());
                continue;
            }
            ('\'' | '"' | '`', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('>' | '<' | '&', None) if letter != '&' || letters.peek() == Some(&'>') => {
                // The number of what is redirected stands right before it.
                let word = kept.rsplit(char::is_whitespace).next().unwrap_or_default();
                if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
                    kept.truncate(kept.len() - word.len());
                }
                while letters.next_if(|next| matches!(next, '>' | '<' | '&' | '|')).is_some() {}
                skip_target(&mut letters);
                continue;
            }
            _ => {}
        }
        kept.push(letter);
    }
    kept
}

/// Passes over the word behind a redirection; `>(…)` is one.
fn skip_target(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while letters.next_if(|next| next.is_whitespace()).is_some() {}
    while letters.next_if(|next| matches!(next, '>' | '<')).is_some() {}
    let mut quote: Option<char> = None;
    let mut depth = 0_usize;
    while let Some(letter) = letters.next_if(|next| quote.is_some() || depth > 0 || !next.is_whitespace()) {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('(', None) => depth = depth.saturating_add(1),
            (')', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_line_are_told_apart() {
        use Behind::{Beside, Fails, Follows, Reads, Succeeds};
        let cases: [(&str, &[(&str, Behind)]); 7] = [
            ("A=1; b 'x; y' && c", &[("A=1", Follows), ("b 'x; y'", Succeeds), ("c", Follows)]),
            ("a || { b; exit 1; }", &[("a", Fails), ("{ b; exit 1; }", Follows)]),
            ("a 2>&1 | tee b &", &[("a 2>&1", Reads), ("tee b", Beside)]),
            ("a &> b; c |& d", &[("a &> b", Follows), ("c", Reads), ("d", Follows)]),
            ("a \"$(b; c)\" # d; e", &[("a \"$(b; c)\"", Follows)]),
            ("a \\; b", &[("a \\; b", Follows)]),
            ("[[ -e a && -e b ]] && c", &[("[[ -e a && -e b ]]", Succeeds), ("c", Follows)]),
        ];
        for (line, expected) in cases {
            assert_eq!(commands(line), expected, "{line}");
        }
    }

    #[test]
    fn redirections_are_no_words() {
        for (command, expected) in [
            ("a b > /c 2>&1", "a b  "),
            ("a &>> '/c d' e", "a  e"),
            ("a --x=1>2", "a --x=1"),
            ("a > >(tee b) c", "a  c"),
            ("a '2>&1' \\> b", "a '2>&1' \\> b"),
        ] {
            assert_eq!(without_redirections(command), expected, "{command}");
        }
    }
}
