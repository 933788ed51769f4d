//! A plan out of any carrier.

use bringup_cloudinit::mime;
use bringup_cloudinit::{gunzip, peel};
use bringup_plan::Plan;
use bringup_spec::data_url;
use bringup_yaml::{Content, Limits, Node};

use crate::bundle::{self, Member};
use crate::placed::{PLAN_PATH, PlacedFile};
use crate::stage_files::read_files;

/// Deeper than any carrier of ours: a template, base64, gzip, a message, a script.
const DEPTH_LIMIT: usize = 6;
/// The shortest text that could hold a plan.
const SHORTEST: usize = 64;
/// How many texts inside others are parsed: a template has a handful, a bomb thousands.
const MOST_TEXTS: usize = 64;
/// What a text inside another may ask of the parser.
const INNER: Limits = Limits { bytes: gunzip::UNPACKED_LIMIT, depth: 60, nodes: 20_000 };

/// The plan that a carrier of ours holds; nothing if it holds none, or only says where to fetch it.
///
/// It is looked for in every text that the input has inside, so that any template around it will do.
pub fn read_plan(bytes: &[u8]) -> Option<Plan> {
    Search { texts: 0 }.in_bytes(bytes, DEPTH_LIMIT)
}

struct Search {
    texts: usize,
}

impl Search {
    fn in_bytes(&mut self, bytes: &[u8], depth: usize) -> Option<Plan> {
        let depth = depth.checked_sub(1)?;
        let peeled = peel(bytes);
        if peeled.refused.is_some() {
            return None;
        }
        let bytes = peeled.bytes;
        if bundle::is_tar(&bytes) {
            let members = bundle::read(&bytes, gunzip::UNPACKED_LIMIT)?;
            return members.into_iter().find_map(|member| match member {
                Member::File(file) => plan_of(&file),
                Member::Link { .. } => None,
            });
        }
        let text = std::str::from_utf8(&bytes).ok()?;
        if text.starts_with('{')
            && let Ok(plan) = Plan::from_json(&bytes)
        {
            return Some(plan);
        }
        if mime::is_mime(&bytes) {
            let message = mime::read(text).ok()?;
            return message.walk().into_iter().find_map(|part| self.in_bytes(&part.payload()?.bytes, depth));
        }
        if let Some(files) = read_files(text) {
            return files.iter().find_map(plan_of);
        }
        // A line of prose is no document; JSON may be one line, a string or a mapping.
        let could_be_document = text.trim_end().contains('\n') || text.trim_start().starts_with(['{', '"']);
        if self.texts > MOST_TEXTS || !could_be_document {
            return None;
        }
        let limits = if self.texts == 0 { Limits::default() } else { INNER };
        self.texts = self.texts.saturating_add(1);
        let trees = bringup_yaml::parse(text, limits).ok()?;
        trees.iter().find_map(|tree| self.in_tree(tree, depth))
    }

    fn in_tree(&mut self, tree: &Node, depth: usize) -> Option<Plan> {
        match &tree.content {
            Content::Scalar(scalar) if scalar.text.len() < SHORTEST => None,
            Content::Scalar(scalar) => match data_url::decode(&scalar.text) {
                Some(content) => self.in_bytes(&content, depth),
                None => self.in_bytes(scalar.text.as_bytes(), depth),
            },
            Content::List(items) => items.iter().find_map(|item| self.in_tree(item, depth)),
            Content::Map(entries) => entries.iter().find_map(|entry| self.in_tree(&entry.value, depth)),
        }
    }
}

fn plan_of(file: &PlacedFile) -> Option<Plan> {
    if file.path == PLAN_PATH { Plan::from_json(&file.content).ok() } else { None }
}
