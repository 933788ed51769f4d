//! What an inspection lists, in the shape that the contracts fix.

use bringup_cloudinit::{Layer, ModuleAct};
use bringup_diag::{Findings, masked_line, to_json};
use bringup_plan::{Plan, sha256_hex};
use serde::Serialize;
use std::collections::BTreeMap;

use crate::placed::PlacedFile;

/// A file that the node will have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileRecord {
    /// Where.
    pub path: String,
    /// Four octal digits.
    pub mode: String,
    /// `user:group`.
    pub owner: String,
    /// How large; nothing if only the node will know.
    pub size: Option<usize>,
    /// The digest of its content; nothing if only the node will know.
    pub sha256: Option<String>,
    /// Where the node fetches it from.
    #[serde(skip)]
    pub source: Option<String>,
    /// What is in it, as far as it is known.
    #[serde(skip)]
    pub content: Option<Vec<u8>>,
}

impl FileRecord {
    pub(crate) fn new(path: &str, mode: u32, owner: &str) -> Self {
        Self {
            path: path.to_owned(),
            mode: format!("{mode:04o}"),
            owner: owner.to_owned(),
            size: None,
            sha256: None,
            source: None,
            content: None,
        }
    }

    /// Makes the content known.
    pub(crate) fn fill(&mut self, content: Vec<u8>) {
        self.size = Some(content.len());
        self.sha256 = Some(sha256_hex(&content));
        self.content = Some(content);
    }
}

impl From<PlacedFile> for FileRecord {
    fn from(file: PlacedFile) -> Self {
        let mut record = Self::new(&file.path, file.mode, &file.owner);
        record.fill(file.content);
        record
    }
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnitRecord {
    /// Its name.
    pub name: String,
    /// Whether it starts at boot; nothing if that stays as it is.
    pub enabled: Option<bool>,
}

/// A command that the node runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepRecord {
    /// When: `boothook`, `init`, `config`, `final`, `ignition`, `every-boot`.
    pub stage: &'static str,
    /// The command as the shell or exec sees it.
    pub run: String,
    /// The text of the script, if the command is one of the input.
    #[serde(skip)]
    pub script: Option<String>,
}

impl StepRecord {
    pub(crate) fn new(stage: &'static str, run: impl Into<String>) -> Self {
        Self { stage, run: run.into(), script: None }
    }
}

/// A piece of the input, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its name.
    pub name: String,
    /// Its type, such as `text/x-shellscript`.
    pub kind: String,
    /// Its text.
    pub text: String,
}

/// What an input would do.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Its name, where the input holds several.
    pub name: String,
    /// What it is wrapped in and made of, outermost first.
    pub layers: Vec<Layer>,
    /// Files, by path.
    pub files: Vec<FileRecord>,
    /// Units, by name.
    pub units: Vec<UnitRecord>,
    /// Commands, in the order in which they run.
    pub steps: Vec<StepRecord>,
    /// What there is to tell.
    pub findings: Findings,
    /// Links: what each points to, by path.
    pub links: BTreeMap<String, String>,
    /// Directories that are made.
    pub directories: Vec<String>,
    /// Arguments of the kernel's command line.
    pub kernel_arguments: Vec<String>,
    /// What cloud-init's other modules are told to do.
    pub modules: Vec<ModuleAct>,
    /// The pieces of the input, decoded.
    pub pieces: Vec<Piece>,
    /// Texts that findings point into, by the name that they use.
    pub sources: Vec<(String, String)>,
    /// The plan, if the input is a carrier of ours.
    pub plan: Option<Plan>,
    /// Each carrier, if the input holds several; then nothing else is filled in but findings about the whole.
    pub parts: Vec<Inspection>,
    /// Whether the input was something that could be decoded.
    pub decoded: bool,
}

impl Inspection {
    /// As the contracts fix it.
    pub fn to_json(&self) -> serde_json::Value {
        if self.parts.is_empty() {
            return self.flat();
        }
        let parts: Vec<serde_json::Value> = self
            .parts
            .iter()
            .map(|part| {
                let mut value = part.flat();
                if let Some(value) = value.as_object_mut() {
                    value.insert("name".to_owned(), part.name.clone().into());
                }
                value
            })
            .collect();
        serde_json::json!({"parts": parts})
    }

    fn flat(&self) -> serde_json::Value {
        let masked = |act: &ModuleAct| ModuleAct { does: masked_line(&act.does), ..act.clone() };
        let mut value = serde_json::json!({
            "layers": self.layers,
            "files": self.files,
            "units": self.units,
            "steps": self.steps,
            "findings": to_json(&self.findings),
        });
        if let Some(value) = value.as_object_mut().filter(|_| !self.modules.is_empty()) {
            let modules: Vec<ModuleAct> = self.modules.iter().map(masked).collect();
            value.insert("modules".to_owned(), serde_json::json!(modules));
        }
        value
    }

    /// All findings, those of the parts included, in order.
    pub fn all_findings(&self) -> Findings {
        let mut findings = self.findings.clone();
        for part in &self.parts {
            findings.append(part.all_findings());
        }
        findings.sorted()
    }
}
