//! How the outcome of `bringup try` is told.

use std::fmt::Write as _;
use std::path::Path;

use bringup_lab::timeline::{page, svg};
use bringup_lab::{KubeletKind, Outcome, Verdict as Came};

use crate::files;
use crate::outcome::Stop;
use crate::terminal::Paint;

/// How many lines of a failing program's output are shown.
const LINES: usize = 10;

pub(super) fn write(directory: &Path, outcome: &Outcome) -> Result<(), Stop> {
    files::make_directory(directory)?;
    let picture = svg(&outcome.events);
    let json = serde_json::to_string_pretty(&outcome.events).unwrap_or_default() + "\n";
    let page = page(outcome);
    for (name, content) in [("timeline.json", &json), ("timeline.svg", &picture), ("timeline.html", &page)] {
        files::replace(&directory.join(name), content.as_bytes(), files::Readers::All)?;
    }
    if let Some(node) = &outcome.node {
        let json = serde_json::to_string_pretty(node).unwrap_or_default() + "\n";
        files::replace(&directory.join("node.json"), json.as_bytes(), files::Readers::All)?;
    }
    Ok(())
}

/// The last lines of what a program wrote.
fn end(text: &mut String, tail: &str) {
    let lines: Vec<&str> = tail.lines().collect();
    for line in lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default() {
        let _ = writeln!(text, "  | {line}");
    }
}

/// For people.
pub(super) fn summary(outcome: &Outcome, paint: Paint) -> String {
    let verdict = match outcome.verdict {
        Came::CameUp if outcome.passed_over.is_empty() && outcome.unseen.is_empty() => {
            paint.good(&outcome.told())
        }
        Came::CameUp | Came::NotYet => paint.warning(&outcome.told()),
        Came::Failed => paint.error(&outcome.told()),
    };
    let started =
        outcome.events.iter().any(|event| event.actor == "kubelet.service" && event.event == "started");
    // Only our agent has a gate.
    let gated = outcome.events.iter().any(|event| event.actor == "agent" && event.event == "opened");
    let order = match (outcome.agrees, started) {
        (true, true) if gated => "kubelet started after the gate".to_owned(),
        (true, true) => "kubelet started".to_owned(),
        (true, false) => "kubelet was not started".to_owned(),
        (false, _) => outcome.disagreements.join("; "),
    };
    let mut text = format!("\n{verdict}; {order}\non {}", outcome.os);
    if outcome.kubelet == KubeletKind::Real {
        text.push_str("; kubelet and containerd are real");
    }
    if !outcome.stand_ins.is_empty() {
        let _ = write!(text, "; stand-ins for {}", outcome.stand_ins.join(", "));
    }
    text.push('\n');
    for failing in &outcome.failing {
        let why = if failing.why.is_empty() { "not done yet" } else { &failing.why };
        let _ = writeln!(text, "{}: {why}", paint.strong(&failing.what));
        if !failing.fix.is_empty() {
            let _ = writeln!(text, "  {}", failing.fix);
        }
        end(&mut text, &failing.tail);
    }
    for (told, one) in outcome.passed() {
        let _ = writeln!(text, "{}: {told}", paint.strong(&one.what));
        end(&mut text, &one.tail);
    }
    for asked in &outcome.left_undone {
        let _ = writeln!(text, "{}: `{asked}` was not done: it did not come to that", paint.error("error"));
    }
    if let Some(node) = &outcome.node {
        let name = node.pointer("/metadata/name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let _ = writeln!(text, "the API server knows it as `{name}`");
    }
    text
}

#[cfg(test)]
mod tests {
    use bringup_diag::Colour;
    use bringup_lab::{Failing, Kind, PassedOver};

    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            came_up: false,
            agrees: true,
            os: "Debian 12".to_owned(),
            kubelet: KubeletKind::StandIn,
            stand_ins: Vec::new(),
            metadata_requests: Vec::new(),
            disagreements: Vec::new(),
            left_undone: Vec::new(),
            unseen: Vec::new(),
            failing: Vec::new(),
            passed_over: Vec::new(),
            node: None,
            status: None,
            events: Vec::new(),
            verdict: Came::Failed,
        }
    }

    #[test]
    fn a_failure_is_told_with_the_step_and_the_end_of_its_output() {
        let tail = (1..=12).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
        let failing = Failing {
            what: "drivers".to_owned(),
            why: "it ended with code 3".to_owned(),
            fix: "mend it".to_owned(),
            tail,
        };
        let text = summary(&Outcome { failing: vec![failing], ..outcome() }, Paint::new(Colour::Never));
        assert!(text.contains("\ndrivers: it ended with code 3\n  mend it\n  | line 3\n"), "{text}");
        assert!(text.ends_with("  | line 12\n"), "{text}");
    }

    #[test]
    fn a_node_that_came_up_without_a_step_is_not_told_as_good() {
        let passed_over = vec![PassedOver {
            boot: "1".to_owned(),
            kind: Kind::Step,
            what: "drivers".to_owned(),
            why: "it ended with code 127".to_owned(),
            tail: "modprobe: not found".to_owned(),
        }];
        let outcome = Outcome { came_up: true, verdict: Came::CameUp, passed_over, ..outcome() };
        let text = summary(&outcome, Paint::new(Colour::Never));
        let verdict = "the node came up, but `drivers` failed and was passed over: it ended with code 127";
        assert!(text.starts_with(&format!("\n{verdict}; ")), "{text}");
        assert!(
            text.ends_with(
                "drivers: failed and was passed over: it ended with code 127\n  | modprobe: not found\n"
            ),
            "{text}"
        );
        let page = page(&outcome);
        let head = format!("<h1 class=\"wait\">T{}</h1>", &verdict[1..]);
        assert!(page.contains(&head) && page.contains("<pre>modprobe: not found</pre>"), "{page}");
    }

    #[test]
    fn what_was_waited_for_in_vain_is_named() {
        let unseen = vec!["--until report=finished".to_owned()];
        let late = Outcome { unseen, verdict: Came::NotYet, ..outcome() };
        let text = summary(&late, Paint::new(Colour::Never));
        let head = "\nthe node was not up when the time was over: `--until report=finished` was not seen; ";
        assert!(text.starts_with(head), "{text}");
        let up = Outcome { came_up: true, verdict: Came::CameUp, ..late };
        let text = summary(&up, Paint::new(Colour::Never));
        let head = "\nthe node came up, but `--until report=finished` was not seen until the time was over; ";
        assert!(text.starts_with(head), "{text}");
    }

    #[test]
    fn what_was_asked_for_and_not_done_is_told() {
        let left_undone = vec!["--power-cut drivers".to_owned()];
        let text = summary(&Outcome { left_undone, ..outcome() }, Paint::new(Colour::Never));
        assert!(text.contains("error: `--power-cut drivers` was not done"), "{text}");
    }
}
