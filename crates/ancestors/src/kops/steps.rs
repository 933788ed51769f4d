//! Steps of a node group, for what kops or its users run.

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::tree::{Branch, list, plain, text};

/// How long a program may take that kops would wait for without end.
const TIMEOUT: &str = "1h";

/// A step that, like kops, goes on if the program fails.
pub(super) fn step(span: Span, name: &str) -> Branch {
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("timeout", text(span, TIMEOUT));
    step.put("attempts", plain(span, 1));
    step.put("onFailure", text(span, "continue"));
    step
}

/// A list of words.
pub(super) fn words(span: Span, words: &[&str]) -> Node {
    list(span, words.iter().map(|word| text(span, *word)).collect())
}
