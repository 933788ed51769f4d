//! Fields of other systems: each is carried out, or told of with the severity that it deserves.

mod support;

use bringup_diag::Severity;

use support::{read, told};

fn of(severity: Severity, spec: &str) -> Vec<String> {
    let text = format!(
        "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {{name: cls-a}}\nspec:\n  type: Baremetal\n  version: 1.33.1\n  machines: [{{ip: 10.0.0.1, password: eA==}}]\n{spec}"
    );
    told(&read(&[("a.yaml", &text)]), severity)
        .into_iter()
        .filter(|line| line.starts_with("a.yaml:8:"))
        .collect()
}

#[test]
fn a_slip_is_an_error_and_a_field_from_elsewhere_a_warning() {
    assert_eq!(
        of(Severity::Error, "  dnsDomian: a.b\n"),
        ["a.yaml:8:3 ancestor/unknown-field unknown field `dnsDomian` in `spec` of a cluster"]
    );
    assert_eq!(of(Severity::Error, "  flux: 1\n"), Vec::<String>::new());
    assert_eq!(
        of(Severity::Warning, "  flux: 1\n"),
        ["a.yaml:8:3 ancestor/unknown-field unknown field `flux` in `spec` of a cluster"]
    );
}

#[test]
fn what_shapes_something_else_is_a_note_and_what_changes_the_node_a_warning() {
    assert_eq!(
        of(Severity::Note, "  tenantID: default\n"),
        [
            "a.yaml:8:3 ancestor/field-aside `tenantID` of `spec` of a cluster shapes who may see the cluster in tkestack, not the node: it is left aside"
        ]
    );
    assert_eq!(
        of(Severity::Warning, "  features: {gpuType: Physical}\n"),
        [
            "a.yaml:8:14 ancestor/field-differs `gpuType` of `features` of a cluster is not carried out: the node will differ"
        ]
    );
}

#[test]
fn a_field_that_stands_twice_is_an_error_at_the_second() {
    assert_eq!(
        of(Severity::Error, "  features: {ipvs: true, ipvs: false}\n"),
        ["a.yaml:8:26 ancestor/wrong-type the field `ipvs` stands twice"]
    );
}

#[test]
fn nothing_says_nothing() {
    for empty in ["  dnsDomain:\n", "  tenantID: ~\n", "  features: null\n", "  features: {gpuType: }\n"] {
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            assert_eq!(of(severity, empty), Vec::<String>::new(), "{empty}");
        }
    }
}

#[test]
fn values_of_other_types_are_errors() {
    let cases = [
        ("  features: [a]\n", "a.yaml:8:13 ancestor/wrong-type `features` of a cluster must be a mapping"),
        (
            "  hostnameAsNodename: \"true\"\n",
            "a.yaml:8:23 ancestor/wrong-type `hostnameAsNodename` must be a truth value, and is a text",
        ),
        (
            "  publicAlternativeNames: a.b\n",
            "a.yaml:8:27 ancestor/wrong-type `publicAlternativeNames` must be a list of texts, and is a text",
        ),
        (
            "  features: {hooks: [a]}\n",
            "a.yaml:8:21 ancestor/wrong-type `hooks` of tkestack must be a mapping",
        ),
        (
            "  features: {files: {src: a, dst: /b}}\n",
            "a.yaml:8:21 ancestor/wrong-type `files` must be a list, and is a mapping",
        ),
        ("  kubeletExtraArgs: [a]\n", "a.yaml:8:21 ancestor/wrong-type `kubeletExtraArgs` must be a mapping"),
        (
            "  properties: {maxNodePodNum: many}\n",
            "a.yaml:8:31 ancestor/wrong-type `maxNodePodNum` must be a whole number above 0",
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(of(Severity::Error, spec), [expected]);
    }
}
