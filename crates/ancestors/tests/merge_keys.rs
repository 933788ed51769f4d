//! `<<`: keys of another mapping, as the readers of the other systems take them.

mod support;

use bringup_diag::Severity;
use serde_json::json;

use support::{read, told, value};

fn cluster(machines: &str) -> bringup_ancestors::Read {
    let text = format!(
        "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {{name: cls-a}}\nspec:\n  type: Baremetal\n  version: 1.33.1\n  machines:\n{machines}"
    );
    read(&[("a.yaml", &text)])
}

#[test]
fn a_mapping_lends_its_keys_and_ones_own_win() {
    let read = cluster(
        "  - &first {ip: 10.0.0.1, username: root, password: eA==}\n  - {<<: *first, ip: 10.0.0.2, username: ops}\n",
    );
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let machine = value(&read, "spec/machines/1");
    assert_eq!([&machine["address"], &machine["user"]], [&json!("10.0.0.2"), &json!("ops")]);
    assert_eq!(machine["password"], json!({"environment": "TKE_PASSWORD_10_0_0_2"}), "the rest is lent");
}

#[test]
fn of_several_mappings_the_first_wins_also_through_others() {
    let read = cluster(
        "  - &a {ip: 10.0.0.1, username: a, password: eA==}\n  - &b {<<: *a, ip: 10.0.0.2, port: 2222}\n  - {<<: [{username: c}, *b], ip: 10.0.0.3}\n",
    );
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let machine = value(&read, "spec/machines/2");
    assert_eq!(
        [&machine["address"], &machine["user"], &machine["port"]],
        [&json!("10.0.0.3"), &json!("c"), &json!(2222)]
    );
}

#[test]
fn what_lends_nothing_is_told() {
    for wrong in ["<<: word", "<<: [word]", "<<: [{port: 22}, word]"] {
        let read = cluster(&format!("  - {{{wrong}, ip: 10.0.0.1, password: eA==}}\n"));
        let warned: Vec<String> = told(&read, Severity::Warning)
            .into_iter()
            .filter(|line| line.contains("unknown-field"))
            .collect();
        assert_eq!(
            warned,
            ["a.yaml:8:6 ancestor/unknown-field unknown field `<<` in a machine of tkestack"],
            "{wrong}"
        );
    }
}
