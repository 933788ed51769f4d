//! A unit that exists only at run time: how the operator's programs are run.

use crate::wire::Value;

/// A program as a unit of its own, so that it survives whoever started it and a timeout ends all of its processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transient {
    /// What it is.
    pub description: String,
    /// The program and its arguments; no shell sees them.
    pub command: Vec<String>,
    /// Its whole environment beside what the manager itself sets, `NAME=value`.
    pub environment: Vec<String>,
    /// Its working directory.
    pub directory: Option<String>,
    /// A file that its output is added to.
    pub output: Option<String>,
    /// After so long all of its processes are killed.
    pub timeout: Option<std::time::Duration>,
}

impl Transient {
    /// The properties of the unit, `a(sv)`.
    pub(crate) fn properties(&self) -> Value {
        let program = self.command.first().cloned().unwrap_or_default();
        let start = Value::Structure(vec![
            Value::text(program),
            Value::texts(self.command.iter().cloned()),
            Value::Boolean(false),
        ]);
        let mut properties = vec![
            Value::property("Description", Value::text(&self.description)),
            Value::property("Type", Value::text("oneshot")),
            // Its end is kept until somebody has asked for it, also if nobody is there when it comes.
            Value::property("RemainAfterExit", Value::Boolean(true)),
            // It may have to run before the system is up, and it must not wait for what waits for it.
            Value::property("DefaultDependencies", Value::Boolean(false)),
            Value::property("Conflicts", Value::texts(["shutdown.target"])),
            Value::property("Before", Value::texts(["shutdown.target"])),
            Value::property("KillMode", Value::text("control-group")),
            Value::property("ExecStart", Value::Array("(sasb)".to_owned(), vec![start])),
        ];
        if !self.environment.is_empty() {
            let variables = Value::texts(self.environment.iter().cloned());
            properties.push(Value::property("Environment", variables));
        }
        if let Some(directory) = &self.directory {
            properties.push(Value::property("WorkingDirectory", Value::text(directory)));
        }
        if let Some(output) = &self.output {
            properties.push(Value::property("StandardOutputFileToAppend", Value::text(output)));
            properties.push(Value::property("StandardErrorFileToAppend", Value::text(output)));
        }
        if let Some(timeout) = self.timeout {
            let microseconds = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
            properties.push(Value::property("TimeoutStartUSec", Value::U64(microseconds)));
            properties.push(Value::property("TimeoutStopUSec", Value::U64(5_000_000)));
        }
        Value::Array("(sv)".to_owned(), properties)
    }
}
