//! The file system for BPF that `bootstrap.sh` has mounted: the systemd of Amazon Linux 2 does not do so by itself.

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::tree::{Branch, plain, text};

/// The unit's name.
pub(crate) const NAME: &str = "sys-fs-bpf.mount";
/// What is in it on a node that the script has set up.
const CONTENT: &str = "[Unit]\n\
    Description=BPF mounts\n\
    Documentation=https://docs.kernel.org/bpf/index.html\n\
    DefaultDependencies=no\n\
    Before=local-fs.target umount.target\n\
    After=swap.target\n\n\
    [Mount]\n\
    What=bpffs\n\
    Where=/sys/fs/bpf\n\
    Type=bpf\n\
    Options=rw,nosuid,nodev,noexec,relatime,mode=700\n\n\
    [Install]\n\
    WantedBy=multi-user.target\n";

/// The unit, for the units of a group.
pub(crate) fn unit(span: Span) -> Node {
    let mut unit = Branch::new(span);
    unit.put("name", text(span, NAME));
    unit.put("content", text(span, CONTENT));
    unit.put("enabled", plain(span, true));
    unit.into_node()
}
