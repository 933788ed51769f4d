//! What a plan or a carrier makes of a node, in one shape that can be compared.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_carry::Inspection;
use bringup_plan::{Action, Content, InstallSource, Plan, PodLimit, Step, Unit, max_pods, sha256_hex};
use bringup_spec::SecretSource;

use crate::agent_source::{agent_in, agent_of};
use crate::user_data::{PartState, holder, own_parts, own_parts_of, settings_of};

/// What a node becomes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NodeState {
    /// Single values by name.
    pub(crate) values: BTreeMap<String, String>,
    /// Files by path; directories end in a slash.
    pub(crate) files: BTreeMap<String, FileState>,
    /// Units by name, with drop-ins under `UNIT.d/NAME`.
    pub(crate) units: BTreeMap<String, UnitState>,
    /// What is done, in order.
    pub(crate) steps: Vec<StepState>,
    /// The operator's own parts of user-data, in order. Nothing if the input does not tell.
    pub(crate) parts: Option<Vec<PartState>>,
    /// How the machine is launched: templates by name, without the user-data, which the rest is about. Nothing if the input
    /// does not tell.
    pub(crate) templates: Option<BTreeMap<String, String>>,
    /// Where the agent comes from. Nothing if the input does not tell.
    pub(crate) agent: Option<String>,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileState {
    /// `0644 root:root`
    pub(crate) access: String,
    /// Its text, placeholders as a document writes them.
    pub(crate) text: Option<String>,
    /// Where it comes from or what it hashes to, if it is no text.
    pub(crate) source: String,
}

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitState {
    /// `enabled`, `disabled`, `masked` or nothing.
    pub(crate) state: String,
    /// Its text.
    pub(crate) text: String,
}

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepState {
    /// Its name.
    pub(crate) name: String,
    /// When it runs: a phase, or a stage of cloud-init or Ignition.
    pub(crate) when: String,
    /// What it does, with the content of files left out: they have their own place.
    pub(crate) what: String,
}

impl From<&Plan> for NodeState {
    fn from(plan: &Plan) -> Self {
        let mut state = Self { values: values(plan), ..Self::default() };
        for unit in &plan.units {
            state.add_unit(unit);
        }
        for step in &plan.steps {
            state.add_file(&step.action);
            state.steps.push(StepState {
                name: step.name.clone(),
                when: step.phase.to_string(),
                what: described(step),
            });
        }
        state
    }
}

impl From<&Inspection> for NodeState {
    fn from(inspection: &Inspection) -> Self {
        let mut state = Self::default();
        for file in &inspection.files {
            let text = file.content.as_ref().and_then(|bytes| String::from_utf8(bytes.clone()).ok());
            let source = match (&text, &file.sha256) {
                (None, Some(digest)) => format!("sha256 {digest}"),
                _ => String::new(),
            };
            let access = format!("{} {}", file.mode, file.owner);
            state.files.insert(file.path.clone(), FileState { access, text, source });
        }
        for path in &inspection.directories {
            state.files.insert(format!("{}/", path.trim_end_matches('/')), FileState::default());
        }
        for (path, target) in &inspection.links {
            let source = format!("link to {target}");
            state.files.insert(path.clone(), FileState { source, ..FileState::default() });
        }
        for unit in &inspection.units {
            let enabled = match unit.enabled {
                Some(true) => "enabled",
                Some(false) => "disabled",
                None => "",
            };
            let unit_state = UnitState { state: enabled.to_owned(), text: String::new() };
            state.units.insert(unit.name.clone(), unit_state);
        }
        if !inspection.kernel_arguments.is_empty() {
            state.values.insert("kernel arguments".to_owned(), inspection.kernel_arguments.join(" "));
        }
        for step in &inspection.steps {
            // The command is its own name: there is no other.
            let name = step.run.lines().next().unwrap_or_default().to_owned();
            let what = step.script.clone().unwrap_or_else(|| step.run.clone());
            state.steps.push(StepState { name, when: step.stage.to_owned(), what });
        }
        state.parts = Some(settings_of(inspection));
        state
    }
}

impl NodeState {
    /// The same state, with what the carriers among these files hold beside the plan: the operator's own parts, and
    /// templates.
    #[must_use]
    pub(crate) fn with_carriers<'a>(self, files: impl Iterator<Item = (&'a str, &'a [u8])> + Clone) -> Self {
        let parts = holder(files.clone()).and_then(|(name, bytes)| own_parts(name, bytes));
        let agent = agent_in(files.clone());
        let templates = files.filter(|(name, _)| name.starts_with("template."));
        let texts =
            templates.map(|(name, bytes)| (name.to_owned(), launch_text(&String::from_utf8_lossy(bytes)).1));
        Self { templates: Some(texts.collect()), agent, ..self }.with_parts(Some(parts.unwrap_or_default()))
    }

    /// The same state, with what a carrier of ours holds beside its plan.
    #[must_use]
    pub(crate) fn with_carrier(self, carrier: &Inspection) -> Self {
        Self { agent: Some(agent_of(carrier)), ..self }.with_parts(own_parts_of(carrier))
    }

    /// The same state, with the operator's own parts.
    #[must_use]
    fn with_parts(self, parts: Option<Vec<PartState>>) -> Self {
        Self { parts, ..self }
    }

    /// The same state, launched by this template.
    #[must_use]
    pub(crate) fn with_template(self, template: &str) -> Self {
        let (name, text) = launch_text(template);
        let templates = BTreeMap::from([(name.to_owned(), text)]);
        Self { templates: Some(templates), ..self }
    }

    fn add_unit(&mut self, unit: &Unit) {
        let state = match (unit.mask, unit.enabled) {
            (true, _) => "masked",
            (false, Some(true)) => "enabled",
            (false, Some(false)) => "disabled",
            (false, None) => "",
        };
        let text = unit.content.clone().unwrap_or_default();
        self.units.insert(unit.name.clone(), UnitState { state: state.to_owned(), text });
        for (name, text) in &unit.drop_ins {
            let drop_in = UnitState { state: String::new(), text: text.clone() };
            self.units.insert(format!("{}.d/{name}", unit.name), drop_in);
        }
    }

    fn add_file(&mut self, action: &Action) {
        let (path, state) = match action {
            Action::WriteFile { path, mode, owner, content } => {
                let (text, source) = content_state(content);
                (path.clone(), FileState { access: format!("{mode} {owner}"), text, source })
            }
            Action::MakeDirectory { path, mode, owner } => (
                format!("{}/", path.trim_end_matches('/')),
                FileState { access: format!("{mode} {owner}"), ..FileState::default() },
            ),
            Action::MakeLink { path, target } => {
                (path.clone(), FileState { source: format!("link to {target}"), ..FileState::default() })
            }
            Action::Fetch { sha256, path, mode, owner, .. } => (
                path.clone(),
                FileState {
                    access: format!("{mode} {owner}"),
                    text: None,
                    source: format!("sha256 {sha256}"),
                },
            ),
            Action::Install {
                source:
                    InstallSource::Url { sha256, path, .. } | InstallSource::Extension { sha256, path, .. },
                ..
            } => (path.clone(), FileState { source: format!("sha256 {sha256}"), ..FileState::default() }),
            _ => return,
        };
        self.files.insert(path, state);
    }
}

/// A template as it is compared: what a build would call it, and its text without user-data.
fn launch_text(template: &str) -> (&'static str, String) {
    match serde_json::from_str::<serde_json::Value>(template) {
        // However it was written: one line is nothing that could be compared.
        Ok(value) => ("template.json", without_user_data(&format!("{value:#}\n"))),
        Err(_) => ("template.yaml", without_user_data(template)),
    }
}

/// A template with its user-data left out. Both of our forms indent what belongs to a key deeper than the key.
fn without_user_data(template: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut kept = String::with_capacity(template.len());
    let mut skipping: Option<usize> = None;
    for line in template.lines() {
        if let Some(depth) = skipping {
            if indent(line) > depth || line.trim().is_empty() {
                continue;
            }
            skipping = None;
        }
        if line.trim_start().trim_start_matches('"').starts_with("UserData") {
            skipping = Some(indent(line));
            kept.push_str(line.split(':').next().unwrap_or_default());
            kept.push_str(":\n");
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// The text of a file, or where it comes from.
fn content_state(content: &Content) -> (Option<String>, String) {
    match content {
        Content::Text(text) => (Some(text.to_string()), String::new()),
        Content::Base64(encoded) => bytes_state(encoded),
        Content::PodTable(_) => (Some(max_pods::map()), String::new()),
        Content::Secret(secret) => (None, secret_source(secret)),
        Content::Merged { otherwise, over } => {
            let over = over.iter().map(|text| format!("<laid over it>\n{text}"));
            let text = [format!("<the image's own, or>\n{otherwise}")].into_iter().chain(over);
            (Some(text.collect()), String::new())
        }
        Content::Pieces(pieces) => {
            let text = pieces.iter().map(|piece| match content_state(piece) {
                (Some(text), _) => text,
                (None, source) => format!("<{source}>"),
            });
            (Some(text.collect()), String::new())
        }
    }
}

/// Bytes as text where they are, else their digest.
fn bytes_state(encoded: &str) -> (Option<String>, String) {
    let bytes = decoded(encoded);
    let digest = format!("sha256 {}", sha256_hex(&bytes));
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (Some(text), String::new()),
        _ => (None, digest),
    }
}

/// The bytes behind base64 of a plan; what is none stands for itself.
pub(crate) fn decoded(encoded: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(encoded).unwrap_or_else(|_| encoded.as_bytes().to_vec())
}

/// Where a secret comes from; never the secret.
fn secret_source(secret: &SecretSource) -> String {
    let (kind, name) = match secret {
        SecretSource::File(path) => ("file", path),
        SecretSource::Environment(name) => ("environment", name),
        SecretSource::S3(url) => ("s3", url),
        SecretSource::SsmParameter(name) => ("ssmParameter", name),
        SecretSource::SecretsManager(name) => ("secretsManager", name),
    };
    format!("secret from {kind} {name}")
}

/// The action and the policy of a step as canonical JSON, without the content of files.
fn described(step: &Step) -> String {
    let mut value = serde_json::to_value(step).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("name");
        fields.remove("phase");
        if let Some(action) = fields.get_mut("action").and_then(serde_json::Value::as_object_mut)
            && action.get("do").is_some_and(|what| what == "writeFile")
        {
            action.remove("content");
        }
    }
    value.to_string()
}

fn values(plan: &Plan) -> BTreeMap<String, String> {
    let pods = match &plan.max_pods {
        PodLimit::Fixed(number) => number.to_string(),
        PodLimit::Interfaces { prefix_delegation, custom_networking, cap } => format!(
            "by instance type (prefix delegation: {prefix_delegation}, custom networking: {custom_networking}, cap: {})",
            cap.map_or_else(|| "none".to_owned(), |cap| cap.to_string())
        ),
        PodLimit::Expression { cel } => format!("by `{cel}`"),
    };
    let mut values = BTreeMap::from([
        ("kubernetes".to_owned(), plan.kubernetes.clone()),
        ("flavour".to_owned(), plan.flavour.to_string()),
        ("platform".to_owned(), plan.platform.to_string()),
        (
            "os".to_owned(),
            match &plan.os_version {
                Some(version) => format!("{} {version}", plan.os),
                None => plan.os.to_string(),
            },
        ),
        ("architecture".to_owned(), plan.architecture.to_string()),
        ("role".to_owned(), plan.role.to_string()),
        ("node name".to_owned(), plan.node_name.to_string()),
        ("max pods".to_owned(), pods),
    ]);
    for (name, value) in &plan.environment {
        values.insert(format!("environment {name}"), value.clone());
    }
    for (index, authority) in plan.certificate_authorities.iter().enumerate() {
        values.insert(format!("certificate authority {}", index + 1), sha256_hex(authority.as_bytes()));
    }
    for (index, assertion) in plan.order.iter().enumerate() {
        values.insert(format!("order {}", index + 1), assertion.clone());
    }
    for hook in &plan.hooks {
        let hook_json = serde_json::to_string(hook).unwrap_or_default();
        values.insert(format!("hook {} {}", hook.on, hook.name), hook_json);
    }
    if let Some(election) = &plan.bootstrap {
        values.insert("bootstrap".to_owned(), serde_json::to_string(election).unwrap_or_default());
    }
    values
}

#[cfg(test)]
mod tests {
    use super::without_user_data;

    #[test]
    fn a_template_is_compared_without_its_user_data() {
        let template = "a:\n  UserData:\n    Fn::Base64: |\n      #!/bin/sh\n\n      echo\n  Volume: 40\n";
        assert_eq!(without_user_data(template), "a:\n  UserData:\n  Volume: 40\n");
        assert_eq!(without_user_data("UserData: I2Ns\nKey: x\n"), "UserData:\nKey: x\n");
        let template = "{\n \"UserData\": {\n  \"x\": 1\n },\n \"Volume\": 40\n}\n";
        assert_eq!(without_user_data(template), "{\n \"UserData\":\n },\n \"Volume\": 40\n}\n");
    }
}
