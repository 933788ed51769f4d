//! `bringup-node token`: what kubelet runs for a bearer token.

use std::io::Write as _;

use bringup_aws::token::ExecVersion;

use crate::arguments::Token;
use crate::eks::Subject;
use crate::ended::Ended;
use crate::network::{self, Network};
use crate::teller::Teller;

/// How long it may take. Kubelet waits for it.
const TIME_MS: u64 = 60_000;

/// Prints a token in the form that the client asks for.
pub(crate) fn execute(options: &Token) -> Ended {
    let asked = std::env::var("KUBERNETES_EXEC_INFO").ok();
    let version = match ExecVersion::asked_for(asked.as_deref()) {
        Ok(version) => version,
        Err(fault) => {
            Teller::note(&fault.to_string());
            return Ended::Wrong;
        }
    };
    let subject = Subject {
        cluster: options.cluster.clone(),
        region: options.region.clone(),
        role: options.role.clone(),
    };
    match subject.token(&Network::of_process(), network::deadline(TIME_MS)) {
        Ok(token) => {
            let written = writeln!(std::io::stdout().lock(), "{}", version.credential(&token));
            if written.is_ok() { Ended::Well } else { Ended::No }
        }
        Err(failure) => {
            Teller::note(&failure.why);
            if !failure.fix.is_empty() {
                Teller::note(&format!("hint: {}", failure.fix));
            }
            Ended::No
        }
    }
}
