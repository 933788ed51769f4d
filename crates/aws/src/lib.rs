//! Requests to AWS as data, and what the answers mean.
//!
//! Nothing here opens a connection or looks at a clock: a caller takes a [`Request`], sends it however it likes, and
//! gives back status and body. Time comes in as a [`Moment`], randomness as a number. Whoever decides whether to try
//! again finds the decision in the types: [`metadata::Answer`] for the instance's own metadata service, [`Fault`] for
//! everything else.
#![forbid(unsafe_code)]

mod accelerator;
mod credentials;
pub mod eks;
mod fault;
pub mod metadata;
pub mod partition;
mod request;
pub mod retry;
mod secret;
pub mod sign;
pub mod signal;
pub mod store;
mod time;
pub mod token;

pub use accelerator::Accelerator;
pub use credentials::{Credentials, CredentialsError};
pub use fault::{Fault, Refusal};
pub use request::{Method, Request, Response};
pub use secret::Secret;
pub use time::Moment;
