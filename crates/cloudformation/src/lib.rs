//! CloudFormation templates, both ways.
//!
//! [`write()`] makes a whole template for one node group: launch template, Auto Scaling group, role, security group,
//! access entry, and the parameters to set when it is deployed. [`read`] finds the user-data in anybody's template.
//!
//! # What only the stack knows
//!
//! A node that signals its stack must know the stack's name, and one that completes a life-cycle action the name of its
//! Auto Scaling group. Neither is known before the template is deployed, and the instance's own tags are no way to
//! learn them: EC2 refuses to launch an instance that may read its tags while one of them has a `/` in its key, as
//! `kubernetes.io/cluster/NAME` has. So the template itself says it: [`write()`] puts the file [`STACK_FILE`] into the
//! user-data through `Fn::Sub`, as a small boothook in front of the other parts or as a file of an Ignition config.
//! Whatever else the user-data holds stays as it is, compressed or not.
#![forbid(unsafe_code)]

mod check;
pub mod codes;
mod intrinsic;
mod read;
mod write;

pub use check::{check, unused};
pub use read::{Around, Aside, OPEN, Reading, UserData, read, read_with};
pub use write::{STACK_FILE, Template, write, write_call};
