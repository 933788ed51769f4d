//! Kernel modules, settings and arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::{Owner, Wanted};
use bringup_progress::{Failure, FailureKind, Made, Success};
use bringup_spec::OsFamily;
use bringup_systemd::Systemd;

use super::sysctls::{Refused, refused};
use super::{Doing, Stopped};
use crate::program::{self, Program};
use crate::teller::Teller;

pub(crate) const MODULES: &str = "/etc/modules-load.d/90-bringup.conf";
pub(crate) const SYSCTLS: &str = "/etc/sysctl.d/90-bringup.conf";
/// Read by GRUB's own tool on Debian and Ubuntu.
const GRUB: &str = "/etc/default/grub.d/90-bringup.cfg";
const UPDATE_GRUB: &str = "/usr/sbin/update-grub";
const GRUBBY: &str = "/usr/sbin/grubby";
/// Loads what the files of `modules-load.d` name, with the kernel's own tools and without a child of ours.
const LOADER: &str = "systemd-modules-load.service";

/// Loads kernel modules now, and by the system itself on later boots.
pub(super) fn modules(doing: &Doing<'_>, modules: &[String]) -> Result<Success, Stopped> {
    let changed = write(doing, MODULES, &modules_file(modules))?;
    if !doing.machine.is_itself() {
        return Ok(changed);
    }
    let missing = || modules.iter().filter(|module| !is_loaded(module)).cloned().collect::<Vec<_>>();
    if !missing().is_empty() {
        let mut systemd = Systemd::connect()?;
        systemd.subscribe()?;
        let job = systemd.restart(LOADER)?;
        systemd.job_end(&job, Instant::now() + Duration::from_millis(doing.order.timeout_ms))?;
    }
    let missing = missing();
    if missing.is_empty() {
        return Ok(changed);
    }
    Err(Failure::new(
        FailureKind::Operator,
        format!("the kernel has not loaded `{}`", missing.join("`, `")),
        format!(
            "see `journalctl --unit {LOADER}`: the package with the kernel's further modules may be missing"
        ),
    )
    .into())
}

/// What the system loads on later boots.
pub(crate) fn modules_file(modules: &[String]) -> String {
    modules.iter().fold(String::new(), |mut text, module| {
        let _ = writeln!(text, "{module}");
        text
    })
}

/// Whether a module is there, loaded or built in.
fn is_loaded(module: &str) -> bool {
    Path::new("/sys/module").join(module.replace('-', "_")).exists()
}

/// Sets kernel settings now, and by the system itself on later boots.
pub(super) fn sysctls(
    doing: &Doing<'_>,
    settings: &BTreeMap<String, String>,
    optional: &BTreeSet<String>,
) -> Result<Success, Stopped> {
    let changed = write(doing, SYSCTLS, &bringup_plan::sysctls_file(settings, optional))?;
    if !doing.machine.is_itself() {
        return Ok(changed);
    }
    let mut faults = Vec::new();
    for Refused { name, fault } in refused(Path::new("/proc/sys"), settings) {
        if optional.contains(&name) {
            Teller::note(&format!("the kernel setting `{name}` is passed over: {fault}"));
        } else {
            faults.push(format!("`{name}`: {fault}"));
        }
    }
    if faults.is_empty() {
        return Ok(changed);
    }
    Err(Failure::new(
        FailureKind::Operator,
        format!("the kernel refuses settings: {}", faults.join("; ")),
        "see that this kernel has them and takes these values",
    )
    .into())
}

/// Arguments of the kernel's command line: those that this boot lacks ask for a reboot.
pub(super) fn arguments(doing: &Doing<'_>, arguments: &[String]) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let present: BTreeSet<&str> = line.split_whitespace().collect();
    let missing: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| !present.contains(argument)).collect();
    let there = |path: &str| matches!(doing.machine.files().disk().look(Path::new(path)), Ok(Some(_)));
    if missing.is_empty() {
        let made = there(GRUB).then(|| Made::File(GRUB.to_owned())).into_iter().collect();
        return Ok(Success { made, ..Success::default() });
    }
    let failure = Failure::new(
        FailureKind::Operator,
        format!("the kernel was started without `{}`", missing.join(" ")),
        "give them to the boot loader and reboot; the agent goes on by itself",
    );
    let command = match doing.plan.os {
        OsFamily::Debian | OsFamily::Ubuntu if there(UPDATE_GRUB) => {
            write(doing, GRUB, &grub_file(arguments))?;
            vec![UPDATE_GRUB.to_owned()]
        }
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 if there(GRUBBY) => {
            let arguments = format!("--args={}", arguments.join(" "));
            vec![GRUBBY.to_owned(), "--update-kernel=ALL".to_owned(), arguments]
        }
        _ => return Err(failure.into()),
    };
    let program = Program {
        step: &doing.step.name,
        command,
        environment: vec!["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned()],
        directory: None,
        deadline: doing.deadline(),
        kept_for: None,
    };
    program::run(doing.machine, program)?;
    Err(Stopped::Reboot { why: format!("the kernel takes `{}` only then", missing.join(" ")) })
}

/// What is added to the configuration of GRUB. An argument is one word without quotes: the plan sees to it.
fn grub_file(arguments: &[String]) -> String {
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| {
            argument.chars().fold(String::new(), |mut text, letter| {
                if matches!(letter, '"' | '\\' | '$' | '`') {
                    text.push('\\');
                }
                text.push(letter);
                text
            })
        })
        .collect();
    format!("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX {}\"\n", arguments.join(" "))
}

fn write(doing: &Doing<'_>, path: &str, content: &str) -> Result<Success, Stopped> {
    let wanted = Wanted { content: content.as_bytes(), mode: 0o644, owner: Owner::ROOT };
    let change = doing.machine.files().replace(Path::new(path), wanted)?;
    Ok(super::files::changed(path, change))
}

#[cfg(test)]
mod tests {
    use super::grub_file;

    #[test]
    fn arguments_are_added_to_what_grub_has() {
        let arguments = ["hugepages=64".to_owned(), "note=$a".to_owned()];
        assert_eq!(
            grub_file(&arguments),
            "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX hugepages=64 note=\\$a\"\n"
        );
    }
}
