//! An event as a line of a live timeline.

use bringup_progress::Event;

/// A line: seconds since `start_ms`, who, what and why.
pub fn line(event: &Event, start_ms: u64) -> String {
    let since = event.at_ms.saturating_sub(start_ms);
    let who =
        if event.step.is_empty() { event.actor.clone() } else { format!("{} {}", event.actor, event.step) };
    let mut line = format!("{:>4}.{:03}  {who:<44} {}", since / 1000, since % 1000, event.event);
    if !event.why.is_empty() {
        line.push_str(": ");
        line.push_str(&event.why);
    }
    line
}
