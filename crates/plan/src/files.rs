//! Files, directories and links of the operator.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bringup_spec::{AbsolutePath, File, FileEncoding, Link, OsFamily, Phase, Text, Unpack};
use bringup_yaml::Path;

use crate::context::Context;
use crate::join::check_secret;
use crate::paths::is_within;
use crate::steps::plain;
use crate::{Action, Content, LocalEntry, LocalFile, Step, codes, sha256_hex};

/// People paste base64 with and without its padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Where files do not live long, or are no files.
const VOLATILE: [&str; 6] = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/run"];

/// What Flatcar mounts read-only, links into it included.
const READ_ONLY: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
/// The partition of the platform's own files, which is not.
const WRITABLE: [&str; 1] = ["/usr/share/oem"];

/// Steps for the phase `fetch`: directories first, then files, links last.
pub(crate) fn steps(context: &mut Context<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, directory) in context.group.directories.iter().enumerate() {
        let path = context.at(["directories"]).index(index).key("path");
        check_target(context, &path, directory.path.as_str());
        if directory.mode.0 & 0o100 == 0 {
            let hint =
                format!("write \"{:04o}\"", directory.mode.0 | (directory.mode.0 & 0o444) >> 2 | 0o100);
            let path = context.at(["directories"]).index(index).key("mode");
            let message = format!("with mode {} its owner cannot enter the directory", directory.mode);
            context.warning(codes::FILE_MODE, &path, message, hint);
        }
        let action = Action::MakeDirectory {
            path: directory.path.to_string(),
            mode: directory.mode.to_string(),
            owner: directory.owner.to_string(),
        };
        steps.push(plain(format!("directory:{}", directory.path), Phase::Fetch, action));
    }
    for (path, file) in all_files(context) {
        steps.extend(file_steps(context, &path, file));
    }
    for (index, link) in context.group.links.iter().enumerate() {
        let path = context.at(["links"]).index(index);
        check_target(context, &path.key("path"), link.path.as_str());
        check_link(context, &path, link);
        let action = Action::MakeLink { path: link.path.to_string(), target: link.target.clone() };
        steps.push(plain(format!("link:{}", link.path), Phase::Fetch, action));
    }
    steps
}

/// The files of the cluster and of the group, with their paths in the document.
fn all_files<'a>(context: &Context<'a>) -> Vec<(Path, &'a File)> {
    let spec = Context::spec_path(["files"]);
    let group = context.at(["files"]);
    let cluster = context.spec.files.iter().enumerate().map(|(index, file)| (spec.index(index), file));
    let own = context.group.files.iter().enumerate().map(|(index, file)| (group.index(index), file));
    cluster.chain(own).collect()
}

fn file_steps(context: &mut Context<'_>, path: &Path, file: &File) -> Vec<Step> {
    check_target(context, &path.key("path"), file.path.as_str());
    let sources = [file.content.is_some(), file.src.is_some(), !file.urls.is_empty(), file.secret.is_some()];
    let given = sources.iter().filter(|given| **given).count();
    if given != 1 {
        let message = if given == 0 {
            format!("nothing says what is in `{}`", file.path)
        } else {
            format!("several sources say what is in `{}`", file.path)
        };
        context.error(
            codes::FILE_SOURCE,
            path,
            message,
            "write exactly one of `content`, `src`, `urls` and `secret`",
        );
        return Vec::new();
    }
    if file.encoding == FileEncoding::Base64 && file.content.is_none() {
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path.key("encoding"),
            "`encoding` has no effect without `content`",
            "remove it",
        );
    }
    if let Some(text) = &file.content {
        return inline(context, path, file, text).into_iter().collect();
    }
    if let Some(source) = &file.src {
        return local(context, path, file, source);
    }
    if let Some(source) = &file.secret {
        check_secret(context, &path.key("secret"), source);
        if file.sha256.is_some() {
            context.key_warning(
                codes::WITHOUT_EFFECT,
                &path.key("sha256"),
                "the digest of a secret is not checked: it would tell something about it",
                "remove it",
            );
        }
        let mode = file.mode.map_or_else(|| "0600".to_owned(), |mode| mode.to_string());
        if file.mode.is_some_and(|mode| mode.0 & 0o077 != 0) {
            context.warning(
                codes::SECRET_MODE,
                &path.key("mode"),
                format!("mode {mode} lets others read the secret"),
                "write \"0600\", or leave `mode` out",
            );
        }
        return vec![write(file, file.path.as_str(), mode, Content::Secret(source.clone()))];
    }
    let Some(sha256) = &file.sha256 else {
        context.error(
            codes::FILE_DIGEST,
            path,
            format!("what is fetched for `{}` has no digest", file.path),
            "add `sha256:` with what `sha256sum FILE` prints",
        );
        return Vec::new();
    };
    let action = Action::Fetch {
        urls: file.urls.iter().map(ToString::to_string).collect(),
        sha256: sha256.to_string(),
        path: file.path.to_string(),
        mode: file.mode.map_or_else(|| "0644".to_owned(), |mode| mode.to_string()),
        owner: file.owner.to_string(),
        unpack: Unpack::No,
    };
    vec![plain(format!("file:{}", file.path), Phase::Fetch, action)]
}

fn write(file: &File, path: &str, mode: String, content: Content) -> Step {
    let action = Action::WriteFile { path: path.to_owned(), mode, owner: file.owner.to_string(), content };
    plain(format!("file:{path}"), Phase::Fetch, action)
}

fn inline(context: &mut Context<'_>, path: &Path, file: &File, text: &Text) -> Option<Step> {
    let mode = file.mode.map_or_else(|| "0644".to_owned(), |mode| mode.to_string());
    let body = match file.encoding {
        FileEncoding::Text => Content::Text(text.clone()),
        FileEncoding::Base64 => {
            let packed: Option<String> = text.as_literal().map(|text| text.split_whitespace().collect());
            let bytes = packed.and_then(|packed| LENIENT.decode(packed).ok());
            let Some(bytes) = bytes else {
                context.error(
                    codes::FILE_BASE64,
                    &path.key("content"),
                    format!("the content of `{}` is no base64", file.path),
                    "paste what `base64 FILE` prints, or write `encoding: text`",
                );
                return None;
            };
            from_bytes(&bytes)
        }
    };
    if let Some(wanted) = &file.sha256 {
        let found = match &body {
            Content::Text(text) => text.as_literal().map(|text| sha256_hex(text.as_bytes())),
            Content::Base64(packed) => LENIENT.decode(packed).ok().map(|bytes| sha256_hex(&bytes)),
            Content::Secret(_) | Content::Pieces(_) | Content::Merged { .. } => None,
            Content::PodTable(digest) => Some(digest.clone()),
        };
        check_digest(context, path, wanted.as_str(), found);
    }
    Some(write(file, file.path.as_str(), mode, body))
}

fn check_digest(context: &mut Context<'_>, path: &Path, wanted: &str, found: Option<String>) {
    match found {
        Some(found) if found == wanted => {}
        Some(found) => context.error(
            codes::FILE_DIGEST,
            &path.key("sha256"),
            format!("the content has the digest `{found}`"),
            "correct `sha256`, or remove it",
        ),
        None => context.key_warning(
            codes::WITHOUT_EFFECT,
            &path.key("sha256"),
            "the content has facts in it, so that its digest is known only on the node",
            "remove it",
        ),
    }
}

/// Bytes as text where they are text, else in base64.
fn from_bytes(bytes: &[u8]) -> Content {
    match std::str::from_utf8(bytes) {
        Ok(text) => Content::Text(Text::literal(text)),
        Err(_) => Content::Base64(base64::prelude::BASE64_STANDARD.encode(bytes)),
    }
}

fn local(context: &mut Context<'_>, path: &Path, file: &File, source: &str) -> Vec<Step> {
    let mode = |local: &LocalFile| match file.mode {
        Some(mode) => mode.to_string(),
        None if local.executable => "0755".to_owned(),
        None => "0644".to_owned(),
    };
    let files = context.files;
    match files.entries.get(source) {
        Some(LocalEntry::File(local)) => {
            if let Some(wanted) = &file.sha256 {
                check_digest(context, path, wanted.as_str(), Some(sha256_hex(&local.bytes)));
            }
            vec![write(file, file.path.as_str(), mode(local), from_bytes(&local.bytes))]
        }
        Some(LocalEntry::Directory(found)) => {
            if found.is_empty() {
                context.warning(
                    codes::FILE_EMPTY,
                    &path.key("src"),
                    format!("there is no file in the directory `{source}`"),
                    "put files into it, or use `directories` for an empty one",
                );
            }
            let mut steps = Vec::new();
            for (relative, local) in found {
                let target = format!("{}/{relative}", file.path);
                match AbsolutePath::parse(&target) {
                    Ok(target) => {
                        steps.push(write(file, target.as_str(), mode(local), from_bytes(&local.bytes)));
                    }
                    Err(fault) => {
                        context.error(codes::FILE_SRC, &path.key("src"), fault.message, "rename the file");
                    }
                }
            }
            steps
        }
        Some(LocalEntry::Refused(why)) => {
            context.error(
                codes::FILE_SRC,
                &path.key("src"),
                format!("`{source}` cannot be used: {why}"),
                "name a file or directory beside the document",
            );
            Vec::new()
        }
        None => {
            context.error(
                codes::FILE_SRC,
                &path.key("src"),
                format!("`{source}` was not found"),
                "name a file or directory beside the document",
            );
            Vec::new()
        }
    }
}

/// Checks that something can be written to `target`, and stays there.
pub(crate) fn check_target(context: &mut Context<'_>, path: &Path, target: &str) {
    check_read_only(context, path, target);
    if let Some(root) = VOLATILE.iter().find(|root| is_within(target, root)) {
        context.warning(
            codes::FILE_VOLATILE,
            path,
            format!("what is written beneath `{root}` does not outlive a boot"),
            "use a path such as `/etc/…` or `/opt/…`",
        );
    }
}

/// Checks that something can be written to `target`.
pub(crate) fn check_read_only(context: &mut Context<'_>, path: &Path, target: &str) {
    let inside = |roots: &[&'static str]| roots.iter().find(|root| is_within(target, root)).copied();
    let writable = inside(&WRITABLE).is_some() || context.group.os.family != OsFamily::Flatcar;
    if let Some(root) = inside(&READ_ONLY).filter(|_| !writable) {
        context.error(
            codes::FILE_READ_ONLY,
            path,
            format!("on Flatcar nothing can be written beneath `{root}`: it is part of the read-only image"),
            "use a path such as `/opt/…` or `/etc/…`",
        );
    }
}

fn check_link(context: &mut Context<'_>, path: &Path, link: &Link) {
    if link.target.is_empty() || link.target.chars().any(char::is_control) {
        context.error(
            codes::LINK_TARGET,
            &path.key("target"),
            "a link needs a target on one line",
            "write a path, such as `/usr/lib/example`",
        );
    }
    // A target that is not absolute is looked for beside the link.
    let beside = link.path.as_str().rsplit_once('/').map(|(above, _)| format!("{above}/{}", link.target));
    if link.target == link.path.as_str() || beside.as_deref() == Some(link.path.as_str()) {
        context.error(
            codes::LINK_TARGET,
            &path.key("target"),
            format!("`{}` would point to itself", link.path),
            "write another target",
        );
    }
}
