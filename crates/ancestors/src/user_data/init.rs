//! A script that writes a NodeConfig and calls `nodeadm init` with it: the config is read, and the call is that of the plan.

use std::collections::BTreeMap;

use bringup_diag::{Position, Span};
use bringup_yaml::{Limits, Node, parse};

use super::overtaken::{self, Joins, When};
use super::{GROUP, Signals, unknown};
use crate::codes;
use crate::shell::script::{BOOTSTRAP, Call, Script};
use crate::shell::{self, Line};
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// What to do where the config cannot be read from the script.
const HINT: &str = "put the NodeConfig into a part of the type `application/node.eks.aws` of a MIME message, what else the script does into a part of its own, and leave the call out";

/// The trees that stand for such a script: what it writes for nodeadm, and the script itself; none if it does not call nodeadm.
pub(crate) fn trees(script: &str) -> Option<Vec<Node>> {
    let number = line_of_call(script)?;
    let at = |number: u32| {
        let start = Position { line: number, column: 1 };
        Span { start, end: start }
    };
    let mut tree = Branch::new(at(1));
    tree.put("apiVersion", text(at(1), format!("{GROUP}script")));
    tree.put("script", text(at(1), script));
    tree.put("init", text(at(number), ""));
    let mut trees = Vec::new();
    let mut unknown = Vec::new();
    let mut written = 0_u32;
    let sources = split(script).map(|call| sources(&call.words)).unwrap_or_default();
    for document in documents(script, &sources) {
        written = written.saturating_add(1);
        match document.filled(script) {
            Ok(config) => {
                let configs = parse(&config, Limits::default()).unwrap_or_default();
                trees.extend(configs.into_iter().map(|tree| tree.lower_by(document.above)));
            }
            Err(words) => unknown.extend(words.into_iter().map(|(word, line)| text(at(line), word))),
        }
    }
    let whole = written > 0 && unknown.is_empty() && !trees.is_empty();
    tree.put_full("unknown", list(at(number), unknown));
    if whole || sources.iter().all(|source| source.starts_with("imds")) {
        tree.put("read", text(at(number), if whole { "here" } else { "beside" }));
    }
    trees.push(tree.into_node());
    Some(trees)
}

/// What a script does around its call.
pub(super) struct Around {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Whether the call is not come to where the part before it fails.
    pub(super) strict: bool,
    /// What its signals come to.
    pub(super) signals: Signals,
}

/// What such a script is to documents that have been translated: the steps before and behind its call; none where it is refused.
pub(super) fn steps(document: &Node, has_config: bool, tell: &mut Teller<'_>) -> Option<Around> {
    let script = document.get("script")?;
    let at = document.get("init")?;
    let whole = script.text().unwrap_or_default();
    let open = document.get("unknown").and_then(Node::items).unwrap_or_default();
    for word in open {
        let message = format!(
            "the NodeConfig that this script writes for `nodeadm init` hangs on `{}`, which is not known beforehand",
            word.text().unwrap_or_default()
        );
        let index = word.span.start.line.saturating_sub(script.span.start.line);
        let line = usize::try_from(index).ok().and_then(|index| whole.lines().nth(index)).unwrap_or_default();
        let field = line.trim_start().split(':').next().unwrap_or_default();
        let hint = match field {
            "apiServerEndpoint" | "certificateAuthority" | "cidr" | "name" => {
                "write what it stands for: `aws eks describe-cluster --name NAME` prints it"
            }
            _ => {
                "write what it stands for; a label of the machine's own as a fact, such as `labels: {id: \"@{instanceId}\"}` of the group, with `--with additions.yaml`"
            }
        };
        let number = index.saturating_add(1);
        let place = unknown::place(whole, number, word.text().unwrap_or_default(), script.span.start);
        tell.error(codes::FIELD_REFUSED, place, message, hint);
    }
    if !open.is_empty() {
        return None;
    }
    let call = split(whole).filter(|_| document.get("read").is_some() && has_config);
    let Some(Call { mut before, mut after, dropped, words, strict, ways, .. }) = call else {
        let message = "this script calls `nodeadm init`, and what it joins with cannot be read beforehand";
        tell.error(codes::FIELD_REFUSED, at.span, message, HINT);
        return None;
    };
    let line = |number: u32| Span::point(script.span.start.line.saturating_add(number).saturating_sub(1), 1);
    shell::tell_of_dropped(&dropped, &line, tell);
    shell::tell_of_ways(&ways, &line, tell);
    let signals = super::settle(whole, &mut before, &mut after, &line, tell);
    let sources = sources(&words);
    let when = |text: &str, _: u32| match (&before, &after) {
        _ if sources.iter().any(|source| text.contains(path_of(source))) => None,
        (Some(before), _) if before.contains(text) => Some(When::Before),
        (_, Some(after)) if after.contains(text) => Some(When::After),
        _ => None,
    };
    overtaken::tell_of(whole, Joins::Config, &when, &line, tell);
    Some(Around { before, after, strict, signals })
}

/// The line that calls `nodeadm init`, if a script does so and does not call `bootstrap.sh`, too.
fn line_of_call(script: &str) -> Option<u32> {
    if !script.starts_with("#!") || !script.contains("nodeadm") || script.contains(BOOTSTRAP) {
        return None;
    }
    let lines = shell::lines(script);
    lines.iter().filter(|line| !line.handed_on).find_map(|line| {
        let within = line.text.split('\n').zip(0_u32..).find(|(text, _)| arguments(text).is_some())?;
        Some(line.number.saturating_add(within.1))
    })
}

/// What stands behind `nodeadm init` on a line that calls it.
fn arguments(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let command = line.strip_prefix("sudo ").map_or(line, str::trim_start);
    let (program, rest) = command.split_once(char::is_whitespace)?;
    if program.rsplit('/').next() != Some("nodeadm") {
        return None;
    }
    let rest = rest.trim_start().strip_prefix("init")?;
    (rest.is_empty() || rest.starts_with(|letter: char| letter.is_whitespace() || ";&|".contains(letter)))
        .then_some(rest)
}

/// The script around its call, which is read as that of `bootstrap.sh` is.
fn split(script: &str) -> Option<Call> {
    let number = line_of_call(script)?;
    let lines =
        script.split('\n').zip(1_u32..).map(|(line, at)| match arguments(line).filter(|_| at == number) {
            Some(rest) => format!("{BOOTSTRAP}{rest}"),
            None => line.to_owned(),
        });
    let replaced = lines.collect::<Vec<_>>().join("\n");
    match Script::of(&replaced, &BTreeMap::new()) {
        // With `--skip`, or for one daemon, it does half of its work.
        Script::Calls(call)
            if !call.words.iter().any(|word| {
                word.starts_with("--skip") || word.starts_with("--daemon") || word == "-d" || word == "-s"
            }) =>
        {
            Some(call)
        }
        _ => None,
    }
}

/// Where nodeadm reads from; from the user-data, where nothing is said.
fn sources(words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, value) =
            word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        if matches!(flag, "-c" | "--config-source") {
            let value = value.map(str::to_owned).or_else(|| words.next().cloned());
            found.extend(
                value.into_iter().flat_map(|value| value.split(',').map(str::to_owned).collect::<Vec<_>>()),
            );
        }
    }
    found
}

/// `file:///path`, or `file:/path`.
fn path_of(source: &str) -> &str {
    let path = source.strip_prefix("file:").unwrap_or(source);
    path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path)
}

/// A text between `<<EOF` and `EOF`.
pub(super) struct Document {
    lines: Vec<String>,
    /// How many lines of the script stand above it.
    pub(super) above: u32,
    /// Whether a shell leaves it as it is.
    quoted: bool,
}

impl Document {
    /// The one that a line hands on.
    pub(super) fn behind(lines: &[Line], index: usize) -> Option<Self> {
        let line = lines.get(index)?;
        let behind = lines.get(index.saturating_add(1)..).unwrap_or_default();
        let body: Vec<&Line> = behind.iter().take_while(|line| line.handed_on).collect();
        let (_, body) = body.split_last()?;
        let first = body.first()?;
        let word = line.text.split("<<").nth(1).unwrap_or_default().trim_start_matches('-').trim_start();
        Some(Self {
            lines: body.iter().map(|line| line.text.trim_end_matches('\r').to_owned()).collect(),
            above: first.number.saturating_sub(1),
            quoted: word.starts_with(['\'', '"', '\\']),
        })
    }

    /// The text with its variables filled in, or the words that are not known, each with its line.
    pub(super) fn filled(&self, script: &str) -> Result<String, Vec<(String, u32)>> {
        if self.quoted {
            return Ok(self.lines.join("\n"));
        }
        let mut unknown = Vec::new();
        let mut filled = Vec::new();
        for (line, number) in self.lines.iter().zip(self.above.saturating_add(1)..) {
            match shell::filled(script, self.above, line) {
                Ok(line) => filled.push(line),
                Err(words) => unknown.extend(words.into_iter().map(|word| (word, number))),
            }
        }
        if unknown.is_empty() { Ok(filled.join("\n")) } else { Err(unknown) }
    }
}

/// The texts that a script writes to where nodeadm reads.
fn documents(script: &str, sources: &[String]) -> Vec<Document> {
    let lines = shell::lines(script);
    let mut documents = Vec::new();
    let paths: Vec<&str> =
        sources.iter().filter(|source| source.starts_with("file:")).map(|source| path_of(source)).collect();
    for (index, line) in lines.iter().enumerate() {
        let begins =
            !line.handed_on && line.text.contains("<<") && paths.iter().any(|path| line.text.contains(path));
        if !begins {
            continue;
        }
        documents.extend(Document::behind(&lines, index));
    }
    documents
}
