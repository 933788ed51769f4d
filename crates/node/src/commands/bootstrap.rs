//! `bringup-node bootstrap`: what `bootstrap.sh` of EKS' images does, with its flags.

use std::io::Write as _;
use std::path::PathBuf;

use bringup_spec::bootstrap_flags::{self, FLAGS, Flag};

use crate::arguments::{Bootstrap, phase};
use crate::bootstrap::{Call, carry_out};
use crate::ended::Ended;
use crate::node_config;
use crate::teller::Teller;

/// Flags beside the script's own.
const BESIDE: [Flag; 3] = [
    Flag {
        name: "root",
        value: "DIR",
        about: "Works beneath this directory instead of `/`: files only, no units and no programs",
    },
    Flag { name: "facts", value: "FILE", about: "Takes facts from this file instead of asking the platform" },
    Flag { name: "until", value: "PHASE", about: "Ends with this phase" },
];

/// All flags, for help and the manual.
pub(crate) fn help() -> String {
    let line = |flag: &Flag| {
        let name = format!("--{} {}", flag.name, flag.value);
        if name.len() < 36 {
            format!("  {name:36}{}\n", flag.about)
        } else {
            format!("  {name}\n{:38}{}\n", "", flag.about)
        }
    };
    let script: String = FLAGS.iter().map(line).collect();
    let beside: String = BESIDE.iter().map(line).collect();
    format!(
        "Flags of the script, as `--flag value` or `--flag=value`:\n{script}\nBeside them:\n{beside}  -h, --help{:26}Print help",
        ""
    )
}

/// What the script takes from its environment alone.
const PAUSE_IMAGE: &str = "PAUSE_CONTAINER_IMAGE";

/// Values that the script takes from its environment where their flags are not given; of two, the last one counts.
fn from_environment(words: &[String]) -> Vec<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if variable(PAUSE_IMAGE).is_some() {
        Teller::note(&format!(
            "`{PAUSE_IMAGE}` of the environment counts for nothing here: give `--pause-container-account`, or another \
             image in the file of `--containerd-config-file`"
        ));
    }
    let given = |flag: &Flag| {
        let name = format!("--{}", flag.name);
        let is_it = |word: &String| *word == name || word.starts_with(&format!("{name}="));
        if words.iter().any(is_it) {
            return None;
        }
        let own = flag.variable();
        let value = variable(&own)?;
        Teller::note(&format!("`{own}` of the environment counts as `--{}`, as with the script", flag.name));
        Some(format!("--{}={value}", flag.name))
    };
    FLAGS.iter().filter_map(given).collect()
}

/// Carries a call out.
pub(crate) fn execute(options: &Bootstrap) -> Ended {
    let names = BESIDE.map(|flag| flag.name);
    let given: Vec<String> = options.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut words = from_environment(&given);
    words.extend(given);
    let parsed = bootstrap_flags::parse(&words, &names);
    if parsed.help {
        let usage = "Joins an EKS cluster as the image's `bootstrap.sh` does\n\nUsage: bringup-node bootstrap CLUSTER [FLAGS]";
        let written = writeln!(std::io::stdout().lock(), "{usage}\n\n{}", help());
        return if written.is_ok() { Ended::Well } else { Ended::No };
    }
    for finding in &parsed.findings {
        Teller::note(&node_config::line(finding));
    }
    let until = parsed.beside.get("until").map(|name| phase(name)).transpose();
    let (request, until) = match (parsed.request, until) {
        (Some(request), Ok(until)) => (request, until),
        (_, until) => {
            if let Err(why) = until {
                Teller::note(&format!("`--until`: {why}"));
            }
            return Ended::Wrong;
        }
    };
    let path = |name: &str| parsed.beside.get(name).map(PathBuf::from);
    let root = path("root").unwrap_or_else(|| PathBuf::from("/"));
    match carry_out(&Call { request, root, facts: path("facts"), until }) {
        Ok(ended) => ended,
        Err((ended, why)) => {
            Teller::note(&why);
            ended
        }
    }
}
