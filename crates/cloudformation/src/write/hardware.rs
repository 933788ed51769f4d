//! What machines are made of beside disks: keys, credits, enclaves, places close together, interfaces of the type EFA.

use bringup_yaml::Value;

use super::Request;
use crate::intrinsic::{map, reference, single, sub};

/// The key pair that the template imports.
pub(crate) const KEY: &str = "NodeKeyPair";

const PLACE: &str = "NodePlacementGroup";
const FABRIC: &str = "NodeFabricSecurityGroup";

/// Settings of the launch template.
pub(crate) fn settings(request: &Request<'_>) -> Vec<(&'static str, Value)> {
    let launch = &request.launch;
    let mut settings = Vec::new();
    if let Some(credits) = launch.cpu_credits {
        settings.push(("CreditSpecification", single("CpuCredits", credits.word())));
    }
    if launch.enclave {
        settings.push(("EnclaveOptions", single("Enabled", true)));
    }
    if let Some(name) = &launch.placement_group {
        settings.push(("Placement", single("GroupName", name.as_str())));
    } else if launch.efa_interfaces > 0 {
        settings.push(("Placement", single("GroupName", reference(PLACE))));
    }
    settings
}

/// Interfaces of the type EFA, one on each card: the first is the node's own, the others come behind it.
pub(crate) fn interfaces(cards: u16, mut groups: Vec<Value>) -> Vec<Value> {
    groups.push(reference(FABRIC));
    let interface = |card: u16| {
        map(vec![
            ("DeviceIndex", u32::from(card > 0).into()),
            ("Groups", Value::List(groups.clone())),
            ("InterfaceType", "efa".into()),
            ("NetworkCardIndex", u32::from(card).into()),
        ])
    };
    (0..cards).map(interface).collect()
}

/// Resources by logical id that the settings refer to.
pub(crate) fn resources(request: &Request<'_>) -> Vec<(&'static str, Value)> {
    let launch = &request.launch;
    let mut resources = Vec::new();
    if let Some(key) = &launch.public_key {
        let properties = map(vec![
            ("KeyName", sub("${AWS::StackName}-${NodeGroupName}")),
            ("PublicKeyMaterial", key.as_str().into()),
        ]);
        resources.push((KEY, resource("AWS::EC2::KeyPair", properties)));
    }
    if launch.efa_interfaces > 0 {
        if launch.placement_group.is_none() {
            let properties = single("Strategy", "cluster");
            resources.push((PLACE, resource("AWS::EC2::PlacementGroup", properties)));
        }
        // EFA's traffic needs a rule for each direction that names the group itself. It has no tag of the cluster: of the
        // groups that have one, controllers expect an instance to be in one only.
        let about = sub("Nodes of ${ClusterName}, group ${NodeGroupName}, over EFA");
        let properties = map(vec![("GroupDescription", about), ("VpcId", reference("VpcId"))]);
        resources.push((FABRIC, resource("AWS::EC2::SecurityGroup", properties)));
        for (name, kind, other) in [
            ("NodeFabricIngress", "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId"),
            ("NodeFabricEgress", "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId"),
        ] {
            let properties = map(vec![
                ("Description", "Nodes to each other over EFA".into()),
                ("GroupId", reference(FABRIC)),
                (other, reference(FABRIC)),
                ("IpProtocol", "-1".into()),
            ]);
            resources.push((name, resource(kind, properties)));
        }
    }
    resources
}

fn resource(kind: &str, properties: Value) -> Value {
    map(vec![("Type", kind.into()), ("Properties", properties)])
}
