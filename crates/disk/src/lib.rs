//! Files that are whole or absent, whatever happens to the machine.
//!
//! [`Disk`] is the few calls beneath: [`RealDisk`] makes them under a root directory that no link and no `..` can leave;
//! the simulated one (feature `simulated`) keeps them in memory and, at a power cut, forgets what was not synced. What is
//! built on them is in [`Files`]: it replaces a file by a temporary one, sync, rename and sync of the directory, so that
//! after a cut the path holds the old or the new content, never a mix.
#![forbid(unsafe_code)]

mod calls;
mod fault;
mod files;
mod owner;
mod real;
#[cfg(feature = "simulated")]
mod simulated;
mod streams;

pub use calls::{Disk, Entry, Kind, Opened, Readable};
pub use fault::FileFault;
pub use files::{Change, Files, Wanted};
pub use owner::{Owner, OwnerFault};
pub use real::RealDisk;
#[cfg(feature = "simulated")]
pub use simulated::{Loss, SimulatedDisk};
pub use streams::StreamFault;
