//! The programs that a shell script calls: words in the place of a command, not words in quotes, remarks and texts.

mod tokens;

use tokens::{Simple, Word, simple_commands};

/// Words that stand before a command and leave it one.
const BEFORE: [&str; 11] = ["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "coproc"];
/// Programs that run the rest of their words, with options that take a word of their own.
const WRAPPERS: [(&str, &[&str]); 9] = [
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t", "-D"]),
    ("env", &["-u", "-C", "-S"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("exec", &["-a"]),
    ("nohup", &[]),
    ("command", &[]),
    ("setsid", &[]),
    ("builtin", &[]),
];
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];
/// Shells within shells, here-documents within those: nobody goes deeper.
const DEPTH_LIMIT: usize = 4;

/// A program with its words, and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The program as it is written, and what it is given.
    pub words: Vec<String>,
    /// The byte of the text at which the program's name stands.
    pub at: usize,
    /// What it is given on its standard input by a here-document, and where that starts.
    pub given: Vec<(usize, String)>,
    /// The files that its output goes to.
    pub outputs: Vec<Output>,
}

/// A file that output goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub path: String,
    pub appends: bool,
    /// The byte of the text at which `>` stands.
    pub at: usize,
}

impl Invocation {
    /// The name of the program, without its directory.
    pub(crate) fn program(&self) -> &str {
        let first = self.words.first().map(String::as_str).unwrap_or_default();
        first.rsplit('/').next().unwrap_or_default()
    }
}

/// Whether a shell runs the script, by its first line.
pub(crate) fn is_for_shell(script: &str) -> bool {
    let Some(interpreter) = script.lines().next().and_then(|first| first.strip_prefix("#!")) else {
        return true;
    };
    interpreter.split_whitespace().any(|word| SHELLS.contains(&word.rsplit('/').next().unwrap_or_default()))
}

/// The lines of a text, by where they start: a text of many findings is not walked for each.
pub(crate) struct Lines<'text> {
    text: &'text str,
    starts: Vec<usize>,
}

impl<'text> Lines<'text> {
    pub(crate) fn of(text: &'text str) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at.saturating_add(1));
        Self { text, starts: std::iter::once(0).chain(behind).collect() }
    }

    /// The line, from 0, and the column in it, from 1, at which a byte stands.
    pub(crate) fn place(&self, at: usize) -> (usize, u32) {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let letters = self.text.get(start..at).map_or(0, |before| before.chars().count());
        (line, u32::try_from(letters).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// A line, without its end.
    pub(crate) fn line(&self, line: usize) -> &'text str {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }
}

/// What a script calls, in the order of its text; what another shell is given to run is among it.
pub(crate) fn invocations(script: &str) -> Vec<Invocation> {
    let mut found = Vec::new();
    within(script, 0, DEPTH_LIMIT, &mut found);
    found
}

fn within(script: &str, base: usize, depth: usize, found: &mut Vec<Invocation>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for simple in simple_commands(script) {
        let words = called(&simple.words);
        if words.is_empty() && simple.redirections.is_empty() {
            continue;
        }
        let first = words.first();
        let invocation = Invocation {
            words: words.iter().map(|word| word.text.clone()).collect(),
            at: base.saturating_add(first.map_or(simple.at, |word| word.at)),
            given: moved(&simple.given, base),
            outputs: outputs(&simple, base),
        };
        let inner = inner_script(&invocation, words);
        let reads_input = SHELLS.contains(&invocation.program())
            && invocation.words.iter().skip(1).all(|word| word.starts_with('-'))
            && inner.is_none();
        let given = invocation.given.clone();
        found.push(invocation);
        if let Some((at, text)) = inner {
            within(&text, base.saturating_add(at), depth, found);
        }
        if reads_input {
            for (at, text) in &given {
                within(text, *at, depth, found);
            }
        }
    }
}

fn moved(given: &[(usize, String)], base: usize) -> Vec<(usize, String)> {
    given.iter().map(|(at, text)| (base.saturating_add(*at), text.clone())).collect()
}

fn outputs(simple: &Simple, base: usize) -> Vec<Output> {
    let written = |operator: &str| matches!(operator, ">" | ">>" | ">|" | "&>" | "&>>");
    let outputs = simple.redirections.iter().filter(|redirection| written(&redirection.operator));
    outputs
        .map(|redirection| Output {
            path: redirection.target.clone(),
            appends: redirection.operator.ends_with(">>"),
            at: base.saturating_add(redirection.at),
        })
        .collect()
}

/// The words from the program's name on.
fn called(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        let text = first.text.as_str();
        let name = text.rsplit('/').next().unwrap_or_default();
        if (first.bare && BEFORE.contains(&text)) || is_assignment(text) {
            rest = after;
        } else if let Some((_, with_value)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            rest = past_options(after, with_value);
        } else if name == "timeout" {
            rest = past_options(after, &["-s", "-k"]).get(1..).unwrap_or_default();
        } else if name == "cloud-init-per" {
            // How often, and a name for it.
            rest = after.get(2..).unwrap_or_default();
        } else {
            return rest;
        }
    }
    rest
}

fn past_options<'words>(words: &'words [Word], with_value: &[&str]) -> &'words [Word] {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        if !first.text.starts_with('-') {
            break;
        }
        rest = if with_value.contains(&first.text.as_str()) {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    rest
}

/// `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The text that a shell is given to run, and where it starts.
fn inner_script(invocation: &Invocation, words: &[Word]) -> Option<(usize, String)> {
    let program = invocation.program();
    if program == "eval" {
        let texts: Vec<&str> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
        return Some((words.get(1)?.text_at, texts.join(" ")));
    }
    if !SHELLS.contains(&program) && program != "su" {
        return None;
    }
    let is_flag = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        letters.ends_with('c') && letters.chars().all(|letter| letter.is_ascii_alphabetic())
    };
    let flag = words.iter().position(is_flag)?;
    let script = words.get(flag.saturating_add(1))?;
    Some((script.text_at, script.text.clone()))
}

#[cfg(test)]
mod tests {
    use super::invocations;

    fn called(script: &str) -> Vec<String> {
        invocations(script).iter().map(|found| found.words.join(" ")).collect()
    }

    #[test]
    fn words_in_the_place_of_a_command_are_found() {
        let cases: [(&str, &[&str]); 15] = [
            ("a b 'c d' \"e\"f", &["a b c d ef"]),
            ("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
            ("a # b; c", &["a"]),
            ("a#b c", &["a#b c"]),
            ("if a; then b; fi", &["a", "b", "fi"]),
            ("X=1 sudo -u root -n env A=b c d", &["c d"]),
            ("timeout -k 5 30 a", &["a"]),
            ("cloud-init-per once name a b", &["a b"]),
            ("a >x 2>&1 <y b &>z", &["a b"]),
            ("a \\\n  b", &["a b"]),
            ("sh -c 'a; b' x", &["sh -c a; b x", "a", "b"]),
            ("a $((1 << 2)) b\nc", &["a $ b", "c"]),
            ("a <<X\nb\nX\nc", &["a", "c"]),
            ("sh <<-X\n\tb\n\tX\nc", &["sh", "b", "c"]),
            ("a \"$(b)\" $(c d) `e`", &["a $(b) $", "c d", "e"]),
        ];
        for (script, expected) in cases {
            assert_eq!(called(script), expected, "{script}");
        }
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let script = "true\nsudo sh -c 'x >>y'\ncat <<E >z\nt\nE\n";
        let found = invocations(script);
        let inner = found.iter().find(|found| found.program() == "x").unwrap();
        assert_eq!(&script[inner.at..inner.at + 5], "x >>y");
        assert_eq!(&script[inner.outputs[0].at..inner.outputs[0].at + 3], ">>y");
        let cat = found.iter().find(|found| found.program() == "cat").unwrap();
        assert_eq!(cat.given, [(script.find("t\nE").unwrap(), "t\n".to_owned())]);
        assert_eq!((cat.outputs[0].path.as_str(), cat.outputs[0].appends), ("z", false));
    }

    #[test]
    fn what_is_never_closed_is_survived() {
        for script in
            ["'", "\"", "a <<", "a <<'", "\\", "`", "$(", "a >", "<<<", "sh -c", "eval", "a <<X\nb", "é'é"]
        {
            let _ = invocations(script);
        }
        let deep = "sh -c \"".repeat(40);
        assert!(invocations(&deep).len() < 40);
    }
}
