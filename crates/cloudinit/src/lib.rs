//! Cloud-init's own rules: parts, merging, stages, and lints of what people write.
#![forbid(unsafe_code)]
