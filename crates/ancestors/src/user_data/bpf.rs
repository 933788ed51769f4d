//! The file system for BPF that `bootstrap.sh` has mounted: the systemd of Amazon Linux 2 does not do so by itself.

use bringup_diag::Span;
use bringup_spec::bootstrap_flags::BPF_MOUNT;
use bringup_yaml::Node;

use crate::tree::{Branch, plain, text};

/// The unit's name.
pub(crate) const NAME: &str = "sys-fs-bpf.mount";
/// The unit, for the units of a group.
pub(crate) fn unit(span: Span) -> Node {
    let mut unit = Branch::new(span);
    unit.put("name", text(span, NAME));
    unit.put("content", text(span, BPF_MOUNT));
    unit.put("enabled", plain(span, true));
    unit.into_node()
}
