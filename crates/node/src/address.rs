//! The address that others reach this machine by.

use std::net::UdpSocket;

/// The address from which the machine would speak to the world. The kernel looks the route up; nothing is sent.
pub(crate) fn primary(ipv6: bool) -> Option<String> {
    // Addresses for documentation: no machine has them, and every default route leads to them.
    let (any, far) = if ipv6 { ("[::]:0", "[2001:db8::1]:9") } else { ("0.0.0.0:0", "192.0.2.1:9") };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(far).ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

/// The hardware address of the interface that the default route leads through.
pub(crate) fn hardware() -> Option<String> {
    let routes = std::fs::read_to_string("/proc/net/route").ok()?;
    let default = |line: &&str| line.split_whitespace().nth(1) == Some("00000000");
    let interface = routes.lines().find(default)?.split_whitespace().next()?;
    let address = std::fs::read_to_string(format!("/sys/class/net/{interface}/address")).ok()?;
    let address = address.trim().to_owned();
    (address.split(':').count() == 6).then_some(address)
}
