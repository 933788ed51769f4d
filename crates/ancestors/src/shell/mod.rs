//! As much of a shell as it takes to read a script around its call of `/etc/eks/bootstrap.sh`, without running it.

mod commands;
pub(crate) mod halves;
mod lines;
mod prefix;
pub(crate) mod script;
mod telling;
mod words;

pub(crate) use lines::{Line, lines};
pub(crate) use telling::{tell_of_dropped, tell_of_lost};
pub(crate) use words::{assignment, words};
