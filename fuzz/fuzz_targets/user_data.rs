//! User-data: layers, parts, cloud-config, merging, stages, scripts and unit files.
#![no_main]

use bringup_cloudinit::{decode, effects, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let decoded = decode("input", bytes);
    let one = effects(&decoded);
    let other = effects(&decoded);
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    let _ = lint(&decoded);
});
