//! `bringup-node status`.

use std::io::Write as _;
use std::path::Path;

use bringup_progress::{AtWork, Standing, Status, is_whole, page};

use crate::arguments::Status as Options;
use crate::ended::Ended;
use crate::lock::{Holder, Lock};
use crate::machine::Machine;
use crate::results;
use crate::teller::Teller;

/// Prints how it stands.
pub(crate) fn execute(options: &Options) -> Ended {
    let status = Machine::open(&options.place.root)
        .map_err(|fault| format!("cannot open `{}`: {fault}", options.place.root.display()))
        .and_then(|machine| results::read_status(&machine.files()).map_err(|fault| fault.to_string()));
    let status = match status {
        Ok(Some(status)) => status,
        Ok(None) => {
            Teller::note("nothing was done in this boot; `systemctl status bringup.service` says why");
            return Ended::NotYet;
        }
        Err(why) => {
            Teller::note(&why);
            return Ended::Wrong;
        }
    };
    // A directory that stands for a machine has no agent of its own.
    let itself = options.place.root == Path::new("/");
    let holder = if itself { Lock::holder() } else { Holder::Unknown };
    let text = match options.output.as_str() {
        "json" => printed(&status, holder),
        _ if holder == Holder::Nobody => page(&status, Machine::now_ms(), AtWork::Nobody),
        _ => page(&status, Machine::now_ms(), AtWork::Somebody),
    };
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    match status.standing {
        // A run that was to end early has done what it was asked for, and the machine is not up.
        Standing::Done if !is_whole(&status) => Ended::NotYet,
        Standing::Done => Ended::Well,
        Standing::GaveUp => Ended::No,
        Standing::Running
        | Standing::Waiting
        | Standing::Paused
        | Standing::Rebooting
        | Standing::HandedOver => Ended::NotYet,
    }
}

/// For programs.
fn printed(status: &Status, holder: Holder) -> String {
    let mut value = serde_json::to_value(status).unwrap_or_default();
    if let (Some(fields), true) = (value.as_object_mut(), holder != Holder::Unknown) {
        fields.insert("at_work".to_owned(), (holder != Holder::Nobody).into());
    }
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}
