//! The launch template.

use bringup_spec::{Volume, VolumeType};
use bringup_yaml::Value;

use super::{ImageSource, Request, hardware, image_source, root_device};
use crate::intrinsic::{attribute, either, map, reference, single, sub, tag};

/// The launch template, whose instances get this user-data.
pub(crate) fn template(request: &Request<'_>, user_data: Value) -> Value {
    let launch = &request.launch;
    let own_key = if launch.public_key.is_some() { hardware::KEY } else { "AWS::NoValue" };
    let mut data = vec![
        ("BlockDeviceMappings", Value::List(devices(request))),
        ("IamInstanceProfile", profile(request)),
        ("ImageId", image(request)),
        ("InstanceType", reference("NodeInstanceType")),
        ("KeyName", either("HasKey", reference("KeyName"), reference(own_key))),
    ];
    if let Some(optimised) = launch.ebs_optimized {
        data.push(("EbsOptimized", optimised.into()));
    }
    let mut groups = vec![reference("NodeSecurityGroup")];
    if request.is_control_plane() && request.has_control_plane_group() {
        groups.push(reference("ClusterControlPlaneSecurityGroup"));
    }
    groups.extend(launch.security_groups.iter().map(|group| Value::from(group.as_str())));
    data.extend(hardware::settings(request));
    // Interfaces that are written down have their security groups with them.
    if launch.efa_interfaces == 0 {
        data.push(("SecurityGroupIds", Value::List(groups)));
    } else {
        data.push(("NetworkInterfaces", Value::List(hardware::interfaces(launch.efa_interfaces, groups))));
    }
    data.extend([
        ("MetadataOptions", metadata(request)),
        ("Monitoring", single("Enabled", launch.monitoring)),
        ("TagSpecifications", Value::List(tags(request))),
        ("UserData", user_data),
    ]);
    map(vec![
        ("Type", "AWS::EC2::LaunchTemplate".into()),
        ("Properties", single("LaunchTemplateData", map(data))),
    ])
}

fn image(request: &Request<'_>) -> Value {
    match image_source(request) {
        ImageSource::Parameter(_) => {
            either("HasNodeImageId", reference("NodeImageId"), reference("NodeImageIdSSMParam"))
        }
        ImageSource::Named(_) | ImageSource::Asked => reference("NodeImageId"),
    }
}

fn profile(request: &Request<'_>) -> Value {
    match &request.launch.role.instance_profile {
        Some(arn) if arn.starts_with("arn:") => single("Arn", arn.as_str()),
        Some(name) => single("Name", name.as_str()),
        None => single("Arn", attribute("NodeInstanceProfile", "Arn")),
    }
}

fn devices(request: &Request<'_>) -> Vec<Value> {
    let root = root_device(request.group.os.family);
    let size = reference("NodeVolumeSize");
    let Some((first, others)) = request.launch.volumes.split_first() else {
        let ebs = map(vec![
            ("DeleteOnTermination", true.into()),
            ("Encrypted", true.into()),
            ("VolumeSize", size),
            ("VolumeType", VolumeType::Gp3.word().into()),
        ]);
        return vec![map(vec![("DeviceName", root.into()), ("Ebs", ebs)])];
    };
    let mut devices = vec![device(first, first.device.as_deref().unwrap_or(root), size)];
    // One without a name is an error that has been told.
    devices.extend(
        others.iter().map(|volume| {
            device(volume, volume.device.as_deref().unwrap_or_default(), volume.size_gib.into())
        }),
    );
    devices
}

fn device(volume: &Volume, name: &str, size: Value) -> Value {
    let mut ebs = vec![
        ("DeleteOnTermination", true.into()),
        ("Encrypted", volume.encrypted.into()),
        ("VolumeSize", size),
        ("VolumeType", volume.kind.word().into()),
    ];
    if let Some(key) = &volume.kms_key {
        ebs.push(("KmsKeyId", key.as_str().into()));
    }
    if let Some(snapshot) = &volume.snapshot {
        ebs.push(("SnapshotId", snapshot.as_str().into()));
    }
    if let Some(iops) = volume.iops {
        ebs.push(("Iops", iops.into()));
    }
    if let Some(throughput) = volume.throughput {
        ebs.push(("Throughput", throughput.into()));
    }
    map(vec![("DeviceName", name.into()), ("Ebs", map(ebs))])
}

/// An account can have the tags of all its instances shown by default, which the cluster's own tag forbids: so it is
/// always said.
fn metadata(request: &Request<'_>) -> Value {
    let options = &request.launch.metadata;
    let shown = if options.instance_tags { "enabled" } else { "disabled" };
    map(vec![
        ("HttpEndpoint", "enabled".into()),
        ("HttpTokens", either("IMDSv1Disabled", "required".into(), "optional".into())),
        ("HttpPutResponseHopLimit", u32::from(options.hop_limit).into()),
        ("InstanceMetadataTags", shown.into()),
    ])
}

/// Instances get the tags of the Auto Scaling group too; volumes only these.
fn tags(request: &Request<'_>) -> Vec<Value> {
    let own =
        || request.launch.tags.iter().map(|(key, value)| tag(key.as_str().into(), value.as_str().into()));
    let mut volume: Vec<Value> = Vec::new();
    if !request.launch.tags.contains_key("Name") {
        volume.push(tag("Name".into(), sub("${ClusterName}-${NodeGroupName}-Node")));
    }
    volume.extend(own());
    let mut specifications = Vec::new();
    if !request.launch.tags.is_empty() {
        let instance = Value::List(own().collect());
        specifications.push(map(vec![("ResourceType", "instance".into()), ("Tags", instance)]));
    }
    specifications.push(map(vec![("ResourceType", "volume".into()), ("Tags", Value::List(volume))]));
    specifications
}
