//! `bringup completions`

use crate::Terminal;
use crate::arguments::Completions;
use crate::outcome::{Stop, Verdict};

pub(crate) fn execute(arguments: &Completions, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "bringup", &mut script);
    terminal.data(&script)?;
    Ok(Verdict::Good)
}
