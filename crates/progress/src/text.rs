//! What people read of a status: a page on a terminal, a line on a console.

use std::fmt::Write as _;

use crate::status::{Standing, Status, StepProgress, is_whole};

/// The last lines of a program's output that a page shows.
const TAIL_LINES: usize = 10;

/// The status in one line, for the console and for systemd.
pub fn line(status: &Status) -> String {
    let mut text = head(status);
    if !status.why.is_empty() {
        let _ = write!(text, ": {}", one_line(&status.why));
    }
    if status.standing == Standing::Paused && !status.fix.is_empty() {
        let _ = write!(text, "; to mend: {}", one_line(&status.fix));
    }
    text
}

/// Whether an agent is at work on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtWork {
    /// One is, or nobody can tell.
    Somebody,
    /// None is: what a status says of the moment is about the past.
    Nobody,
}

/// The status as `bringup-node status` shows it, at a moment: milliseconds since 1970.
pub fn page(status: &Status, at_ms: u64, at_work: AtWork) -> String {
    let mut text = format!("{}/{} on {}\n{}\n", status.cluster, status.group, status.identity, head(status));
    for (label, value) in [("why", &status.why), ("fix", &status.fix)] {
        if !value.is_empty() {
            let _ = writeln!(text, "  {label}: {}", one_line(value));
        }
    }
    if status.standing == Standing::GaveUp {
        text.push_str("  `bringup-node up --again` tries it again\n");
    }
    let unfinished = matches!(status.standing, Standing::Running | Standing::Waiting | Standing::Paused);
    let left = unfinished && at_work == AtWork::Nobody;
    let early = status.standing == Standing::Done && !is_whole(status) && at_work == AtWork::Nobody;
    if left || early {
        text.push_str("  no agent is at work on it now; `bringup-node up` goes on\n");
    } else if let Some(next) = status.next_try_at_ms {
        let _ = match next.saturating_sub(at_ms).div_ceil(1000) {
            0 => writeln!(text, "  next try: now"),
            seconds => writeln!(text, "  next try: in {seconds} s"),
        };
    }
    let lines: Vec<&str> = status.tail.lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(TAIL_LINES)) {
        let _ = writeln!(text, "  | {}", printable(line));
    }
    text.push('\n');
    let width = status.steps.iter().map(|step| step.phase.word().len()).max().unwrap_or_default();
    for step in &status.steps {
        let mark = match step.progress {
            StepProgress::Done => "done",
            StepProgress::Doing if left => "begun",
            StepProgress::Doing => match status.standing {
                Standing::Waiting | Standing::HandedOver => "waiting",
                Standing::Paused => "paused",
                Standing::Rebooting => "reboot",
                _ => "doing",
            },
            StepProgress::Pending => "",
            StepProgress::NotMine => "not here",
            StepProgress::Continued => "failed",
            StepProgress::GaveUp => "gave up",
        };
        let row = format!("{mark:<8}  {:<width$}  {}", step.phase.word(), printable(&step.step));
        let _ = match step.why.as_str() {
            "" => writeln!(text, "{row}"),
            why => writeln!(text, "{row}: {}", one_line(why)),
        };
    }
    text
}

fn head(status: &Status) -> String {
    let done = status
        .steps
        .iter()
        .filter(|step| {
            !matches!(step.progress, StepProgress::Pending | StepProgress::Doing | StepProgress::GaveUp)
        })
        .count();
    let total = status.steps.len();
    let step = status.step.as_deref().unwrap_or_default();
    let attempt = match status.attempt {
        Some(attempt) if attempt > 1 => format!(" (attempt {attempt})"),
        _ => String::new(),
    };
    match status.standing {
        Standing::Running if step.is_empty() => "starting".to_owned(),
        Standing::Running => format!("step {} of {total}: {step}{attempt}", done + 1),
        Standing::Waiting => {
            format!("step {} of {total}: {step}{attempt} failed and is tried again", done + 1)
        }
        Standing::Paused => format!("paused at step {} of {total}: {step}", done + 1),
        Standing::Rebooting => "rebooting".to_owned(),
        Standing::HandedOver => format!("step {} of {total}: {step} is left to its own units", done + 1),
        Standing::GaveUp => format!("gave up at step {} of {total}: {step}{attempt}", done + 1),
        Standing::Done => {
            let until = status.until.map(|until| format!(" up to {until}")).unwrap_or_default();
            let passed = status.steps.iter().filter(|step| step.progress == StepProgress::Continued);
            let passed: Vec<String> = passed.map(|step| printable(&step.step)).collect();
            match passed.as_slice() {
                [] => format!("done{until}"),
                names => {
                    format!("done{until}, but for what failed and was passed over: {}", names.join(", "))
                }
            }
        }
    }
}

fn one_line(text: &str) -> String {
    printable(text.trim())
}

/// Nothing that moves a terminal's cursor: programs write what they like.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
