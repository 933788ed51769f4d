//! Plans to carriers and back.
#![forbid(unsafe_code)]
