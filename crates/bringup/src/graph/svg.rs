//! The graph as a picture of its own: the agent's way down on the left, what the gate lets start on the right.

use std::fmt::Write as _;

use bringup_lab::timeline::style;

use super::{Graph, Item, Kind};
use crate::report::escaped;

const BOX_WIDTH: usize = 380;
const LEFT: usize = 110;
const RIGHT: usize = LEFT + BOX_WIDTH + 150;
const WIDTH: usize = RIGHT + BOX_WIDTH + 170;
const LINE: usize = 17;
const GAP: usize = 36;
/// The height of a box without lines of its own.
const EMPTY: usize = 2 * LINE + 14;
/// Letters of a line in a box, in the face that is used.
const LONGEST: usize = 48;

/// Names of colours, each in light and in dark surroundings.
const COLOURS: [(&str, &str, &str); 9] = [
    ("ink", "#1d2430", "#e4e8ee"),
    ("soft", "#5b6575", "#9aa5b4"),
    ("sheet", "#fff", "#1b1f26"),
    ("box", "#e4eefb", "#1d3350"),
    ("line", "#3b73b9", "#6ea3e6"),
    ("unit", "#ecebf5", "#2c2a44"),
    ("unit-line", "#7a74b0", "#a39cdf"),
    ("gate", "#e0f3ec", "#12352a"),
    ("gate-line", "#17805c", "#4cc79b"),
];

const RULES: &str = "\
.sheet{fill:var(--sheet)}.title{font:600 15px system-ui,sans-serif;fill:var(--ink)}\
.name{font:600 13px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}.line{font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}\
.when,.label{font:11.5px system-ui,sans-serif;fill:var(--soft)}\
.phase{fill:var(--box);stroke:var(--line)}.unit,.carrier{fill:var(--unit);stroke:var(--unit-line)}.gate{fill:var(--gate);stroke:var(--gate-line);stroke-width:2}\
.arrow{fill:none;stroke:var(--soft);stroke-width:1.4}.tip{fill:var(--soft)}";

/// A box with its place.
struct Placed<'a> {
    item: &'a Item,
    x: usize,
    y: usize,
    height: usize,
}

impl Placed<'_> {
    fn middle(&self) -> usize {
        self.y + self.height / 2
    }

    fn bottom(&self) -> usize {
        self.y + self.height
    }
}

pub(super) fn drawn(graph: &Graph) -> String {
    let (placed, height) = placed(graph);
    let mut body = String::new();
    for arrow in &graph.arrows {
        if let (Some(from), Some(to)) = (placed.get(arrow.from), placed.get(arrow.to)) {
            draw_arrow(&mut body, from, to, arrow.label);
        }
    }
    for place in &placed {
        draw_box(&mut body, place);
    }
    let (title, style) = (escaped(&graph.title), style(RULES, &COLOURS));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>{style}</style>\n<rect class=\"sheet\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"30\">{title}</text>\n{body}</svg>\n"
    )
}

/// Boxes from top to bottom; beside the way down stand kubelet, below the gate, and what cloud-init runs meanwhile.
fn placed(graph: &Graph) -> (Vec<Placed<'_>>, usize) {
    let mut y = 52;
    let mut bottom = y;
    // Where the next box in the right column has room.
    let mut room = y;
    let mut placed = Vec::new();
    for item in &graph.boxes {
        let height = EMPTY + item.lines.len() * LINE;
        let is_kubelet = item.kind == Kind::Unit && item.title.contains("kubelet");
        if is_kubelet || item.beside {
            // What cloud-init runs is clear of what the agent's unit says at its right edge.
            let y = y.max(room) + if is_kubelet { 0 } else { EMPTY };
            placed.push(Placed { item, x: RIGHT, y, height });
            room = y + height + GAP;
            bottom = bottom.max(y + height);
        } else {
            placed.push(Placed { item, x: LEFT, y, height });
            bottom = bottom.max(y + height);
            y += height + GAP;
        }
    }
    (placed, bottom + 24)
}

fn draw_box(body: &mut String, place: &Placed<'_>) {
    let class = match place.item.kind {
        Kind::Carrier => "carrier",
        Kind::Unit => "unit",
        Kind::Phase => "phase",
        Kind::Gate => "gate",
    };
    let (x, y) = (place.x, place.y);
    let _ = write!(
        body,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{}\" rx=\"7\"/>\
         <text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
        place.height,
        x + 12,
        y + LINE + 2,
        escaped(&cut(&place.item.title)),
    );
    for (index, line) in place.item.lines.iter().enumerate() {
        let at = y + LINE + 2 + (index + 1) * LINE;
        let _ =
            write!(body, "<text class=\"line\" x=\"{}\" y=\"{at}\">{}</text>", x + 12, escaped(&cut(line)));
    }
    let at = y + place.height - 10;
    let _ = writeln!(body, "<text class=\"when\" x=\"{}\" y=\"{at}\">{}</text>", x + 12, place.item.when);
}

fn draw_arrow(body: &mut String, from: &Placed<'_>, to: &Placed<'_>, label: &str) {
    let label = escaped(label);
    if std::ptr::eq(from, to) {
        // Around the right edge, back into the same box.
        let (x, y) = (from.x + BOX_WIDTH, from.middle());
        let _ = writeln!(
            body,
            "<path class=\"arrow\" d=\"M{x} {}h16a7 7 0 0 1 0 14h-10\"/><path class=\"tip\" d=\"M{} {}l8 -4v8z\"/>\
             <text class=\"label\" x=\"{}\" y=\"{}\">{label}</text>",
            y - 7,
            x + 1,
            y + 7,
            x + 28,
            y + 4,
        );
    } else if from.x != to.x {
        draw_across(body, from, to, &label);
    } else if to.y < from.y || to.y > from.bottom() + GAP {
        // Past what is between them.
        let (x, start, end) = (from.x, from.middle(), to.middle());
        let label_y = if to.y < from.y { start + 16 } else { start - 6 };
        let _ = writeln!(
            body,
            "<path class=\"arrow\" d=\"M{x} {start}H{}V{end}H{}\"/><path class=\"tip\" d=\"M{x} {end}l-8 -4v8z\"/>\
             <text class=\"label\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{label}</text>",
            x - 34,
            x - 8,
            x - 8,
            label_y,
        );
    } else {
        let x = from.x + BOX_WIDTH / 2;
        let _ = writeln!(
            body,
            "<path class=\"arrow\" d=\"M{x} {}V{}\"/><path class=\"tip\" d=\"M{x} {}l-4 -8h8z\"/>\
             <text class=\"label\" x=\"{}\" y=\"{}\">{label}</text>",
            from.bottom(),
            to.y - 8,
            to.y,
            x + 10,
            to.y - GAP / 2 + 4,
        );
    }
}

/// Between the two columns.
fn draw_across(body: &mut String, from: &Placed<'_>, to: &Placed<'_>, label: &str) {
    let (x, left, right) = (from.x + BOX_WIDTH / 2, from.x.max(to.x), from.x.min(to.x) + BOX_WIDTH);
    let (path, tip, label_x, label_y) = if from.x < to.x && from.item.kind == Kind::Carrier {
        // Over the top, clear of what stands between the columns.
        let (start, into) = (from.middle(), to.x + BOX_WIDTH / 2);
        let path = format!("M{right} {start}H{into}V{}", to.y - 8);
        (path, format!("M{into} {}l-4 -8h8z", to.y), right + 8, start - 6)
    } else if from.x < to.x {
        let (start, end, turn) = (from.middle(), to.y + 16, right + 60);
        let path = format!("M{right} {start}H{turn}V{end}H{}", left - 8);
        (path, format!("M{left} {end}l-8 -4v8z"), right + 8, start - 6)
    } else {
        let end = to.middle();
        // Down and across; level with each other, only across.
        let start = if from.bottom() < end {
            format!("M{x} {}V{end}", from.bottom())
        } else {
            format!("M{left} {end}")
        };
        let path = format!("{start}H{}", right + 8);
        (path, format!("M{right} {end}l8 -4v8z"), right + 16, end - 6)
    };
    let _ = writeln!(
        body,
        "<path class=\"arrow\" d=\"{path}\"/><path class=\"tip\" d=\"{tip}\"/>\
         <text class=\"label\" x=\"{label_x}\" y=\"{label_y}\">{label}</text>"
    );
}

/// As much of a line as a box has room for.
fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let short: String = text.chars().take(LONGEST - 1).collect();
    format!("{short}…")
}
