//! One file for each command: `execute` and what only it needs.

pub(crate) mod build;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod publish;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod try_out;
