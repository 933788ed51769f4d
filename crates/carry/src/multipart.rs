//! A MIME message: our boothook, then the operator's parts in the order of the document.

use std::borrow::Cow;

use bringup_cloudinit::cleaned_name;
use bringup_cloudinit::mime::{OutPart, write_multipart};
use bringup_diag::Findings;
use bringup_spec::{Flavour, PartType};

use crate::budget::PartSize;
use crate::first_stage::FirstStage;
use crate::load::{Load, ResolvedPart};
use crate::user_parts::numbered_names;

/// The name of our part, without its number.
const BOOTHOOK_NAME: &str = "bringup-boothook";
/// A part that cloud-init unpacks before it looks at it.
const PACKED_TYPE: &str = "application/x-gzip";

/// The message and what its parts take.
pub(crate) fn multipart(load: &Load<'_>, fetched: bool, findings: &mut Findings) -> (Vec<u8>, Vec<PartSize>) {
    let (script, files) = FirstStage::of(load, fetched, findings).script();
    let own = load.parts.iter().map(|part| (part.kind.word(), part.bytes.as_slice()));
    let ours = [("text/cloud-boothook", script.as_bytes())];
    holding(written(&names(load), ours.into_iter().chain(own)), files)
}

/// The names that the operator's parts have in a message: they stand behind ours.
pub fn carried_names(flavour: Flavour, parts: &[ResolvedPart]) -> Vec<String> {
    all_names(flavour, parts).split_off(1)
}

/// The names of all parts of a message, ours first.
fn names(load: &Load<'_>) -> Vec<String> {
    all_names(load.document.cluster.spec.flavour, load.parts)
}

/// Numbers make cloud-init run scripts in the order of the document. With kops it runs them by their own names, among others that
/// no document names: the `runcmd` of a cloud-config, the scripts of an archive or behind a URL. There they keep their names.
fn all_names(flavour: Flavour, parts: &[ResolvedPart]) -> Vec<String> {
    let own: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let mut names = numbered_names([&[BOOTHOOK_NAME], own.as_slice()].concat().into_iter());
    if flavour == Flavour::Kops {
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.kind == PartType::ShellScript) {
            let name = cleaned_name(&part.name);
            // Of equal names cloud-init would lose one.
            if !name.is_empty()
                && !names.contains(&name)
                && let Some(numbered) = names.get_mut(index.saturating_add(1))
            {
                *numbered = name;
            }
        }
    }
    names
}

/// The same message, with what our part is made of.
fn holding((bytes, mut parts): (Vec<u8>, Vec<PartSize>), files: Vec<PartSize>) -> (Vec<u8>, Vec<PartSize>) {
    if let Some(ours) = parts.first_mut() {
        ours.inside = files;
    }
    (bytes, parts)
}

/// The same message with our part and the larger ones of the operator's compressed each. cloud-init finds out from the
/// content what a compressed part is, and takes it for ASCII once it is unpacked: only parts that tell, and that are, can be.
pub(crate) fn packed_multipart(
    load: &Load<'_>,
    fetched: bool,
    pack: fn(&[u8]) -> Vec<u8>,
    findings: &mut Findings,
) -> (Vec<u8>, Vec<PartSize>) {
    let (script, files) = FirstStage::of(load, fetched, findings).script();
    let script = pack(format!("#cloud-boothook\n{script}").as_bytes());
    let mut parts: Vec<(&str, Cow<'_, [u8]>)> = vec![(PACKED_TYPE, Cow::Owned(script))];
    for part in load.parts {
        let packed = if tells_its_type(part) && part.bytes.is_ascii() {
            pack(&part.bytes)
        } else {
            part.bytes.clone()
        };
        parts.push(if packed.len() < part.bytes.len() {
            (PACKED_TYPE, Cow::Owned(packed))
        } else {
            (part.kind.word(), Cow::Borrowed(&part.bytes))
        });
    }
    let parts = parts.iter().map(|(kind, bytes)| (*kind, bytes.as_ref()));
    holding(written(&names(load), parts), files)
}

/// Whether the content of a part begins as its type does.
fn tells_its_type(part: &ResolvedPart) -> bool {
    let start: &[u8] = match part.kind {
        PartType::ShellScript => b"#!",
        PartType::CloudConfig => b"#cloud-config\n",
        PartType::CloudBoothook => b"#cloud-boothook",
        _ => return false,
    };
    part.bytes.starts_with(start)
}

/// A message of named parts, numbered in their order, with what each takes.
pub(crate) fn message(parts: Vec<(&str, &str, &[u8])>) -> (Vec<u8>, Vec<PartSize>) {
    let names = numbered_names(parts.iter().map(|(name, ..)| *name));
    written(&names, parts.into_iter().map(|(_, kind, bytes)| (kind, bytes)))
}

/// A message of parts under these names.
fn written<'part>(
    names: &[String],
    parts: impl Iterator<Item = (&'part str, &'part [u8])>,
) -> (Vec<u8>, Vec<PartSize>) {
    let parts: Vec<OutPart<'_>> = names
        .iter()
        .zip(parts)
        .map(|(name, (content_type, body))| OutPart { name, content_type, body })
        .collect();
    let sizes = parts.iter().map(|part| PartSize::new(part.name, part_length(part))).collect();
    (write_multipart(&parts), sizes)
}

/// What a part takes: its boundary and header, and its content in lines of base64.
fn part_length(part: &OutPart<'_>) -> usize {
    const FRAME: &str = "--=_0123456789abcdef01234567\nContent-Type: \nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"\"\n\n";
    let encoded = part.body.len().div_ceil(3).saturating_mul(4);
    let line_ends = encoded.div_ceil(76);
    [FRAME.len(), part.name.len(), part.content_type.len(), encoded, line_ends].iter().sum()
}

#[cfg(test)]
mod tests {
    use bringup_spec::{Flavour, PartType};
    use bringup_yaml::Path;

    use super::{carried_names, message};
    use crate::load::ResolvedPart;

    /// cloud-init sorts scripts by name, and `runcmd` among them: with kops `use.sh` runs behind it and `pp.sh` before.
    #[test]
    fn scripts_of_kops_keep_the_names_by_which_they_are_sorted() {
        let part = |name: &str, kind| ResolvedPart {
            name: name.to_owned(),
            kind,
            bytes: Vec::new(),
            path: Path::default(),
        };
        let script = PartType::ShellScript;
        let parts = [
            part("prepare.txt", PartType::CloudConfig),
            part("use.sh", script),
            part("a/pp .sh", script),
            part("use.sh", script),
            part("\u{e4}", script),
        ];
        let names = carried_names(Flavour::Kops, &parts);
        assert_eq!(names, ["010-prepare.txt", "use.sh", "a_pp.sh", "040-use.sh", "050--"]);
        let names = carried_names(Flavour::Bringup, &parts);
        assert_eq!(names, ["010-prepare.txt", "020-use.sh", "030-a-pp-.sh", "040-use.sh", "050--"]);
    }

    #[test]
    fn the_sizes_add_up_to_the_message() {
        let frame = message(Vec::new()).0.len();
        for length in [0, 1, 56, 57, 58, 5000] {
            let body = vec![b'x'; length];
            let (bytes, sizes) = message(vec![("a", "text/x-shellscript", &body), ("b", "text/plain", b"y")]);
            assert_eq!(frame + sizes.iter().map(|size| size.bytes).sum::<usize>(), bytes.len(), "{length}");
        }
    }
}
