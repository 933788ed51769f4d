//! The findings of this crate.

bringup_diag::codes! {
    /// The carrier is larger than the platform takes, compressed and all. The machine would not launch, or would start with
    /// user-data cut off.
    OVER_BUDGET = "size/over-budget";
    /// The plan no longer fits into the user-data and is fetched instead: it must be uploaded before a machine starts.
    FETCHED_PLAN = "size/fetched-plan";
    /// The carrier is larger than some platforms take. The document does not say which platform it is for.
    SOME_PLATFORMS = "size/some-platforms";
    /// The template is larger than CloudFormation takes in a call; it has to be uploaded to S3 first.
    TEMPLATE_SIZE = "size/template";
    /// Parts that one cloud-config cannot hold were asked for with the carrier `cloud-init`; it became a multipart message.
    FORCES_MULTIPART = "part/forces-multipart";
    /// An encoding of user-data is asked for, and no carrier of the group is user-data. A template encodes what is in it by
    /// itself.
    ENCODING_UNUSED = "carrier/encoding-unused";
    /// A part of user-data that the carrier has no place for.
    NOT_CARRIED = "part/not-carried";
    /// A part whose content could not be found.
    PART_SOURCE = "part/source";
    /// The document says that there is no agent on the node, but a step needs one.
    AGENT_NEEDED = "agent/needed";
    /// An address of the agent that the first stage cannot fetch from: it has only curl or wget.
    AGENT_SCHEME = "agent/scheme";
    /// Ignition fetches a file from one address only; the mirrors are not used.
    ONE_SOURCE = "ignition/one-source";
    /// The config needs a newer specification of Ignition than most images read.
    NEWER_SPEC = "ignition/newer-spec";
    /// Something of the node group that the node agent of EKS images cannot do.
    NODECONFIG = "nodeconfig/not-carried";
    /// Something that the node agent of EKS images must be told, and that the document does not say.
    NODECONFIG_MISSING = "nodeconfig/missing";
    /// Configs that refer to configs, more often than can be meant.
    IGNITION_DEPTH = "ignition/too-deep";
    /// A version of Ignition's specification that does not exist.
    IGNITION_VERSION = "ignition/version";
    /// Something in the config that Ignition refuses. The machine does not start.
    IGNITION_REFUSED = "ignition/refused";
    /// A key that the version of the specification does not have, and that Ignition ignores.
    IGNITION_UNUSED = "ignition/unused-key";
    /// Special bits of a mode, which versions before 3.4.0 drop.
    IGNITION_SPECIAL_BITS = "ignition/special-bits";
    /// A key twice in one mapping of the config: Ignition takes the last one, or mixes both.
    IGNITION_DUPLICATE_KEY = "ignition/duplicate-key";
    /// A path twice in one config.
    IGNITION_DUPLICATE = "ignition/duplicate";
    /// A path beneath a link or a file of the same config.
    IGNITION_BENEATH = "ignition/beneath";
    /// A path in a directory that is mounted over, or emptied, when the system starts.
    IGNITION_VOLATILE = "ignition/volatile-path";
    /// A file that is appended to. Ignition starts over after a failure, and appends again.
    IGNITION_APPEND = "ignition/append";
    /// Content that does not decode or unpack.
    IGNITION_CONTENT = "ignition/content";
    /// Content with another digest than the config asks for. Ignition's own validator does not look.
    IGNITION_DIGEST = "ignition/digest";
    /// A unit is enabled that says nowhere what wants it.
    IGNITION_INSTALL = "ignition/no-install";
    /// Inputs nested in inputs, more often than can be meant.
    TOO_DEEP = "inspect/too-deep";
    /// What starts like JSON or a template cannot be parsed: a comma too many, a bracket that is never closed.
    SYNTAX = "inspect/syntax";
    /// A tar with more in it than is read.
    BUNDLE = "inspect/bundle";
    /// A plan of a format that this program does not know.
    PLAN_FORMAT = "inspect/plan-format";
}
