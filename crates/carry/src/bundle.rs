//! A tar to unpack at the root of a machine or an image: the plan, our units, and what starts them.

use std::collections::BTreeMap;
use std::io::Read as _;

use bringup_diag::{Finding, Findings};
use bringup_plan::sha256_hex;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use crate::budget::PartSize;
use crate::codes;
use crate::fetch::{stub_files, wanted_agent};
use crate::first_stage::FirstStage;
use crate::load::Load;
use crate::placed::{
    AGENT_UNIT, PLAN_PATH, PlacedFile, UNIT_DIRECTORY, carried_units, unit_files, unit_path,
};

/// What is in a bundle, beside the files themselves.
const MANIFEST_PATH: &str = "/etc/bringup/bundle.json";
/// More than any bundle holds: a reader stops there.
const MEMBER_LIMIT: usize = 10_000;

/// A member of a bundle that is no directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    File(PlacedFile),
    Link { path: String, target: String },
}

/// The bundle and what its members take.
pub(crate) fn bundle(load: &Load<'_>, findings: &mut Findings) -> (Vec<u8>, Vec<PartSize>) {
    findings.append(load.parts_left_behind("a bundle"));
    let mut files: BTreeMap<String, PlacedFile> = BTreeMap::new();
    let mut links: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |file: PlacedFile| {
        files.insert(file.path.clone(), file);
    };
    if load.has_agent() {
        add(PlacedFile::new(PLAN_PATH, 0o600, load.plan_json()));
        let wanted: Vec<_> = wanted_agent(load, findings).into_iter().collect();
        stub_files(load, &wanted).into_iter().for_each(&mut add);
    } else {
        let stage = FirstStage::of(load, false, findings);
        stage.files().iter().cloned().for_each(&mut add);
        links.extend(stage.links().iter().cloned());
        let open = stage.open_paths().map(|path| (path, "only the node knows what is in it"));
        let made = stage.directories().map(|path| (path, "it has files and links alone"));
        for (path, why) in open.chain(made) {
            let message = format!("a bundle cannot hold `{path}` without the agent: {why}");
            let hint = "write `agent: image` or `agent: fetch`, or take the carrier `cloud-init`, whose script does it";
            findings.push(Finding::error(codes::AGENT_NEEDED, message).at(load.place("agent")).hint(hint));
        }
    }
    for unit in &carried_units(load) {
        unit_files(unit).into_iter().for_each(&mut add);
        let path = unit_path(&unit.name);
        links.extend(unit.aliases.iter().map(|alias| (unit_path(alias), path.clone())));
        if unit.mask {
            links.insert(path, "/dev/null".to_owned());
        } else if unit.name == AGENT_UNIT {
            // Nothing else starts the agent here.
            links.insert(format!("{UNIT_DIRECTORY}/multi-user.target.wants/{AGENT_UNIT}"), path);
        } else if unit.enabled == Some(true) {
            for wanted_by in install_links(unit.content.as_deref().unwrap_or_default()) {
                links.insert(format!("{UNIT_DIRECTORY}/{wanted_by}/{}", unit.name), path.clone());
            }
        }
    }
    let listed: Vec<_> = files
        .values()
        .map(|file| {
            json!({
                "path": file.path, "mode": format!("{:04o}", file.mode), "owner": file.owner,
                "size": file.content.len(), "sha256": sha256_hex(&file.content),
            })
        })
        .collect();
    let manifest = json!({
        "format": 1, "cluster": load.plan.cluster, "group": load.plan.group,
        "architecture": load.plan.architecture, "files": listed,
        "links": links.iter().map(|(path, target)| json!({"path": path, "target": target})).collect::<Vec<_>>(),
    });
    files.insert(MANIFEST_PATH.to_owned(), PlacedFile::new(MANIFEST_PATH, 0o644, format!("{manifest:#}\n")));
    let sizes = files.values().map(|file| PartSize::new(&file.path, file.content.len())).collect();
    let mut members: Vec<Member> = files.into_values().map(Member::File).collect();
    members.extend(links.into_iter().map(|(path, target)| Member::Link { path, target }));
    members.sort_by(|one, other| one.path().cmp(other.path()));
    (write(&members), sizes)
}

impl Member {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::File(file) => &file.path,
            Self::Link { path, .. } => path,
        }
    }
}

/// The directories of links that `[Install]` asks for.
fn install_links(unit: &str) -> Vec<String> {
    let install = unit.lines().skip_while(|line| line.trim() != "[Install]").skip(1);
    let mut links = Vec::new();
    for line in install.take_while(|line| !line.starts_with('[')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let suffix = match key.trim() {
            "WantedBy" => "wants",
            "RequiredBy" => "requires",
            _ => continue,
        };
        links.extend(value.split_whitespace().map(|target| format!("{target}.{suffix}")));
    }
    links
}

fn write(members: &[Member]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for member in members {
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        let path = member.path().trim_start_matches('/');
        // Writing into a vector cannot fail; a path too long for the header becomes a member of its own before it.
        match member {
            Member::File(file) => {
                let (user, group) = file.owner.split_once(':').unwrap_or(("root", "root"));
                let _ = header.set_username(user);
                let _ = header.set_groupname(group);
                if let (Ok(user), Ok(group)) = (user.parse(), group.parse()) {
                    header.set_uid(user);
                    header.set_gid(group);
                }
                header.set_entry_type(EntryType::Regular);
                header.set_mode(file.mode);
                header.set_size(u64::try_from(file.content.len()).unwrap_or_default());
                let _ = builder.append_data(&mut header, path, file.content.as_slice());
            }
            Member::Link { target, .. } => {
                let _ = header.set_username("root");
                let _ = header.set_groupname("root");
                header.set_entry_type(EntryType::Symlink);
                header.set_mode(0o777);
                header.set_size(0);
                let _ = builder.append_link(&mut header, path, target);
            }
        }
    }
    builder.into_inner().unwrap_or_default()
}

/// Whether the bytes start like a tar.
pub(crate) fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262).is_some_and(|magic| magic == b"ustar")
}

/// The files and links of a tar; nothing if it is none or holds more than `limit` bytes.
pub(crate) fn read(bytes: &[u8], limit: usize) -> Option<Vec<Member>> {
    let mut archive = tar::Archive::new(bytes);
    let mut members = Vec::new();
    let mut left = limit;
    for entry in archive.entries().ok()? {
        let mut entry = entry.ok()?;
        if members.len() >= MEMBER_LIMIT {
            return None;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = format!("/{}", name.trim_start_matches("./").trim_matches('/'));
        match entry.header().entry_type() {
            EntryType::Regular => {
                let mut content = Vec::new();
                let bound = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(1);
                entry.by_ref().take(bound).read_to_end(&mut content).ok()?;
                left = left.checked_sub(content.len())?;
                let header = entry.header();
                let name_of =
                    |name: Result<Option<&str>, std::str::Utf8Error>, id: std::io::Result<u64>| match name {
                        Ok(Some(name)) if !name.is_empty() => name.to_owned(),
                        _ => id.unwrap_or_default().to_string(),
                    };
                let user = name_of(header.username(), header.uid());
                let group = name_of(header.groupname(), header.gid());
                let mode = header.mode().unwrap_or(0o644) & 0o7777;
                members.push(Member::File(PlacedFile {
                    path,
                    mode,
                    owner: format!("{user}:{group}"),
                    content,
                }));
            }
            EntryType::Symlink | EntryType::Link => {
                let target = entry.link_name_bytes().map(|name| String::from_utf8_lossy(&name).into_owned());
                members.push(Member::Link { path, target: target.unwrap_or_default() });
            }
            _ => {}
        }
    }
    Some(members)
}
