//! What a build says on a terminal: a few lines for each group, within eighty columns.

use std::fmt::Write as _;

use bringup_diag::Severity;

use crate::terminal::Paint;
use crate::view::{BudgetView, GroupView, counted, grouped};

/// So many groups are shown; the report has all.
const MOST_GROUPS: usize = 20;
const BAR_WIDTH: usize = 20;

/// The groups, each with its carriers and their sizes.
pub(crate) fn summary(groups: &[GroupView], paint: Paint) -> String {
    let mut text = String::new();
    let mut cluster = None;
    for group in groups.iter().take(MOST_GROUPS) {
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
        let _ = writeln!(text, "  {}  {}", paint.strong(&plan.group), facts.join(", "));
        for carrier in &group.carriers {
            let size = match &carrier.budget {
                Some(budget) => bar(budget, paint),
                None => format!("{:BAR_WIDTH$}  {} bytes", "", grouped(carrier.size)),
            };
            let _ = writeln!(text, "    {:<19}  {size}", carrier.kind);
        }
    }
    if groups.len() > MOST_GROUPS {
        let _ = writeln!(text, "  and {} more node groups", grouped(groups.len() - MOST_GROUPS));
    }
    text
}

fn bar(budget: &BudgetView, paint: Paint) -> String {
    let filled = (budget.percent().min(100) * BAR_WIDTH).div_ceil(100);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR_WIDTH - filled));
    let amount = format!("{} of {} bytes", grouped(budget.used), grouped(budget.limit));
    if budget.is_over() {
        return format!("{}  {amount}, {}", paint.error(&bar), paint.error("over"));
    }
    let bar = if budget.percent() > 90 { paint.warning(&bar) } else { paint.good(&bar) };
    format!("{bar}  {amount}")
}
