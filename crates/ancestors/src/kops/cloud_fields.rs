//! The fields of `cloudProvider` of v1alpha3, each with what becomes of it.

use super::group_fields::WARM_POOL;
use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Taken};

const CONTROLLERS: &str = "what the cloud's controllers do";

/// `spec.cloudProvider`, of which there is one key. Of other clouds than AWS it is told as a whole.
pub(super) const CLOUDS: &[Field] = &[
    ("aws", Taken),
    ("azure", Taken),
    ("do", Taken),
    ("gce", Taken),
    ("hetzner", Taken),
    ("linode", Taken),
    ("metal", Taken),
    ("openstack", Taken),
    ("scaleway", Taken),
];

/// `spec.cloudProvider.aws`.
pub(super) const AWS: &[Field] = &[
    ("binariesLocation", Taken),
    ("disableSecurityGroupIngress", Aside(CONTROLLERS)),
    ("ebsCSIDriver", Aside("what runs in the cluster")),
    ("elbSecurityGroup", Aside(CONTROLLERS)),
    ("loadBalancerController", Aside("what runs in the cluster")),
    ("nlbSecurityGroupMode", Aside(CONTROLLERS)),
    ("nodeIPFamilies", Aside(CONTROLLERS)),
    ("nodeTerminationHandler", Aside("what runs in the cluster")),
    ("podIdentityWebhook", Aside("what runs in the cluster")),
    ("spotinstOrientation", Aside("which machines are made")),
    ("spotinstProduct", Aside("which machines are made")),
    ("useIPBasedNodeNames", Taken),
    ("warmPool", Differs(WARM_POOL)),
];
