//! Files, directories, links, units and parts of user-data.

use crate::decode::{choices, record};
use crate::{AbsolutePath, Mode, Name, Owner, SecretSource, Sha256, Text, Url};

record! {
    /// A file on the node, from exactly one of `content`, `src`, `urls` and `secret`.
    "a file" pub struct File {
        /// Where it goes; of a directory, the directory.
        "path" => path: AbsolutePath,
        /// What is in it; facts such as `@{zone}` are filled in on the node.
        "content" => content: Option<Text>,
        /// How `content` is written.
        "encoding" => encoding: FileEncoding = FileEncoding::Text,
        /// A file or directory beside the document, taken byte for byte.
        "src" => src: Option<String>,
        /// Where the node fetches it; several are mirrors.
        "urls" => urls: Vec<Url>,
        /// The digest of what is fetched.
        "sha256" => sha256: Option<Sha256>,
        /// A secret that the node resolves; never in user-data.
        "secret" => secret: Option<SecretSource>,
        /// Permissions.
        "mode" => mode: Option<Mode>,
        /// The owner.
        "owner" => owner: Owner = Owner::root(),
    }
}

choices! {
    /// How the content of a file is written in the document.
    "encoding" pub enum FileEncoding {
        /// As it is.
        Text = "text",
        /// In base64, with or without padding: for bytes that are no text.
        Base64 = "base64",
    }
}

record! {
    /// A directory.
    "a directory" pub struct Directory {
        /// Where.
        "path" => path: AbsolutePath,
        /// Permissions.
        "mode" => mode: Mode = Mode(0o755),
        /// The owner.
        "owner" => owner: Owner = Owner::root(),
    }
}

record! {
    /// A symbolic link.
    "a link" pub struct Link {
        /// Where it stands.
        "path" => path: AbsolutePath,
        /// What it points to.
        "target" => target: String,
    }
}

record! {
    /// A systemd unit of the operator.
    "a unit" pub struct Unit {
        /// Its full name, such as `drivers.service`.
        "name" => name: String,
        /// The unit file; leave it out to add drop-ins to a unit that is there.
        "content" => content: Option<String>,
        /// Whether it starts at boot; needs an `[Install]` section.
        "enabled" => enabled: Option<bool>,
        /// Whether it must never start.
        "mask" => mask: bool = false,
        /// Drop-ins.
        "dropIns" => drop_ins: Vec<DropIn>,
    }
}

record! {
    /// A drop-in of a unit.
    "a drop-in" pub struct DropIn {
        /// Its name, such as `10-limits.conf`.
        "name" => name: String,
        /// Its text.
        "content" => content: String,
    }
}

record! {
    /// A part of the user-data that is the operator's own.
    "a part" pub struct Part {
        /// Its name, unique among the parts.
        "name" => name: String,
        /// Its type.
        "type" => kind: PartType,
        /// What is in it; or `src`.
        "content" => content: Option<String>,
        /// A file beside the document.
        "src" => src: Option<String>,
    }
}

choices! {
    /// The types of part that cloud-init knows.
    "type of part" pub enum PartType {
        /// A cloud-config document.
        CloudConfig = "text/cloud-config",
        /// A list of parts.
        CloudConfigArchive = "text/cloud-config-archive",
        /// A JSON patch of the cloud-config.
        CloudConfigJsonp = "text/cloud-config-jsonp",
        /// A script that runs early, on every boot.
        CloudBoothook = "text/cloud-boothook",
        /// A script that runs late, once.
        ShellScript = "text/x-shellscript",
        /// A script that runs late, on every boot.
        ShellScriptPerBoot = "text/x-shellscript-per-boot",
        /// A script that runs late, once for an instance.
        ShellScriptPerInstance = "text/x-shellscript-per-instance",
        /// A script that runs late, once for ever.
        ShellScriptPerOnce = "text/x-shellscript-per-once",
        /// Addresses of further parts.
        IncludeUrl = "text/x-include-url",
        /// Addresses of further parts, fetched once.
        IncludeOnceUrl = "text/x-include-once-url",
        /// A handler in Python for further types.
        PartHandler = "text/part-handler",
        /// A cloud-config that is a template.
        Jinja2 = "text/jinja2",
        /// An upstart job: accepted for old documents, dropped by cloud-init today.
        UpstartJob = "text/upstart-job",
    }
}

record! {
    /// Something to download.
    "an asset" pub struct Asset {
        /// Its name.
        "name" => name: Name,
        /// Where to fetch it; several are mirrors.
        "urls" => urls: Vec<Url>,
        /// The digest of what is fetched.
        "sha256" => sha256: Sha256,
        /// Where it goes: a file or, if it is unpacked, a directory.
        "path" => path: AbsolutePath,
        /// Whether to unpack it.
        "unpack" => unpack: Unpack = Unpack::No,
        /// Permissions of a file.
        "mode" => mode: Mode = Mode(0o644),
    }
}

choices! {
    /// How to unpack a download.
    "way to unpack" pub enum Unpack {
        /// Not at all.
        No = "no",
        /// A gzipped tar.
        TarGz = "tar.gz",
        /// A zip.
        Zip = "zip",
    }
}
