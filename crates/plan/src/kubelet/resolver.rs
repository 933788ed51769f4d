//! The file from which kubelet takes the servers of names that pods ask.

use bringup_spec::{Os, OsFamily};
use serde_json::{Map, Value, json};

use crate::Origin;
use crate::context::Context;

/// The servers that systemd-resolved itself asks.
const UPSTREAM: &str = "/run/systemd/resolve/resolv.conf";

/// The first Ubuntu whose `/etc/resolv.conf` names systemd-resolved on the loopback.
const FIRST_UBUNTU: u32 = 18;

/// Names the file where the system's own will not do: in a pod, 127.0.0.53 is the pod, and a DNS server of the cluster
/// that forwards there asks itself.
pub(super) fn put(context: &mut Context<'_>, fields: &mut Map<String, Value>) {
    if has_loopback(&context.group.os) {
        let why = "`/etc/resolv.conf` of this system names only systemd-resolved, which pods do not reach";
        context.origin("kubelet config resolvConf", UPSTREAM, Origin::Default(why.to_owned()));
        fields.insert("resolvConf".to_owned(), json!(UPSTREAM));
    }
}

fn has_loopback(os: &Os) -> bool {
    match os.family {
        OsFamily::Ubuntu => os.major().is_none_or(|major| major >= FIRST_UBUNTU),
        OsFamily::Flatcar => true,
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 | OsFamily::Debian | OsFamily::Generic => false,
    }
}
