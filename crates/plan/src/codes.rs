//! The findings of this crate.

bringup_diag::codes! {
    /// There is no node group of that number in the document.
    GROUP_MISSING = "group/missing";
    /// A field that changes nothing with the platform, the way to join or the other fields beside it. It is probably meant for something else.
    WITHOUT_EFFECT = "group/field-without-effect";
    /// Labels and annotations of the cluster are parameters of hooks of cluster scope; without such hooks nobody reads them.
    METADATA_UNUSED = "cluster/metadata-without-effect";
    /// An EC2 instance type that the table of interfaces does not have. The node takes 110 pods unless `maxPods` says otherwise.
    INSTANCE_TYPE = "group/instance-type-unknown";
    /// The instance type has another processor than the group: nothing that is installed would run.
    ARCHITECTURE = "group/architecture-mismatch";
    /// The source of the node's name does not exist on this platform or with this version.
    NODE_NAME = "group/node-name";
    /// The number of pods can be worked out from interfaces only for EC2 instance types.
    MAX_PODS_PLATFORM = "group/max-pods-platform";
    /// Only Nitro machines and bare metal can be given prefixes; on others the CNI plugin falls back to single addresses.
    PREFIX_DELEGATION = "group/no-prefix-delegation";
    /// A node that takes no pods cannot run the pods that make it a node.
    MAX_PODS_ZERO = "group/max-pods-zero";
    /// So many pods on one node are more than Kubernetes is made for, or than the pod range has addresses.
    MAX_PODS_MANY = "group/max-pods-many";
    /// Not a version that the operating system has.
    OS_VERSION = "group/os-version";
    /// The machine does not read this carrier: it would boot and do nothing.
    CARRIER_NOT_READ = "carrier/not-read";
    /// Not every image of the operating system reads this carrier.
    CARRIER_IMAGE = "carrier/needs-image";
    /// Only a control-plane node can start the cluster.
    BOOTSTRAP_WORKER = "bootstrap/on-worker";
    /// Two groups would each start a cluster of their own.
    BOOTSTRAP_SEVERAL = "bootstrap/several-groups";
    /// Stages run on the node that starts the cluster, which is never a worker.
    STAGE_WORKER = "stage/on-worker";
    /// A stage in a group of which no node starts the cluster.
    STAGE_NEVER = "stage/never-runs";
    /// The version is older than the table of fields and flags; it is treated like the oldest that is known.
    OLD_VERSION = "kubelet/old-version";
    /// The version is newer than the table of fields and flags; it is treated like the newest that is known.
    NEW_VERSION = "kubelet/new-version";
    /// KubeletConfiguration has no such field in any version; kubelet decodes strictly and would not start.
    FIELD_UNKNOWN = "kubelet/field-unknown";
    /// The field came with a later version; this kubelet would not start.
    FIELD_NOT_YET = "kubelet/field-not-yet";
    /// The field is gone in this version; kubelet would not start.
    FIELD_REMOVED = "kubelet/field-removed";
    /// The field still works and will not for ever.
    FIELD_DEPRECATED = "kubelet/field-deprecated";
    /// The value has another type than the field; kubelet would not start.
    FIELD_TYPE = "kubelet/field-type";
    /// The value has the right type, and kubelet does not take it all the same.
    FIELD_VALUE = "kubelet/field-value";
    /// A field that would break the join or contradict what the document says elsewhere.
    FIELD_RESERVED = "kubelet/field-reserved";
    /// Flags are written without leading dashes.
    FLAG_NAME = "kubelet/flag-name";
    /// kubelet has no such flag in any version and would not start.
    FLAG_UNKNOWN = "kubelet/flag-unknown";
    /// The flag came with a later version; this kubelet would not start.
    FLAG_NOT_YET = "kubelet/flag-not-yet";
    /// The flag is gone in this version; kubelet would not start.
    FLAG_REMOVED = "kubelet/flag-removed";
    /// The flag still works and will not for ever.
    FLAG_DEPRECATED = "kubelet/flag-deprecated";
    /// The flag does not take this value.
    FLAG_VALUE = "kubelet/flag-value";
    /// A flag that the plan sets itself from another field of the document.
    FLAG_RESERVED = "kubelet/flag-reserved";
    /// Flags win over the configuration file, silently: whoever looks at the file is misled.
    FLAG_SHADOWS = "kubelet/flag-shadows-field";
    /// Before 1.25 kubeadm has no way to give one node another kubelet configuration than the cluster's.
    KUBEADM_CONFIG = "kubelet/config-not-per-node";
    /// kubeadm has no phase of this name, and refuses to skip it.
    KUBEADM_PHASE = "kubeadm/phase-unknown";
    /// Not a name that an environment variable can have.
    ENVIRONMENT_NAME = "kubelet/environment-name";
    /// Kubelet's variables are written one to a line: a value with a line end would be cut off.
    ENVIRONMENT_VALUE = "kubelet/environment-value";
    /// A credential provider that kubelet could not run, or would never ask.
    CREDENTIAL_PROVIDER = "kubelet/credential-provider";
    /// Not a name that Kubernetes allows for a label.
    LABEL_NAME = "label/name";
    /// Not a value that Kubernetes allows for a label.
    LABEL_VALUE = "label/value";
    /// kubelet refuses to start with labels of its own under `kubernetes.io` and `k8s.io` that are not on its list, and the API server refuses those under `node-restriction.kubernetes.io`.
    LABEL_REFUSED = "label/refused-by-kubelet";
    /// Not a name that Kubernetes allows for a taint.
    TAINT_NAME = "taint/name";
    /// Not a value that Kubernetes allows for a taint.
    TAINT_VALUE = "taint/value";
    /// Two taints with the same key and effect; the API server refuses the node.
    TAINT_DUPLICATE = "taint/duplicate";
    /// kubeadm taints a control-plane node itself, but not one that is given taints.
    TAINT_REPLACED = "taint/replaces-kubeadms";
    /// No service of DNS can have the address: it is the range's own, the API server's or the one for broadcasts. Or it is there twice, or behind those that are asked.
    DNS_TAKEN = "network/dns-taken";
    /// Pods without an address of the cluster's DNS find no service by its name.
    DNS_MISSING = "network/no-dns";
    /// Ranges and addresses of IPv4 and IPv6 that do not fit each other.
    NETWORK_MIXED = "network/families";
    /// Pod and service ranges share addresses.
    NETWORK_OVERLAP = "network/overlap";
    /// A range that is too large or too small for services, or whose addresses are for something else.
    NETWORK_RANGE = "network/range";
    /// Not a domain that DNS allows.
    NETWORK_DOMAIN = "network/domain";
    /// The address of the cluster's DNS is a service's, so that it must lie in a service range.
    DNS_OUTSIDE = "network/dns-outside-range";
    /// Not an address of an API server.
    ENDPOINT = "api/endpoint";
    /// The way to join needs to know the API server.
    ENDPOINT_MISSING = "api/missing";
    /// Nothing lets a node tell the API server from an impostor.
    JOIN_TRUST = "join/no-trust";
    /// Without the cluster's authority kubelet refuses the calls of the API server: logs, exec and port forwarding fail.
    CLIENT_AUTHORITY = "join/no-client-authority";
    /// The way to join needs a token or a kubeconfig.
    JOIN_SECRET = "join/no-secret";
    /// The token of EKS is made by the agent; the AWS command line is never used on a node.
    JOIN_AGENT = "join/needs-agent";
    /// The way to join does not fit the platform or the role.
    JOIN_PLATFORM = "join/platform";
    /// A secret in a file that the node would look for in no particular place.
    SECRET_PATH = "secret/relative-path";
    /// An environment variable of the compiling machine cannot be read by a node that boots by itself.
    SECRET_ENVIRONMENT = "secret/not-on-the-node";
    /// Others than the owner could read the secret.
    SECRET_MODE = "secret/mode";
    /// Something on AWS needs to know the region.
    AWS_MISSING = "aws/missing";
    /// Not an id or a name that AWS gives.
    AWS_NAME = "aws/name";
    /// Not a region of AWS, or one of another partition.
    REGION = "aws/region";
    /// Not the number of an AWS account.
    REGISTRY_ACCOUNT = "aws/registry-account";
    /// Not an address of a proxy.
    PROXY = "proxy/address";
    /// A password in the proxy's address would be readable in user-data and in unit files.
    PROXY_SECRET = "proxy/password";
    /// The machine has another role than the plan that it gets.
    MACHINE_ROLE = "machine/role";
    /// Not a user that one can log in as.
    MACHINE_USER = "machine/user";
    /// Not an address of a machine.
    MACHINE_ADDRESS = "machine/address";
    /// kubelet lost its support of docker in 1.24.
    DOCKER_REMOVED = "runtime/docker-removed";
    /// Not a version of containerd whose configuration is known.
    RUNTIME_VERSION = "runtime/version";
    /// Not a name of an image.
    RUNTIME_IMAGE = "runtime/image";
    /// The fragment of containerd's configuration is no TOML.
    RUNTIME_TOML = "runtime/toml";
    /// The fragment of containerd's configuration is written in another schema than this containerd reads.
    RUNTIME_SCHEMA = "runtime/schema";
    /// kubelet and the runtime go by different drivers of control groups: no pod would start.
    RUNTIME_DRIVER = "runtime/cgroup-driver";
    /// kubelet looks for the runtime on another socket than the one that it listens on.
    RUNTIME_SOCKET = "runtime/socket";
    /// A file has exactly one source.
    FILE_SOURCE = "file/source";
    /// What is fetched needs a digest, and what is given must have the one that is written.
    FILE_DIGEST = "file/digest";
    /// The content is no base64.
    FILE_BASE64 = "file/base64";
    /// The file beside the document cannot be used.
    FILE_SRC = "file/src";
    /// The directory beside the document has no files.
    FILE_EMPTY = "file/empty-directory";
    /// Two things are to be at one path.
    FILE_DUPLICATE = "file/duplicate-path";
    /// The plan writes this file itself; the operator's would be overwritten or break it.
    FILE_GENERATED = "file/generated-path";
    /// A path beneath a link or a file: it would land elsewhere, or nowhere.
    FILE_BENEATH = "file/beneath-link";
    /// Flatcar's `/usr`, and with it `/bin`, `/sbin` and `/lib`, cannot be written to.
    FILE_READ_ONLY = "file/read-only-path";
    /// A mode that makes no use of what it is the mode of.
    FILE_MODE = "file/mode";
    /// What is written there is gone after a boot.
    FILE_VOLATILE = "file/volatile-path";
    /// Not a target of a link.
    LINK_TARGET = "link/target";
    /// Two assets have the same name.
    ASSET_DUPLICATE = "asset/duplicate-name";
    /// There is nowhere to fetch it from.
    NO_URL = "asset/no-url";
    /// The operating system does not have this source of software.
    SOFTWARE_SOURCE = "software/source";
    /// Not a name of a package.
    SOFTWARE_PACKAGE = "software/package";
    /// There is no download for the group's architecture.
    SOFTWARE_DOWNLOAD = "software/download";
    /// The version of a program does not fit the cluster's, or two places name different versions of it.
    SOFTWARE_VERSION = "software/version";
    /// Not a name of a kernel setting.
    SYSCTL_NAME = "sysctl/name";
    /// kubelet or the pod network needs another value.
    SYSCTL_NEEDED = "sysctl/needed";
    /// Not a single argument of the kernel's command line.
    KERNEL_ARGUMENT = "kernel/argument";
    /// Something takes effect only after a reboot, and the policy forbids it.
    REBOOT_NEEDED = "reboot/needed";
    /// A swap file needs a size.
    SWAP_SIZE = "swap/size";
    /// Pods cannot use swap with this version of Kubernetes or this system.
    SWAP_VERSION = "swap/unsupported";
    /// Not a name that systemd takes for a unit or a drop-in.
    UNIT_NAME = "unit/name";
    /// Not what systemd takes for a unit file: it would ignore it, or refuse to start the unit.
    UNIT_CONTENT = "unit/content";
    /// Two units or drop-ins have the same name.
    UNIT_DUPLICATE = "unit/duplicate";
    /// The plan brings this unit or drop-in itself.
    UNIT_RESERVED = "unit/reserved";
    /// A masked unit is never started: everything else about it is lost.
    UNIT_MASK = "unit/masked";
    /// Enabling a unit without an [Install] section does nothing.
    UNIT_INSTALL = "unit/no-install";
    /// Two steps have the same name.
    STEP_DUPLICATE = "step/duplicate-name";
    /// Not an assertion on the order of units.
    ORDER_SYNTAX = "order/syntax";
    /// An assertion on order about something that the node will not have.
    ORDER_UNKNOWN = "order/unknown-name";
    /// The name belongs to a phase or to a step of the plan itself.
    STEP_RESERVED = "step/reserved-name";
    /// A step has exactly one of `run` and `script`.
    STEP_COMMAND = "step/command";
    /// A script must name the program that reads it.
    STEP_SHEBANG = "step/no-shebang";
    /// A command is never seen by a shell: words are not split, and operators are arguments.
    STEP_SHELL = "step/no-shell";
    /// A step needs at least one attempt.
    STEP_ATTEMPTS = "step/attempts";
    /// A step needs time, and a node should not wait for days.
    STEP_TIME = "step/time";
    /// Not a name that an environment variable can have.
    STEP_ENVIRONMENT = "step/environment-name";
    /// `before` or `after` names neither a phase nor a step.
    STEP_UNKNOWN = "step/unknown-name";
    /// Steps that wait for each other.
    STEP_CYCLE = "step/cycle";
    /// A step that must be before something earlier and after something later.
    STEP_IMPOSSIBLE = "step/impossible";
    /// Two hooks have the same name.
    HOOK_DUPLICATE = "hook/duplicate-name";
    /// A hook of cluster scope runs on the first control-plane node, and there is none.
    HOOK_WORKER = "hook/no-control-plane";
    /// The signal does not say whom it is for.
    SIGNAL_TARGET = "signal/target";
    /// The signal goes to AWS, and the group is elsewhere.
    SIGNAL_PLATFORM = "signal/platform";
    /// A life-cycle hook that nobody completes holds every new node until it times out.
    SIGNAL_HOOK = "signal/hook-not-completed";
    /// The agent is to be fetched, and there is no download for the group's architecture.
    AGENT_DOWNLOAD = "agent/download";
    /// Machines that are reached over SSH. Their addresses are in no plan and no carrier: the tar of the group is copied there.
    MACHINES = "machine/over-ssh";
    /// A fact that only EC2's metadata service has, on another platform.
    FACT_PLATFORM = "fact/platform";
}
