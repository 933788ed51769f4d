//! CloudFormation templates, both ways.
#![forbid(unsafe_code)]
