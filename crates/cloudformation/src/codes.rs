//! The findings of this crate.

bringup_diag::codes! {
    /// A CloudFormation template launches EC2 instances: it makes no sense for a node group on another platform. The
    /// stack would start EC2 instances with user-data for another cloud. Write `platform: aws`, or remove the carrier.
    PLATFORM = "launch/platform";
    /// Settings of the launch template or of the Auto Scaling group that no carrier of the group uses. Nothing is
    /// launched with them, and instances keep the settings that they have. Add `cloudformation` to `carriers`, or take
    /// the key away.
    UNUSED = "launch/unused";
    /// A value is given to a parameter that the template does not declare. Nothing would use it, and a stack would be
    /// refused. Give values to the names beneath `Parameters`.
    UNKNOWN_PARAMETER = "template/unknown-parameter";
    /// There is no public parameter with an image for this system, version and processor: the image must be named.
    /// CloudFormation would refuse a launch template without one. Write `launch.image`, or `launch.imageParameter`
    /// with the name of a parameter that holds it.
    NO_IMAGE = "launch/no-image";
    /// Both an image and a parameter that holds one. A launch template has one, and which one was meant cannot be
    /// known. Keep `image`, which stays the same, or `imageParameter`, which follows new releases.
    TWO_IMAGES = "launch/two-images";
    /// An image, key, profile or the like whose form AWS does not accept. The stack is rolled back when it is created.
    /// Copy the value from the console or the command line, in the form that the hint shows.
    MALFORMED = "launch/malformed";
    /// A volume that EC2 would not make: too small for the image, or with settings that its type does not have. The
    /// stack is refused, or instances fail to launch. Change what the hint names.
    VOLUME = "launch/volume";
    /// Two volumes with one device name, or a further volume without one. EC2 refuses the launch template or the
    /// launch. Give each volume beside the root a device name of its own, such as `/dev/sdf`.
    DEVICE = "launch/device";
    /// The smallest, desired and largest number of nodes contradict each other. Auto Scaling refuses such a group, and
    /// the stack is rolled back. Write `min`, `desired` and `max` in rising order.
    SIZES = "launch/sizes";
    /// CloudFormation would refuse the rolling update, or it could not make progress. The stack would be rolled back,
    /// or would run with fewer nodes than it needs while it is updated. Write a batch of 1 or more, and a `max` above
    /// what must stay in service.
    ROLLING_UPDATE = "launch/rolling-update";
    /// A time that CloudFormation or Auto Scaling does not accept. The stack is refused, or gives up before a node can
    /// be ready. Write a time within the limits that the message names.
    TIMEOUT = "launch/timeout";
    /// A mixture of spot and on-demand capacity that contradicts itself or is likely to find no capacity. The group
    /// would stay below its size, or the template would be refused. Write one share from 0 to 100, and several types
    /// of like size in `instanceTypes`.
    SPOT = "launch/spot";
    /// The key that lets people in to the nodes is none that EC2 takes, or there are two. An instance has one key, in the
    /// form of OpenSSH. Keep one, and write it as `ssh-keygen -y` prints it.
    KEY = "launch/key";
    /// More interfaces of the type EFA than any machine has network cards. EC2 would launch no instance. Write how many
    /// cards the instance type has.
    EFA = "launch/efa";
    /// A tag that AWS refuses. The stack is rolled back when it is created. Write a key of 1 to 128 letters and a
    /// value of at most 256, without prefixes that AWS or the template use themselves.
    TAG = "launch/tag";
    /// Instances may not have a tag with such a key while they can read their tags from the metadata service. EC2
    /// refuses to launch an instance with a `/` in the key of a tag then. Choose between the tag and
    /// `launch.metadata.instanceTags`.
    TAG_IN_METADATA = "launch/tag-in-metadata";
    /// The plan reads a tag of the instance, which the metadata service does not show. The fact stays unknown on the
    /// node, and the step that uses it fails. Write `metadata: {instanceTags: true}` in `launch`.
    TAGS_HIDDEN = "launch/tags-hidden";
    /// EC2 takes 1 to 64 as the hop limit of the metadata service and refuses a launch template with anything else.
    /// Write 1 to keep pods away from it, or 2 for pods that need it.
    HOP_LIMIT = "launch/hop-limit";
    /// The role, the instance profile and the access entry do not fit together. The nodes would run as a role that may
    /// not join, or policies would be attached to nothing. Give `instanceProfile` and `arn` of one role, or let the
    /// template make it.
    ROLE = "launch/role";
    /// An instance profile that exists already must allow what the nodes do; the template cannot. A call that is not
    /// allowed fails at boot, and the node does not join or does not report. Attach a policy with the actions that the
    /// message names.
    PERMISSIONS = "launch/permissions";
    /// A life-cycle hook with a name that AWS refuses, or an action for a hook that the template does not make. The
    /// stack is rolled back, or the action answers to nothing and the node waits for its timeout. Write a name that
    /// the hint allows, and the same in both places.
    LIFECYCLE_HOOK = "launch/lifecycle-hook";
    /// A signal that the template's stack does not wait for. The stack then waits until its timeout and is rolled
    /// back, although the nodes are up. Take `resource` away, or name the other `stack`.
    SIGNAL = "launch/signal";
    /// The stack's name cannot be put into user-data of this form. Nodes would not know whom to signal, and the stack
    /// would time out. Write `stack: NAME` in the signal, and `resource: GROUP` for a life-cycle action.
    STACK_UNKNOWN = "launch/stack-unknown";
    /// The arguments of `bootstrap.sh` are longer than a parameter of a template may be. CloudFormation refuses the
    /// template. Leave out what EKS tells the node, or write `userData: plan`.
    BOOTSTRAP_ARGUMENTS = "launch/bootstrap-arguments";
    /// A template without user-data. Its instances start as their image is, and there is nothing to show. Look for
    /// `UserData` in another template, or in the launch template that this one refers to.
    NO_USER_DATA = "template/no-user-data";
    /// A value in user-data that only the stack knows; it stands as `${NAME}`. What the node does may depend on it.
    /// Give the parameters that it depends on a default, or look at a deployed instance.
    UNKNOWN_VALUE = "template/unknown-value";
    /// A function of a template that is not used as CloudFormation wants it. CloudFormation refuses the template when
    /// the stack is created, or passes on other text than was meant. Write it as the hint shows; `${!NAME}` leaves a
    /// variable to the shell.
    FUNCTION = "template/function";
    /// User-data that is not in base64, as EC2 wants it. The launch fails, or the machine starts with noise and does
    /// nothing. Wrap the text in `Fn::Base64`.
    NOT_BASE64 = "template/not-base64";
}
