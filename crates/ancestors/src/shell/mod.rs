//! As much of a shell as it takes to read a script around its call of `/etc/eks/bootstrap.sh`, without running it.

mod commands;
pub(crate) mod halves;
mod lines;
pub(crate) mod script;
mod words;

pub(crate) use lines::{Line, lines};
pub(crate) use words::{assignment, words};
