//! What each version of kubelet knows: fields and flags.
#![forbid(unsafe_code)]
