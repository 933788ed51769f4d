//! `bringup-node bootstrap` beside a script like the one of EKS' images, called with the same words.
//!
//! Both run in one small container with a real systemd, a metadata service and an EC2 of its own, in turns; what they leave
//! for kubelet is compared after each turn. What is compared, and what not, stands in docs/measured.md.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts processes, reads files and prints"
)]

mod container;

use serde_json::Value;

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let figures = container::compared(&container::agent()?, &["bootstrap", "agent"], &[])?;
    print(&figures);
    Ok(())
}

fn print(figures: &Value) {
    let figure = |who: &str, what: &str| figures[who][what].as_f64().unwrap_or(f64::NAN);
    println!("{:<36} {:>12} {:>12} {:>8}", "", "script", "agent", "ratio");
    let row = |name: &str, what: &str, unit: &str, digits: usize| {
        let [script, agent] = ["script", "agent"].map(|who| figure(who, what));
        let cell = |value: f64| format!("{value:.digits$}{unit}");
        let ratio = if agent > 0.0 { format!("{:.1}x", script / agent) } else { "-".to_owned() };
        println!("{name:<36} {:>12} {:>12} {ratio:>8}", cell(script), cell(agent));
    };
    row("child processes", "children", "", 0);
    row("programs executed by them", "programs", "", 0);
    row("metadata requests", "requests", "", 0);
    row("CPU, with children", "cpu", " ms", 1);
    row("its start to kubelet's start", "start", " ms", 1);
    row("largest process", "largest", " KiB", 0);
    let aims = [
        ("child processes", "none", figure("agent", "children") == 0.0),
        ("metadata requests", "at most 4", figure("agent", "requests") <= 4.0),
        ("CPU", "20 times less", figure("script", "cpu") >= 20.0 * figure("agent", "cpu")),
    ];
    println!();
    for (name, aim, met) in aims {
        println!("{name:<24} {aim:<20} {}", if met { "reached" } else { "not reached" });
    }
}
