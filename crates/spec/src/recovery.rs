//! What is left of a document when values that cannot be read are taken out, so that everything else is still checked.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use crate::Cluster;
use crate::decode::{Decode as _, Reader};

/// Takes out what is broken, and what cannot be without it, until the rest can be read.
///
/// What a further pass finds is only that something is missing now, which nobody needs to hear. `lost` gets the spans
/// at which later checks would say the same.
pub(crate) fn rest(tree: &mut Node, broken: Vec<Span>, lost: &mut Vec<Span>) -> Option<Cluster> {
    let mut broken = broken;
    while take_out(tree, &broken, &[], lost) {
        let mut reader = Reader::new("");
        if let Some(cluster) = Cluster::decode(tree, &mut reader) {
            return Some(cluster);
        }
        broken = reader.take_broken();
    }
    None
}

/// Takes out entries whose key is at one of the places, and items that are; whether there were any.
fn take_out(node: &mut Node, broken: &[Span], above: &[Span], lost: &mut Vec<Span>) -> bool {
    // The document and its `spec` are about everything: a finding there follows from no single value.
    const WHOLE: usize = 2;
    let mut inside = above.to_vec();
    inside.push(node.span);
    let mut lose = |span: Span| {
        lost.push(span);
        lost.extend(inside.iter().skip(WHOLE).rev().take(2));
    };
    let mut any = false;
    match &mut node.content {
        Content::Scalar(_) => return false,
        Content::List(items) => items.retain(|item| {
            let stays = !broken.contains(&item.span);
            if !stays {
                any = true;
                lose(item.span);
            }
            stays
        }),
        Content::Map(entries) => entries.retain(|entry| {
            let stays = !broken.contains(&entry.key_span);
            if !stays {
                any = true;
                lose(entry.value.span);
            }
            stays
        }),
    }
    match &mut node.content {
        Content::Scalar(_) => {}
        Content::List(items) => {
            for item in items {
                any |= take_out(item, broken, &inside, lost);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                any |= take_out(&mut entry.value, broken, &inside, lost);
            }
        }
    }
    any
}
