//! A MIME message: our boothook, then the operator's parts in the order of the document.

use bringup_cloudinit::mime::{OutPart, write_multipart};
use bringup_diag::Findings;

use crate::budget::PartSize;
use crate::first_stage::FirstStage;
use crate::load::Load;
use crate::user_parts::numbered_names;

/// The message and what its parts take.
pub(crate) fn multipart(load: &Load<'_>, fetched: bool, findings: &mut Findings) -> (Vec<u8>, Vec<PartSize>) {
    let script = FirstStage::of(load, fetched, findings).script();
    let own = load.parts.iter().map(|part| (part.name.as_str(), part.kind.word(), part.bytes.as_slice()));
    let ours = [("bringup-boothook", "text/cloud-boothook", script.as_bytes())];
    message(ours.into_iter().chain(own).collect())
}

/// A message of named parts, numbered in their order, with what each takes.
pub(crate) fn message(parts: Vec<(&str, &str, &[u8])>) -> (Vec<u8>, Vec<PartSize>) {
    let names = numbered_names(parts.iter().map(|(name, ..)| *name));
    let numbered: Vec<OutPart<'_>> = names
        .iter()
        .zip(parts)
        .map(|(name, (_, content_type, body))| OutPart { name, content_type, body })
        .collect();
    let bytes = write_multipart(&numbered);
    // A part alone is the frame of a message and the part; without it, the frame.
    let frame = write_multipart(&[]).len();
    let sizes = numbered
        .iter()
        .map(|part| PartSize {
            name: part.name.to_owned(),
            bytes: write_multipart(&[*part]).len().saturating_sub(frame),
        })
        .collect();
    (bytes, sizes)
}
