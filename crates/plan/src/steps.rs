//! Small makers of steps.

use bringup_spec::{OnFailure, Phase, Span, Text};

use crate::{Action, Content, Policy, Step, flavour::SCRIPTS, sha256_hex};

/// A step with the agent's own way of meeting failures.
pub(crate) fn plain(name: impl Into<String>, phase: Phase, action: Action) -> Step {
    Step {
        name: name.into(),
        phase,
        action,
        policy: None,
        every_boot: false,
        elected_only: false,
        others_only: false,
        handed_to: None,
    }
}

/// A step that writes a file of the superuser's.
pub(crate) fn write_file(
    name: impl Into<String>,
    phase: Phase,
    path: &str,
    mode: &str,
    content: Content,
) -> Step {
    let action = Action::WriteFile {
        path: path.to_owned(),
        mode: mode.to_owned(),
        owner: "root:root".to_owned(),
        content,
    };
    plain(name, phase, action)
}

/// How the operator wants failures to be met.
pub(crate) fn policy(timeout: Span, attempts: u32, backoff: Span, on_failure: OnFailure) -> Policy {
    Policy { timeout_ms: timeout.milliseconds, attempts, backoff_ms: backoff.milliseconds, on_failure }
}

/// A script as a file, and the path to run. The path has a digest of the script: a changed script is a changed command,
/// so that what ran with the old one runs again.
pub(crate) fn script(name: &str, script: &Text) -> (Step, String) {
    let digest = sha256_hex(script.to_string().as_bytes());
    let path = format!("{SCRIPTS}/{name}-{}", digest.get(..8).unwrap_or_default());
    let step = write_file(format!("file:{path}"), Phase::Fetch, &path, "0755", Content::Text(script.clone()));
    (step, path)
}
