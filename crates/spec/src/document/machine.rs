//! Machines that are reached over SSH.

use super::Role;
use crate::decode::record;
use crate::{Name, SecretSource};

record! {
    /// A machine that is reached over SSH, by exactly one of `key`, `password` and `agent`.
    "a machine" pub struct Machine {
        /// Its name; the default is made of its address.
        "name" => name: Option<Name>,
        /// The node group whose plan it gets.
        "nodeGroup" => node_group: Name,
        /// Its address.
        "address" => address: String,
        /// The port of its SSH server.
        "port" => port: u16 = 22,
        /// The user.
        "user" => user: String = "root".to_owned(),
        /// The private key.
        "key" => key: Option<SecretSource>,
        /// The password.
        "password" => password: Option<SecretSource>,
        /// Whether the operator's SSH agent has the key.
        "agent" => agent: bool = false,
        /// The host to go through.
        "jumpHost" => jump_host: Option<JumpHost>,
        /// What it is for, if not what its node group says.
        "role" => role: Option<Role>,
    }
}

record! {
    /// A host to go through.
    "a jump host" pub struct JumpHost {
        /// Its address.
        "address" => address: String,
        /// The port of its SSH server.
        "port" => port: u16 = 22,
        /// The user.
        "user" => user: String = "root".to_owned(),
        /// The private key, if not the machine's own way.
        "key" => key: Option<SecretSource>,
    }
}
