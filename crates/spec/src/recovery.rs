//! What is left of a document when values that cannot be read are taken out, so that everything else is still checked.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use crate::Cluster;
use crate::decode::{Broken, Decode as _, Reader};

/// Takes out what is broken, and what cannot be without it, until the rest can be read.
///
/// What a further pass finds is only that something is missing now, which nobody needs to hear. `lost` gets the spans
/// at which later checks would say the same.
pub(crate) fn rest(tree: &mut Node, broken: Vec<Broken>, lost: &mut Vec<Span>) -> Option<Cluster> {
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

/// Takes out entries and items that are broken, of those at one place the innermost; whether there were any.
fn take_out(node: &mut Node, broken: &[Broken], above: &[Span], lost: &mut Vec<Span>) -> bool {
    // The document and its `spec` are about everything: a finding there follows from no single value.
    const WHOLE: usize = 2;
    let mut inside = above.to_vec();
    inside.push(node.span);
    let mut any = false;
    let mut stays = |value: &mut Node, own: Broken| {
        let is_inside = take_out(value, broken, &inside, lost);
        let goes = !is_inside && broken.contains(&own);
        if goes {
            lost.push(value.span);
            lost.extend(inside.iter().skip(WHOLE).rev().take(2));
        }
        any |= is_inside || goes;
        !goes
    };
    match &mut node.content {
        Content::Scalar(_) => {}
        Content::List(items) => items.retain_mut(|item| {
            let own = Broken::Item(item.span);
            stays(item, own)
        }),
        Content::Map(entries) => entries.retain_mut(|entry| {
            let own = Broken::Entry(entry.key_span);
            stays(&mut entry.value, own)
        }),
    }
    any
}
