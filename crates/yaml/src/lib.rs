//! YAML and JSON as a tree of located values, and back.
#![forbid(unsafe_code)]
