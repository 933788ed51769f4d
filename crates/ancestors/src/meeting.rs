//! Where cloud-init and the agent meet.
//!
//! Scripts of user-data run after what cloud-init makes of its other parts, such as packages. The agent starts long before
//! that: a step of its own waits until cloud-init gets to a part in the scripts' place, and where cloud-init's own scripts come
//! behind the steps, that part waits for another one.

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::tree::{Branch, list, plain, text};

/// The name of the step that waits.
pub(crate) const AWAITS: &str = "await-cloud-init";

/// The name of the step that lets cloud-init go on.
pub(crate) const RELEASES: &str = "release-cloud-init";

/// Nothing of it is left for another boot.
const PLACE: &str = "/run/bringup-scripts";

/// The usual name of the part. Parts are carried with numbers before their names, so that its place counts and not its letters.
pub(crate) const GATHERING: &str = "meet-the-agent.sh";

/// How long cloud-init waits for the steps, in seconds.
const PATIENCE: u32 = 3600;

/// What a script does in this meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The step that waits for cloud-init.
    Awaits,
    /// The part that lets the steps run.
    Gathers,
    /// The part that does so, and then waits for them.
    GathersAndWaits,
    /// The step that lets cloud-init go on.
    Releases,
}

impl Meeting {
    /// What a script of a part or of a step does; none if it is another script.
    pub fn of(script: &str) -> Option<Self> {
        let has = |test: &str, file: &str| script.contains(&format!("{test}{PLACE}/{file}"));
        Some(match (has(": >", "may-run"), has(": >", "have-run")) {
            (true, _) if has("-e ", "have-run") => Self::GathersAndWaits,
            (true, _) => Self::Gathers,
            (false, true) => Self::Releases,
            (false, false) if has("-e ", "may-run") => Self::Awaits,
            (false, false) => return None,
        })
    }
}

/// The part: from here on the steps may run, and if it waits, cloud-init goes on when they have ended.
pub(crate) fn gathering(span: Span, name: &str, waits: bool) -> Node {
    let mut part = Branch::new(span);
    part.put("name", text(span, name));
    part.put("type", text(span, "text/x-shellscript"));
    let waiting = format!(
        "left={PATIENCE}\nuntil [ -e {PLACE}/have-run ]; do\n    left=$((left - 1))\n    \
         if [ \"$left\" -lt 1 ]; then\n        \
         echo \"the scripts before the node's set-up have not ended: those behind it go on\" >&2\n        \
         exit 1\n    fi\n    sleep 1\ndone\n"
    );
    let waiting = if waits { waiting.as_str() } else { "" };
    let script = format!("#!/bin/sh\nmkdir -p {PLACE}\n: >{PLACE}/may-run\n{waiting}");
    part.put("content", text(span, script));
    part.into_node()
}

/// The step that waits for cloud-init. On a later boot it runs no scripts any more, and only says that it has ended.
/// `after` is where the steps begin that it stands before.
pub(crate) fn awaiting(span: Span, name: &str, after: Option<&str>) -> Node {
    let script = format!(
        "#!/bin/sh\n[ -d /run/cloud-init ] || exit 0\n\
         until [ -e {PLACE}/may-run ] || [ -e /run/cloud-init/result.json ]; do sleep 1; done\n"
    );
    // It is told what the machine waits for, and nothing is done on what is not there.
    let mut step = step(span, name, "pause", script);
    step.put("before", list(span, vec![text(span, "runtime")]));
    if let Some(after) = after {
        step.put("after", list(span, vec![text(span, after)]));
    }
    step.into_node()
}

/// The step that lets cloud-init go on, before or after a phase.
pub(crate) fn releasing(span: Span, name: &str, (side, phase): (&str, &str)) -> Node {
    let script = format!("#!/bin/sh\nmkdir -p {PLACE}\n: >{PLACE}/have-run\n");
    let mut step = step(span, name, "continue", script);
    step.put(side, list(span, vec![text(span, phase)]));
    step.into_node()
}

fn step(span: Span, name: &str, on_failure: &str, script: String) -> Branch {
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("timeout", text(span, "1h"));
    step.put("attempts", plain(span, 1));
    step.put("onFailure", text(span, on_failure));
    step.put("script", text(span, script));
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_script_of_a_meeting_is_known_by_what_it_does() {
        let span = Span::point(1, 1);
        let script = |node: &Node, key: &str| node.get(key).and_then(Node::text).map(ToOwned::to_owned);
        for (node, key, expected) in [
            (gathering(span, "a", false), "content", Meeting::Gathers),
            (gathering(span, "a", true), "content", Meeting::GathersAndWaits),
            (awaiting(span, "a", None), "script", Meeting::Awaits),
            (releasing(span, "a", ("before", "runtime")), "script", Meeting::Releases),
        ] {
            assert_eq!(Meeting::of(&script(&node, key).unwrap()), Some(expected));
        }
        assert_eq!(Meeting::of("#!/bin/sh\nls /run/bringup-scripts\n"), None);
    }
}
