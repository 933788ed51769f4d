//! Carriers of ours, read back: Ignition configs, bundles, templates, user-data.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = bringup_carry::read_plan(bytes);
});
