//! Tells the manager about this very process, where it wants to know.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `READY=1`, `STATUS=…` and the like; does nothing where nobody listens. A manager that does not listen is no
/// reason to fail.
pub fn notify(socket: Option<&OsStr>, message: &str) {
    let Some(name) = socket.map(OsStr::as_bytes) else { return };
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(OsStr::from_bytes(name)),
    };
    if let (Ok(address), Ok(sender)) = (address, UnixDatagram::unbound()) {
        let _ = sender.send_to_addr(message.as_bytes(), &address);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::notify;

    #[test]
    fn the_manager_hears_it_at_an_abstract_address_and_nobody_else_is_waited_for() {
        let name = format!("bringup-notify-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        notify(Some(&OsString::from(format!("@{name}"))), "STATUS=paused at step 3 of 17");
        let mut heard = [0; 64];
        let count = manager.recv(&mut heard).unwrap();
        assert_eq!(&heard[..count], b"STATUS=paused at step 3 of 17");
        notify(Some(&OsString::from("/nowhere/at/all")), "READY=1");
        notify(None, "READY=1");
    }
}
