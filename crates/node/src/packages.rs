//! The package tools of operating systems: what is run, and with which arguments.

use bringup_spec::OsFamily;

/// A tool that installs packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Apt,
    Dnf,
    Yum,
    Zypper,
}

/// How long a tool waits for another one to end, in seconds.
const LOCK_WAIT: u32 = 600;

impl Tool {
    /// Every tool, in the order in which they are looked for: where `dnf` is, `yum` is a name of it.
    pub(crate) const ALL: [Self; 4] = [Self::Apt, Self::Dnf, Self::Yum, Self::Zypper];

    /// The tool of a family; none where only the machine itself can tell.
    pub(crate) fn of(family: OsFamily) -> Option<Self> {
        match family {
            OsFamily::Debian | OsFamily::Ubuntu => Some(Self::Apt),
            OsFamily::AmazonLinux2023 => Some(Self::Dnf),
            OsFamily::AmazonLinux2 => Some(Self::Yum),
            OsFamily::Flatcar | OsFamily::Generic => None,
        }
    }

    /// Its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Apt => "/usr/bin/apt-get",
            Self::Dnf => "/usr/bin/dnf",
            Self::Yum => "/usr/bin/yum",
            Self::Zypper => "/usr/bin/zypper",
        }
    }

    /// Reads the lists of packages anew; the others do so by themselves.
    pub(crate) fn refresh(self) -> Option<Vec<String>> {
        match self {
            Self::Apt => Some(self.words(&["-q", "update"])),
            Self::Dnf | Self::Yum | Self::Zypper => None,
        }
    }

    /// Installs a package, in this version if one is given.
    pub(crate) fn install(self, package: &str, version: Option<&str>) -> Vec<String> {
        let wanted = self.wanted(package, version);
        match self {
            Self::Apt => {
                let mut words = self.apt(&["install", "--no-install-recommends", "--allow-downgrades"]);
                words.push(wanted);
                words
            }
            Self::Dnf | Self::Yum => self.words(&["-y", "install", &wanted]),
            Self::Zypper => self.words(&["--non-interactive", "install", "--oldpackage", &wanted]),
        }
    }

    /// Updates everything but what is held back.
    pub(crate) fn update(self, hold: &[String]) -> Vec<Vec<String>> {
        match self {
            // It has no option to hold something back: the mark is set before and stays.
            Self::Apt => {
                let mark = (!hold.is_empty()).then(|| {
                    let mut words = vec!["/usr/bin/apt-mark".to_owned(), "hold".to_owned()];
                    words.extend(hold.iter().cloned());
                    words
                });
                mark.into_iter().chain([self.apt(&["upgrade", "--with-new-pkgs"])]).collect()
            }
            Self::Dnf | Self::Yum => {
                let mut words = self.words(&["-y"]);
                words.extend(hold.iter().map(|package| format!("--exclude={package}")));
                words.push(if self == Self::Dnf { "upgrade" } else { "update" }.to_owned());
                vec![words]
            }
            Self::Zypper => {
                let lock = (!hold.is_empty()).then(|| {
                    let mut words = self.words(&["--non-interactive", "addlock"]);
                    words.extend(hold.iter().cloned());
                    words
                });
                let update = self.words(&["--non-interactive", "update", "--auto-agree-with-licenses"]);
                lock.into_iter().chain([update]).collect()
            }
        }
    }

    /// What the tool needs in its environment beside what the plan says: nobody is there to answer, and nothing is to be
    /// started. A package that starts its service waits for it, and kubelet's waits for the gate, which waits for us.
    pub(crate) fn environment() -> [&'static str; 4] {
        [
            "DEBIAN_FRONTEND=noninteractive",
            "NEEDRESTART_SUSPEND=1",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SYSTEMD_OFFLINE=1",
        ]
    }

    /// A package in a version, as the tool wants it. A version may be the beginning of one: with two numbers, any third.
    fn wanted(self, package: &str, version: Option<&str>) -> String {
        let Some(version) = version.filter(|_| !package.contains('=')) else { return package.to_owned() };
        let version = version.strip_prefix('v').unwrap_or(version);
        let short = version.split('.').count() < 3 && !version.contains('-');
        match self {
            Self::Apt if short => format!("{package}={version}.*"),
            Self::Apt => format!("{package}={version}*"),
            Self::Dnf | Self::Yum if short => format!("{package}-{version}.*"),
            Self::Dnf | Self::Yum => format!("{package}-{version}*"),
            // It knows no beginnings; what was installed is looked at afterwards.
            Self::Zypper if short => package.to_owned(),
            Self::Zypper => format!("{package}={version}"),
        }
    }

    fn apt(self, rest: &[&str]) -> Vec<String> {
        let lock = format!("DPkg::Lock::Timeout={LOCK_WAIT}");
        let mut words = self.words(&["-q", "-y", "-o", &lock, "-o", "Dpkg::Options::=--force-confold"]);
        words.extend(rest.iter().map(|word| (*word).to_owned()));
        words
    }

    fn words(self, rest: &[&str]) -> Vec<String> {
        [self.program()].iter().chain(rest).map(|word| (*word).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;

    fn last(words: &[String]) -> &str {
        words.last().map(String::as_str).unwrap_or_default()
    }

    #[test]
    fn a_version_is_given_as_each_tool_wants_it() {
        for (tool, version, wanted) in [
            (Tool::Apt, None, "kubelet"),
            (Tool::Apt, Some("1.33.4"), "kubelet=1.33.4*"),
            (Tool::Apt, Some("v1.33"), "kubelet=1.33.*"),
            (Tool::Dnf, Some("1.33.4"), "kubelet-1.33.4*"),
            (Tool::Yum, Some("1.33"), "kubelet-1.33.*"),
            (Tool::Zypper, Some("1.33.4"), "kubelet=1.33.4"),
            (Tool::Zypper, Some("1.33"), "kubelet"),
        ] {
            assert_eq!(last(&tool.install("kubelet", version)), wanted, "{tool:?} {version:?}");
        }
        assert_eq!(last(&Tool::Apt.install("kubelet=1.33.4-1.1", Some("1.33.4"))), "kubelet=1.33.4-1.1");
    }

    #[test]
    fn what_is_held_back_is_told_before_the_update_or_with_it() {
        let hold = ["linux-image-amd64".to_owned()];
        let apt = Tool::Apt.update(&hold);
        assert_eq!(apt[0], ["/usr/bin/apt-mark", "hold", "linux-image-amd64"]);
        assert_eq!(apt.len(), 2);
        assert_eq!(Tool::Apt.update(&[]).len(), 1);
        assert_eq!(
            Tool::Dnf.update(&hold),
            [["/usr/bin/dnf", "-y", "--exclude=linux-image-amd64", "upgrade"]]
        );
    }
}
