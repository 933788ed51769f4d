//! Sizes against limits, as bars.

use std::fmt::Write as _;

use super::escape::escaped;
use bringup_carry::PartSize;

use crate::view::{BudgetView, CarrierView, grouped};

/// So many pieces are told apart; the rest are one.
const MOST_PIECES: usize = 12;

/// One line with a small bar, for the table of groups.
pub(super) fn mini(carrier: &CarrierView) -> String {
    let Some(budget) = &carrier.budget else {
        return format!("{} <span class=\"quiet\">{} B</span>", carrier.kind, grouped(carrier.size));
    };
    let over = if budget.is_over() { " over" } else { "" };
    format!(
        "<span class=\"mini{over}\"><i style=\"width:{}%\"></i></span>{} <span class=\"quiet\">{} %</span>",
        budget.percent().min(100),
        carrier.kind,
        grouped(budget.percent()),
    )
}

/// The bars of a group's carriers, each with what it is made of.
pub(super) fn bars(html: &mut String, carriers: &[CarrierView]) {
    for carrier in carriers {
        let name =
            format!("{}<br><span class=\"quiet mono\">{}</span>", carrier.kind, escaped(&carrier.file));
        match &carrier.budget {
            Some(budget) => bar(html, &name, budget),
            None => {
                let _ = writeln!(
                    html,
                    "<div class=\"size\"><div>{name}</div><div class=\"quiet\">no limit</div><div class=\"amount\">{} bytes</div></div>",
                    grouped(carrier.size)
                );
            }
        }
    }
}

fn bar(html: &mut String, name: &str, budget: &BudgetView) {
    // Over the limit, the bar is what is used, and a mark shows how much of it would fit.
    let whole = budget.used.max(budget.limit).max(1);
    let pieces = pieces(budget);
    let total: usize = pieces.iter().map(|piece| piece.bytes).sum::<usize>().max(1);
    let over = if budget.is_over() { " over" } else { "" };
    let _ = write!(html, "<div class=\"size\"><div>{name}</div><div class=\"track{over}\">");
    for piece in &pieces {
        let _ = write!(
            html,
            "<i style=\"width:{}%\" title=\"{}: {} bytes\"></i>",
            hundredths(piece.bytes.saturating_mul(budget.used) / total, whole),
            escaped(&piece.name),
            grouped(piece.bytes),
        );
    }
    if budget.is_over() {
        let _ =
            write!(html, "<span class=\"limit\" style=\"left:{}%\"></span>", hundredths(budget.limit, whole));
    }
    let verdict = if budget.is_over() {
        format!("<span class=\"over-word\">{} bytes too many</span>", grouped(budget.used - budget.limit))
    } else {
        format!("{} left", grouped(budget.limit - budget.used))
    };
    let _ = writeln!(
        html,
        "</div><div class=\"amount\">{} of {} bytes ({} %)<br><span class=\"quiet\">{}: {verdict}</span></div></div>",
        grouped(budget.used),
        grouped(budget.limit),
        grouped(budget.percent()),
        escaped(&budget.whose),
    );
    if pieces.len() > 1 {
        listed(html, "parts", &pieces);
    }
    for piece in &pieces {
        inside(html, piece);
    }
}

/// What a piece is made of, and what those are.
fn inside(html: &mut String, piece: &PartSize) {
    if piece.inside.is_empty() {
        return;
    }
    let largest = largest(&piece.inside);
    let _ = write!(html, "<div class=\"inside\">in {}:", escaped(&piece.name));
    listed(html, "pieces", &largest);
    html.push_str("</div>\n");
    for piece in &largest {
        inside(html, piece);
    }
}

fn listed(html: &mut String, class: &str, pieces: &[PartSize]) {
    let _ = write!(html, "<div class=\"{class}\">");
    for piece in pieces {
        let _ = write!(html, "<span>{} {}</span>", escaped(&piece.name), grouped(piece.bytes));
    }
    html.push_str("</div>\n");
}

/// The pieces of the bar.
fn pieces(budget: &BudgetView) -> Vec<PartSize> {
    if budget.parts.is_empty() {
        return vec![PartSize { name: "all".to_owned(), bytes: budget.used, inside: Vec::new() }];
    }
    largest(&budget.parts)
}

/// The largest pieces in their order, and one for all others.
fn largest(pieces: &[PartSize]) -> Vec<PartSize> {
    if pieces.len() <= MOST_PIECES {
        return pieces.to_vec();
    }
    let mut sizes: Vec<usize> = pieces.iter().map(|piece| piece.bytes).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let least = sizes.get(MOST_PIECES - 1).copied().unwrap_or_default();
    let mut kept: Vec<PartSize> = Vec::new();
    let mut others = (0, 0);
    for piece in pieces {
        if piece.bytes >= least && kept.len() < MOST_PIECES {
            kept.push(piece.clone());
        } else {
            others = (others.0 + 1, others.1 + piece.bytes);
        }
    }
    kept.push(PartSize { name: format!("{} others", others.0), bytes: others.1, inside: Vec::new() });
    kept
}

/// A share in percent with two digits, by whole numbers: floating point differs between machines.
fn hundredths(part: usize, whole: usize) -> String {
    let share = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", share / 100, share % 100)
}
