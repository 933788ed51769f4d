//! Both contenders in one small container, tests/container: what goes in, and the figures that come out.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The agent as it is shipped, or the one that the environment names.
pub(crate) fn agent() -> anyhow::Result<PathBuf> {
    let built = format!("target/dist/bringup-node-{}", std::env::consts::ARCH);
    let agent = std::env::var_os("BRINGUP_NODE_BINARY")
        .map_or_else(|| Ok(root()?.join(built)), |path| anyhow::Ok(PathBuf::from(path)))?;
    ensure!(
        agent.is_file(),
        "there is no `{}`: build it with `cargo xtask dist`, or name one in BRINGUP_NODE_BINARY",
        agent.display()
    );
    Ok(agent)
}

/// Runs `main` of the first folder in the container, with the agent and the files of all folders beside it, and gives its
/// figures.
pub(crate) fn compared(agent: &Path, folders: &[&str], files: &[(&str, String)]) -> anyhow::Result<Value> {
    let inside = tempfile::tempdir()?;
    // What comes later yields to what was there.
    for folder in folders {
        copied(&root()?.join("crates/bench/benches").join(folder), inside.path())?;
    }
    std::fs::copy(agent, inside.path().join("bringup-node"))?;
    for (name, content) in files {
        std::fs::write(inside.path().join(name), content)?;
    }
    let status = Command::new(root()?.join("tests/container")).arg(inside.path()).status()?;
    ensure!(status.success(), "the comparison did not come to its end");
    Ok(serde_json::from_slice(&std::fs::read(inside.path().join("figures.json"))?)?)
}

fn root() -> anyhow::Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?)
}

fn copied(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let path = entry?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            std::fs::create_dir_all(&place)?;
            copied(&path, &place)?;
        } else if !place.exists() {
            std::fs::copy(&path, &place)?;
        }
    }
    Ok(())
}
