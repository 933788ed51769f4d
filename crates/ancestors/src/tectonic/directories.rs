//! Directories that commands of units make.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::commands::{Known, known};
use super::group::Group;
use super::unit_text::Setting;
use super::words::Variables;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Places that are empty after a boot.
const VOLATILE: [&str; 4] = ["/dev/shm", "/run", "/tmp", "/var/run"];

/// Whether a path is another, or lies beneath it.
fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a command says of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Directories {
    pub(super) paths: Vec<String>,
    pub(super) mode: Option<String>,
    pub(super) owner: Option<String>,
}

/// The directories that `mkdir` or `install -d` makes with these arguments; none if the program is another, or is told
/// something that only it can do.
pub(super) fn directories(program: &str, arguments: &[String]) -> Option<Directories> {
    let installs = match program {
        "mkdir" => false,
        "install" => true,
        _ => return None,
    };
    let mut made = Directories::default();
    let (mut user, mut group) = (None, None);
    let mut is_directory = !installs;
    let mut arguments = arguments.iter();
    let mut ended = false;
    while let Some(argument) = arguments.next() {
        let Some(options) = argument.strip_prefix('-').filter(|_| !ended) else {
            made.paths.push(argument.clone());
            continue;
        };
        if options == "-" {
            ended = true;
            continue;
        }
        let mut letters = if let Some(long) = options.strip_prefix('-') {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let letter = match name {
                "parents" => "p",
                "verbose" => "v",
                "mode" => "m",
                "directory" => "d",
                "owner" => "o",
                "group" => "g",
                _ => return None,
            };
            format!("{letter}{}", value.unwrap_or_default())
        } else {
            options.to_owned()
        };
        while !letters.is_empty() {
            let letter = letters.remove(0);
            match letter {
                'p' | 'v' => {}
                'd' if installs => is_directory = true,
                'm' => made.mode = Some(octal(&value(&mut letters, &mut arguments)?)?),
                'o' if installs => user = value(&mut letters, &mut arguments),
                'g' if installs => group = value(&mut letters, &mut arguments),
                _ => return None,
            }
        }
    }
    if user.is_some() || group.is_some() {
        let name = |given: Option<String>| given.unwrap_or_else(|| "root".to_owned());
        made.owner = Some(format!("{}:{}", name(user), name(group)));
    }
    let is_whole = is_directory && !made.paths.is_empty();
    (is_whole && made.paths.iter().all(|path| path.starts_with('/'))).then_some(made)
}

/// The value of an option: what is left of its word, or the next.
fn value<'a>(letters: &mut String, arguments: &mut impl Iterator<Item = &'a String>) -> Option<String> {
    let rest = std::mem::take(letters);
    if rest.is_empty() { arguments.next().cloned() } else { Some(rest) }
}

/// A mode as a document has it; none if it hangs on the one that is there.
fn octal(mode: &str) -> Option<String> {
    let bits = u32::from_str_radix(mode, 8).ok().filter(|bits| *bits <= 0o7777 && !mode.starts_with('+'))?;
    Some(format!("{bits:04o}"))
}

impl Directories {
    /// Whether one of them is gone with the next boot.
    pub(super) fn are_volatile(&self) -> bool {
        let is_beneath = |path: &String| VOLATILE.iter().any(|place| is_within(path, place));
        self.paths.iter().any(is_beneath)
    }

    /// Whether a command before speaks of one of them, or of what it lies in: `rm -rf`, after which it is made anew.
    pub(super) fn follow(&self, before: &[Setting]) -> bool {
        let others =
            before.iter().filter(|setting| setting.key.starts_with("ExecStart")).filter_map(|setting| {
                match known(&setting.value, &Variables::new()) {
                    Known::Other(words) => Some(words),
                    _ => None,
                }
            });
        let speaks_of = |word: &String| {
            let named = word.starts_with('/') && self.paths.iter().any(|path| is_within(path, word));
            named || self.paths.iter().any(|path| word.contains(path.as_str()))
        };
        others.into_iter().any(|words| words.iter().skip(1).any(speaks_of))
    }

    /// Has the agent make them. What is there already stays as it is, as `mkdir` leaves it.
    pub(super) fn put(&self, span: Span, group: &mut Group, tell: &mut Teller<'_>) {
        for path in self.paths.iter().map(|path| path.trim_end_matches('/')) {
            let said = |node: &Node, key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
            let is_there =
                |known: &&Node| said(known, "path").is_some_and(|known| known.trim_end_matches('/') == path);
            if let Some(known) = group.directories.iter().find(is_there) {
                self.tell_of_another(path, [said(known, "mode"), said(known, "owner")], span, tell);
                continue;
            }
            let mut directory = Branch::new(span);
            directory.put("path", text(span, path));
            directory.put_some("mode", self.mode.as_ref().map(|mode| text(span, mode.as_str())));
            directory.put_some("owner", self.owner.as_ref().map(|owner| text(span, owner.as_str())));
            group.directories.push(directory.into_node());
        }
    }

    /// Tells where something else has said how a directory is.
    fn tell_of_another(
        &self,
        path: &str,
        [mode, owner]: [Option<String>; 2],
        span: Span,
        tell: &mut Teller<'_>,
    ) {
        let asked = [(&self.mode, mode, "0755", "mode"), (&self.owner, owner, "root:root", "owner")];
        for (asked, known, default, what) in asked {
            let known = known.as_deref().unwrap_or(default);
            if let Some(asked) = asked.as_ref().filter(|asked| *asked != known) {
                let message =
                    format!("the {what} of `{path}` is `{known}`, which is said before, and not `{asked}`");
                let hint = "say it once, where the directory is made first";
                tell.warning(codes::FIELD_DIFFERS, span, message, hint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Option<Directories> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        directories(&words[0], &words[1..])
    }

    fn made(path: &str, mode: Option<&str>, owner: Option<&str>) -> Directories {
        let [mode, owner] = [mode, owner].map(|said| said.map(str::to_owned));
        Directories { paths: vec![path.to_owned()], mode, owner }
    }

    /// mkdir(1) and install(1) of GNU coreutils.
    #[test]
    fn options_of_mkdir_and_install_count() {
        assert_eq!(of("mkdir -p /a"), Some(made("/a", None, None)));
        for command in [
            "mkdir --mode=0700 -p /a",
            "mkdir -m 0700 /a",
            "mkdir -m700 -- /a",
            "mkdir -pm 700 /a",
            "mkdir --mode 700 --parents /a",
            "install -d -m 0700 /a",
            "install -dm700 /a",
        ] {
            assert_eq!(of(command), Some(made("/a", Some("0700"), None)), "{command}");
        }
        assert_eq!(of("install -d -o core -g 500 /a"), Some(made("/a", None, Some("core:500"))));
        assert_eq!(of("install --directory --owner=core /a"), Some(made("/a", None, Some("core:root"))));
        for other in [
            "mkdir -m u+s /a",
            "mkdir -Z /a",
            "mkdir --context=x /a",
            "mkdir a",
            "mkdir",
            "install -m 0644 /a /b",
            "install -D /a /b",
            "rm -d /a",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
