//! Names that only a stack has values for, left in scripts: a shell finds nothing under them.

use bringup_diag::Span;

use crate::codes;
use crate::tell::Teller;

const OPENS: &str = "${AWS::";

/// Tells of the names in a script that have come into its steps, each with its line.
pub(super) fn tell_of_open(script: &str, steps: &[&str], place: &dyn Fn(u32) -> Span, tell: &mut Teller<'_>) {
    for (line, number) in script.lines().zip(1_u32..) {
        let kept = line.trim().trim_end_matches('\\').trim_end();
        if kept.starts_with('#') || !steps.iter().any(|step| step.contains(kept)) {
            continue;
        }
        for name in names(kept) {
            let message =
                format!("`AWS::{name}` is known only to the stack: this step runs with nothing in its place");
            let hint = "write what an instance got in place of it";
            tell.warning(codes::FIELD_DIFFERS, place(number), message, hint);
        }
    }
}

/// The names in a line, each once.
fn names(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for rest in line.split(OPENS).skip(1) {
        let Some((name, _)) = rest.split_once('}') else { continue };
        if !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric())
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}
