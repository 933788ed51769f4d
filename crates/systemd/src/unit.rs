//! What the manager knows of a unit.

use crate::wire::Value;

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nothing, and it may.
    Inactive,
    /// It is being started.
    Activating,
    /// It runs, or has run and counts as running.
    Active,
    /// It is being stopped.
    Deactivating,
    /// It has failed.
    Failed,
    /// Something that this program does not know.
    Other,
}

impl Activity {
    pub(crate) fn read(text: &str) -> Self {
        match text {
            "inactive" => Self::Inactive,
            "activating" => Self::Activating,
            "active" | "reloading" | "refreshing" => Self::Active,
            "deactivating" => Self::Deactivating,
            "failed" => Self::Failed,
            _ => Self::Other,
        }
    }
}

/// What the manager knows of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitState {
    /// What it does.
    pub activity: Activity,
    /// The finer state, such as `running`, `exited`, `auto-restart`.
    pub sub_state: String,
    /// How it ended: `success`, `exit-code`, `signal`, `timeout` and so on.
    pub result: String,
    /// The main process, if there is one.
    pub main_process: Option<u32>,
    /// The code or the signal with which the main process ended.
    pub status: i32,
    /// Whether `status` is a signal.
    pub killed: bool,
    /// What ended badly in the main process' stead: a command that comes before it or after it.
    pub helper: Option<HelperEnd>,
    /// How often it was started again; unknown to old versions.
    pub restarts: Option<u32>,
    /// Whether the manager has yet to do something about it: one whose start is queued is still what it was before.
    pub queued: bool,
    /// The number of its present or last run.
    pub invocation: String,
}

/// How a command beside the main process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperEnd {
    /// The setting that has it, such as `ExecStartPre`.
    pub setting: &'static str,
    /// Its program.
    pub program: String,
    /// The code or the signal with which it ended.
    pub status: i32,
    /// Whether `status` is a signal.
    pub killed: bool,
}

impl std::fmt::Display for HelperEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { setting, program, status, killed } = self;
        let how = if *killed { "was ended by signal" } else { "ended with code" };
        write!(formatter, "`{program}`, a command of `{setting}=` of its unit, {how} {status}")
    }
}

impl HelperEnd {
    /// The first of a setting's commands that ended badly, and not with leave to do so.
    ///
    /// Each is `(sasbttttuii)`: program, arguments, whether it may fail, when it started and ended by two clocks, process,
    /// how it ended (as `waitid` has it), and with what.
    pub(crate) fn among(setting: &'static str, commands: &Value) -> Option<Self> {
        commands.items().iter().find_map(|command| {
            let [program, _, may_fail, .., code, status] = command.items() else { return None };
            let killed = matches!(code.as_number()?, 2 | 3);
            let status = i32::try_from(status.as_number()?).ok()?;
            let badly = *may_fail != Value::Boolean(true) && (killed || status != 0);
            badly.then(|| Self {
                setting,
                program: program.as_text().unwrap_or_default().to_owned(),
                status,
                killed,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::HelperEnd;
    use crate::wire::Value;

    fn command(program: &str, may_fail: bool, code: i32, status: i32) -> Value {
        let times = (0..4).map(|_| Value::U64(0));
        let head = [Value::text(program), Value::texts([program]), Value::Boolean(may_fail)];
        let tail = [Value::U32(7), Value::I32(code), Value::I32(status)];
        Value::Structure(head.into_iter().chain(times).chain(tail).collect())
    }

    #[test]
    fn the_command_that_ended_badly_is_found() {
        let among = |commands: Vec<Value>| {
            HelperEnd::among("ExecStartPre", &Value::Array("(sasbttttuii)".to_owned(), commands))
        };
        let end = |status, killed| {
            Some(HelperEnd { setting: "ExecStartPre", program: "/bin/b".to_owned(), status, killed })
        };
        let well = || command("/bin/a", false, 1, 0);
        assert_eq!(among(vec![]), None);
        assert_eq!(among(vec![well(), command("/bin/c", false, 0, 0)]), None);
        assert_eq!(among(vec![well(), command("/bin/b", false, 1, 5)]), end(5, false));
        assert_eq!(among(vec![command("/bin/a", true, 1, 1), command("/bin/b", false, 2, 9)]), end(9, true));
    }
}
