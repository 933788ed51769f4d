//! The text of a cloud-config before it is parsed: its tabs, which PyYAML takes nowhere but inside quotes, blocks and
//! comments, and its comments, which swallow what people meant as text.

use std::collections::BTreeMap;

use bringup_diag::Position;

/// What was found in the raw text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Tabs that make PyYAML refuse the whole text; of several in a row the first.
    pub tabs: Vec<Position>,
    /// The text with those tabs replaced by spaces, so that the rest can be read.
    pub repaired: String,
    /// By how many columns a line is wider for it.
    pub widened: BTreeMap<u32, i64>,
    /// Comments that stand behind something on the same line.
    pub comments: Vec<Comment>,
}

/// A comment behind content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Where its `#` stands.
    pub at: Position,
    /// Its text, from the `#` on.
    pub text: String,
    /// The letter that it stands behind.
    pub behind: Option<char>,
}

/// What an open construct asks of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// A quoted scalar goes on.
    Quote(char),
    /// A block scalar, owned by a line with this indentation; its own is known from its first line on.
    Block {
        owner: usize,
        own: Option<usize>,
    },
}

/// Looks through the text line by line.
pub(crate) fn scan(text: &str) -> Scan {
    let mut scan = Scan { repaired: String::with_capacity(text.len()), ..Scan::default() };
    let mut open = Open::Nothing;
    let mut flow = 0_usize;
    let mut indents = Indents::default();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        let (body, end) = split_end(line);
        if let Open::Block { owner, own } = open {
            let spaces = leading_spaces(body);
            let blank = body.chars().all(|letter| letter == ' ');
            let least = own.unwrap_or(owner.saturating_add(1));
            if blank || spaces >= least {
                if !blank {
                    open = Open::Block { owner, own: Some(own.unwrap_or(spaces)) };
                }
                scan.repaired.push_str(line);
                continue;
            }
            let repaired = scan.indent(body, number, &mut indents, own.unwrap_or(owner.saturating_add(2)));
            if repaired != body && (leading_spaces(&repaired) >= least || repaired.trim().is_empty()) {
                scan.repaired.push_str(&repaired);
                scan.repaired.push_str(end);
                continue;
            }
            open = Open::Nothing;
            scan.line(&repaired, number, &mut open, &mut flow);
            indents.pass(&repaired);
        } else if open == Open::Nothing {
            let like = indents.above;
            let repaired = scan.indent(body, number, &mut indents, like);
            scan.line(&repaired, number, &mut open, &mut flow);
            indents.pass(&repaired);
        } else {
            scan.line(body, number, &mut open, &mut flow);
        }
        scan.repaired.push_str(end);
    }
    scan
}

fn leading_spaces(line: &str) -> usize {
    line.chars().take_while(|letter| *letter == ' ').count()
}

/// What indentations with tabs were meant to be: as before for the same letters, else as in the line above.
#[derive(Default)]
struct Indents {
    above: usize,
    known: Vec<(String, usize)>,
}

impl Indents {
    fn width(&mut self, raw: &str, like: usize) -> usize {
        if let Some((_, width)) = self.known.iter().find(|(known, _)| known == raw) {
            return *width;
        }
        self.known.push((raw.to_owned(), like));
        like
    }

    /// Takes note of a line of structure: what was deeper is over.
    fn pass(&mut self, line: &str) {
        let code = line.split(" #").next().unwrap_or(line).trim_end();
        if code.trim().is_empty() || code.trim_start().starts_with('#') {
            return;
        }
        let indent = leading_spaces(line);
        self.known.retain(|(_, width)| *width <= indent);
        self.above = if code.ends_with(':') { indent.saturating_add(2) } else { indent };
    }
}

fn split_end(line: &str) -> (&str, &str) {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let body = body.strip_suffix('\r').unwrap_or(body);
    line.split_at_checked(body.len()).unwrap_or((line, ""))
}

impl Scan {
    /// The line with its indentation in spaces; `like` is how wide it should be if nothing else tells.
    fn indent(&mut self, body: &str, number: u32, indents: &mut Indents, like: usize) -> String {
        let raw: String = body.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
        let Some(first) = raw.chars().position(|letter| letter == '\t') else { return body.to_owned() };
        self.tabs.push(Position { line: number, column: column_of(first) });
        let rest = body.get(raw.len()..).unwrap_or_default();
        if rest.is_empty() {
            return String::new();
        }
        let width = indents.width(&raw, like);
        let signed = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        self.widened.insert(number, signed(width).saturating_sub(signed(raw.len())));
        format!("{:width$}{rest}", "")
    }

    /// One line outside blocks; what it opens is left in `open` and `flow`.
    fn line(&mut self, body: &str, number: u32, open: &mut Open, flow: &mut usize) {
        let letters: Vec<char> = body.chars().collect();
        let indent = letters.iter().take_while(|letter| **letter == ' ').count();
        // Whether the next letter starts a value: only there do quotes and block marks mean what they mean.
        let mut fresh = true;
        let mut property = false;
        let mut before = ' ';
        let mut block = None;
        let mut index = 0;
        while let Some(letter) = letters.get(index).copied() {
            let next = letters.get(index.saturating_add(1)).copied().unwrap_or(' ');
            if let Open::Quote(quote) = *open {
                self.repaired.push(letter);
                if letter == quote && quote == '\'' && next == '\'' || letter == '\\' && quote == '"' {
                    self.repaired.extend(letters.get(index.saturating_add(1)));
                    index = index.saturating_add(1);
                } else if letter == quote {
                    *open = Open::Nothing;
                    fresh = false;
                }
                before = letter;
                index = index.saturating_add(1);
                continue;
            }
            match letter {
                '#' if before == ' ' => {
                    let text: String = letters.get(index..).unwrap_or_default().iter().collect();
                    self.repaired.push_str(&text);
                    if index > indent {
                        let behind = letters.get(..index).unwrap_or_default();
                        let behind = behind.iter().rfind(|letter| !letter.is_whitespace()).copied();
                        let at = Position { line: number, column: column_of(index) };
                        self.comments.push(Comment { at, text, behind });
                    }
                    break;
                }
                '\t' => {
                    let same_run = self.tabs.last().is_some_and(|tab| {
                        tab.line == number && usize::try_from(tab.column).is_ok_and(|column| column == index)
                    });
                    if !same_run {
                        self.tabs.push(Position { line: number, column: column_of(index) });
                    }
                    self.repaired.push(' ');
                    before = ' ';
                    index = index.saturating_add(1);
                    continue;
                }
                _ if property => {}
                '"' | '\'' if fresh => *open = Open::Quote(letter),
                '|' | '>'
                    if fresh && *flow == 0 && is_block_head(letters.get(index..).unwrap_or_default()) =>
                {
                    block = Some(indent);
                }
                '[' | '{' if fresh || *flow > 0 => *flow = flow.saturating_add(1),
                ']' | '}' if *flow > 0 => *flow = flow.saturating_sub(1),
                _ => {}
            }
            // A tag or an anchor stands before the value, which is still to come.
            property = property && letter != ' ' || fresh && matches!(letter, '!' | '&');
            fresh = match letter {
                _ if property => true,
                ' ' | '[' | '{' => fresh,
                ',' => *flow > 0,
                ':' | '?' => next == ' ' || next == '\t',
                '-' => fresh && (next == ' ' || next == '\t'),
                _ => false,
            };
            self.repaired.push(letter);
            before = letter;
            index = index.saturating_add(1);
        }
        if let Some(owner) = block {
            *open = Open::Block { owner: owner_indent(&letters, owner), own: None };
        }
    }
}

/// `|`, `>` with indicators and nothing else but a comment.
fn is_block_head(rest: &[char]) -> bool {
    let tail: String = rest.iter().skip(1).collect();
    let tail = tail.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-'));
    tail.trim().is_empty() || tail.starts_with([' ', '\t']) && tail.trim_start().starts_with('#')
}

/// A block in `- key: |` belongs to the key, whose column counts, not to the dash; one in `- |` to the dash.
fn owner_indent(letters: &[char], indent: usize) -> usize {
    let mut owner = indent;
    let mut index = indent;
    while letters.get(index) == Some(&'-') && letters.get(index.saturating_add(1)) == Some(&' ') {
        let mut after = index.saturating_add(1);
        while letters.get(after) == Some(&' ') {
            after = after.saturating_add(1);
        }
        if matches!(letters.get(after), None | Some('|' | '>' | '!' | '&')) {
            return index;
        }
        index = after;
        owner = after;
    }
    owner
}

fn column_of(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::scan;

    fn tabs(text: &str) -> Vec<(u32, u32)> {
        scan(text).tabs.iter().map(|at| (at.line, at.column)).collect()
    }

    /// PyYAML 6.0.3 refuses exactly those with a tab listed, each with "found character '\t' that cannot start any token".
    #[test]
    fn tabs_count_where_pyyaml_stumbles_over_them() {
        let cases: [(&str, &[(u32, u32)]); 20] = [
            ("a:\tb", &[(1, 3)]),
            ("a: b\tc", &[(1, 5)]),
            ("a: b\t", &[(1, 5)]),
            ("\t\na: b", &[(1, 1)]),
            ("a: |\n  x\n\t\n  y\n", &[(3, 1)]),
            ("a: 'x\ty'", &[]),
            ("a: \"x\ty\"", &[]),
            ("a: b #\tc", &[]),
            ("a: [1,\t2]", &[(1, 7)]),
            ("- a\n-\tb", &[(2, 2)]),
            ("a:\n  - x\n\t# c\n", &[(3, 1)]),
            ("a: |\n  \tx\n", &[]),
            ("a: x\n\ty", &[(2, 1)]),
            ("a: 'x\n\ty'", &[]),
            ("a: >-\n\tx", &[(2, 1)]),
            ("a: it's\tb", &[(1, 8)]),
            ("- a: |\n    x\ty\n  b: c\td\n", &[(3, 7)]),
            ("- |\n x\ty\n- z\tz\n", &[(3, 4)]),
            ("a: !!str |\n  x\ty\n", &[]),
            ("a: \"it\\\"s\ty\" # \t\nb: 'it''s\t'\n", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(tabs(text), expected, "{text:?}");
        }
    }

    #[test]
    fn tabs_become_the_indentation_that_was_meant() {
        let cases = [
            ("a: |\n    x\n\ty\nb:\n  - c # d\n\t- e\t\n", "a: |\n    x\n    y\nb:\n  - c # d\n  - e \n"),
            ("a:\n\tb:\n\t\tc: 1\n\td: 2\n", "a:\n  b:\n    c: 1\n  d: 2\n"),
            ("a: |\n\tx\n\t\n\ty\nb: c\n", "a: |\n  x\n\n  y\nb: c\n"),
            ("a:\t1\n", "a: 1\n"),
        ];
        for (text, repaired) in cases {
            assert_eq!(scan(text).repaired, repaired, "{text:?}");
        }
    }

    #[test]
    fn what_has_no_tabs_stays_as_it_is() {
        for text in [
            "a: &x !!str 'b' # c\r\n",
            "&anchor\n- !t {a: [b, 'c']}\n",
            "a: |\n\n  b\n c: d",
            "!",
            "'",
            "- - |\n    x",
        ] {
            assert_eq!(scan(text).repaired, text);
        }
    }

    #[test]
    fn comments_behind_content_are_kept() {
        let found = scan("# head\na: b # c\n  # own line\nd: 'x # y' # z\ne: f#g\nh: |\n  i # j\n").comments;
        let found: Vec<_> =
            found.iter().map(|comment| (comment.at.line, comment.at.column, comment.text.as_str())).collect();
        assert_eq!(found, [(2, 6, "# c"), (4, 12, "# z")]);
    }
}
