//! MIME: any text is a message or a refusal, and its payloads can be taken out.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(entity) = bringup_cloudinit::mime::read(text) {
        for part in entity.walk() {
            let _ = part.payload();
        }
    }
});
