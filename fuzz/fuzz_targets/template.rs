//! CloudFormation templates, in YAML and JSON and as the command line of AWS prints them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = bringup_cloudformation::read("input", text);
});
