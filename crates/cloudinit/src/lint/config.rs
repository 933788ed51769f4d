//! Cloud-config: keys that nobody reads, and files that do not come out as written.

use std::collections::BTreeSet;

use bringup_diag::{Finding, Findings, closest};
use bringup_yaml::{Node, Resolved, Style};

use super::lines::lines_of;
use super::swallowed::{swallowed, swallowed_by, swallowed_whole};
use super::unit_text;
use crate::data::Value;
use crate::files::{self, absolute, is_common_owner, makes_account, octal};
use crate::scan::Comment;
use crate::units::{drop_in_of, unit_name};
use crate::{Datum, Origin, codes};

/// A cloud-config part that could be read, if need be with its tabs repaired.
pub(super) struct Config {
    pub node: Node,
    pub origin: Origin,
    pub comments: Vec<Comment>,
}

/// The keys of cloud-init's schema and those that its core reads, 22.4 and later.
const KEYS: &[&str] = &[
    "allow_public_ssh_keys",
    "allow_userdata",
    "ansible",
    "apk_repos",
    "apt",
    "apt_pipelining",
    "apt_proxy",
    "apt_reboot_if_required",
    "apt_sources",
    "apt_update",
    "apt_upgrade",
    "authkey_hash",
    "autoinstall",
    "bootcmd",
    "byobu_by_default",
    "ca-certs",
    "ca_certs",
    "chef",
    "chpasswd",
    "cloud_config_modules",
    "cloud_final_modules",
    "cloud_init_modules",
    "create_hostname_file",
    "datasource",
    "datasource_list",
    "device_aliases",
    "disable_ec2_metadata",
    "disable_root",
    "disable_root_opts",
    "disk_setup",
    "drivers",
    "fan",
    "final_message",
    "fqdn",
    "fs_setup",
    "groups",
    "growpart",
    "grub-dpkg",
    "grub_dpkg",
    "hostname",
    "instance-id",
    "keyboard",
    "landscape",
    "launch-index",
    "locale",
    "locale_configfile",
    "lxd",
    "manage_etc_hosts",
    "manage_resolv_conf",
    "mcollective",
    "merge_how",
    "merge_type",
    "migrate",
    "mount_default_fields",
    "mounts",
    "network",
    "no_ssh_fingerprints",
    "ntp",
    "output",
    "package_reboot_if_required",
    "package_update",
    "package_upgrade",
    "packages",
    "password",
    "phone_home",
    "power_state",
    "prefer_fqdn_over_hostname",
    "preserve_hostname",
    "puppet",
    "random_seed",
    "reporting",
    "resize_rootfs",
    "resolv_conf",
    "rh_subscription",
    "rpi",
    "rsyslog",
    "runcmd",
    "salt_minion",
    "snap",
    "spacewalk",
    "ssh",
    "ssh_authorized_keys",
    "ssh_deletekeys",
    "ssh_fp_console_blacklist",
    "ssh_genkeytypes",
    "ssh_import_id",
    "ssh_key_console_blacklist",
    "ssh_keys",
    "ssh_publish_hostkeys",
    "ssh_pwauth",
    "ssh_quiet_keygen",
    "swap",
    "system_info",
    "timezone",
    "ubuntu_advantage",
    "ubuntu_pro",
    "updates",
    "user",
    "users",
    "vendor_data",
    "vendor_data2",
    "version",
    "wireguard",
    "write_files",
    "yum_repo_dir",
    "yum_repos",
    "zypper",
];

/// An item of `write_files`.
struct Item<'node> {
    node: &'node Node,
    path: &'node Node,
    absolute: String,
    deferred: bool,
}

pub(super) fn of(configs: &[Config]) -> Findings {
    let mut findings = Findings::new();
    let mounts: Vec<(String, &Config, &Node)> = configs.iter().flat_map(mount_points).collect();
    let accounts: Vec<Datum> =
        configs.iter().filter_map(|config| Datum::construct(&config.node, 0).ok()).collect();
    for (number, config) in configs.iter().enumerate() {
        keys(config, number == 0 && configs.len() > 1, &mut findings);
        for item in items(&config.node) {
            permissions(config, &item, &mut findings);
            owner(config, &item, &accounts, &mut findings);
            placement(config, &item, &mounts, &mut findings);
            units(config, &item, &mut findings);
            cut_short(config, &item, &mut findings);
        }
    }
    findings
}

/// The absolute paths of all files that are written.
pub(super) fn paths(configs: &[Config]) -> BTreeSet<String> {
    configs.iter().flat_map(|config| items(&config.node)).map(|item| item.absolute).collect()
}

fn items(node: &Node) -> Vec<Item<'_>> {
    let list = node.get("write_files").and_then(Node::items).unwrap_or_default();
    list.iter()
        .filter_map(|node| {
            let path = node.get("path")?;
            let absolute = absolute(path.text()?);
            let defer = node.get("defer").and_then(|defer| Datum::construct(defer, 0).ok());
            Some(Item { node, path, absolute, deferred: defer.is_some_and(|defer| defer.is_true()) })
        })
        .collect()
}

fn mount_points(config: &Config) -> Vec<(String, &Config, &Node)> {
    let list = config.node.get("mounts").and_then(Node::items).unwrap_or_default();
    list.iter()
        .filter_map(|mount| {
            let target = mount.items()?.get(1)?;
            let path = target.text().filter(|path| path.starts_with('/'))?;
            Some((absolute(path), config, target))
        })
        .filter(|(path, _, _)| path != "/")
        .collect()
}

fn keys(config: &Config, first_of_several: bool, findings: &mut Findings) {
    for entry in config.node.entries().unwrap_or_default() {
        let place = || config.origin.place(entry.key_span);
        let key = entry.key.as_str();
        match key {
            "merge_how" | "merge_type" if first_of_several => findings.push(
                Finding::warning(
                    codes::MERGE_HOW,
                    format!("`{key}` in the first cloud-config part has no effect"),
                )
                .at(place())
                .hint("put it into the later part: it says how that part is merged into those before it"),
            ),
            "cloud_init_modules" | "cloud_config_modules" | "cloud_final_modules" => findings.push(
                Finding::note(
                    codes::MODULE_LIST,
                    format!("`{key}` replaces the image's list of modules: what it leaves out does not run"),
                )
                .at(place()),
            ),
            // A key such as `x-shared` only holds an anchor.
            _ if KEYS.contains(&key) || key.starts_with("x-") || key.starts_with(['_', '.', '<', '[']) => {}
            _ => {
                let finding =
                    Finding::warning(codes::UNKNOWN_KEY, format!("no module of cloud-init reads `{key}`"))
                        .at(place());
                findings.push(match closest(key, KEYS.iter().copied()) {
                    Some(near) => finding.hint(format!("did you mean `{near}`?")),
                    None => {
                        finding.hint("delete it, or check the list of modules in cloud-init's documentation")
                    }
                });
            }
        }
    }
}

fn permissions(config: &Config, item: &Item<'_>, findings: &mut Findings) {
    let Some(node) = item.node.get("permissions") else { return };
    let Some(scalar) = node.scalar() else { return };
    let place = config.origin.place(node.span);
    match scalar.yaml11() {
        // `0755` is octal to PyYAML as well.
        Resolved::Integer(_) if scalar.text.starts_with('0') => special_bits(config, item, node, findings),
        Resolved::Integer(_) | Resolved::Bool(_) | Resolved::Float(_) => {
            findings.extend(number_as_mode(node).map(|finding| finding.at(place)));
        }
        Resolved::Null => {}
        Resolved::String(text) if octal(&text).is_some() => special_bits(config, item, node, findings),
        _ => findings.push(
            Finding::error(
                codes::PERMISSIONS,
                format!("`{}` is no octal number: the file gets mode 0644", scalar.text),
            )
            .at(place)
            .hint("write `permissions: '0644'`"),
        ),
    }
}

/// A number that is taken as it is, whatever base it was meant in.
fn number_as_mode(node: &Node) -> Option<Finding> {
    let text = node.text()?;
    let datum = Datum::construct(node, 0).ok()?;
    let mode = files::mode(Some(&datum));
    let number = match datum.value {
        Value::Integer(_) => {
            let message = format!("`{text}` is taken as a decimal number, which is mode {mode:04o}");
            let meant = octal(text).filter(|meant| *meant <= 0o7777);
            return Some(match meant {
                // JSON has decimal numbers only: 493 is what says 0755 there.
                _ if is_usual(mode) && !meant.is_some_and(is_usual) => {
                    Finding::warning(codes::PERMISSIONS, message)
                        .hint(format!("write `permissions: '{mode:04o}'`"))
                }
                Some(meant) => Finding::error(codes::PERMISSIONS, message)
                    .hint(format!("write `permissions: '{meant:04o}'`")),
                None => Finding::error(codes::PERMISSIONS, message)
                    .hint("write the mode in octal and in quotes, such as `permissions: '0644'`"),
            });
        }
        Value::Bool(truth) => u32::from(truth).to_string(),
        Value::Float(number) => format!("{:.0}", number.trunc()),
        _ => return None,
    };
    let message = format!("`{text}` is taken as the number {number}, which is mode {mode:04o}");
    Some(Finding::error(codes::PERMISSIONS, message).hint("write `permissions: '0644'`"))
}

/// Whether files have such a mode: whoever may write may read, and nobody may do what the owner may not.
fn is_usual(mode: u32) -> bool {
    let digit = |shift: u32| (mode >> shift) & 0o7;
    let (owner, group, others) = (digit(6), digit(3), digit(0));
    let sensible = |digit: u32| matches!(digit, 0 | 4..=7);
    mode <= 0o777
        && owner >= 4
        && [owner, group, others].into_iter().all(sensible)
        && group & !owner == 0
        && others & !group == 0
}

/// The owner is set after the mode, and takes setuid and setgid away.
fn special_bits(config: &Config, item: &Item<'_>, node: &Node, findings: &mut Findings) {
    let Ok(permissions) = Datum::construct(node, 0) else { return };
    let mode = files::mode(Some(&permissions));
    let left = files::without_set_id(mode);
    let unowned = |node: &Node| node.scalar().is_some_and(|scalar| scalar.yaml11() == Resolved::Null);
    let owned = !item.node.get("owner").is_some_and(unowned);
    if mode != left && owned {
        findings.push(
            Finding::warning(
                codes::PERMISSIONS,
                format!("cloud-init sets the owner last, which leaves {left:04o} of mode {mode:04o}"),
            )
            .at(config.origin.place(node.span))
            .hint("set the bits with `chmod` in `runcmd`"),
        );
    }
}

fn owner(config: &Config, item: &Item<'_>, accounts: &[Datum], findings: &mut Findings) {
    let Some(node) = item.node.get("owner").filter(|_| !item.deferred) else { return };
    let is_null = node.scalar().is_some_and(|scalar| scalar.yaml11() == Resolved::Null);
    let Some(owner) = node.text().filter(|owner| !is_null && !is_common_owner(owner)) else { return };
    let (user, group) = owner.split_once(':').unwrap_or((owner, ""));
    let told = |name: &str| {
        name.chars().all(|letter| letter.is_ascii_digit())
            || accounts.iter().any(|config| makes_account(config, name))
    };
    if told(user.trim()) && told(group.trim()) {
        return;
    }
    findings.push(
        Finding::warning(
            codes::OWNER,
            format!(
                "unless the image has `{owner}`, cloud-init stops here and writes none of the files below"
            ),
        )
        .at(config.origin.place(node.span))
        .hint("add `defer: true`: the file is then written after users and packages"),
    );
}

fn placement(config: &Config, item: &Item<'_>, mounts: &[(String, &Config, &Node)], findings: &mut Findings) {
    let place = config.origin.place(item.path.span);
    if item.absolute.starts_with("/tmp/") {
        findings.push(
            Finding::note(codes::TEMPORARY, "files in `/tmp` may be cleaned away while the machine boots")
                .at(place.clone())
                .hint("use a directory of your own under `/run`"),
        );
    }
    if item.deferred {
        return;
    }
    let beneath = |mount: &str| item.absolute.strip_prefix(mount).is_some_and(|rest| rest.starts_with('/'));
    for (mount, other, node) in mounts.iter().filter(|(mount, _, _)| beneath(mount)) {
        findings.push(
            Finding::warning(
                codes::UNDER_MOUNT,
                format!("written before `{mount}` is mounted, which then hides it"),
            )
            .at(place.clone())
            .related(other.origin.place(node.span), "the mount point")
            .hint("add `defer: true`: the file is then written after mounts"),
        );
    }
}

/// A path or content that a comment cuts short.
fn cut_short(config: &Config, item: &Item<'_>, findings: &mut Findings) {
    // What follows a path is a remark, unless it looks like the rest of it.
    let rest = swallowed_by(item.path, &config.comments).filter(|comment| comment.text.contains('/'));
    findings.extend(rest.map(|comment| swallowed(config, "path", item.path, comment)));
    let entries = item.node.entries().unwrap_or_default();
    let Some(entry) = entries.iter().find(|entry| entry.key == "content") else { return };
    let comment = swallowed_by(&entry.value, &config.comments)
        .or_else(|| swallowed_whole(entry.key_span, &entry.value, &config.comments));
    if let Some(comment) = comment {
        findings.push(swallowed(config, "content", &entry.value, comment));
    }
}

fn units(config: &Config, item: &Item<'_>, findings: &mut Findings) {
    let (unit, drop_in) = match (unit_name(&item.absolute), drop_in_of(&item.absolute)) {
        (Some(unit), _) => (unit, false),
        (None, Some(unit)) => (unit, true),
        (None, None) => return,
    };
    if item.absolute.starts_with("/lib/") || item.absolute.starts_with("/usr/lib/") {
        findings.push(
            Finding::warning(
                codes::VENDOR_PATH,
                "this directory belongs to the image, and is elsewhere on other distributions",
            )
            .at(config.origin.place(item.path.span))
            .hint("write units and drop-ins to `/etc/systemd/system`"),
        );
    }
    let Some(content) = item.node.get("content") else { return };
    if let Some(text) = decoded(item, content) {
        // Its lines stand nowhere in the part: all points to the content as a whole.
        let place = config.origin.place(content.span);
        let lines: Vec<_> = text.lines().map(|line| (line.to_owned(), place.clone())).collect();
        unit_text::syntax(&lines, findings);
        unit_text::of(unit, drop_in, &lines, findings);
        return;
    }
    let in_quotes = content.scalar().is_some_and(|scalar| scalar.style == Style::Quoted);
    let lines = lines_of(content);
    let lines = lines.iter().flat_map(|line| {
        let place = line.place(&config.origin, 1, line.text.chars().count());
        // In quotes, several lines of the unit stand on one line of the part.
        let pieces = if in_quotes { line.text.lines().collect() } else { vec![line.text.as_str()] };
        pieces.into_iter().map(move |piece| (piece.to_owned(), place.clone())).collect::<Vec<_>>()
    });
    let lines: Vec<_> = lines.collect();
    unit_text::syntax(&lines, findings);
    unit_text::of(unit, drop_in, &lines, findings);
}

/// What the item's content says once it is decoded, if that is another text than is written; what cannot be decoded
/// says nothing, and is told elsewhere.
fn decoded(item: &Item<'_>, content: &Node) -> Option<String> {
    let item = Datum::construct(item.node, 0).ok()?;
    let Ok(Some(bytes)) = files::content(&item) else { return Some(String::new()) };
    if content.text().map(str::as_bytes) == Some(bytes.as_slice()) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
