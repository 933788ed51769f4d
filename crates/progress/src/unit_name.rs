//! Names of units that follow from paths.

use std::fmt::Write as _;

/// The unit of a path, as systemd names it (systemd.unit(5), `systemd-escape --path`).
pub fn unit_of(path: &str, kind: &str) -> String {
    let mut name = String::new();
    let plain = path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    for (at, byte) in plain.bytes().enumerate() {
        match byte {
            b'/' => name.push('-'),
            b'.' if at > 0 => name.push('.'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "\\x{byte:02x}");
            }
        }
    }
    if name.is_empty() {
        name.push('-');
    }
    format!("{name}.{kind}")
}

#[cfg(test)]
mod tests {
    use super::unit_of;

    #[test]
    fn units_have_the_names_that_systemd_gives_them() {
        // As `systemd-escape --path --suffix=swap` of systemd 252 prints them.
        for (path, unit) in [
            ("/dev/dm-1", "dev-dm\\x2d1.swap"),
            ("/var/swapfile", "var-swapfile.swap"),
            ("/var//swap file", "var-swap\\x20file.swap"),
            ("/.swap", "\\x2eswap.swap"),
            ("/mnt/a.b", "mnt-a.b.swap"),
            ("/dev/disk/by-uuid/ab-cd", "dev-disk-by\\x2duuid-ab\\x2dcd.swap"),
        ] {
            assert_eq!(unit_of(path, "swap"), unit);
        }
    }
}
