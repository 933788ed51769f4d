//! The fields of `cloudProvider` of v1alpha3, each with what becomes of it.

use super::group_fields::WARM_POOL;
use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is};
use crate::shapes::MAP;
use crate::shapes::Shape::{Flag, Text};

const CONTROLLERS: &str = "what the cloud's controllers do";

/// `spec.cloudProvider`, of which there is one key. Of other clouds than AWS it is told as a whole.
pub(super) const CLOUDS: &[Field] = &[
    ("aws", Is(MAP)),
    ("azure", Is(MAP)),
    ("do", Is(MAP)),
    ("gce", Is(MAP)),
    ("hetzner", Is(MAP)),
    ("linode", Is(MAP)),
    ("metal", Is(MAP)),
    ("openstack", Is(MAP)),
    ("scaleway", Is(MAP)),
];

/// `spec.cloudProvider.aws`.
pub(super) const AWS: &[Field] = &[
    ("binariesLocation", Is(Text)),
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
    ("useIPBasedNodeNames", Is(Flag)),
    ("warmPool", Differs(WARM_POOL)),
];
