//! The journal: any bytes are read as far as they can be trusted, and what is left can be written on.
#![no_main]

use bringup_progress::{Entry, Record, State, Writer, compacted, decode};
use libfuzzer_sys::fuzz_target;

/// Seals every line, so that records that no agent would write get past the seals.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    let mut journal = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(record) = serde_json::from_slice::<Record>(line)
            && let Ok((text, next)) = writer.line(&record)
        {
            journal.extend(text.bytes());
            writer = next;
        }
    }
    journal
}

fuzz_target!(|bytes: &[u8]| {
    for bytes in [bytes.to_vec(), sealed(bytes)] {
        let Ok(decoded) = decode(&bytes) else { continue };
        let good = usize::try_from(decoded.writer.length()).unwrap_or(usize::MAX);
        assert!(good <= bytes.len());
        assert_eq!(decoded.damage.is_some(), good < bytes.len());
        let state = State::fold(&decoded.records);
        if !decoded.records.is_empty() {
            assert_eq!(State::fold(&compacted(&decoded.records)), state);
        }
        let entry = Entry::Machine { format: 1, identity: "i".to_owned() };
        let record = Record { at_ms: 0, boot: "b".to_owned(), entry };
        if let Ok((line, _)) = decoded.writer.line(&record) {
            let mut mended = bytes;
            mended.truncate(good);
            mended.extend(line.bytes());
            let again = decode(&mended).expect("a journal");
            assert_eq!(again.damage, None);
            assert_eq!(again.records.len(), decoded.records.len() + 1);
        }
    }
});
