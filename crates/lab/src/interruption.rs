//! Somebody who interrupts a trial wants it to end cleanly.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::LabFault;

static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, an interruption is told instead of ending the process where it is.
pub(crate) fn listen() {
    WANTED.get_or_init(|| {
        let wanted = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&wanted));
        }
        wanted
    });
}

/// An error if somebody wants it to end.
pub(crate) fn check() -> Result<(), LabFault> {
    match WANTED.get() {
        Some(wanted) if wanted.load(Ordering::Relaxed) => Err(LabFault::Interrupted),
        _ => Ok(()),
    }
}
