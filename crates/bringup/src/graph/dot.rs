//! The graph for Graphviz.

use std::fmt::Write as _;

use super::{Graph, Kind};

pub(super) fn drawn(graph: &Graph) -> String {
    let mut text = format!(
        "digraph {} {{\n  label={};\n  labelloc=t;\n  node [fontname=\"sans-serif\", shape=box, style=rounded];\n  \
         edge [fontname=\"sans-serif\", fontsize=10];\n",
        quoted("bringup"),
        quoted(&graph.title)
    );
    for (index, item) in graph.boxes.iter().enumerate() {
        let mut lines = vec![item.title.clone()];
        lines.extend(item.lines.iter().cloned());
        lines.push(item.when.to_owned());
        let shape = match item.kind {
            Kind::Carrier => ", shape=ellipse",
            Kind::Unit => ", style=\"rounded,bold\"",
            Kind::Phase => "",
            Kind::Gate => ", shape=hexagon, style=bold",
        };
        let _ = writeln!(text, "  n{index} [label={}{shape}];", quoted(&lines.join("\n")));
    }
    for arrow in &graph.arrows {
        let _ = writeln!(text, "  n{} -> n{} [label={}];", arrow.from, arrow.to, quoted(arrow.label));
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
