//! Settings of the kernel: their files, by the rules of sysctl.d(5), and what the kernel says to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A setting that the kernel does not take.
#[derive(Debug)]
pub(super) struct Refused {
    /// As it is written.
    pub(super) name: String,
    pub(super) fault: std::io::Error,
}

/// Sets all of them beneath `root`, whatever becomes of others, and says which are refused.
pub(super) fn refused(root: &Path, settings: &BTreeMap<String, String>) -> Vec<Refused> {
    let mut refused = Vec::new();
    for (file, (name, value)) in files(root, settings) {
        if let Err(fault) = set(&root.join(file), value) {
            refused.push(Refused { name: name.to_owned(), fault });
        }
    }
    refused
}

fn set(path: &Path, value: &str) -> std::io::Result<()> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if words(&std::fs::read_to_string(path)?) == words(value) {
        return Ok(());
    }
    std::fs::write(path, format!("{value}\n"))
}

/// The file of each setting beneath `root`, with its name and its value. What a glob finds is set by it unless it has a name of
/// its own; a glob that finds nothing sets nothing.
fn files<'a>(root: &Path, settings: &'a BTreeMap<String, String>) -> BTreeMap<String, (&'a str, &'a str)> {
    let mut files = BTreeMap::new();
    for (name, value) in settings {
        let path = bringup_plan::sysctl_path(name);
        if is_glob(&path) {
            let found = found(root, &path).into_iter().map(|file| (file, (name.as_str(), value.as_str())));
            files.extend(found);
        }
    }
    for (name, value) in settings {
        let path = bringup_plan::sysctl_path(name);
        if !is_glob(&path) {
            files.insert(path, (name, value));
        }
    }
    files
}

fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The files beneath `root` that a glob finds, by their paths from there.
fn found(root: &Path, glob: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([String::new()]);
    for part in glob.split('/') {
        found = found.iter().flat_map(|place| entries(root, place, part)).collect();
    }
    found.retain(|path| root.join(path).is_file());
    found
}

/// What lies at `place` under names that `part` stands for.
fn entries(root: &Path, place: &str, part: &str) -> Vec<String> {
    let beneath = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") };
    if !is_glob(part) {
        return vec![beneath(part)];
    }
    let pattern: Vec<char> = part.chars().collect();
    let Ok(entries) = std::fs::read_dir(root.join(place)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| matches(&pattern, &name.chars().collect::<Vec<_>>()))
        .map(|name| beneath(&name))
        .collect()
}

/// Whether a pattern of glob(7) stands for this name.
fn matches(pattern: &[char], name: &[char]) -> bool {
    match pattern {
        [] => name.is_empty(),
        ['*', rest @ ..] => (0..=name.len()).any(|from| matches(rest, name.get(from..).unwrap_or_default())),
        [first, rest @ ..] => {
            let [letter, others @ ..] = name else { return false };
            match (first, class(rest)) {
                ('?', _) => matches(rest, others),
                ('[', Some((among, rest))) => holds(among, *letter) && matches(rest, others),
                _ => first == letter && matches(rest, others),
            }
        }
    }
}

/// What stands between brackets, and what comes behind them; a bracket right behind the first is a letter.
fn class(pattern: &[char]) -> Option<(&[char], &[char])> {
    let from = pattern.iter().take_while(|letter| **letter == '!').count().min(1).saturating_add(1);
    let end = pattern.iter().skip(from).position(|letter| *letter == ']')?.saturating_add(from);
    Some((pattern.get(..end)?, pattern.get(end.saturating_add(1)..)?))
}

/// Whether a letter is among those of a class: `a-z`, `abc`, `!abc`.
fn holds(class: &[char], letter: char) -> bool {
    let (class, is_among) = match class {
        ['!', rest @ ..] => (rest, false),
        class => (class, true),
    };
    let mut left = class;
    let mut found = false;
    while let [first, rest @ ..] = left {
        left = match rest {
            ['-', last, rest @ ..] => {
                found |= (*first..=*last).contains(&letter);
                rest
            }
            rest => {
                found |= *first == letter;
                rest
            }
        };
    }
    found == is_among
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{files, matches, refused};

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// As `sysctl` of procps and `systemd-sysctl` find them.
    #[test]
    fn dots_and_slashes_of_a_setting_change_places_unless_a_slash_comes_first() {
        for (name, file) in [
            ("vm.max_map_count", "vm/max_map_count"),
            ("vm/max_map_count", "vm/max_map_count"),
            ("net.ipv4.conf.eth0/1.rp_filter", "net/ipv4/conf/eth0.1/rp_filter"),
            ("net/ipv4/conf/eth0.1/rp_filter", "net/ipv4/conf/eth0.1/rp_filter"),
        ] {
            let settings = settings(&[(name, "1")]);
            let found = files(std::path::Path::new("/nowhere"), &settings);
            assert_eq!(found.keys().collect::<Vec<_>>(), [file], "{name}");
        }
    }

    #[test]
    fn a_glob_sets_what_is_there_and_has_no_name_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let place = |interface: &str| root.path().join("net/ipv4/conf").join(interface).join("rp_filter");
        for interface in ["all", "eth0", "eth0.1", "lo"] {
            std::fs::create_dir_all(place(interface).parent().unwrap()).unwrap();
            std::fs::write(place(interface), "9\n").unwrap();
        }
        let given = settings(&[
            ("net.ipv4.conf.*.rp_filter", "0"),
            ("net.ipv4.conf.all.rp_filter", "1"),
            ("net.ipv4.conf.et?0/[0-9].rp_filter", "2"),
            ("net.ipv6.conf.*.accept_ra", "2"),
            ("net.netfilter.nf_conntrack_max", "1048576"),
        ]);
        let refused = refused(root.path(), &given);
        let names: Vec<&str> = refused.iter().map(|refused| refused.name.as_str()).collect();
        assert_eq!(names, ["net.netfilter.nf_conntrack_max"]);
        let now = |interface: &str| std::fs::read_to_string(place(interface)).unwrap();
        assert_eq!(["all", "eth0", "eth0.1", "lo"].map(now), ["1\n", "0\n", "2\n", "0\n"]);
    }

    /// Held against `fnmatch` of Python, whose rules for these are those of glob(7).
    #[test]
    fn patterns_stand_for_names_as_in_glob() {
        for (pattern, name, expected) in [
            ("lxc*", "lxc", true),
            ("lxc*", "lx", false),
            ("*a*b", "xaxb", true),
            ("*a*b", "xaxbx", false),
            ("e?h", "eth", true),
            ("e?h", "eh", false),
            ("eth[0-2]", "eth1", true),
            ("eth[0-2]", "eth3", false),
            ("eth[!0-2]", "eth3", true),
            ("eth[!0-2]", "eth2", false),
            ("a[]]", "a]", true),
            ("a[b", "a[b", true),
            ("a[x-]", "a-", true),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(matches(&letters(pattern), &letters(name)), expected, "{pattern} {name}");
        }
    }
}
