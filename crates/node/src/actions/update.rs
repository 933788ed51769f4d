//! Updates the operating system, with its own tool.

use bringup_progress::{Failure, FailureKind, Success};
use bringup_spec::OsFamily;
use bringup_systemd::Systemd;

use super::{Doing, Stopped, install};

/// Updates all packages but those that are held back.
pub(super) fn update(doing: &Doing<'_>, hold: &[String]) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    if doing.plan.os == OsFamily::Flatcar {
        return Err(Failure::new(
            FailureKind::Operator,
            "this agent does not speak to Flatcar's update engine",
            "let Flatcar update itself, and take `update` out of the document",
        )
        .into());
    }
    let tool = install::tool(doing)?;
    for command in tool.refresh().into_iter().chain(tool.update(hold)) {
        install::run_tool(doing, command)?;
    }
    Systemd::connect()?.reload()?;
    Ok(Success::default())
}
