//! 1, 100 and 10,000 different node groups, from the text of the document to the bytes of plans and plain carriers, on one core.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use bringup_bench::document_of;
use bringup_carry::{Form, Load, carriers_of};

/// What one run did, and how long its stages took.
#[derive(Default)]
struct Work {
    read: Duration,
    compile: Duration,
    render: Duration,
    bytes: usize,
}

impl Work {
    fn whole(&self) -> Duration {
        self.read + self.compile + self.render
    }
}

fn main() -> anyhow::Result<()> {
    // `cargo test` builds benchmarks too and runs them with this flag: a single small run then.
    let quick = std::env::args().any(|argument| argument == "--test");
    // A profiler wants one size only: `cargo bench --bench groups -- 300`.
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes: &[usize] = match asked.as_slice() {
        [] if quick => &[1],
        [] => &[1, 100, 10_000],
        asked => asked,
    };
    println!(
        "{:>7} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "groups", "best of", "read", "compile", "render", "whole", "per group", "bytes out"
    );
    let mut per_group = Vec::new();
    for &groups in sizes {
        let text = document_of(groups);
        let runs = if quick { 1 } else { (2000 / groups).clamp(5, 200) };
        let mut best = compile_all(&text, groups)?;
        for _ in 1..runs {
            let work = compile_all(&text, groups)?;
            if work.whole() < best.whole() {
                best = work;
            }
        }
        let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        let each = best.whole().as_secs_f64() * 1e6 / f64::from(u32::try_from(groups)?);
        per_group.push(each);
        println!(
            "{groups:>7} {runs:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}",
            milliseconds(best.read),
            milliseconds(best.compile),
            milliseconds(best.render),
            milliseconds(best.whole()),
            format!("{each:.1} µs"),
            best.bytes
        );
    }
    if let [_, hundred, many] = per_group[..] {
        println!("growth from 100 to 10,000 groups, per group: {:.2} (1.00 is linear)", many / hundred);
    }
    Ok(())
}

fn compile_all(text: &str, groups: usize) -> anyhow::Result<Work> {
    let mut work = Work::default();
    let start = Instant::now();
    let read = bringup_spec::read("many.yaml", text);
    let document = read.documents.first().context("the document does not compile")?;
    // What `build` checks before it compiles anything belongs to the time.
    let checked = bringup_plan::check_document(document);
    ensure!(!read.findings.has_errors() && !checked.has_errors(), "{:?}{checked:?}", read.findings);
    work.read = start.elapsed();
    let files = bringup_plan::LocalFiles::default();
    for (index, (path, group)) in document.groups().enumerate() {
        let start = Instant::now();
        let compiled = bringup_plan::compile(document, index, &files);
        let plan = compiled.plan.with_context(|| format!("group {index}: {:?}", compiled.findings))?;
        let compiled_at = Instant::now();
        let load = Load::new(document, path, group, &plan, &[]);
        work.bytes += load.plan_json().len();
        for carrier in carriers_of(document, group) {
            let rendered = load.render(carrier);
            let plain = !rendered.findings.has_errors() && rendered.form == Form::Plain;
            ensure!(plain, "group {index}: {:?}", rendered.findings);
            work.bytes += rendered.bytes.len();
        }
        work.compile += compiled_at - start;
        work.render += compiled_at.elapsed();
    }
    ensure!(work.bytes > groups * 1000, "plans and carriers are suspiciously small");
    Ok(work)
}
