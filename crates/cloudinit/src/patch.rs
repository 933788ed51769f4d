//! JSON patches (RFC 6902), which `#cloud-config-jsonp` parts apply to what was merged before them.

use serde_json::Value as Json;

use crate::data::{Datum, Key, Value};
use crate::merge::Unmergeable;

/// The head line of such a part.
const HEAD: &str = "#cloud-config-jsonp";

/// What becomes of `config` by the patch in a part's text: all of it or nothing.
pub fn patched(config: &Datum, text: &str) -> Result<Datum, Unmergeable> {
    let text = text.trim_start();
    let json: Json = serde_json::from_str(text.strip_prefix(HEAD).unwrap_or(text))
        .map_err(|fault| Unmergeable(format!("not a JSON patch: {fault}")))?;
    let operations = json.as_array().ok_or_else(|| Unmergeable("a JSON patch is a list".to_owned()))?;
    let mut config = config.clone();
    for operation in operations {
        apply(&mut config, operation)?;
    }
    Ok(config)
}

fn apply(config: &mut Datum, operation: &Json) -> Result<(), Unmergeable> {
    let field = |name: &str| {
        operation.get(name).ok_or_else(|| Unmergeable(format!("an operation of the patch has no `{name}`")))
    };
    let pointer = |name: &str| -> Result<Vec<String>, Unmergeable> {
        let text = field(name)?.as_str().unwrap_or_default();
        pointer_steps(text).ok_or_else(|| Unmergeable(format!("`{text}` is no JSON pointer")))
    };
    let value = || field("value").cloned().map(Datum::from_json);
    let missing =
        |steps: &[String]| Unmergeable(format!("the patch finds nothing at `/{}`", steps.join("/")));
    match field("op")?.as_str().unwrap_or_default() {
        "add" => add(config, &pointer("path")?, value()?),
        "remove" => remove(config, &pointer("path")?).map(drop),
        "replace" => {
            let path = pointer("path")?;
            *find(config, &path).ok_or_else(|| missing(&path))? = value()?;
            Ok(())
        }
        "move" => {
            let moved = remove(config, &pointer("from")?)?;
            add(config, &pointer("path")?, moved)
        }
        "copy" => {
            let from = pointer("from")?;
            let copied = find(config, &from).ok_or_else(|| missing(&from))?.clone();
            add(config, &pointer("path")?, copied)
        }
        "test" => {
            let path = pointer("path")?;
            let found = find(config, &path).ok_or_else(|| missing(&path))?;
            if unplaced(found) == value()? {
                Ok(())
            } else {
                Err(Unmergeable(format!("the patch's test at `/{}` fails", path.join("/"))))
            }
        }
        other => Err(Unmergeable(format!("the patch knows no operation `{other}`"))),
    }
}

fn pointer_steps(text: &str) -> Option<Vec<String>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    Some(text.strip_prefix('/')?.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

fn find<'data>(config: &'data mut Datum, steps: &[String]) -> Option<&'data mut Datum> {
    let Some((step, rest)) = steps.split_first() else { return Some(config) };
    let next = match &mut config.value {
        Value::Map(pairs) => pairs
            .iter_mut()
            .find(|(key, _)| matches!(key, Key::Text(key) if key == step))
            .map(|(_, value)| value),
        Value::List(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
        _ => None,
    }?;
    find(next, rest)
}

fn parent<'data, 'steps>(
    config: &'data mut Datum,
    steps: &'steps [String],
) -> Result<(&'data mut Datum, &'steps str), Unmergeable> {
    let nowhere = || Unmergeable(format!("the patch finds nothing above `/{}`", steps.join("/")));
    let (last, above) = steps.split_last().ok_or_else(nowhere)?;
    Ok((find(config, above).ok_or_else(nowhere)?, last))
}

fn add(config: &mut Datum, steps: &[String], value: Datum) -> Result<(), Unmergeable> {
    if steps.is_empty() {
        *config = value;
        return Ok(());
    }
    let (parent, last) = parent(config, steps)?;
    match &mut parent.value {
        Value::Map(pairs) => crate::data::set(pairs, Key::Text(last.to_owned()), value),
        Value::List(items) if last == "-" => items.push(value),
        Value::List(items) => {
            let index = last.parse::<usize>().ok().filter(|index| *index <= items.len());
            items.insert(index.ok_or_else(|| Unmergeable(format!("the list has no index `{last}`")))?, value);
        }
        _ => return Err(Unmergeable(format!("nothing can be added at `/{}`", steps.join("/")))),
    }
    Ok(())
}

fn remove(config: &mut Datum, steps: &[String]) -> Result<Datum, Unmergeable> {
    let missing = || Unmergeable(format!("the patch finds nothing at `/{}`", steps.join("/")));
    let (parent, last) = parent(config, steps)?;
    match &mut parent.value {
        Value::Map(pairs) => {
            let index = pairs.iter().position(|(key, _)| matches!(key, Key::Text(key) if key == last));
            Ok(pairs.remove(index.ok_or_else(missing)?).1)
        }
        Value::List(items) => {
            let index = last.parse::<usize>().ok().filter(|index| *index < items.len());
            Ok(items.remove(index.ok_or_else(missing)?))
        }
        _ => Err(missing()),
    }
}

fn unplaced(datum: &Datum) -> Datum {
    Datum::unplaced(match &datum.value {
        Value::List(items) => Value::List(items.iter().map(unplaced).collect()),
        Value::Map(pairs) => {
            Value::Map(pairs.iter().map(|(key, value)| (key.clone(), unplaced(value))).collect())
        }
        other => other.clone(),
    })
}
