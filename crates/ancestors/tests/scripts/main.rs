//! Scripts that call `/etc/eks/bootstrap.sh`, run by bash as they are and as they are read: both do the same, or the difference
//! is told with its line.
#![expect(clippy::disallowed_methods, reason = "what a script does is best seen by running it")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot look at what it tests ends there"
)]

mod compose;
mod constructs;
mod machine;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::collections::BTreeMap;

use machine::{Machine, Verdict};

/// How many scripts are composed.
const SCRIPTS: u64 = 300;

#[test]
fn scripts_of_a_table_do_the_same_or_are_told_of() {
    let machine = Machine::new("table");
    let mut wrong = Vec::new();
    for (script, expected) in table::SCRIPTS {
        let verdict = machine.compare(script);
        if verdict.word() != *expected {
            wrong.push(format!("--- expected `{expected}`\n{script}\n{verdict}"));
        }
    }
    assert!(wrong.is_empty(), "{} scripts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn composed_scripts_do_the_same_or_are_told_of() {
    let machine = Machine::new("composed");
    let mut counts = [0_u32; 3];
    let mut wrong = BTreeMap::new();
    for seed in 0..SCRIPTS {
        let names = compose::chosen(seed);
        match machine.compare(&compose::script(&names)) {
            Verdict::Equal => counts[0] += 1,
            Verdict::Told(_) => counts[1] += 1,
            Verdict::Refused(_) => counts[2] += 1,
            Verdict::Silent(_) => {
                let least = compose::shrunk(names, |names| {
                    matches!(machine.compare(&compose::script(names)), Verdict::Silent(_))
                });
                let script = compose::script(&least);
                let verdict = machine.compare(&script);
                wrong.insert(format!("{least:?}"), format!("seed {seed}\n{script}\n{verdict}\n"));
            }
        }
    }
    println!("{} equal, {} told, {} refused", counts[0], counts[1], counts[2]);
    assert!(wrong.is_empty(), "{} kinds are lost in silence:\n{}", wrong.len(), shown(&wrong));
    // Telling and refusing everything would be easy.
    assert!(counts[0] > 150 && counts[1] > 10 && counts[2] > 20, "{counts:?}");
}

fn shown(wrong: &BTreeMap<String, String>) -> String {
    wrong.iter().map(|(least, why)| format!("--- {least}\n{why}")).collect::<Vec<_>>().join("\n")
}
