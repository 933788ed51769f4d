//! What building the agent needs beside Cargo: installed where it can be, else named.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// The C compiler, in `.cache/zig`; made again when another version is pinned.
pub(crate) fn zig(top: &Path) -> Result<PathBuf> {
    let pinned = top.join("crates/xtask/zig.txt");
    let folder = top.join(".cache/zig");
    let made_from = folder.join("made-from");
    let content = |path: &Path| std::fs::read_to_string(path).ok();
    if content(&pinned) != content(&made_from) {
        if !succeeds(Command::new("/usr/bin/python3").args(["-c", "import ensurepip, venv"])) {
            packages(&["python3-venv"])?;
        }
        let _ = std::fs::remove_dir_all(&folder);
        run(Command::new("/usr/bin/python3").args(["-m", "venv"]).arg(&folder))?;
        let pip = folder.join("bin/pip");
        run(Command::new(pip)
            .args(["install", "--quiet", "--require-hashes", "--requirement"])
            .arg(&pinned))?;
        std::fs::copy(&pinned, &made_from)
            .with_context(|| format!("cannot write `{}`", made_from.display()))?;
    }
    let asked = Command::new(folder.join("bin/python"))
        .args(["-c", "import os, ziglang; print(os.path.dirname(ziglang.__file__))"])
        .output()
        .context("cannot start Python")?;
    ensure!(asked.status.success(), "there is no zig in `{}`", folder.display());
    Ok(Path::new(String::from_utf8_lossy(&asked.stdout).trim()).join("zig"))
}

/// Rust's own library for a target, from rustup.
pub(crate) fn standard_library(top: &Path, target: &str) -> Result<()> {
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(top)
        .output()
        .context("cannot start `rustc`")?;
    if Path::new(String::from_utf8_lossy(&asked.stdout).trim()).is_dir() {
        return Ok(());
    }
    let command = format!("rustup target add {target}");
    run(Command::new("rustup").args(["target", "add", target]).current_dir(top))
        .with_context(|| format!("Rust's library for {target} is missing; install it: `{command}`"))
}

/// Installs packages where this is root on Debian; else says which.
pub(crate) fn packages(names: &[&str]) -> Result<()> {
    let install = format!("apt-get install {}", names.join(" "));
    let root = Command::new("id").arg("-u").output().is_ok_and(|asked| asked.stdout == b"0\n");
    if !root || !succeeds(Command::new("apt-get").arg("--version")) {
        bail!("missing: {}; on Debian: `{install}`", names.join(", "));
    }
    run(Command::new("apt-get").args(["update", "--quiet"]))?;
    run(Command::new("apt-get")
        .args(["install", "--quiet", "--yes", "--no-remove", "--no-install-recommends"])
        .args(names)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Runs a command quietly; what it printed is told if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().with_context(|| format!("cannot start `{name}`"))?;
    if !ran.status.success() {
        let said = [ran.stdout, ran.stderr].concat();
        bail!("`{name}`, {}: {}", ran.status, String::from_utf8_lossy(&said).trim());
    }
    Ok(())
}

pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|ran| ran.status.success())
}
