//! Files of the kernel and the system, read.

use std::collections::BTreeSet;

/// What has swap on it, by `/proc/swaps`.
pub(crate) fn swaps(text: &str) -> Vec<String> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescaped).collect()
}

/// Blanks and the like are octal there.
fn unescaped(text: &str) -> String {
    let mut plain = text.to_owned();
    for (written, letter) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(written, letter);
    }
    plain
}

/// Controllers that are on, by `/proc/cgroups`: of the first version of control groups.
pub(super) fn old_controllers(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let name = fields.next()?;
            (fields.nth(2)? == "1").then(|| name.to_owned())
        })
        .collect()
}

/// The names of the system and of those that it is like, by `os-release`.
pub(crate) fn system(text: &str) -> Vec<String> {
    let value = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.trim_matches(|letter| matches!(letter, '"' | '\'')).to_owned())
    };
    let like = value("ID_LIKE").unwrap_or_default();
    value("ID").into_iter().chain(like.split_whitespace().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::{old_controllers, swaps, system};

    #[test]
    fn tables_of_the_kernel_are_read() {
        let text = "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-1  partition\t999420\t0\t-2\n\
                    /var/swap\\040file file 1048572 0 -3\n";
        assert_eq!(swaps(text), ["/dev/dm-1", "/var/swap file"]);
        assert!(swaps("Filename Type Size Used Priority\n").is_empty());

        let text = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t3\t64\t1\nmemory\t0\t1\t0\n";
        assert_eq!(old_controllers(text).into_iter().collect::<Vec<_>>(), ["cpu"]);

        assert_eq!(system("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"), ["ubuntu", "debian"]);
        assert_eq!(system("ID=\"amzn\"\nID_LIKE=\"fedora\"\n"), ["amzn", "fedora"]);
    }
}
