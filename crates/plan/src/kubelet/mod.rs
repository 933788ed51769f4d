//! kubelet: its configuration, flags, credentials and unit.

mod choices;
pub(crate) mod config;
pub(crate) mod credential_provider;
pub(crate) mod flags;
pub(crate) mod health;
pub(crate) mod kubeconfig;
mod limits;
pub(crate) mod reserved;
mod resolver;
mod together;
pub(crate) mod unit;
pub(crate) mod values;
