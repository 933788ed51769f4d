//! A Cluster and a node group in, a Plan out.
#![forbid(unsafe_code)]
