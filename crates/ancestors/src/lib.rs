//! Documents of the systems that Bringup descends from in, Bringup documents out.
//!
//! [`read`] takes the texts of files, ours and others'. A document of another system is translated to the *tree* of a
//! Bringup document whose every value keeps the place where the person wrote it, and that tree is read like any other:
//! what is found later, down to the plan, points into the file that they have. `convert` only has to write the tree.
//!
//! What an ancestor's file cannot say (the API's address, how the agent arrives) may be added by a document of the
//! kind `Additions`, see [`additions`].
#![forbid(unsafe_code)]

pub mod additions;
mod cloudformation;
pub mod codes;
mod comments;
mod eksctl;
mod fields;
mod ids;
mod kops;
mod kubelet_flags;
mod meeting;
mod nodeadm;
mod read;
mod shapes;
mod shell;
mod system;
mod tectonic;
mod tell;
mod tkestack;
mod tree;
mod user_data;

pub use meeting::Meeting;
pub use read::{
    Around, Input, Read, Refused, hint_at_additions, is_foreign, is_of_units, is_unit_file, joins_a_node,
    read, read_around,
};
pub use system::System;
