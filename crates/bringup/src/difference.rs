//! What changes on a node between two states.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bringup_diag::masked_lines;
use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff, capture_diff_slices};

use crate::node_state::{NodeState, StepState};
use crate::terminal::Paint;
use crate::user_data::PartState;

/// Everything that differs between two states.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// Single values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<Change>,
    /// Files, with a unified diff where both are texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<Change>,
    /// Units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) units: Vec<Change>,
    /// Steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<Change>,
    /// The operator's own parts of user-data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Change>,
    /// Templates, without the user-data in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) templates: Vec<Change>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Change {
    /// What: a path, a name.
    pub(crate) name: String,
    /// How.
    #[serde(rename = "change")]
    pub(crate) kind: Kind,
    /// What it was, in short, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old: Option<String>,
    /// What it is, in short, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new: Option<String>,
    /// A unified diff of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
}

/// How a thing differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Changed,
    /// It happens at another time.
    Moved,
}

impl Change {
    fn new(name: &str, kind: Kind, old: Option<String>, new: Option<String>) -> Self {
        let masked = |value: Option<String>| value.map(|value| masked_lines(&value).join("\n"));
        Self { name: name.to_owned(), kind, old: masked(old), new: masked(new), diff: None }
    }
}

impl Difference {
    /// What there is between two states.
    pub(crate) fn between(old: &NodeState, new: &NodeState) -> Self {
        let mut values = changes(&old.values, &new.values, Clone::clone, |_| None);
        if let (Some(old), Some(new)) = (&old.agent, &new.agent)
            && old != new
        {
            values.push(Change::new("agent", Kind::Changed, Some(old.clone()), Some(new.clone())));
        }
        Self {
            values,
            files: changes(
                &old.files,
                &new.files,
                |file| joined(&[&file.access, &file.source]),
                |file| file.text.as_deref(),
            ),
            units: changes(&old.units, &new.units, |unit| unit.state.clone(), |unit| Some(&unit.text)),
            steps: step_changes(&old.steps, &new.steps),
            parts: match (&old.parts, &new.parts) {
                (Some(old), Some(new)) => part_changes(old, new),
                _ => Vec::new(),
            },
            templates: match (&old.templates, &new.templates) {
                (Some(old), Some(new)) => changes(old, new, |_| String::new(), |text| Some(text)),
                _ => Vec::new(),
            },
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.values, &self.files, &self.units, &self.steps, &self.parts, &self.templates]
            .iter()
            .all(|changes| changes.is_empty())
    }

    /// For people.
    pub(crate) fn to_text(&self, paint: Paint) -> String {
        let mut text = String::new();
        for (title, changes) in [
            ("values", &self.values),
            ("steps", &self.steps),
            ("units", &self.units),
            ("files", &self.files),
            ("your parts", &self.parts),
            ("launched by", &self.templates),
        ] {
            if changes.is_empty() {
                continue;
            }
            let _ = writeln!(text, "  {}", paint.strong(title));
            for change in changes {
                write_change(&mut text, change, paint);
            }
        }
        text
    }
}

fn joined(words: &[&str]) -> String {
    words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

fn changes<T: PartialEq>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
    shown: impl Fn(&T) -> String,
    text: impl Fn(&T) -> Option<&str>,
) -> Vec<Change> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let short = |value: &T| Some(shown(value)).filter(|text| !text.is_empty());
        let mut change = match (old.get(name), new.get(name)) {
            (Some(one), Some(other)) if one == other => continue,
            (Some(one), Some(other)) => {
                let (before, after) = (short(one), short(other));
                if before == after {
                    Change::new(name, Kind::Changed, None, None)
                } else {
                    Change::new(name, Kind::Changed, before, after)
                }
            }
            (Some(one), None) => Change::new(name, Kind::Removed, short(one), None),
            (None, Some(other)) => Change::new(name, Kind::Added, None, short(other)),
            (None, None) => continue,
        };
        let before = old.get(name).and_then(&text).unwrap_or_default();
        let after = new.get(name).and_then(&text).unwrap_or_default();
        if before != after {
            change.diff = Some(unified(before, after));
        }
        found.push(change);
    }
    found
}

/// Parts that came, went, changed or are in another order. Of several of one name each is told.
fn part_changes(old: &[PartState], new: &[PartState]) -> Vec<Change> {
    let by_name = |parts: &[PartState]| -> Vec<(String, PartState)> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let numbered = parts.iter().map(|part| {
            let count = seen.entry(&part.name).or_default();
            *count += 1;
            let name = if *count == 1 { part.name.clone() } else { format!("{} ({count})", part.name) };
            (name, part.clone())
        });
        numbered.collect()
    };
    let (before, after) = (by_name(old), by_name(new));
    let map = |parts: &[(String, PartState)]| parts.iter().cloned().collect::<BTreeMap<_, _>>();
    let (old, new) = (map(&before), map(&after));
    let mut found = changes(&old, &new, |part| part.kind.clone(), |part| Some(&part.text));
    let order = |parts: &[(String, PartState)]| -> Vec<String> {
        let in_both = parts.iter().map(|(name, _)| name);
        in_both.filter(|name| old.contains_key(*name) && new.contains_key(*name)).cloned().collect()
    };
    let (before, after) = (order(&before), order(&after));
    if before != after {
        let (from, to) = (before.join(", "), after.join(", "));
        found.push(Change::new("order of the parts", Kind::Moved, Some(from), Some(to)));
    }
    found
}

/// A unified diff without file names, secrets masked.
fn unified(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let (old_lines, new_lines) = (masked_lines(old), masked_lines(new));
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let _ = writeln!(text, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            // Masked as part of its text: a secret may stand on another line than its key.
            let masked = match (change.old_index(), change.new_index()) {
                (_, Some(index)) => new_lines.get(index),
                (Some(index), None) => old_lines.get(index),
                (None, None) => None,
            };
            let _ = writeln!(text, "{sign}{}", masked.map_or("", String::as_str));
        }
    }
    text
}

/// Steps that came, went, changed, or kept their work and changed their place.
fn step_changes(old: &[StepState], new: &[StepState]) -> Vec<Change> {
    let names = |steps: &[StepState]| steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>();
    let (before, after) = (names(old), names(new));
    let by_name = |steps: &'_ [StepState]| -> BTreeMap<String, StepState> {
        steps.iter().map(|step| (step.name.clone(), step.clone())).collect()
    };
    let (old_steps, new_steps) = (by_name(old), by_name(new));
    let mut out_of_place = BTreeSet::new();
    for operation in capture_diff_slices(Algorithm::Myers, &before, &after) {
        if operation.tag() != similar::DiffTag::Equal {
            out_of_place.extend(after.get(operation.new_range()).unwrap_or_default());
        }
    }
    let place = |names: &[String], name: &String| -> Option<String> {
        let index = names.iter().position(|other| other == name)?;
        match index.checked_sub(1).and_then(|before| names.get(before)) {
            Some(before) => Some(format!("after {before}")),
            None => Some("first".to_owned()),
        }
    };
    let mut found = Vec::new();
    for step in old.iter().filter(|step| !new_steps.contains_key(&step.name)) {
        found.push(Change::new(&step.name, Kind::Removed, Some(step.when.clone()), None));
    }
    for step in new {
        match old_steps.get(&step.name) {
            None => {
                let when = joined(&[&step.when, &place(&after, &step.name).unwrap_or_default()]);
                found.push(Change::new(&step.name, Kind::Added, None, Some(when)));
            }
            Some(was) if was.what != step.what => {
                let mut change = Change::new(&step.name, Kind::Changed, None, None);
                change.diff = Some(unified(&pretty(&was.what), &pretty(&step.what)));
                found.push(change);
            }
            Some(was) if out_of_place.contains(&step.name) || was.when != step.when => {
                let describe = |names: &[String], step: &StepState| {
                    Some(joined(&[&step.when, &place(names, &step.name).unwrap_or_default()]))
                };
                let (from, to) = (describe(&before, was), describe(&after, step));
                // Where only a neighbour came or went, the step itself has not moved.
                if was.when != step.when || order_changed(&before, &after, &step.name) {
                    found.push(Change::new(&step.name, Kind::Moved, from, to));
                }
            }
            Some(_) => {}
        }
    }
    found
}

/// Whether any step that both lists have is on the other side of `name` now.
fn order_changed(before: &[String], after: &[String], name: &String) -> bool {
    let preceding = |names: &[String], others: &BTreeSet<&String>| -> BTreeSet<String> {
        names
            .iter()
            .take_while(|other| *other != name)
            .filter(|other| others.contains(other))
            .cloned()
            .collect()
    };
    let in_both: BTreeSet<&String> = before.iter().filter(|name| after.contains(name)).collect();
    preceding(before, &in_both) != preceding(after, &in_both)
}

/// JSON over several lines; anything else as it is.
fn pretty(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .map_or_else(|_| text.to_owned(), |value| format!("{value:#}"))
}

/// A line that a terminal can show; JSON has it whole.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 240;
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(LONGEST).collect();
    cut.push('…');
    cut
}

fn write_change(text: &mut String, change: &Change, paint: Paint) {
    let (sign, name) = match change.kind {
        Kind::Added => ("+", paint.good(&change.name)),
        Kind::Removed => ("-", paint.error(&change.name)),
        Kind::Changed => ("~", paint.warning(&change.name)),
        Kind::Moved => (">", paint.warning(&change.name)),
    };
    let what = match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!(": {old} → {new}"),
        (Some(only), None) | (None, Some(only)) => format!(" ({only})"),
        (None, None) => String::new(),
    };
    let _ = writeln!(text, "    {sign} {name}{what}");
    for line in change.diff.iter().flat_map(|diff| diff.lines()) {
        let cut = shortened(line);
        let line = match line.chars().next() {
            Some('+') => paint.good(&cut),
            Some('-') => paint.error(&cut),
            Some('@') => paint.frame(&cut),
            _ => cut,
        };
        let _ = writeln!(text, "        {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, Kind};
    use crate::node_state::{FileState, NodeState, StepState};
    use crate::user_data::PartState;

    fn steps(names: &[&str]) -> NodeState {
        let step =
            |name: &&str| StepState { name: (*name).to_owned(), when: "configure".into(), what: "{}".into() };
        NodeState { steps: names.iter().map(step).collect(), ..NodeState::default() }
    }

    fn changes(old: &[&str], new: &[&str]) -> Vec<(String, Kind)> {
        let difference = Difference::between(&steps(old), &steps(new));
        difference.steps.into_iter().map(|change| (change.name, change.kind)).collect()
    }

    #[test]
    fn a_step_that_came_moves_no_other() {
        assert_eq!(changes(&["a", "b"], &["a", "x", "b"]), [("x".to_owned(), Kind::Added)]);
        assert_eq!(changes(&["a", "x", "b"], &["a", "b"]), [("x".to_owned(), Kind::Removed)]);
    }

    #[test]
    fn a_step_that_changed_its_place_is_told_once() {
        assert_eq!(changes(&["a", "b", "c"], &["b", "c", "a"]), [("a".to_owned(), Kind::Moved)]);
    }

    #[test]
    fn secrets_in_a_file_are_masked_in_its_diff() {
        let state = |text: &str| {
            let file = FileState { text: Some(text.to_owned()), ..FileState::default() };
            NodeState { files: [("/etc/x".to_owned(), file)].into(), ..NodeState::default() }
        };
        let difference = Difference::between(&state("a: 1\ntoken: old\n"), &state("a: 2\ntoken: new\n"));
        let diff = difference.files[0].diff.clone().unwrap();
        assert!(diff.contains("-a: 1\n") && diff.contains("+a: 2\n"), "{diff}");
        assert!(diff.contains("-token: ***\n") && !diff.contains("new"), "{diff}");
        let block = |secret: &str| state(&format!("token: |\n  {secret}\n"));
        let diff = Difference::between(&block("old"), &block("new")).files[0].diff.clone().unwrap();
        assert!(diff.contains('-') && !diff.contains("old") && !diff.contains("new"), "{diff}");
    }

    #[test]
    fn parts_are_compared_by_name_type_content_and_order() {
        let state = |parts: &[(&str, &str)]| {
            let part = |(name, text): &(&str, &str)| PartState {
                name: (*name).to_owned(),
                kind: "text/x-shellscript".to_owned(),
                text: (*text).to_owned(),
            };
            NodeState { parts: Some(parts.iter().map(part).collect()), ..NodeState::default() }
        };
        let told = |old: &[(&str, &str)], new: &[(&str, &str)]| -> Vec<(String, Kind)> {
            let difference = Difference::between(&state(old), &state(new));
            difference.parts.into_iter().map(|change| (change.name, change.kind)).collect()
        };
        let both = [("a", "1"), ("b", "2")];
        assert_eq!(told(&both, &[("a", "1")]), [("b".to_owned(), Kind::Removed)]);
        assert_eq!(told(&both, &[("a", "1"), ("b", "3")]), [("b".to_owned(), Kind::Changed)]);
        assert_eq!(told(&both, &[("b", "2"), ("a", "1")]), [("order of the parts".to_owned(), Kind::Moved)]);
        assert_eq!(told(&[("a", "1")], &[("a", "1"), ("a", "9")]), [("a (2)".to_owned(), Kind::Added)]);
        assert_eq!(told(&both, &both), []);
        let unknown = NodeState::default();
        assert!(Difference::between(&state(&both), &unknown).is_empty());
    }

    #[test]
    fn equal_states_do_not_differ() {
        assert!(Difference::between(&steps(&["a"]), &steps(&["a"])).is_empty());
    }
}
