//! Every value of a plan has an origin.

use bringup_plan::{Action, Origin, Provenance, origins};

use crate::support::{compiled, eks, plain};

fn of<'a>(found: &'a [Provenance], subject: &str) -> &'a Origin {
    let value = found.iter().find(|value| value.subject == subject);
    &value.unwrap_or_else(|| panic!("`{subject}` has no origin")).origin
}

#[test]
fn every_value_of_a_plan_has_an_origin() {
    let group = "kernelModules: [nf_conntrack]\nsysctls: {vm.max_map_count: 262144}\nlabels: {example.com/x: y}\n\
                 files: [{path: /etc/x, content: y}]\nkubelet: {flags: {v: \"3\"}}\n\
                 steps: [{name: greet, run: [/bin/true]}]\n\
                 units: [{name: own.service, content: \"[Service]\\nExecStart=/bin/true\\n\"}]\n";
    for document in [eks("1.33", group), plain("1.32", group), plain("1.22", group)] {
        let compiled = compiled(&document);
        let found = origins(&document, 0, &compiled);
        let plan = compiled.plan.as_ref().expect("a plan");
        let mut expected: Vec<String> = plan.units.iter().map(|unit| format!("unit {}", unit.name)).collect();
        for step in &plan.steps {
            match &step.action {
                Action::LoadModules { modules } => {
                    expected.extend(modules.iter().map(|name| format!("kernel module {name}")));
                }
                Action::SetSysctls { settings, .. } => {
                    expected.extend(settings.keys().map(|name| format!("sysctl {name}")));
                }
                Action::WriteFile { path, .. } | Action::MakeDirectory { path, .. } => {
                    expected.push(path.clone());
                }
                Action::OpenGate { environment, .. } => {
                    let text: Vec<String> = environment.values().map(ToString::to_string).collect();
                    let text = text.join(" ");
                    let flags = text.split_whitespace().filter_map(|word| word.strip_prefix("--"));
                    let names: Vec<&str> =
                        flags.map(|flag| flag.split('=').next().expect("a name")).collect();
                    assert!(names.len() > 3, "{text}");
                    expected.extend(names.iter().map(|name| format!("kubelet flag {name}")));
                }
                Action::Run { .. } => expected.push(format!("step {}", step.name)),
                _ => {}
            }
        }
        expected.retain(|subject| !found.iter().any(|value| value.subject == *subject));
        assert!(expected.is_empty(), "without an origin: {expected:?}");
        let shown = |subject: &str| match of(&found, subject) {
            Origin::Document(path) => path.to_string(),
            Origin::Derived(path, _) => format!("from {path}"),
            Origin::Default(why) => format!("default: {why}"),
            Origin::Node(why) => format!("node: {why}"),
        };
        for (subject, expected) in [
            ("kernel module nf_conntrack", "spec.nodeGroups[0].kernelModules[0]"),
            ("kernel module overlay", "default: container runtimes and pod networks need it"),
            ("sysctl net.ipv4.ip_forward", "default: pod networks need it"),
            ("sysctl kernel.panic", "default: kubelet insists on it with `protectKernelDefaults`"),
            ("sysctl vm.max_map_count", "spec.nodeGroups[0].sysctls[\"vm.max_map_count\"]"),
            ("API endpoint", "spec.api.endpoint"),
            ("certificate authority of the API", "spec.api.certificateAuthority"),
            ("/etc/x", "spec.nodeGroups[0].files[0]"),
            ("step greet", "spec.nodeGroups[0].steps[0]"),
            ("unit own.service", "spec.nodeGroups[0].units[0]"),
            ("kubelet flag node-labels", "from spec.nodeGroups[0].labels"),
            ("kubelet flag v", "spec.nodeGroups[0].kubelet.flags.v"),
            ("kubernetes version", "spec.kubernetes.version"),
            ("architecture", "default: most machines"),
        ] {
            assert_eq!(shown(subject), expected, "{subject}");
        }
        let mut subjects: Vec<&str> = found.iter().map(|value| value.subject.as_str()).collect();
        subjects.sort_unstable();
        let count = subjects.len();
        subjects.dedup();
        assert_eq!(subjects.len(), count, "told once each");
    }
}
