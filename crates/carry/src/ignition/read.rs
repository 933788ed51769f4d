//! What an Ignition config of anybody's makes of a machine: specifications 2.x and 3.x.

use std::collections::{BTreeMap, BTreeSet};

use bringup_cloudinit::gunzip::{GunzipFault, gunzip};
use bringup_cloudinit::{Origin, lint_unit};
use bringup_diag::{Code, Finding, Findings, Place, Severity, Span};
use bringup_spec::data_url;
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use super::merge::merged;
use super::{KEEPS_SPECIAL_BITS, SPECIAL_BITS, VOLATILE, machine, rules};
use crate::codes;
use crate::inspect::{FileRecord, StepRecord, UnitRecord};
use crate::placed::UNIT_DIRECTORY;
use bringup_plan::sha256_hex;

/// How deep configs may refer to configs.
const DEPTH_LIMIT: usize = 8;

/// What a config does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) files: BTreeMap<String, FileRecord>,
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) directories: Vec<String>,
    pub(crate) kernel_arguments: Vec<String>,
    pub(crate) units: BTreeMap<String, UnitRecord>,
    pub(crate) steps: Vec<StepRecord>,
    pub(crate) findings: Findings,
}

/// Whether a JSON value is an Ignition config.
pub(crate) fn is_config(value: &Value) -> bool {
    value.pointer("/ignition/version").is_some_and(Value::is_string)
}

struct Reader<'text> {
    file: &'text str,
    text: &'text str,
    /// Whether setuid, setgid and sticky are kept.
    special_bits: bool,
    effects: Effects,
}

/// The effects of a config. `text` is what it was read from, for places.
pub(crate) fn effects(file: &str, text: &str, config: Value) -> Effects {
    let mut reader = Reader { file, text, special_bits: false, effects: Effects::default() };
    for key in repeated_keys(text) {
        let finding = Finding::warning(
            codes::IGNITION_DUPLICATE_KEY,
            format!("the key `{key}` stands in one mapping twice: what is in the first may be lost"),
        );
        reader.tell(finding.hint("put both into one"), &key);
    }
    if reader.refused(&config) {
        return reader.effects;
    }
    let config = reader.whole(config, DEPTH_LIMIT);
    reader.special_bits = keeps_special_bits(&config);
    reader.effects.steps.extend(machine::steps(&config));
    reader.storage(&config);
    reader.units(&config);
    for argument in list(&config, "/kernelArguments/shouldExist").iter().filter_map(Value::as_str) {
        reader.effects.kernel_arguments.push(argument.to_owned());
    }
    reader.beneath();
    reader.effects
}

fn keeps_special_bits(config: &Value) -> bool {
    let version = config.pointer("/ignition/version").and_then(Value::as_str).unwrap_or_default();
    rules::minor_of(version).is_some_and(|minor| minor >= KEEPS_SPECIAL_BITS)
}

/// The keys that stand twice in one mapping.
fn repeated_keys(text: &str) -> Vec<String> {
    let Ok(Some(tree)) = bringup_yaml::parse_one(text, bringup_yaml::Limits::default()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut nodes = vec![&tree];
    while let Some(node) = nodes.pop() {
        let mut seen = BTreeSet::new();
        for entry in node.entries().unwrap_or_default() {
            if !seen.insert(entry.key.as_str()) {
                found.push(entry.key.clone());
            }
            nodes.push(&entry.value);
        }
        nodes.extend(node.items().unwrap_or_default());
    }
    found
}

fn list<'value>(value: &'value Value, pointer: &str) -> &'value [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text_of<'value>(value: &'value Value, key: &str) -> Option<&'value str> {
    value.get(key).and_then(Value::as_str)
}

impl Reader<'_> {
    fn tell(&mut self, finding: Finding, about: &str) {
        self.effects.findings.push(finding.at(self.place(about)));
    }

    /// The first line of the config that names it.
    fn place(&self, about: &str) -> Place {
        let quoted = serde_json::to_string(about).unwrap_or_default();
        for (number, line) in (1_u32..).zip(self.text.lines()) {
            if let Some(at) = line.find(&quoted).filter(|_| !about.is_empty()) {
                let column = line.get(..at).map_or(1, |before| before.chars().count().saturating_add(1));
                return Place::new(self.file, Span::point(number, u32::try_from(column).unwrap_or(1)));
            }
        }
        Place::new(self.file, Span::point(1, 1))
    }

    /// The config with those that it refers to, as far as they are inside it; the others are told as steps.
    fn whole(&mut self, config: Value, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else {
            let finding =
                Finding::error(codes::IGNITION_DEPTH, "configs refer to configs too deeply to follow");
            self.tell(finding.hint("put what they hold into one config"), "");
            return config;
        };
        let replace = config.pointer("/ignition/config/replace").cloned().unwrap_or_default();
        if text_of(&replace, "source").is_some_and(|source| !source.is_empty()) {
            return match self.referred("replace", &replace) {
                Some(other) => self.whole(other, depth),
                None => Value::Null,
            };
        }
        // In 2.x, `append` is what `merge` is now.
        let references: Vec<Value> = ["/ignition/config/merge", "/ignition/config/append"]
            .iter()
            .flat_map(|pointer| list(&config, pointer).to_vec())
            .collect();
        let mut whole = config;
        for reference in references {
            if let Some(other) = self.referred("merge", &reference) {
                let other = self.whole(other, depth);
                whole = merged(whole, other);
            }
        }
        whole
    }

    fn referred(&mut self, verb: &str, reference: &Value) -> Option<Value> {
        let source = text_of(reference, "source")?;
        if source.starts_with("data:") {
            let bytes = self.contents(source, reference)?;
            let config = serde_json::from_slice(&bytes).ok()?;
            return (!self.refused(&config)).then_some(config);
        }
        self.effects.steps.push(StepRecord::new("ignition", format!("{verb} {source}")));
        None
    }

    /// Whether Ignition refuses the config, and all that it says of it: nothing of a refused config happens.
    fn refused(&mut self, config: &Value) -> bool {
        let told = rules::told(config);
        let refused = told.iter().any(|told| told.severity == Severity::Error);
        for told in told {
            self.tell(Finding::new(told.severity, told.code, told.message).hint(told.hint), &told.about);
        }
        refused
    }

    fn storage(&mut self, config: &Value) {
        for (kind, pointer) in
            [("file", "/storage/files"), ("directory", "/storage/directories"), ("link", "/storage/links")]
        {
            for entry in list(config, pointer) {
                let Some(path) = text_of(entry, "path") else { continue };
                // In 2.x, files may lie in other file systems, which have paths of their own.
                let system = text_of(entry, "filesystem").unwrap_or("root");
                if VOLATILE.iter().any(|directory| path.starts_with(directory)) {
                    let finding = Finding::warning(
                        codes::IGNITION_VOLATILE,
                        format!(
                            "the {kind} `{path}` is gone when the system starts: Ignition writes before that directory is mounted"
                        ),
                    );
                    self.tell(finding.hint("let a unit or tmpfiles.d make it at boot"), path);
                }
                // What lies on another file system is shown with the name of that.
                let path = if system == "root" { path.to_owned() } else { format!("{system}:{path}") };
                match kind {
                    "file" => self.file(&path, entry),
                    "directory" => self.effects.directories.push(path),
                    _ => self.link(&path, entry),
                }
            }
        }
        // A hard link is the file once more.
        let hard =
            list(config, "/storage/links").iter().filter(|link| link.get("hard") == Some(&Value::Bool(true)));
        for link in hard {
            if let (Some(path), Some(target)) = (text_of(link, "path"), text_of(link, "target"))
                && let Some(file) = self.effects.files.get(target).cloned()
            {
                self.effects.files.insert(path.to_owned(), FileRecord { path: path.to_owned(), ..file });
            }
        }
    }

    fn link(&mut self, path: &str, entry: &Value) {
        if let Some(target) = text_of(entry, "target") {
            self.effects.links.insert(path.to_owned(), target.to_owned());
        }
    }

    fn file(&mut self, path: &str, entry: &Value) {
        let mode = entry.get("mode").and_then(Value::as_u64).and_then(|mode| u32::try_from(mode).ok());
        let kept = if self.special_bits { 0o777 | SPECIAL_BITS } else { 0o777 };
        let mode = mode.unwrap_or(0o644) & kept;
        let contents = entry.get("contents").cloned().unwrap_or_default();
        let mut record = FileRecord::new(path, mode, &owner(entry));
        let mut content = self.resource(&contents, &mut record);
        for more in list(entry, "/append") {
            let mut ignored = FileRecord::new(path, mode, "");
            content = match (content, self.resource(more, &mut ignored)) {
                (Some(mut bytes), Some(after)) => {
                    bytes.extend(after);
                    Some(bytes)
                }
                _ => None,
            };
            record.sha256 = None;
        }
        if entry
            .get("append")
            .is_some_and(|append| append == true || append.as_array().is_some_and(|list| !list.is_empty()))
        {
            let finding = Finding::note(
                codes::IGNITION_APPEND,
                format!("`{path}` is appended to: if Ignition starts over, it grows again"),
            );
            self.tell(finding.hint("give the whole file"), path);
        }
        if entry.get("append") == Some(&Value::Bool(true)) {
            // 2.x adds to what is there: to what the config has put there before, or to what only the image knows.
            let before = self.effects.files.remove(path);
            let whole = before.as_ref().is_some_and(|before| before.size.is_some());
            let start = before.map_or_else(|| Some(Vec::new()), |before| before.content);
            let joined = start.zip(content).map(|(before, after)| [before, after].concat());
            record.sha256 = None;
            record.content.clone_from(&joined);
            content = joined.filter(|_| whole);
        }
        if let Some(bytes) = content {
            record.fill(bytes);
        }
        self.effects.files.insert(path.to_owned(), record);
    }

    /// The bytes of a resource that is inside the config; of one that is not, what the config says of its digest.
    fn resource(&mut self, resource: &Value, record: &mut FileRecord) -> Option<Vec<u8>> {
        let source = text_of(resource, "source").unwrap_or_default();
        if source.is_empty() {
            return Some(Vec::new());
        }
        if source.starts_with("data:") {
            return self.contents(source, resource);
        }
        let hash = resource.pointer("/verification/hash").and_then(Value::as_str);
        record.sha256 = hash.and_then(|hash| hash.strip_prefix("sha256-")).map(str::to_ascii_lowercase);
        record.source = Some(source.to_owned());
        None
    }

    fn contents(&mut self, source: &str, resource: &Value) -> Option<Vec<u8>> {
        let about = source;
        let Some(mut bytes) = data_url::decode(source) else {
            let finding = Finding::error(codes::IGNITION_CONTENT, "this data URL does not decode");
            self.tell(
                finding.hint("write `data:,` and the text with `%` escapes, or `data:;base64,` and base64"),
                about,
            );
            return None;
        };
        if text_of(resource, "compression") == Some("gzip") {
            bytes = match gunzip(&bytes) {
                Ok(unpacked) => unpacked,
                Err(fault) => {
                    self.tell(not_unpacked(fault), about);
                    return None;
                }
            };
        }
        let hash = resource.pointer("/verification/hash").and_then(Value::as_str).unwrap_or_default();
        let (kind, wanted) = hash.split_once('-').unwrap_or_default();
        let found = match kind {
            "sha256" => sha256_hex(&bytes),
            "sha512" => hex(&Sha512::digest(&bytes)),
            _ => return Some(bytes),
        };
        if !found.eq_ignore_ascii_case(wanted) {
            let finding = Finding::error(
                codes::IGNITION_DIGEST,
                "the content does not have the digest that the config asks for: the machine will not boot",
            );
            self.tell(
                finding.hint(format!("write `{kind}-{found}`; it is the digest of the unpacked content")),
                hash,
            );
        }
        Some(bytes)
    }

    fn units(&mut self, config: &Value) {
        for unit in list(config, "/systemd/units") {
            let Some(name) = text_of(unit, "name") else { continue };
            let masked = unit.get("mask") == Some(&Value::Bool(true));
            let enabled =
                ["enabled", "enable"].iter().find_map(|key| unit.get(*key).and_then(Value::as_bool));
            self.effects.units.insert(name.to_owned(), UnitRecord { name: name.to_owned(), enabled });
            let place = self.place(name);
            let origin = Origin::fixed(&place.file, place.span);
            if masked {
                self.effects.steps.push(StepRecord::new("ignition", format!("mask {name}")));
                self.effects.links.insert(format!("{UNIT_DIRECTORY}/{name}"), "/dev/null".to_owned());
            } else if let Some(text) = text_of(unit, "contents").filter(|text| !text.is_empty()) {
                if enabled == Some(true) && !text.lines().any(|line| line.trim() == "[Install]") {
                    let finding = Finding::warning(
                        codes::IGNITION_INSTALL,
                        format!("`{name}` is enabled, but has no [Install] section: it will not start"),
                    );
                    self.tell(finding.hint("add `[Install]` with `WantedBy=multi-user.target`"), name);
                }
                self.effects.findings.append(lint_unit(name, false, text, &origin));
                self.written(&format!("{UNIT_DIRECTORY}/{name}"), text);
            }
            for drop_in in list(unit, "/dropins") {
                if let (Some(file), Some(text)) = (text_of(drop_in, "name"), text_of(drop_in, "contents")) {
                    self.effects.findings.append(lint_unit(name, true, text, &origin));
                    self.written(&format!("{UNIT_DIRECTORY}/{name}.d/{file}"), text);
                }
            }
        }
        for unit in list(config, "/networkd/units") {
            if let (Some(name), Some(text)) = (text_of(unit, "name"), text_of(unit, "contents")) {
                self.written(&format!("/etc/systemd/network/{name}"), text);
            }
        }
    }

    fn written(&mut self, path: &str, text: &str) {
        let mut record = FileRecord::new(path, 0o644, "root:root");
        record.fill(text.as_bytes().to_vec());
        self.effects.files.insert(path.to_owned(), record);
    }

    /// What lies beneath a link or a file of the same config.
    fn beneath(&mut self) {
        let links = self.effects.links.keys().cloned().map(|path| (path, codes::IGNITION_BENEATH, "link"));
        let files = self.effects.files.keys().cloned().map(|path| (path, codes::IGNITION_BENEATH, "file"));
        let above: BTreeMap<String, (Code, &str)> =
            links.chain(files).map(|(path, code, kind)| (path, (code, kind))).collect();
        let paths: Vec<String> =
            above.keys().cloned().chain(self.effects.directories.iter().cloned()).collect();
        for path in paths {
            let mut parent = path.as_str();
            while let Some((shorter, _)) = parent.rsplit_once('/') {
                parent = shorter;
                if let Some((code, kind)) = above.get(parent) {
                    let finding = Finding::error(
                        *code,
                        format!("`{path}` lies beneath the {kind} `{parent}` of the same config"),
                    );
                    self.tell(
                        finding.hint("give the path that the link points to, or leave one of them out"),
                        &path,
                    );
                    break;
                }
            }
        }
    }
}

fn not_unpacked(fault: GunzipFault) -> Finding {
    match fault {
        GunzipFault::Corrupt => {
            Finding::error(codes::IGNITION_CONTENT, "the content is said to be gzip, and does not unpack")
                .hint("check that it was not cut short")
        }
        GunzipFault::TooLarge => Finding::error(
            bringup_cloudinit::codes::TOO_LARGE,
            "the content unpacks to more than 16 MiB and is not read further",
        )
        .hint("give it as an address with a digest, for Ignition to fetch"),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn owner(entry: &Value) -> String {
    let part = |key: &str| {
        let node = entry.get(key);
        let id = node.and_then(|node| node.get("id")).and_then(Value::as_u64);
        match (id, node.and_then(|node| text_of(node, "name"))) {
            (_, Some(name)) if !name.is_empty() => name.to_owned(),
            (Some(id), _) if id != 0 => id.to_string(),
            _ => "root".to_owned(),
        }
    };
    format!("{}:{}", part("user"), part("group"))
}
