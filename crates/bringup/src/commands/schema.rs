//! `bringup schema`

use crate::Terminal;
use crate::arguments::Schema;
use crate::catalogue::schemas;
use crate::outcome::{Stop, Verdict};

pub(crate) fn execute(arguments: &Schema, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let schemas = schemas();
    let Some(name) = &arguments.name else {
        for (name, schema) in &schemas {
            let title = schema.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
            terminal.data(format!("{name:<10}{title}\n").as_bytes())?;
        }
        return Ok(Verdict::Good);
    };
    let Some((_, schema)) = schemas.iter().find(|(known, _)| known == name) else {
        let names: Vec<String> = schemas.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(Stop::input(format!("there is no schema `{name}`"))
            .with_hint(format!("write one of {}", names.join(", "))));
    };
    terminal.json(schema)?;
    Ok(Verdict::Good)
}
