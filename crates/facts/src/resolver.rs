//! The file from which kubelet takes the servers of names that pods ask.

/// The system's own.
pub const SYSTEM: &str = "/etc/resolv.conf";

/// The servers that systemd-resolved itself asks.
pub const UPSTREAM: &str = "/run/systemd/resolve/resolv.conf";

/// The file for pods, by what is in the system's own. In a pod, a server on the loopback is the pod itself: where there is no
/// other, it is the file behind systemd-resolved, if there is one.
pub fn for_pods(system: &str, has_upstream: bool) -> &'static str {
    let server = |line: &str| {
        let mut words = line.split_whitespace();
        (words.next() == Some("nameserver")).then(|| words.next().unwrap_or_default().to_owned())
    };
    let is_loopback = |server: String| server.starts_with("127.") || server == "::1";
    if has_upstream && system.lines().filter_map(server).all(is_loopback) { UPSTREAM } else { SYSTEM }
}

#[cfg(test)]
mod tests {
    use super::{SYSTEM, UPSTREAM, for_pods};

    #[test]
    fn servers_on_the_loopback_are_none_for_pods() {
        let stub = "# systemd-resolved\nnameserver 127.0.0.53\noptions edns0 trust-ad\nsearch lan\n";
        for (system, has_upstream, file) in [
            (stub, true, UPSTREAM),
            ("nameserver ::1\n", true, UPSTREAM),
            ("", true, UPSTREAM),
            (stub, false, SYSTEM),
            ("nameserver 10.0.0.2\n", true, SYSTEM),
            ("nameserver 127.0.0.1\nnameserver 10.0.0.2\n", true, SYSTEM),
            ("# nameserver 10.0.0.2\nnameserver\t127.0.0.53\n", true, UPSTREAM),
        ] {
            assert_eq!(for_pods(system, has_upstream), file, "{system}");
        }
    }
}
