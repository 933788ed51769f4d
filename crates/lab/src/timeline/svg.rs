//! A timeline as a drawing: for each boot, the units that matter, and the agent's steps under a glass.

use std::fmt::Write as _;

use bringup_progress::Event;

use super::lanes::{Boot, Lane, boots};
use super::{escaped, style};

const WIDTH: u64 = 1120;
const LEFT: u64 = 250;
/// Right of the bars stand how long they took.
const RIGHT: u64 = 90;
const ROW: u64 = 24;
const AXIS: u64 = 34;
const HEAD: u64 = 44;
const GAP: u64 = 26;

/// Names of colours, each in light and in dark surroundings.
const COLOURS: [(&str, &str, &str); 11] = [
    ("ink", "#1d2430", "#e4e8ee"),
    ("soft", "#5b6575", "#9aa5b4"),
    ("line", "#e3e6ea", "#2d343e"),
    ("lane", "#f6f7f9", "#20252d"),
    ("step", "#3b73b9", "#6ea3e6"),
    ("unit", "#9aa7b8", "#647184"),
    ("kubelet", "#17805c", "#4cc79b"),
    ("bad", "#b3261e", "#ff8a80"),
    ("waiting", "#d9a441", "#e3b55f"),
    ("gate", "#17805c", "#4cc79b"),
    ("sheet", "#fff", "#1b1f26"),
];

const RULES: &str = "\
text{fill:var(--ink);font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\
.title{font-size:16px;font-weight:650}.soft{fill:var(--soft)}.number{fill:var(--soft);font-size:11px}\
.sheet{fill:var(--sheet)}.lane{fill:var(--lane)}.grid{stroke:var(--line)}\
.step{fill:var(--step)}.unit{fill:var(--unit)}.kubelet{fill:var(--kubelet)}.bad{fill:var(--bad)}.waiting{fill:var(--waiting)}\
.gate{stroke:var(--gate);stroke-width:2}.cut{stroke:var(--bad);stroke-width:2;stroke-dasharray:5 3}\
.gate-text{fill:var(--gate);font-weight:650}.cut-text{fill:var(--bad);font-weight:650}";

/// The drawing.
pub fn svg(events: &[Event]) -> String {
    let boots = boots(events);
    let style = style(RULES, &COLOURS);
    let mut body = legend();
    let mut y = 8;
    for boot in &boots {
        y = draw(&mut body, boot, y) + GAP;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" width=\"{WIDTH}\" height=\"{y}\" role=\"img\">\n\
         <title>What happened, boot by boot</title>\n<style>{style}</style>\n\
         <rect class=\"sheet\" width=\"{WIDTH}\" height=\"{y}\"/>\n{body}</svg>\n"
    )
}

/// What the colours mean.
fn legend() -> String {
    let mut text = String::new();
    let mut x = WIDTH - 16;
    for (class, name, width) in [
        ("bad", "failed", 62),
        ("waiting", "waits", 58),
        ("kubelet", "kubelet", 68),
        ("unit", "unit", 50),
        ("step", "step", 52),
    ] {
        x -= width;
        let _ = writeln!(
            text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"22\" width=\"12\" height=\"12\" rx=\"2.5\"/><text class=\"number\" x=\"{}\" y=\"32\">{name}</text>",
            x + 17
        );
    }
    text
}

/// Draws a boot below `y` and gives where it ends.
fn draw(body: &mut String, boot: &Boot, y: u64) -> u64 {
    let gate = boot.marks.iter().find(|(_, name)| *name == "gate").map(|(at, _)| *at);
    let lead = match gate {
        Some(at) => format!("the gate opened after {}", time(at - boot.from)),
        None if boot.steps.is_empty() => "without a gate".to_owned(),
        None => "the gate did not open".to_owned(),
    };
    let _ = writeln!(
        body,
        "<text class=\"title\" x=\"16\" y=\"{}\">Boot {}</text><text class=\"soft\" x=\"90\" y=\"{}\">{}</text>",
        y + 24,
        escaped(&boot.name),
        y + 24,
        escaped(&lead)
    );
    let whole = Axis { from: boot.from, to: boot.to };
    let mut y = panel(body, &boot.units, boot, whole, y + HEAD);
    let first = boot.steps.iter().flat_map(|lane| &lane.bars).map(|bar| bar.from).min();
    if let Some(first) = first {
        // Most of a boot is waiting for kubelet to have been healthy for a while: the agent's own part is drawn larger.
        let until = boot.marks.iter().map(|(at, _)| *at).filter(|at| *at > first).max();
        let to = until
            .map_or(boot.to, |until| until + (until - first) / 8)
            .clamp(first + 1, boot.to.max(first + 1));
        let glass = Axis { from: first, to };
        let steps: Vec<Lane> = boot
            .steps
            .iter()
            .filter(|lane| lane.bars.first().is_some_and(|bar| bar.from <= to))
            .cloned()
            .collect();
        let _ = writeln!(
            body,
            "<text class=\"soft\" x=\"16\" y=\"{}\">the agent&#8217;s steps, enlarged{}</text>",
            y + 20,
            match boot.skipped {
                0 => String::new(),
                1 => "; 1 was done already".to_owned(),
                many => format!("; {many} were done already"),
            }
        );
        y = panel(body, &steps, boot, glass, y + 30);
    }
    y
}

/// A stretch of time.
#[derive(Clone, Copy)]
struct Axis {
    from: u64,
    to: u64,
}

impl Axis {
    fn x(self, at: u64) -> u64 {
        let at = at.clamp(self.from, self.to) - self.from;
        LEFT + at.saturating_mul(WIDTH - LEFT - RIGHT) / (self.to - self.from).max(1)
    }

    /// The distance between two lines of the grid.
    fn tick(self) -> u64 {
        const STEPS: [u64; 14] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
        let span = self.to - self.from;
        STEPS.into_iter().find(|tick| span / tick <= 10).unwrap_or(60_000)
    }
}

/// Draws lanes below `y` and gives where they end.
fn panel(body: &mut String, lanes: &[Lane], boot: &Boot, axis: Axis, y: u64) -> u64 {
    let top = y + AXIS;
    let bottom = top + ROW * u64::try_from(lanes.len()).unwrap_or_default();
    for (row, _) in (0_u64..).zip(lanes).filter(|(row, _)| row.is_multiple_of(2)) {
        let _ = writeln!(
            body,
            "<rect class=\"lane\" x=\"8\" y=\"{}\" width=\"{}\" height=\"{ROW}\" rx=\"3\"/>",
            top + row * ROW,
            WIDTH - 16
        );
    }
    let mut at = 0;
    while at <= axis.to - axis.from {
        let x = axis.x(axis.from + at);
        let _ = writeln!(
            body,
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{bottom}\"/><text class=\"number\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            top - 6,
            top - 12,
            time(at)
        );
        at += axis.tick();
    }
    for (row, lane) in (0_u64..).zip(lanes) {
        draw_lane(body, lane, axis, top + row * ROW);
    }
    for (at, name) in boot.marks.iter().filter(|(at, _)| (axis.from..=axis.to).contains(at)) {
        let x = axis.x(*at);
        let class = if *name == "gate" { "gate" } else { "cut" };
        let _ = writeln!(
            body,
            "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{bottom}\"/><text class=\"{class}-text\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            top - 6,
            top - 24
        );
    }
    bottom
}

fn draw_lane(body: &mut String, lane: &Lane, axis: Axis, y: u64) {
    let _ = writeln!(
        body,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        LEFT - 12,
        y + 16,
        escaped(&shortened(&lane.name))
    );
    let mut right = LEFT;
    for bar in lane.bars.iter().filter(|bar| bar.from <= axis.to) {
        let (from, to) = (axis.x(bar.from), axis.x(bar.to));
        let width = (to - from).max(3);
        right = right.max(from + width);
        let why = if bar.why.is_empty() { String::new() } else { format!(": {}", bar.why) };
        let _ = writeln!(
            body,
            "<rect class=\"{}\" x=\"{from}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"2.5\"><title>{}</title></rect>",
            bar.tone.class(),
            y + 6,
            ROW - 12,
            escaped(&format!("{}, {}{why}", lane.name, time(bar.to - bar.from)))
        );
    }
    let took: u64 = lane.bars.iter().map(|bar| bar.to - bar.from).sum();
    if took > 0 {
        let _ = writeln!(
            body,
            "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>",
            right + 6,
            y + 16,
            time(took)
        );
    }
}

/// A name that fits beside its lane; both of its ends tell something.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 34;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.to_owned();
    }
    let end: String = letters.iter().skip(letters.len() - LONGEST / 2).collect();
    let start: String = letters.iter().take(LONGEST / 2 - 1).collect();
    format!("{start}\u{2026}{end}")
}

fn time(ms: u64) -> String {
    match ms {
        0 => "0".to_owned(),
        1..1_000 => format!("{ms} ms"),
        1_000..60_000 if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ms: u64, actor: &str, step: &str, event: &str) -> Event {
        let text = |text: &str| text.to_owned();
        Event {
            at_ms,
            boot: text("1"),
            actor: text(actor),
            step: text(step),
            event: text(event),
            why: text("<&>"),
        }
    }

    #[test]
    fn the_gate_divides_and_failures_show() {
        let picture = svg(&[
            event(1_000, "bringup.service", "", "starting"),
            event(1_100, "agent", "driver", "started"),
            event(1_300, "agent", "driver", "failed"),
            event(1_300, "agent", "driver", "retrying"),
            event(1_400, "agent", "driver", "started"),
            event(1_500, "agent", "driver", "finished"),
            event(1_600, "agent", "gate", "opened"),
            event(1_700, "kubelet.service", "", "started"),
            event(9_000, "systemd-logind.service", "", "started"),
        ]);
        assert!(
            picture.contains(">Boot 1<") && picture.contains("the gate opened after 600 ms"),
            "{picture}"
        );
        for class in ["bad", "waiting", "step", "kubelet"] {
            assert!(picture.contains(&format!("<rect class=\"{class}\"")), "{class}: {picture}");
        }
        assert!(!picture.contains("logind"), "what does not matter to a node is not drawn");
        assert!(picture.contains("&lt;&amp;&gt;") && !picture.contains("<&>"));
        assert!(!picture.contains("var("), "many renderers know no variables: {picture}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(svg(&[]).ends_with("</svg>\n"));
    }
}
