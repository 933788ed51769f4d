//! A shell's text cut into simple commands: words with their quotes taken off, redirections, here-documents.

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// Where it starts.
    pub at: usize,
    /// Where its text starts: behind the quote, if it starts with one.
    pub text_at: usize,
    /// Whether no part of it stands in quotes.
    pub bare: bool,
}

/// `>FILE` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    pub operator: String,
    pub at: usize,
    pub target: String,
}

/// What stands between two of `;`, `&`, `|`, brackets and line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub at: usize,
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
    /// The here-documents that it reads, and where each starts.
    pub given: Vec<(usize, String)>,
}

/// A here-document that starts on the next line.
struct Awaited {
    command: usize,
    end: String,
    tabs: bool,
}

struct Scanner<'text> {
    text: &'text str,
    at: usize,
    commands: Vec<Simple>,
    word: Option<Word>,
    operator: Option<(String, usize)>,
    awaited: Vec<Awaited>,
    /// Whether an arithmetic was met that nothing closes.
    unclosed: bool,
}

/// The simple commands of a script. Substitutions outside of double quotes are commands of their own.
pub(super) fn simple_commands(text: &str) -> Vec<Simple> {
    let commands = vec![Simple::default()];
    let mut scanner =
        Scanner { text, at: 0, commands, word: None, operator: None, awaited: Vec::new(), unclosed: false };
    while let Some(letter) = scanner.next() {
        scanner.take(letter);
    }
    scanner.end_word();
    let is_something = |simple: &Simple| !simple.words.is_empty() || !simple.redirections.is_empty();
    scanner.commands.into_iter().filter(is_something).collect()
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at = self.at.saturating_add(letter.len_utf8());
        Some(letter)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn take(&mut self, letter: char) {
        let at = self.at.saturating_sub(letter.len_utf8());
        match letter {
            '\\' => {
                if let Some(next) = self.next().filter(|next| *next != '\n') {
                    self.push(next, at);
                }
            }
            '\'' | '"' => self.quoted(letter, at),
            '#' if self.word.is_none() => {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.next();
                }
            }
            '\n' => {
                self.end_command();
                self.here_documents();
            }
            '>' | '<' => self.redirection(letter, at),
            '&' if self.peek() == Some('>') => {
                self.end_word();
                self.next();
                self.redirection('>', at);
                if let Some((operator, _)) = &mut self.operator {
                    operator.insert(0, '&');
                }
            }
            // A shift of bits is no here-document.
            '(' if self.peek() == Some('(') => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                // What is never closed is looked for once.
                let end = if self.unclosed { None } else { rest.find("))") };
                self.unclosed |= end.is_none();
                self.at = self.at.saturating_add(end.map_or(1, |end| end.saturating_add(2)));
            }
            // The words of an array are no command.
            '(' if self.is_array_start() => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                self.at = self.at.saturating_add(rest.find(')').unwrap_or(rest.len()));
            }
            ';' | '&' | '|' | '(' | ')' | '`' => self.end_command(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.push(letter, at),
        }
    }

    /// Whether a bracket stands right behind `NAME=`.
    fn is_array_start(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.bare && word.text.ends_with('='))
    }

    fn push(&mut self, letter: char, at: usize) {
        let new = || Word { at, text_at: at, bare: true, ..Word::default() };
        self.word.get_or_insert_with(new).text.push(letter);
    }

    fn quoted(&mut self, quote: char, at: usize) {
        let text_at = at.saturating_add(1);
        let word = self.word.get_or_insert_with(|| Word { at, text_at, ..Word::default() });
        word.bare = false;
        let mut text = String::new();
        while let Some(letter) = self.next().filter(|letter| *letter != quote) {
            if letter == '\\' && quote == '"' {
                match self.next() {
                    Some('\n') | None => {}
                    Some(next) => {
                        if !matches!(next, '$' | '`' | '"' | '\\') {
                            text.push('\\');
                        }
                        text.push(next);
                    }
                }
            } else {
                text.push(letter);
            }
        }
        if let Some(word) = &mut self.word {
            word.text.push_str(&text);
        }
    }

    fn redirection(&mut self, first: char, at: usize) {
        // A number before it is that of a file that is open.
        if self
            .word
            .as_ref()
            .is_some_and(|word| word.bare && word.text.chars().all(|digit| digit.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        let mut operator = String::from(first);
        while let Some(next) = self.peek().filter(|next| {
            matches!(
                (operator.as_str(), next),
                (">", '>' | '|' | '&') | ("<", '<' | '&' | '>') | ("<<", '<' | '-')
            )
        }) {
            operator.push(next);
            self.next();
        }
        self.operator = Some((operator, at));
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let index = self.commands.len().saturating_sub(1);
        let Some(command) = self.commands.last_mut() else { return };
        match self.operator.take() {
            Some((operator, _)) if matches!(operator.as_str(), "<<" | "<<-") => {
                self.awaited.push(Awaited { command: index, end: word.text, tabs: operator == "<<-" });
            }
            Some((operator, at)) => {
                command.redirections.push(Redirection { operator, at, target: word.text });
            }
            None => {
                if command.words.is_empty() {
                    command.at = word.at;
                }
                command.words.push(word);
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.operator = None;
        self.commands.push(Simple::default());
    }

    /// Reads those that the line before asked for, each up to the line that ends it.
    fn here_documents(&mut self) {
        for Awaited { command, end, tabs } in std::mem::take(&mut self.awaited) {
            let start = self.at;
            let mut body = String::new();
            while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
                let line = rest.split_inclusive('\n').next().unwrap_or_default();
                self.at = self.at.saturating_add(line.len());
                let bare = line.trim_end_matches(['\n', '\r']);
                if end == if tabs { bare.trim_start_matches('\t') } else { bare } {
                    break;
                }
                body.push_str(line);
            }
            if let Some(command) = self.commands.get_mut(command) {
                command.given.push((start, body));
            }
        }
    }
}
