//! Anybody's bytes: user-data, Ignition configs, templates, bundles, plans, and units within them.
#![no_main]

use bringup_carry::inspect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let one = inspect("input", bytes);
    assert_eq!(one.to_json(), inspect("input", bytes).to_json());
    let _ = one.all_findings();
});
