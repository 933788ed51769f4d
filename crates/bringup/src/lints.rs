//! Lints of the operator's own parts of user-data and units, by cloud-init's and systemd's real rules.

use bringup_carry::{ResolvedPart, carried_names};
use bringup_cloudinit::{DocumentPart, Kind, Origin, Part, codes, effects_of, lint_parts, lint_unit};
use bringup_diag::{Finding, Findings, Severity, Span};
use bringup_plan::{Plan, file_in_the_way};
use bringup_spec::{Document, NodeGroup, PartType};
use bringup_yaml::{Node, Path, Segment, Style};

/// What there is to tell about the parts of a group, at the lines that the person wrote.
pub(crate) fn of_parts(document: &Document, parts: &[ResolvedPart], plan: Option<&Plan>) -> Findings {
    let mut found = Findings::new();
    let mut texts = Vec::new();
    let names = carried_names(document.cluster.spec.flavour, parts);
    for (part, carried_as) in parts.iter().zip(names) {
        let origin = origin(document, &part.path);
        match std::str::from_utf8(&part.bytes) {
            Ok(text) => texts.push(DocumentPart {
                name: &part.name,
                carried_as,
                content_type: part.kind.word(),
                text,
                origin,
            }),
            Err(_) => found.push(
                Finding::error(codes::NOT_UTF8, "not UTF-8: cloud-init cannot write it and drops it")
                    .at(origin.place(Span::point(1, 1)))
                    .hint("save the file as UTF-8; bytes can be carried by `files` of the node group"),
            ),
        }
    }
    let (all, mut findings) = Part::of_document(texts);
    findings.append(found);
    findings.append(lint_parts(&all));
    if let Some(plan) = plan {
        findings.append(in_the_way(&all, plan));
    }
    findings.into_iter().map(|finding| weighed(finding, parts)).collect()
}

/// Files of the parts where the plan has its own: the later one of the two would win.
fn in_the_way(parts: &[Part], plan: &Plan) -> Findings {
    let files = effects_of(parts).files;
    let told = files.iter().filter_map(|file| {
        let finding = file_in_the_way(plan, &file.path)?;
        let place = file.at.and_then(|(number, span)| {
            let part = parts.get(number)?;
            // A template may have moved its lines.
            Some(part.origin.place(if part.kind == Kind::Jinja { Span::point(1, 1) } else { span }))
        });
        Some(match place {
            Some(place) => finding.at(place),
            None => finding,
        })
    });
    told.collect()
}

/// What there is to tell about the operator's units and drop-ins.
pub(crate) fn of_units(document: &Document, path: &Path, group: &NodeGroup) -> Findings {
    let mut findings = Findings::new();
    for (index, unit) in group.units.iter().enumerate() {
        let at = path.key("units").index(index);
        let mut lint = |drop_in: bool, text: &str, path: &Path| {
            findings.append(lint_unit(&unit.name, drop_in, text, &origin(document, path)));
        };
        if let Some(content) = &unit.content {
            lint(false, content, &at.key("content"));
        }
        for (index, drop_in) in unit.drop_ins.iter().enumerate() {
            lint(true, &drop_in.content, &at.key("dropIns").index(index).key("content"));
        }
    }
    findings
}

/// The schema takes upstart jobs, for old documents: that cloud-init drops them is worth a warning, and no more.
fn weighed(mut finding: Finding, parts: &[ResolvedPart]) -> Finding {
    let accepted = parts.iter().any(|part| part.kind == PartType::UpstartJob);
    if accepted && finding.code == codes::UNHANDLED_TYPE {
        finding.severity = Severity::Warning;
    }
    finding
}

/// Where the text at a path stands: in a file of its own, in a block of the document, or lost in a quoted text.
fn origin(document: &Document, path: &Path) -> Origin {
    let place = document.place(path);
    let scalar = node_at(document.tree(), path).and_then(Node::scalar);
    match (path.segments().last(), scalar) {
        (Some(Segment::Key(key)), Some(scalar)) if key == "src" => Origin::whole(scalar.text.clone()),
        (_, Some(scalar)) if scalar.style == Style::Block => Origin::block(place.file, place.span.start),
        _ => Origin::fixed(place.file, place.span),
    }
}

fn node_at<'tree>(tree: &'tree Node, path: &Path) -> Option<&'tree Node> {
    path.segments().iter().try_fold(tree, |node, segment| match segment {
        Segment::Key(key) => node.get(key),
        Segment::Index(index) => node.items()?.get(*index),
    })
}
