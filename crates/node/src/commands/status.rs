//! `bringup-node status`.

use std::io::Write as _;
use std::path::Path;

use bringup_progress::{Standing, Status, page};

use crate::arguments::Status as Options;
use crate::ended::Ended;
use crate::machine::Machine;
use crate::places;
use crate::teller::Teller;

/// Prints how it stands.
pub(crate) fn execute(options: &Options) -> Ended {
    let status = Machine::open(&options.place.root)
        .map_err(|fault| format!("cannot open `{}`: {fault}", options.place.root.display()))
        .and_then(|machine| {
            machine.files().read(Path::new(places::STATUS)).map_err(|fault| fault.to_string())
        });
    let bytes = match status {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            Teller::note("nothing was done in this boot; `systemctl status bringup.service` says why");
            return Ended::NotYet;
        }
        Err(why) => {
            Teller::note(&why);
            return Ended::Wrong;
        }
    };
    let status: Status = match serde_json::from_slice(&bytes) {
        Ok(status) => status,
        Err(fault) => {
            Teller::note(&format!("`{}` cannot be read: {fault}", places::STATUS));
            return Ended::Wrong;
        }
    };
    let text = match options.output.as_str() {
        "json" => String::from_utf8_lossy(&bytes).into_owned(),
        _ => page(&status, Machine::now_ms()),
    };
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    match status.standing {
        Standing::Done => Ended::Well,
        Standing::GaveUp => Ended::No,
        Standing::Running | Standing::Waiting | Standing::Paused | Standing::Rebooting => Ended::NotYet,
    }
}
