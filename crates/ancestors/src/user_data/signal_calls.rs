//! Calls of `cfn-signal` in a script: the plan sends what they say, where that is known, and they are taken out.

use bringup_diag::Span;

use super::Signals;
use super::signal::Told;
use super::status::{self, Ended};
use crate::codes;
use crate::shell::script::Unknown;
use crate::shell::{self, Behind};
use crate::tell::Teller;

const PROGRAM: &str = "cfn-signal";
pub(super) const QUOTES: [char; 2] = ['"', '\''];

/// How a template writes the stack that makes the nodes, and the region that it is in.
const OWN_STACK: [&str; 2] = ["${AWS::StackName}", "${AWS::StackId}"];
const OWN_REGION: [&str; 2] = ["${AWS::Region}", "@{region}"];

/// A part of a script without its calls of `cfn-signal`, if anything is left of it, and what they come to. `whole` is the script and
/// `at` has the place of one of its lines.
pub(super) fn taken_out(
    whole: &str,
    part: Option<String>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) -> (Option<String>, Signals) {
    let part = match part {
        Some(part) if part.contains(PROGRAM) => part,
        part => return (part, Signals { told: Vec::new(), decide: false }),
    };
    // What a script hands on to others is not called by it.
    let mut written: Vec<shell::Line> = shell::lines(whole);
    written.retain(|line| !line.handed_on && line.text.contains(PROGRAM));
    let mut all: Vec<Told> = Vec::new();
    let mut taken = false;
    let decide = decides(whole, &written);
    let reboots = shell::reboots::lines_of(whole);
    let mut rest: Vec<String> = Vec::new();
    for line in shell::lines(&part) {
        if line.handed_on || !line.text.contains(PROGRAM) {
            rest.push(line.text);
            continue;
        }
        let same = written.iter().position(|written| written.text.contains(line.text.trim()));
        let number = same.map_or(1, |index| written.remove(index).number);
        let becomes = without(&line.text, &mut |command| match told(whole, number, command) {
            Ok((told, region)) => {
                if let Some(region) = region {
                    tell_of_region(&region, at(number), tell);
                }
                if !all.contains(&told) {
                    all.push(told);
                }
                tell_of_proxy(command, at(number), tell);
                if reboots.iter().any(|reboot| *reboot > number) {
                    tell_of_reboot(at(number), tell);
                }
                let ends = ending(whole, (number, command), at, tell);
                // Where one of them says how the script ends, so do the others.
                let other = || if decide { status::ending("0") } else { NOTHING.to_owned() };
                Some(ends.unwrap_or_else(other))
            }
            Err(why) => {
                tell_of_kept(&why, at(number), tell);
                None
            }
        });
        match becomes {
            None => rest.push(line.text),
            Some(becomes) => {
                taken = true;
                // A condition must not become empty.
                let within = line.text.starts_with([' ', '\t']);
                if !becomes.is_empty() {
                    rest.push(becomes);
                } else if within {
                    rest.push(NOTHING.to_owned());
                }
            }
        }
    }
    if !taken {
        return (Some(part), Signals { told: all, decide });
    }
    let does = rest.iter().any(|line| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with('#') || line.starts_with("set ") || line.starts_with("exec "))
            && shell::assignment(line).is_none()
    });
    (does.then(|| rest.join("\n")), Signals { told: all, decide })
}

/// Tells of the calls of a script that stay in it, behind a call on this line.
pub(crate) fn tell_of_left(script: &str, call: u32, at: &dyn Fn(u32) -> Span, tell: &mut Teller<'_>) {
    for line in shell::lines(script).iter().filter(|line| !line.handed_on && line.number >= call) {
        if shell::commands(line.text.trim()).iter().any(|(command, _)| is_signal(command)) {
            tell_of_kept(&Kept::Left, at(line.number), tell);
        }
    }
}

/// Whether one of the calls on these lines of a script tells of something else than the plan does.
fn decides(whole: &str, written: &[shell::Line]) -> bool {
    let tells = |line: &shell::Line| {
        let commands = shell::commands(line.text.trim());
        let mut signals = commands.iter().filter(|(command, _)| is_signal(command));
        signals.any(|(command, _)| {
            told(whole, line.number, command).is_ok()
                && status::of(whole, line.number, command) != Ended::AsThePlan
        })
    };
    !status::is_taken(whole) && written.iter().any(tells)
}

/// What the script has to end with in the place of a call that tells of something else than the plan does; it stands on this line.
fn ending(
    whole: &str,
    (number, command): (u32, &str),
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) -> Option<String> {
    let Ended::As(word) = status::of(whole, number, command) else { return None };
    let shown = word.trim_matches(QUOTES);
    if status::is_taken(whole) {
        let message = format!(
            "the plan's signal does not hang on `{shown}`, which this `{PROGRAM}` hands on: it says how the node's set-up ended, and the rest of the script is passed over where it fails"
        );
        let hint = "take the script's own `trap` for its end away: the step then ends with this status, and the agent signals it";
        tell.warning(codes::FIELD_DIFFERS, at(number), message, hint);
        return None;
    }
    let message = format!(
        "the step ends with `{shown}` as it is here, in the place of this `{PROGRAM}`: where that is not 0, the agent signals the failure and gives up"
    );
    let hint = "nothing has to be done; with `--exit-code 0`, the signal says how the node's set-up ended";
    tell.note(codes::DIFFERENCE, at(number), message, hint);
    Some(status::ending(&word))
}

/// What stands where a call is taken out that leaves nothing to do.
const NOTHING: &str = ":";

/// A line without the calls that `take` takes, with what it gives in their place: empty if nothing else is done in it; none if it
/// stays as it is.
fn without(line: &str, take: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let mut becomes = String::with_capacity(line.len());
    let mut rest = line;
    // Whether a command is come to in any case, whether it is not come to, and whether any is left.
    let (mut certain, mut never, mut does) = (true, false, false);
    let mut taken = false;
    for (command, behind) in shell::commands(line) {
        let (before, after) = rest.split_once(command)?;
        becomes.push_str(before);
        rest = after;
        let instead = if certain && is_signal(command) { take(command) } else { None };
        let done = instead.as_deref().unwrap_or(command);
        becomes.push_str(done);
        taken |= instead.is_some();
        does |= !(never || matches!(done, NOTHING | "true"));
        // What stands there for a failure of the signal has nothing to wait for.
        never = (instead.is_some() || never) && behind == Behind::Fails;
        certain &= behind == Behind::Follows;
    }
    becomes.push_str(rest);
    taken.then(|| if does { becomes } else { String::new() })
}

fn is_signal(command: &str) -> bool {
    let command = command.strip_prefix("sudo ").map_or(command, str::trim_start);
    let first = command.split_whitespace().next().map(|first| first.trim_matches(QUOTES));
    first.is_some_and(|first| first.rsplit('/').next() == Some(PROGRAM))
}

/// What is given with a flag, as it is written.
pub(super) fn value_of<'a>(words: &[&'a str], flag: &str) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(at, word)| {
        if word.trim_matches(QUOTES) == flag {
            words.get(at.saturating_add(1)).copied()
        } else {
            word.strip_prefix(flag)?.strip_prefix('=')
        }
    })
}

/// Why a call stays where it is.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    /// This flag is not given.
    Without(&'static str),
    /// This flag hangs on what is not known beforehand.
    Hangs(&'static str, String),
    /// Nobody takes it out there.
    Left,
}

/// Whom a call on this line of a script tells, and what its region hangs on where that is not known.
fn told(script: &str, number: u32, command: &str) -> Result<(Told, Option<String>), Kept> {
    let words: Vec<&str> = shell::raw(command).into_iter().map(|(word, _)| word).collect();
    let written = |flag: &str| value_of(&words, flag);
    let known = |word: &str| match shell::value(script, number, word) {
        Ok(value) if value.contains("@{") => Err(word.to_owned()),
        Ok(value) => Ok(value),
        Err(Unknown::Words(words)) => Err(words.join("`, `")),
        Err(Unknown::Script) => Err(word.to_owned()),
    };
    let region = match written("--region") {
        None => Ok(None),
        Some(word) if is_one_of(script, word, &OWN_REGION) => Ok(None),
        Some(word) if shell::value(script, number, word).is_ok_and(|value| value == OWN_REGION[1]) => {
            Ok(None)
        }
        Some(word) => known(word).map(Some),
    };
    let (region, hangs) = match region {
        Ok(region) => (region, None),
        Err(unknown) => (None, Some(unknown)),
    };
    let stack = written("--stack").ok_or(Kept::Without("--stack"))?;
    if is_one_of(script, stack, &OWN_STACK) {
        return Ok((Told { stack: None, resource: None, region }, hangs));
    }
    let stack = known(stack).map_err(|unknown| Kept::Hangs("--stack", unknown))?;
    let resource = written("--resource").ok_or(Kept::Without("--resource"))?;
    let resource = known(resource).map_err(|unknown| Kept::Hangs("--resource", unknown))?;
    Ok((Told { stack: Some(stack), resource: Some(resource), region }, hangs))
}

/// Whether a word is one of these, by itself or through a variable that is set to it and to nothing else.
fn is_one_of(script: &str, word: &str, these: &[&str]) -> bool {
    let plain = |word: &str| word.trim_matches(QUOTES).to_owned();
    let word = plain(word);
    let name = word.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    let lines = shell::lines(script);
    let values: Vec<String> = lines
        .iter()
        .filter(|line| !line.handed_on)
        .filter_map(|line| shell::assignment(&line.text))
        .filter(|(set, _)| Some(*set) == name)
        .map(|(_, value)| plain(value))
        .collect();
    these.contains(&word.as_str()) || matches!(values.as_slice(), [value] if these.contains(&value.as_str()))
}

fn tell_of_region(unknown: &str, span: Span, tell: &mut Teller<'_>) {
    let message = format!(
        "`--region` of `{PROGRAM}` hangs on `{unknown}`, which is not known beforehand: the agent signals where the cluster is"
    );
    let hint = "nothing has to be done, unless the stack is in another region";
    tell.note(codes::DIFFERENCE, span, message, hint);
}

/// The agent signals through the document's proxy, and through no other.
fn tell_of_proxy(command: &str, span: Span, tell: &mut Teller<'_>) {
    let words: Vec<&str> = shell::raw(command).into_iter().map(|(word, _)| word).collect();
    for flag in ["--https-proxy", "--http-proxy"] {
        if value_of(&words, flag).is_some() {
            let message = format!("`{flag}` of `{PROGRAM}` is not carried out: the agent signals without it");
            let hint = "write `spec: {proxy: {https: ...}}` with `--with additions.yaml`, which containerd and kubelet get, too";
            tell.warning_unless(shell::has_proxy, (codes::FIELD_DIFFERS, span), message, hint);
        }
    }
}

fn tell_of_reboot(span: Span, tell: &mut Teller<'_>) {
    let message = format!(
        "the plan signals at its end, and so behind the reboot that follows this `{PROGRAM}`: the stack hears of the node when it is back"
    );
    tell.note(codes::DIFFERENCE, span, message, "leave the stack the time that a reboot takes");
}

fn tell_of_kept(why: &Kept, span: Span, tell: &mut Teller<'_>) {
    let why = match why {
        Kept::Without(flag) => format!("it has no `{flag}`"),
        Kept::Left => "signals are not taken from here".to_owned(),
        Kept::Hangs(flag, unknown) => {
            format!("`{flag}` hangs on `{unknown}`, which is not known beforehand")
        }
    };
    let message = format!(
        "this `{PROGRAM}` stays a command of its step, for {why}: nobody is told where the node does not get that far, and `$?` is not how the call ended"
    );
    let hint = "write what it stands for, or take it out and write `signals` of the group with `--with additions.yaml`";
    tell.warning(codes::FIELD_DIFFERS, span, message, hint);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_by(script: &str, command: &str) -> Result<(Told, Option<String>), Kept> {
        told(script, 9, command)
    }

    /// Takes all of a line's signals.
    fn rest(line: &str) -> Option<String> {
        without(line, &mut |_| Some(NOTHING.to_owned()))
    }

    #[test]
    fn what_stands_beside_a_signal_stays() {
        for (line, expected) in [
            ("cfn-signal --stack a", Some("")),
            ("'/opt/aws/bin/cfn-signal' '-e' '0'", Some("")),
            ("sudo /opt/aws/bin/cfn-signal -e 0 >> /log 2>&1", Some("")),
            ("cfn-signal -e 0 || true", Some("")),
            ("cfn-signal -e 0 || echo failed # why", Some("")),
            ("cfn-signal -e 0 && touch /x", Some(": && touch /x")),
            ("cfn-signal -e 0; touch /x # y", Some(":; touch /x # y")),
            ("cfn-signal -e 0 || a; b", Some(": || a; b")),
            ("a; cfn-signal -e 0; cfn-signal -e 1", Some("a; :; :")),
            // Whether it is called is for the shell to say.
            ("a && cfn-signal -e 0", None),
            ("echo cfn-signal", None),
        ] {
            assert_eq!(rest(line), expected.map(str::to_owned), "{line}");
        }
    }

    #[test]
    fn whom_a_signal_tells_is_looked_up() {
        let told = |stack: Option<&str>, resource: Option<&str>, region: Option<&str>| Told {
            stack: stack.map(str::to_owned),
            resource: resource.map(str::to_owned),
            region: region.map(str::to_owned),
        };
        let script = "#!/bin/bash\nS=nodes\nT=${AWS::StackName}\nR=$(curl -s http://169.254.169.254/latest/meta-data/placement/region)\nU=$(other)\n\n\n\n";
        for (command, expected) in [
            (
                "cfn-signal --exit-code $? --stack  nodes --resource=NG --region x",
                Ok((told(Some("nodes"), Some("NG"), Some("x")), None)),
            ),
            (
                "cfn-signal --stack \"a-$S\" --resource 'NG'",
                Ok((told(Some("a-nodes"), Some("NG"), None), None)),
            ),
            (
                "cfn-signal --stack '${AWS::StackName}' --region ${AWS::Region}",
                Ok((told(None, None, None), None)),
            ),
            (
                "'cfn-signal' '-e' '0' '--stack' 'a' '--resource' 'b'",
                Ok((told(Some("a"), Some("b"), None), None)),
            ),
            ("cfn-signal --stack ${T} --resource x --region $R", Ok((told(None, None, None), None))),
            (
                "cfn-signal --stack $S --resource x --region $U",
                Ok((told(Some("nodes"), Some("x"), None), Some("$U".to_owned()))),
            ),
            ("cfn-signal --stack $U --resource x", Err(Kept::Hangs("--stack", "$U".to_owned()))),
            ("cfn-signal --stack x --resource $V", Err(Kept::Hangs("--resource", "$V".to_owned()))),
            ("cfn-signal --stack x", Err(Kept::Without("--resource"))),
            ("cfn-signal -e 0 'https://handle.example'", Err(Kept::Without("--stack"))),
        ] {
            assert_eq!(told_by(script, command), expected, "{command}");
        }
    }
}
