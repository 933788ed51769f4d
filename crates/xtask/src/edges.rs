//! Which crate may use which: everything flows one way, and what is pure stays so.

use std::path::Path;

use anyhow::{Context as _, Result};

/// A crate and those of ours that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ancestors", &["aws", "diag", "kubelet", "spec", "yaml"]),
    ("aws", &[]),
    ("bench", &[]),
    ("disk", &[]),
    ("facts", &["plan", "spec"]),
    ("systemd", &[]),
    ("lab", &["diag", "plan", "progress", "spec"]),
    ("node", &["aws", "disk", "facts", "plan", "progress", "spec", "systemd", "yaml"]),
    ("diag", &[]),
    ("yaml", &["diag"]),
    ("spec", &["diag", "yaml"]),
    ("kubelet", &[]),
    ("cloudinit", &["diag", "yaml"]),
    ("cloudformation", &["diag", "plan", "spec", "yaml"]),
    ("plan", &["aws", "diag", "kubelet", "spec", "yaml"]),
    ("carry", &["cloudformation", "cloudinit", "diag", "plan", "spec", "yaml"]),
    ("progress", &["plan", "spec"]),
    (
        "bringup",
        &[
            "ancestors",
            "aws",
            "carry",
            "cloudformation",
            "cloudinit",
            "diag",
            "kubelet",
            "lab",
            "plan",
            "progress",
            "spec",
            "yaml",
        ],
    ),
    ("xtask", &["ancestors", "bringup", "plan", "yaml"]),
];

/// Crates with effects: files, terminals, networks, randomness, threads.
const EFFECTFUL: &[&str] = &[
    "anstream",
    "anyhow",
    "clap",
    "clap_complete",
    "clap_mangen",
    "indicatif",
    "rand",
    "rayon",
    "reqwest",
    "rustix",
    "tempfile",
    "tokio",
    "ureq",
];

/// The only crates that may use those.
const MAY_HAVE_EFFECTS: &[&str] = &["bringup", "disk", "lab", "node", "systemd", "xtask"];

/// What breaks the rules.
pub(crate) fn forbidden(top: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let crates = top.join("crates");
    let mut names: Vec<String> = std::fs::read_dir(&crates)
        .with_context(|| format!("cannot read `{}`", crates.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    for name in names {
        let path = crates.join(&name).join("Cargo.toml");
        let Ok(manifest) = std::fs::read_to_string(&path) else { continue };
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            faults.push(format!(
                "crate `{name}` has no line in crates/xtask/src/edges.rs that says what it may use"
            ));
            continue;
        };
        for dependency in dependencies(&manifest) {
            let own =
                dependency.strip_prefix("bringup-").or(Some("bringup").filter(|own| *own == dependency));
            if let Some(own) = own
                && !allowed.contains(&own)
            {
                faults.push(format!(
                    "crate `{name}` may not use `{own}`: see the table in crates/xtask/src/edges.rs"
                ));
            }
            if EFFECTFUL.contains(&dependency) && !MAY_HAVE_EFFECTS.contains(&name.as_str()) {
                faults.push(format!("crate `{name}` is pure and may not use `{dependency}`"));
            }
        }
    }
    Ok(faults)
}

/// The names in `[dependencies]`; what only tests and builds use does not count.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            inside = line.trim() == "[dependencies]";
            return None;
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        (inside && !name.is_empty() && !name.starts_with('#')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::dependencies;

    #[test]
    fn only_real_dependencies_count() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nserde.workspace = true\n# no\nbringup-diag = { path = \"..\" }\n\n[dev-dependencies]\nproptest.workspace = true\n";
        assert_eq!(dependencies(manifest).collect::<Vec<_>>(), ["serde", "bringup-diag"]);
    }

    #[test]
    fn the_workspace_keeps_the_rules() {
        assert_eq!(super::forbidden(&crate::top()).unwrap(), Vec::<String>::new());
    }
}
