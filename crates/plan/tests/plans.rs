//! Whole documents compiled: what comes out, and what is found.

use bringup_diag::{Findings, Severity};
use bringup_plan::{Action, Content, LocalFiles, Plan, check_document, compile};
use bringup_spec::{Document, Phase};

const AUTHORITY: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCKzZBREFnRUNBZ0VCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

fn document(text: &str) -> Document {
    let mut read = bringup_spec::read("cluster.yaml", text);
    assert!(!read.findings.has_errors(), "{:#?}", read.findings);
    read.documents.remove(0)
}

/// A document for EKS with one group, to which `group` and `spec` are added.
fn eks(version: &str, group: &str, spec: &str) -> Document {
    let indented = |text: &str, by: usize| -> String {
        text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
    };
    document(&format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n  kubernetes: {{version: \"{version}\"}}\n  \
         api: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\n  network: {{serviceRanges: [10.100.0.0/16]}}\n  \
         join: {{method: eks-token}}\n  aws: {{region: eu-central-1}}\n{}  nodeGroups:\n    - name: workers\n      platform: aws\n      os: amazon-linux-2023\n{}",
        indented(spec, 2),
        indented(group, 6),
    ))
}

fn plan(document: &Document) -> Plan {
    let compiled = compile(document, 0, &LocalFiles::default());
    let errors: Vec<_> =
        compiled.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    compiled.plan.unwrap()
}

fn findings(document: &Document) -> Findings {
    let mut findings = check_document(document);
    for index in 0..document.cluster.spec.node_groups.len() {
        findings.append(compile(document, index, &LocalFiles::default()).findings);
    }
    findings
}

fn text_of(plan: &Plan, wanted: &str) -> String {
    let found = plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. } if path == wanted => {
            Some(text.to_string())
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {wanted}"))
}

#[test]
fn smoke() {
    let plan = plan(&eks(
        "1.33",
        "instanceTypes: [m5.large]\nlabels: {a: \"@{zone}\"}\nsteps: [{name: drivers, run: [/bin/true], before: [runtime]}]",
        "",
    ));
    assert!(plan.steps.iter().any(|step| step.phase == Phase::Gate));
    assert_eq!(findings(&eks("1.33", "", "")).len(), 0);
}
