//! A load as an Ignition config.

use std::borrow::Cow;

use bringup_diag::{Finding, Findings};
use bringup_plan::{Action, Unit};
use bringup_spec::Carrier;
use serde_json::{Map, Value, json};

use super::SPECIAL_BITS;
use super::data_url::{Effort, plain_length, shortest};
use super::native::{Directory, Native, native};
use crate::budget::{Budget, PartSize, budget_of};
use crate::codes;
use crate::fetch::{is_fetchable, wanted_plan};
use crate::load::Load;
use crate::placed::{AGENT_PATH, AGENT_UNIT, PLAN_PATH, PlacedFile, UNIT_DIRECTORY, whole_lines};
use crate::render::{Form, Rendered, tell_size};
use bringup_plan::sha256_hex;

/// The oldest specification that has all that a node needs, kernel arguments included; what Debian 12's validator reads.
const USUAL_VERSION: &str = "3.3.0";
/// The first that honours setuid, setgid and sticky bits.
const SPECIAL_BITS_VERSION: &str = "3.6.0";

/// How to make a config smaller, one after the other.
#[derive(Clone, Copy)]
struct Shape {
    /// Files of the plan also as files of the config.
    files: bool,
    /// How files are compressed, where that makes them smaller.
    packing: Form,
    /// The plan by address.
    fetched: bool,
}

/// Compression takes many times what all the rest takes, so it waits until it is needed.
const SHAPES: [Shape; 5] = [
    Shape { files: true, packing: Form::Plain, fetched: false },
    Shape { files: true, packing: Form::Gzip, fetched: false },
    Shape { files: false, packing: Form::Gzip, fetched: false },
    Shape { files: false, packing: Form::StrongGzip, fetched: false },
    Shape { files: false, packing: Form::StrongGzip, fetched: true },
];

/// The config of a load, within the platform's limit if that can be.
pub(crate) fn render(load: &Load<'_>, findings: &mut Findings) -> Rendered {
    let (_, limit) = budget_of(load.group.platform);
    let rendered = within(load, limit, findings);
    tell_size(load, &rendered, findings);
    rendered
}

/// The config of a load, within `limit` if that can be.
pub(crate) fn within(load: &Load<'_>, limit: usize, findings: &mut Findings) -> Rendered {
    for (index, part) in load.parts.iter().enumerate() {
        findings.push(
            Finding::warning(
                codes::NOT_CARRIED,
                format!("part `{}` is for cloud-init; Ignition has no place for it", part.name),
            )
            .at(load.document.place(&load.group_path.key("parts").index(index)))
            .hint("write it as a step, a file or a unit of the node group"),
        );
    }
    let (platform, whole) = budget_of(load.group.platform);
    let can_fetch = is_fetchable(load);
    let mut best: Option<(Vec<u8>, Vec<PartSize>, Shape, Findings)> = None;
    for shape in SHAPES {
        let useless = if load.has_agent() { shape.fetched && !can_fetch } else { !shape.files };
        if useless {
            continue;
        }
        let mut said = Findings::new();
        let Some((bytes, parts)) = config(load, shape, limit, &mut said) else { continue };
        let fits = bytes.len() <= limit;
        best = Some((bytes, parts, shape, said));
        if fits {
            break;
        }
    }
    let (bytes, parts, fetched) = match best {
        Some((bytes, parts, shape, said)) => {
            findings.append(said);
            (bytes, parts, shape.fetched)
        }
        None => (Vec::new(), Vec::new(), false),
    };
    Rendered {
        carrier: Carrier::Ignition,
        file_name: "ignition.json".to_owned(),
        budget: Some(Budget { platform, limit: whole, used: bytes.len(), plain: bytes.len() }),
        bytes,
        parts,
        form: Form::Plain,
        plan_fetched: fetched,
        findings: Findings::new(),
    }
}

/// The config in one shape; nothing for a plain one that is certain to be over the limit.
fn config(
    load: &Load<'_>,
    shape: Shape,
    limit: usize,
    findings: &mut Findings,
) -> Option<(Vec<u8>, Vec<PartSize>)> {
    let mut native = native(load, shape.files, findings);
    let mut fetched: Vec<Value> = Vec::new();
    if load.has_agent() {
        match shape.fetched.then(|| wanted_plan(load)).flatten() {
            Some(plan) => fetched
                .extend(plan.urls.first().map(|url| remote_file(PLAN_PATH, plan.mode, url, &plan.sha256))),
            None => native.files.push(PlacedFile::new(PLAN_PATH, 0o600, load.plan_json())),
        }
        fetched.extend(agent_file(load, findings));
    }
    let units = units(load, &mut native);
    if shape.packing == Form::Plain && least_plain(&native, &units) > limit {
        return None;
    }
    let version = version(load, &native, findings);
    let mut sizes = Vec::new();
    native.files.sort_by(|one, other| one.path.cmp(&other.path));
    let mut effort = Effort::of(shape.packing);
    let mut files: Vec<Value> = native.files.iter().map(|file| file_value(load, file, &mut effort)).collect();
    for (file, value) in native.files.iter().zip(&files) {
        sizes.push(PartSize { name: file.path.clone(), bytes: json_length(value) });
    }
    files.extend(fetched);
    for unit in &units {
        let name = unit.get("name").and_then(Value::as_str).unwrap_or_default();
        sizes.push(PartSize { name: name.to_owned(), bytes: json_length(unit) });
    }
    native.directories.sort_by(|one, other| one.path.cmp(&other.path));
    let mut storage = Map::new();
    insert_list(&mut storage, "directories", native.directories.iter().map(directory_value).collect());
    insert_list(&mut storage, "files", files);
    let links = native.links.iter();
    insert_list(
        &mut storage,
        "links",
        links.map(|(path, target)| json!({"path": path, "target": target, "overwrite": true})).collect(),
    );
    let mut config = Map::new();
    config.insert("ignition".to_owned(), json!({"version": version}));
    if !storage.is_empty() {
        config.insert("storage".to_owned(), storage.into());
    }
    if !native.kernel_arguments.is_empty() {
        config.insert("kernelArguments".to_owned(), json!({"shouldExist": native.kernel_arguments}));
    }
    if !units.is_empty() {
        let mut systemd = Map::new();
        systemd.insert("units".to_owned(), units.into());
        config.insert("systemd".to_owned(), systemd.into());
    }
    let text = format!("{}\n", Value::Object(config));
    let known: usize = sizes.iter().map(|size| size.bytes).sum();
    sizes.push(PartSize { name: "frame".to_owned(), bytes: text.len().saturating_sub(known) });
    Some((text.into_bytes(), sizes))
}

/// Fewer bytes than the files and units take if nothing is compressed.
fn least_plain(native: &Native, units: &[Value]) -> usize {
    /// The digest, and the keys that every file has.
    const AROUND_FILE: usize = 150;
    let files = native
        .files
        .iter()
        .map(|file| plain_length(&file.content).saturating_add(file.path.len()).saturating_add(AROUND_FILE));
    files.chain(units.iter().map(json_length)).fold(0, usize::saturating_add)
}

/// How many bytes a value takes in the config.
fn json_length(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

fn insert_list(map: &mut Map<String, Value>, key: &str, items: Vec<Value>) {
    if !items.is_empty() {
        map.insert(key.to_owned(), items.into());
    }
}

/// The specification that the config needs.
fn version(load: &Load<'_>, native: &Native, findings: &mut Findings) -> &'static str {
    let special = native
        .files
        .iter()
        .map(|file| (&file.path, file.mode))
        .chain(native.directories.iter().map(|directory| (&directory.path, directory.mode)));
    let mut version = USUAL_VERSION;
    for (path, mode) in special.filter(|(_, mode)| mode & SPECIAL_BITS != 0) {
        version = SPECIAL_BITS_VERSION;
        findings.push(
            Finding::warning(
                codes::NEWER_SPEC,
                format!("mode {mode:04o} of `{path}` needs Ignition's specification {SPECIAL_BITS_VERSION}, which images with Ignition below 2.26 refuse"),
            )
            .at(load.place("files"))
            .hint("leave out the setuid, setgid and sticky bits, or let the agent write the file: `agent: image` or `agent: fetch`"),
        );
    }
    version
}

fn owner_keys(entry: &mut Map<String, Value>, owner: &str) {
    let (user, group) = owner.split_once(':').unwrap_or((owner, owner));
    for (key, name) in [("user", user), ("group", group)] {
        match name.parse::<u32>() {
            Ok(id) => entry.insert(key.to_owned(), json!({"id": id})),
            // Root owns what has no owner.
            Err(_) if name == "root" => None,
            Err(_) => entry.insert(key.to_owned(), json!({"name": name})),
        };
    }
}

fn file_value(load: &Load<'_>, file: &PlacedFile, effort: &mut Effort) -> Value {
    let source = shortest(&file.content, effort);
    let mut contents = Map::new();
    if source.gzip {
        contents.insert("compression".to_owned(), "gzip".into());
    }
    contents.insert("source".to_owned(), source.url.into());
    // The plan is most of a config, and its form is not the first that is tried.
    let is_plan = file.path == PLAN_PATH && file.content == load.plan_json().as_bytes();
    let sha256 =
        if is_plan { Cow::Borrowed(load.plan_sha256()) } else { Cow::Owned(sha256_hex(&file.content)) };
    contents.insert("verification".to_owned(), json!({"hash": format!("sha256-{sha256}")}));
    let mut entry = Map::new();
    entry.insert("path".to_owned(), file.path.clone().into());
    entry.insert("mode".to_owned(), file.mode.into());
    entry.insert("overwrite".to_owned(), true.into());
    entry.insert("contents".to_owned(), contents.into());
    owner_keys(&mut entry, &file.owner);
    entry.into()
}

fn directory_value(directory: &Directory) -> Value {
    let mut entry = Map::new();
    entry.insert("path".to_owned(), directory.path.clone().into());
    entry.insert("mode".to_owned(), directory.mode.into());
    owner_keys(&mut entry, &directory.owner);
    entry.into()
}

fn remote_file(path: &str, mode: u32, url: &str, sha256: &str) -> Value {
    json!({
        "path": path, "mode": mode, "overwrite": true,
        "contents": {"source": url, "verification": {"hash": format!("sha256-{sha256}")}},
    })
}

/// The agent, if it is to be fetched: Ignition fetches and checks it itself.
fn agent_file(load: &Load<'_>, findings: &mut Findings) -> Option<Value> {
    let mut said = Findings::new();
    let wanted = crate::fetch::wanted_agent(load, &mut said);
    // Ignition reads S3 as well, so an address there is no fault here.
    let s3 = load
        .agent_download()
        .and_then(|download| download.urls.iter().find(|url| url.as_str().starts_with("s3://")));
    let first = wanted.as_ref().and_then(|wanted| wanted.urls.iter().find(|url| !url.starts_with("file:")));
    let (url, mirrors) = match (first, s3) {
        (Some(url), _) => (url.clone(), wanted.as_ref().map_or(0, |wanted| wanted.urls.len())),
        (None, Some(url)) => (url.as_str().to_owned(), 1),
        (None, None) => {
            findings.append(said);
            return None;
        }
    };
    if mirrors > 1 {
        findings.push(
            Finding::note(
                codes::ONE_SOURCE,
                format!("Ignition fetches the agent from `{url}` only; the mirrors are not used"),
            )
            .at(load.place("agent"))
            .hint("name the mirror that must work first"),
        );
    }
    let sha256 = load.agent_download().map(|download| download.sha256.as_str().to_owned())?;
    Some(remote_file(AGENT_PATH, 0o755, &url, &sha256))
}

/// All units of the plan; the agent's own starts at every boot.
fn units(load: &Load<'_>, native: &mut Native) -> Vec<Value> {
    let mut units: Vec<&Unit> =
        load.plan.units.iter().filter(|unit| load.has_agent() || !unit.name.starts_with("bringup")).collect();
    units.sort_by(|one, other| one.name.cmp(&other.name));
    units
        .into_iter()
        .map(|unit| {
            let started = !load.has_agent() && is_started(load, &unit.name);
            unit_value(unit, unit.enabled.or(started.then_some(true)), native)
        })
        .collect()
}

/// Whether the plan sees to it that the unit runs: without an agent it must be enabled for that.
fn is_started(load: &Load<'_>, name: &str) -> bool {
    let starts = |action: &Action| matches!(action, Action::StartUnit { unit, .. } if unit == name);
    load.plan.steps.iter().any(|step| starts(&step.action))
}

fn unit_value(unit: &Unit, enabled: Option<bool>, native: &mut Native) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), unit.name.clone().into());
    if unit.mask {
        entry.insert("mask".to_owned(), true.into());
        return entry.into();
    }
    let installs =
        unit.content.as_deref().is_none_or(|text| text.lines().any(|line| line.trim() == "[Install]"));
    let mut enabled = enabled;
    if unit.name == AGENT_UNIT {
        if installs {
            enabled = Some(true);
        } else {
            enabled = None;
            let wants = format!("{UNIT_DIRECTORY}/multi-user.target.wants/{AGENT_UNIT}");
            native.links.insert(wants, format!("{UNIT_DIRECTORY}/{AGENT_UNIT}"));
        }
    }
    if let Some(enabled) = enabled {
        entry.insert("enabled".to_owned(), enabled.into());
    }
    if let Some(text) = &unit.content {
        entry.insert("contents".to_owned(), whole_lines(text).into());
    }
    let drop_ins: Vec<Value> = unit
        .drop_ins
        .iter()
        .map(|(name, text)| json!({"name": name, "contents": whole_lines(text)}))
        .collect();
    insert_list(&mut entry, "dropins", drop_ins);
    entry.into()
}
