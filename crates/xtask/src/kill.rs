//! `cargo xtask kill`: the agent that is shipped, killed at every call that changes something, and run again.
//!
//! On directories that stand for machines, by the tests of `bringup-node`; and in a container with a real systemd, where
//! operators' programs and kubelet run for real.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::dist;

/// What the container gets beside the agent.
const INSIDE: [&str; 3] = ["main", "plan.json", "program"];

/// Kills this agent, or the one that is shipped, which is built if it is not there.
pub(crate) fn everywhere(top: &Path, agent: Option<&Path>) -> Result<()> {
    let agent = match agent {
        Some(agent) => agent.to_owned(),
        None => shipped(top)?,
    };
    let agent = agent.canonicalize().with_context(|| format!("there is no `{}`", agent.display()))?;
    eprintln!("on directories that stand for machines");
    succeed(
        Command::new("cargo")
            .args(["test", "--quiet", "--locked", "--package", "bringup-node", "--test", "root", "killed"])
            .args(["--", "--nocapture"])
            .env("BRINGUP_NODE_BINARY", &agent)
            .current_dir(top),
    )?;
    eprintln!("in a container with systemd");
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    for name in INSIDE {
        std::fs::copy(top.join("tests/kill").join(name), folder.path().join(name))
            .with_context(|| format!("cannot copy `tests/kill/{name}`"))?;
    }
    std::fs::copy(&agent, folder.path().join("bringup-node")).context("cannot copy the agent")?;
    succeed(Command::new(top.join("tests/container")).arg(folder.path()))
}

/// The agent of this machine's architecture in `target/dist`.
fn shipped(top: &Path) -> Result<PathBuf> {
    let folder = top.join("target/dist");
    let agent = folder.join(format!("bringup-node-{}", std::env::consts::ARCH));
    if !agent.is_file() {
        dist::build(top, &[dist::Architecture::of_this_machine()?], &folder)?;
    }
    Ok(agent)
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "it does not hold: {status}");
    Ok(())
}
