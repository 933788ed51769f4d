//! The image of the pod sandbox, where the machine's image fetches it from EKS' registry.

use std::collections::BTreeMap;

use bringup_spec::{OsFamily, RuntimeName};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::{PlacedBy, Unit};

/// The name that `bootstrap.sh` gives to the unit.
pub(crate) const UNIT: &str = "sandbox-image.service";

/// The program of the image that fetches what containerd is told, with the machine's credentials, unless it is there.
const PROGRAM: &str = "/etc/eks/containerd/pull-sandbox-image.sh";

/// Whether the image has a program that fetches it: EKS' images with `bootstrap.sh` do.
pub(crate) fn is_fetched(context: &Context<'_>, decisions: &Decisions) -> bool {
    decisions.eks_image
        && decisions.runtime == RuntimeName::Containerd
        && matches!(context.group.os.family, OsFamily::AmazonLinux2 | OsFamily::Ubuntu)
}

/// The unit that kubelet waits for. On images without the program there is nothing to do, and what fails is no reason to keep
/// kubelet down: pods tell of it, and the next start of kubelet tries again.
pub(crate) fn unit(context: &Context<'_>, decisions: &Decisions) -> Option<Unit> {
    is_fetched(context, decisions).then(|| Unit {
        name: UNIT.to_owned(),
        content: Some(format!(
            "[Unit]\nDescription=Fetch the image of the pod sandbox\nAfter=containerd.service network-online.target\n\
             ConditionPathExists={PROGRAM}\n\n[Service]\nType=oneshot\nExecStart={PROGRAM}\nTimeoutStartSec=5min\n"
        )),
        enabled: None,
        mask: false,
        drop_ins: BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    })
}
