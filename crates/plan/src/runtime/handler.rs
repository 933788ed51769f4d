//! What containers run in: runc, or NVIDIA's runtime where an image of EKS' has it; and what they start from.
//!
//! `nodeadm` and `bootstrap.sh` go by what they find on the node: the first looks for NVIDIA's program and describes that in
//! runc's place, the second has a helper on images for GPUs that adds it to the rest and makes it the default. What stands
//! in for them knows the instance types and the image's name.

use bringup_diag::Finding;
use bringup_spec::{Architecture, ImageProgram, OsFamily, RuntimeName, SoftwareSource};
use bringup_yaml::Path;

use crate::context::Context;
use crate::{Accelerator, codes};

/// Where nodeadm writes what containers start from.
pub(crate) const BASE_SPEC: &str = "/etc/containerd/base-runtime-spec.json";

/// The image of the pod sandbox that EKS' images with nodeadm have.
pub(crate) const PAUSE_IMAGE: &str = "localhost/kubernetes/pause:latest";

pub(crate) const RUNC: &str = "/usr/sbin/runc";
pub(crate) const NVIDIA_RUNTIME: &str = "/usr/bin/nvidia-container-runtime";

/// The default runtime of containerd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handler {
    pub(super) name: &'static str,
    /// Its program, where it is not the one that containerd finds by itself.
    pub(super) program: Option<&'static str>,
    /// Whether containers start from nodeadm's specification.
    pub(super) base_spec: bool,
    /// Whether runc is described beside it.
    pub(super) beside_runc: bool,
}

/// Whether a group's machines have NVIDIA's runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nvidia {
    Yes,
    No,
    /// They have NVIDIA's accelerators, and an image of which nothing is known.
    Perhaps,
    /// Nothing says what machines they are.
    Unsaid,
}

/// The default runtime.
pub(super) fn handler(context: &Context<'_>) -> Handler {
    let base_spec = is_nodeadms(context);
    if nvidia(context) == Nvidia::Yes {
        let beside_runc = context.group.in_place_of == Some(ImageProgram::Bootstrap);
        Handler { name: "nvidia", program: Some(NVIDIA_RUNTIME), base_spec, beside_runc }
    } else {
        Handler { name: "runc", program: base_spec.then_some(RUNC), base_spec, beside_runc: false }
    }
}

/// Whether containerd is configured in nodeadm's place, on an image that is made for it.
pub(crate) fn is_nodeadms(context: &Context<'_>) -> bool {
    context.takes_as_given()
        && context.group.in_place_of == Some(ImageProgram::Nodeadm)
        && context.group.os.family == OsFamily::AmazonLinux2023
        && context.group.runtime.name == RuntimeName::Containerd
        && context.group.software.runtime.from == SoftwareSource::Image
}

fn nvidia(context: &Context<'_>) -> Nvidia {
    let group = context.group;
    let amazon = matches!(group.os.family, OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023);
    if !context.takes_as_given() || group.runtime.name != RuntimeName::Containerd {
        return Nvidia::No;
    }
    let has_one = first_type(context).map(|name| Accelerator::of(name) == Accelerator::Nvidia);
    let launch = group.launch.as_ref();
    let parameter = launch.and_then(|launch| launch.image_parameter.as_deref());
    // The names of the parameters that EKS publishes: `…/amazon-linux-2-gpu/…` and `…/x86_64/nvidia/…`.
    if amazon
        && parameter
            .is_some_and(|name| name.split('/').any(|part| part == "nvidia" || part.ends_with("-gpu")))
    {
        return Nvidia::Yes;
    }
    let own_image = launch.is_some_and(|launch| launch.image.is_some()) || parameter.is_some();
    // There is no image of Amazon Linux 2 for ARM with NVIDIA's driver.
    let has_image = match group.os.family {
        OsFamily::AmazonLinux2 => group.architecture == Architecture::X86_64,
        OsFamily::AmazonLinux2023 => true,
        _ => false,
    };
    match has_one {
        Some(true) if has_image && !own_image && group.software.runtime.from == SoftwareSource::Image => {
            Nvidia::Yes
        }
        Some(true) => Nvidia::Perhaps,
        Some(false) => Nvidia::No,
        None if is_marked(context) => Nvidia::Perhaps,
        None => Nvidia::Unsaid,
    }
}

/// The instance type to launch, whose image is the group's.
fn first_type<'a>(context: &Context<'a>) -> Option<&'a str> {
    context.group.instance_types.first().map(String::as_str)
}

/// Whether labels or taints speak of NVIDIA's accelerators.
fn is_marked(context: &Context<'_>) -> bool {
    let group = context.group;
    let keys =
        group.labels.keys().map(String::as_str).chain(group.taints.iter().map(|taint| taint.key.as_str()));
    keys.into_iter().any(|key| key.starts_with("nvidia.com/"))
}

/// Tells what could not be decided before boot, and what was. `schema` is that of the configuration.
pub(super) fn tell(context: &mut Context<'_>, schema: i64) {
    let own = context.group.runtime.config.as_deref().unwrap_or_default();
    let found = nvidia(context);
    if found == Nvidia::No || own.contains("default_runtime_name") {
        return;
    }
    let program = match context.group.in_place_of {
        Some(ImageProgram::Bootstrap) => "`bootstrap.sh` has a helper of the image look for them on the node",
        _ => "nodeadm looks for `/usr/bin/nvidia-container-runtime` on the node",
    };
    let machine = first_type(context).map(|name| format!("`{name}` has accelerators of NVIDIA's"));
    let plugin = if schema == 3 { super::containerd::RUNTIME_3 } else { super::containerd::CRI_2 };
    let write = fragment(plugin);
    let types = context.at(["instanceTypes"]);
    match found {
        Nvidia::Yes => {
            let machine = machine.unwrap_or_else(|| "the image has NVIDIA's driver".to_owned());
            let message =
                format!("{machine}: containers run in NVIDIA's runtime, which EKS' image for them has");
            let hint = "for an image without it, write `default_runtime_name = 'runc'` and the runtime `runc` in `runtime.config`";
            note(context, &types, message, hint.to_owned());
        }
        Nvidia::Perhaps => {
            let machine =
                machine.unwrap_or_else(|| "labels or taints speak of NVIDIA's accelerators".to_owned());
            let message = format!(
                "{machine}, and nothing says whether the image has NVIDIA's runtime: {program}, and here containers run in runc"
            );
            let hint = format!(
                "if the image has it, write in the group, or with `--with additions.yaml`: `{write}`"
            );
            context.warning(codes::RUNTIME_NVIDIA, &types, message, hint);
        }
        Nvidia::Unsaid => {
            let message =
                format!("nothing says what machines these are: {program}, and here containers run in runc");
            let hint = "for machines with accelerators of NVIDIA's, write `instanceTypes` in the group, or with `--with additions.yaml`";
            note(context, &types, message, hint.to_owned());
        }
        Nvidia::No => {}
    }
}

fn note(context: &mut Context<'_>, path: &Path, message: String, hint: String) {
    let place = context.document.place(path);
    context.findings.push(Finding::note(codes::RUNTIME_NVIDIA, message).at(place).hint(hint));
}

/// What has containers run in NVIDIA's runtime, as a line of a document.
fn fragment(plugin: &str) -> String {
    let containerd = format!("plugins.'{plugin}'.containerd");
    let lines = [
        format!("[{containerd}]"),
        "default_runtime_name = 'nvidia'".to_owned(),
        format!("[{containerd}.runtimes.nvidia]"),
        "runtime_type = 'io.containerd.runc.v2'".to_owned(),
        format!("options = {{BinaryName = '{NVIDIA_RUNTIME}', SystemdCgroup = true}}"),
    ];
    format!("runtime: {{config: \"{}\"}}", lines.join("\\n"))
}
