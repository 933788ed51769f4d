//! Parts that cloud-init does not take for what they were meant to be.

use bringup_diag::{Finding, Findings, Span, closest};

use crate::codes;
use crate::jinja::template_body;
use crate::kind::{Kind, NOT_MULTIPART, sniffed};
use crate::part::Part;

/// Head lines, for "did you mean".
const HEADS: [&str; 8] = [
    "#cloud-config",
    "#cloud-config-archive",
    "#cloud-config-jsonp",
    "#cloud-boothook",
    "#include",
    "#include-once",
    "#part-handler",
    "## template: jinja",
];

/// Types, for the same.
const TYPES: [&str; 12] = [
    "text/cloud-config",
    "text/cloud-config-archive",
    "text/cloud-config-jsonp",
    "text/cloud-boothook",
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
    "text/x-include-url",
    "text/x-include-once-url",
    "text/part-handler",
    "text/jinja2",
];

pub(super) fn of(parts: &[Part]) -> Findings {
    let mut findings = Findings::new();
    let mut handler_before = false;
    for part in parts {
        let first = part.written.lines().next().unwrap_or_default();
        let place = part.origin.place(Span::line(1, first));
        match part.kind {
            Kind::Unhandled if !part.written.trim().is_empty() => {
                findings.push(unhandled(part, first, handler_before).at(place));
            }
            Kind::Include | Kind::IncludeOnce => findings.push(
                Finding::note(codes::INCLUDE, "what these URLs hold is fetched at boot and not known here")
                    .at(place)
                    .hint("a URL that cannot be fetched makes cloud-init drop all user-data; hold the content here instead"),
            ),
            Kind::PartHandler => {
                handler_before = true;
                findings.push(
                    Finding::note(codes::PART_HANDLER, "this Python runs at boot; what it does is not known here").at(place),
                );
            }
            Kind::CloudConfig if template_body(&part.written).is_some() => findings.push(
                Finding::warning(codes::JINJA_NOT_RENDERED, format!("a template in a part of type `{}` is not rendered", part.content_type))
                    .at(place)
                    .hint("give the part the type `text/jinja2`"),
            ),
            _ if part.declared_type == "text/x-shellscript" && part.content_type != part.declared_type => findings.push(
                Finding::note(codes::OTHER_TYPE, format!("declared as `text/x-shellscript`, taken for `{}` by its first line", part.content_type))
                    .at(place)
                    .hint(format!("declare it as `{}`", part.content_type)),
            ),
            _ => {}
        }
    }
    findings
}

fn unhandled(part: &Part, first: &str, handler_before: bool) -> Finding {
    let message = |why: &str| format!("`{}` is dropped: {why}", part.name);
    if let Some(rest) = part.written.strip_prefix('\u{feff}')
        && sniffed(rest).is_some()
    {
        return Finding::error(
            codes::BYTE_ORDER_MARK,
            message("a byte order mark stands before its head line"),
        )
        .hint("save the file as UTF-8 without a byte order mark");
    }
    match part.content_type.as_str() {
        "text/plain" | NOT_MULTIPART => {
            let finding = Finding::error(
                codes::UNHANDLED_TYPE,
                message("its first line tells no type that cloud-init knows"),
            );
            let near = closest(&first.replace("# ", "#"), HEADS);
            let headless = part.headers.iter().next().is_none() && part.content_type == "text/plain";
            finding.hint(match near {
                _ if sniffed(&part.written).is_some() => {
                    "leave the type out, or declare the real one: inside an archive it is believed".to_owned()
                }
                Some(head) => format!("did you mean `{head}`?"),
                None if headless => {
                    "it may be the rest of the part before it, cut by a line equal to the boundary; choose another boundary".to_owned()
                }
                None => "start it with `#cloud-config`, or with `#!/bin/sh` for a script".to_owned(),
            })
        }
        "text/upstart-job" => Finding::error(
            codes::UNHANDLED_TYPE,
            message("cloud-init has no handler for upstart jobs any more"),
        )
        .hint("write a systemd unit with `write_files` and start it from `runcmd`"),
        "text/cloud-config-archive" | "text/x-include-url" | "text/x-include-once-url" => Finding::error(
            codes::UNHANDLED_TYPE,
            message("archives and includes are not unpacked inside an archive"),
        )
        .hint("move its parts one level up"),
        other if handler_before => {
            Finding::note(codes::UNHANDLED_TYPE, format!("`{other}` is left to the part handler before it"))
        }
        other => {
            let finding = Finding::error(
                codes::UNHANDLED_TYPE,
                message(&format!("cloud-init has no handler for `{other}`")),
            );
            match closest(other, TYPES) {
                Some(near) => finding.hint(format!("did you mean `{near}`?")),
                None => finding.hint("its types are `text/cloud-config`, `text/x-shellscript`, `text/cloud-boothook` and their kin"),
            }
        }
    }
}
