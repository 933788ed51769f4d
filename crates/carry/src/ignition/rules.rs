//! What Ignition refuses in a config, and what it warns of, by the rules of its own validator.

use std::collections::BTreeSet;

use bringup_cloudinit::unit_faults;
use bringup_diag::{Code, Severity};
use bringup_spec::data_url;
use serde_json::Value;

use super::shape::{Departure, departures};
use super::{KEEPS_SPECIAL_BITS, SPECIAL_BITS};
use crate::codes;

/// The newest specification that is not an experiment.
const NEWEST: u64 = 6;
/// Lists whose items may be there twice.
const MAY_REPEAT: [&str; 4] = ["append", "options", "mountOptions", "openOptions"];
const UNIT_SUFFIXES: [&str; 12] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "snapshot",
    "slice",
    "scope",
];

/// Something to tell.
pub(super) struct Told {
    pub(super) severity: Severity,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) hint: String,
    /// The text in the config that it is about.
    pub(super) about: String,
}

/// What Ignition says of a config of a 3.x specification; of others, only what is wrong with the version.
pub(super) fn told(config: &Value) -> Vec<Told> {
    let version = config.pointer("/ignition/version").and_then(Value::as_str).unwrap_or_default();
    let mut rules = Rules { minor: 0, told: Vec::new() };
    if is_old(version) {
        return rules.told;
    }
    let Some(minor) = minor_of(version) else {
        let hint = "write 3.3.0, which every current image reads";
        rules.refuse(
            codes::IGNITION_VERSION,
            format!("`{version}` is no specification of Ignition"),
            hint,
            version,
        );
        return rules.told;
    };
    rules.minor = minor;
    rules.shape(config);
    // What has the wrong type is not read any further.
    if rules.told.iter().all(|told| told.severity != Severity::Error) {
        rules.resources(config);
        rules.storage(config);
        rules.disks(config);
        rules.units(config);
        rules.repeated(config, "$");
    }
    rules.told
}

/// Version 2, or the first, which was a number. Current images refuse both; those that they are for do not.
fn is_old(version: &str) -> bool {
    ["2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0"].contains(&version)
}

pub(super) fn minor_of(version: &str) -> Option<u64> {
    let minor = version.strip_prefix("3.")?.strip_suffix(".0")?;
    minor.parse().ok().filter(|number| *number <= NEWEST && minor.len() == 1)
}

pub(super) fn list<'value>(value: &'value Value, pointer: &str) -> &'value [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text<'value>(value: &'value Value, key: &str) -> Option<&'value str> {
    value.get(key).and_then(Value::as_str)
}

pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

pub(super) struct Rules {
    pub(super) minor: u64,
    told: Vec<Told>,
}

impl Rules {
    fn tell(&mut self, severity: Severity, code: Code, message: String, hint: &str, about: &str) {
        let (hint, about) = (hint.to_owned(), about.to_owned());
        self.told.push(Told { severity, code, message, hint, about });
    }

    fn refuse(&mut self, code: Code, mut message: String, hint: &str, about: &str) {
        message.push_str("; Ignition refuses the config");
        self.tell(Severity::Error, code, message, hint, about);
    }

    pub(super) fn refused(&mut self, message: String, hint: &str, about: &str) {
        self.refuse(codes::IGNITION_REFUSED, message, hint, about);
    }

    fn shape(&mut self, config: &Value) {
        for departure in departures(config, self.minor) {
            match departure {
                Departure::Type(path, wanted) => {
                    let key = path.rsplit('.').find(|step| step.parse::<u64>().is_err()).unwrap_or_default();
                    self.refused(
                        format!("`{path}` is not {wanted}"),
                        "look at the specification of this version",
                        key,
                    );
                }
                Departure::Unused(path, key, since) => {
                    let hint = match since {
                        Some(minor) => format!("write version 3.{minor}.0, which has the key"),
                        None if matches!(key.as_str(), "inline" | "local" | "trees") => {
                            "this is Butane's: compile the file with `butane` first".to_owned()
                        }
                        None => "delete it, or check how it is spelt".to_owned(),
                    };
                    let message = format!("nothing reads `{path}`: Ignition ignores it");
                    self.tell(Severity::Warning, codes::IGNITION_UNUSED, message, &hint, &key);
                }
            }
        }
    }

    pub(super) fn path(&mut self, path: &str) {
        let clean = path == "/"
            || !path.ends_with('/') && path.split('/').skip(1).all(|step| !matches!(step, "" | "." | ".."));
        if !path.starts_with('/') {
            self.refused(format!("the path `{path}` is not absolute"), "start it with `/`", path);
        } else if !clean {
            self.refused(
                format!("the path `{path}` is not in its simplest form"),
                "leave out `..`, `.`, `//` and a `/` at the end",
                path,
            );
        }
    }

    fn resources(&mut self, config: &Value) {
        let needed = list(config, "/ignition/config/merge")
            .iter()
            .chain(list(config, "/ignition/security/tls/certificateAuthorities"));
        for resource in needed {
            if text(resource, "source").unwrap_or_default().is_empty() {
                self.refused(
                    "a reference has no `source`".to_owned(),
                    "write `source`, or leave the reference out",
                    "ignition",
                );
            }
            self.resource(resource);
        }
        if let Some(replace) = config.pointer("/ignition/config/replace") {
            self.resource(replace);
        }
        for key in ["httpProxy", "httpsProxy"] {
            let proxy = config.pointer(&format!("/ignition/proxy/{key}")).and_then(Value::as_str);
            if proxy.is_some_and(|url| !["http", "https"].contains(&scheme(url).as_str())) {
                self.refused(format!("`{key}` is no address of HTTP"), "write `http://HOST:PORT`", key);
            }
        }
    }

    fn resource(&mut self, resource: &Value) {
        let source = text(resource, "source").unwrap_or_default();
        if !source.is_empty() {
            self.source(source);
        }
        if let Some(compression) = text(resource, "compression").filter(|word| !matches!(*word, "" | "gzip"))
        {
            self.refused(
                format!("`{compression}` is no compression that Ignition unpacks"),
                "write `gzip`, or nothing",
                compression,
            );
        }
        let headers = list(resource, "/httpHeaders");
        if !headers.is_empty() && !["http", "https"].contains(&scheme(source).as_str()) {
            self.refused(
                "`httpHeaders` go with an address of HTTP only".to_owned(),
                "leave them out",
                "httpHeaders",
            );
        }
        let Some(hash) = resource.pointer("/verification/hash").and_then(Value::as_str) else { return };
        if text(resource, "source").is_none() {
            self.refused(
                "there is a digest, and no `source`".to_owned(),
                "write `source`, or leave `verification` out",
                hash,
            );
        }
        let length = match hash.split_once('-') {
            Some(("sha512", sum)) => Some((sum.len(), 128)),
            Some(("sha256", sum)) if self.minor >= 1 => Some((sum.len(), 64)),
            _ => None,
        };
        match length {
            None => self.refused(
                "the digest is of no kind that this version knows".to_owned(),
                "write `sha512-` and the digest; `sha256-` from version 3.1.0 on",
                hash,
            ),
            Some((found, wanted)) if found != wanted => {
                self.refused(
                    format!("a digest of this kind has {wanted} letters, this has {found}"),
                    "write all of it, in hex",
                    hash,
                );
            }
            Some(_) => {}
        }
    }

    fn source(&mut self, source: &str) {
        let scheme = scheme(source);
        match scheme.as_str() {
            "data" => {
                if data_url::decode(source).is_none() {
                    self.refuse(
                        codes::IGNITION_CONTENT,
                        "this data URL does not decode".to_owned(),
                        "write `data:,` and the text with `%` escapes, or `data:;base64,` and base64 with its `=`",
                        source,
                    );
                }
            }
            "http" | "https" | "tftp" | "gs" | "s3" => {}
            "arn" if self.minor >= 4 => {}
            _ => self.refused(
                format!("Ignition cannot fetch from `{}`", source.split(':').next().unwrap_or_default()),
                "write an address of http, https, tftp, s3, gs or data",
                source,
            ),
        }
    }

    fn storage(&mut self, config: &Value) {
        let links: Vec<&str> =
            list(config, "/storage/links").iter().filter_map(|link| text(link, "path")).collect();
        for kind in ["files", "directories", "links"] {
            for node in list(config, &format!("/storage/{kind}")) {
                let path = text(node, "path").unwrap_or_default();
                self.path(path);
                self.mode(node, path);
                for account in ["user", "group"] {
                    let both = node.get(account).is_some_and(|account| {
                        account.get("id").is_some_and(Value::is_number)
                            && text(account, "name").is_some_and(|name| !name.is_empty())
                    });
                    if both {
                        self.refused(
                            format!("`{path}` has both an id and a name of its {account}"),
                            "write one of them",
                            path,
                        );
                    }
                }
                let above = links
                    .iter()
                    .find(|link| path.strip_prefix(**link).is_some_and(|rest| rest.starts_with('/')));
                if let Some(link) = above {
                    let message = format!("`{path}` lies beneath the link `{link}` of the same config");
                    self.refuse(
                        codes::IGNITION_BENEATH,
                        message,
                        "give the path that the link points to, or leave one of them out",
                        path,
                    );
                }
            }
        }
        for file in list(config, "/storage/files") {
            let path = text(file, "path").unwrap_or_default();
            let has_source = file.pointer("/contents/source").is_some_and(Value::is_string);
            if is_true(file, "overwrite") && !has_source {
                self.refused(
                    format!("`{path}` is to be overwritten with nothing"),
                    "write `contents` with `source`, or leave `overwrite` out",
                    path,
                );
            }
            if let Some(contents) = file.get("contents") {
                self.resource(contents);
            }
            for more in list(file, "/append") {
                self.resource(more);
            }
        }
        for link in list(config, "/storage/links") {
            let path = text(link, "path").unwrap_or_default();
            if self.minor >= 3 && text(link, "target").unwrap_or_default().is_empty() {
                self.refused(format!("the link `{path}` points nowhere"), "write `target`", path);
            }
        }
    }

    fn mode(&mut self, node: &Value, path: &str) {
        let Some(mode) = node.get("mode").and_then(Value::as_i64) else { return };
        if !(0..=0o7777).contains(&mode) {
            let hint = "JSON has decimal numbers only: 420 is 0644, 493 is 0755";
            self.refused(format!("{mode} is no mode for `{path}`"), hint, path);
        } else if self.minor < KEEPS_SPECIAL_BITS && mode & i64::from(SPECIAL_BITS) != 0 {
            let message =
                format!("the mode of `{path}` is {mode:04o}; this version drops setuid, setgid and sticky");
            self.tell(
                Severity::Warning,
                codes::IGNITION_SPECIAL_BITS,
                message,
                &format!("write version 3.{KEEPS_SPECIAL_BITS}.0, or a mode without them: 420 is 0644"),
                path,
            );
        }
    }

    fn units(&mut self, config: &Value) {
        for unit in list(config, "/systemd/units") {
            let name = text(unit, "name").unwrap_or_default();
            let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix).unwrap_or_default();
            if !UNIT_SUFFIXES.contains(&suffix) {
                self.refused(
                    format!("`{name}` is no name of a unit"),
                    "end it with `.service` or another suffix of systemd's",
                    name,
                );
            }
            let mut texts = vec![(name.to_owned(), text(unit, "contents"))];
            for drop_in in list(unit, "/dropins") {
                let file = text(drop_in, "name").unwrap_or_default();
                if file.rsplit_once('.').is_none_or(|(_, suffix)| suffix != "conf") {
                    self.refused(format!("`{file}` is no name of a drop-in"), "end it with `.conf`", file);
                }
                texts.push((format!("{name}.d/{file}"), text(drop_in, "contents")));
            }
            for (whose, content) in texts {
                let fault = unit_faults(content.unwrap_or_default())
                    .into_iter()
                    .find(|(_, fault)| fault.is_refused_by_ignition());
                if let Some((line, fault)) = fault {
                    let (message, hint) = fault.told();
                    let message = format!("line {line} of `{whose}`: {message}");
                    self.tell(Severity::Error, bringup_cloudinit::codes::UNIT_SYNTAX, message, hint, name);
                }
            }
        }
    }

    /// Items of a list that are the same thing; files, directories and links share their paths, and so do arguments that
    /// should and should not be there.
    fn repeated(&mut self, value: &Value, name: &str) {
        let Some(object) = value.as_object() else { return };
        let mut shared: BTreeSet<(&str, String)> = BTreeSet::new();
        for (key, value) in object {
            let group = match key.as_str() {
                "files" | "directories" | "links" if name == "storage" => "nodes",
                "shouldExist" | "shouldNotExist" => "arguments",
                key => key,
            };
            for item in value.as_array().into_iter().flatten() {
                if let Some(identity) = identity(item).filter(|_| !MAY_REPEAT.contains(&key.as_str()))
                    && !shared.insert((group, identity.clone()))
                {
                    let message = format!("`{identity}` stands in the config twice");
                    self.refuse(codes::IGNITION_DUPLICATE, message, "keep one of them", &identity);
                }
                self.repeated(item, key);
            }
            self.repeated(value, key);
        }
    }
}

/// What makes an item of a list the same thing as another.
fn identity(item: &Value) -> Option<String> {
    if let Some(text) = item.as_str() {
        return Some(text.to_owned());
    }
    if item.get("number").or_else(|| item.get("label")).is_some() && item.get("device").is_none() {
        let number = item.get("number").and_then(Value::as_i64).filter(|number| *number != 0);
        return number.map(|number| number.to_string()).or_else(|| text(item, "label").map(str::to_owned));
    }
    ["path", "name", "device", "url", "source"].iter().find_map(|key| text(item, key)).map(str::to_owned)
}

fn scheme(source: &str) -> String {
    source.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default()
}
