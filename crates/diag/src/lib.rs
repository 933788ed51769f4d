//! Coded, located, secret-safe findings.
#![forbid(unsafe_code)]
