//! Documents of kops, and the Bringup documents that they become. What is expected is worked out from kops' own rules,
//! each said beside it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot look at what it tests ends there"
)]

mod fields;
mod groups;
mod hooks;
mod images;
mod kubelet;
mod parts;
mod same;
mod software;
mod unsaid;
mod updates;

use bringup_ancestors::{Input, Read, read};
use bringup_diag::{Finding, Severity};
use bringup_plan::{Action, Content, LocalFiles, Plan, compile};
use serde_json::Value;

/// A cluster of kops on AWS, with more lines of its `spec`.
fn cluster(spec: &str) -> String {
    let spec: String = spec.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    format!(
        "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata:\n  name: quarry.example.com\nspec:\n  cloudProvider: aws\n  kubernetesVersion: v1.33.4\n  subnets:\n  - {{name: a, zone: eu-central-1a}}\n{spec}"
    )
}

/// A group of nodes of kops, with more lines of its `spec`.
fn group(spec: &str) -> String {
    named_group("nodes", "Node", spec)
}

fn named_group(name: &str, role: &str, spec: &str) -> String {
    let spec: String = spec.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    format!(
        "---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata:\n  name: {name}\n  labels: {{kops.k8s.io/cluster: quarry.example.com}}\nspec:\n  role: {role}\n  image: ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610\n  machineType: m5.large\n{spec}"
    )
}

const ADDITIONS: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  join:\n    kubeconfig: {secretsManager: quarry/kubeconfig}\n";

/// What documents of kops become, with the way to join added.
fn translated(text: &str) -> Read {
    read(&[Input { name: "kops.yaml", text }, Input { name: "additions.yaml", text: ADDITIONS }])
}

fn told(findings: impl IntoIterator<Item = Finding>, severity: Severity) -> Vec<String> {
    let wanted = |finding: &Finding| finding.severity == severity;
    findings.into_iter().filter(wanted).map(|finding| finding.message).collect()
}

/// All errors, those of refused groups included.
fn errors(text: &str) -> Vec<String> {
    let read = translated(text);
    let of_groups = read.refused.into_iter().flat_map(|refused| refused.findings);
    told(read.findings.into_iter().chain(of_groups), Severity::Error)
}

fn warnings(text: &str) -> Vec<String> {
    told(translated(text).findings, Severity::Warning)
}

/// The `spec` of the one document that these of kops become, as JSON; there must be no error.
fn spec(text: &str) -> Value {
    let read = translated(text);
    plans(&read);
    as_json(read.documents.first().expect("a document").tree())["spec"].clone()
}

/// The plans of the one document: every group compiles, and the converted document has the same.
fn plans(read: &Read) -> Vec<Plan> {
    assert_eq!(told(read.findings.clone(), Severity::Error), Vec::<String>::new());
    let document = read.documents.first().expect("a document");
    let converted = bringup_yaml::to_yaml(&document.tree().to_value());
    let again = bringup_spec::read("converted.yaml", &converted);
    let again = again.documents.first().expect("the converted document");
    let plan = |document, index| {
        let compiled = compile(document, index, &LocalFiles::default());
        compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.findings))
    };
    let groups = 0..document.cluster.spec.node_groups.len();
    groups
        .map(|index| {
            let plan_of_tree: Plan = plan(document, index);
            assert_eq!(plan_of_tree.digest(), plan(again, index).digest(), "{converted}");
            plan_of_tree
        })
        .collect()
}

/// The text of a file that the first group's plan writes.
fn written(text: &str, path: &str) -> Option<String> {
    let plans = plans(&translated(text));
    plans.first()?.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path: at, content: Content::Text(text), .. } if at == path => {
            Some(text.to_string())
        }
        _ => None,
    })
}

/// What kubelet of the first group reads.
fn kubelet_config(text: &str) -> Value {
    let config = written(text, "/etc/kubernetes/kubelet/config.json").expect("kubelet's configuration");
    serde_json::from_str(&config).unwrap_or_else(|fault| panic!("{fault}: {config}"))
}

/// The first node group.
fn first_group(text: &str) -> Value {
    spec(text)["nodeGroups"][0].clone()
}

fn as_json(node: &bringup_yaml::Node) -> Value {
    use bringup_yaml::{Content, Resolved};
    match &node.content {
        Content::List(items) => items.iter().map(as_json).collect(),
        Content::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), as_json(&entry.value))).collect())
        }
        Content::Scalar(scalar) => match scalar.core() {
            Resolved::Bool(value) => Value::Bool(value),
            Resolved::Integer(number) => i64::try_from(number).map_or(Value::Null, Value::from),
            Resolved::Null => Value::Null,
            _ => Value::String(scalar.text.clone()),
        },
    }
}
