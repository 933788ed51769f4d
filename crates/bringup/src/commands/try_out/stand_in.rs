//! What a container cannot do as a machine does, and what is set aside of a document for that.

use bringup_ancestors::joins_a_node;
use bringup_lab::{Bench, Given};
use bringup_plan::{Action, Election, Plan};
use bringup_spec::{Architecture, NodeGroup, OsFamily, RuntimeName, SoftwareSource, Swap, SwapPolicy};
use serde_json::json;

use crate::Terminal;

/// Sets aside what cannot be had in the lab, and says so. `real` is whether kubelet and containerd are.
pub(super) fn adapt(group: &mut NodeGroup, real: bool, terminal: &mut Terminal) {
    if real {
        // A container has no control groups to hand on.
        for (field, value) in [("cgroupsPerQOS", json!(false)), ("enforceNodeAllocatable", json!([]))] {
            group.kubelet.config.entry(field.to_owned()).or_insert(value);
        }
        let aside =
            runtime(group).map_or_else(String::new, |version| format!(", not the document's `{version}`"));
        terminal.say(&format!(
            "kubelet and containerd are real; containerd is Debian's {}{aside}; kubelet makes no control groups\n",
            Bench::CONTAINERD
        ));
    }
    let here = match std::env::consts::ARCH {
        "aarch64" => Architecture::Aarch64,
        _ => Architecture::X86_64,
    };
    if group.architecture != here {
        terminal.say(&format!(
            "the machine is of `{}`, as this one is, not of `{}`\n",
            here.word(),
            group.architecture.word()
        ));
        group.architecture = here;
        group.instance_types.clear();
    }
    // Elsewhere a boot loader can be told of them, and that is seen.
    if group.os.family == OsFamily::Flatcar && !group.kernel_arguments.is_empty() {
        group.kernel_arguments.clear();
        terminal.say("the kernel is this machine's: `kernelArguments` are set aside\n");
    }
    if let Some(swap) = group.swap.as_mut().filter(|swap| swap.policy == SwapPolicy::File) {
        *swap = Swap { policy: SwapPolicy::Keep, size_mib: None, path: None };
        terminal.say(
            "swap is `keep`, not `file`: a container cannot switch swap on, the kernel is this machine's\n",
        );
    }
}

/// Says what user-data needs of an image of EKS, where nobody has put it there.
pub(super) fn tell_joining(bytes: &[u8], files: &[(String, Given)], terminal: &mut Terminal) {
    let is_there = |path: &str| files.iter().any(|(given, _)| given == path);
    if !joins_a_node(bytes) || is_there("/etc/eks/bootstrap.sh") || is_there("/usr/bin/nodeadm") {
        return;
    }
    terminal.say(
        "what joins the cluster is of EKS' images (`/etc/eks/bootstrap.sh`, nodeadm), which Debian has not: \
         `--file /etc/eks/bootstrap.sh=AGENT` has ours answer to it, and `--with additions.yaml` tries what `bringup build` makes of this\n",
    );
}

/// Has the plan written for the containerd that there is; gives the version that was set aside. A document that
/// installs one brings it, and one with a configuration of its own is taken at its word.
fn runtime(group: &mut NodeGroup) -> Option<String> {
    let in_image = group.software.runtime.from == SoftwareSource::Image;
    if !in_image || group.runtime.name != RuntimeName::Containerd || group.runtime.config.is_some() {
        return None;
    }
    group.runtime.versions.clear();
    let wanted = group.software.runtime.version.take().or_else(|| group.runtime.version.take());
    group.runtime.version = Some(Bench::CONTAINERD.to_owned());
    wanted.filter(|version| version != Bench::CONTAINERD)
}

/// Says what a carrier, which is taken as it is, will come upon.
pub(super) fn tell(plan: Option<&Plan>, real: bool, terminal: &mut Terminal) {
    if real {
        terminal.say(&format!(
            "kubelet and containerd are real; containerd is Debian's {}; kubelet makes no control groups only where the carrier says so\n",
            Bench::CONTAINERD
        ));
    }
    let asking = plan.filter(|plan| plan.bootstrap != Some(Election::Always));
    if let Some(server) = asking.and_then(|plan| plan.detect.as_ref()) {
        terminal.say(&format!(
            "nobody here can answer for {}, which the plan asks for the cluster's version: of the document instead, the lab makes that up\n",
            server.endpoint
        ));
    }
    let file = |action: &Action| matches!(action, Action::SetSwap { policy: SwapPolicy::File, .. });
    if let Some(step) = plan.into_iter().flat_map(|plan| &plan.steps).find(|step| file(&step.action)) {
        terminal.say(&format!(
            "a container cannot switch swap on, the kernel is this machine's: the step `{}` will not be done\n",
            step.name
        ));
    }
}
