//! The keys of Ignition's specifications 3.0 to 3.6, with the minor version that added each: from the schemas that come
//! with Ignition.

use serde_json::Value;

/// What may stand at a key.
pub(super) enum Kind {
    Text,
    Number,
    Truth,
    Texts,
    Map(&'static [Field]),
    List(&'static [Field]),
}

/// A key, and the minor version that brought it.
pub(super) struct Field(&'static str, u64, Kind);

use Kind::{List, Map, Number, Text, Texts, Truth};

const HEADERS: &[Field] = &[Field("name", 1, Text), Field("value", 1, Text)];
const VERIFICATION: &[Field] = &[Field("hash", 0, Text)];
/// A config or a certificate; only files could be compressed in 3.0.
const RESOURCE: &[Field] = &[
    Field("source", 0, Text),
    Field("compression", 1, Text),
    Field("httpHeaders", 1, List(HEADERS)),
    Field("verification", 0, Map(VERIFICATION)),
];
const CONTENTS: &[Field] = &[
    Field("source", 0, Text),
    Field("compression", 0, Text),
    Field("httpHeaders", 1, List(HEADERS)),
    Field("verification", 0, Map(VERIFICATION)),
];
const ACCOUNT: &[Field] = &[Field("id", 0, Number), Field("name", 0, Text)];
const PARTITION: &[Field] = &[
    Field("label", 0, Text),
    Field("number", 0, Number),
    Field("sizeMiB", 0, Number),
    Field("startMiB", 0, Number),
    Field("typeGuid", 0, Text),
    Field("guid", 0, Text),
    Field("wipePartitionEntry", 0, Truth),
    Field("shouldExist", 0, Truth),
    Field("resize", 2, Truth),
];
const DISK: &[Field] =
    &[Field("device", 0, Text), Field("wipeTable", 0, Truth), Field("partitions", 0, List(PARTITION))];
const RAID: &[Field] = &[
    Field("name", 0, Text),
    Field("level", 0, Text),
    Field("spares", 0, Number),
    Field("devices", 0, Texts),
    Field("options", 0, Texts),
];
const FILESYSTEM: &[Field] = &[
    Field("path", 0, Text),
    Field("device", 0, Text),
    Field("format", 0, Text),
    Field("options", 0, Texts),
    Field("mountOptions", 1, Texts),
    Field("wipeFilesystem", 0, Truth),
    Field("label", 0, Text),
    Field("uuid", 0, Text),
];
const FILE: &[Field] = &[
    Field("path", 0, Text),
    Field("overwrite", 0, Truth),
    Field("user", 0, Map(ACCOUNT)),
    Field("group", 0, Map(ACCOUNT)),
    Field("mode", 0, Number),
    Field("contents", 0, Map(CONTENTS)),
    Field("append", 0, List(CONTENTS)),
];
const DIRECTORY: &[Field] = &[
    Field("path", 0, Text),
    Field("overwrite", 0, Truth),
    Field("user", 0, Map(ACCOUNT)),
    Field("group", 0, Map(ACCOUNT)),
    Field("mode", 0, Number),
];
const LINK: &[Field] = &[
    Field("path", 0, Text),
    Field("overwrite", 0, Truth),
    Field("user", 0, Map(ACCOUNT)),
    Field("group", 0, Map(ACCOUNT)),
    Field("target", 0, Text),
    Field("hard", 0, Truth),
];
const TANG: &[Field] =
    &[Field("url", 2, Text), Field("thumbprint", 2, Text), Field("advertisement", 4, Text)];
const PIN: &[Field] = &[Field("pin", 2, Text), Field("config", 2, Text), Field("needsNetwork", 2, Truth)];
const CLEVIS: &[Field] = &[
    Field("custom", 2, Map(PIN)),
    Field("tpm2", 2, Truth),
    Field("tang", 2, List(TANG)),
    Field("threshold", 2, Number),
];
const LUKS: &[Field] = &[
    Field("name", 2, Text),
    Field("label", 2, Text),
    Field("uuid", 2, Text),
    Field("device", 2, Text),
    Field("keyFile", 2, Map(RESOURCE)),
    Field("wipeVolume", 2, Truth),
    Field("clevis", 2, Map(CLEVIS)),
    Field("options", 2, Texts),
    Field("discard", 4, Truth),
    Field("openOptions", 4, Texts),
    Field("cex", 5, Map(&[Field("enabled", 5, Truth)])),
];
const USER: &[Field] = &[
    Field("name", 0, Text),
    Field("passwordHash", 0, Text),
    Field("sshAuthorizedKeys", 0, Texts),
    Field("uid", 0, Number),
    Field("gecos", 0, Text),
    Field("homeDir", 0, Text),
    Field("noCreateHome", 0, Truth),
    Field("primaryGroup", 0, Text),
    Field("groups", 0, Texts),
    Field("noUserGroup", 0, Truth),
    Field("system", 0, Truth),
    Field("noLogInit", 0, Truth),
    Field("shell", 0, Text),
    Field("shouldExist", 2, Truth),
];
const GROUP: &[Field] = &[
    Field("name", 0, Text),
    Field("gid", 0, Number),
    Field("passwordHash", 0, Text),
    Field("system", 0, Truth),
    Field("shouldExist", 2, Truth),
];
const DROP_IN: &[Field] = &[Field("name", 0, Text), Field("contents", 0, Text)];
const UNIT: &[Field] = &[
    Field("name", 0, Text),
    Field("enabled", 0, Truth),
    Field("mask", 0, Truth),
    Field("contents", 0, Text),
    Field("dropins", 0, List(DROP_IN)),
];
const IGNITION: &[Field] = &[
    Field("version", 0, Text),
    Field("config", 0, Map(&[Field("merge", 0, List(RESOURCE)), Field("replace", 0, Map(RESOURCE))])),
    Field("timeouts", 0, Map(&[Field("httpResponseHeaders", 0, Number), Field("httpTotal", 0, Number)])),
    Field("security", 0, Map(&[Field("tls", 0, Map(&[Field("certificateAuthorities", 0, List(RESOURCE))]))])),
    Field(
        "proxy",
        1,
        Map(&[Field("httpProxy", 1, Text), Field("httpsProxy", 1, Text), Field("noProxy", 1, Texts)]),
    ),
];
const CONFIG: &[Field] = &[
    Field("ignition", 0, Map(IGNITION)),
    Field(
        "storage",
        0,
        Map(&[
            Field("disks", 0, List(DISK)),
            Field("raid", 0, List(RAID)),
            Field("filesystems", 0, List(FILESYSTEM)),
            Field("files", 0, List(FILE)),
            Field("directories", 0, List(DIRECTORY)),
            Field("links", 0, List(LINK)),
            Field("luks", 2, List(LUKS)),
        ]),
    ),
    Field("systemd", 0, Map(&[Field("units", 0, List(UNIT))])),
    Field("passwd", 0, Map(&[Field("users", 0, List(USER)), Field("groups", 0, List(GROUP))])),
    Field("kernelArguments", 3, Map(&[Field("shouldExist", 3, Texts), Field("shouldNotExist", 3, Texts)])),
];

/// How a config departs from the specification.
pub(super) enum Departure {
    /// A value of another type than its key has: the config is refused. Path, and what would be right.
    Type(String, &'static str),
    /// A key that nobody reads: path, key, and the minor version that brought it, if one did.
    Unused(String, String, Option<u64>),
}

/// Where a config departs from the specification of this minor version.
pub(super) fn departures(config: &Value, minor: u64) -> Vec<Departure> {
    let mut found = Vec::new();
    map(config, CONFIG, minor, "$", &mut found);
    found
}

fn map(value: &Value, fields: &[Field], minor: u64, path: &str, found: &mut Vec<Departure>) {
    let Some(object) = value.as_object() else {
        return mismatch(value, path, "a mapping", found);
    };
    for (key, value) in object {
        let inner = format!("{path}.{key}");
        match fields.iter().find(|Field(name, ..)| name == key) {
            Some(Field(_, since, kind)) if *since <= minor => one(value, kind, minor, &inner, found),
            known => {
                found.push(Departure::Unused(inner, key.clone(), known.map(|Field(_, since, _)| *since)));
            }
        }
    }
}

fn one(value: &Value, kind: &Kind, minor: u64, path: &str, found: &mut Vec<Departure>) {
    let right = match kind {
        Kind::Text => (value.is_string(), "a string"),
        Kind::Number => (value.is_i64() || value.is_u64(), "a whole number"),
        Kind::Truth => (value.is_boolean(), "true or false"),
        Kind::Map(fields) => return map(value, fields, minor, path, found),
        Kind::List(_) | Kind::Texts => (value.is_array(), "a list"),
    };
    if !right.0 {
        return mismatch(value, path, right.1, found);
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        let inner = format!("{path}.{index}");
        match kind {
            Kind::List(fields) => map(item, fields, minor, &inner, found),
            _ => one(item, &Kind::Text, minor, &inner, found),
        }
    }
}

/// Nothing at all is taken for what is left out.
fn mismatch(value: &Value, path: &str, wanted: &'static str, found: &mut Vec<Departure>) {
    if !value.is_null() {
        found.push(Departure::Type(path.to_owned(), wanted));
    }
}
