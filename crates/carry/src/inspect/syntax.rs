//! Inputs that would be something if they could be parsed.

use bringup_diag::{Finding, Place, Position, Span};
use bringup_yaml::Limits;

use crate::codes;

/// Why an input that starts like JSON, or speaks of AWS' resources, is neither JSON nor YAML; with its text.
pub(super) fn fault<'text>(input: &str, bytes: &'text [u8]) -> Option<(Finding, &'text str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_json = start.starts_with('{');
    if !is_json && (start.starts_with("#!") || !text.contains("AWS::")) {
        return None;
    }
    let (message, span, hint) = match is_json.then(|| json_fault(text)) {
        Some(fault) => fault?,
        None => yaml_fault(text)?,
    };
    let kind = if is_json { "JSON" } else { "a template" };
    let finding =
        Finding::error(codes::SYNTAX, format!("this starts like {kind}, but cannot be read: {message}"))
            .at(Place::new(input, span))
            .hint(hint.unwrap_or_else(|| "correct it here, and inspect it again".to_owned()));
    Some((finding, text))
}

type Told = (String, Span, Option<String>);

fn yaml_fault(text: &str) -> Option<Told> {
    let fault = bringup_yaml::parse(text, Limits::default()).err()?;
    Some((fault.message, fault.span, fault.hint))
}

fn json_fault(text: &str) -> Option<Told> {
    let fault = serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).err()?;
    let message = fault.to_string();
    if message.starts_with("recursion limit") {
        // Ours is the lower limit, and is told with its number.
        return yaml_fault(text);
    }
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).max(1);
    let at = Position { line: number(fault.line()), column: number(fault.column()) };
    // The parser's own words end with the place.
    let words = message.split(" at line ").next().unwrap_or_default().to_owned();
    Some((words, Span { start: at, end: at }, None))
}
