//! A timeline as a page that needs nothing else.

use std::fmt::Write as _;

use super::{escaped, svg};
use crate::{KubeletKind, Outcome, Verdict};

const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#fbfbf9;--sheet:#fff;--ink:#1d2430;--soft:#5b6575;--line:#dcdfe4;--good:#17805c;--bad:#b3261e;--wait:#946200}\
@media(prefers-color-scheme:dark){:root{--ground:#14171c;--sheet:#1b1f26;--ink:#e4e8ee;--soft:#9aa5b4;--line:#333a45;--good:#4cc79b;--bad:#ff8a80;--wait:#f0be5a}}\
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\
main{max-width:1180px;margin:0 auto;padding:32px 28px 64px}h1{font-size:26px;margin:0}.lead{color:var(--soft);margin:2px 0 18px}\
.good{color:var(--good)}.bad{color:var(--bad)}.wait{color:var(--wait)}\
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:0 0 20px}.tile{background:var(--sheet);border:1px solid var(--line);border-radius:8px;padding:8px 16px}\
.tile b{display:block;font-size:18px}.tile span{color:var(--soft);font-size:13px}\
pre{background:var(--sheet);border:1px solid var(--line);border-radius:8px;padding:8px 12px;overflow-x:auto}\
.picture{background:var(--sheet);border:1px solid var(--line);border-radius:10px;overflow-x:auto;padding:6px 0}.picture svg{display:block;max-width:100%;height:auto}\
details{margin-top:20px}summary{cursor:pointer}table{border-collapse:collapse;width:100%;font-size:13px;margin-top:8px;background:var(--sheet)}\
th{color:var(--soft);text-align:left;font-weight:600}th,td{padding:3px 10px;border-bottom:1px solid var(--line);vertical-align:top}td:first-child,td:nth-child(2){text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}";

/// The page.
pub fn page(outcome: &Outcome) -> String {
    let class = match outcome.verdict {
        Verdict::CameUp if outcome.passed_over.is_empty() && outcome.unseen.is_empty() => "good",
        Verdict::CameUp | Verdict::NotYet => "wait",
        Verdict::Failed => "bad",
    };
    let verdict = escaped(&outcome.told()).replacen('t', "T", 1);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{verdict}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1 class=\"{class}\">{verdict}</h1>\n\
         <p class=\"lead\">on {}{}</p>\n<div class=\"tiles\">\n",
        escaped(&outcome.os),
        match outcome.stand_ins.as_slice() {
            [] => String::new(),
            names => format!("; stand-ins for {}", escaped(&names.join(", "))),
        }
    );
    let boots = outcome.metadata_requests.len();
    let boots_word = if boots == 1 { "boot" } else { "boots" };
    let boots = boots.to_string();
    let order = if outcome.agrees { "as planned" } else { "not as planned" };
    let kubelet = if outcome.kubelet == KubeletKind::Real { "real" } else { "a stand-in" };
    let asked: Vec<String> =
        outcome.metadata_requests.iter().map(|requests| requests.until_gate.to_string()).collect();
    for (value, what) in [
        (order, "order"),
        (kubelet, "kubelet"),
        (boots.as_str(), boots_word),
        (asked.join(", ").as_str(), "metadata requests until the gate"),
    ] {
        let _ = writeln!(text, "<div class=\"tile\"><b>{}</b><span>{what}</span></div>", escaped(value));
    }
    text.push_str("</div>\n");
    for told in &outcome.disagreements {
        let _ = writeln!(text, "<p class=\"bad\">{}</p>", escaped(told));
    }
    for (told, one) in outcome.passed() {
        let _ = writeln!(text, "<p class=\"bad\">`{}` {}</p>", escaped(&one.what), escaped(&told));
        if !one.tail.is_empty() {
            let _ = writeln!(text, "<pre>{}</pre>", escaped(&one.tail));
        }
    }
    let _ = writeln!(text, "<div class=\"picture\">\n{}</div>", svg(&outcome.events));
    let _ = writeln!(
        text,
        "<details><summary>All {} events</summary>\n<table>\n<tr><th>boot</th><th>ms</th><th>who</th><th>step</th><th>what</th><th>why</th></tr>",
        outcome.events.len()
    );
    let start = outcome.events.first().map_or(0, |event| event.at_ms);
    for event in &outcome.events {
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&event.boot),
            event.at_ms.saturating_sub(start),
            escaped(&event.actor),
            escaped(&event.step),
            escaped(&event.event),
            escaped(&event.why)
        );
    }
    text.push_str("</table>\n</details>\n</main>\n</body>\n</html>\n");
    text
}
