//! What a carrier itself puts in place on the node.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_plan::{Content, OUR_UNITS, PlacedBy, Unit};

use crate::load::Load;
use crate::step_runner;

/// Where the agent finds its plan.
pub(crate) const PLAN_PATH: &str = "/etc/bringup/plan.json";
/// The agent.
pub(crate) const AGENT_PATH: &str = "/opt/bringup/bin/bringup-node";
/// Where units of the administrator stand.
pub(crate) const UNIT_DIRECTORY: &str = "/etc/systemd/system";
/// The unit that runs the agent up to the gate.
pub(crate) const AGENT_UNIT: &str = "bringup.service";

/// Where the file of a unit stands.
pub(crate) fn unit_path(name: &str) -> String {
    format!("{UNIT_DIRECTORY}/{name}")
}

/// A file that a carrier places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedFile {
    pub(crate) path: String,
    pub(crate) mode: u32,
    /// `user:group`.
    pub(crate) owner: String,
    pub(crate) content: Vec<u8>,
}

impl PlacedFile {
    /// A file of root's.
    pub(crate) fn new(path: impl Into<String>, mode: u32, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode, owner: "root:root".to_owned(), content: content.into() }
    }

    /// The content, if it is text that a here-document can hold: whole lines, nothing that a shell drops, and nothing
    /// beyond ASCII, which cloud-init changes in a part that was compressed.
    pub(crate) fn lines(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.content).ok()?;
        let carried = text.is_ascii() && !self.content.contains(&0) && !self.content.contains(&b'\r');
        ((text.ends_with('\n') || text.is_empty()) && carried).then_some(text)
    }
}

/// The text with a line end at its end. A unit file means the same with it, and every carrier writes the same bytes.
pub(crate) fn whole_lines(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The files of a unit: itself, if the plan brings it, and its drop-ins.
pub(crate) fn unit_files(unit: &Unit) -> Vec<PlacedFile> {
    if unit.mask {
        return Vec::new();
    }
    let own =
        unit.content.as_ref().map(|text| PlacedFile::new(unit_path(&unit.name), 0o644, whole_lines(text)));
    let drop_ins = unit.drop_ins.iter().map(|(name, text)| {
        PlacedFile::new(format!("{UNIT_DIRECTORY}/{}.d/{name}", unit.name), 0o644, whole_lines(text))
    });
    own.into_iter().chain(drop_ins).collect()
}

/// The units that a carrier must place: ours, for the agent to do the rest; without an agent, all but ours.
pub(crate) fn carried_units<'load>(load: &'load Load<'_>) -> Vec<Cow<'load, Unit>> {
    let units = load.plan.units.iter();
    if load.has_agent() {
        return units.filter(|unit| unit.placed_by == PlacedBy::Carrier).map(Cow::Borrowed).collect();
    }
    units_without_agent(load)
}

/// All units but the agent's. Where steps come before kubelet, their unit is among them, and starts kubelet.
pub(crate) fn units_without_agent<'load>(load: &'load Load<'_>) -> Vec<Cow<'load, Unit>> {
    let theirs = load.plan.units.iter().filter(|unit| !OUR_UNITS.contains(&unit.name.as_str()));
    let mut units: Vec<Cow<'_, Unit>> = theirs
        .map(|unit| {
            if step_runner::is_held(load, &unit.name) {
                Cow::Owned(Unit { enabled: None, ..unit.clone() })
            } else {
                Cow::Borrowed(unit)
            }
        })
        .collect();
    if step_runner::has_runner(load) {
        units.push(Cow::Owned(step_runner::unit(load)));
    }
    units
}

/// The bytes of a file that are known before boot.
pub(crate) fn known_bytes(content: &Content) -> Option<Vec<u8>> {
    match content {
        Content::Text(text) => text.as_literal().map(|text| text.as_bytes().to_vec()),
        Content::Base64(text) => BASE64_STANDARD.decode(text).ok(),
        // The agent has the table, and no carrier does.
        Content::Secret(_) | Content::Pieces(_) | Content::Merged { .. } | Content::PodTable(_) => None,
    }
}

/// A mode that a plan holds as octal digits.
pub(crate) fn mode_bits(digits: &str, usual: u32) -> u32 {
    u32::from_str_radix(digits, 8).unwrap_or(usual)
}
