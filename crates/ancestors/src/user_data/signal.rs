//! The signal behind a call: `cfn-signal`, which the plan sends itself.

use crate::shell;

/// Whom a script tells how it ended, as far as it says so in plain words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The stack; none where only the stack itself knows.
    pub(super) stack: Option<String>,
    /// The resource.
    pub(super) resource: Option<String>,
}

/// The script without its call of `cfn-signal`, if anything is left of it, and whom that tells.
pub(super) fn taken_out(script: &str) -> Option<(Option<String>, Told)> {
    let is_signal =
        |line: &str| line.split_whitespace().next().is_some_and(|first| first.ends_with("cfn-signal"));
    let lines: Vec<String> = shell::lines(script).into_iter().map(|line| line.text).collect();
    let call = lines.iter().find(|line| is_signal(line))?;
    let words: Vec<&str> = call.split_whitespace().collect();
    let value = |flag: &str| {
        let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
            "" => words.get(at + 1).copied(),
            rest => rest.strip_prefix('='),
        });
        let value = value.map(|value| value.trim_matches(['"', '\'']).to_owned());
        value.filter(|value| !value.contains('$'))
    };
    let told = Told { stack: value("--stack"), resource: value("--resource") };
    let rest: Vec<&str> = lines.iter().filter(|line| !is_signal(line)).map(String::as_str).collect();
    let does = rest.iter().any(|line| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with('#') || line.starts_with("set ") || line.starts_with("exec "))
            && shell::assignment(line).is_none()
    });
    Some((does.then(|| rest.join("\n")), told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_taken_out_of_a_script() {
        let script = "#!/bin/bash\nset -e\n/opt/aws/bin/cfn-signal --exit-code $? \\\n  --stack  nodes \\\n --resource=NodeGroup --region x\n";
        let told = Told { stack: Some("nodes".to_owned()), resource: Some("NodeGroup".to_owned()) };
        assert_eq!(taken_out(script), Some((None, told)));
        let (rest, told) = taken_out("#!/bin/sh\ntouch /a\ncfn-signal --stack ${AWS::StackName}\n").unwrap();
        assert_eq!(rest.as_deref(), Some("#!/bin/sh\ntouch /a\n"));
        assert_eq!(told, Told { stack: None, resource: None });
        assert_eq!(taken_out("#!/bin/sh\necho cfn-signal\n"), None);
    }
}
