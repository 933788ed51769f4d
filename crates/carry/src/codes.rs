//! The findings of this crate.

bringup_diag::codes! {
    /// The carrier is larger than the platform takes, compressed and all. The machine would not launch, or would start with
    /// user-data cut off.
    OVER_BUDGET = "size/over-budget";
    /// The plan no longer fits into the user-data and is fetched instead: it must be uploaded before a machine starts.
    /// A machine that starts earlier tries again and again, and joins only once the plan is there. Upload what
    /// `bringup publish` lays out first. With kops' flavour, an agent that is fetched and `--base-url` it is always so: the
    /// user-data has the plan's digest, and changes whenever the plan does.
    FETCHED_PLAN = "size/fetched-plan";
    /// The carrier is larger than some platforms take. The document does not say which platform it is for. Where it is
    /// too large the machine does not launch, or its user-data is cut off. Compare with the platforms that the message
    /// names; files given as `urls` with `sha256` make it smaller.
    SOME_PLATFORMS = "size/some-platforms";
    /// The template is larger than CloudFormation takes in a call; it has to be uploaded to S3 first. `aws
    /// cloudformation create-stack --template-body` refuses it. Use `--template-url`, or `aws cloudformation deploy`
    /// with `--s3-bucket`, which uploads by itself.
    TEMPLATE_SIZE = "size/template";
    /// Parts that one cloud-config cannot hold were asked for with the carrier `cloud-init`; it became a multipart
    /// message. cloud-init reads both in the same way. Write the carrier `multipart` to say so in the document.
    FORCES_MULTIPART = "part/forces-multipart";
    /// An encoding of user-data is asked for, and no carrier of the group is user-data. A template encodes what is in it by
    /// itself.
    ENCODING_UNUSED = "carrier/encoding-unused";
    /// A part of user-data that the carrier has no place for. The machine would boot without it, and nobody would
    /// notice. Write it as a step, a file or a unit of the node group, or take a carrier for cloud-init.
    NOT_CARRIED = "part/not-carried";
    /// A part whose content could not be found. The part would be empty on the node. Write `content`, or in `src` the
    /// name of a file beside the document, and not both.
    PART_SOURCE = "part/source";
    /// The document says that there is no agent on the node, but a step needs one. Carriers without one can only write
    /// files and units and run commands. Write `agent: image` or `agent: fetch`, or leave the step out.
    AGENT_NEEDED = "agent/needed";
    /// There is no agent on the node, and the carrier's own script does what it can. The message says which guarantees
    /// are lost with it. Nothing has to be changed where that is meant.
    WITHOUT_AGENT = "agent/without";
    /// An address of the agent that the first stage cannot fetch from: it has only curl or wget. `s3://` needs signed
    /// calls, which only the agent can make. Write an address with https, such as a pre-signed one.
    AGENT_SCHEME = "agent/scheme";
    /// Ignition fetches a file from one address only; the mirrors are not used. If that address does not answer,
    /// Ignition tries again for ever and the machine does not finish its first boot. Name the mirror that must work
    /// first.
    ONE_SOURCE = "ignition/one-source";
    /// The config needs a newer specification of Ignition than most images read. An older Ignition refuses the config
    /// as a whole, and the machine does not start. Leave out the special bits of the mode, or let the agent write the
    /// file.
    NEWER_SPEC = "ignition/newer-spec";
    /// Something of the node group that the node agent of EKS images cannot do. The node joins without it. Take the
    /// carrier `multipart` or `cloud-init`, whose agent does it, or leave it out.
    NODECONFIG = "nodeconfig/not-carried";
    /// A call of `bootstrap.sh` has no place for something that the document asks for. The node comes up without it. Take
    /// it away, or write `userData: plan` in `launch`, whose agent does it.
    BOOTSTRAP_LOST = "carrier/bootstrap-lost";
    /// A template that calls `bootstrap.sh` where no such script can be. The node would never join. Use Amazon Linux 2
    /// or Ubuntu's image for EKS, or an image with our agent in the script's place.
    BOOTSTRAP_SCRIPT = "carrier/bootstrap-script";
    /// A step that the node agent of EKS images lets run, but not quite when it was to run. The message says what differs.
    /// Take the carrier `multipart` with an agent, which keeps it, or see that the step can do with it.
    NODECONFIG_ORDER = "nodeconfig/order";
    /// Something that the node agent of EKS images must be told, and that the document does not say. `nodeadm` ends
    /// with an error at boot, and the node never joins. Write what the hint names; `aws eks describe-cluster` prints
    /// it.
    NODECONFIG_MISSING = "nodeconfig/missing";
    /// Configs that refer to configs, more often than can be meant. Ignition itself follows them at boot, each with a
    /// fetch that can fail. Put what they hold into one config.
    IGNITION_DEPTH = "ignition/too-deep";
    /// A version of Ignition's specification that does not exist. Ignition refuses the config as a whole, and the
    /// machine does not start. Write a version such as `3.3.0`.
    IGNITION_VERSION = "ignition/version";
    /// Something in the config that Ignition refuses. The machine does not start. It stops in the initial file system
    /// with an error on the console, before there is SSH. Correct what the hint names.
    IGNITION_REFUSED = "ignition/refused";
    /// A key that the version of the specification does not have, and that Ignition ignores. What it asks for does not
    /// happen, and the machine starts without an error. Correct the spelling, or raise `ignition.version` to one that
    /// has the key.
    IGNITION_UNUSED = "ignition/unused-key";
    /// Versions before 3.6.0 drop the special bits of a mode. The file is then without setuid, setgid or sticky bit,
    /// and programs that rely on them fail. Write version 3.6.0, or a mode without them.
    IGNITION_SPECIAL_BITS = "ignition/special-bits";
    /// A key twice in one mapping of the config: Ignition takes the last one, or mixes both. What stands in the first
    /// may be lost without an error. Put both into one mapping or list.
    IGNITION_DUPLICATE_KEY = "ignition/duplicate-key";
    /// A path twice in one config. Ignition refuses the config, and the machine does not start. Keep one of the two.
    IGNITION_DUPLICATE = "ignition/duplicate";
    /// A path beneath a link or a file of the same config. Ignition refuses the config, or the file lands where the
    /// link points to. Give the path that the link points to, or leave one of them out.
    IGNITION_BENEATH = "ignition/beneath";
    /// A path in a directory that is mounted over, or emptied, when the system starts. Ignition writes before that, so
    /// that nothing is left of it. Let a unit or tmpfiles.d make it at boot.
    IGNITION_VOLATILE = "ignition/volatile-path";
    /// A file that is appended to. Ignition starts over after a failure, and appends again. The content then stands in
    /// the file twice. Give the whole file with `contents` instead.
    IGNITION_APPEND = "ignition/append";
    /// This content does not decode or unpack. Ignition fails on it at the first boot, and the machine does not start.
    /// Write `data:,` with `%` escapes or `data:;base64,` with base64, and check that gzip was not cut short.
    IGNITION_CONTENT = "ignition/content";
    /// Content with another digest than the config asks for. Ignition's own validator does not look. At boot Ignition
    /// does, and the machine does not start. Write the digest of the unpacked content, as the hint shows it.
    IGNITION_DIGEST = "ignition/digest";
    /// A unit is enabled that says nowhere what wants it. systemd does not know which target should start it, and it
    /// never runs. Add `[Install]` with `WantedBy=multi-user.target`.
    IGNITION_INSTALL = "ignition/no-install";
    /// Inputs nested in inputs, more often than can be meant. What is inside is not shown and not checked. Unpack the
    /// outer ones, and inspect the inner one by itself.
    TOO_DEEP = "inspect/too-deep";
    /// What starts like JSON or a template cannot be parsed: a comma too many, a bracket that is never closed. Nothing
    /// of it is shown, and no node could read it either. Correct the place that the message names.
    SYNTAX = "inspect/syntax";
    /// A tar with more in it than is read. What is in it is not shown and not checked. Unpack the tar, which may be
    /// damaged or hold more than 16 MiB, and inspect what is inside.
    BUNDLE = "inspect/bundle";
    /// A plan of a format that this program does not know. An agent of this version refuses it as well. Use the
    /// program that made the plan, or a newer one.
    PLAN_FORMAT = "inspect/plan-format";
}
