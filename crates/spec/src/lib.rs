//! The Bringup document in, one Cluster out.
#![forbid(unsafe_code)]
