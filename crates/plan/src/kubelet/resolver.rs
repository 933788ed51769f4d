//! The file from which kubelet takes the servers of names that pods ask.

use bringup_spec::{AgentSource, Fact, Os, OsFamily, Text};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::{Origin, template};

/// The servers that systemd-resolved itself asks.
const UPSTREAM: &str = "/run/systemd/resolve/resolv.conf";

/// The first Ubuntu whose `/etc/resolv.conf` names systemd-resolved on the loopback.
const FIRST_UBUNTU: u32 = 18;

/// Names the file where the system's own will not do: in a pod, 127.0.0.53 is the pod, and a DNS server of the cluster
/// that forwards there asks itself.
pub(super) fn put(context: &mut Context<'_>, decisions: &Decisions, fields: &mut Map<String, Value>) {
    let file = match loopback(&context.group.os) {
        Some(false) => return,
        Some(true) => {
            let why =
                "`/etc/resolv.conf` of this system names only systemd-resolved, which pods do not reach";
            context.origin("kubelet config resolvConf", UPSTREAM, Origin::Default(why.to_owned()));
            json!(UPSTREAM)
        }
        // Where nobody looks, kubelet's own choice stays.
        None if decisions.agent == AgentSource::None && !context.group.is_scripted() => return,
        None => {
            let file = Text::fact(Fact::ResolvConf);
            let how = "the one behind systemd-resolved, if `/etc/resolv.conf` names nothing else".to_owned();
            context.origin("kubelet config resolvConf", file.to_string(), Origin::Node(how));
            template::string(&file)
        }
    };
    fields.insert("resolvConf".to_owned(), file);
}

/// Whether the system's own file names only systemd-resolved; of some, it is so with some images: those of Debian for clouds
/// have had it since version 12, and its installer leaves it out.
fn loopback(os: &Os) -> Option<bool> {
    match os.family {
        OsFamily::Ubuntu => Some(os.major().is_none_or(|major| major >= FIRST_UBUNTU)),
        OsFamily::Flatcar => Some(true),
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 => Some(false),
        OsFamily::Debian | OsFamily::Generic => None,
    }
}
