//! `bringup-node explain`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use bringup_progress::{Range, State, decode};

use crate::arguments::Explain;
use crate::commands::up::{chosen, given, identity};
use crate::ended::Ended;
use crate::explain::{Explained, Item, Question, explain};
use crate::machine::Machine;
use crate::places;
use crate::teller::Teller;

/// Prints what `up` would do now.
pub(crate) fn execute(options: &Explain) -> Ended {
    let explained = match begin(options) {
        Ok(explained) => explained,
        Err(why) => {
            Teller::note(&why);
            return Ended::Wrong;
        }
    };
    let text = match options.output.as_str() {
        "json" => serde_json::to_string_pretty(&explained).unwrap_or_default() + "\n",
        _ => page(&explained),
    };
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    match (explained.changes(), explained.stops) {
        (true, _) => Ended::No,
        (false, Some(_)) => Ended::NotYet,
        (false, None) => Ended::Well,
    }
}

fn begin(options: &Explain) -> Result<Explained, String> {
    let machine = Machine::open(&options.place.root)
        .map_err(|fault| format!("cannot open `{}`: {fault}", options.place.root.display()))?;
    let plan = chosen(&machine, &options.config, options.plan.as_deref(), options.facts.as_deref());
    let plan = plan.map_err(|(_, why)| why)?;
    let given = given(options.facts.as_deref(), &plan, !options.config.is_empty())?;
    let bytes = machine.files().read(Path::new(places::JOURNAL)).map_err(|fault| fault.to_string())?;
    let decoded = decode(&bytes.unwrap_or_default()).map_err(|fault| fault.to_string())?;
    let question = Question {
        machine: &machine,
        plan: &plan,
        range: Range { from: None, until: options.until },
        given: given.as_ref(),
        identity: &identity(&machine, given.as_ref()),
    };
    Ok(explain(&question, State::fold(&decoded.records)))
}

fn tell(item: &Item, unshown: impl Fn(&str) -> String, text: &mut String) {
    let _ = writeln!(text, "{}", item.step);
    for what in &item.preview.does {
        let _ = writeln!(text, "  {what}");
    }
    for file in &item.preview.files {
        let _ = match &file.diff {
            Some(diff) => write!(text, "--- {path}\n+++ {path}\n{diff}", path = file.path),
            None => writeln!(text, "  {}", unshown(&file.path)),
        };
    }
}

fn page(explained: &Explained) -> String {
    let mut text = String::new();
    for item in explained.steps.iter().filter(|item| item.preview.changes()) {
        tell(item, |path| format!("writes `{path}`, which is not shown"), &mut text);
    }
    if !explained.changed.is_empty() {
        text.push_str("not as it was written, and left so; remove it to have it written again\n");
    }
    for item in &explained.changed {
        tell(item, |path| format!("`{path}` is another, which is not shown"), &mut text);
    }
    let looks = explained.steps.iter().filter(|item| !item.preview.changes()).count();
    let _ = match (explained.changes(), looks) {
        (false, 0) => writeln!(text, "nothing is to be done"),
        (_, 0) => Ok(()),
        (_, 1) => writeln!(text, "1 step would find everything as it should be"),
        (_, looks) => writeln!(text, "{looks} steps would find everything as it should be"),
    };
    if let Some(why) = &explained.stops {
        let _ = writeln!(text, "it would not get further: {why}");
    }
    text
}
