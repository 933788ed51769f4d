//! Whether the agents run, and whether all of them leave the same tree.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::{Architecture, tools};

/// Documents whose plans need nothing but facts until kubelet is configured.
const EXAMPLES: [&str; 3] = ["eksctl-flavour", "gpu-eks", "ipv6"];

const FACTS: &str = r#"{"platform": "aws", "region": "eu-central-1", "zone": "eu-central-1a",
"instanceId": "i-0123456789abcdef0", "instanceType": "m6g.large", "lifecycle": "spot", "address": "192.0.2.10",
"hostname": "ip-192-0-2-10.eu-central-1.compute.internal", "cores": 2, "memoryMiB": 8000, "tags": {"team": "vision"}}"#;

/// What stands at a path: its mode, and its content or where it leads.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Runs every agent on every plan of the examples and compares what they leave.
pub(crate) fn check(top: &Path, agents: &[(Architecture, PathBuf)]) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let plans = plans(top, folder.path())?;
    let facts = folder.path().join("facts.json");
    std::fs::write(&facts, FACTS).context("cannot write facts")?;
    for plan in &plans {
        let mut first: Option<(&Path, Tree)> = None;
        for (architecture, agent) in agents {
            tools::run(command(*architecture, agent)?.arg("--version"))?;
            let root = tempfile::tempdir_in(folder.path()).context("cannot make a folder")?;
            tools::run(
                command(*architecture, agent)?
                    .args(["up", "--until", "configure", "--ignore-preflight", "all", "--root"])
                    .arg(root.path())
                    .arg("--plan")
                    .arg(plan)
                    .arg("--facts")
                    .arg(&facts),
            )?;
            let tree = left(root.path())?;
            ensure!(tree.len() > 10, "`{}` has left {} paths", agent.display(), tree.len());
            match &first {
                None => first = Some((agent, tree)),
                Some((other, expected)) if *expected != tree => {
                    let differ = expected.iter().find(|(path, what)| tree.get(*path) != Some(what));
                    let at = differ.or_else(|| tree.iter().find(|(path, _)| !expected.contains_key(*path)));
                    let at = at.map(|(path, _)| path.display().to_string()).unwrap_or_default();
                    bail!("`{}` and `{}` leave different files: `{at}`", other.display(), agent.display());
                }
                Some(_) => {}
            }
        }
    }
    eprintln!("{} plans, followed until kubelet is configured: the same tree from each agent", plans.len());
    Ok(())
}

/// A call of the agent, without any network: it could ask a metadata service that is not ours.
fn command(architecture: Architecture, agent: &Path) -> Result<Command> {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net"]);
    if !architecture.is_of_this_machine() {
        let emulator = format!("qemu-{}-static", architecture.name());
        if !tools::succeeds(Command::new(&emulator).arg("--version")) {
            tools::packages(&["qemu-user-static"])?;
        }
        command.arg(emulator);
    }
    command.arg(agent);
    Ok(command)
}

/// Compiles the examples and says where their plans are.
fn plans(top: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut plans = Vec::new();
    for example in EXAMPLES {
        let output = folder.join(example);
        tools::run(
            Command::new("cargo")
                .args(["run", "--quiet", "--locked", "--package", "bringup", "--", "build", "-o"])
                .arg(&output)
                .arg(format!("examples/{example}/cluster.yaml"))
                .current_dir(top),
        )?;
        let found = left(&output)?;
        plans.extend(found.keys().filter(|path| path.ends_with("plan.json")).map(|path| output.join(path)));
    }
    Ok(plans)
}

/// All that is beneath a folder, without what tells of times.
fn left(folder: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let about = path.symlink_metadata()?;
        let content = if about.is_symlink() {
            path.read_link()?.into_os_string().into_encoded_bytes()
        } else if about.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                pending.push(entry?.path());
            }
            Vec::new()
        } else {
            std::fs::read(&path)?
        };
        tree.insert(path.strip_prefix(folder)?.to_owned(), (about.permissions().mode(), content));
    }
    tree.remove(Path::new("var/lib/bringup/journal"));
    tree.remove(Path::new("run/bringup/status.json"));
    Ok(tree)
}
