//! Plans to carriers and back.
//!
//! A [`Load`] is a plan with the document that it came from; [`Load::render`] gives the bytes of a carrier, its size against
//! the platform's limit and what there is to tell. The way back is [`read_plan`].
//! Everything here is pure: the same input gives the same bytes.
#![forbid(unsafe_code)]

mod bootstrap_call;
mod budget;
mod bundle;
mod cloud_config;
pub mod codes;
mod compress;
mod fetch;
mod first_stage;
mod guarantees;
mod ignition;
mod inspect;
mod load;
mod lost;
mod multipart;
mod nodeadm_parts;
mod nodeadm_pulls;
mod nodeadm_settings;
mod nodeconfig;
mod pieces;
mod placed;
mod publish;
mod read_plan;
mod render;
mod shell;
mod shell_facts;
mod stage_files;
mod step_place;
mod step_runner;
mod template;
mod user_parts;

pub use budget::{Budget, PartSize, budget_of};
pub use compress::{base64_text, gzip, gzip_strong};
pub use guarantees::{lost_guarantees, without_agent};
pub use inspect::{FileRecord, Inspection, Piece, StepRecord, UnitRecord, inspect};
pub use load::{Load, ResolvedPart, resolve_parts};
pub use multipart::carried_names;
pub use publish::{Published, publish_layout};
pub use read_plan::read_plan;
pub use render::{Form, Rendered, carriers_of, encoding_of, unused_encoding};
