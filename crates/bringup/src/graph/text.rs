//! The graph for a terminal or a mail.

use std::fmt::Write as _;

use super::{Graph, Item, Kind};

pub(super) fn drawn(graph: &Graph) -> String {
    let mut text = format!("{}\n\n", graph.title);
    let names = graph.boxes.iter().map(|item| head(item).chars().count());
    let width = names.max().unwrap_or(0);
    for (index, item) in graph.boxes.iter().enumerate() {
        if item.kind == Kind::Gate {
            let _ = writeln!(text, "  {}", "═".repeat(width + 2));
        }
        let _ = writeln!(text, "  {:<width$}  {}", head(item), item.when);
        for line in &item.lines {
            let _ = writeln!(text, "  │   {line}");
        }
        for arrow in graph.backward(index) {
            let target = graph.boxes.get(arrow.to).map_or("", |item| item.title.as_str());
            if arrow.to == index {
                let _ = writeln!(text, "  ↻   {}", arrow.label);
            } else {
                let _ = writeln!(text, "  ↑   {}: back to {target}", arrow.label);
            }
        }
        if item.kind == Kind::Gate {
            let _ = writeln!(text, "  {}", "═".repeat(width + 2));
        }
        let onward: Vec<_> = graph.onward(index).collect();
        match onward.as_slice() {
            [] => {}
            [arrow] if arrow.to == index + 1 => {
                let _ = writeln!(text, "  ▼   {}", arrow.label);
            }
            several => {
                for arrow in several {
                    let target = graph.boxes.get(arrow.to).map_or("", |item| item.title.as_str());
                    let _ = writeln!(text, "  ├─▶ {}: {target}", arrow.label);
                }
                text.push('\n');
            }
        }
    }
    text
}

fn head(item: &Item) -> String {
    match item.kind {
        Kind::Carrier | Kind::Unit | Kind::Gate => format!("[{}]", item.title),
        Kind::Phase => item.title.clone(),
    }
}
