//! Files, directories, links, keys, network units and kernel arguments of a config.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_yaml::{Node, Resolved};

use super::content::{Source, hash, source};
use super::group::{Cluster, Group, literal};
use super::known_files;
use super::names::Names;
use super::tables;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The accounts that the images have; Ignition makes others.
const ACCOUNTS_OF_IMAGES: [&str; 2] = ["core", "root"];

/// A file whose content is in the config.
pub(super) struct Inline {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) at: Node,
}

/// Takes over what a config stores; gives back the mapping of runtimes, which waits for the version.
pub(super) fn take(
    config: &Record<'_>,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> Option<Inline> {
    let mut mappings = None;
    if let Some(storage) = config.get("storage") {
        let storage = tell.record(storage, "`storage` of a config", tables::STORAGE);
        // Files, directories and links share one space of names.
        let mut paths = Names::default();
        for file in storage.items("files") {
            if let Some(inline) = file_of(file, &mut paths, group, cluster, tell) {
                mappings = Some(inline);
            }
        }
        for directory in storage.items("directories") {
            let given = tell.record(directory, "a directory of a config", tables::DIRECTORY);
            if !is_on_root(&given, tell) {
                continue;
            }
            let Some(path) = paths.take(directory, "path", "this directory", tell) else { continue };
            let mut made = Branch::new(directory.span);
            made.put_field("path", path);
            place(&given, &mut made, tell);
            if let Some(overwrite) =
                given.entry("overwrite").filter(|_| given.flag("overwrite") == Some(true))
            {
                let path = given.text("path").unwrap_or_default();
                let message = format!(
                    "what is in `{path}` stays: `overwrite: true` of a directory, which removes it at the first boot, is not carried out"
                );
                let hint = "bring machines up from an image that has nothing there, or empty it in the image";
                tell.warning(codes::FIELD_DIFFERS, overwrite.key_span, message, hint);
            }
            group.directories.push(made.into_node());
        }
        for link in storage.items("links") {
            let given = tell.record(link, "a link of a config", tables::LINK);
            if !is_on_root(&given, tell) {
                continue;
            }
            let Some(path) = paths.take(link, "path", "this link", tell) else { continue };
            if given.flag("hard") == Some(true) {
                let message = "a hard link is not made: the node will differ";
                tell.warning(codes::FIELD_DIFFERS, link.span, message, "make it symbolic, or the file twice");
                continue;
            }
            let mut made = Branch::new(link.span);
            made.put_field("path", path);
            made.put_some("target", given.get("target").cloned());
            group.links.push(made.into_node());
        }
    }
    networks(config, group, tell);
    keys(config, group, tell);
    let arguments = config.get("kernelArguments").or_else(|| config.get("kernel_arguments"));
    if let Some(arguments) = arguments {
        let given = tell.record(arguments, "the kernel's arguments in a config", tables::ARGUMENTS);
        group.kernel_arguments.extend(given.items("shouldExist").iter().cloned());
        group.kernel_arguments.extend(given.items("should_exist").iter().cloned());
    }
    mappings
}

fn file_of(
    file: &Node,
    paths: &mut Names,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> Option<Inline> {
    let given = tell.record(file, "a file of a config", tables::FILE);
    if !is_on_root(&given, tell) {
        return None;
    }
    let adds = given.flag("append") == Some(true)
        || given.get("append").and_then(Node::items).is_some_and(|items| !items.is_empty());
    // Version 2 of the specification adds to a file by another entry of its path.
    let path = if adds {
        Names::default().take(file, "path", "this file", tell)
    } else {
        paths.take(file, "path", "this file", tell)
    }?;
    let name = path.value.text().unwrap_or_default();
    if adds {
        let message = format!("`{name}` is added to, which is not done here: the node will differ");
        let hint = "write the whole file, or a file of its own beside it";
        tell.warning(codes::FIELD_DIFFERS, path.key_span, message, hint);
        return None;
    }
    if let Some(overwrite) = given.entry("overwrite").filter(|_| given.flag("overwrite") == Some(false)) {
        let message = format!("`{name}` is written even if there is one already, where Ignition would end");
        tell.note(codes::DIFFERENCE, overwrite.key_span, message, "nothing has to be done");
    }
    let contents = given.get("contents");
    if let Some(contents) = contents {
        account(contents, tell);
    }
    let mut made = Branch::new(file.span);
    made.put_field("path", path);
    match contents.and_then(source) {
        None => {
            // A file without content is made empty.
            made.put("content", text(path.value.span, ""));
        }
        Some(Source::Inline(bytes)) => {
            let at = contents.cloned().unwrap_or_else(|| path.value.clone());
            if name == known_files::MAPPINGS {
                return Some(Inline { path: name.to_owned(), bytes, at });
            }
            if known_files::take(name, &bytes, path.value.span, group, cluster, tell) {
                return None;
            }
            match String::from_utf8(bytes) {
                Ok(content) if !content.contains('\0') => made.put("content", literal(at.span, &content)),
                Ok(content) => encoded(content.as_bytes(), &at, &mut made),
                Err(binary) => encoded(binary.as_bytes(), &at, &mut made),
            }
        }
        Some(Source::Remote { url, hash, packed }) => {
            let digest = hash.as_deref().and_then(|hash| hash.strip_prefix("sha256-"));
            let Some(digest) = digest.filter(|_| !packed) else {
                let why = match (packed, &hash) {
                    (true, _) => "it is unpacked there, and downloads are not unpacked here",
                    (false, Some(_)) => "only its SHA-512 is known, and downloads are checked by SHA-256",
                    (false, None) => "nothing says what its digest is",
                };
                let message = format!("`{url}` is not fetched to `{name}`: {why}");
                let hint = format!(
                    "write it with `--with additions.yaml`: `assets: [{{name: NAME, urls: [\"{url}\"], sha256: …, path: {name}}}]`"
                );
                tell.warning(codes::FIELD_DIFFERS, path.value.span, message, hint);
                return None;
            };
            made.put("urls", list(path.value.span, vec![text(path.value.span, url)]));
            made.put("sha256", text(path.value.span, digest));
        }
        Some(Source::Beside(local)) => {
            if let Some(said) = contents.and_then(hash) {
                let message = format!("whether `{local}` has the hash `{said}` is not looked at");
                let hint = "compare them before you build: the plan has the file's own digest";
                tell.warning(codes::FIELD_DIFFERS, path.value.span, message, hint);
            }
            made.put("src", text(path.value.span, local));
        }
        Some(Source::Other { said, has }) => {
            let at = contents.map_or(path.value.span, |contents| contents.span);
            let message = format!(
                "the content of `{name}` has the hash `{has}`, not `{said}`: Ignition would end the boot at it"
            );
            let hint = "correct `verification.hash`, or the content, or leave `verification` out";
            tell.error(codes::FIELD_REFUSED, at, message, hint);
            return None;
        }
        Some(Source::UnknownHash(said)) => {
            let at = contents.map_or(path.value.span, |contents| contents.span);
            let message = format!("`{said}` is no hash that Ignition knows: `{name}` cannot be written");
            tell.error(codes::WRONG_TYPE, at, message, "write `sha512-` or `sha256-`, and the digest in hex");
            return None;
        }
        Some(Source::Broken(why)) => {
            let at = contents.map_or(path.value.span, |contents| contents.span);
            let hint = "write `data:,` and the text with `%` escapes, or `data:;base64,` and base64";
            tell.error(codes::WRONG_TYPE, at, format!("{why}: `{name}` cannot be written"), hint);
            return None;
        }
    }
    place(&given, &mut made, tell);
    group.files.push(made.into_node());
    None
}

/// Every field of what is said about a content.
fn account(contents: &Node, tell: &mut Teller<'_>) {
    let given = tell.record(contents, "the content of a file", tables::CONTENTS);
    let remote = given.get("remote").map(|remote| tell.record(remote, "a remote content", tables::REMOTE));
    for outer in [Some(given), remote].into_iter().flatten() {
        if let Some(verification) = outer.get("verification") {
            let verification = tell.record(verification, "`verification` of a content", tables::VERIFICATION);
            if let Some(hash) = verification.get("hash").filter(|hash| hash.entries().is_some()) {
                tell.record(hash, "`hash` of a content", tables::HASH);
            }
        }
    }
}

fn encoded(bytes: &[u8], at: &Node, made: &mut Branch) {
    made.put("content", text(at.span, BASE64_STANDARD.encode(bytes)));
    made.put("encoding", text(at.span, "base64"));
}

/// Whether something goes to the root filesystem: there is no other.
fn is_on_root(given: &Record<'_>, tell: &mut Teller<'_>) -> bool {
    let Some(filesystem) = given.get("filesystem").filter(|name| !matches!(name.text(), Some("" | "root")))
    else {
        return true;
    };
    let message = "this goes to a filesystem of its own, and is not written: the node will differ";
    let hint = "write it beneath the path where that filesystem is mounted";
    tell.warning(codes::FIELD_DIFFERS, filesystem.span, message, hint);
    false
}

/// Permissions and owner. A config has the mode as a number.
fn place(given: &Record<'_>, made: &mut Branch, tell: &mut Teller<'_>) {
    if let Some(mode) = given.get("mode") {
        match mode.scalar().map(bringup_yaml::Scalar::go) {
            Some(Resolved::Integer(bits)) if (0..=0o7777).contains(&bits) => {
                made.put("mode", text(mode.span, format!("{bits:04o}")));
            }
            _ => {
                let hint = "write the number, in JSON in the decimal form: 420 is 0644";
                tell.error(codes::WRONG_TYPE, mode.span, "this is no mode of a file", hint);
            }
        }
    }
    let mut part = |key: &str| {
        let account = given.get(key)?;
        let account = tell.record(account, "an owner", tables::ACCOUNT);
        let id = account.text("id").map(str::to_owned);
        account.text("name").filter(|name| !name.is_empty()).map(str::to_owned).or(id)
    };
    let root = |name: Option<String>| name.filter(|name| name != "0").unwrap_or_else(|| "root".to_owned());
    let (user, group) = (root(part("user")), root(part("group")));
    if (user.as_str(), group.as_str()) != ("root", "root") {
        let span = given.get("user").or_else(|| given.get("group")).map(|node| node.span).unwrap_or_default();
        made.put("owner", text(span, format!("{user}:{group}")));
    }
}

/// Units of networkd are files where it reads them.
fn networks(config: &Record<'_>, group: &mut Group, tell: &mut Teller<'_>) {
    let Some(networkd) = config.get("networkd") else { return };
    let networkd = tell.record(networkd, "`networkd` of a config", tables::NETWORKD);
    let mut names = Names::default();
    for unit in networkd.items("units") {
        let given = tell.record(unit, "a unit of networkd", tables::NETWORK_UNIT);
        let Some(name) = names.take(unit, "name", "this unit of networkd", tell) else { continue };
        let name = name.value.text().unwrap_or_default();
        let mut drop_ins = Names::default();
        let mut written = |path: String, contents: &Node| {
            let mut file = Branch::new(unit.span);
            file.put("path", text(unit.span, path));
            file.put("content", literal(contents.span, contents.text().unwrap_or_default()));
            file.put("mode", text(unit.span, "0644"));
            group.files.push(file.into_node());
        };
        if let Some(contents) = given.get("contents") {
            written(format!("/etc/systemd/network/{name}"), contents);
        }
        for drop_in in given.items("dropins") {
            let given = tell.record(drop_in, "a drop-in of networkd", tables::DROP_IN);
            let Some(file) = drop_ins.take(drop_in, "name", "this drop-in", tell) else { continue };
            if let (Some(file), Some(contents)) = (file.value.text(), given.get("contents")) {
                written(format!("/etc/systemd/network/{name}.d/{file}"), contents);
            }
        }
    }
}

/// The keys of accounts that the image has.
fn keys(config: &Record<'_>, group: &mut Group, tell: &mut Teller<'_>) {
    let Some(passwd) = config.get("passwd") else { return };
    let passwd = tell.record(passwd, "`passwd` of a config", tables::PASSWD);
    let mut names = Names::default();
    for user in passwd.items("users") {
        let given = tell.record(user, "a user of a config", tables::USER);
        let Some(name) = names.take(user, "name", "this user", tell) else { continue };
        let name = name.value.text().unwrap_or_default();
        if !ACCOUNTS_OF_IMAGES.contains(&name) {
            let message = format!("the account `{name}` is not made: the node will differ");
            tell.warning(codes::FIELD_DIFFERS, user.span, message, tables::ACCOUNTS);
        }
        let keys = given.items("sshAuthorizedKeys").iter().chain(given.items("ssh_authorized_keys"));
        let keys: Vec<&str> = keys.filter(|key| !is_nothing(key)).filter_map(Node::text).collect();
        if keys.is_empty() {
            continue;
        }
        let home = given.text("homeDir").or_else(|| given.text("home_dir")).map_or_else(
            || if name == "root" { "/root".to_owned() } else { format!("/home/{name}") },
            str::to_owned,
        );
        let owner = || text(user.span, format!("{name}:{name}"));
        let mut folder = Branch::new(user.span);
        folder.put("path", text(user.span, format!("{home}/.ssh")));
        folder.put("mode", text(user.span, "0700"));
        folder.put("owner", owner());
        group.directories.push(folder.into_node());
        let mut file = Branch::new(user.span);
        file.put("path", text(user.span, format!("{home}/.ssh/authorized_keys")));
        file.put("content", literal(user.span, &format!("{}\n", keys.join("\n"))));
        file.put("mode", text(user.span, "0600"));
        file.put("owner", owner());
        group.files.push(file.into_node());
    }
}
