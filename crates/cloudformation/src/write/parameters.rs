//! What can be set when the template is deployed. Names and meanings are those of the template that EKS publishes.

use bringup_yaml::Value;

use super::{ImageSource, Request, image_source};
use crate::intrinsic::{map, reference, single};

/// The size of a root volume that nobody chose.
const VOLUME_GIB: u32 = 80;

struct Parameter {
    name: &'static str,
    section: &'static str,
    kind: &'static str,
    about: &'static str,
    default: Option<Value>,
    allowed: &'static [&'static str],
}

impl Parameter {
    fn new(name: &'static str, section: &'static str, kind: &'static str, about: &'static str) -> Self {
        Self { name, section, kind, about, default: None, allowed: &[] }
    }

    fn or(mut self, default: Option<impl Into<Value>>) -> Self {
        self.default = default.map(Into::into);
        self
    }

    fn among(mut self, allowed: &'static [&'static str]) -> Self {
        self.allowed = allowed;
        self
    }

    fn value(&self) -> Value {
        let mut pairs = vec![("Type", Value::from(self.kind)), ("Description", self.about.into())];
        if !self.allowed.is_empty() {
            pairs.push(("AllowedValues", Value::list(self.allowed.iter().copied())));
        }
        if let Some(default) = &self.default {
            pairs.push(("Default", default.clone()));
        }
        map(pairs)
    }
}

fn list(request: &Request<'_>) -> Vec<Parameter> {
    const CLUSTER: &str = "Cluster";
    const NODES: &str = "Nodes";
    const NETWORK: &str = "Network";
    let aws = request.document.cluster.spec.aws.as_ref();
    let (scaling, launch) = (&request.scaling, &request.launch);
    let mut list = vec![
        Parameter::new("ClusterName", CLUSTER, "String", "The name of the cluster")
            .or(Some(request.cluster_name())),
    ];
    if request.has_control_plane_group() {
        let about = "The security group of the cluster's control plane";
        list.push(
            Parameter::new("ClusterControlPlaneSecurityGroup", CLUSTER, "AWS::EC2::SecurityGroup::Id", about)
                .or(aws.and_then(|aws| aws.control_plane_security_group.as_deref())),
        );
    }
    if let Some(arguments) = &request.arguments {
        let about = "Arguments of bootstrap.sh, as its shell splits them";
        list.push(
            Parameter::new("BootstrapArguments", CLUSTER, "String", about).or(Some(arguments.as_str())),
        );
    }
    list.push(
        Parameter::new("NodeGroupName", NODES, "String", "The name of the node group")
            .or(Some(request.group.name.as_str())),
    );
    list.extend([
        Parameter::new("NodeAutoScalingGroupMinSize", NODES, "Number", "At least so many nodes")
            .or(Some(scaling.min)),
        Parameter::new("NodeAutoScalingGroupDesiredCapacity", NODES, "Number", "So many nodes to begin with")
            .or(Some(request.desired())),
        Parameter::new("NodeAutoScalingGroupMaxSize", NODES, "Number", "At most so many nodes")
            .or(Some(scaling.max)),
        Parameter::new("NodeInstanceType", NODES, "String", "The instance type").or(request
            .group
            .instance_types
            .first()
            .map(String::as_str)),
    ]);
    match image_source(request) {
        ImageSource::Parameter(parameter) => {
            let about = "The parameter that holds the image's id; NodeImageId overrides it";
            let kind = "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>";
            list.push(Parameter::new("NodeImageIdSSMParam", NODES, kind, about).or(Some(parameter)));
            let about = "The image's id, if not the one that NodeImageIdSSMParam holds";
            list.push(Parameter::new("NodeImageId", NODES, "String", about).or(Some("")));
        }
        ImageSource::Named(image) => {
            let parameter = Parameter::new("NodeImageId", NODES, "AWS::EC2::Image::Id", "The image's id");
            list.push(parameter.or(Some(image)));
        }
        ImageSource::Asked => {
            list.push(Parameter::new("NodeImageId", NODES, "AWS::EC2::Image::Id", "The image's id"));
        }
    }
    let size = launch.volumes.first().map_or(VOLUME_GIB, |volume| volume.size_gib);
    list.extend([
        Parameter::new("NodeVolumeSize", NODES, "Number", "The size of the root volume in GiB")
            .or(Some(size)),
        Parameter::new("KeyName", NODES, "String", "The EC2 key pair for SSH; empty for none")
            .or(Some(launch.key_name.as_deref().unwrap_or_default())),
        Parameter::new(
            "DisableIMDSv1",
            NODES,
            "String",
            "Whether the metadata service answers only requests with a token",
        )
        .among(&["true", "false"])
        .or(Some(if launch.metadata.tokens_required { "true" } else { "false" })),
        Parameter::new("VpcId", NETWORK, "AWS::EC2::VPC::Id", "The VPC that the nodes live in")
            .or(aws.and_then(|aws| aws.vpc.as_deref())),
        Parameter::new(
            "Subnets",
            NETWORK,
            "List<AWS::EC2::Subnet::Id>",
            "The subnets that the nodes live in",
        )
        .or(aws.filter(|aws| !aws.subnets.is_empty()).map(|aws| aws.subnets.join(","))),
    ]);
    list
}

/// The parameters.
pub(crate) fn parameters(request: &Request<'_>) -> Value {
    map(list(request).iter().map(|parameter| (parameter.name, parameter.value())).collect())
}

/// How the console arranges the parameters.
pub(crate) fn interface(request: &Request<'_>) -> Value {
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for parameter in list(request) {
        match groups.iter_mut().find(|(section, _)| *section == parameter.section) {
            Some((_, names)) => names.push(parameter.name.into()),
            None => groups.push((parameter.section, vec![parameter.name.into()])),
        }
    }
    let groups: Vec<Value> = groups
        .into_iter()
        .map(|(section, names)| {
            map(vec![("Label", single("default", section)), ("Parameters", Value::List(names))])
        })
        .collect();
    single("AWS::CloudFormation::Interface", single("ParameterGroups", Value::List(groups)))
}

/// The conditions on the parameters.
pub(crate) fn conditions(request: &Request<'_>) -> Vec<(&'static str, Value)> {
    let given = |parameter: &str| {
        let empty = single("Fn::Equals", Value::List(vec![reference(parameter), "".into()]));
        single("Fn::Not", Value::List(vec![empty]))
    };
    let mut conditions = Vec::new();
    if matches!(image_source(request), ImageSource::Parameter(_)) {
        conditions.push(("HasNodeImageId", given("NodeImageId")));
    }
    conditions.push(("HasKey", given("KeyName")));
    let disabled = single("Fn::Equals", Value::List(vec![reference("DisableIMDSv1"), "true".into()]));
    conditions.push(("IMDSv1Disabled", disabled));
    conditions
}
