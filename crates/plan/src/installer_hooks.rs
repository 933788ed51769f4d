//! Programs beside a document that have the names of hooks of tkestack's installer: nothing of ours runs them, and each
//! has a place in the document where it is run better.

use bringup_diag::{Finding, Findings};
use bringup_spec::Document;

use crate::context::Context;
use crate::{codes, local_sources};

/// Where that installer looks, and what stands in for each.
const PROGRAMS: [(&str, &str); 3] = [
    (
        "hooks/pre-install",
        "run it before `bringup build` if it changes the document; else write a hook on `pre-cluster-install`, which the first machine of the control plane runs before anything else",
    ),
    (
        "hooks/post-cluster-ready",
        "write it as `platformStage` of the control plane's first group: the machine that starts the cluster runs it when the API server knows its node",
    ),
    (
        "hooks/post-install",
        "write a hook on `post-cluster-install`, which the first machine of the control plane runs last of all",
    ),
];

/// Tells of such programs, of those that are there. A file that the document brings to its nodes is meant for them, and
/// without machines there is nothing that an installer would go through.
pub fn installer_hooks(document: &Document, is_there: impl Fn(&str) -> bool) -> Findings {
    if document.cluster.spec.machines.is_empty() {
        return Findings::new();
    }
    let sources = local_sources(&document.cluster);
    let carried = |path: &str| {
        sources.iter().map(|source| source.trim_start_matches("./").trim_end_matches('/')).any(|source| {
            path.strip_prefix(source).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let found = PROGRAMS.iter().filter(|(path, _)| !carried(path) && is_there(path));
    found
        .map(|(path, hint)| {
            let message =
                format!("`{path}` has the name of a hook of tkestack's installer, and nothing runs it here");
            Finding::warning(codes::HOOK_INSTALLER, message)
                .at(document.place(&Context::spec_path(["machines"])))
                .hint(*hint)
        })
        .collect()
}
