//! The agent beside a shell script that brings the same node up as eksctl's design of 2019 describes it.
//!
//! Both run in one small container with a real systemd and a metadata service of its own, in turns; the same test of the
//! end state is made after each run. What is compared, and what not, stands in docs/measured.md.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts processes, reads files and prints"
)]

mod container;

use anyhow::Context as _;
use bringup_plan::LocalFiles;
use serde_json::Value;

/// What is wanted of the agent.
const AIMS: [(&str, &str); 6] = [
    ("child processes", "none"),
    ("metadata requests", "at most 4"),
    ("CPU", "5 times less"),
    ("bytes of the binary", "at most 5,000,000"),
    ("largest process", "at most 10 MiB"),
    ("gate on a later boot", "within 20 ms"),
];

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let agent = container::agent()?;
    let document = include_str!("agent/cluster.yaml");
    let figures = container::compared(&agent, &["agent"], &[("plan.json", plan(document)?)])?;
    print(&figures, agent.metadata()?.len());
    Ok(())
}

/// The plan of the document's only group.
fn plan(text: &str) -> anyhow::Result<String> {
    let read = bringup_spec::read("cluster.yaml", text);
    let document = read.documents.first().context("the document cannot be read")?;
    let compiled = bringup_plan::compile(document, 0, &LocalFiles::default());
    let plan = compiled.plan.context("the document does not compile")?;
    Ok(serde_json::to_string(&plan)?)
}

fn print(figures: &Value, bytes: u64) {
    let figure = |who: &str, what: &str| figures[who][what].as_f64().unwrap_or(f64::NAN);
    println!("{:<36} {:>12} {:>12} {:>12} {:>8}", "", "script", "agent", "later boot", "ratio");
    let row = |name: &str, what: &str, unit: &str, digits: usize| {
        let [script, agent, later] = ["script", "agent", "later"].map(|who| figure(who, what));
        let cell = |value: f64| format!("{value:.digits$}{unit}");
        let ratio = if agent > 0.0 { format!("{:.1}x", script / agent) } else { "-".to_owned() };
        println!("{name:<36} {:>12} {:>12} {:>12} {ratio:>8}", cell(script), cell(agent), cell(later));
    };
    row("its start to kubelet's start", "start", " ms", 1);
    row("its start to its end", "whole", " ms", 1);
    row("CPU, with children", "cpu", " ms", 2);
    row("child processes", "children", "", 0);
    row("metadata requests", "requests", "", 0);
    row("largest process", "largest", " KiB", 0);
    println!("{:<36} {:>12} {bytes:>12}", "bytes of the binary", "");
    let ratio = figure("script", "cpu") / figure("agent", "cpu");
    let met = [
        figure("agent", "children") + figure("later", "children") == 0.0,
        figure("agent", "requests") <= 4.0,
        ratio >= 5.0,
        bytes <= 5_000_000,
        figure("agent", "largest").max(figure("later", "largest")) <= 10.0 * 1024.0,
        figure("later", "whole") <= 20.0,
    ];
    println!();
    for ((name, aim), met) in AIMS.iter().zip(met) {
        println!("{:<24} {aim:<20} {}", name, if met { "reached" } else { "not reached" });
    }
}
