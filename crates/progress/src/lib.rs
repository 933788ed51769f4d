//! What a node has done, and what it does next: decisions only.
//!
//! The journal's bytes become [`Record`]s ([`decode`]), records fold to a [`State`], and a [`Course`] says, one
//! [`Happening`] after the other, what is to be done: [`Effect`]s, in order. Nothing here touches a disk, a clock or a
//! source of randomness; the agent does, and tells the course how it went. [`Status`], [`Done`] and [`Failed`] are
//! what people and programs may see of it, [`Event`] is one line of any timeline.
#![forbid(unsafe_code)]

mod course;
mod digest;
mod event;
mod journal;
mod made;
mod manner;
mod record;
mod schemas;
mod state;
mod status;
mod text;
mod unit_name;

pub use course::{Adopted, Course, Effect, Happening, Known, Order, Range, Refusal, StageName, Surroundings};
pub use digest::digest;
pub use event::{Event, Happened};
pub use journal::{Damage, Decoded, JournalFault, Writer, compacted, decode};
pub use made::{Made, installed, made_by};
pub use manner::{LONGEST_PROBE_MS, Manner};
pub use record::{Entry, FORMAT, Failure, FailureKind, Outcome, Record, Success, Work};
pub use schemas::SCHEMAS;
pub use state::{Last, State, StepState};
pub use status::{Done, Failed, Standing, Status, StepProgress, StepStatus, is_whole};
pub use text::{AtWork, line, page};
pub use unit_name::unit_of;
