//! Where commands stand in a script, and which of them reboot.

use super::super::commands::without_redirections;
use super::super::words::raw;
use super::Reboot;
use super::meaning::{base, behind_prefixes, head, meaning, mentioned, runs_others, shown};

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Word(usize, usize),
    /// What stands between commands, with whether it is alone.
    Sign(char, bool),
}

/// Where a reader is in a script.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) reboots: Vec<Reboot>,
    /// What is open, each with where the list of commands around it begins: `(`, `=` for values, a letter for words.
    open: Vec<(char, usize)>,
    /// Those before belong to earlier commands.
    list: usize,
    /// Whether it stands at the words of a `case` that are compared.
    compares: bool,
    /// Whether the script has a function of such a name.
    pub(super) own: bool,
}

impl Scan {
    pub(super) fn line(&mut self, line: &str, number: u32) {
        let tokens = tokens(line);
        let mut at_command = true;
        let mut begun: Option<(usize, usize)> = None;
        let mut simple: Vec<&str> = Vec::new();
        let mut rest = tokens.iter().copied().peekable();
        while let Some(token) = rest.next() {
            if self.open.last().is_some_and(|(open, _)| *open == '=') {
                if matches!(token, Token::Sign(')', _)) {
                    self.close();
                    at_command = false;
                }
                continue;
            }
            if self.compares {
                self.compares = !matches!(token, Token::Sign(')', _));
                let Token::Word(start, end) = token else { continue };
                if line.get(start..end) == Some("esac") {
                    (self.compares, at_command) = (false, false);
                    self.close();
                }
                continue;
            }
            match token {
                Token::Word(start, end) => {
                    let word = line.get(start..end).unwrap_or_default();
                    let in_case = self.open.last().is_some_and(|(open, _)| *open == 'c');
                    if !at_command && in_case && word == "in" {
                        (self.compares, at_command) = (true, true);
                    } else if let Some((_, last)) = &mut begun {
                        *last = end;
                    } else if at_command && !self.reserved(word, &mut at_command) {
                        begun = Some((start, end));
                    }
                }
                Token::Sign(sign, alone) => {
                    let behind = rest.peek().copied();
                    let taken = begun.take();
                    if sign == '('
                        && let Some((start, end)) = taken
                    {
                        let word = line.get(start..end).unwrap_or_default();
                        if word.ends_with('=') {
                            self.open.push(('=', self.list));
                        } else if behind == Some(Token::Sign(')', true)) {
                            self.own |= matches!(word, "reboot" | "shutdown" | "systemctl" | "init");
                            rest.next();
                        }
                        at_command = true;
                        continue;
                    }
                    // `a)` of `case` is no command.
                    let is_pattern = sign == ')' && self.open.last().is_none_or(|(open, _)| *open != '(');
                    if let Some(place) = taken.filter(|_| !is_pattern) {
                        simple.push(self.simple(line, place, number));
                    }
                    at_command = true;
                    match (sign, alone) {
                        ('(', _) => self.open('('),
                        (')', _) if !is_pattern => {
                            self.close();
                            at_command = false;
                        }
                        ('&', true) => self.beside(),
                        (';', _) => {
                            self.list = self.reboots.len();
                            self.compares = !alone && self.open.last().is_some_and(|(open, _)| *open == 'c');
                        }
                        _ => {}
                    }
                }
            }
        }
        if let Some(place) = begun {
            simple.push(self.simple(line, place, number));
        }
        // What is written to a program that runs it.
        let reads =
            |text: &&str| matches!(head(text), Some("at" | "batch")) || matches!(base(text), "sh" | "bash");
        if simple.iter().any(reads) {
            let said = simple.iter().filter(|text| matches!(head(text), Some("echo" | "printf")));
            let told = said.filter_map(|text| mentioned(text));
            self.reboots.extend(told.map(|command| Reboot { number, command, place: None }));
        }
        if !matches!(tokens.last(), Some(Token::Sign('|', _) | Token::Sign('&', false))) {
            self.list = self.reboots.len();
        }
    }

    /// Whether a word at the place of a command belongs to the shell.
    fn reserved(&mut self, word: &str, at_command: &mut bool) -> bool {
        match word {
            "if" | "while" | "until" | "{" => self.open('w'),
            "for" | "case" | "select" => {
                self.open(if word == "case" { 'c' } else { 'w' });
                *at_command = false;
            }
            "then" | "else" | "elif" | "do" | "!" | "time" => {}
            "fi" | "done" | "esac" | "}" => {
                self.close();
                *at_command = false;
            }
            "function" => *at_command = false,
            _ => return false,
        }
        true
    }

    fn open(&mut self, what: char) {
        self.open.push((what, self.list));
        self.list = self.reboots.len();
    }

    fn close(&mut self) {
        if let Some((_, list)) = self.open.pop() {
            self.list = list;
        }
    }

    /// Nobody waits for what stands before `&`: the script may have ended before it asks.
    fn beside(&mut self) {
        for reboot in self.reboots.iter_mut().skip(self.list) {
            reboot.place = None;
        }
        self.list = self.reboots.len();
    }

    /// A command by itself.
    fn simple<'l>(&mut self, line: &'l str, (start, end): (usize, usize), number: u32) -> &'l str {
        let text = line.get(start..end).unwrap_or_default();
        let whole = without_redirections(text);
        let all: Vec<&str> =
            raw(&whole).into_iter().map(|(word, _)| word.trim_matches(['"', '\''])).collect();
        let words = behind_prefixes(&all);
        let found = match meaning(words) {
            Some(certain) => Some((shown(words), certain.then_some((start, end)))),
            None if [words, &all].iter().any(|words| runs_others(words)) => {
                mentioned(text).map(|command| (command, None))
            }
            None => None,
        };
        if found.is_none() {
            self.within_substitutions(text, number);
        }
        self.reboots.extend(found.map(|(command, place)| Reboot { number, command, place }));
        text
    }
}

impl Scan {
    /// What stands between `$(` and `)` is run by a shell of its own: a request there does not end the script.
    fn within_substitutions(&mut self, text: &str, number: u32) {
        let mut letters = text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => {
                    letters.next();
                }
                '\'' => skip_quote(&mut letters, letter),
                '$' if letters.peek().is_some_and(|(_, next)| *next == '(') => {
                    skip_round(&mut letters);
                    let end = letters.peek().map_or(text.len(), |(end, _)| *end);
                    let inside =
                        text.get(at..end).and_then(|whole| whole.strip_prefix("$(")?.strip_suffix(')'));
                    let mut scan = Scan::default();
                    scan.line(inside.unwrap_or_default(), number);
                    self.own |= scan.own;
                    let found = scan.reboots.into_iter().map(|reboot| Reboot { place: None, ..reboot });
                    self.reboots.extend(found);
                }
                _ => {}
            }
        }
    }
}

/// The pieces of a line, up to a comment.
fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut begun: Option<usize> = None;
    let mut letters = line.char_indices().peekable();
    let mut earlier = ' ';
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let redirects = letter == '&' && (matches!(earlier, '>' | '<') || next == Some('>'))
            || letter == '|' && earlier == '>';
        match letter {
            '#' if begun.is_none() => break,
            _ if letter.is_whitespace() => tokens.extend(begun.take().map(|begun| Token::Word(begun, at))),
            ';' | '&' | '|' | '(' | ')' if !redirects => {
                tokens.extend(begun.take().map(|begun| Token::Word(begun, at)));
                let twice =
                    !matches!(letter, '(' | ')') && letters.next_if(|(_, next)| *next == letter).is_some();
                tokens.push(Token::Sign(letter, !twice));
            }
            _ => {
                begun.get_or_insert(at);
                match letter {
                    '\\' => {
                        letters.next();
                    }
                    '\'' | '"' | '`' => skip_quote(&mut letters, letter),
                    '$' | '<' | '>' if next == Some('(') => skip_round(&mut letters),
                    '$' if next == Some('{') => {
                        letters.by_ref().find(|(_, letter)| *letter == '}');
                    }
                    _ => {}
                }
            }
        }
        earlier = letter;
    }
    tokens.extend(begun.map(|begun| Token::Word(begun, line.len())));
    tokens
}

fn skip_quote(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>, quote: char) {
    while let Some((_, letter)) = letters.next() {
        match letter {
            '\\' if quote != '\'' => {
                letters.next();
            }
            _ if letter == quote => return,
            _ => {}
        }
    }
}

/// Passes over `(…)`.
fn skip_round(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    let mut depth = 0_usize;
    while let Some((_, letter)) = letters.next() {
        match letter {
            '\'' | '"' => skip_quote(letters, letter),
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}
