//! Script parts and boothooks.

use bringup_diag::{Finding, Findings, Span};

use super::shellwords::{line_lints, systemd_lints, unguarded_appends};
use super::span_in_line;
use crate::invocations::is_for_shell;
use crate::kind::Kind;
use crate::{Origin, codes};

pub(super) fn of(kind: Kind, text: &str, origin: &Origin) -> Findings {
    let mut findings = Findings::new();
    let head = text.strip_prefix("#cloud-boothook").filter(|_| kind == Kind::Boothook);
    // A boothook is stripped of its head and of white space before it is written; other scripts stand as they are.
    let body = head.unwrap_or(text);
    let body = if kind == Kind::Boothook { body.trim_start() } else { body };
    if !body.starts_with("#!") && !body.starts_with("\u{7f}ELF") {
        let first = text.lines().next().unwrap_or_default();
        let late = body.trim_start().starts_with("#!");
        let message = if late { "`#!` must be the very first two letters" } else { "a script without `#!`" };
        findings.push(
            Finding::error(
                codes::MISSING_SHEBANG,
                format!("{message}: it is written, then the kernel refuses to run it"),
            )
            .at(origin.place(Span::line(1, first)))
            .hint(if kind == Kind::Boothook {
                "put `#!/bin/sh` on the line after `#cloud-boothook`"
            } else {
                "make `#!/bin/sh` the first line"
            }),
        );
    }
    let first_is_dos =
        text.find('\n').is_some_and(|at| text.get(..at).is_some_and(|line| line.ends_with('\r')));
    let dos_line = text.split('\n').position(|line| line.ends_with('\r'));
    if let Some(number) = dos_line.filter(|_| !first_is_dos) {
        let line = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        findings.push(
            Finding::warning(
                codes::LINE_ENDS,
                "this line ends in CRLF and the first does not: the CR stays in the command",
            )
            .at(origin.place(Span::point(line, 1)))
            .hint("save the file with LF line ends"),
        );
    }
    if is_for_shell(body) {
        commands(kind, text, origin, &mut findings);
    }
    for (number, line) in text.lines().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        let code = line.trim_start();
        if code.starts_with('#') {
            continue;
        }
        line_lints(line, &mut findings, |column, width| origin.place(span_in_line(number, column, width)));
    }
    findings
}

/// What the commands of a script do that was hardly meant.
fn commands(kind: Kind, text: &str, origin: &Origin, findings: &mut Findings) {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1);
    let every_boot = matches!(kind, Kind::Boothook | Kind::ScriptPerBoot);
    for append in unguarded_appends(text).into_iter().filter(|_| every_boot) {
        let message = format!("this runs at every boot, and `{}` makes the file grow each time", append.by);
        findings.push(
            Finding::warning(codes::APPEND_EVERY_BOOT, message)
                .at(origin.place(span_in_line(number(append.line), append.column, append.by.len())))
                .hint("write the file whole with `>`, or test first whether the line is there"),
        );
    }
    systemd_lints(text, findings, |line, column, width| {
        Some(origin.place(span_in_line(number(line), column, width)))
    });
}
