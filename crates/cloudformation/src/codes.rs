//! The findings of this crate.

bringup_diag::codes! {
    /// A CloudFormation template launches EC2 instances: it makes no sense for a node group on another platform.
    PLATFORM = "launch/platform";
    /// Settings of the launch template or of the Auto Scaling group that no carrier of the group uses.
    UNUSED = "launch/unused";
    /// There is no public parameter with an image for this system, version and processor: the image must be named.
    NO_IMAGE = "launch/no-image";
    /// Both an image and a parameter that holds one.
    TWO_IMAGES = "launch/two-images";
    /// An image, key, profile or the like whose form AWS does not accept.
    MALFORMED = "launch/malformed";
    /// A volume that EC2 would not make: too small for the image, or with settings that its type does not have.
    VOLUME = "launch/volume";
    /// Two volumes with one device name, or a further volume without one.
    DEVICE = "launch/device";
    /// The smallest, desired and largest number of nodes contradict each other.
    SIZES = "launch/sizes";
    /// CloudFormation would refuse the rolling update, or it could not make progress.
    ROLLING_UPDATE = "launch/rolling-update";
    /// A time that CloudFormation or Auto Scaling does not accept.
    TIMEOUT = "launch/timeout";
    /// A mixture of spot and on-demand capacity that contradicts itself or is likely to find no capacity.
    SPOT = "launch/spot";
    /// A tag that AWS refuses.
    TAG = "launch/tag";
    /// Instances may not have a tag with such a key while they can read their tags from the metadata service.
    TAG_IN_METADATA = "launch/tag-in-metadata";
    /// The plan reads a tag of the instance, which the metadata service does not show.
    TAGS_HIDDEN = "launch/tags-hidden";
    /// The hop limit of the metadata service.
    HOP_LIMIT = "launch/hop-limit";
    /// Role, instance profile and access entry do not fit together.
    ROLE = "launch/role";
    /// An instance profile that exists already must allow what the nodes do; the template cannot.
    PERMISSIONS = "launch/permissions";
    /// A life-cycle hook with a name that AWS refuses, or an action for a hook that the template does not make.
    LIFECYCLE_HOOK = "launch/lifecycle-hook";
    /// A signal that the template's stack does not wait for.
    SIGNAL = "launch/signal";
    /// The stack's name cannot be put into user-data of this form.
    STACK_UNKNOWN = "launch/stack-unknown";
    /// A template without user-data.
    NO_USER_DATA = "template/no-user-data";
    /// A value in user-data that only the stack knows; it stands as `${NAME}`.
    UNKNOWN_VALUE = "template/unknown-value";
    /// A function of a template that is not used as CloudFormation wants it.
    FUNCTION = "template/function";
    /// User-data that is not in base64, as EC2 wants it.
    NOT_BASE64 = "template/not-base64";
}
