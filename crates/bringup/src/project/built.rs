//! A node group of a project, compiled and rendered.

use std::collections::BTreeSet;

use bringup_carry::{
    Load, Rendered, carriers_of, lost_guarantees, resolve_parts, unused_encoding, without_agent,
};
use bringup_diag::{Findings, Severity};
use bringup_plan::sha256_hex;
use bringup_spec::{Carrier, Document, NodeGroup};

use super::{GroupKey, Project, shown_path};
use crate::lints;
use crate::own_parts::OwnParts;
use crate::view::{BudgetView, CarrierView, GroupView, LostView, Operator, OriginView};

/// What of a node group is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish<'a> {
    /// The carriers that it asks for, and all there is to show.
    Everything,
    /// What there is to show of its plan.
    Plan,
    /// These carriers as they are, to be handed on: nothing about them is shown.
    Bytes(&'a [Carrier]),
}

/// A node group, rendered.
#[derive(Debug)]
pub(crate) struct Built {
    /// What there is to show; nothing if it does not compile or only bytes were wanted.
    pub(crate) view: Option<GroupView>,
    /// Its files by name, `plan.json` first.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// What was found.
    pub(crate) findings: Findings,
    /// Whether a carrier is larger than its platform takes.
    pub(crate) over_budget: bool,
}

/// Carriers that are templates.
const TEMPLATE: [Carrier; 2] = [Carrier::CloudFormation, Carrier::CloudFormationJson];

impl Project {
    /// What there is to tell of a carrier of a group that does not ask for it.
    pub(crate) fn misread(&self, key: GroupKey, carrier: Carrier) -> Findings {
        let Some((document, _)) = self.group(key) else { return Findings::new() };
        self.openable(key, bringup_plan::check_carrier(document, key.group, carrier))
    }

    /// Compiles one group and renders what is wanted of it.
    pub(crate) fn built(&self, key: GroupKey, wish: Wish<'_>, base_url: Option<&str>) -> Option<Built> {
        let (document, group) = self.group(key)?;
        let local = self.local.get(key.document)?;
        let compiled = bringup_plan::compile(document, key.group, local);
        let shown = !matches!(wish, Wish::Bytes(_));
        let origins = if shown { bringup_plan::origins(document, key.group, &compiled) } else { Vec::new() };
        let mut findings = compiled.findings;
        let path = document.group_path(key.group);
        let (parts, part_findings) = resolve_parts(document, &path, group, local);
        findings.append(part_findings);
        findings.append(lints::of_parts(document, &parts, compiled.plan.as_ref()));
        findings.append(lints::of_units(document, &path, group));
        let Some(plan) = compiled.plan else {
            let is_of_template = |carrier: &Carrier| TEMPLATE.contains(carrier);
            if let Some(draft) =
                compiled.draft.filter(|_| carriers_of(document, group).iter().any(is_of_template))
            {
                let told = bringup_cloudformation::check(document, &path, group, &draft);
                let errors = told.into_iter().filter(|finding| finding.severity == Severity::Error);
                findings.extend(errors.filter(|finding| !document.is_follow_up(finding)));
            }
            return Some(Built {
                view: None,
                files: Vec::new(),
                findings: self.openable(key, findings),
                over_budget: false,
            });
        };
        let load = Load::new(document, path, group, &plan, &parts).published_at(base_url);
        let mut carried = Vec::new();
        let mut views = Vec::new();
        let asked = match wish {
            Wish::Everything => carriers_of(document, group),
            Wish::Plan => Vec::new(),
            Wish::Bytes(carriers) => carriers.to_vec(),
        };
        let own = OwnParts::new(document, &parts, &asked);
        let distinct: BTreeSet<Carrier> = asked.into_iter().collect();
        let carriers = distinct.clone();
        if matches!(wish, Wish::Everything) {
            if !TEMPLATE.iter().any(|carrier| distinct.contains(carrier)) {
                findings.append(bringup_cloudformation::unused(document, &load.group_path, group));
            }
            findings.extend(unused_encoding(document, &load.group_path, group));
            findings.extend(without_agent(document, &load.group_path, group));
        }
        let mut over_budget = false;
        for carrier in distinct {
            let rendered = if shown { load.render(carrier) } else { load.render_plain(carrier) };
            over_budget |= rendered.budget.as_ref().is_some_and(|budget| !budget.fits());
            if shown {
                views.push(carrier_view(&load, &rendered));
            }
            findings.append(rendered.findings);
            carried.push((rendered.file_name, rendered.bytes));
        }
        let findings = self.openable(key, findings);
        let digest = if shown { load.plan_sha256().to_owned() } else { String::new() };
        let plan_json = ("plan.json".to_owned(), load.into_plan_json().into_bytes());
        let files = std::iter::once(plan_json).chain(carried).collect();
        let view = shown.then(|| GroupView {
            digest,
            steps: plan.steps.len(),
            carriers: views,
            origins: origins.iter().map(|value| OriginView::new(value, document)).collect(),
            findings: findings.clone(),
            operator: Operator::new(document, group),
            own,
            lost: lost(document, group, &carriers),
            plan,
        });
        Some(Built { view, files, findings, over_budget })
    }

    /// The findings in order; those in files beside the document name them as the person would open them.
    fn openable(&self, key: GroupKey, findings: Findings) -> Findings {
        let is_foreign = self.foreign.get(key.document) == Some(&true);
        let findings = if is_foreign { self.of_theirs(findings) } else { findings };
        let (Some(local), Some(root)) = (self.local.get(key.document), self.roots.get(key.document)) else {
            return findings.sorted();
        };
        let named = findings.into_iter().map(|mut finding| {
            let places = finding.place.iter_mut().chain(finding.related.iter_mut().map(|(place, _)| place));
            for place in places.filter(|place| local.entries.contains_key(&place.file)) {
                place.file = shown_path(root, &place.file);
            }
            finding
        });
        named.collect::<Findings>().sorted()
    }
}

/// What is lost with each of the carriers, told once where several lose the same.
fn lost(document: &Document, group: &NodeGroup, carriers: &BTreeSet<Carrier>) -> Vec<LostView> {
    let mut views: Vec<LostView> = Vec::new();
    for carrier in carriers {
        let lost = lost_guarantees(document, group, *carrier);
        match views.iter_mut().find(|view| view.lost == lost) {
            Some(view) => view.carriers.push(carrier.word()),
            None if lost.is_empty() => {}
            None => views.push(LostView { carriers: vec![carrier.word()], lost }),
        }
    }
    views
}

fn carrier_view(load: &Load<'_>, rendered: &Rendered) -> CarrierView {
    CarrierView {
        kind: rendered.carrier.word(),
        file: rendered.file_name.clone(),
        size: rendered.bytes.len(),
        sha256: sha256_hex(&rendered.bytes),
        budget: rendered.budget.as_ref().map(|budget| BudgetView {
            used: budget.used,
            limit: budget.limit,
            whose: budget.platform.to_owned(),
            parts: load.pieces(&rendered.parts),
        }),
    }
}
