//! Ignition configs: written for a load, and read from anybody.

pub(crate) mod data_url;
mod native;
mod write;

pub(crate) use write::render;
