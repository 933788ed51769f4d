//! `cargo xtask kill`: the agent that is shipped, killed at every call that changes something, and run again.
//!
//! On directories that stand for machines, by the tests of `bringup-node`; and in a container with a real systemd, under
//! the units that a plan has, where operators' programs run for real and kubelet waits behind the gate.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use bringup_ancestors::Input;
use bringup_plan::{LocalFiles, PlacedBy, Unit, compile};

use crate::dist;

/// What the container gets beside the agent.
const INSIDE: [&str; 4] = ["agent", "main", "plan.json", "program"];
/// The document that the units are those of.
const DOCUMENT: &str = "tests/kill/cluster.yaml";

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
    let units = serde_json::to_string(&carried_units(top)?)?;
    std::fs::write(folder.path().join("units.json"), units).context("cannot write the units")?;
    std::fs::copy(&agent, folder.path().join("bringup-node")).context("cannot copy the agent")?;
    succeed(Command::new(top.join("tests/container")).arg(folder.path()))
}

/// The units that a carrier places.
fn carried_units(top: &Path) -> Result<Vec<Unit>> {
    let text =
        std::fs::read_to_string(top.join(DOCUMENT)).with_context(|| format!("cannot read `{DOCUMENT}`"))?;
    let found = bringup_ancestors::read(&[Input { name: DOCUMENT, text: &text }]);
    let document = found.documents.first().with_context(|| format!("`{DOCUMENT}` is no document"))?;
    let compiled = compile(document, 0, &LocalFiles::default());
    let plan =
        compiled.plan.with_context(|| format!("`{DOCUMENT}` does not compile: {:?}", compiled.findings))?;
    Ok(plan.units.into_iter().filter(|unit| unit.placed_by == PlacedBy::Carrier).collect())
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
