//! Which image an instance starts from, and what is known about it.

use bringup_plan::Accelerator;
use bringup_spec::{Architecture, OsFamily, SoftwareSource};

use super::Request;

/// Where the id of the image comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImageSource {
    /// The document names it.
    Named(String),
    /// A parameter holds it.
    Parameter(String),
    /// Nobody knows: it is asked for when the template is deployed.
    Asked,
}

/// Where the id of the group's image comes from.
pub(crate) fn image_source(request: &Request<'_>) -> ImageSource {
    if let Some(image) = &request.launch.image {
        return ImageSource::Named(image.clone());
    }
    let parameter =
        request.launch.image_parameter.clone().or_else(|| {
            if wants_eks_image(request) { eks_parameter(request) } else { plain_parameter(request) }
        });
    parameter.map_or(ImageSource::Asked, ImageSource::Parameter)
}

/// An image with kubelet in it, made for EKS: where the control plane is EKS' and the document brings no kubelet.
fn wants_eks_image(request: &Request<'_>) -> bool {
    request.is_eks() && request.group.software.kubelet.from == SoftwareSource::Image
}

/// The public parameter of the image that EKS, or Canonical for EKS, publishes.
fn eks_parameter(request: &Request<'_>) -> Option<String> {
    let minor = request.document.cluster.spec.kubernetes.version.minor;
    let arm = request.group.architecture == Architecture::Aarch64;
    // The first type is the one to launch.
    let accelerator =
        request.group.instance_types.first().map_or(Accelerator::None, |name| Accelerator::of(name));
    let version = request.group.os.version.as_deref();
    match request.group.os.family {
        // The last minor with an image of Amazon Linux 2 is 1.32.
        OsFamily::AmazonLinux2 if minor <= 32 => {
            let variant = match (arm, accelerator) {
                (true, _) => "-arm64",
                (false, Accelerator::None) => "",
                (false, Accelerator::Nvidia | Accelerator::Neuron) => "-gpu",
            };
            Some(format!(
                "/aws/service/eks/optimized-ami/1.{minor}/amazon-linux-2{variant}/recommended/image_id"
            ))
        }
        OsFamily::AmazonLinux2023 => {
            let processor = if arm { "arm64" } else { "x86_64" };
            let variant = match accelerator {
                Accelerator::None => "standard",
                Accelerator::Nvidia => "nvidia",
                Accelerator::Neuron => "neuron",
            };
            Some(format!(
                "/aws/service/eks/optimized-ami/1.{minor}/amazon-linux-2023/{processor}/{variant}/recommended/image_id"
            ))
        }
        OsFamily::Ubuntu => {
            // Canonical's images for EKS: 22.04 from 1.29 on, 24.04 from 1.31 on.
            let release = version.unwrap_or(match minor {
                ..29 => "20.04",
                29..31 => "22.04",
                _ => "24.04",
            });
            let processor = debian_processor(arm);
            let volume = ubuntu_volume(release);
            Some(format!(
                "/aws/service/canonical/ubuntu/eks/{release}/1.{minor}/stable/current/{processor}/hvm/{volume}/ami-id"
            ))
        }
        OsFamily::Debian => plain_parameter(request),
        OsFamily::AmazonLinux2 | OsFamily::Flatcar | OsFamily::Generic => None,
    }
}

/// The public parameter of the system's own image.
fn plain_parameter(request: &Request<'_>) -> Option<String> {
    let arm = request.group.architecture == Architecture::Aarch64;
    let amazon = if arm { "arm64" } else { "x86_64" };
    let version = request.group.os.version.as_deref();
    match request.group.os.family {
        OsFamily::AmazonLinux2 => {
            Some(format!("/aws/service/ami-amazon-linux-latest/amzn2-ami-hvm-{amazon}-gp2"))
        }
        OsFamily::AmazonLinux2023 => {
            Some(format!("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{amazon}"))
        }
        OsFamily::Ubuntu => {
            let release = version.unwrap_or("24.04");
            let (processor, volume) = (debian_processor(arm), ubuntu_volume(release));
            Some(format!(
                "/aws/service/canonical/ubuntu/server/{release}/stable/current/{processor}/hvm/{volume}/ami-id"
            ))
        }
        OsFamily::Debian => {
            let (release, processor) = (version.unwrap_or("12"), debian_processor(arm));
            Some(format!("/aws/service/debian/release/{release}/latest/{processor}"))
        }
        OsFamily::Flatcar | OsFamily::Generic => None,
    }
}

fn debian_processor(arm: bool) -> &'static str {
    if arm { "arm64" } else { "amd64" }
}

/// Canonical moved to gp3 with 24.04.
fn ubuntu_volume(release: &str) -> &'static str {
    let year: Option<u32> = release.split('.').next().and_then(|year| year.parse().ok());
    if year.is_some_and(|year| year < 24) { "ebs-gp2" } else { "ebs-gp3" }
}

/// The smallest root volume that the image fits on: EC2 refuses a smaller one than the image's snapshot.
pub(crate) fn minimum_volume_gib(request: &Request<'_>) -> Option<u32> {
    let own = request.launch.image.is_some() || request.launch.image_parameter.is_some();
    match request.group.os.family {
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 if wants_eks_image(request) && !own => Some(20),
        OsFamily::Generic => None,
        _ if own => None,
        _ => Some(8),
    }
}

/// The name of the root device of the family's images.
pub(crate) fn root_device(family: OsFamily) -> &'static str {
    match family {
        OsFamily::Ubuntu => "/dev/sda1",
        OsFamily::AmazonLinux2
        | OsFamily::AmazonLinux2023
        | OsFamily::Debian
        | OsFamily::Flatcar
        | OsFamily::Generic => "/dev/xvda",
    }
}
