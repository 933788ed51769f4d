//! A unit that exists only at run time: how the operator's programs are run.

use std::fmt::Write as _;

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
            Value::texts(self.command.iter().map(|word| verbatim(word))),
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

impl Transient {
    /// The same as the text of a unit file, for managers that do not take all of it otherwise (before systemd 240). There, no
    /// output can be given to a file: `starter` are the words that come before the program and see to that.
    pub fn unit_file(&self, starter: &[String]) -> String {
        let mut text = format!(
            "[Unit]\nDescription={}\nDefaultDependencies=no\nConflicts=shutdown.target\nBefore=shutdown.target\n\n\
             [Service]\nType=oneshot\nRemainAfterExit=yes\nKillMode=control-group\n",
            self.description.replace('%', "%%")
        );
        for variable in &self.environment {
            let _ = writeln!(text, "Environment={}", quoted(variable));
        }
        if let Some(directory) = &self.directory {
            let _ = writeln!(text, "WorkingDirectory={}", directory.replace('%', "%%"));
        }
        if let Some(timeout) = self.timeout {
            let _ = writeln!(text, "TimeoutStartSec={}ms\nTimeoutStopSec=5s", timeout.as_millis());
        }
        let words: Vec<String> =
            starter.iter().chain(&self.command).map(|word| quoted(&verbatim(word))).collect();
        let _ = writeln!(text, "ExecStart={}", words.join(" "));
        text
    }
}

/// A word of a unit file (systemd.syntax(7)): in quotes where it needs them, and without specifiers.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/-_.:".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '%' => text.push_str("%%"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// A word as the program is to get it: the manager puts variables in the place of `$NAME` (systemd.service(5)).
fn verbatim(word: &str) -> String {
    word.replace('$', "$$")
}

#[cfg(test)]
mod tests {
    use super::Transient;
    use crate::wire::Value;

    #[test]
    fn an_old_manager_gets_a_file_that_says_the_same() {
        let transient = Transient {
            description: "Step a of 100%".to_owned(),
            command: ["/bin/echo", "$HOME", "a \"b\"\n", "50%"].map(str::to_owned).to_vec(),
            environment: vec!["A=b $c".to_owned()],
            directory: Some("/tmp".to_owned()),
            output: None,
            timeout: Some(std::time::Duration::from_millis(1500)),
        };
        assert_eq!(
            transient.unit_file(&["/opt/starter".to_owned(), "--".to_owned()]),
            "[Unit]\nDescription=Step a of 100%%\nDefaultDependencies=no\nConflicts=shutdown.target\nBefore=shutdown.target\n\n\
             [Service]\nType=oneshot\nRemainAfterExit=yes\nKillMode=control-group\nEnvironment=\"A=b $c\"\n\
             WorkingDirectory=/tmp\nTimeoutStartSec=1500ms\nTimeoutStopSec=5s\n\
             ExecStart=/opt/starter -- /bin/echo \"$$HOME\" \"a \\\"b\\\"\\n\" \"50%%\"\n"
        );
    }

    #[test]
    fn no_variable_is_put_into_what_a_program_is_told() {
        let command = ["/bin/echo", "$HOME", "a${B}c", "100$", "`id`; *"].map(str::to_owned).to_vec();
        let properties = Transient { command, ..Transient::default() }.properties();
        let start = properties
            .items()
            .iter()
            .find(|property| property.items().first().and_then(Value::as_text) == Some("ExecStart"));
        let value = start.unwrap().items()[1].clone().unwrapped();
        let words: Vec<&str> =
            value.items()[0].items()[1].items().iter().filter_map(Value::as_text).collect();
        assert_eq!(words, ["/bin/echo", "$$HOME", "a$${B}c", "100$$", "`id`; *"]);
    }
}
