//! What of a plan takes the room.

use bringup_plan::{Action, Unit, canonical_json};

use crate::budget::PartSize;
use crate::load::Load;
use crate::placed::{PLAN_PATH, known_bytes};

impl Load<'_> {
    /// The pieces of a carrier, and within them those of the plan where it is inside: whoever has to save room starts there.
    pub fn pieces(&self, parts: &[PartSize]) -> Vec<PartSize> {
        let piece = |part: &PartSize| {
            let inside =
                if part.name == PLAN_PATH { self.pieces_of_plan() } else { self.pieces(&part.inside) };
            PartSize { inside, ..part.clone() }
        };
        parts.iter().map(piece).collect()
    }

    /// The files and units of the plan, each as large as the person knows it, and all the rest as one.
    fn pieces_of_plan(&self) -> Vec<PartSize> {
        let files = self.plan.steps.iter().filter_map(|step| match &step.action {
            Action::WriteFile { path, content, .. } => {
                let known = known_bytes(content).map(|bytes| bytes.len());
                Some(PartSize::new(path, known.unwrap_or_else(|| canonical_json(content).len())))
            }
            _ => None,
        });
        let units = self.plan.units.iter().map(|unit| PartSize::new(&unit.name, unit_length(unit)));
        let mut pieces: Vec<PartSize> = files.chain(units).collect();
        let known: usize = pieces.iter().map(|piece| piece.bytes).sum();
        pieces.push(PartSize::new("the rest of the plan", self.plan_json().len().saturating_sub(known)));
        pieces
    }
}

/// The lines of a unit and of its drop-ins.
fn unit_length(unit: &Unit) -> usize {
    let own = unit.content.iter().map(String::len);
    own.chain(unit.drop_ins.values().map(String::len)).sum()
}
