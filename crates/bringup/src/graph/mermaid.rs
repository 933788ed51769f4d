//! The graph for pages that draw Mermaid.

use std::fmt::Write as _;

use super::{Graph, Kind};

pub(super) fn drawn(graph: &Graph) -> String {
    let mut text = format!("%% {}\nflowchart TD\n", graph.title.replace('\n', " "));
    for (index, item) in graph.boxes.iter().enumerate() {
        let label =
            std::iter::once(&item.title).chain(&item.lines).map(|line| safe(line)).collect::<Vec<_>>();
        let label = format!("{}<br/><i>{}</i>", label.join("<br/>"), item.when);
        let (open, close) = match item.kind {
            Kind::Carrier => ("([\"", "\"])"),
            Kind::Unit => ("[[\"", "\"]]"),
            Kind::Phase => ("[\"", "\"]"),
            Kind::Gate => ("{{\"", "\"}}"),
        };
        let _ = writeln!(text, "  n{index}{open}{label}{close}");
    }
    for arrow in &graph.arrows {
        let _ = writeln!(text, "  n{} -->|{}| n{}", arrow.from, safe(arrow.label), arrow.to);
    }
    text
}

/// Mermaid reads `#34;` for a quote, and takes brackets of markup for markup.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '<' | '>' | '&' | '#' | '|' | ';' => {
                let _ = write!(safe, "#{};", u32::from(letter));
            }
            _ if letter.is_control() => {}
            _ => safe.push(letter),
        }
    }
    safe
}
