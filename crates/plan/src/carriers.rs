//! Carriers that the machines of a group would not read.

use bringup_diag::Findings;
use bringup_spec::{Carrier, Document, JoinMethod, OsFamily};
use bringup_yaml::Path;

use crate::context::Context;
use crate::{LocalFiles, codes};

/// Findings about the carriers that a group asks for. The defaults fit.
pub(crate) fn check(context: &mut Context<'_>) {
    let group = context.group;
    for (index, carrier) in group.carriers.iter().enumerate() {
        let path = context.at(["carriers"]).index(index);
        if group.carriers.iter().take(index).any(|earlier| earlier == carrier) {
            let message = format!("`{carrier}` is there twice, and is made once");
            context.warning(codes::WITHOUT_EFFECT, &path, message, "remove one of them");
            continue;
        }
        one(context, &path, *carrier);
    }
}

/// What there is to tell of a carrier that somebody wants of a group which does not ask for it: what would be told if it did.
pub fn check_carrier(document: &Document, group_index: usize, carrier: Carrier) -> Findings {
    let group = document.cluster.spec.node_groups.get(group_index);
    let Some(group) = group.filter(|group| !group.carriers.contains(&carrier)) else {
        return Findings::new();
    };
    let files = LocalFiles::default();
    let mut context = Context::new(document, group_index, group, &files);
    let path = context.at(["carriers"]);
    one(&mut context, &path, carrier);
    context.findings
}

fn one(context: &mut Context<'_>, path: &Path, carrier: Carrier) {
    match carrier {
        Carrier::CloudInit | Carrier::Multipart => cloud_init(context, path, carrier),
        Carrier::Ignition => ignition(context, path),
        Carrier::NodeConfig => node_config(context, path),
        // That a template is for AWS, and that Flatcar finds Ignition inside, is seen to where it is written.
        Carrier::CloudFormation | Carrier::CloudFormationJson | Carrier::Bundle => {}
    }
}

/// Flatcar's own reader of cloud-configs knows `write_files`, users and units; `bootcmd` and boothooks, which start
/// everything here, it passes over.
fn cloud_init(context: &mut Context<'_>, path: &Path, carrier: Carrier) {
    if context.group.os.family == OsFamily::Flatcar {
        context.error(
            codes::CARRIER_NOT_READ,
            path,
            format!("Flatcar has no cloud-init: of `{carrier}` it would run neither `bootcmd` nor boothooks, and the machine would boot and do nothing"),
            "write `ignition`",
        );
    }
}

fn ignition(context: &mut Context<'_>, path: &Path) {
    let system = match context.group.os.family {
        OsFamily::AmazonLinux2 => "Amazon Linux 2",
        OsFamily::AmazonLinux2023 => "Amazon Linux 2023",
        OsFamily::Ubuntu => "Ubuntu",
        OsFamily::Debian => "Debian",
        OsFamily::Flatcar | OsFamily::Generic => return,
    };
    context.error(
        codes::CARRIER_NOT_READ,
        path,
        format!("{system} has no Ignition: cloud-init would find nothing that it knows, and the machine would boot and do nothing"),
        "write `cloud-init` or `multipart`",
    );
}

/// Only images of EKS have the agent that reads a NodeConfig, from EC2's user-data, to join an EKS cluster.
fn node_config(context: &mut Context<'_>, path: &Path) {
    let join = context.spec.join.method;
    let instead = "write `cloud-init`, `multipart` or `ignition`, as the system reads it";
    if !context.on_aws() || join != JoinMethod::EksToken {
        let why = if context.on_aws() {
            format!("it joins with a token of EKS, and the way to join is `{join}`")
        } else {
            format!("it reads EC2's metadata service, and the platform is `{}`", context.group.platform)
        };
        let message = format!("the node agent of EKS images is of no use here: {why}");
        context.error(codes::CARRIER_NOT_READ, path, message, instead);
        return;
    }
    match context.group.os.family {
        OsFamily::AmazonLinux2023 => {}
        OsFamily::AmazonLinux2 | OsFamily::Debian | OsFamily::Flatcar => context.error(
            codes::CARRIER_NOT_READ,
            path,
            format!(
                "no image of `{}` has the node agent of EKS: the node would not join",
                context.group.os.family
            ),
            "write `os: amazon-linux-2023`, or another carrier",
        ),
        OsFamily::Ubuntu | OsFamily::Generic => context.warning(
            codes::CARRIER_IMAGE,
            path,
            "only an image that brings the node agent of EKS (`nodeadm`) reads a NodeConfig",
            "write `os: amazon-linux-2023`, or another carrier, unless the image has it",
        ),
    }
}
