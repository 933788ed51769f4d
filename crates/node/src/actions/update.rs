//! Updates the operating system, with its own tool: the packages' manager, or Flatcar's update engine.

use bringup_progress::{Failure, FailureKind, Success};
use bringup_spec::OsFamily;
use bringup_systemd::{BusFault, Systemd, UpdateEngine, Updated};

use super::{Doing, Stopped, install};

/// Updates all packages but those that are held back.
pub(super) fn update(doing: &Doing<'_>, hold: &[String]) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    if doing.plan.os == OsFamily::Flatcar {
        return by_engine(UpdateEngine::connect()?.update(doing.deadline()));
    }
    let tool = install::tool(doing)?;
    for command in tool.refresh().into_iter().chain(tool.update(hold)) {
        install::run_tool(doing, command)?;
    }
    Systemd::connect()?.reload()?;
    Ok(Success::default())
}

/// What the end of an update by the engine means. Whether it needs a reboot the engine itself tells, when it comes to that.
fn by_engine(ended: Result<Updated, BusFault>) -> Result<Success, Stopped> {
    let see = "see `journalctl --unit update-engine.service`";
    match ended {
        Ok(Updated::Current | Updated::NeedsReboot { .. }) => Ok(Success::default()),
        Ok(Updated::Failed { during }) => {
            let why = match during.as_str() {
                "UPDATE_STATUS_IDLE" => "the update engine was asked for an update and did not begin".to_owned(),
                during => format!("the update engine had an error (after `{during}`)"),
            };
            Err(Failure::new(FailureKind::Transient, why, see).into())
        }
        Ok(Updated::Late { during }) => {
            Err(Stopped::TimedOut { tail: format!("the update engine says `{during}`\n") })
        }
        Err(fault) if fault.is("ServiceUnknown") || fault.is("NameHasNoOwner") => Err(Failure::new(
            FailureKind::Operator,
            "there is no update engine on this machine's bus",
            "start `update-engine.service`, or take `update` out of the document; the agent goes on by itself",
        )
        .into()),
        Err(fault) => Err(fault.into()),
    }
}

#[cfg(test)]
mod tests {
    use bringup_progress::FailureKind;
    use bringup_systemd::{BusFault, Updated};

    use super::{Stopped, by_engine};

    #[test]
    fn an_error_of_the_engine_is_tried_again_and_silence_is_not_success() {
        let during = |operation: &str| format!("UPDATE_STATUS_{operation}");
        assert!(by_engine(Ok(Updated::Current)).is_ok());
        assert!(by_engine(Ok(Updated::NeedsReboot { version: "1".to_owned() })).is_ok());
        let failed = |updated| match by_engine(updated) {
            Err(Stopped::Failed(failure)) => (failure.kind, failure.why),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            failed(Ok(Updated::Failed { during: during("DOWNLOADING") })),
            (
                FailureKind::Transient,
                "the update engine had an error (after `UPDATE_STATUS_DOWNLOADING`)".to_owned()
            )
        );
        let (kind, why) = failed(Ok(Updated::Failed { during: during("IDLE") }));
        assert_eq!(kind, FailureKind::Transient);
        assert_eq!(why, "the update engine was asked for an update and did not begin");
        let late = by_engine(Ok(Updated::Late { during: during("FINALIZING") }));
        assert!(matches!(late, Err(Stopped::TimedOut { tail }) if tail.contains("FINALIZING")));
        let name = "org.freedesktop.DBus.Error.ServiceUnknown".to_owned();
        let (kind, _) = failed(Err(BusFault::Error { name, message: String::new() }));
        assert_eq!(kind, FailureKind::Operator);
    }
}
