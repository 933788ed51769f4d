//! How cloud-init merges one cloud-config into the next: its mergers with their options, and JSON patches.

use crate::data::{Datum, Key, Value, set};
use crate::mime::Headers;

/// The mergers of one part, tried in order: the first that knows a value's type merges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mergers(Vec<Merger>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Merger {
    kind: MergerKind,
    options: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergerKind {
    Dict,
    List,
    Str,
}

/// Why a part is not merged: cloud-init logs it and goes on without the part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmergeable(pub String);

impl Merger {
    fn new(name: &str, options: Vec<String>) -> Result<Self, Unmergeable> {
        let kind = match name.strip_prefix("m_").unwrap_or(name) {
            "dict" => MergerKind::Dict,
            "list" => MergerKind::List,
            "str" => MergerKind::Str,
            _ => return Err(Unmergeable(format!("there is no merger named `{name}`"))),
        };
        Ok(Self { kind, options })
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }

    fn recurses_into_lists(&self) -> bool {
        self.has("recurse_array") || self.has("recurse_list")
    }
}

impl Default for Mergers {
    /// A later part's key replaces an earlier one's whole.
    fn default() -> Self {
        let merger = |kind, options: &[&str]| Merger {
            kind,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        };
        Self(vec![
            merger(MergerKind::Dict, &["replace"]),
            merger(MergerKind::List, &[]),
            merger(MergerKind::Str, &[]),
        ])
    }
}

impl Mergers {
    /// Takes `merge_how` (or `merge_type`) out of a part's config and adds what its headers say.
    pub fn take(config: &mut Datum, headers: &Headers) -> Result<Self, Unmergeable> {
        let mut mergers = match take_key(config, "merge_how").or_else(|| take_key(config, "merge_type")) {
            Some(Datum { value: Value::Text(text), .. }) => from_text(&text)?,
            Some(Datum { value: Value::List(items), .. }) => {
                items.iter().map(from_item).collect::<Result<_, _>>()?
            }
            Some(Datum { value: Value::Map(_), .. }) => {
                return Err(Unmergeable("`merge_how` is a mapping, not a list of mappings".to_owned()));
            }
            Some(other) => {
                return Err(Unmergeable(format!(
                    "`merge_how` is {}, not a string or a list",
                    other.type_name()
                )));
            }
            None => Vec::new(),
        };
        // cloud-init looks the header up in a plain dictionary: case counts.
        let header = |name: &str| headers.iter().find(|(field, value)| *field == name && !value.is_empty());
        if let Some((_, value)) = header("Merge-Type").or_else(|| header("X-Merge-Type")) {
            mergers.extend(from_text(value)?);
        }
        Ok(if mergers.is_empty() { Self::default() } else { Self(mergers) })
    }

    /// Whether a key of a later part simply replaces the same key of an earlier one.
    pub fn replaces_keys(&self) -> bool {
        self.0
            .iter()
            .find(|merger| merger.kind == MergerKind::Dict)
            .is_some_and(|merger| merger.has("replace"))
    }

    /// Whether a list of a later part is joined to the same list of an earlier one.
    pub fn joins_lists(&self) -> bool {
        let of = |kind| self.0.iter().find(move |merger| merger.kind == kind);
        of(MergerKind::Dict).is_some_and(|dict| !dict.has("replace") && dict.recurses_into_lists())
            && of(MergerKind::List).is_some_and(|list| list.has("append") || list.has("prepend"))
    }

    /// What becomes of `old` when `new` is merged into it.
    pub fn merge(&self, old: &Datum, new: &Datum) -> Result<Datum, Unmergeable> {
        let wanted = match &old.value {
            Value::Map(_) => MergerKind::Dict,
            Value::List(_) => MergerKind::List,
            Value::Text(_) => MergerKind::Str,
            _ => return Ok(old.clone()),
        };
        let Some(merger) = self.0.iter().find(|merger| merger.kind == wanted) else { return Ok(old.clone()) };
        match &old.value {
            Value::Map(pairs) => self.merge_map(merger, old, pairs, new),
            Value::List(items) => self.merge_list(merger, old, items, new),
            Value::Text(text) => merge_text(merger, text, new),
            _ => Ok(old.clone()),
        }
    }

    fn merge_map(
        &self,
        rules: &Merger,
        old: &Datum,
        pairs: &[(Key, Datum)],
        new: &Datum,
    ) -> Result<Datum, Unmergeable> {
        let Value::Map(new_pairs) = &new.value else { return Ok(old.clone()) };
        let mut joined = pairs.to_vec();
        for (key, value) in new_pairs {
            let Some(before) = joined.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
            else {
                joined.push((key.clone(), value.clone()));
                continue;
            };
            if value.value == Value::Null && rules.has("allow_delete") {
                joined.retain(|(name, _)| name != key);
                continue;
            }
            let recurse = match &value.value {
                Value::List(_) => rules.recurses_into_lists(),
                Value::Text(_) => rules.has("recurse_str"),
                Value::Map(_) => true,
                _ => false,
            };
            let result = if rules.has("replace") {
                value.clone()
            } else if recurse {
                self.merge(&before, value)?
            } else {
                before
            };
            set(&mut joined, key.clone(), result);
        }
        Ok(Datum { value: Value::Map(joined), at: old.at })
    }

    fn merge_list(
        &self,
        rules: &Merger,
        old: &Datum,
        items: &[Datum],
        new: &Datum,
    ) -> Result<Datum, Unmergeable> {
        let method =
            ["append", "prepend", "replace", "no_replace"].into_iter().find(|method| rules.has(method));
        let method = method.unwrap_or("replace");
        if method == "replace" && new.items().is_none() {
            return Ok(new.clone());
        }
        let new_items = iterated(new)?;
        let mut joined = items.to_vec();
        match method {
            "append" => joined.extend(new_items),
            "prepend" => joined.splice(0..0, new_items).for_each(drop),
            // Equal indexes are joined; what the later list has beyond the earlier one's length is lost.
            _ => {
                for (slot, value) in joined.iter_mut().zip(&new_items) {
                    let recurse = match &value.value {
                        Value::List(_) => rules.recurses_into_lists(),
                        Value::Text(_) => rules.has("recurse_str"),
                        Value::Map(_) => rules.has("recurse_dict"),
                        _ => false,
                    };
                    if method == "no_replace" {
                        continue;
                    }
                    *slot = if recurse { self.merge(slot, value)? } else { value.clone() };
                }
            }
        }
        Ok(Datum { value: Value::List(joined), at: old.at })
    }
}

fn merge_text(merger: &Merger, text: &str, new: &Datum) -> Result<Datum, Unmergeable> {
    if !merger.has("append") {
        return Ok(new.clone());
    }
    let Value::Text(more) = &new.value else {
        return Err(Unmergeable(format!("{} cannot be appended to a string", new.type_name())));
    };
    Ok(Datum { value: Value::Text(format!("{text}{more}")), at: new.at })
}

/// What Python's `for` finds in a value.
fn iterated(value: &Datum) -> Result<Vec<Datum>, Unmergeable> {
    match &value.value {
        Value::List(items) => Ok(items.clone()),
        Value::Text(text) => Ok(text
            .chars()
            .map(|letter| Datum { value: Value::Text(letter.to_string()), at: value.at })
            .collect()),
        Value::Map(pairs) => Ok(pairs
            .iter()
            .map(|(key, _)| match key {
                Key::Text(text) | Key::Other(text) => {
                    Datum { value: Value::Text(text.clone()), at: value.at }
                }
            })
            .collect()),
        _ => Err(Unmergeable(format!("{} cannot be merged into a list", value.type_name()))),
    }
}

fn take_key(config: &mut Datum, key: &str) -> Option<Datum> {
    let Value::Map(pairs) = &mut config.value else { return None };
    let index = pairs.iter().position(|(name, _)| matches!(name, Key::Text(name) if name == key))?;
    let (_, value) = pairs.remove(index);
    (value.value != Value::Null).then_some(value)
}

/// `dict(replace)+list(append)+str()`, in any case, with dashes for underscores.
fn from_text(text: &str) -> Result<Vec<Merger>, Unmergeable> {
    let mut mergers = Vec::new();
    for piece in text.split('+') {
        let piece = piece.to_lowercase().trim().replace('-', "_");
        if piece.is_empty() {
            continue;
        }
        let malformed = || Unmergeable(format!("`{piece}` is not of the form `name(option,option)`"));
        let (name, rest) = piece.split_once('(').ok_or_else(malformed)?;
        let options = rest.strip_suffix(')').ok_or_else(malformed)?;
        let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !is_name {
            return Err(malformed());
        }
        let options =
            options.split(',').map(str::trim).filter(|option| !option.is_empty()).map(ToOwned::to_owned);
        mergers.push(Merger::new(name, options.collect())?);
    }
    Ok(mergers)
}

/// `{name: list, settings: [append]}` or `[list, append]`.
fn from_item(item: &Datum) -> Result<Merger, Unmergeable> {
    let option = |datum: &Datum| datum.python_str();
    match &item.value {
        Value::Map(_) => {
            let name = item.get("name").and_then(Datum::text);
            let name = name.ok_or_else(|| Unmergeable("a merger has no `name`".to_owned()))?;
            let settings = item.get("settings").and_then(Datum::items);
            let settings = settings
                .ok_or_else(|| Unmergeable(format!("the merger `{name}` has no list of `settings`")))?;
            Merger::new(name.replace('-', "_").trim(), settings.iter().map(option).collect())
        }
        Value::List(items) => match items.split_first() {
            Some((name, options)) => Merger::new(&name.python_str(), options.iter().map(option).collect()),
            None => Err(Unmergeable("a merger in `merge_how` is an empty list".to_owned())),
        },
        _ => Err(Unmergeable(format!(
            "`{}` in the list `merge_how` is read letter by letter, not as a merger",
            item.python_str()
        ))),
    }
}
