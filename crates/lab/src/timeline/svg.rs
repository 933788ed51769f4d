//! A timeline as a drawing: one row for each actor and step, one bar from its start to its end.

use std::fmt::Write as _;

use bringup_progress::Event;

const ROW: u32 = 22;
const LEFT: u32 = 260;
const WIDTH: u32 = 1000;
const TOP: u32 = 40;

/// From a start to an end.
struct Bar {
    name: String,
    from: u64,
    to: u64,
    good: bool,
}

/// The drawing.
pub fn svg(events: &[Event]) -> String {
    let start = events.iter().map(|event| event.at_ms).min().unwrap_or(0);
    let end = events.iter().map(|event| event.at_ms).max().unwrap_or(0).max(start + 1);
    let bars = bars(events, end);
    let height = TOP + ROW * u32::try_from(bars.len()).unwrap_or(u32::MAX / ROW) + 20;
    let across = |at: u64| {
        let share = (at - start).saturating_mul(u64::from(WIDTH - LEFT - 20)) / (end - start);
        LEFT + u32::try_from(share).unwrap_or(0)
    };
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>text{{fill:#333}}.grid{{stroke:#ddd}}.good{{fill:#3b82a0}}.bad{{fill:#c0392b}}.gate{{stroke:#2e7d32;stroke-width:2}}\
         @media(prefers-color-scheme:dark){{text{{fill:#ddd}}.grid{{stroke:#444}}}}</style>\n"
    );
    let total = end - start;
    let tick =
        [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000].into_iter().find(|tick| total / tick <= 12);
    let tick = tick.unwrap_or(600_000);
    let mut at = 0;
    while at <= total {
        let x = across(start + at);
        let _ = writeln!(
            picture,
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"{TOP}\" y2=\"{}\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{} s</text>",
            height - 20,
            TOP - 8,
            at / 1000
        );
        at += tick;
    }
    for (row, bar) in (0_u32..).zip(&bars) {
        let y = TOP + row * ROW;
        let (from, to) = (across(bar.from), across(bar.to).max(across(bar.from) + 3));
        let class = if bar.good { "good" } else { "bad" };
        let _ = writeln!(
            picture,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"{class}\" x=\"{from}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"><title>{}</title></rect>",
            LEFT - 8,
            y + 15,
            escaped(&bar.name),
            y + 4,
            to - from,
            ROW - 8,
            escaped(&format!("{}: {} ms", bar.name, bar.to - bar.from))
        );
    }
    for gate in events.iter().filter(|event| event.event == "opened") {
        let x = across(gate.at_ms);
        let _ = writeln!(
            picture,
            "<line class=\"gate\" x1=\"{x}\" x2=\"{x}\" y1=\"{TOP}\" y2=\"{}\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">gate</text>",
            height - 20,
            height - 6
        );
    }
    picture.push_str("</svg>\n");
    picture
}

fn bars(events: &[Event], end: u64) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut open: Vec<(String, usize)> = Vec::new();
    for event in events {
        let name = if event.step.is_empty() { event.actor.clone() } else { event.step.clone() };
        let key = format!("{} {name}", event.boot);
        let running = open.iter().position(|(known, _)| *known == key);
        match event.event.as_str() {
            "starting" | "started" | "began" if running.is_none() => {
                // A service that has started goes on; only its start takes time.
                let to = if event.actor == "agent" || event.event == "starting" { end } else { event.at_ms };
                open.push((key, bars.len()));
                bars.push(Bar { name, from: event.at_ms, to, good: true });
            }
            "started" | "finished" | "opened" | "arrived" | "failed" | "gave-up" | "timed-out" | "exited"
            | "stopped" => {
                if let Some(at) = running {
                    let (_, index) = open.swap_remove(at);
                    if let Some(bar) = bars.get_mut(index) {
                        bar.to = event.at_ms.max(bar.from);
                        bar.good = !matches!(event.event.as_str(), "failed" | "gave-up" | "timed-out");
                    }
                }
            }
            _ => {}
        }
    }
    bars
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
