//! What is written in the place of a program of EKS' images: the runtime's part of it.
//!
//! Expected values are those of nodeadm's templates of containerd's configuration, of its `base-runtime-spec.json`, and of its
//! cases `containerdv1-runtime-config-nvidia` and `containerdv2-runtime-config-nvidia`.

use bringup_diag::Severity;
use bringup_plan::{Action, Origin};
use bringup_spec::Document;
use serde_json::Value;
use toml::Table;

use crate::support::{arguments, compiled, eks_with, only, plan, step, text};

const CRI_2: &str = "io.containerd.grpc.v1.cri";
const RUNTIME_3: &str = "io.containerd.cri.v1.runtime";
const BASE_SPEC: &str = "/etc/containerd/base-runtime-spec.json";
const NVIDIA: &str = "/usr/bin/nvidia-container-runtime";

fn nodeadm(version: &str, more: &str) -> Document {
    eks_with(version, "flavour: eks\n", &format!("os: amazon-linux-2023\ninPlaceOf: nodeadm\n{more}"))
}

fn bootstrap(more: &str) -> Document {
    eks_with("1.32", "flavour: eks\n", &format!("os: amazon-linux-2\ninPlaceOf: bootstrap\n{more}"))
}

fn containerd(document: &Document) -> Table {
    text(&plan(document), "/etc/containerd/config.toml").parse().unwrap()
}

fn runtimes(document: &Document, plugin: &str) -> (String, Vec<String>) {
    let config = containerd(document);
    let containerd = config["plugins"][plugin]["containerd"].as_table().unwrap();
    let names = containerd["runtimes"].as_table().unwrap().keys().cloned().collect();
    (containerd["default_runtime_name"].as_str().unwrap().to_owned(), names)
}

fn severity(document: &Document) -> Option<Severity> {
    let found = compiled(document).findings;
    found.iter().find(|finding| finding.code.name == "runtime/nvidia").map(|finding| finding.severity)
}

#[test]
fn containers_start_from_nodeadms_specification_in_its_place() {
    let document = nodeadm("1.33", "instanceTypes: [m5.large]");
    let plan = plan(&document);
    let spec: Value = serde_json::from_str(&text(&plan, BASE_SPEC)).unwrap();
    let limits = serde_json::json!([{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1_048_576}]);
    assert_eq!(spec["process"]["rlimits"], limits);
    let config = containerd(&document);
    let cri = &config["plugins"][CRI_2];
    assert_eq!(cri["sandbox_image"].as_str(), Some("localhost/kubernetes/pause:latest"));
    let runc = &cri["containerd"]["runtimes"]["runc"];
    assert_eq!(runc["base_runtime_spec"].as_str(), Some(BASE_SPEC));
    assert_eq!(runc["options"]["BinaryName"].as_str(), Some("/usr/sbin/runc"));
    assert_eq!(runc["options"]["SystemdCgroup"].as_bool(), Some(true));
    // containerd is started with both in place, and anew when one of them has changed.
    let position = |name: &str| plan.steps.iter().position(|step| step.name == name).unwrap();
    assert!(position("base-runtime-spec") < position("start-runtime"));
    let Action::StartUnit { reads, .. } = &step(&plan, "start-runtime").action else { panic!("a start") };
    assert_eq!(reads, &[BASE_SPEC, "/etc/containerd/config.toml"]);
    assert_eq!(severity(&document), None);
}

#[test]
fn what_the_document_says_of_it_stands() {
    let own = format!(
        "instanceTypes: [m5.large]\nruntime: {{sandboxImage: 'example.com/pause:1'}}\nfiles: [{{path: {BASE_SPEC}, content: '{{}}'}}]"
    );
    let document = nodeadm("1.33", &own);
    let plan = plan(&document);
    assert_eq!(text(&plan, BASE_SPEC), "{}");
    assert!(plan.steps.iter().all(|step| step.name != "base-runtime-spec"));
    let config = containerd(&document);
    assert_eq!(config["plugins"][CRI_2]["sandbox_image"].as_str(), Some("example.com/pause:1"));
    // Without `inPlaceOf` nothing of nodeadm's is written, and bootstrap.sh writes no such file.
    let ours = eks_with("1.33", "flavour: eks\n", "os: amazon-linux-2023\ninstanceTypes: [m5.large]");
    for document in [ours, bootstrap("instanceTypes: [m5.large]")] {
        let plan = crate::support::plan(&document);
        assert!(plan.steps.iter().all(|step| step.name != "base-runtime-spec"));
        let config = containerd(&document);
        let runc = config["plugins"][CRI_2]["containerd"]["runtimes"]["runc"].as_table().unwrap();
        assert!(!runc.contains_key("base_runtime_spec"));
    }
}

/// nodeadm describes NVIDIA's runtime in runc's place.
#[test]
fn types_with_nvidias_accelerators_run_containers_in_its_runtime() {
    for name in ["g4dn.xlarge", "g5.2xlarge", "g6e.8xlarge", "p4d.24xlarge"] {
        let document = nodeadm("1.33", &format!("instanceTypes: [{name}, m5.large]"));
        assert_eq!(runtimes(&document, CRI_2), ("nvidia".to_owned(), vec!["nvidia".to_owned()]));
        assert_eq!(severity(&document), Some(Severity::Note));
    }
    let document = nodeadm("1.34", "instanceTypes: [g5.xlarge]\nruntime: {version: '2'}");
    assert_eq!(runtimes(&document, RUNTIME_3), ("nvidia".to_owned(), vec!["nvidia".to_owned()]));
    let config = containerd(&document);
    let nvidia = &config["plugins"][RUNTIME_3]["containerd"]["runtimes"]["nvidia"];
    assert_eq!(nvidia["runtime_type"].as_str(), Some("io.containerd.runc.v2"));
    assert_eq!(nvidia["base_runtime_spec"].as_str(), Some(BASE_SPEC));
    assert_eq!(nvidia["options"]["BinaryName"].as_str(), Some(NVIDIA));
    assert_eq!(nvidia["options"]["SystemdCgroup"].as_bool(), Some(true));
    for name in ["g4ad.xlarge", "inf2.xlarge", "m5.large"] {
        let document = nodeadm("1.33", &format!("instanceTypes: [{name}]"));
        assert_eq!(runtimes(&document, CRI_2).0, "runc", "{name}");
        assert_eq!(severity(&document), None, "{name}");
    }
}

/// The helper of bootstrap.sh on images for GPUs: `nvidia-ctk runtime configure --set-as-default`, which leaves the others.
#[test]
fn in_the_place_of_the_script_nvidias_runtime_stands_beside_runc() {
    let both = ("nvidia".to_owned(), vec!["nvidia".to_owned(), "runc".to_owned()]);
    assert_eq!(runtimes(&bootstrap("instanceTypes: [g4dn.xlarge]"), CRI_2), both);
    let parameter = "launch: {imageParameter: /aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id}";
    assert_eq!(runtimes(&bootstrap(parameter), CRI_2), both);
    assert_eq!(severity(&bootstrap(parameter)), Some(Severity::Note));
}

#[test]
fn what_is_not_known_of_an_image_is_told_with_what_to_write() {
    let own_image = nodeadm("1.33", "instanceTypes: [g5.xlarge]\nlaunch: {image: ami-0123456789abcdef0}");
    assert_eq!(runtimes(&own_image, CRI_2).0, "runc");
    let finding = only(&own_image, "runtime/nvidia");
    assert_eq!(finding.severity, Severity::Warning);
    let hint = finding.hint.unwrap();
    let (_, write) = hint.split_once(": `").unwrap();
    // What the hint says, written so, is what nodeadm writes, and there is nothing more to tell.
    let written = format!(
        "instanceTypes: [g5.xlarge]\nlaunch: {{image: ami-0123456789abcdef0}}\n{}",
        write.trim_end_matches('`')
    );
    let written = nodeadm("1.33", &written);
    assert_eq!(runtimes(&written, CRI_2).0, "nvidia");
    let config = containerd(&written);
    let options = &config["plugins"][CRI_2]["containerd"]["runtimes"]["nvidia"]["options"];
    assert_eq!(options["BinaryName"].as_str(), Some(NVIDIA));
    assert_eq!(severity(&written), None);
    for (more, expected) in [
        ("", Severity::Note),
        ("labels: {nvidia.com/gpu: 'true'}", Severity::Warning),
        ("taints: [{key: nvidia.com/gpu, effect: NoSchedule}]", Severity::Warning),
    ] {
        assert_eq!(severity(&nodeadm("1.33", more)), Some(expected), "{more}");
        assert_eq!(severity(&bootstrap(more)), Some(expected), "{more}");
    }
    // Amazon Linux 2 has no image for ARM with the driver.
    let arm = bootstrap("architecture: aarch64\ninstanceTypes: [g5g.xlarge]");
    assert_eq!(severity(&arm), Some(Severity::Warning));
}

/// nodeadm's own label, from 1.35 on.
#[test]
fn machines_with_such_accelerators_are_labelled_as_nodeadm_labels_them() {
    let label = |version: &str, types: &str| {
        let plan = plan(&nodeadm(version, &format!("instanceTypes: [{types}]")));
        arguments(&plan).iter().any(|word| word == "--node-labels=nvidia.com/gpu.present=true")
    };
    assert!(label("1.35", "g5.xlarge, p5.48xlarge"));
    assert!(!label("1.34", "g5.xlarge"));
    assert!(!label("1.35", "g5.xlarge, m5.large"));
}

/// A flag wins over a field with every program that starts kubelet: it is news only where both are there.
#[test]
fn a_flag_of_another_programs_input_is_told_in_its_words() {
    let told = |document: &Document| {
        let finding = only(document, "kubelet/flag-shadows-field");
        (finding.severity, finding.message)
    };
    let flag = "instanceTypes: [m5.large]\nkubelet: {flags: {max-pods: '20'}}";
    let (severity, message) = told(&bootstrap(flag));
    assert_eq!(severity, Severity::Note);
    assert!(message.contains("`bootstrap.sh`") && message.contains("`maxPods`"), "{message}");
    let both = "instanceTypes: [m5.large]\nkubelet: {flags: {v: '4'}, config: {logging: {verbosity: 3}}}";
    let (severity, message) = told(&nodeadm("1.33", both));
    assert_eq!(severity, Severity::Warning);
    assert!(message.starts_with("`logging.verbosity` of kubelet's configuration has no effect"), "{message}");
}

/// The number that kubelet is told and where it stands; beside it for how many pods memory is kept, where that is another.
#[test]
fn the_number_of_pods_that_kubelet_is_told_has_its_own_origin() {
    let told = |document: &Document| {
        let pods = compiled(document).provenance.into_iter().filter(|known| known.subject.contains("pods"));
        let pods = pods.map(|known| match known.origin {
            Origin::Document(path) | Origin::Derived(path, _) => {
                let path = path.to_string();
                let path = path.strip_prefix("spec.nodeGroups[0].").unwrap_or(&path);
                format!("{}: {} by {path}", known.subject, known.value)
            }
            _ => format!("{}: {}", known.subject, known.value),
        });
        pods.collect::<Vec<_>>()
    };
    let kept_for = "pods that memory is kept for";
    let config = "kubelet: {config: {maxPods: 30}}";
    assert_eq!(
        told(&nodeadm("1.33", config)),
        ["max pods: 30 by kubelet.config.maxPods".to_owned(), format!("{kept_for}: @{{maxPods}}")]
    );
    let large = format!("instanceTypes: [m5.large]\n{config}");
    assert_eq!(
        told(&nodeadm("1.33", &large)),
        ["max pods: 30 by kubelet.config.maxPods".to_owned(), format!("{kept_for}: 29 by instanceTypes")]
    );
    // As many as the interfaces of an m5.large take: memory is kept for those that kubelet takes.
    let same = large.replace("30", "29");
    assert_eq!(told(&nodeadm("1.33", &same)), ["max pods: 29 by kubelet.config.maxPods"]);
    // Memory that the operator sets goes by no number.
    let own = large.replace("maxPods: 30", "maxPods: 30, kubeReserved: {memory: 1Gi}");
    assert_eq!(told(&nodeadm("1.33", &own)), ["max pods: 30 by kubelet.config.maxPods"]);
    // A flag stands above all else, then what `bootstrap.sh` passes on as one.
    let both = "maxPods: 40\nkubelet: {config: {maxPods: 30}}";
    assert_eq!(told(&bootstrap(both))[0], "max pods: 40 by maxPods");
    assert_eq!(told(&nodeadm("1.33", both))[0], "max pods: 30 by kubelet.config.maxPods");
    let all = both.replace("config:", "flags: {max-pods: '20'}, config:");
    assert_eq!(told(&bootstrap(&all))[0], "max pods: 20 by kubelet.flags.max-pods");
    // Where nothing tells kubelet, it is the instance type.
    assert_eq!(told(&nodeadm("1.33", "instanceTypes: [m5.large]")), ["max pods: 29 by instanceTypes"]);
}
