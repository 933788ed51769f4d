//! One module for each command.

pub(crate) mod bootstrap;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod manual;
pub(crate) mod reset;
pub(crate) mod signal;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod up;
