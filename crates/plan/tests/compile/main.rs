//! Whole documents compiled: what comes out, and what is found.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot look at what it tests ends there"
)]

mod agreement;
mod carriers;
mod doors;
mod eksctl;
mod election;
mod findings;
mod flavours;
mod hooks;
mod in_place_of;
mod join;
mod kubelet;
mod order;
mod origins;
mod plan;
mod properties;
mod recovery;
mod refused;
mod runtime;
mod runtime_versions;
mod support;
mod values;
mod versions;
