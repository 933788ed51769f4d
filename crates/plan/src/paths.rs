//! Where things are placed: never two in one place, and nothing of the operator's in the way of the plan's own.

use std::collections::BTreeMap;

use bringup_diag::Finding;
use bringup_spec::{AbsolutePath, Unpack};
use bringup_yaml::Path;

use crate::context::Context;
use crate::{Action, Plan, Step, Unit, codes};

/// Where the plan, the agent and its memory live.
const OWN: [&str; 4] = ["/etc/bringup", "/opt/bringup/bin", "/var/lib/bringup", "/run/bringup"];

const CHANGED_BY: &str = "remove it: `runtime.config`, `kubelet.config` and the like change what is in there";
const ELSEWHERE: &str = "write it to another path";

/// Whether a path is another or lies beneath it.
pub(crate) fn is_within(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a step leaves at a path.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    File,
    Directory,
    Link,
}

/// Two things in one place, and things beneath what is no directory.
pub(crate) fn check_paths(context: &mut Context<'_>, steps: &[Step]) {
    let mut taken: BTreeMap<&str, (Leaves, &str)> = BTreeMap::new();
    let mut clashes: Vec<(String, String, bool)> = Vec::new();
    for step in steps {
        let (path, leaves) = match &step.action {
            Action::WriteFile { path, .. } | Action::Fetch { path, unpack: Unpack::No, .. } => {
                (path.as_str(), Leaves::File)
            }
            Action::MakeDirectory { path, .. } | Action::Fetch { path, .. } => {
                (path.as_str(), Leaves::Directory)
            }
            Action::MakeLink { path, .. } => (path.as_str(), Leaves::Link),
            _ => continue,
        };
        if let Some((_, other)) = taken.insert(path, (leaves, &step.name)) {
            let ours = !other.contains(':') || !step.name.contains(':');
            clashes.push((path.to_owned(), step.name.clone(), ours));
        }
    }
    for (path, _, ours) in clashes {
        let place = place_of(context, &path);
        if ours {
            context.error(
                codes::FILE_GENERATED,
                &place,
                format!("`{path}` is written by the plan itself"),
                CHANGED_BY,
            );
        } else {
            context.error(
                codes::FILE_DUPLICATE,
                &place,
                format!("`{path}` is there twice"),
                "keep one of them",
            );
        }
    }
    for path in taken.keys() {
        let mut parent = *path;
        while let Some((above, _)) = parent.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
            if let Some((leaves, _)) = taken.get(above)
                && *leaves != Leaves::Directory
            {
                let place = place_of(context, path);
                let what = if *leaves == Leaves::Link { "link" } else { "file" };
                context.error(
                    codes::FILE_BENEATH,
                    &place,
                    format!("`{path}` lies beneath `{above}`, which is a {what}"),
                    "write the path that is really meant",
                );
            }
            parent = above;
        }
    }
}

/// What the operator puts where the agent and the carriers keep their own, `units` among them.
pub(crate) fn check_own(context: &mut Context<'_>, steps: &[Step], units: &[Unit]) {
    let own = own_paths(units);
    for step in steps {
        let (path, moves) = match &step.action {
            Action::MakeDirectory { path, .. } => (path, false),
            Action::WriteFile { path, .. } | Action::MakeLink { path, .. } => (path, true),
            Action::Fetch { path, unpack, .. } => (path, *unpack == Unpack::No),
            _ => continue,
        };
        let operators =
            ["file:", "directory:", "link:", "asset:"].iter().any(|kind| step.name.starts_with(kind));
        if operators && let Some(message) = hit(&own, path, moves) {
            let place = place_of(context, path);
            context.error(codes::FILE_GENERATED, &place, message, ELSEWHERE);
        }
    }
}

/// What there is to tell of a file that the operator's user-data writes where the plan has its own; without a place.
pub fn file_in_the_way(plan: &Plan, path: &str) -> Option<Finding> {
    let written = plan.steps.iter().find(|step| match &step.action {
        Action::WriteFile { path: own, .. } | Action::Fetch { path: own, .. } => own == path,
        _ => false,
    });
    let (message, hint) = match (hit(&own_paths(&plan.units), path, true), written) {
        (Some(message), _) => (message, ELSEWHERE),
        (None, Some(step)) => {
            // Steps of the operator's own things are named after them.
            let hint = if step.name.contains(':') { "write it in one of the two places" } else { CHANGED_BY };
            (format!("`{path}` is written by the plan itself"), hint)
        }
        (None, None) => return None,
    };
    Some(Finding::error(codes::FILE_GENERATED, message).hint(hint))
}

/// Where the agent and the carriers keep their own, and where these units are.
fn own_paths(units: &[Unit]) -> Vec<String> {
    let mut own: Vec<String> = OWN.iter().map(|&path| path.to_owned()).collect();
    for unit in units {
        let file = format!("/etc/systemd/system/{}", unit.name);
        own.extend(unit.drop_ins.keys().map(|name| format!("{file}.d/{name}")));
        own.extend(unit.content.as_ref().map(|_| file));
    }
    own
}

/// Which of these a path meets, in words. A directory above is as good as none; what `moves` would lead elsewhere.
fn hit(own: &[String], path: &str, moves: bool) -> Option<String> {
    let own = own.iter().find(|own| is_within(path, own) || (moves && is_within(own, path)))?;
    Some(if own == path {
        format!("`{path}` is the plan's own")
    } else if is_within(path, own) {
        format!("`{path}` lies beneath `{own}`, which is the plan's own")
    } else {
        format!("`{path}` is in the way of `{own}`, which is the plan's own")
    })
}

/// The place in the document that puts something at `target`; the group's if it is the plan itself.
fn place_of(context: &Context<'_>, target: &str) -> Path {
    let group = context.group;
    let within = |base: Path, paths: Vec<&AbsolutePath>| {
        let found = paths.iter().rposition(|path| is_within(target, path.as_str()));
        found.map(|index| base.index(index).key("path"))
    };
    within(context.at(["files"]), group.files.iter().map(|file| &file.path).collect())
        .or_else(|| within(context.at(["links"]), group.links.iter().map(|link| &link.path).collect()))
        .or_else(|| {
            within(
                context.at(["directories"]),
                group.directories.iter().map(|directory| &directory.path).collect(),
            )
        })
        .or_else(|| within(context.at(["assets"]), group.assets.iter().map(|asset| &asset.path).collect()))
        .or_else(|| {
            within(Context::spec_path(["files"]), context.spec.files.iter().map(|file| &file.path).collect())
        })
        .or_else(|| {
            let assets = context.spec.assets.iter().map(|asset| &asset.path).collect();
            within(Context::spec_path(["assets"]), assets)
        })
        .unwrap_or_else(|| context.path.clone())
}
