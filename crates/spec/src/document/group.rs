//! A kind of node.

use std::collections::BTreeMap;

use bringup_yaml::Node;
use serde_json::json;

use super::{
    Agent, Asset, Directory, File, Hook, ImageCredentialProvider, Kubelet, Launch, Link, MaxPods, OsUpdate,
    Part, Reboot, Runtime, Scaling, Signal, Software, Stage, Step, Swap, Taint, Unit,
};
use crate::decode::{Decode, Reader, Schemas, choices, record};
use crate::{Fact, Name, Text, Url};

record! {
    /// A kind of node: machines that get the same plan.
    "a node group" pub struct NodeGroup {
        /// Its name, unique in the cluster.
        "name" => name: Name,
        /// Where the machines run.
        "platform" => platform: Platform = Platform::Generic,
        /// The operating system, `ubuntu` or `{family: ubuntu, version: "24.04"}`.
        "os" => os: Os,
        /// The program of EKS' images whose input this was, with the flavours `eks` and `eksctl`: its answers stand where ours would differ.
        "inPlaceOf" => in_place_of: Option<ImageProgram>,
        /// The processor.
        "architecture" => architecture: Architecture = Architecture::X86_64,
        /// What the nodes are for.
        "role" => role: Role = Role::Worker,
        /// Which control-plane node is the one that starts the cluster: `true`, a condition on a fact, or `{store: …}` for
        /// the first that makes an object in S3. Where no group has it, the first machine of the control plane among `machines`.
        "bootstrap" => bootstrap: Option<Bootstrap>,
        /// Instance types; the first is the one to launch, the others are alternatives.
        "instanceTypes" => instance_types: Vec<String>,
        /// Where a node's name comes from; by default `private-dns` on AWS, else the host's name.
        "nodeName" => node_name: Option<NodeNamePolicy>,
        /// Labels that the node registers with.
        "labels" => labels: BTreeMap<String, Text>,
        /// Taints that the node registers with.
        "taints" => taints: Vec<Taint>,
        /// How many pods a node takes: a number, or how to work it out.
        "maxPods" => max_pods: Option<MaxPods>,
        /// Configuration and flags of kubelet.
        "kubelet" => kubelet: Kubelet = Kubelet::default(),
        /// The container runtime.
        "runtime" => runtime: Runtime = Runtime::default(),
        /// How kubelet gets credentials for images; on AWS the default is ECR's provider.
        "imageCredentialProvider" => image_credential_provider: Option<ImageCredentialProvider>,
        /// Where kubelet, the runtime and the rest come from.
        "software" => software: Software = Software::default(),
        /// Kernel modules to load.
        "kernelModules" => kernel_modules: Vec<KernelModule>,
        /// Kernel settings. As in sysctl.d(5), `*`, `?` and `[...]` stand for any letters of a name, and one with a dash before its
        /// name may fail.
        "sysctls" => sysctls: BTreeMap<String, SysctlValue>,
        /// Which modules and settings are there without being written.
        "kernelDefaults" => kernel_defaults: KernelDefaults = KernelDefaults::default(),
        /// Arguments of the kernel's command line.
        "kernelArguments" => kernel_arguments: Vec<String>,
        /// What to do about swap.
        "swap" => swap: Option<Swap>,
        /// Files to write.
        "files" => files: Vec<File>,
        /// Directories to make.
        "directories" => directories: Vec<Directory>,
        /// Symbolic links to make.
        "links" => links: Vec<Link>,
        /// The operator's commands.
        "steps" => steps: Vec<Step>,
        /// Programs that run at points of the node's life.
        "hooks" => hooks: Vec<Hook>,
        /// Units and drop-ins of the operator.
        "units" => units: Vec<Unit>,
        /// Further parts of the user-data, in this order; with the flavour `kops`, scripts run by their names.
        "parts" => parts: Vec<Part>,
        /// Downloads.
        "assets" => assets: Vec<Asset>,
        /// Update of the operating system before the node joins.
        "update" => update: Option<OsUpdate>,
        /// Whether the machine may be rebooted on its way.
        "reboot" => reboot: Reboot = Reboot::default(),
        /// What makes the control plane, on the node that starts the cluster.
        "controlPlane" => control_plane: Option<Stage>,
        /// What is installed on top once the API answers, on the node that starts the cluster.
        "platformStage" => platform_stage: Option<Stage>,
        /// The launch template.
        "launch" => launch: Option<Launch>,
        /// The Auto Scaling group.
        "scaling" => scaling: Option<Scaling>,
        /// How the agent arrives on the machine: `image`, `none`, or where to fetch it from.
        "agent" => agent: Agent = Agent::default(),
        /// How the plan travels; the default follows from the operating system.
        "carriers" => carriers: Vec<Carrier>,
        /// How user-data is written: as it is, or in base64, as EC2's own interface and most tools' launch templates take it.
        "userDataEncoding" => user_data_encoding: UserDataEncoding = UserDataEncoding::Plain,
        /// Whom to tell how it ended.
        "signals" => signals: Vec<Signal>,
        /// Assertions on order, beside the cluster's own.
        "order" => order: Vec<String>,
    }
}

choices! {
    /// Where machines run.
    "platform" pub enum Platform {
        /// Amazon EC2.
        Aws = "aws",
        /// Anywhere else: facts come from the machine itself or from a file.
        Generic = "generic",
    }
}

choices! {
    /// Programs of EKS' images that join a node to its cluster.
    "program" pub enum ImageProgram {
        /// `/etc/eks/bootstrap.sh`: memory kept for the pods of the instance type; with the flavour `eks`, no files and labels
        /// of eksctl's.
        Bootstrap = "bootstrap",
        /// `nodeadm`: memory kept for the pods of the instance type or of `maxPods.expression`; on Amazon Linux 2023, the sandbox
        /// image, the program of runc and the limits of containers that it sets. With both programs, NVIDIA's runtime on
        /// machines with its accelerators.
        Nodeadm = "nodeadm",
    }
}

choices! {
    /// Families of operating systems.
    "family of operating systems" pub enum OsFamily {
        /// Amazon Linux 2: systemd 219.
        AmazonLinux2 = "amazon-linux-2",
        /// Amazon Linux 2023.
        AmazonLinux2023 = "amazon-linux-2023",
        /// Ubuntu.
        Ubuntu = "ubuntu",
        /// Debian.
        Debian = "debian",
        /// Flatcar Container Linux: Ignition, read-only `/usr`.
        Flatcar = "flatcar",
        /// Any other Linux with systemd.
        Generic = "generic",
    }
}

/// An operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Os {
    /// Its family.
    pub family: OsFamily,
    /// Its version, where it matters.
    pub version: Option<String>,
}

impl NodeGroup {
    /// Whether every carrier of the group can have a script in it: Ignition and bundles have none.
    pub fn is_scripted(&self) -> bool {
        let silent = |carrier: &Carrier| matches!(carrier, Carrier::Ignition | Carrier::Bundle);
        self.os.family != OsFamily::Flatcar && !self.carriers.iter().any(silent)
    }
}

impl Os {
    /// The first number of its version.
    pub fn major(&self) -> Option<u32> {
        self.version.as_deref().and_then(|version| version.split('.').next()?.parse().ok())
    }
}

record! {
    /// An operating system with its version.
    "`os`" pub struct OsRecord {
        /// The family.
        "family" => family: OsFamily,
        /// The version, such as "24.04".
        "version" => version: Option<String>,
    }
}

/// `ubuntu-24.04` taken apart.
fn family_with_version(text: &str) -> Option<(OsFamily, &str)> {
    if OsFamily::ALL.iter().any(|family| family.word() == text) {
        return None;
    }
    let (word, version) = text.rsplit_once(['-', ' ', ':', '@'])?;
    let family = OsFamily::ALL.iter().find(|family| family.word() == word)?;
    (version.starts_with(|digit: char| digit.is_ascii_digit())).then_some((*family, version))
}

impl Decode for Os {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            return OsRecord::decode(node, reader).map(|os| Self { family: os.family, version: os.version });
        }
        if let Some((family, version)) = node.text().and_then(family_with_version) {
            return reader.fault(
                crate::codes::WRONG_VALUE,
                node.span,
                "the family of an operating system and its version are two values",
                format!("write {{family: {family}, version: \"{version}\"}}"),
            );
        }
        OsFamily::decode(node, reader).map(|family| Self { family, version: None })
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [OsFamily::schema(schemas), OsRecord::schema(schemas)]})
    }
}

choices! {
    /// Processors.
    "architecture" pub enum Architecture {
        /// 64-bit x86.
        X86_64 = "x86_64",
        /// 64-bit ARM.
        Aarch64 = "aarch64",
    }
}

choices! {
    /// What a node is for.
    "role" pub enum Role {
        /// Runs workloads.
        Worker = "worker",
        /// Runs the control plane.
        ControlPlane = "control-plane",
    }
}

choices! {
    /// Where a node's name comes from.
    "source of node names" pub enum NodeNamePolicy {
        /// The private DNS name from the metadata service.
        PrivateDns = "private-dns",
        /// The instance's id.
        InstanceId = "instance-id",
        /// The host's own name.
        Hostname = "hostname",
        /// The machine's address.
        Address = "address",
    }
}

choices! {
    /// How a plan travels.
    "carrier" pub enum Carrier {
        /// One cloud-config document.
        CloudInit = "cloud-init",
        /// Multipart MIME user-data.
        Multipart = "multipart",
        /// An Ignition config.
        Ignition = "ignition",
        /// A CloudFormation template in YAML.
        CloudFormation = "cloudformation",
        /// A CloudFormation template in JSON.
        CloudFormationJson = "cloudformation-json",
        /// A tar for SSH and for images.
        Bundle = "bundle",
        /// User-data for the node agent of EKS images, in multipart MIME.
        NodeConfig = "nodeconfig",
    }
}

choices! {
    /// How user-data is written.
    "encoding of user-data" pub enum UserDataEncoding {
        /// As it is.
        Plain = "plain",
        /// In base64, on one line.
        Base64 = "base64",
    }
}

/// Which control-plane node starts the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bootstrap {
    /// Every node of the group (of which there should be one), or none.
    Always(bool),
    /// The node of which a fact has this value.
    When {
        /// The fact.
        fact: Fact,
        /// Its value.
        equals: String,
    },
    /// The node that is the first to make this object.
    Store(Url),
}

record! {
    /// An object that decides which node is the first.
    "`bootstrap`" pub struct StoreElection {
        /// The object, `s3://BUCKET/KEY`: the node that makes it starts the cluster, and its id is in it.
        "store" => store: Url,
    }
}

record! {
    /// A condition on a fact.
    "`bootstrap`" pub struct FactCondition {
        /// The fact, such as `zone` or `tags.bootstrap`.
        "fact" => fact: Fact,
        /// The value that it must have.
        "equals" => equals: String,
    }
}

impl Decode for Bootstrap {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_none() {
            return bool::decode(node, reader).map(Self::Always);
        }
        if node.entries().is_some_and(|entries| entries.iter().any(|entry| entry.key == "store")) {
            return StoreElection::decode(node, reader).map(|election| Self::Store(election.store));
        }
        FactCondition::decode(node, reader)
            .map(|condition| Self::When { fact: condition.fact, equals: condition.equals })
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [bool::schema(schemas), FactCondition::schema(schemas), StoreElection::schema(schemas)]})
    }
}

record! {
    /// What runtimes, pod networks and kubelet need of the kernel. Without it, somebody else has to see to it.
    "`kernelDefaults`" pub struct KernelDefaults {
        /// Whether the modules that they need are loaded.
        "modules" => modules: bool = true,
        /// Whether the settings that they need are set.
        "sysctls" => sysctls: bool = true,
    }
}

impl Default for KernelDefaults {
    fn default() -> Self {
        Self { modules: true, sysctls: true }
    }
}

/// The name of a kernel module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct KernelModule(String);

impl KernelModule {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, crate::Fault> {
        // The kernel keeps 55 letters of a name.
        let fits = !text.is_empty()
            && text.len() <= 55
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            let stem = text.rsplit('/').next().unwrap_or_default();
            let stem = stem.split(".ko").next().unwrap_or_default();
            let shorter = (stem.len() < text.len()).then(|| Self::parse(stem).ok()).flatten();
            let hint = match shorter {
                Some(name) => format!("write `{}`", name.as_str()),
                None => "write a name such as `br_netfilter`".to_owned(),
            };
            Err(crate::Fault::new(format!("`{text}` is no kernel module"), hint))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

crate::decode::parsed!(KernelModule, {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,55}$"});

/// The value of a kernel setting; numbers may be written without quotes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct SysctlValue(String);

impl SysctlValue {
    /// Reads a value.
    pub fn parse(text: &str) -> Result<Self, crate::Fault> {
        if text.trim().is_empty() || text.contains('\n') {
            return Err(crate::Fault::new(
                "a kernel setting needs a value on one line",
                "write a number or a word",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// The value.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

crate::decode::parsed!(SysctlValue, {"type": ["string", "integer"], "pattern": "^[^\n]*\\S[^\n]*$"}, bare_numbers: true);
