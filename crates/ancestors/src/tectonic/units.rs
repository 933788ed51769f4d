//! The units of a config: those that Tectonic is made of, and the operator's own.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::effective::effective;
use super::group::{Cluster, Group};
use super::names::Names;
use super::node_units::{self, BOOTSTRAP, KUBELET};
use super::stages::{self, Stage};
use super::started::{self, started};
use super::tables;
use super::torcx;
use super::unit_text::{Lines, Setting, settings};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// A unit with all that is set in it and in its drop-ins.
pub(super) struct Given<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    pub(super) fields: Record<'a>,
    pub(super) settings: Vec<Setting>,
}

impl Given<'_> {
    /// Whether the config has the unit itself, and not only what is added to it.
    pub(super) fn has_contents(&self) -> bool {
        self.fields.text("contents").is_some_and(|contents| !contents.is_empty())
    }
}

/// The units that the agent has itself, under the names of Tectonic.
const STAGES: [&str; 4] = ["bootkube.path", "bootkube.service", "tectonic.path", "tectonic.service"];
/// What fetches assets, and what destroys them afterwards.
const ASSETS: [&str; 3] = ["init-assets.service", "rm-assets.path", "rm-assets.service"];

/// Takes over the units of a config; whether the runtime is left as it is.
pub(super) fn take(
    config: &Record<'_>,
    lines: Lines,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> bool {
    let Some(systemd) = config.get("systemd") else { return false };
    let systemd = tell.record(systemd, "`systemd` of a config", tables::SYSTEMD);
    let mut given: Vec<Given<'_>> = Vec::new();
    let mut names = Names::default();
    for unit in systemd.items("units") {
        let fields = tell.record(unit, "a unit of a config", tables::UNIT);
        let Some(name) = names.take(unit, "name", "this unit", tell).map(|entry| &entry.value) else {
            continue;
        };
        let mut all = fields.get("contents").map(|contents| settings(contents, lines)).unwrap_or_default();
        let mut drop_ins: Vec<(&str, &Node)> = Vec::new();
        let mut of_drop_ins = Names::default();
        for drop_in in fields.items("dropins") {
            let given = tell.record(drop_in, "a drop-in of a config", tables::DROP_IN);
            let name = of_drop_ins.take(drop_in, "name", "this drop-in", tell);
            drop_ins.extend(name.and_then(|name| name.value.text()).zip(given.get("contents")));
        }
        drop_ins.sort_by_key(|(name, _)| *name);
        all.extend(drop_ins.iter().flat_map(|(_, contents)| settings(contents, lines)));
        let span = if lines == Lines::OfFile { unit.span } else { name.span };
        given.push(Given { name: name.text().unwrap_or_default(), span, fields, settings: effective(all) });
    }
    let started = started(&given, &group.links);
    let mut skips = false;
    for unit in &given {
        if unit.fields.flag("mask") == Some(true) && (unit.name == KUBELET || STAGES.contains(&unit.name)) {
            let message = format!("`{}` is masked: no node comes up from this config", unit.name);
            tell.error(codes::FIELD_REFUSED, unit.span, message, "take `mask` out");
        }
        if [BOOTSTRAP, KUBELET].contains(&unit.name) || STAGES.contains(&unit.name) {
            started::tell(unit, &started, tell);
        }
        match unit.name {
            BOOTSTRAP => {
                group.joins.get_or_insert(unit.span);
                let kept = node_units::bootstrap(&unit.settings, unit.span, group, cluster, tell);
                group.units.extend(kept.unit(BOOTSTRAP, unit.span));
                skips = torcx::skips_runtime(&unit.settings);
            }
            KUBELET => {
                group.joins = Some(unit.span);
                node_units::kubelet(&unit.settings, unit.span, group, cluster, tell);
            }
            name if STAGES.contains(&name) => {}
            name if ASSETS.contains(&name) => of_assets(unit, tell),
            _ => group.units.extend(own(unit)),
        }
    }
    let find = |name: &str| given.iter().find(|unit| unit.name == name);
    group.is_master |= find("bootkube.service").or_else(|| find("tectonic.service")).is_some();
    let mut stage = |name: &str, needed: bool| {
        let (path, service) = (find(&format!("{name}.path")), find(&format!("{name}.service")));
        if let Some(service) = service.filter(|service| !needed || !started.contains(service.name)) {
            not_started(service, path, tell);
            return None;
        }
        let path = path.filter(|path| started.contains(path.name));
        let path = path.map(|unit| unit.settings.as_slice());
        Stage { path, service: service.map(|unit| (unit.settings.as_slice(), unit.span)) }
            .translated(name, tell)
    };
    group.control_plane = stage("bootkube", true);
    let starts = group.control_plane.is_some();
    group.platform_stage = stage("tectonic", starts);
    if starts && group.platform_stage.is_none() {
        // Without a stage of the document's the flavour has one of its own, which these machines do not have.
        let mut nothing = Branch::new(group.span);
        nothing.put("run", list(group.span, vec![text(group.span, "/bin/true")]));
        group.platform_stage = Some(nothing.into_node());
    }
    skips
}

/// A stage whose units lie there, and nothing starts them.
fn not_started(service: &Given<'_>, path: Option<&Given<'_>>, tell: &mut Teller<'_>) {
    let first = path.unwrap_or(service);
    let name = first.name;
    if service.name != "bootkube.service" {
        let message = format!(
            "nothing starts `{name}` in this config, or there is no cluster for it: it is not installed"
        );
        let hint =
            "where it is to be, enable the unit, or write `platformStage` with `--with additions.yaml`";
        tell.note(codes::DIFFERENCE, first.span, message, hint);
    } else if path.is_some() {
        let message = format!("nothing starts `{name}` in this config: its machines start no cluster");
        let hint = "where one is to, enable the unit, or write `bootstrap` and `controlPlane` with `--with additions.yaml`";
        tell.note(codes::DIFFERENCE, first.span, message, hint);
    } else {
        let message = format!(
            "nothing starts `{name}` in this config: its machines start no cluster, and whoever starts it by hand, once the assets are there, does not find it"
        );
        let hint = format!(
            "let the machine that is to start one do so when its assets arrive, with `--with additions.yaml`: `bootstrap: true` and `controlPlane: {{{}, waitFor: [{{manifest: PATH}}]}}`",
            stages::advice(&service.settings)
        );
        tell.warning_unless(says_bootstrap, (codes::FIELD_DIFFERS, first.span), message, hint);
    }
}

/// Whether a document says which machine starts the cluster.
fn says_bootstrap(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
    groups.unwrap_or_default().iter().any(|group| group.get("bootstrap").is_some())
}

/// The assets of a cluster are not fetched without a digest, and a unit that fails must not end the others for good.
fn of_assets(unit: &Given<'_>, tell: &mut Teller<'_>) {
    let name = unit.name;
    if name == "init-assets.service" {
        let message = format!(
            "`{name}` is not taken over: it fetches assets without a digest, and its first failure would end `bootkube.service` for good"
        );
        let hint = "write them with `--with additions.yaml`: `assets: [{name: assets, urls: [\"s3://BUCKET/assets.zip\"], sha256: …, path: /opt/tectonic, unpack: zip}]`, or push them over SSH";
        tell.warning(codes::FIELD_DIFFERS, unit.span, message, hint);
    } else {
        let message = format!("`{name}` is not taken over: what it overwrites in the store stays there");
        let hint = "let the store expire the assets, or remove them when the cluster runs";
        tell.warning(codes::FIELD_DIFFERS, unit.span, message, hint);
    }
}

/// A unit of the operator's, as it is.
fn own(unit: &Given<'_>) -> Option<Node> {
    let fields = &unit.fields;
    let mut made = Branch::new(unit.span);
    made.put_field("name", fields.entry("name")?);
    let masked = fields.flag("mask") == Some(true);
    if masked {
        if let Some(mask) = fields.entry("mask") {
            made.put_field("mask", mask);
        }
        return Some(made.into_node());
    }
    if let Some(contents) = fields.entry("contents").filter(|entry| entry.value.text() != Some("")) {
        made.put_field("content", contents);
    }
    if let Some(enabled) = fields.entry("enabled").or_else(|| fields.entry("enable")) {
        made.put_field("enabled", enabled);
    }
    let drop_ins: Vec<Node> = fields
        .items("dropins")
        .iter()
        .filter_map(|drop_in| {
            let mut one = Branch::new(drop_in.span);
            one.put("name", drop_in.get("name")?.clone());
            one.put("content", drop_in.get("contents")?.clone());
            Some(one.into_node())
        })
        .collect();
    made.put_full("dropIns", list(unit.span, drop_ins));
    Some(made.into_node())
}
