//! A load as an Ignition config.

use std::borrow::Cow;

use bringup_diag::{Finding, Findings};
use bringup_plan::{Action, Unit};
use bringup_spec::Carrier;

use super::data_url::{Effort, least_packed_length, plain_length, shortest};
use super::entries::{File, json, list, object};
use super::native::{Native, native};
use super::{SPECIAL_BITS, entries};
use crate::budget::{Budget, PartSize, budget_of};
use crate::codes;
use crate::fetch::{Fetcher, is_fetch_preferred, is_fetchable, wanted_plan};
use crate::load::Load;
use crate::placed::{AGENT_PATH, AGENT_UNIT, PLAN_PATH, PlacedFile, UNIT_DIRECTORY, units_without_agent};
use crate::render::{Form, Rendered, tell_size};
use bringup_plan::sha256_hex;

/// The oldest specification that has all that a node needs, kernel arguments included; what Debian 12's validator reads.
const USUAL_VERSION: &str = "3.3.0";
/// The first that honours setuid, setgid and sticky bits.
const SPECIAL_BITS_VERSION: &str = "3.6.0";

/// What a config holds, and how its files may be compressed, one after the other.
struct Layout {
    /// Files of the plan also as files of the config.
    files: bool,
    /// The plan by address.
    fetched: bool,
    packings: &'static [Form],
}

/// From the most useful to the smallest. Compression takes many times what all the rest takes, so it waits until it is needed.
const LAYOUTS: [Layout; 3] = [
    Layout { files: true, fetched: false, packings: &[Form::Plain, Form::Gzip] },
    Layout { files: false, fetched: false, packings: &[Form::Gzip, Form::StrongGzip] },
    Layout { files: false, fetched: true, packings: &[Form::StrongGzip] },
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
    findings.append(load.parts_left_behind("Ignition"));
    let (platform, whole) = budget_of(load.group.platform);
    let can_fetch = is_fetchable(load, Fetcher::Ignition);
    let must_fetch = is_fetch_preferred(load, Fetcher::Ignition);
    let mut best = None;
    let mut packing = Packing::new(load, Form::Plain);
    'fits: for layout in &LAYOUTS {
        let useless = if load.has_agent() {
            layout.fetched && !can_fetch || !layout.fetched && must_fetch
        } else {
            !layout.files
        };
        if useless {
            continue;
        }
        let holding = Holding::of(load, layout);
        for form in layout.packings {
            if packing.form != *form {
                packing = Packing::new(load, *form);
            }
            // The last must be made, fit or not; with an agent it is one without the files, which the plan has.
            let has_next = *form == Form::Plain || load.has_agent() && layout.files;
            if has_next && holding.least(&mut packing) > limit {
                continue;
            }
            let (bytes, parts) = holding.config(&mut packing);
            let fits = bytes.len() <= limit;
            best = Some((bytes, parts, layout.fetched, holding.findings.clone()));
            if fits {
                break 'fits;
            }
        }
    }
    let (bytes, parts, fetched) = match best {
        Some((bytes, parts, fetched, said)) => {
            findings.append(said);
            (bytes, parts, fetched)
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

/// One way to compress files. The plan is most of a config, so its entry is kept.
struct Packing<'load> {
    load: &'load Load<'load>,
    form: Form,
    effort: Effort,
    plan: Option<String>,
}

impl<'load> Packing<'load> {
    fn new(load: &'load Load<'load>, form: Form) -> Self {
        Self { load, form, effort: Effort::of(form), plan: None }
    }

    /// The entry of the plan's own file.
    fn plan(&mut self) -> &str {
        self.plan.get_or_insert_with(|| {
            let source = shortest(self.load.plan_json().as_bytes(), &mut self.effort);
            let file = PlacedFile::new(PLAN_PATH, 0o600, Vec::new());
            json(&File::inside(&file, &source, self.load.plan_sha256()))
        })
    }

    /// The entry of another file.
    fn file(&mut self, file: &PlacedFile) -> String {
        let source = shortest(&file.content, &mut self.effort);
        json(&File::inside(file, &source, &sha256_hex(&file.content)))
    }

    /// Not more than the plan takes, without writing a plain one for nothing.
    fn least_plan(&mut self) -> usize {
        if self.form == Form::Plain { self.load.plan_json().len() } else { self.plan().len() }
    }

    /// Not more than the address of another file takes.
    fn least_file(&self, content: &[u8]) -> usize {
        if self.form == Form::Plain { plain_length(content) } else { least_packed_length(content) }
    }
}

/// What a config holds, in whatever way its files will be compressed.
struct Holding {
    version: &'static str,
    native: Native,
    holds_plan: bool,
    /// Entries of files that Ignition fetches.
    fetched: Vec<String>,
    /// Entries of units, by name.
    units: Vec<(String, String)>,
    findings: Findings,
}

impl Holding {
    fn of(load: &Load<'_>, layout: &Layout) -> Self {
        let mut findings = Findings::new();
        let mut native = native(load, layout.files, &mut findings);
        let mut fetched = Vec::new();
        let mut holds_plan = false;
        if load.has_agent() {
            match layout.fetched.then(|| wanted_plan(load, Fetcher::Ignition)).flatten() {
                Some(plan) => {
                    let remote = |url| json(&File::remote(PLAN_PATH, plan.mode, url, &plan.sha256));
                    fetched.extend(plan.urls.first().map(|url| remote(url)));
                }
                None => holds_plan = true,
            }
            fetched.extend(agent_file(load, &mut findings));
        }
        let units = units(load, &mut native);
        let version = version(load, &native, &mut findings);
        native.files.sort_by(|one, other| one.path.cmp(&other.path));
        native.directories.sort_by(|one, other| one.path.cmp(&other.path));
        Self { version, native, holds_plan, fetched, units, findings }
    }

    /// The config and what its pieces take.
    fn config(&self, packing: &mut Packing<'_>) -> (Vec<u8>, Vec<PartSize>) {
        let native = &self.native;
        let own = native.files.iter().map(|file| (file.path.as_str(), packing.file(file)));
        let mut files: Vec<(&str, String)> = own.collect();
        if self.holds_plan {
            let at = files.partition_point(|(path, _)| *path < PLAN_PATH);
            files.insert(at, (PLAN_PATH, packing.plan().to_owned()));
        }
        let units = self.units.iter().map(|(name, unit)| (name.as_str(), unit));
        let entries = files.iter().map(|(path, file)| (*path, file)).chain(units);
        let mut sizes: Vec<PartSize> =
            entries.map(|(name, entry)| PartSize::new(name, entry.len())).collect();
        let files = files.iter().map(|(_, file)| file).chain(&self.fetched);
        let directories: Vec<String> = native.directories.iter().map(entries::directory).collect();
        let links: Vec<String> =
            native.links.iter().map(|(path, target)| entries::link(path, target)).collect();
        let arguments: Vec<String> = native.kernel_arguments.iter().map(json).collect();
        let mut text = object(&[
            ("ignition", object(&[("version", json(&self.version))])),
            ("kernelArguments", object(&[("shouldExist", list(&arguments))])),
            (
                "storage",
                object(&[
                    ("directories", list(&directories)),
                    ("files", list(files)),
                    ("links", list(&links)),
                ]),
            ),
            ("systemd", object(&[("units", list(self.units.iter().map(|(_, unit)| unit)))])),
        ]);
        text.push('\n');
        let known: usize = sizes.iter().map(|size| size.bytes).sum();
        sizes.push(PartSize::new("frame", text.len().saturating_sub(known)));
        (text.into_bytes(), sizes)
    }

    /// Fewer bytes than the config takes: what is over the limit by this count need not be made.
    fn least(&self, packing: &mut Packing<'_>) -> usize {
        /// The digest, and the keys that every file has.
        const AROUND_FILE: usize = 150;
        let plan = if self.holds_plan { packing.least_plan() } else { 0 };
        let files = self.native.files.iter().map(|file| {
            packing.least_file(&file.content).saturating_add(file.path.len()).saturating_add(AROUND_FILE)
        });
        files.chain(self.units.iter().map(|(_, unit)| unit.len())).fold(plan, usize::saturating_add)
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

/// The agent, if it is to be fetched: Ignition fetches and checks it itself.
fn agent_file(load: &Load<'_>, findings: &mut Findings) -> Option<String> {
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
    let sha256 = load.agent_download()?.sha256.as_str();
    Some(json(&File::remote(AGENT_PATH, 0o755, &url, sha256)))
}

/// All units of the plan; the agent's own starts at every boot.
fn units(load: &Load<'_>, native: &mut Native) -> Vec<(String, String)> {
    let mut units: Vec<Cow<'_, Unit>> = if load.has_agent() {
        load.plan.units.iter().map(Cow::Borrowed).collect()
    } else {
        units_without_agent(load)
    };
    units.sort_by(|one, other| one.name.cmp(&other.name));
    units
        .into_iter()
        .map(|unit| {
            let started = !load.has_agent() && is_started(load, &unit.name);
            let enabled = enabled(&unit, unit.enabled.or(started.then_some(true)), native);
            (unit.name.clone(), entries::unit(&unit, enabled))
        })
        .collect()
}

/// Whether the plan sees to it that the unit runs: without an agent it must be enabled for that.
fn is_started(load: &Load<'_>, name: &str) -> bool {
    let starts = |action: &Action| matches!(action, Action::StartUnit { unit, .. } if unit == name);
    load.plan.steps.iter().any(|step| starts(&step.action))
}

/// Whether Ignition enables the unit. An agent's unit that cannot be enabled is linked by hand.
fn enabled(unit: &Unit, asked: Option<bool>, native: &mut Native) -> Option<bool> {
    if unit.mask || unit.name != AGENT_UNIT {
        return asked;
    }
    let installs =
        unit.content.as_deref().is_none_or(|text| text.lines().any(|line| line.trim() == "[Install]"));
    if installs {
        return Some(true);
    }
    let wants = format!("{UNIT_DIRECTORY}/multi-user.target.wants/{AGENT_UNIT}");
    native.links.insert(wants, format!("{UNIT_DIRECTORY}/{AGENT_UNIT}"));
    None
}
