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
