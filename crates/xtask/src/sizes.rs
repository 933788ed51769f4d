//! Files that have grown past one idea.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

const LARGE: usize = 400;

/// Hints about source files with many lines, tests not counted.
pub(crate) fn large(top: &Path) -> Result<Vec<String>> {
    let mut pending: Vec<PathBuf> = vec![top.join("crates")];
    let mut hints = Vec::new();
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory)
            .with_context(|| format!("cannot read `{}`", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                // Tests and benches are lists of cases: their length says nothing.
                let counts =
                    !["tests", "benches", "examples", "target"].iter().any(|name| path.ends_with(name));
                pending.extend(Some(path).filter(|_| counts));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let lines = text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
                if lines > LARGE {
                    let shown = path.strip_prefix(top).unwrap_or(&path).display();
                    hints.push(format!("`{shown}` has {lines} lines: does it still hold one idea?"));
                }
            }
        }
    }
    hints.sort();
    Ok(hints)
}
