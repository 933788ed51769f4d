//! `cargo xtask dist`: the agent as it is shipped, one static file for each architecture.
//!
//! The compiler is the pinned one, with its own linker and its own musl; the C of a dependency is compiled by a zig that is
//! pinned by content. Paths of the machine that builds are left out of the file.

mod agree;
mod elf;
mod tools;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;
use sha2::{Digest as _, Sha256};

/// No agent is larger.
const LARGEST: usize = 5_000_000;

/// A processor that nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Architecture {
    /// `x86_64`
    #[value(name = "x86_64")]
    X86,
    /// `aarch64`
    #[value(name = "aarch64")]
    Arm,
}

impl Architecture {
    fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    fn target(self) -> String {
        format!("{}-unknown-linux-musl", self.name())
    }

    /// The one of the machine that this runs on.
    pub(crate) fn of_this_machine() -> Result<Self> {
        let all = Self::value_variants().iter().copied();
        all.into_iter()
            .find(|one| one.is_of_this_machine())
            .context("agents are not built for such a machine")
    }

    fn is_of_this_machine(self) -> bool {
        self.name() == std::env::consts::ARCH
    }
}

/// Builds the agents, checks them, and says what they are.
pub(crate) fn build(top: &Path, wished: &[Architecture], folder: &Path) -> Result<()> {
    let wished = if wished.is_empty() { Architecture::value_variants() } else { wished };
    let zig = tools::zig(top)?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let mut agents = Vec::new();
    for architecture in wished {
        tools::standard_library(top, &architecture.target())?;
        let built = compile(top, *architecture, &zig)?;
        let bytes = std::fs::read(&built).with_context(|| format!("cannot read `{}`", built.display()))?;
        elf::is_static(&bytes).with_context(|| format!("`{}` cannot be shipped", built.display()))?;
        ensure!(
            bytes.len() <= LARGEST,
            "`{}` has {} bytes, and {LARGEST} are the most",
            built.display(),
            bytes.len()
        );
        let agent = folder.join(format!("bringup-node-{}", architecture.name()));
        // Beside its place and renamed: an agent that runs from there keeps its file.
        let fresh = agent.with_extension("new");
        std::fs::copy(&built, &fresh).with_context(|| format!("cannot write `{}`", fresh.display()))?;
        std::fs::rename(&fresh, &agent).with_context(|| format!("cannot write `{}`", agent.display()))?;
        eprintln!("{}  {} bytes  sha256 {}", agent.display(), bytes.len(), digest(&bytes));
        agents.push((*architecture, agent));
    }
    agree::check(top, &agents)
}

/// Compiles one agent and says where it is.
fn compile(top: &Path, architecture: Architecture, zig: &Path) -> Result<PathBuf> {
    let target = architecture.target();
    let named = target.replace('-', "_");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--profile", "dist", "--package", "bringup-node", "--target"])
        .arg(&target)
        .current_dir(top)
        .env("CARGO_TARGET_DIR", top.join("target"))
        .env("CARGO_ENCODED_RUSTFLAGS", flags(top)?.join("\u{1f}"))
        // The names that the `cc` crate gives targets are not zig's, so it gets all of its flags from here.
        .env("CRATE_CC_NO_DEFAULTS", "1")
        .env(
            format!("CC_{named}"),
            format!("{} cc -target {}-linux-musl", zig.display(), architecture.name()),
        )
        .env(format!("AR_{named}"), format!("{} ar", zig.display()))
        .env(format!("CFLAGS_{named}"), "-Os -fPIC -ffunction-sections -fdata-sections -DNDEBUG")
        .status()
        .context("cannot start `cargo`")?;
    if !status.success() {
        bail!("the agent for {} does not compile", architecture.name());
    }
    Ok(top.join("target").join(target).join("dist/bringup-node"))
}

/// Flags of the compiler: its own linker and start files, and no path of this machine in messages.
fn flags(top: &Path) -> Result<Vec<String>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME")?;
        Some(Path::new(&home).join(".cargo"))
    });
    let home = home.context("neither `CARGO_HOME` nor `HOME` is set")?;
    let mut flags: Vec<String> = ["-Clinker=rust-lld", "-Clinker-flavor=ld.lld", "-Clink-self-contained=yes"]
        .map(str::to_owned)
        .into();
    for (path, name) in [(home.as_path(), "/cargo"), (top, "/bringup")] {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
    }
    Ok(flags)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
