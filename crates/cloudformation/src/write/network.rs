//! Who may talk to the nodes: their security group, and the rules between it and the control plane's.

use bringup_yaml::Value;

use super::Request;
use crate::intrinsic::{map, reference, sub, tag};

const NODES: &str = "NodeSecurityGroup";
const CONTROL_PLANE: &str = "ClusterControlPlaneSecurityGroup";

/// The resources by logical id.
pub(crate) fn resources(request: &Request<'_>) -> Vec<(&'static str, Value)> {
    let owner = tag(sub("kubernetes.io/cluster/${ClusterName}"), "owned".into());
    let properties = map(vec![
        ("GroupDescription", sub("Nodes of ${ClusterName}, group ${NodeGroupName}")),
        ("VpcId", reference("VpcId")),
        ("Tags", Value::List(vec![owner])),
    ]);
    let mut resources = vec![
        (NODES, map(vec![("Type", "AWS::EC2::SecurityGroup".into()), ("Properties", properties)])),
        ("NodeSecurityGroupIngress", ingress("Nodes and pods to each other", NODES, NODES, None)),
    ];
    // Nodes that are the control plane are members of its group: there is nothing to open between the two.
    if request.has_control_plane_group() && !request.is_control_plane() {
        let api = api_port(request);
        resources.extend([
            (
                "ClusterControlPlaneSecurityGroupIngress",
                ingress("Nodes and pods to the API server", CONTROL_PLANE, NODES, Some((api, api))),
            ),
            (
                "NodeSecurityGroupFromControlPlaneIngress",
                ingress("Control plane to kubelets and pods", NODES, CONTROL_PLANE, Some((1025, 65535))),
            ),
            (
                "ControlPlaneEgressToNodeSecurityGroup",
                egress("Control plane to kubelets and pods", (1025, 65535)),
            ),
            (
                "NodeSecurityGroupFromControlPlaneOn443Ingress",
                ingress("Control plane to extension API servers", NODES, CONTROL_PLANE, Some((443, 443))),
            ),
            (
                "ControlPlaneEgressToNodeSecurityGroupOn443",
                egress("Control plane to extension API servers", (443, 443)),
            ),
        ]);
    }
    resources
}

/// The port of the API server, from its address.
fn api_port(request: &Request<'_>) -> u16 {
    let endpoint = request.document.cluster.spec.api.as_ref().map(|api| api.endpoint.as_str());
    let host = endpoint.and_then(|address| address.strip_prefix("https://")).unwrap_or_default();
    let authority = host.split('/').next().unwrap_or_default();
    // A colon inside the brackets of an IPv6 address is no port's.
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.contains(']'));
    port.and_then(|port| port.parse().ok()).unwrap_or(443)
}

fn ingress(about: &str, to: &str, from: &str, ports: Option<(u16, u16)>) -> Value {
    let mut properties = vec![
        ("Description", about.into()),
        ("GroupId", reference(to)),
        ("SourceSecurityGroupId", reference(from)),
    ];
    properties.extend(protocol(ports));
    map(vec![("Type", "AWS::EC2::SecurityGroupIngress".into()), ("Properties", map(properties))])
}

fn egress(about: &str, ports: (u16, u16)) -> Value {
    let mut properties = vec![
        ("Description", about.into()),
        ("GroupId", reference(CONTROL_PLANE)),
        ("DestinationSecurityGroupId", reference(NODES)),
    ];
    properties.extend(protocol(Some(ports)));
    map(vec![("Type", "AWS::EC2::SecurityGroupEgress".into()), ("Properties", map(properties))])
}

fn protocol(ports: Option<(u16, u16)>) -> Vec<(&'static str, Value)> {
    match ports {
        None => vec![("IpProtocol", "-1".into())],
        Some((from, to)) => vec![
            ("IpProtocol", "tcp".into()),
            ("FromPort", u32::from(from).into()),
            ("ToPort", u32::from(to).into()),
        ],
    }
}
