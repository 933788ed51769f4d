//! Documents to compile, and ways to look at what comes out.

use bringup_diag::{Finding, Findings, Severity};
use bringup_plan::{Action, Compiled, Content, LocalFiles, Plan, Step, Unit, check_document, compile};
use bringup_spec::{Document, Text};

/// A certificate as far as anybody looks.
pub(crate) const AUTHORITY: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCKzZBREFnRUNBZ0VCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

/// Text further to the right.
pub(crate) fn indented(text: &str, by: usize) -> String {
    let mut indented = String::new();
    for line in text.lines() {
        indented.extend([" ".repeat(by).as_str(), line, "\n"]);
    }
    indented
}

/// A document with this `spec` and one group.
pub(crate) fn cluster(spec: &str, group: &str) -> Document {
    let text = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n{}  nodeGroups:\n    - name: workers\n{}",
        indented(spec, 2),
        indented(group, 6),
    );
    let mut read = bringup_spec::read("cluster.yaml", &text);
    assert!(!read.findings.has_errors(), "{:#?}\n{text}", read.findings);
    read.documents.remove(0)
}

/// An EKS cluster of this version, with one group of Amazon Linux 2023.
pub(crate) fn eks(version: &str, group: &str) -> Document {
    eks_with(version, "", &format!("os: amazon-linux-2023\n{group}"))
}

/// An EKS cluster with more in its `spec`; the group says its own system.
pub(crate) fn eks_with(version: &str, spec: &str, group: &str) -> Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: eks-token}}\naws: {{region: eu-central-1}}\n{}{spec}",
        if spec.contains("network:") { "" } else { "network: {serviceRanges: [10.100.0.0/16]}\n" },
    );
    cluster(&spec, &format!("platform: aws\n{group}"))
}

/// A cluster outside AWS that nodes join with a bootstrap token.
pub(crate) fn plain(version: &str, group: &str) -> Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://api.example.com:6443, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: bootstrap-token, token: {{file: /etc/token}}}}\nnetwork: {{serviceRanges: [10.96.0.0/16]}}\n"
    );
    cluster(&spec, &format!("os: debian\n{group}"))
}

pub(crate) fn compiled(document: &Document) -> Compiled {
    compile(document, 0, &LocalFiles::default())
}

/// The plan of the first group, which must be without errors.
pub(crate) fn plan(document: &Document) -> Plan {
    let compiled = compiled(document);
    let errors: Vec<&Finding> =
        compiled.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    compiled.plan.expect("a plan without errors")
}

/// All findings of the document and its groups.
pub(crate) fn findings(document: &Document) -> Findings {
    let mut findings = check_document(document);
    for index in 0..document.cluster.spec.node_groups.len() {
        findings.append(compile(document, index, &LocalFiles::default()).findings);
    }
    findings.sorted()
}

/// The codes of all findings.
pub(crate) fn codes(document: &Document) -> Vec<&'static str> {
    findings(document).iter().map(|finding| finding.code.name).collect()
}

/// The one finding with this code.
pub(crate) fn only(document: &Document, code: &str) -> Finding {
    let all = findings(document);
    let mut with: Vec<&Finding> = all.iter().filter(|finding| finding.code.name == code).collect();
    assert_eq!(with.len(), 1, "{code} in {all:#?}");
    with.remove(0).clone()
}

pub(crate) fn step<'a>(plan: &'a Plan, name: &str) -> &'a Step {
    plan.steps.iter().find(|step| step.name == name).unwrap_or_else(|| panic!("no step {name}"))
}

pub(crate) fn names(plan: &Plan) -> Vec<&str> {
    plan.steps.iter().map(|step| step.name.as_str()).collect()
}

pub(crate) fn content<'a>(plan: &'a Plan, wanted: &str) -> &'a Content {
    let found = plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content, .. } if path == wanted => Some(content),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("nothing writes {wanted}"))
}

pub(crate) fn mode<'a>(plan: &'a Plan, wanted: &str) -> &'a str {
    let found = plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, mode, .. } if path == wanted => Some(mode),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("nothing writes {wanted}"))
}

/// The text of a file, placeholders as a document would write them.
pub(crate) fn text(plan: &Plan, path: &str) -> String {
    match content(plan, path) {
        Content::Text(text) => text.to_string(),
        other => panic!("{path} is {other:?}"),
    }
}

/// Kubelet's configuration; placeholders outside quotes are put in quotes.
pub(crate) fn kubelet_config(plan: &Plan) -> serde_json::Value {
    let text = text(plan, "/etc/kubernetes/kubelet/config.json");
    serde_json::from_str(&text.replace(": @{maxPods}", ": \"@{maxPods}\"")).expect("JSON")
}

/// Kubelet's arguments, one by one.
pub(crate) fn arguments(plan: &Plan) -> Vec<String> {
    let Action::OpenGate { environment, .. } = &step(plan, "gate").action else { panic!("no gate") };
    let line = environment.get("BRINGUP_KUBELET_ARGS").map(Text::to_string).unwrap_or_default();
    line.split(' ').map(str::to_owned).collect()
}

pub(crate) fn unit<'a>(plan: &'a Plan, name: &str) -> &'a Unit {
    plan.units.iter().find(|unit| unit.name == name).unwrap_or_else(|| panic!("no unit {name}"))
}
