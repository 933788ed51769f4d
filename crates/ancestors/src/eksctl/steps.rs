//! Commands that run before the node's own set-up.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::family::Family;
use super::group::Given;
use super::{node_config, overtaken};
use crate::codes;
use crate::shell;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};
use crate::user_data::overtaken::When;

/// The phase before which all of them have ended: nothing of the node is set up by then.
const SET_UP: &str = "runtime";

/// The phase that they belong to, behind whatever else is in it.
const FIRST_WORD: &str = "pre-install";

/// How long one of them may take. eksctl sets no limit; a driver that is built on the node needs its time.
const TIMEOUT: &str = "30m";

/// One step for each of `preBootstrapCommands`, one behind the other.
pub(super) fn before_bootstrap(given: &Given<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let Some(commands) = given.fields.entry("preBootstrapCommands") else { return Vec::new() };
    let Some(items) = commands.value.items() else {
        let message = "`preBootstrapCommands` must be a list";
        tell.error(codes::WRONG_TYPE, commands.value.span, message, "write each command behind a dash");
        return Vec::new();
    };
    let mut steps = Vec::new();
    let mut earlier: Option<String> = None;
    for (index, item) in items.iter().enumerate() {
        let Some(command) = item.text() else {
            let message = "a command is a text";
            tell.error(
                codes::WRONG_TYPE,
                item.span,
                message,
                "write it as one text, such as `- |` and its lines",
            );
            continue;
        };
        let name = format!("pre-bootstrap-{}", index + 1);
        let mut step = Branch::new(item.span);
        step.put("name", text(item.span, name.as_str()));
        let mut mended = command.to_owned();
        shell::reboots::mend(command, [&mut mended], &|_| item.span, tell);
        put_command(&mut step, item, &mended, given.family);
        step.put("before", list(item.span, vec![text(item.span, SET_UP)]));
        let behind = earlier.as_deref().unwrap_or(FIRST_WORD);
        step.put("after", list(item.span, vec![text(item.span, behind)]));
        step.put("timeout", plain(item.span, TIMEOUT));
        put_once(&mut step, item.span);
        steps.push(step.into_node());
        earlier = Some(name);
    }
    steps
}

/// Tells of commands that change what the plan does not heed.
pub(super) fn tell_of_overtaken(given: &Given<'_>, docker: bool, tell: &mut Teller<'_>) {
    for item in given.fields.items("preBootstrapCommands") {
        let at = |number: u32| node_config::line(item, number);
        let when = |_: &str, _: u32| Some(When::Before);
        overtaken::tell_of(item.text().unwrap_or_default(), docker, &when, &at, tell);
    }
}

/// A step that is tried once and passed over if it fails, as cloud-init does with what eksctl hands to it.
pub(super) fn put_once(step: &mut Branch, span: Span) {
    step.put("attempts", plain(span, 1));
    step.put("onFailure", text(span, "continue"));
}

/// The command as eksctl hands it over: an argument of bash, or on Amazon Linux 2023 a script of it.
fn put_command(step: &mut Branch, item: &Node, command: &str, family: Family) {
    if family == Family::AmazonLinux2023 || command.starts_with("#!") {
        let shebang = if command.starts_with("#!") { "" } else { "#!/bin/bash\n" };
        step.put("script", text(item.span, escaped(&format!("{shebang}{command}"))));
    } else {
        let words = ["/bin/bash", "-c"].map(|word| text(item.span, word));
        let words = words.into_iter().chain([text(item.span, escaped(command))]).collect();
        step.put("run", list(item.span, words));
    }
}

/// A text in which nothing is taken for a fact: of the `@` before a `{`, two stand for one.
pub(crate) fn escaped(text: &str) -> String {
    let mut parts = text.split("@{").peekable();
    let mut escaped = String::with_capacity(text.len());
    while let Some(part) = parts.next() {
        escaped.push_str(part);
        if parts.peek().is_some() {
            let signs = part.len() - part.trim_end_matches('@').len();
            escaped.push_str(&"@".repeat(signs + 2));
            escaped.push('{');
        }
    }
    escaped
}
