//! As much of a shell as it takes to read a script around its call of `/etc/eks/bootstrap.sh`, without running it.

mod asked;
mod certain;
mod commands;
mod expansion;
pub(crate) mod halves;
mod lines;
mod options;
mod output;
mod piece;
mod prefix;
mod reading;
pub(crate) mod reboots;
pub(crate) mod script;
mod settle;
mod status;
mod telling;
mod units;
mod values;
mod way;
mod words;

pub(crate) use certain::certain;
pub(crate) use commands::{Behind, commands};
pub(crate) use lines::{Line, lines};
pub(crate) use reading::reads_eksctls;
pub(crate) use script::{filled, is_one_call, value};
pub(crate) use telling::tell_of_dropped;
pub(crate) use values::assignment;
pub(crate) use way::{has_proxy, tell_of_ways};
pub(crate) use words::raw;
