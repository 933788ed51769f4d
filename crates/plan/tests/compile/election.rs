//! Which of several machines starts the cluster where nobody says it.

use bringup_plan::{Election, LocalFiles, Plan, compile};
use bringup_spec::{Document, Fact};

use crate::support::{AUTHORITY, findings, names, only, step};

/// A cluster of kubeadm's with two groups of masters and one of workers, and these machines.
fn cluster(first: &str, machines: &str) -> Document {
    let text = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n  \
         kubernetes: {{version: \"1.33.4\"}}\n  \
         api: {{endpoint: https://api.example.com:6443, certificateAuthority: {AUTHORITY}}}\n  \
         join: {{method: kubeadm, token: {{file: /t}}, kubeadm: {{certificateKey: {{file: /c}}}}}}\n  \
         network: {{serviceRanges: [10.96.0.0/16]}}\n  nodeGroups:\n  \
         - {{name: workers, os: debian}}\n  \
         - {{name: masters, os: debian, role: control-plane{first}}}\n  \
         - {{name: others, os: debian, role: control-plane}}\n  machines:\n{machines}"
    );
    let mut read = bringup_spec::read("cluster.yaml", &text);
    assert!(!read.findings.has_errors(), "{:#?}\n{text}", read.findings);
    read.documents.remove(0)
}

fn machine(group: &str, address: &str) -> String {
    format!("  - {{nodeGroup: {group}, address: \"{address}\", agent: true}}\n")
}

fn plan_of(document: &Document, group: &str) -> Plan {
    let groups = &document.cluster.spec.node_groups;
    let index = groups.iter().position(|known| known.name.as_str() == group).unwrap();
    let compiled = compile(document, index, &LocalFiles::default());
    assert!(!compiled.findings.has_errors(), "{:#?}", compiled.findings);
    compiled.plan.unwrap()
}

fn elections(document: &Document) -> [Option<Election>; 3] {
    ["workers", "masters", "others"].map(|group| plan_of(document, group).bootstrap)
}

#[test]
fn the_first_machine_of_the_control_plane_starts_the_cluster() {
    let all = [
        machine("workers", "10.0.0.9"),
        machine("masters", "10.0.0.1"),
        machine("masters", "10.0.0.2"),
        machine("others", "10.0.0.3"),
    ];
    let document = cluster("", &all.concat());
    let first = Election::When { fact: Fact::Address, equals: "10.0.0.1".to_owned() };
    assert_eq!(elections(&document), [None, Some(first), None]);
    // Of one plan for all machines of the group, each does its own part.
    let masters = plan_of(&document, "masters");
    assert!(step(&masters, "kubeadm-init").elected_only && step(&masters, "kubeadm-join").others_only);
    assert!(masters.facts.contains(&Fact::Address));
    assert!(!names(&plan_of(&document, "others")).contains(&"kubeadm-init"));
    let all = findings(&document);
    let notes: Vec<&str> = all.iter().map(|finding| finding.message.as_str()).collect();
    let told = "goes over SSH to root@10.0.0.1:22 with a key of your SSH agent (it starts the cluster), root@10.0.0.2";
    assert_eq!(notes.iter().filter(|note| note.contains(told)).count(), 1, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("it starts the cluster")).count(), 1, "{notes:?}");
}

#[test]
fn a_machine_alone_in_its_group_needs_no_condition() {
    let machines = [machine("others", "10.0.0.1"), machine("masters", "10.0.0.2")].concat();
    assert_eq!(elections(&cluster("", &machines)), [None, None, Some(Election::Always)]);
    // A name is that of the host.
    let machines = [machine("masters", "CP1.example.com"), machine("masters", "10.0.0.2")].concat();
    let named = Election::When { fact: Fact::Hostname, equals: "cp1.example.com".to_owned() };
    assert_eq!(elections(&cluster("", &machines))[1], Some(named));
}

#[test]
fn what_a_group_says_stands() {
    let machines = [machine("others", "10.0.0.1"), machine("masters", "10.0.0.2")].concat();
    assert_eq!(elections(&cluster(", bootstrap: true", &machines)), [None, Some(Election::Always), None]);
    // Machines that join a cluster which runs already.
    assert_eq!(elections(&cluster(", bootstrap: false", &machines)), [None, None, None]);
    assert_eq!(elections(&cluster("", &machine("workers", "10.0.0.9"))), [None, None, None]);
}

#[test]
fn a_machine_that_cannot_know_itself_is_told() {
    let machines = [machine("masters", "fd00::1"), machine("masters", "fd00::2")].concat();
    let finding = only(&cluster("", &machines), "machine/address");
    assert!(finding.message.contains("no node knows itself by this address"), "{finding:?}");
    assert!(finding.hint.unwrap_or_default().contains("`bootstrap`"));
}
