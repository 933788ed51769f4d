//! The fields of Ignition's configs, specifications 2.x and 3.x, and of the forms that people write them in: Container Linux
//! Config, and Butane.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Refused, Taken};

const DISKS: &str = "have it made in the image, or by Ignition itself: build to a bundle, or merge what is built into a config of your own";
pub(super) const ACCOUNTS: &str = "make accounts in the image, or with a step: `steps: [{name: account, run: [/usr/sbin/useradd, -m, NAME], before: [runtime]}]`";

pub(super) const TOP: &[Field] = &[
    ("ignition", Taken),
    ("variant", Taken),
    ("version", Taken),
    ("storage", Taken),
    ("systemd", Taken),
    ("networkd", Taken),
    ("passwd", Taken),
    ("kernelArguments", Taken),
    ("kernel_arguments", Taken),
    (
        "update",
        Differs(
            "write a file `/etc/flatcar/update.conf`; `update: true` of a node group updates before it joins",
        ),
    ),
    (
        "locksmith",
        Differs(
            "write a file `/etc/flatcar/update.conf` with `REBOOT_STRATEGY=`, or mask `locksmithd.service`",
        ),
    ),
    ("docker", Differs("write the flags into `runtime.dockerConfig`, or into a drop-in of `docker.service`")),
    ("etcd", Differs("run etcd with a unit of your own, or beside the nodes")),
    ("flannel", Differs("install the pod network with what starts the cluster")),
    ("boot_device", Differs(DISKS)),
    ("grub", Differs("set the password in the image")),
    ("metadata", Aside("nothing: it only names the config")),
];

pub(super) const IGNITION: &[Field] = &[
    ("version", Taken),
    ("config", Taken),
    ("timeouts", Aside("how long Ignition waits for what it fetches")),
    ("security", Differs("name the authorities as `certificateAuthorities`, which every fetch trusts")),
    ("proxy", Differs("write `proxy: {http: …, https: …, noProxy: […]}`")),
];

pub(super) const CONFIG: &[Field] = &[
    ("append", Differs("give the config that it adds in the same call, or put what it holds into this one")),
    ("merge", Differs("give the config that it adds in the same call, or put what it holds into this one")),
    (
        "replace",
        Refused(
            "the config is at another address, and only the address is here",
            "give the config that it points to instead of this one",
        ),
    ),
];

pub(super) const STORAGE: &[Field] = &[
    ("files", Taken),
    ("directories", Taken),
    ("links", Taken),
    ("trees", Differs("write `files` with `src: FOLDER`, beside the document")),
    ("disks", Differs(DISKS)),
    ("raid", Differs(DISKS)),
    ("filesystems", Differs(DISKS)),
    ("luks", Differs(DISKS)),
];

const FILESYSTEM: Field = ("filesystem", Taken);

pub(super) const FILE: &[Field] = &[
    FILESYSTEM,
    ("path", Taken),
    ("contents", Taken),
    ("mode", Taken),
    ("user", Taken),
    ("group", Taken),
    ("overwrite", Taken),
    ("append", Taken),
];

pub(super) const CONTENTS: &[Field] = &[
    ("source", Taken),
    ("inline", Taken),
    ("local", Taken),
    ("remote", Taken),
    ("compression", Taken),
    ("verification", Taken),
    (
        "httpHeaders",
        Differs(
            "serve it where no header is needed, or from S3, which nodes read with their own credentials",
        ),
    ),
    (
        "http_headers",
        Differs(
            "serve it where no header is needed, or from S3, which nodes read with their own credentials",
        ),
    ),
];

pub(super) const REMOTE: &[Field] = &[("url", Taken), ("compression", Taken), ("verification", Taken)];
pub(super) const VERIFICATION: &[Field] = &[("hash", Taken)];
pub(super) const HASH: &[Field] = &[("function", Taken), ("sum", Taken)];
pub(super) const ACCOUNT: &[Field] = &[("id", Taken), ("name", Taken)];

pub(super) const DIRECTORY: &[Field] =
    &[FILESYSTEM, ("path", Taken), ("mode", Taken), ("user", Taken), ("group", Taken), ("overwrite", Taken)];

pub(super) const LINK: &[Field] = &[
    FILESYSTEM,
    ("path", Taken),
    ("target", Taken),
    ("user", Aside("who owns the link itself, which nobody asks")),
    ("group", Aside("who owns the link itself, which nobody asks")),
    ("overwrite", Taken),
    ("hard", Taken),
];

pub(super) const SYSTEMD: &[Field] = &[("units", Taken)];

pub(super) const UNIT: &[Field] = &[
    ("name", Taken),
    ("enable", Taken),
    ("enabled", Taken),
    ("mask", Taken),
    ("contents", Taken),
    ("contents_local", Differs("write the unit's text as `contents`")),
    ("dropins", Taken),
];

pub(super) const DROP_IN: &[Field] = &[
    ("name", Taken),
    ("contents", Taken),
    ("contents_local", Differs("write the drop-in's text as `contents`")),
];

pub(super) const NETWORKD: &[Field] = &[("units", Taken)];
pub(super) const NETWORK_UNIT: &[Field] = &[("name", Taken), ("contents", Taken), ("dropins", Taken)];

pub(super) const PASSWD: &[Field] = &[("users", Taken), ("groups", Differs(ACCOUNTS))];

pub(super) const USER: &[Field] = &[
    ("name", Taken),
    ("sshAuthorizedKeys", Taken),
    ("ssh_authorized_keys", Taken),
    ("sshAuthorizedKeysLocal", Differs("write the keys themselves")),
    ("ssh_authorized_keys_local", Differs("write the keys themselves")),
    ("passwordHash", Differs("give the account keys instead of a password, or set it in the image")),
    ("password_hash", Differs("give the account keys instead of a password, or set it in the image")),
    ("create", Differs(ACCOUNTS)),
    ("uid", Differs(ACCOUNTS)),
    ("gecos", Differs(ACCOUNTS)),
    ("homeDir", Taken),
    ("home_dir", Taken),
    ("noCreateHome", Differs(ACCOUNTS)),
    ("no_create_home", Differs(ACCOUNTS)),
    ("primaryGroup", Differs(ACCOUNTS)),
    ("primary_group", Differs(ACCOUNTS)),
    ("groups", Differs(ACCOUNTS)),
    ("noUserGroup", Differs(ACCOUNTS)),
    ("no_user_group", Differs(ACCOUNTS)),
    ("noLogInit", Differs(ACCOUNTS)),
    ("no_log_init", Differs(ACCOUNTS)),
    ("shell", Differs(ACCOUNTS)),
    ("shouldExist", Differs(ACCOUNTS)),
    ("should_exist", Differs(ACCOUNTS)),
    ("system", Differs(ACCOUNTS)),
];

pub(super) const ARGUMENTS: &[Field] = &[
    ("shouldExist", Taken),
    ("should_exist", Taken),
    ("shouldNotExist", Differs("take the argument out of the image's command line")),
    ("should_not_exist", Differs("take the argument out of the image's command line")),
];
