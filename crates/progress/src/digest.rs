//! What a step is to do, in one word: if the word is the same, so is the work.

use bringup_plan::{Action, PlacedBy, Plan, Unit, canonical_json, sha256_hex};
use serde::Serialize;

/// The action with what it takes from elsewhere in the plan.
#[derive(Serialize)]
struct Input<'a> {
    action: &'a Action,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    units: Vec<&'a Unit>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    certificate_authorities: &'a [String],
}

/// The digest of a step: SHA-256 of the canonical JSON of its action with facts filled in, so that a changed instance
/// type redoes what depends on it. Secrets are in it by reference only.
///
/// How failures are met and when a step is due is not part of it, nor are the plan's variables: another timeout or
/// another proxy is no reason to run a program again.
pub fn digest(filled_in: &Action, plan: &Plan) -> String {
    let mut input = Input { action: filled_in, units: Vec::new(), certificate_authorities: &[] };
    match filled_in {
        Action::PlaceUnits => {
            input.units = plan.units.iter().filter(|unit| unit.placed_by == PlacedBy::Agent).collect();
        }
        Action::TrustAuthorities { .. } => input.certificate_authorities = &plan.certificate_authorities,
        _ => {}
    }
    sha256_hex(canonical_json(&input).as_bytes())
}
