//! What clap has to say: help and version are answers, anything else is a wrong call.

use std::ffi::OsString;

use bringup_diag::{Finding, masked_message};

use crate::Terminal;
use crate::arguments::ReportForm;
use crate::outcome::{Stop, Verdict, codes, tell_program};

/// Prints it in clap's own words, and as a finding if the call asked for one of the forms for programs.
pub(crate) fn told(
    fault: &clap::Error,
    typed: &[OsString],
    terminal: &mut Terminal,
) -> Result<Verdict, Stop> {
    let text = terminal.styled(&fault.render(), fault.use_stderr());
    if !fault.use_stderr() {
        terminal.data(text.as_bytes())?;
        return Ok(Verdict::Good);
    }
    terminal.say(&text);
    tell_program(finding(&fault.render().to_string()), Verdict::Wrong, asked_form(typed), terminal);
    Ok(Verdict::Wrong)
}

/// The form that the words ask for, though they make no call.
fn asked_form(typed: &[OsString]) -> ReportForm {
    let words = typed.iter().map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--");
    let mut form = ReportForm::Human;
    let mut before = "";
    for word in words {
        let value = word.strip_prefix("--output=").or_else(|| (before == "--output").then_some(word));
        form = match value {
            Some("json") => ReportForm::Json,
            Some("sarif") => ReportForm::Sarif,
            Some("human") => ReportForm::Human,
            _ => form,
        };
        before = word;
    }
    form
}

/// Clap's text in our terms: its first paragraph is the message, its tip or else the usage is the hint.
fn finding(text: &str) -> Finding {
    let mut paragraphs =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    let mut hint = None;
    for paragraph in paragraphs {
        // The other tip, how to pass an unknown flag as a file, is never what was meant.
        if let Some(tip) = paragraph.strip_prefix("tip: ").filter(|tip| tip.contains("similar")) {
            hint = Some(tip.to_owned());
            break;
        }
        if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            hint = Some(format!("write `{usage}`"));
        }
    }
    let mut finding = Finding::error(codes::WRONG, masked_message(message));
    finding.hint = hint.as_deref().map(masked_message);
    finding
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{asked_form, finding};
    use crate::arguments::ReportForm;

    #[test]
    fn the_last_form_that_was_typed_counts() {
        let form = |line: &str| asked_form(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(form("bringup build --frob --output json"), ReportForm::Json);
        assert_eq!(form("bringup build --output=sarif --frob"), ReportForm::Sarif);
        assert_eq!(form("bringup build --output json --output human"), ReportForm::Human);
        assert_eq!(form("bringup build -- --output json"), ReportForm::Human);
        assert_eq!(form("bringup build --output"), ReportForm::Human);
    }

    #[test]
    fn a_tip_is_a_better_hint_than_the_usage() {
        let text = "error: unexpected argument '--grup' found\n\n  tip: a similar argument exists: '--group'\n\n\
                    Usage: bringup build <FILE>...\n\nFor more information, try '--help'.\n";
        let told = finding(text);
        assert_eq!(told.message, "unexpected argument '--grup' found");
        assert_eq!(told.hint.as_deref(), Some("a similar argument exists: '--group'"));
        let told = finding("error: missing:\n  <FILE>...\n\nUsage: bringup build <FILE>...\n");
        assert_eq!(told.message, "missing: <FILE>...");
        assert_eq!(told.hint.as_deref(), Some("write `bringup build <FILE>...`"));
    }
}
