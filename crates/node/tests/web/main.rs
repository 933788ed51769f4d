//! The agent and the web: real sockets on loopback, the real program, a directory that stands for the machine.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "the test stands for the rest of the world")]

mod agent;
mod archives;
mod cluster;
mod fetch;
mod metadata;
mod secrets;
mod server;
mod token;
mod user_data;
