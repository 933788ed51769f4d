//! The commands of a script one by one, each with all lines that belong to it: a condition or a loop is one.

use super::{Line, lines};

/// A command, or a list of them that hang together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The line of the script that it begins on.
    pub(super) number: u32,
    /// All of its lines.
    pub(super) text: String,
    /// The same without documents that it only hands on.
    pub(super) code: String,
    /// Whether such a document belongs to it.
    pub(super) hands_on: bool,
    /// What kind of block it has, if any.
    pub(super) block: Option<Block>,
    /// The first words of all commands in it, wherever they stand.
    pub(super) heads: Vec<String>,
    /// Whether the shell itself, and not another that it starts, reads commands from elsewhere.
    pub(super) reads_in: bool,
}

/// What may be run or not, or more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// `if` or `case`
    Condition,
    /// `for`, `while`, `until` or `select`
    Loop,
    /// A function.
    Function,
}

impl Unit {
    /// A text of which nothing more is known.
    pub(super) fn of_text(number: u32, text: &str) -> Self {
        let text = text.to_owned();
        Self {
            number,
            code: text.clone(),
            text,
            hands_on: false,
            block: None,
            heads: Vec::new(),
            reads_in: false,
        }
    }

    /// Whether one of its commands begins with this word.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.heads.iter().any(|head| words.contains(&head.as_str()))
    }
}

/// All units of a script.
pub(super) fn units(script: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut scan = Scan::default();
    let mut open: Option<Unit> = None;
    for Line { text, number, handed_on } in lines(script) {
        let unit = open.get_or_insert_with(|| Unit::of_text(number, ""));
        if handed_on {
            // It follows the command that has just ended, unless a block is open.
            if unit.text.is_empty() {
                open = units.pop().or(open);
            }
            if let Some(unit) = &mut open {
                unit.text.push('\n');
                unit.text.push_str(&text);
                unit.hands_on = true;
            }
        } else {
            let comment = text.trim_start().starts_with('#') && !unit.code.is_empty();
            for (part, kept) in [(&mut unit.text, true), (&mut unit.code, !comment)] {
                if kept && !part.is_empty() {
                    part.push('\n');
                }
                part.push_str(if kept { &text } else { "" });
            }
            scan.line(&text);
        }
        if scan.is_over() {
            if let Some(mut unit) = open.take() {
                unit.block = unit.block.or(scan.block);
                unit.heads.append(&mut scan.heads);
                unit.reads_in |= scan.reads_in;
                units.push(unit);
            }
            scan = Scan::default();
        }
    }
    if let Some(mut unit) = open {
        unit.block = scan.block;
        unit.heads.append(&mut scan.heads);
        unit.reads_in |= scan.reads_in;
        units.push(unit);
    }
    units
}

/// What is open, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Until this word.
    Word(&'static str),
    /// `(`, with whether a command stands behind its end.
    Round(bool),
    /// `=(`: words, no commands.
    Values,
    /// `"`, within which commands may stand.
    Quote,
}

/// Where a reader is in a unit.
#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    block: Option<Block>,
    heads: Vec<String>,
    /// Whether one of them reads commands in, outside of shells of their own.
    reads_in: bool,
    /// Whether the next line belongs to it all the same: `&&` at the end.
    goes_on: bool,
    /// Whether `NAME(` has been read.
    names_function: bool,
}

impl Scan {
    fn is_over(&self) -> bool {
        self.open.is_empty() && !self.goes_on
    }

    fn line(&mut self, line: &str) {
        let mut letters = line.chars().peekable();
        let mut word = String::new();
        let mut command = self.open.last() != Some(&Open::Values);
        while let Some(letter) = letters.next() {
            if self.open.last() == Some(&Open::Quote) {
                match letter {
                    '\\' => {
                        letters.next();
                    }
                    '"' => {
                        self.open.pop();
                    }
                    '$' if letters.next_if_eq(&'(').is_some() => {
                        self.open.push(Open::Round(false));
                        command = true;
                        word.clear();
                    }
                    _ => {}
                }
                continue;
            }
            match letter {
                '\\' => {
                    word.push('\\');
                    word.extend(letters.next());
                }
                '\'' => {
                    word.push('\'');
                    letters.by_ref().find(|next| *next == '\'');
                }
                '"' => {
                    word.push('"');
                    self.open.push(Open::Quote);
                }
                '`' => {
                    word.push('`');
                    let inside: String = letters.by_ref().take_while(|next| *next != '`').collect();
                    self.heads.extend(inside.split_whitespace().next().map(str::to_owned));
                }
                '$' if letters.peek() == Some(&'{') => {
                    word.push_str("${");
                    skip_braces(&mut letters);
                }
                '#' if word.is_empty() => while letters.next_if(|next| *next != '\n').is_some() {},
                '(' => {
                    let opened = if word.ends_with('=') {
                        Open::Values
                    } else {
                        Open::Round(command && !word.ends_with(['$', '<', '>']))
                    };
                    if command && !word.is_empty() && letters.peek() == Some(&')') {
                        self.block.get_or_insert(Block::Function);
                        self.names_function = true;
                    }
                    if command && word.is_empty() && letters.peek() == Some(&'(') {
                        self.heads.push("((".to_owned());
                    }
                    if word.ends_with('=') {
                        self.head(&word);
                    }
                    self.open.push(opened);
                    command = opened != Open::Values;
                    word.clear();
                }
                ')' => {
                    self.word(&mut word, &mut command);
                    // The body of a function may stand on the next line.
                    self.goes_on = std::mem::take(&mut self.names_function);
                    command = match self.open.last() {
                        Some(Open::Round(behind)) => {
                            let behind = *behind;
                            self.open.pop();
                            behind
                        }
                        Some(Open::Values) => {
                            self.open.pop();
                            false
                        }
                        // `a)` of `case`
                        _ => true,
                    };
                }
                ';' | '&' | '|' | '\n' => {
                    let redirects =
                        letter == '&' && (word.ends_with(['>', '<']) || letters.peek() == Some(&'>'));
                    if redirects || (letter == '|' && word.ends_with('>')) {
                        word.push(letter);
                        continue;
                    }
                    self.word(&mut word, &mut command);
                    let twice = letters.next_if_eq(&letter).is_some();
                    if letter == '&' && !twice {
                        self.heads.push("&".to_owned());
                    }
                    self.goes_on = letter == '|' || (letter == '&' && twice);
                    command = self.open.last() != Some(&Open::Values);
                    continue;
                }
                letter if letter.is_whitespace() => {
                    self.word(&mut word, &mut command);
                    continue;
                }
                _ => word.push(letter),
            }
            self.goes_on = self.goes_on && word.is_empty();
        }
        self.word(&mut word, &mut command);
    }

    fn head(&mut self, word: &str) {
        let within = self.open.iter().any(|open| matches!(open, Open::Round(_)));
        self.reads_in |= !within && matches!(word, "source" | "." | "eval");
        self.heads.push(word.to_owned());
    }

    /// A word is over.
    fn word(&mut self, word: &mut String, command: &mut bool) {
        if word.is_empty() {
            return;
        }
        self.goes_on = false;
        let word = std::mem::take(word);
        if !*command {
            return;
        }
        let (opens, block) = match word.as_str() {
            "if" => ("fi", Block::Condition),
            "case" => ("esac", Block::Condition),
            "for" | "while" | "until" | "select" => ("done", Block::Loop),
            "function" => {
                self.block.get_or_insert(Block::Function);
                *command = false;
                return;
            }
            "{" => {
                self.open.push(Open::Word("}"));
                return;
            }
            "then" | "else" | "elif" | "do" | "!" | "time" => return,
            "fi" | "done" | "esac" | "}" => {
                if self.open.last().is_some_and(|open| matches!(open, Open::Word(end) if *end == word)) {
                    self.open.pop();
                }
                *command = false;
                return;
            }
            _ => {
                let assigns = super::assignment(&word).is_some();
                self.head(&word);
                // A command may stand behind what is set for it.
                *command = assigns;
                return;
            }
        };
        self.head(&word);
        self.open.push(Open::Word(opens));
        self.block.get_or_insert(block);
        *command = matches!(word.as_str(), "if" | "while" | "until");
    }
}

/// Passes over `{…}`.
fn skip_braces(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut depth = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_keep_all_of_their_lines() {
        let script = "a |\n  b\nif x; then\n  cat <<E\nfi\nE\nfi || c\nf()\n{\n  d\n}\ng &&\n# not yet\nh\ncase $1 in\n  a) i;;\n  (b) (j) ;;\nesac\nk=(1\n 2)\nl \"$(m\n)\"\n(\nn=1\n)\no || {\n  p\n}\nq $((1 + 2)) done\n";
        let texts: Vec<String> = units(script).into_iter().map(|unit| unit.text).collect();
        assert_eq!(
            texts,
            [
                "a |\n  b",
                "if x; then\n  cat <<E\nfi\nE\nfi || c",
                "f()\n{\n  d\n}",
                "g &&\n# not yet\nh",
                "case $1 in\n  a) i;;\n  (b) (j) ;;\nesac",
                "k=(1\n 2)",
                "l \"$(m\n)\"",
                "(\nn=1\n)",
                "o || {\n  p\n}",
                "q $((1 + 2)) done",
                "",
            ]
        );
    }

    #[test]
    fn the_first_words_of_commands_are_known() {
        let heads = |text: &str| units(text).into_iter().flat_map(|unit| unit.heads).collect::<Vec<_>>();
        assert_eq!(
            heads("A=1 cd x; if b; then c d; fi & e \"$(f g)\""),
            ["A=1", "cd", "if", "b", "c", "&", "e", "f"]
        );
        assert_eq!(heads("a 2>&1 | b"), ["a", "b"]);
        assert_eq!(heads("((i++)); x=(cd y)"), ["((", "i++", "x="]);
    }
}
