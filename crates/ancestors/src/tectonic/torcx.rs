//! `tectonic-torcx-bootstrap`: the update of the operating system, and the runtime that goes with Kubernetes.

use bringup_diag::Span;

use super::commands::{Known, known};
use super::group::{Cluster, Group};
use super::unit_text::Setting;
use super::words::Variables;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, plain};

/// Whether a command of the unit updates the operating system.
pub(super) fn upgrades(settings: &[Setting]) -> bool {
    settings.iter().any(|setting| match known(&setting.value, &Variables::new()) {
        Known::Torcx(flags) => flags.iter().any(|flag| flag == "--upgrade-os" || flag == "--upgrade-os=true"),
        _ => false,
    })
}

/// What `tectonic-torcx-bootstrap` is asked for.
pub(super) fn take(
    words: &[String],
    span: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    cluster.detect.get_or_insert(span);
    if !skips(words) {
        let message = "no addon of torcx is fetched: the runtime is the image's";
        let hint = "say where it comes from with `--with additions.yaml`: `software: {runtime: {from: extension, …}}`, and which version goes with which Kubernetes: `runtime: {versions: […]}`";
        tell.note(codes::DIFFERENCE, span, message, hint);
    }
    for word in words {
        let (name, value) =
            word.trim_start_matches('-').split_once('=').unwrap_or((word.trim_start_matches('-'), "true"));
        match (name, value) {
            ("upgrade-os", "true") => {
                group.update.get_or_insert_with(|| {
                    let mut update = Branch::new(span);
                    update.put("enabled", plain(span, true));
                    update.into_node()
                });
            }
            // The address goes with the addons.
            ("upgrade-os", "false")
            | ("torcx-skip-setup", "true" | "false")
            | ("torcx-manifest-url" | "verbose" | "v", _) => {}
            _ => {
                let message =
                    format!("`--{name}` of tectonic-torcx-bootstrap is not carried out: the node may differ");
                tell.warning(
                    codes::FIELD_DIFFERS,
                    span,
                    message,
                    "take it out, or say the same in a document",
                );
            }
        }
    }
}

/// Whether the unit leaves the runtime as it is.
pub(super) fn skips_runtime(settings: &[Setting]) -> bool {
    let of_torcx = |setting: &Setting| matches!(known(&setting.value, &Variables::new()), Known::Torcx(flags) if skips(&flags));
    settings.iter().any(of_torcx)
}

fn skips(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "--torcx-skip-setup" || flag == "--torcx-skip-setup=true")
}
