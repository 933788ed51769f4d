//! What is to be carried: a plan, and the document that it came from.

use std::sync::OnceLock;

use bringup_diag::{Finding, Findings, Place};
use bringup_plan::{LocalEntry, LocalFiles, Plan, sha256_hex};
use bringup_spec::{AgentSource, Document, Download, NodeGroup, PartType};
use bringup_yaml::Path;

use crate::codes;

/// A part of the user-data that is the operator's own, with its content at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPart {
    /// Its name in the document.
    pub name: String,
    /// Its type.
    pub kind: PartType,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Where its content stands in the document.
    pub path: Path,
}

/// The group's own parts with their contents, in the order of the document.
pub fn resolve_parts(
    document: &Document,
    group_path: &Path,
    group: &NodeGroup,
    files: &LocalFiles,
) -> (Vec<ResolvedPart>, Findings) {
    let mut resolved = Vec::new();
    let mut findings = Findings::new();
    for (index, part) in group.parts.iter().enumerate() {
        let path = group_path.key("parts").index(index);
        let found = match (&part.content, &part.src) {
            (Some(content), None) => Ok((content.clone().into_bytes(), path.key("content"))),
            (None, Some(source)) => match files.entries.get(source) {
                Some(LocalEntry::File(file)) => Ok((file.bytes.clone(), path.key("src"))),
                Some(LocalEntry::Directory(_)) => Err((format!("`{source}` is a directory"), "src")),
                Some(LocalEntry::Refused(why)) => Err((format!("`{source}` cannot be used: {why}"), "src")),
                None => Err((format!("`{source}` could not be read"), "src")),
            },
            (Some(_), Some(_)) => Err(("the part has both `content` and `src`".to_owned(), "src")),
            (None, None) => Err(("the part has no content".to_owned(), "name")),
        };
        match found {
            Ok((bytes, path)) => {
                resolved.push(ResolvedPart { name: part.name.clone(), kind: part.kind, bytes, path });
            }
            Err((message, key)) => findings.push(
                Finding::error(codes::PART_SOURCE, message)
                    .at(document.place(&path.key(key)))
                    .hint("write `content`, or in `src` the name of a file beside the document"),
            ),
        }
    }
    (resolved, findings)
}

/// A plan with everything that its carriers need to know.
#[derive(Clone, Debug)]
pub struct Load<'input> {
    /// The document.
    pub document: &'input Document,
    /// Where the node group stands in it.
    pub group_path: Path,
    /// The node group.
    pub group: &'input NodeGroup,
    /// Its plan.
    pub plan: &'input Plan,
    /// Its own parts of user-data.
    pub parts: &'input [ResolvedPart],
    /// Where `bringup publish` puts things for nodes to fetch, if anywhere.
    pub published_at: Option<&'input str>,
    plan_json: String,
    plan_sha256: OnceLock<String>,
}

impl<'input> Load<'input> {
    /// Takes up a plan.
    pub fn new(
        document: &'input Document,
        group_path: Path,
        group: &'input NodeGroup,
        plan: &'input Plan,
        parts: &'input [ResolvedPart],
    ) -> Self {
        let (plan_json, plan_sha256) = (plan.to_json(), OnceLock::new());
        Self { document, group_path, group, plan, parts, published_at: None, plan_json, plan_sha256 }
    }

    /// The same load, with the address from which nodes fetch what `bringup publish` lays out.
    #[must_use]
    pub fn published_at(mut self, base: Option<&'input str>) -> Self {
        self.published_at = base;
        self
    }

    /// The plan's bytes.
    pub fn plan_json(&self) -> &str {
        &self.plan_json
    }

    /// Their digest; it is worked out once, for every form of every carrier.
    pub fn plan_sha256(&self) -> &str {
        self.plan_sha256.get_or_init(|| sha256_hex(self.plan_json.as_bytes()))
    }

    /// The plan's bytes, where nothing more is carried.
    pub fn into_plan_json(self) -> String {
        self.plan_json
    }

    /// The place of a key of the node group, or of the nearest that is written.
    pub(crate) fn place(&self, key: &str) -> Place {
        self.document.key_place(&self.group_path.key(key))
    }

    /// A finding for each of the operator's own parts, which only cloud-init takes.
    pub(crate) fn parts_left_behind(&self, carrier: &str) -> Findings {
        let mut findings = Findings::default();
        for (index, part) in self.parts.iter().enumerate() {
            findings.push(
                Finding::warning(
                    codes::NOT_CARRIED,
                    format!("part `{}` is for cloud-init; {carrier} has no place for it", part.name),
                )
                .at(self.document.place(&self.group_path.key("parts").index(index)))
                .hint("write it as a step, a file or a unit of the node group"),
            );
        }
        findings
    }

    pub(crate) fn has_agent(&self) -> bool {
        self.group.agent.from != AgentSource::None
    }

    /// What to fetch the agent from, if it is to be fetched.
    pub(crate) fn agent_download(&self) -> Option<&Download> {
        if self.group.agent.from == AgentSource::Fetch {
            self.group.agent.downloads.get(self.group.architecture.word())
        } else {
            None
        }
    }
}
