//! `bootcmd` and `runcmd`: what YAML and every boot make of a command.

use std::collections::BTreeMap;

use bringup_diag::{Finding, Findings, Place};
use bringup_yaml::{Node, Style};

use super::config::{Config, paths};
use super::lines::{Line, lines_of};
use super::shellwords::{line_lints, systemd_lints, unguarded_appends};
use super::swallowed::{swallowed, swallowed_by, swallowed_word};
use super::unit_text;
use crate::scan::Comment;
use crate::shell::{commands as script, quoted};
use crate::units::{drop_in_of, unit_name};
use crate::{Datum, codes};

pub(super) fn of(configs: &[Config]) -> Findings {
    let mut findings = Findings::new();
    let files = paths(configs);
    let mut echoed = Echoed::default();
    for config in configs {
        for key in ["bootcmd", "runcmd"] {
            let Some(node) = config.node.get(key) else { continue };
            // Said of the merged configuration too; here also where cloud-init drops the part.
            if let Some(fault) = Datum::construct(node, 0).ok().and_then(|list| script(&list).err()) {
                let span = fault.at.map_or(node.span, |(_, span)| span);
                findings.push(fault.finding(key).at(config.origin.place(span)));
            }
            let items = node.items().unwrap_or_default();
            for (number, item) in items.iter().enumerate() {
                let last = number.saturating_add(1) == items.len();
                let comment = swallowed_by(item, &config.comments);
                let lines = lines_of(item);
                command(config, key, last, item, &lines, &mut findings);
                for line in &lines {
                    if !line.text.trim_start().starts_with('#') {
                        line_lints(&line.text, &mut findings, |column, width| {
                            line.place(&config.origin, column, width)
                        });
                    }
                    if key == "bootcmd" {
                        before_files(config, line, &files, &mut findings);
                    }
                    echoed.take(
                        &line.text,
                        comment,
                        line.place(&config.origin, 1, line.text.chars().count()),
                    );
                }
                let cut = comment.map(|comment| (item, comment));
                if let Some((word, comment)) = cut.or_else(|| swallowed_word(item, &config.comments)) {
                    findings.push(swallowed(config, "command", word, comment));
                }
                words(config, item, &mut findings);
            }
        }
    }
    echoed.lint(&mut findings);
    findings
}

fn command(config: &Config, key: &str, last: bool, item: &Node, lines: &[Line], findings: &mut Findings) {
    // The words of a list go to the program as they are, with no shell to see a `>>` among them.
    let script = match item.items() {
        Some(words) => words.iter().filter_map(Node::text).map(quoted).collect::<Vec<_>>().join(" "),
        None => lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    let place = |line: usize, column: u32, width: usize| {
        let line = lines.get(line).or_else(|| lines.last())?;
        Some(line.place(&config.origin, column, width))
    };
    for append in unguarded_appends(&script).into_iter().filter(|_| key == "bootcmd") {
        let message =
            format!("`bootcmd` runs at every boot, and `{}` makes the file grow each time", append.by);
        let finding = Finding::warning(codes::APPEND_EVERY_BOOT, message)
            .hint("write the file whole with `write_files` or `>`, or guard the command with `cloud-init-per once NAME`");
        findings.extend(place(append.line, append.column, append.by.len()).map(|place| finding.at(place)));
    }
    let mut found = Findings::new();
    systemd_lints(&script, &mut found, place);
    findings.extend(found.into_iter().map(|mut finding| {
        // The script's exit status is that of its last command.
        if last {
            finding.message = format!("{}, and as the last command fails all of `{key}`", finding.message);
        }
        finding
    }));
}

fn before_files(
    config: &Config,
    line: &Line,
    files: &std::collections::BTreeSet<String>,
    findings: &mut Findings,
) {
    for path in files {
        let Some(at) = line.text.find(path.as_str()) else { continue };
        let before = line.text.get(..at).unwrap_or_default().trim_end_matches(['"', '\'']);
        // What is printed is not run, nor is a setting of a unit that is written now and started later.
        let is_text = ["echo", "printf", "Exec"].iter().any(|word| before.contains(word));
        let runs = before.is_empty()
            || ["sh", "bash", ".", "source", "exec", "&&", ";"]
                .iter()
                .any(|word| before.trim_end().ends_with(word))
                && !is_text;
        let column = super::shellwords::column_at(&line.text, at);
        let place = line.place(&config.origin, column, path.chars().count());
        let message =
            format!("`bootcmd` runs before `write_files`: on the first boot `{path}` is not there yet");
        findings.push(if runs {
            Finding::error(codes::BEFORE_FILES, message)
                .at(place)
                .hint("run it from `runcmd`, or write the file in `bootcmd` itself")
        } else {
            Finding::note(codes::BEFORE_FILES, message)
                .at(place)
                .hint("fine if it is only named here and read later")
        });
    }
}

/// Words of a list that Python prints otherwise than they are written.
fn words(config: &Config, item: &Node, findings: &mut Findings) {
    for word in item.items().unwrap_or_default() {
        let (Some(scalar), Ok(datum)) = (word.scalar(), Datum::construct(word, 0)) else { continue };
        let printed = datum.python_str();
        if scalar.style == Style::Plain && word.tag.is_none() && printed != scalar.text {
            let written = if scalar.text.is_empty() { "nothing" } else { &scalar.text };
            findings.push(
                Finding::warning(codes::YAML_1_1, format!("`{written}` reaches the command as `{printed}`"))
                    .at(config.origin.place(word.span))
                    .hint(format!("write `\"{}\"`", scalar.text)),
            );
        }
    }
}

/// Unit files that commands put together line by line with `echo`.
#[derive(Default)]
struct Echoed {
    files: BTreeMap<String, Vec<(String, Place)>>,
}

impl Echoed {
    /// `echo TEXT >> FILE`; where a comment has swallowed the redirection, what was meant.
    fn take(&mut self, line: &str, comment: Option<&Comment>, place: Place) {
        let Some(text) = line.trim_start().strip_prefix("echo ") else { return };
        let meant = comment.map(|comment| comment.text.as_str()).unwrap_or_default();
        let (text, target) = match (text.rsplit_once('>'), meant.rsplit_once('>')) {
            (Some((text, target)), _) => (text, target),
            (None, Some((_, target))) => (text, target),
            (None, None) => return,
        };
        let text = text.trim_end_matches('>').trim().trim_matches(['"', '\'']);
        let target = target.trim().trim_matches(['"', '\'']);
        if unit_name(target).is_some() || drop_in_of(target).is_some() {
            self.files.entry(target.to_owned()).or_default().push((text.to_owned(), place));
        }
    }

    fn lint(&self, findings: &mut Findings) {
        for (path, lines) in &self.files {
            // What is wrong with the words of the line was said of the command that writes it.
            let mut found = Findings::new();
            match (unit_name(path), drop_in_of(path)) {
                (Some(unit), _) => unit_text::of(unit, false, lines, &mut found),
                (None, Some(unit)) => unit_text::of(unit, true, lines, &mut found),
                (None, None) => {}
            }
            let said = [codes::VENDOR_PATH, codes::KOPS_PATH];
            findings.extend(found.into_iter().filter(|finding| !said.contains(&finding.code)));
        }
    }
}
