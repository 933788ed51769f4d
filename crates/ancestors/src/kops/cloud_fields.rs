//! The fields of `cloudProvider` of v1alpha3, each with what becomes of it.

use super::group_fields::WARM_POOL;
use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is};
use crate::shapes::MAP;
use crate::shapes::Shape::{Flag, Text};

const CONTROLLERS: &str = "what the cloud's controllers do";
const ACCOUNT: &str = "the account that the machines are made in";
const NETWORK: &str = "the network that the machines are made in";

/// `spec.cloudProvider`, of which there is one key.
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

/// Words for clouds in v1alpha2, those of older releases included.
pub(super) const WORDS: [&str; 14] = [
    "alicloud",
    "aws",
    "azure",
    "baremetal",
    "digitalocean",
    "do",
    "gce",
    "hetzner",
    "linode",
    "metal",
    "openstack",
    "scaleway",
    "spotinst",
    "vsphere",
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

/// What of another cloud than AWS has fields, by its key.
pub(super) const OTHERS: &[(&str, &[Field])] = &[
    ("azure", AZURE),
    ("do", &[]),
    ("gce", GCE),
    ("hetzner", &[]),
    ("linode", &[]),
    ("metal", &[]),
    ("openstack", OPENSTACK),
    ("scaleway", &[]),
];

const AZURE: &[Field] = &[
    ("adminUser", Differs("make this user with a step, or where the machines are made")),
    ("resourceGroupName", Aside(ACCOUNT)),
    ("routeTableName", Aside(NETWORK)),
    ("storageAccountID", Aside(ACCOUNT)),
    ("subscriptionID", Aside(ACCOUNT)),
    ("tenantID", Aside(ACCOUNT)),
];

const GCE: &[Field] = &[
    ("binariesLocation", Aside("where the cloud's own tools come from")),
    ("multizone", Aside(CONTROLLERS)),
    ("nodeInstancePrefix", Aside(CONTROLLERS)),
    ("nodeTags", Aside(CONTROLLERS)),
    ("pdCSIDriver", Aside("what runs in the cluster")),
    ("project", Aside(ACCOUNT)),
    ("serviceAccount", Aside("what the machines may do in the cloud")),
    ("useStartupScript", Aside("by which key of the machine's metadata its user-data comes")),
];

const OPENSTACK: &[Field] = &[
    ("blockStorage", Aside("what runs in the cluster")),
    ("insecureSkipVerify", Aside(CONTROLLERS)),
    ("loadbalancer", Aside(CONTROLLERS)),
    ("metadata", Differs("have machines made with a config drive where this asks for one")),
    ("monitor", Aside(CONTROLLERS)),
    ("network", Aside(NETWORK)),
    ("router", Aside(NETWORK)),
];
