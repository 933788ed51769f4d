//! The pictures of the examples: each is what the program draws, and is shown. `UPDATE_GOLDEN=1` draws them anew.

use std::collections::BTreeSet;
use std::path::Path;

use crate::program::{compare, error, out, run, tree};

/// The input of each example of another system, and the group that is drawn.
const DRAWN: [(&str, &[&str]); 6] = [
    ("bootstrap", &["user-data.sh", "--with", "additions.yaml"]),
    ("eksctl", &["cluster.yaml", "--with", "additions.yaml", "--group", "gpu"]),
    ("kops", &["cluster.yaml", "--with", "additions.yaml", "--group", "gpu"]),
    ("nodeadm", &["user-data.txt", "--with", "additions.yaml"]),
    ("tectonic", &["master.json", "--with", "additions.yaml"]),
    ("tkestack", &["cluster.json"]),
];

#[test]
fn pictures_of_the_examples_are_what_the_program_draws_and_are_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut faults = Vec::new();
    for (name, input) in DRAWN {
        let arguments = [&["explain"], input, &["--graph", "svg"]].concat();
        let output = run(&root.join("examples").join(name), &arguments);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", error(&output));
        // Many renderers, rsvg among them, know no variables, and draw in black what has no other colour.
        assert!(!out(&output).contains("var("), "{name}: a colour is in a variable alone");
        compare(&root.join(format!("docs/pictures/{name}.svg")), &output.stdout, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let there: BTreeSet<String> = tree(&root.join("docs/pictures")).into_keys().collect();
    let names = DRAWN.iter().map(|(name, _)| *name);
    assert_eq!(there, names.map(|name| format!("{name}.svg")).collect::<BTreeSet<_>>());
    let page = std::fs::read_to_string(root.join("examples/README.md")).expect("the page");
    let hidden: Vec<&String> =
        there.iter().filter(|name| !page.contains(&format!("](../docs/pictures/{name})"))).collect();
    assert!(hidden.is_empty(), "examples/README.md does not show {hidden:?}");
}
