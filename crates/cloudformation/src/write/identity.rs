//! Who the nodes are: role, instance profile, and the access entry that lets them join.

use bringup_yaml::Value;

use super::{Request, statements};
use crate::intrinsic::{attribute, map, reference, sub};

/// The resources by logical id.
pub(crate) fn resources(request: &Request<'_>) -> Vec<(&'static str, Value)> {
    let mut resources = Vec::new();
    if request.makes_role() {
        resources.push(("NodeInstanceRole", role(request)));
        let properties = map(vec![("Roles", Value::List(vec![reference("NodeInstanceRole")]))]);
        resources.push((
            "NodeInstanceProfile",
            map(vec![("Type", "AWS::IAM::InstanceProfile".into()), ("Properties", properties)]),
        ));
    }
    if request.makes_access_entry() {
        let principal = match &request.launch.role.arn {
            Some(arn) if !request.makes_role() => arn.as_str().into(),
            _ => attribute("NodeInstanceRole", "Arn"),
        };
        let properties = map(vec![
            ("ClusterName", reference("ClusterName")),
            ("PrincipalArn", principal),
            ("Type", "EC2_LINUX".into()),
        ]);
        resources.push((
            "NodeAccessEntry",
            map(vec![("Type", "AWS::EKS::AccessEntry".into()), ("Properties", properties)]),
        ));
    }
    resources
}

fn role(request: &Request<'_>) -> Value {
    let trust = map(vec![
        ("Effect", "Allow".into()),
        ("Principal", map(vec![("Service", sub("ec2.${AWS::URLSuffix}"))])),
        ("Action", "sts:AssumeRole".into()),
    ]);
    let mut properties = vec![
        ("AssumeRolePolicyDocument", policy(vec![trust])),
        ("ManagedPolicyArns", Value::List(managed_policies(request))),
    ];
    let mut inline = Vec::new();
    if request.is_eks() && request.is_ipv6() {
        inline.push(inline_policy("pod-addresses", ipv6_statements()));
    }
    let own: Vec<Value> = statements(request).iter().map(super::permissions::Statement::value).collect();
    if !own.is_empty() {
        inline.push(inline_policy("bring-up", own));
    }
    if !inline.is_empty() {
        properties.push(("Policies", Value::List(inline)));
    }
    map(vec![("Type", "AWS::IAM::Role".into()), ("Properties", map(properties))])
}

fn managed_policies(request: &Request<'_>) -> Vec<Value> {
    let managed = |name: &str| sub(format!("arn:${{AWS::Partition}}:iam::aws:policy/{name}"));
    let mut policies = Vec::new();
    if request.is_eks() {
        policies.push(managed("AmazonEKSWorkerNodePolicy"));
        // There is no managed policy for pods with IPv6 addresses: the role gets its own.
        if !request.is_ipv6() {
            policies.push(managed("AmazonEKS_CNI_Policy"));
        }
    }
    policies.push(managed("AmazonEC2ContainerRegistryPullOnly"));
    for arn in &request.launch.role.policies {
        let policy = Value::from(arn.as_str());
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    policies
}

/// What the VPC CNI does with IPv6 prefixes.
fn ipv6_statements() -> Vec<Value> {
    let read = [
        "ec2:AssignIpv6Addresses",
        "ec2:DescribeInstances",
        "ec2:DescribeTags",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeInstanceTypes",
    ];
    vec![
        map(vec![("Effect", "Allow".into()), ("Action", Value::list(read)), ("Resource", "*".into())]),
        map(vec![
            ("Effect", "Allow".into()),
            ("Action", Value::list(["ec2:CreateTags"])),
            ("Resource", Value::List(vec![sub("arn:${AWS::Partition}:ec2:*:*:network-interface/*")])),
        ]),
    ]
}

fn policy(statements: Vec<Value>) -> Value {
    map(vec![("Version", "2012-10-17".into()), ("Statement", Value::List(statements))])
}

fn inline_policy(name: &str, statements: Vec<Value>) -> Value {
    map(vec![("PolicyName", name.into()), ("PolicyDocument", policy(statements))])
}
