//! What a build says on a terminal: a few lines for each group, within eighty columns.

use std::fmt::Write as _;

use bringup_carry::PartSize;
use bringup_diag::Severity;

use crate::terminal::Paint;
use crate::view::{BudgetView, GroupView, counted, grouped};

/// Groups are shown until so many lines are full; the report has all.
const MOST_LINES: usize = 18;
const BAR_WIDTH: usize = 20;
/// Eighty columns without the indent.
const LINE_WIDTH: usize = 74;

/// The groups, each with its carriers and their sizes.
pub(crate) fn summary(groups: &[GroupView], paint: Paint) -> String {
    let mut text = String::new();
    let mut cluster = None;
    let mut shown = 0;
    for group in groups {
        // A bar for each carrier, and a line on what is largest in it.
        let needed = 1 + group.carriers.len();
        if shown > 0 && text.lines().count() + needed > MOST_LINES {
            break;
        }
        shown += 1;
        let plan = &group.plan;
        if cluster != Some(&plan.cluster) {
            let _ = writeln!(text, "{}  Kubernetes {}", paint.strong(&plan.cluster), plan.kubernetes);
            cluster = Some(&plan.cluster);
        }
        let mut facts = vec![
            plan.os.to_string(),
            plan.role.to_string(),
            counted(group.steps, "step"),
            counted(plan.facts.len(), "fact"),
        ];
        for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
            if group.count(severity) > 0 {
                facts.push(counted(group.count(severity), noun));
            }
        }
        let facts = facts.join(", ");
        let apart =
            if plan.group.chars().count() + facts.chars().count() > LINE_WIDTH { "\n    " } else { "  " };
        let _ = writeln!(text, "  {}{apart}{facts}", paint.strong(&plan.group));
        for carrier in &group.carriers {
            let size = match &carrier.budget {
                Some(budget) => bar(budget, paint),
                None => format!("{:BAR_WIDTH$}  {} bytes", "", grouped(carrier.size)),
            };
            let _ = writeln!(text, "    {:<19}  {size}", carrier.kind);
            if let Some(budget) = carrier.budget.as_ref().filter(|budget| budget.is_tight()) {
                let _ = writeln!(text, "      {}", paint.faint(&largest(budget)));
            }
        }
    }
    if groups.len() > shown {
        let _ = writeln!(text, "  and {} more node groups", grouped(groups.len() - shown));
    }
    text
}

/// What takes the room, as far as a line reaches.
fn largest(budget: &BudgetView) -> String {
    let mut pieces: Vec<&PartSize> = budget.parts.iter().flat_map(PartSize::leaves).collect();
    pieces.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    let mut line = "largest:".to_owned();
    for (index, piece) in pieces.iter().enumerate() {
        let next = format!("{} {} {}", if index > 0 { "," } else { "" }, piece.name, grouped(piece.bytes));
        if index > 0 && line.chars().count() + next.chars().count() > LINE_WIDTH {
            break;
        }
        line.push_str(&next);
    }
    line
}

fn bar(budget: &BudgetView, paint: Paint) -> String {
    let filled = (budget.percent().min(100) * BAR_WIDTH).div_ceil(100);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR_WIDTH - filled));
    let amount = format!("{} of {} bytes", grouped(budget.used), grouped(budget.limit));
    if budget.is_over() {
        return format!("{}  {amount}, {}", paint.error(&bar), paint.error("over"));
    }
    let bar = if budget.is_tight() { paint.warning(&bar) } else { paint.good(&bar) };
    format!("{bar}  {amount}")
}
