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

/// What one run did.
struct Work {
    took: Duration,
    bytes: usize,
}

fn main() -> anyhow::Result<()> {
    // `cargo test` builds benchmarks too and runs them with this flag: a single small run then.
    let quick = std::env::args().any(|argument| argument == "--test");
    let sizes: &[usize] = if quick { &[1] } else { &[1, 100, 10_000] };
    println!("{:>8} {:>12} {:>14} {:>12}", "groups", "best of", "milliseconds", "per group");
    let mut per_group = Vec::new();
    for &groups in sizes {
        let text = document_of(groups);
        let runs = if quick { 1 } else { (2000 / groups).clamp(5, 200) };
        let mut best = Duration::MAX;
        let mut bytes = 0;
        for _ in 0..runs {
            let work = compile_all(&text, groups)?;
            best = best.min(work.took);
            bytes = work.bytes;
        }
        let each = best.as_secs_f64() * 1e6 / f64::from(u32::try_from(groups)?);
        per_group.push(each);
        println!(
            "{groups:>8} {runs:>12} {:>14.2} {each:>9.1} µs   {bytes} bytes out",
            best.as_secs_f64() * 1e3
        );
    }
    if let [_, hundred, many] = per_group[..] {
        println!("growth from 100 to 10,000 groups, per group: {:.2} (1.00 is linear)", many / hundred);
    }
    Ok(())
}

fn compile_all(text: &str, groups: usize) -> anyhow::Result<Work> {
    let start = Instant::now();
    let read = bringup_spec::read("many.yaml", text);
    let document = read.documents.first().context("the document does not compile")?;
    let files = bringup_plan::LocalFiles::default();
    let mut bytes = 0;
    for (index, (path, group)) in document.groups().enumerate() {
        let compiled = bringup_plan::compile(document, index, &files);
        let plan = compiled.plan.with_context(|| format!("group {index}: {:?}", compiled.findings))?;
        bytes += plan.to_json().len();
        let load = Load::new(document, path, group, &plan, &[]);
        for carrier in carriers_of(group) {
            let rendered = load.render(carrier);
            ensure!(
                !rendered.findings.has_errors() && rendered.form == Form::Plain,
                "group {index}: {:?}",
                rendered.findings
            );
            bytes += rendered.bytes.len();
        }
    }
    let took = start.elapsed();
    ensure!(bytes > groups * 1000, "plans and carriers are suspiciously small");
    Ok(Work { took, bytes })
}
