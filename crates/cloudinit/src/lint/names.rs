//! Names of parts: scripts are files, and run in the order of their names.

use std::collections::BTreeMap;

use bringup_diag::{Finding, Findings, Span};

use crate::codes;
use crate::kind::{Kind, cleaned_name};
use crate::part::Part;

/// In a carrier, names are as they are: scripts overwrite each other, or cannot be written.
pub(super) fn of_carrier(parts: &[Part]) -> Findings {
    let mut findings = order(parts);
    let has_runcmd = parts.iter().any(|part| {
        matches!(part.kind, Kind::CloudConfig | Kind::Jinja)
            && part.written.lines().any(|line| line.starts_with("runcmd:"))
    });
    let mut seen: BTreeMap<(Kind, String), &Part> = BTreeMap::new();
    for (number, part) in (1..).zip(parts).filter(|(_, part)| part.kind.is_script()) {
        let name = cleaned_name(&part.carried_as);
        let place = part.origin.place(Span::point(1, 1));
        if is_no_file(&name) {
            findings.push(
                Finding::error(
                    codes::NAME,
                    format!(
                        "nothing of `{}`, the name of part {number}, can be a file name: the part is lost",
                        part.name
                    ),
                )
                .at(place)
                .hint("use letters, digits and `._()-`"),
            );
            continue;
        }
        if part.kind == Kind::Script && name == "runcmd" && has_runcmd {
            findings.push(
                Finding::error(
                    codes::RESERVED_NAME,
                    "a script named `runcmd` is overwritten by the script that cloud-init makes of `runcmd:`",
                )
                .at(place.clone())
                .hint("give it another name"),
            );
        }
        if let Some(earlier) = seen.insert((part.kind, name.clone()), part)
            && part.kind != Kind::Boothook
        {
            findings.push(
                Finding::error(
                    codes::DUPLICATE_NAME,
                    format!("two scripts are written to `{name}`: only the last one runs"),
                )
                .at(place)
                .related(earlier.origin.place(Span::point(1, 1)), "lost")
                .hint("give each script a name of its own"),
            );
        }
    }
    findings
}

/// Names that no file can have.
fn is_no_file(name: &str) -> bool {
    matches!(name, "" | "." | "..")
}

/// Scripts run in the order of their names, which may be another than that of the parts.
fn order(parts: &[Part]) -> Findings {
    let scripts: Vec<_> = parts
        .iter()
        .filter(|part| part.kind == Kind::Script)
        .map(|part| (cleaned_name(&part.carried_as), part))
        .filter(|(name, _)| !is_no_file(name))
        .collect();
    let inverted = scripts.windows(2).find_map(|pair| match pair {
        [(first, _), (second, part)] if second < first => Some((first, second, part)),
        _ => None,
    });
    let finding = inverted.map(|(first, second, part)| {
        Finding::note(
            codes::SCRIPT_ORDER,
            format!("`{second}` runs before `{first}`, though it stands after it"),
        )
        .at(part.origin.place(Span::point(1, 1)))
        .hint("scripts run in the order of their names; number them with leading zeros")
    });
    finding.into_iter().collect()
}

/// Names that a document's parts had better not have. The carrier numbers the parts: none of them is lost for its name, but
/// what an archive holds keeps the names that it has there, or has none.
pub(super) fn of_document(parts: &[Part]) -> Findings {
    let mut findings = of_carrier(parts);
    let mut seen: BTreeMap<&str, &Part> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.carried_as != part.name) {
        let place = part.origin.place(Span::point(1, 1));
        let reserved = match part.name.as_str() {
            "nodeup.sh" => Some("kops' own bootstrap script"),
            "runcmd" if part.kind == Kind::Script => Some("the script that cloud-init makes of `runcmd:`"),
            name if is_numbered(name) => Some("parts without a name"),
            _ => None,
        };
        if let Some(owner) = reserved {
            findings.push(
                Finding::warning(
                    codes::RESERVED_NAME,
                    format!("the name `{}` is that of {owner}", part.name),
                )
                .at(place.clone())
                .hint("give the part another name"),
            );
        }
        if let Some(earlier) = seen.insert(&part.name, part) {
            let message =
                format!("two parts are named `{}`: only the carrier's numbers tell them apart", part.name);
            findings.push(
                Finding::note(codes::DUPLICATE_NAME, message)
                    .at(place)
                    .related(earlier.origin.place(Span::point(1, 1)), "the other")
                    .hint("give each part a name of its own"),
            );
        }
    }
    findings
}

/// `part-001`: what cloud-init calls parts that have no name.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix("part-")
        .is_some_and(|digits| digits.len() == 3 && digits.chars().all(|digit| digit.is_ascii_digit()))
}
