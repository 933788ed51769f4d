//! One cloud-config document.

use bringup_diag::Findings;
use bringup_yaml::{Value, to_yaml};

use crate::budget::PartSize;
use crate::first_stage::FirstStage;
use crate::load::Load;
use crate::user_parts;

/// The document and what its pieces take; or why one document cannot hold the operator's parts.
pub(crate) fn cloud_config(
    load: &Load<'_>,
    fetched: bool,
    findings: &mut Findings,
) -> Result<(Vec<u8>, Vec<PartSize>), String> {
    let own = user_parts::merged(load)?;
    let stage = FirstStage::of(load, fetched, findings);
    let (script, mut sizes) = stage.commands();
    let mut commands = vec![Value::String(script)];
    let mut pairs = vec![("bootcmd".to_owned(), Value::Null)];
    for (key, value) in own {
        match value {
            // Ours first, theirs behind it: nothing of theirs is lost, and ours does not wait for theirs.
            Value::List(items) if key == "bootcmd" => commands.extend(items),
            Value::Null if key == "bootcmd" => {}
            value => pairs.push((key, value)),
        }
    }
    let mut document = Value::Map(pairs);
    document.set("bootcmd", commands);
    let text = format!("#cloud-config\n{}", to_yaml(&document));
    let known: usize = sizes.iter().map(|size| size.bytes).sum();
    let rest = text.len().saturating_sub(known);
    let name = if load.parts.is_empty() { "frame" } else { "frame and own parts" };
    sizes.push(PartSize::new(name, rest));
    Ok((text.into_bytes(), sizes))
}
