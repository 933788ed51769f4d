//! D-Bus on the wire: values, messages and their bytes. Nothing here touches a socket.

use std::fmt::Write as _;

mod message;
mod read;
mod value;
mod write;

pub use message::{Kind, Message};
pub use read::Malformed;
pub use value::Value;

pub(crate) use message::total_length;

/// Bytes as two digits each.
pub(crate) fn hex(bytes: impl Iterator<Item = u8>) -> String {
    bytes.fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
