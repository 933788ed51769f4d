//! The findings of this crate.

bringup_diag::codes! {
    /// There is no node group of that number in the document. No plan is made for it. Groups are counted from 0 in the
    /// order of `spec.nodeGroups`.
    GROUP_MISSING = "group/missing";
    /// A field that changes nothing with the platform, the way to join or the other fields beside it. It is probably meant for something else.
    WITHOUT_EFFECT = "group/field-without-effect";
    /// Labels and annotations of the cluster are parameters of hooks of cluster scope; without such hooks nobody reads
    /// them. Nodes do not get them. For labels on nodes write `labels` in the node group.
    METADATA_UNUSED = "cluster/metadata-without-effect";
    /// An EC2 instance type that the table of interfaces does not have. The node takes 110 pods unless `maxPods` says otherwise.
    INSTANCE_TYPE = "group/instance-type-unknown";
    /// The instance type has another processor than the group: nothing that is installed would run. Write the
    /// `architecture` that the type has, or name a type with the group's processor.
    ARCHITECTURE = "group/architecture-mismatch";
    /// The source of the node's name does not exist on this platform or with this version. The node would register
    /// under another name than the plan expects, or under none. Take `hostname` outside of EC2, and `private-dns`
    /// where kubelet asks EC2 itself (before 1.26).
    NODE_NAME = "group/node-name";
    /// The number of pods can be worked out from interfaces only for EC2 instance types. Elsewhere nothing says how
    /// many addresses a machine has, so that no number could be computed on the node. Write the number, or `platform:
    /// aws`.
    MAX_PODS_PLATFORM = "group/max-pods-platform";
    /// Only Nitro machines and bare metal can be given prefixes; on others the CNI plugin falls back to single
    /// addresses. More pods would be admitted than there are addresses, and stay in `ContainerCreating`. Remove
    /// `prefixDelegation`, or name a Nitro type.
    PREFIX_DELEGATION = "group/no-prefix-delegation";
    /// A node that takes no pods cannot run the pods that make it a node. The network plugin and kube-proxy are pods
    /// too, so that the node would never be ready. Write 1 or more, usually 110.
    MAX_PODS_ZERO = "group/max-pods-zero";
    /// So many pods on one node are more than Kubernetes is made for, or than the pod range has addresses. kubelet
    /// sets memory aside for each pod that it may take, and pods without an address stay in `ContainerCreating`. Write
    /// 110, or what the nodes can bear.
    MAX_PODS_MANY = "group/max-pods-many";
    /// Not a version that the operating system has. The image of a template is looked up by it, and the node's plan
    /// records it, so that a wrong one finds no image or misleads whoever reads the plan. Write the number as text,
    /// such as "24.04".
    OS_VERSION = "group/os-version";
    /// The machine does not read this carrier: it would boot and do nothing. User-data that nobody reads is no error
    /// for the cloud, so that the instance runs and costs, and never joins. Write the carrier that the hint names.
    CARRIER_NOT_READ = "carrier/not-read";
    /// Not every image of the operating system reads this carrier. On an image that lacks the program, the machine
    /// boots and never joins. Choose an image that has it, or another carrier.
    CARRIER_IMAGE = "carrier/needs-image";
    /// Units of the flavour are the agent under names that people know, and there is no agent. What waits for such a unit
    /// waits for nothing, and what adds to it is never read. Write `agent: image` or `agent: fetch`, or another `flavour`.
    FLAVOUR_AGENT = "flavour/needs-agent";
    /// Only a control-plane node can start the cluster. Starting a cluster means to run its API server and etcd, which
    /// a worker's plan does not contain. Write `role: control-plane`, or remove `bootstrap`.
    BOOTSTRAP_WORKER = "bootstrap/on-worker";
    /// Two groups would each start a cluster of their own. The nodes that join later would be spread over them,
    /// depending on which one answers. Keep `bootstrap: true` on one group.
    BOOTSTRAP_SEVERAL = "bootstrap/several-groups";
    /// The node that starts the cluster is to be the first that makes an object in S3, and no node of the group could
    /// make it. Every one of them would wait for another. Name an object, `s3://BUCKET/KEY`, in a group on AWS that has
    /// an agent.
    BOOTSTRAP_STORE = "bootstrap/store";
    /// Stages run on the node that starts the cluster, which is never a worker. The stage would never run, and what it
    /// installs would be missing from the cluster. Move it to a group with `role: control-plane`.
    STAGE_WORKER = "stage/on-worker";
    /// A stage in a group of which no node starts the cluster. What the stage installs would be missing from the
    /// cluster, without an error anywhere. Write `bootstrap: true` in the group, or a condition that holds on one of
    /// its nodes.
    STAGE_NEVER = "stage/never-runs";
    /// The version is older than the table of fields and flags; it is treated like the oldest that is known. Fields
    /// and flags that only later versions have may pass unnoticed, and those that went before are not known. Compare
    /// with `kubelet --help` of that version, or use a newer one.
    OLD_VERSION = "kubelet/old-version";
    /// The version is newer than the table of fields and flags; it is treated like the newest that is known. What this
    /// version has added or removed is not checked. Use a newer bringup, or read that version's notes on kubelet.
    NEW_VERSION = "kubelet/new-version";
    /// KubeletConfiguration has no such field in any version; kubelet decodes strictly and would not start. Correct
    /// the spelling as the hint says, or remove it: the node never joins otherwise.
    FIELD_UNKNOWN = "kubelet/field-unknown";
    /// The field came with a later version; this kubelet would not start. kubelet decodes its configuration strictly,
    /// so that the unit restarts for ever and the node never joins. Remove the field, or raise the version of
    /// Kubernetes.
    FIELD_NOT_YET = "kubelet/field-not-yet";
    /// The field is gone in this version; kubelet would not start. It restarts for ever with an error about the
    /// unknown field, and the node never joins. Write what the hint names in its place, or remove the field.
    FIELD_REMOVED = "kubelet/field-removed";
    /// The field still works and will not for ever. A later minor version removes it, and nodes that are upgraded then
    /// do not come back. Move to what the hint names before that upgrade.
    FIELD_DEPRECATED = "kubelet/field-deprecated";
    /// The value has another type than the field; kubelet would not start. A number in quotes, or text where a number
    /// belongs, is refused when the file is decoded, and the node never joins. Write the type that the message names.
    FIELD_TYPE = "kubelet/field-type";
    /// The value has the right type, and kubelet does not take it all the same. kubelet checks values when it starts,
    /// prints the fault into the journal and ends, so that the node never joins. Write one of the values that the hint
    /// names.
    FIELD_VALUE = "kubelet/field-value";
    /// A field that would break the join or contradict what the document says elsewhere. The node would not register,
    /// would be open to anybody, or would follow one of two answers. Remove it, and use the key of the document that
    /// the hint names.
    FIELD_RESERVED = "kubelet/field-reserved";
    /// Flags are written without leading dashes. Dashes are put before it when the command line is made, and with more
    /// of them kubelet does not know the flag and ends. Write `node-labels`, not `--node-labels` or `node_labels`.
    FLAG_NAME = "kubelet/flag-name";
    /// kubelet has no such flag in any version and would not start. It ends with its usage text at each start, and the
    /// node never joins. Correct the spelling as the hint says, or remove the flag.
    FLAG_UNKNOWN = "kubelet/flag-unknown";
    /// The flag came with a later version; this kubelet would not start. It ends with `unknown flag` at each start,
    /// and the node never joins. Remove the flag, or raise the version of Kubernetes.
    FLAG_NOT_YET = "kubelet/flag-not-yet";
    /// The flag is gone in this version; kubelet would not start. It ends with `unknown flag` at each start, and the
    /// node never joins. Write what the hint names in its place, or remove the flag.
    FLAG_REMOVED = "kubelet/flag-removed";
    /// The flag still works and will not for ever. A later minor version removes it, and nodes that are upgraded then
    /// do not come back. Write the field of `kubelet.config` that the hint names.
    FLAG_DEPRECATED = "kubelet/flag-deprecated";
    /// The flag does not take this value. kubelet ends at its start, or reads only the part before a line end. Write a
    /// value of the form that the hint shows.
    FLAG_VALUE = "kubelet/flag-value";
    /// A flag that the plan sets itself from another field of the document. Two answers to one question would stand on
    /// one command line, of which the last wins. Remove it, and use the key of the document that the hint names.
    FLAG_RESERVED = "kubelet/flag-reserved";
    /// Flags win over the configuration file, silently: whoever looks at the file is misled. The node behaves
    /// otherwise than its configuration file says. Write the field under `kubelet.config` instead of the flag.
    FLAG_SHADOWS = "kubelet/flag-shadows-field";
    /// Before 1.25 kubeadm has no way to give one node another kubelet configuration than the cluster's. What stands
    /// in `kubelet.config` of this group then has no effect on nodes that join. Set it in the group that starts the
    /// cluster, or use Kubernetes 1.25 or newer.
    KUBEADM_CONFIG = "kubelet/config-not-per-node";
    /// kubeadm has no phase of this name, and refuses to skip it. `kubeadm init` or `kubeadm join` then ends before it
    /// has done anything. Write a phase that the hint names; `kubeadm init --help` lists them.
    KUBEADM_PHASE = "kubeadm/phase-unknown";
    /// Not a name that an environment variable can have. systemd drops a line of an environment file that it cannot
    /// read, so that kubelet runs without the variable; one name holds the plan's own flags. Write letters, digits and
    /// `_`, not beginning with a digit.
    ENVIRONMENT_NAME = "kubelet/environment-name";
    /// Kubelet's variables are written one to a line: a value with a line end would be cut off. The rest would be read
    /// as a variable of its own, or dropped. Write the value on one line.
    ENVIRONMENT_VALUE = "kubelet/environment-value";
    /// A credential provider that kubelet could not run, or would never ask. Images of private registries then cannot
    /// be pulled, and their pods stay in `ImagePullBackOff`. Name a program without a path, and the registries in
    /// `matchImages` without a scheme.
    CREDENTIAL_PROVIDER = "kubelet/credential-provider";
    /// Not a name that Kubernetes allows for a label. kubelet does not start with it, or the API server refuses to
    /// register the node. Write an optional DNS domain with `/`, and then at most 63 letters, digits, `-`, `_` and
    /// `.`.
    LABEL_NAME = "label/name";
    /// Not a value that Kubernetes allows for a label. kubelet does not start with it, or the API server refuses to
    /// register the node. Write at most 63 letters, digits, `-`, `_` and `.`, beginning and ending with a letter or
    /// digit, or nothing.
    LABEL_VALUE = "label/value";
    /// kubelet refuses to start with labels of its own under `kubernetes.io` and `k8s.io` that are not on its list,
    /// and the API server refuses those under `node-restriction.kubernetes.io`. Choose another prefix, or let
    /// something with the rights of an administrator set the label after the node has joined.
    LABEL_REFUSED = "label/refused-by-kubelet";
    /// Not a name that Kubernetes allows for a taint. kubelet does not start with it, or the API server refuses to
    /// register the node. Write an optional DNS domain with `/`, and then at most 63 letters, digits, `-`, `_` and
    /// `.`.
    TAINT_NAME = "taint/name";
    /// Not a value that Kubernetes allows for a taint. kubelet does not start with it, or the API server refuses to
    /// register the node. Write at most 63 letters, digits, `-`, `_` and `.`, or nothing.
    TAINT_VALUE = "taint/value";
    /// Two taints with the same key and effect; the API server refuses the node. It never joins. Keep one of the two;
    /// the same key may stand there again only with another effect.
    TAINT_DUPLICATE = "taint/duplicate";
    /// A taint has no effect. kubelet would start, and the API server would refuse the node that it registers: it never
    /// joins. Write one of the three effects.
    TAINT_EFFECT = "taint/effect";
    /// kubeadm taints a control-plane node itself, but not one that is given taints. Any pod may then be put beside
    /// the API server and etcd. Add the taint that the hint names to the group's own.
    TAINT_REPLACED = "taint/replaces-kubeadms";
    /// No service of DNS can have the address: it is the range's own, the API server's or the one for broadcasts. Or it is there twice, or behind those that are asked.
    DNS_TAKEN = "network/dns-taken";
    /// Pods without an address of the cluster's DNS find no service by its name. The node joins and looks healthy
    /// while applications fail. Write `network.serviceRanges`, of which the tenth address is taken, or `network.dns`.
    DNS_MISSING = "network/no-dns";
    /// Ranges and addresses of IPv4 and IPv6 that do not fit each other. Pods or services of one family would have
    /// nobody to talk to, and the API server refuses several ranges of one family. Give each family one range, in the
    /// same order for pods and services.
    NETWORK_MIXED = "network/families";
    /// Pod and service ranges share addresses. A packet to such an address goes to a pod or to a service, depending on
    /// which rule is found first. Choose ranges that share no address.
    NETWORK_OVERLAP = "network/overlap";
    /// A range that is too large for services, or whose addresses are for something else. kubeadm or the API server
    /// refuses it, or traffic to the real owner of the addresses is lost. Choose a private range such as
    /// `10.100.0.0/16`.
    NETWORK_RANGE = "network/range";
    /// Not a domain that DNS allows. Pods get it as their search domain, and names of services under it would not be
    /// found. Write one such as `cluster.local`.
    NETWORK_DOMAIN = "network/domain";
    /// The address of the cluster's DNS is a service's, so that it must lie in a service range. No service can have an
    /// address outside of it, and pods would ask a resolver that never answers. Write an address within the range, or
    /// leave `dns` out to have the tenth.
    DNS_OUTSIDE = "network/dns-outside-range";
    /// Not an address of an API server. kubelet would have nowhere to register, and the node would never join. Write a
    /// URL with `https`, a host and, if it is not 443, a port.
    ENDPOINT = "api/endpoint";
    /// The way to join needs to know the API server. kubelet's kubeconfig would name no server, and the node would
    /// never join. Add `api.endpoint`, and the certificate authority that the server is known by.
    ENDPOINT_MISSING = "api/missing";
    /// Nothing lets a node tell the API server from an impostor. Whoever answers at the endpoint's address could take
    /// the join credentials and command the node. Add `api.certificateAuthority`, or for kubeadm
    /// `join.kubeadm.caCertHashes`.
    JOIN_TRUST = "join/no-trust";
    /// Without the cluster's authority kubelet refuses the calls of the API server: logs, exec and port forwarding
    /// fail. The node joins and runs pods all the same, so that it is noticed late. Add `api.certificateAuthority`
    /// with the cluster's CA.
    CLIENT_AUTHORITY = "join/no-client-authority";
    /// The way to join needs a token or a kubeconfig. The API server would answer with 401, and the node would never
    /// join. Add a reference to the secret, such as `{ssmParameter: /cluster/token}`; the secret itself does not
    /// belong into the document.
    JOIN_SECRET = "join/no-secret";
    /// The token of EKS is made by the agent; the AWS command line is never used on a node. Without it kubelet has no
    /// credentials, and the node never joins. Write `agent: image` or `agent: fetch`.
    JOIN_AGENT = "join/needs-agent";
    /// The way to join does not fit the platform or the role. There would be no credentials to join with, or a second
    /// control plane beside the one that EKS runs. Change `platform` or `role`, or join in another way.
    JOIN_PLATFORM = "join/platform";
    /// A secret in a file that the node would look for in no particular place. Which directory that is depends on the
    /// process that reads it, and the step that needs the secret fails. Write the whole path on the node, such as
    /// `/run/secrets/token`.
    SECRET_PATH = "secret/relative-path";
    /// An environment variable of the compiling machine cannot be read by a node that boots by itself. The step that
    /// needs the secret would fail there. Use `ssmParameter`, `secretsManager`, `s3` or a `file` on the node; over SSH
    /// a variable can be handed over.
    SECRET_ENVIRONMENT = "secret/not-on-the-node";
    /// Others than the owner could read the secret. Each process on the node, and each pod that mounts the directory,
    /// then has the secret. Write "0600", or leave `mode` out.
    SECRET_MODE = "secret/mode";
    /// Something on AWS needs to know the region. Registries, endpoints and tokens are different in each, so that
    /// nothing could be fetched and no node could join. Add `aws: {region: ...}`.
    AWS_MISSING = "aws/missing";
    /// Not an id or a name that AWS gives. The API would refuse the call at boot, or the stack when it is created,
    /// long after the build. Copy the id from the console or the command line, with its prefix.
    AWS_NAME = "aws/name";
    /// Not a region of AWS, or one of another partition. Host names of services and registries are made of it, and
    /// would not exist. Write a region such as `eu-central-1`, and leave `partition` out: it follows.
    REGION = "aws/region";
    /// Not the number of an AWS account. The sandbox image would be pulled from a registry that does not exist, and no
    /// pod would start. Write the 12 digits in quotes, so that YAML does not take them for a number.
    REGISTRY_ACCOUNT = "aws/registry-account";
    /// Not an address of a proxy. Each download and the image pulls of the runtime would fail on the node. Write a URL
    /// such as `http://proxy.example.com:3128`, and in `noProxy` single hosts, domains or ranges.
    PROXY = "proxy/address";
    /// A password in the proxy's address would be readable in user-data and in unit files. Everything on the machine,
    /// and everybody who may describe the instance, could read it. Let the proxy know the nodes by their addresses
    /// instead.
    PROXY_SECRET = "proxy/password";
    /// The machine has another role than the plan that it gets. A control-plane machine would be made a worker, or a
    /// worker a control plane. Remove `role`, or give the machine a group of that role.
    MACHINE_ROLE = "machine/role";
    /// Not a user that one can log in as. SSH would take it for a part of the address or for an option, and no
    /// connection would come about. Write the name alone, such as `root`.
    MACHINE_USER = "machine/user";
    /// Not an address of a machine. No connection would come about, and the machine would stay as it is. Write a host
    /// name or an IP address alone; port and user have keys of their own.
    MACHINE_ADDRESS = "machine/address";
    /// kubelet lost its support of docker in 1.24. It would look for a socket that speaks CRI and find none, so that
    /// the node is never ready. Write `containerd`; images stay the same.
    DOCKER_REMOVED = "runtime/docker-removed";
    /// Not a version of containerd whose configuration is known. The schema of the configuration depends on it, and
    /// containerd does not start with one that it cannot read. Write a version of 1.x or 2.x, such as `1.7.28`.
    RUNTIME_VERSION = "runtime/version";
    /// The versions of the runtime by minors of Kubernetes leave a minor out, name one twice, or cannot be told from what
    /// another field says. The node would get a runtime that nobody chose, or data would be set aside that is not the
    /// runtime's. Let each minor that the cluster may have be in exactly one entry of `runtime.versions`.
    RUNTIME_VERSIONS = "runtime/versions";
    /// Not a name of an image. The sandbox image is needed for every pod, so that none would start. Write a name with
    /// its registry and tag, such as `registry.k8s.io/pause:3.10`.
    RUNTIME_IMAGE = "runtime/image";
    /// The fragment of containerd's configuration is no TOML. containerd would not start with it, and the node would
    /// never be ready. Correct the line that the message names; it counts within the fragment.
    RUNTIME_TOML = "runtime/toml";
    /// The fragment of containerd's configuration is written in another schema than this containerd reads. Its plugins
    /// have other names there: containerd ignores the settings, or does not start. Write the `version` that the hint
    /// names; `containerd config migrate` shows how.
    RUNTIME_SCHEMA = "runtime/schema";
    /// The fragment of containerd's configuration leaves it without what kubelet needs: the plugin that kubelet speaks to is
    /// turned off, or the default runtime is described nowhere. containerd would start, and no pod ever would. Remove the
    /// line that the message names, or describe the runtime under `runtimes`.
    RUNTIME_UNUSABLE = "runtime/unusable";
    /// kubelet and the runtime go by different drivers of control groups: no pod would start. Say the same in
    /// `kubelet.config.cgroupDriver` and in the runtime's configuration, or leave kubelet's out: it follows.
    RUNTIME_DRIVER = "runtime/cgroup-driver";
    /// Whether containers run in NVIDIA's runtime hangs on the image. nodeadm and `bootstrap.sh` see that on the node; what
    /// stands in for them goes by the instance types, or by the name of the image's parameter. Where these leave it open,
    /// pods that want a GPU may find none: write the runtime into `runtime.config`, as the hint has it.
    RUNTIME_NVIDIA = "runtime/nvidia";
    /// kubelet looks for the runtime on another socket than the one that it listens on. kubelet then waits for the
    /// runtime and ends, and the node is never ready. Remove the endpoint, or say the same under `[grpc]` in
    /// `runtime.config`.
    RUNTIME_SOCKET = "runtime/socket";
    /// A file has exactly one source. With several nobody can say which one the node would get, and with none there is
    /// nothing to write. Keep one of `content`, `src`, `urls` and `secret`.
    FILE_SOURCE = "file/source";
    /// What is fetched needs a digest, and what is given must have the one that is written. Without it, whoever can
    /// change what the URL returns can change every node that boots later. Add `sha256:` with what `sha256sum FILE`
    /// prints.
    FILE_DIGEST = "file/digest";
    /// The content is no base64. The node could not decode it, and the phase `fetch` would fail. Paste what `base64
    /// FILE` prints, or write `encoding: text`.
    FILE_BASE64 = "file/base64";
    /// The file beside the document cannot be used. Its content is taken when the document is built, so that the node
    /// would get nothing. Name a file or directory beside the document that can be read.
    FILE_SRC = "file/src";
    /// The directory beside the document has no files. The node would get nothing, not even the directory. Put files
    /// into it, or use `directories` to make an empty one.
    FILE_EMPTY = "file/empty-directory";
    /// Two things are to be at one path. One would replace the other, and which one depends on the order of steps.
    /// Keep one of them, or give it another path.
    FILE_DUPLICATE = "file/duplicate-path";
    /// The plan writes this file itself; the operator's would be overwritten or break it. Change what is in there with
    /// `kubelet.config`, `runtime.config` and the like, or write to another path.
    FILE_GENERATED = "file/generated-path";
    /// A path beneath a link or a file: it would land elsewhere, or nowhere. Which of the two depends on what the link
    /// points to when the file is written. Write the path that is really meant.
    FILE_BENEATH = "file/beneath-link";
    /// Flatcar's `/usr`, and with it `/bin`, `/sbin` and `/lib`, cannot be written to. The write fails at boot, and
    /// the phase `fetch` with it. Use a path such as `/opt/…` or `/etc/…`.
    FILE_READ_ONLY = "file/read-only-path";
    /// The owner of a directory cannot enter it with this mode, so that what is in it cannot be used by its programs.
    /// Give the owner the `x` bit, as in "0755".
    FILE_MODE = "file/mode";
    /// What is written there is gone after a boot. Such directories live in memory and are made anew, so that the node
    /// differs after its first restart. Use a path such as `/etc/…` or `/opt/…`.
    FILE_VOLATILE = "file/volatile-path";
    /// Not a target of a link. A link without one, or with itself as target, cannot be opened, and programs that
    /// follow it fail. Write a path such as `/usr/lib/example`.
    LINK_TARGET = "link/target";
    /// Two assets have the same name. Assets are fetched under their names, so that one would take the place of the
    /// other. Give one of them another name.
    ASSET_DUPLICATE = "asset/duplicate-name";
    /// There is nowhere to fetch it from. The phase `fetch` could never end well on the node. Write at least one
    /// address under `urls`; further ones are mirrors.
    NO_URL = "asset/no-url";
    /// The operating system does not have this source of software. The installation would fail at boot, and the node
    /// would stop before kubelet. Write a source that the system has: `package`, `url`, or on Flatcar `extension`.
    SOFTWARE_SOURCE = "software/source";
    /// Not a name of a package. The package manager would take it for several packages, for an option, or for one that
    /// does not exist. Write one name for each item, such as `kubelet`.
    SOFTWARE_PACKAGE = "software/package";
    /// There is no download for the group's architecture. The node would have nothing to install, or a program that
    /// its processor cannot run. Write `urls` and `sha256` under `downloads` for that architecture.
    SOFTWARE_DOWNLOAD = "software/download";
    /// The version of a program does not fit the cluster's, or two places name different versions of it. kubelet may
    /// not be newer than the API server and only a few minors older; outside of that the node misbehaves or never
    /// joins. Write one version, in one place.
    SOFTWARE_VERSION = "software/version";
    /// Not a name of a kernel setting. The kernel has no file for it, and setting it fails at boot. Write a name with
    /// dots, such as `vm.max_map_count`, and each name once.
    SYSCTL_NAME = "sysctl/name";
    /// kubelet or the pod network needs another value. kubelet does not start with `protectKernelDefaults`, or pods
    /// cannot reach each other. Remove the setting, or take the value that the message names.
    SYSCTL_NEEDED = "sysctl/needed";
    /// Not a single argument of the kernel's command line. With a space inside, the kernel would see two arguments, of
    /// which it ignores what it does not know. Write each argument as an item of its own, once.
    KERNEL_ARGUMENT = "kernel/argument";
    /// Something takes effect only after a reboot, and the policy forbids it. The node would run without it until
    /// somebody reboots it by hand. Write `reboot: {policy: if-needed}`, or remove what needs the reboot.
    REBOOT_NEEDED = "reboot/needed";
    /// A swap file needs a size. Without one there is no file that could be made, and the node would run without swap.
    /// Write `{policy: file, sizeMiB: 2048}` with a size of your own.
    SWAP_SIZE = "swap/size";
    /// Pods cannot use swap with this version of Kubernetes or this system. It would serve the system's own processes
    /// only. Write `off` or `keep`, or use a newer version or system.
    SWAP_VERSION = "swap/unsupported";
    /// Not a name that systemd takes for a unit or a drop-in. systemd ignores a file under such a name, and what it
    /// should start never starts. Write a name with its type, such as `example.service`; a drop-in ends in `.conf`.
    UNIT_NAME = "unit/name";
    /// Not what systemd takes for a unit file: it would ignore it, or refuse to start the unit. The fault is in the
    /// journal only. Begin with a section, give a service its `ExecStart=`, and name a mount after its path.
    UNIT_CONTENT = "unit/content";
    /// Two units or drop-ins have the same name. They would be written to one file, and one of them would be lost.
    /// Join them, or give one another name; one unit may have several drop-ins.
    UNIT_DUPLICATE = "unit/duplicate";
    /// The plan brings this unit or drop-in itself. A second one would replace what the plan relies on, and the node
    /// might never join. Use `dropIns` with names of your own to change it.
    UNIT_RESERVED = "unit/reserved";
    /// A masked unit is never started: everything else about it is lost. systemd links it to `/dev/null`, so that even
    /// other units that want it cannot start it. Remove `mask`, or everything else.
    UNIT_MASK = "unit/masked";
    /// Enabling a unit without an [Install] section does nothing. systemd does not know which target should start it,
    /// and at boot it does not run. Add `[Install]` with `WantedBy=multi-user.target`, or remove `enabled`.
    UNIT_INSTALL = "unit/no-install";
    /// Two steps have the same name. The journal of the node tells steps apart by their names, and `before` and
    /// `after` would mean either. Give one of them another name.
    STEP_DUPLICATE = "step/duplicate-name";
    /// Not an assertion on the order of units. An assertion that cannot be read checks nothing. Write `A before B`, `A
    /// succeeds before B`, `B eventually active` or `B never while not network-online`.
    ORDER_SYNTAX = "order/syntax";
    /// An assertion on order about something that the node will not have. What is never there is never in the wrong
    /// order, so that the assertion would check nothing. Name a phase, a step, a hook, or a unit with its suffix.
    ORDER_UNKNOWN = "order/unknown-name";
    /// The name belongs to a phase or to a step of the plan itself. `before` and `after`, and the journal of the node,
    /// could not tell the two apart. Give the step another name.
    STEP_RESERVED = "step/reserved-name";
    /// A step has exactly one of `run` and `script`. With both nobody can say which one is meant, and with neither the
    /// step does nothing. Keep one: `run` for a program with its arguments, `script` for text with a shebang.
    STEP_COMMAND = "step/command";
    /// A script must name the program that reads it. The kernel refuses to run a text file that does not, and the step
    /// fails on the node. Begin it with a line such as `#!/bin/sh`.
    STEP_SHEBANG = "step/no-shebang";
    /// A command is never seen by a shell: words are not split, and operators are arguments. The program is not found,
    /// or gets `&&` and `>` as arguments. Write each word as an item of its own, or use `script: |` with a shebang.
    STEP_SHELL = "step/no-shell";
    /// A step needs at least one attempt. With none it would never run, and the node would go on as if it had. Write 1
    /// or more in `attempts`, or remove the step.
    STEP_ATTEMPTS = "step/attempts";
    /// A step needs time, and a node should not wait for days. With no time it fails at once, and with more than a day
    /// nobody hears that it hangs. Write a time such as `10m` or `1h`.
    STEP_TIME = "step/time";
    /// Not a name that an environment variable can have. The program would run without it, or not at all. Write
    /// letters, digits and `_`, not beginning with a digit.
    STEP_ENVIRONMENT = "step/environment-name";
    /// `before` or `after` names neither a phase nor a step. The step would have no place in the order. Write the name
    /// of a phase, such as `fetch` or `kubelet`, or of a step of this group.
    STEP_UNKNOWN = "step/unknown-name";
    /// Steps that wait for each other. None of them could ever be the first, and the node would stop there. Remove one
    /// `before` or `after` among them.
    STEP_CYCLE = "step/cycle";
    /// A step that must be before something earlier and after something later, or that uses facts or its script before
    /// the node has them. There is no place for it in the order. Compare with the phases that the hint names, and
    /// change `before` or `after`.
    STEP_IMPOSSIBLE = "step/impossible";
    /// Two hooks have the same name. The journal of the node and its reports tell hooks apart by their names. Give one
    /// of them another name.
    HOOK_DUPLICATE = "hook/duplicate-name";
    /// A hook of cluster scope runs on the first control-plane node, and there is none. It would never run, without an
    /// error anywhere. Move the hook to `spec.hooks` or to a control-plane group, or use a hook of the nodes.
    HOOK_WORKER = "hook/no-control-plane";
    /// A hook of the cluster's installation runs on the node that starts the cluster, and nothing says which node that
    /// is. It is kept in the plan for whoever drives the cluster; no node runs it by itself. Write `bootstrap` in a
    /// control-plane group, or name the machines: the first of the control plane starts the cluster.
    HOOK_NOBODY = "hook/nobody-starts";
    /// Beside the document lies a program that tkestack's installer would run: `hooks/pre-install`,
    /// `hooks/post-cluster-ready` or `hooks/post-install`. Nothing of ours goes through that folder. Give it a place in the
    /// document, as the hint says: there it is recorded, tried again, and gone on with after a loss of power.
    HOOK_INSTALLER = "hook/of-the-installer";
    /// The signal does not say whom it is for. Whoever waits for it would wait until its timeout, and take a good node
    /// for a failed one. Add the key that the hint names; a URL begins with `https://`.
    SIGNAL_TARGET = "signal/target";
    /// The signal goes to AWS, and the group is elsewhere. There is no API and no credentials for it, so that the
    /// signal fails when everything else is done. Write `http` or `file`, or `platform: aws`.
    SIGNAL_PLATFORM = "signal/platform";
    /// A life-cycle hook that nobody completes holds every new node until it times out. After that Auto Scaling takes
    /// the default result, which may be to end the instance. Add `signals: [{kind: lifecycle-action}]`.
    SIGNAL_HOOK = "signal/hook-not-completed";
    /// The agent is to be fetched, and there is no download for the group's architecture. The first stage would have
    /// nothing to start, and the machine would boot and do nothing. Write `agent.downloads` for it; `bringup publish`
    /// prints address and digest.
    AGENT_DOWNLOAD = "agent/download";
    /// Machines that are reached over SSH. Their addresses are in no plan and no carrier: the tar of the group is copied there.
    MACHINES = "machine/over-ssh";
    /// How nodes are upgraded, as the document says it. It shapes no plan and no carrier: whoever drives the upgrade of
    /// the cluster reads it from the document. Nothing on a node upgrades it by itself.
    UPGRADE = "upgrade/by-driver";
    /// A fact that only EC2's metadata service has, on another platform. The agent would not know it, and the step
    /// that uses it would fail. Write `platform: aws`, give the agent a facts file, or write the value itself.
    FACT_PLATFORM = "fact/platform";
    /// nodeadm does something that we would do otherwise. Where a NodeConfig is run, nodeadm's answer stands; the message
    /// says what ours would have been.
    NODEADM_DIFFERS = "nodeadm/differs";
    /// What a NodeConfig says of containerd is no TOML, or of a schema that the machine's containerd does not read.
    /// nodeadm stops there, and so the node is not brought up.
    NODEADM_CONTAINERD = "nodeadm/containerd-config";
    /// A `maxPodsExpression` that gives no number of pods. What CEL refuses, nodeadm passes over: the node takes as many
    /// pods as its instance type has addresses. What is not understood here is an error: nodeadm might take it.
    NODEADM_EXPRESSION = "nodeadm/max-pods-expression";
    /// The version of kubelet or containerd is not known, and much depends on it. Put it into
    /// `/etc/eks/kubelet-version.txt` and `/etc/eks/containerd-version.txt`, as EKS' images do.
    NODEADM_VERSION = "nodeadm/version-unknown";
    /// What `bootstrap` was told does not say where the cluster is or how to reach it: the API server, its authority, the
    /// DNS, the id of a local cluster. The node could not join. Give the flags that the hint names.
    BOOTSTRAP_CLUSTER = "bootstrap/cluster";
    /// The image lacks something that `bootstrap.sh` works with, or has it in a form that cannot be read. Use an image of
    /// EKS with Amazon Linux 2, or mend it as the hint says.
    BOOTSTRAP_IMAGE = "bootstrap/image";
    /// A container runtime that cannot be had, or that would not start with its configuration. Correct what the hint names.
    BOOTSTRAP_RUNTIME = "bootstrap/runtime";
    /// A flag of `bootstrap` that counts for nothing beside the others, such as docker's with containerd, or an endpoint
    /// without its authority. The node comes up without what it was to do. Remove it, or give what it needs.
    BOOTSTRAP_IGNORED = "bootstrap/without-effect";
    /// What `bootstrap.sh` does and Bringup would do otherwise, or the other way round. The script's answer stands; the hint
    /// says what to do about it, if anything.
    BOOTSTRAP_DIFFERS = "bootstrap/differs";
}
