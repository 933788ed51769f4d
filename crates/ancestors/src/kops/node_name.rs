//! Where the names of nodes come from.

use super::cluster::{Cluster, is_true};
use crate::codes;
use crate::tell::Teller;

/// From this minor version on, what speaks to the cloud is not part of kubelet. Before, kubelet asks EC2 for its name, and
/// that is the private DNS name.
const OUTSIDE_KUBELET: u16 = 26;

impl Cluster<'_> {
    /// The source of names that the document names; none where it is the usual one.
    pub(super) fn node_name(&self) -> Option<&'static str> {
        (self.names_by_instance() && self.can_name_by_instance()).then_some("instance-id")
    }

    /// Tells of names that will be others than kops'.
    pub(super) fn tell_names(&self, tell: &mut Teller<'_>) {
        if self.names_by_instance() && !self.can_name_by_instance() {
            tell.warning(
                codes::FIELD_DIFFERS,
                self.name_span,
                "kops names nodes by their instances' ids, and here they are named by their private DNS names: before Kubernetes 1.26 kubelet asks EC2 itself",
                "use Kubernetes 1.26 or newer, or change whatever relies on the names",
            );
        }
    }

    /// kops' rule on AWS: ids where the cloud's controller is a program of its own, as it always is from 1.24 on, unless the
    /// cluster asks for names by address.
    fn names_by_instance(&self) -> bool {
        let cloud = self.spec.get("cloudProvider").and_then(|cloud| cloud.get("aws"));
        let settings = cloud.or_else(|| self.spec.get("cloudConfig"));
        let by_address =
            settings.and_then(|settings| settings.get("useIPBasedNodeNames")).is_some_and(is_true);
        let own_controller = match self.minor {
            // kops' channel names a newer one.
            None | Some(24..) => true,
            Some(22 | 23) => self.spec.get("cloudControllerManager").is_some(),
            Some(_) => false,
        };
        self.on_aws && own_controller && !by_address
    }

    fn can_name_by_instance(&self) -> bool {
        self.minor.is_none_or(|minor| minor >= OUTSIDE_KUBELET)
    }
}
