//! Unit files that systemd would ignore or refuse, whatever they are about.

use bringup_diag::closest;
use bringup_spec::Unit as OperatorUnit;
use bringup_yaml::Path;

use crate::codes;
use crate::context::Context;

/// Sections that systemd reads, and the suffix of the units that must have them.
const SECTIONS: [(&str, Option<&str>); 11] = [
    ("Unit", None),
    ("Install", None),
    ("Service", Some("service")),
    ("Socket", Some("socket")),
    ("Timer", Some("timer")),
    ("Mount", Some("mount")),
    ("Automount", Some("automount")),
    ("Path", Some("path")),
    ("Swap", Some("swap")),
    ("Slice", None),
    ("Scope", None),
];

/// Checks the text of a unit and of its drop-ins.
pub(crate) fn check(context: &mut Context<'_>, path: &Path, unit: &OperatorUnit) {
    let drop_ins = unit.drop_ins.iter().enumerate();
    for (index, drop_in) in drop_ins.filter(|(_, drop_in)| !drop_in.content.trim().is_empty()) {
        check_sections(context, &path.key("dropIns").index(index).key("content"), &drop_in.content);
    }
    let Some(content) = &unit.content else { return };
    let place = path.key("content");
    if content.trim().is_empty() {
        let message = format!("systemd takes an empty `{}` for a masked unit", unit.name);
        context.error(codes::UNIT_CONTENT, &place, message, "write the unit file, or `mask: true`");
        return;
    }
    if !check_sections(context, &place, content) {
        return;
    }
    let Some((stem, suffix)) = unit.name.rsplit_once('.') else { return };
    let all: Vec<&str> = std::iter::once(content)
        .chain(unit.drop_ins.iter().map(|drop_in| &drop_in.content))
        .flat_map(|text| text.lines())
        .collect();
    let needed = SECTIONS.iter().find(|(_, needed_by)| *needed_by == Some(suffix));
    if let Some((section, _)) = needed
        && !all.iter().any(|line| section_of(line) == Some(section))
    {
        let message =
            format!("`{}` has no section [{section}], without which systemd does not start it", unit.name);
        context.error(
            codes::UNIT_CONTENT,
            &place,
            message,
            format!("add `[{section}]` and what belongs there"),
        );
        return;
    }
    let says =
        |key: &str| all.iter().find_map(|line| line.trim().strip_prefix(key)?.trim_start().strip_prefix('='));
    if suffix == "service" && ["ExecStart", "ExecStop", "SuccessAction"].iter().all(|key| says(key).is_none())
    {
        let message = format!("`{}` has no `ExecStart=`, without which systemd does not start it", unit.name);
        context.error(codes::UNIT_CONTENT, &place, message, "add `ExecStart=/path/of/the/program`");
    }
    if let Some(place_of_mount) = says("Where").filter(|_| matches!(suffix, "mount" | "automount"))
        && let Some(name) = mount_name(place_of_mount.trim())
        && name != stem
    {
        let message =
            format!("systemd refuses a mount at `{}` that is called `{}`", place_of_mount.trim(), unit.name);
        context.error(codes::UNIT_CONTENT, &path.key("name"), message, format!("write `{name}.{suffix}`"));
    }
}

/// Whether all of the text belongs to sections; those that systemd does not read are told.
fn check_sections(context: &mut Context<'_>, path: &Path, text: &str) -> bool {
    let lines =
        || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    if lines().next().is_none_or(|line| section_of(line).is_none()) {
        let message = "the text begins outside of any section: systemd ignores it";
        context.error(codes::UNIT_CONTENT, path, message, "begin with a section such as `[Service]`");
        return false;
    }
    let known = || SECTIONS.iter().map(|(section, _)| *section);
    for section in lines().filter_map(section_of) {
        // Sections that begin with X- are for other programs.
        if !section.starts_with("X-") && !known().any(|known| known == section) {
            let hint = closest(section, known())
                .map_or_else(|| "remove it".to_owned(), |near| format!("did you mean `[{near}]`?"));
            let message = format!("systemd ignores all of a section [{section}]");
            context.warning(codes::UNIT_CONTENT, path, message, hint);
        }
    }
    true
}

fn section_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

/// The name that a mount at a path must have; nothing where letters would have to be escaped.
fn mount_name(path: &str) -> Option<String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '.');
    let inner = path.strip_prefix('/')?.trim_end_matches('/');
    (!inner.is_empty() && !inner.starts_with('.') && !inner.contains("//") && inner.chars().all(plain))
        .then(|| inner.replace('/', "-"))
}
