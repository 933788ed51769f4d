//! What a node does, in order, as a picture: phases as lanes from top to bottom, steps as boxes, the gate across.
//!
//! The layout is our own and simple on purpose: the same plan gives the same bytes. Everything is set in one monospaced
//! face, so that widths follow from the number of letters.

use std::fmt::Write as _;

use bringup_plan::{Action, PlacedBy, Plan, Step};
use bringup_spec::Phase;

use super::escape::escaped;
use crate::own_parts::OwnParts;
use crate::view::{Operator, summary_of};

const WIDTH: usize = 1120;
/// Left of this stand the names of the phases.
const LANE_X: usize = 176;
const LETTER: usize = 7;
const BOX_HEIGHT: usize = 40;
const GAP: usize = 14;
const LANE_PADDING: usize = 12;
const LANE_GAP: usize = 10;
const GATE_HEIGHT: usize = 34;
/// Longest text in a box, in letters.
const LONGEST: usize = 52;

const EVERY_BOOT: (&str, &str) = ("↻", "on every boot");

/// One box.
struct Item {
    number: Option<String>,
    title: String,
    detail: String,
    marks: Vec<(&'static str, &'static str)>,
    theirs: bool,
}

impl Item {
    fn new(number: usize, step: &Step, operator: &Operator) -> Self {
        let mut marks = Vec::new();
        if step.every_boot {
            marks.push(EVERY_BOOT);
        }
        if step.elected_only {
            marks.push(("★", "only on the node that starts the cluster"));
        }
        if step.others_only {
            marks.push(("☆", "not on the node that starts the cluster"));
        }
        Self {
            number: Some(number.to_string()),
            title: step.name.clone(),
            detail: summary_of(&step.action),
            marks,
            theirs: operator.wrote(step),
        }
    }

    fn width(&self) -> usize {
        let letters = self.title_line().chars().count().max(cut(&self.detail).chars().count());
        letters * LETTER + 22
    }

    fn title_line(&self) -> String {
        let number = self.number.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
        let marks: String = self.marks.iter().flat_map(|(mark, _)| [" ", mark]).collect();
        let owner = if self.theirs { "◆ " } else { "" };
        format!("{number}{owner}{}{marks}", cut(&self.title))
    }
}

/// One lane: a phase with its boxes.
struct Lane {
    name: &'static str,
    about: &'static str,
    items: Vec<Item>,
    /// Whether the gate stands below it.
    gate_below: bool,
}

/// The picture of a plan as an SVG element for a page that has the styles.
pub(super) fn picture(plan: &Plan, operator: &Operator, own: &OwnParts) -> String {
    let lanes = lanes(plan, operator, own);
    let mut body = String::new();
    let mut y = 4;
    for (index, lane) in lanes.iter().enumerate() {
        y = draw_lane(&mut body, lane, y);
        if index + 1 < lanes.len() && !lane.gate_below {
            // The way down, in the gap between two lanes.
            let _ = writeln!(
                body,
                "<path class=\"down\" d=\"M{} {}l5 6l5 -6z\"/>",
                LANE_X + 14,
                y - LANE_GAP + 2
            );
        }
        if lane.gate_below {
            y = draw_gate(&mut body, y);
        }
    }
    let title = format!("what a node of {} does, in order", plan.group);
    format!(
        "<svg class=\"picture\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n{body}</svg>\n",
        height = y + 4,
        title = escaped(&title),
    )
}

fn lanes(plan: &Plan, operator: &Operator, own: &OwnParts) -> Vec<Lane> {
    let mut lanes = Vec::new();
    let placed: Vec<Item> = plan
        .units
        .iter()
        .filter(|unit| unit.placed_by == PlacedBy::Carrier)
        .map(|unit| Item {
            number: None,
            title: unit.name.clone(),
            detail: unit_detail(unit),
            marks: Vec::new(),
            theirs: false,
        })
        .collect();
    if !placed.is_empty() {
        lanes.push(Lane {
            name: "carrier",
            about: "places plan and units",
            items: placed,
            gate_below: false,
        });
    }
    if own.carried {
        lanes.extend(own_lanes(own));
    }
    // In the order in which it is done: a phase that is interrupted by another has two lanes.
    for (index, step) in plan.steps.iter().enumerate() {
        let item = Item::new(index + 1, step, operator);
        let opens_gate = matches!(step.action, Action::OpenGate { .. });
        match lanes.last_mut() {
            Some(lane) if lane.name == step.phase.word() && !lane.gate_below => {
                lane.items.push(item);
                lane.gate_below = opens_gate;
            }
            _ => lanes.push(Lane {
                name: step.phase.word(),
                about: about(step.phase),
                items: vec![item],
                gate_below: opens_gate,
            }),
        }
    }
    lanes
}

/// What cloud-init does with the operator's parts: a lane for each of its stages.
fn own_lanes(own: &OwnParts) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (index, act) in own.acts.iter().enumerate() {
        let item = Item {
            number: Some(format!("c{}", index + 1)),
            title: act.title.clone(),
            detail: act.detail.clone(),
            marks: if act.every_boot { vec![EVERY_BOOT] } else { Vec::new() },
            theirs: true,
        };
        match lanes.last_mut() {
            Some(lane) if lane.name == act.stage => lane.items.push(item),
            _ => lanes.push(Lane {
                name: act.stage,
                about: "cloud-init, your parts",
                items: vec![item],
                gate_below: false,
            }),
        }
    }
    lanes
}

fn unit_detail(unit: &bringup_plan::Unit) -> String {
    if unit.mask {
        "masked: never starts".to_owned()
    } else if unit.content.is_none() {
        "drop-in of the image's own unit".to_owned()
    } else if unit.enabled == Some(true) {
        "starts at boot".to_owned()
    } else {
        "started by others".to_owned()
    }
}

fn about(phase: Phase) -> &'static str {
    match phase {
        Phase::Identify => "what only it knows",
        Phase::Fetch => "checked by digest",
        Phase::PreInstall => "your first word",
        Phase::Update => "operating system",
        Phase::Runtime => "containers",
        Phase::Configure => "files of kubelet",
        Phase::Reboot => "where needed",
        Phase::Gate => "last before kubelet",
        Phase::Kubelet => "starts, is healthy",
        Phase::Registered => "the node object",
        Phase::ControlPlane | Phase::Platform => "on the elected node",
        Phase::PostInstall => "your last word",
        Phase::Report => "how it ended",
    }
}

fn draw_lane(body: &mut String, lane: &Lane, top: usize) -> usize {
    let room = WIDTH - LANE_X - LANE_PADDING;
    let mut rows: Vec<Vec<&Item>> = vec![Vec::new()];
    let mut used = 0;
    for item in &lane.items {
        let width = item.width().min(room);
        if used > 0 && used + GAP + width > room {
            rows.push(Vec::new());
            used = 0;
        }
        used += width + if used > 0 { GAP } else { 0 };
        if let Some(row) = rows.last_mut() {
            row.push(item);
        }
    }
    let height = 2 * LANE_PADDING + rows.len() * BOX_HEIGHT + (rows.len() - 1) * GAP;
    let _ = writeln!(
        body,
        "<rect class=\"lane\" x=\"0\" y=\"{top}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"phase\" x=\"14\" y=\"{}\">{}</text>\n<text class=\"about\" x=\"14\" y=\"{}\">{}</text>",
        top + 28,
        lane.name,
        top + 46,
        lane.about,
    );
    for (row, items) in rows.iter().enumerate() {
        let y = top + LANE_PADDING + row * (BOX_HEIGHT + GAP);
        let mut x = LANE_X;
        for (index, item) in items.iter().enumerate() {
            if index > 0 && item.number.is_some() {
                let middle = y + BOX_HEIGHT / 2;
                let _ = writeln!(
                    body,
                    "<path class=\"arrow\" d=\"M{} {middle}h9m-4 -4l4 4l-4 4\"/>",
                    x - GAP + 2
                );
            }
            draw_item(body, item, x, y);
            x += item.width() + GAP;
        }
    }
    top + height + LANE_GAP
}

fn draw_item(body: &mut String, item: &Item, x: usize, y: usize) {
    let class = if item.theirs {
        "theirs"
    } else if item.number.is_none() {
        "placed"
    } else {
        "ours"
    };
    let mut hover = format!("{}: {}", item.title, item.detail);
    for (_, meaning) in &item.marks {
        let _ = write!(hover, "; {meaning}");
    }
    let _ = writeln!(
        body,
        "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{BOX_HEIGHT}\" rx=\"5\"/>\
         <text class=\"name\" x=\"{tx}\" y=\"{}\">{}</text><text class=\"detail\" x=\"{tx}\" y=\"{}\">{}</text></g>",
        escaped(&hover),
        item.width(),
        y + 17,
        escaped(&item.title_line()),
        y + 32,
        escaped(&cut(&item.detail)),
        tx = x + 10,
    );
}

fn draw_gate(body: &mut String, top: usize) -> usize {
    let text = "all above has succeeded · one rename opens it · only now may kubelet start";
    let bottom = top + GATE_HEIGHT;
    let middle = top + GATE_HEIGHT / 2;
    let (center, width) = (usize::midpoint(LANE_X, WIDTH), text.chars().count() * LETTER + 40);
    let _ = writeln!(
        body,
        "<g class=\"gate\"><path class=\"bar\" d=\"M0 {middle}H14M{LANE_X} {middle}H{WIDTH}\"/>\
         <text class=\"sign\" x=\"20\" y=\"{}\">▲ the gate ▼</text>\
         <rect class=\"plate\" x=\"{}\" y=\"{}\" width=\"{width}\" height=\"26\" rx=\"13\"/>\
         <text class=\"plate-text\" text-anchor=\"middle\" x=\"{center}\" y=\"{}\">{text}</text></g>",
        middle + 5,
        center - width / 2,
        middle - 13,
        middle + 4,
    );
    bottom + LANE_GAP / 2
}

/// The text, with an ellipsis where it is too long for a box: in the middle, because the end of a path says most.
fn cut(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LONGEST {
        return text.to_owned();
    }
    let head = LONGEST / 3;
    let tail = letters.len() - (LONGEST - head - 1);
    letters.iter().take(head).chain(&['…']).chain(letters.iter().skip(tail)).collect()
}
