//! Journals that were torn, changed, or never were any.

use bringup_progress::{Damage, Entry, FORMAT, JournalFault, Record, State, Writer, decode};
use proptest::prelude::*;

use crate::machine::Machine;
use crate::plans::{plan, worker};

fn sample() -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let made = BYTES.get_or_init(|| {
        let mut machine = Machine::new();
        machine.up_through_reboots(&plan(&worker()));
        machine.journal
    });
    made.clone()
}

#[test]
fn a_line_is_a_chained_seal_and_json() {
    let head = Record {
        at_ms: 5,
        boot: "b".to_owned(),
        entry: Entry::Machine { format: 1, identity: "i-1".to_owned() },
    };
    let (first, writer) = Writer::default().line(&head).unwrap();
    // printf '%s' '{"at_ms":5,"boot":"b","is":"machine","format":1,"identity":"i-1"}' | sha256sum
    assert_eq!(
        first,
        "10430f33cd1a78f5 {\"at_ms\":5,\"boot\":\"b\",\"is\":\"machine\",\"format\":1,\"identity\":\"i-1\"}\n"
    );
    let plan = Record { at_ms: 6, boot: "b".to_owned(), entry: Entry::Plan { digest: "d".to_owned() } };
    let (second, writer) = writer.line(&plan).unwrap();
    // The same with the first line's seal before it.
    assert_eq!(second, "8fc67b898970e8a5 {\"at_ms\":6,\"boot\":\"b\",\"is\":\"plan\",\"digest\":\"d\"}\n");
    let bytes = [first, second].concat();
    let decoded = decode(bytes.as_bytes()).unwrap();
    assert_eq!(decoded.records, [head, plan]);
    assert_eq!(decoded.writer, writer);
    assert_eq!(writer.length(), 148);
    assert_eq!(decoded.damage, None);
}

#[test]
fn a_tail_that_is_torn_at_any_byte_is_cut_off() {
    let bytes = sample();
    let whole = decode(&bytes).unwrap().records;
    for end in 0..bytes.len() {
        let decoded = decode(&bytes[..end]).unwrap();
        let lines = bytes[..end].split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(decoded.records, whole[..lines], "cut at {end}");
        let good = usize::try_from(decoded.writer.length()).unwrap();
        assert!(good == 0 || bytes[good - 1] == b'\n');
        let damage = (good < end).then_some(Damage {
            offset: good as u64,
            bytes: (end - good) as u64,
            lost_records: 0,
        });
        assert_eq!(decoded.damage, damage, "cut at {end}");
    }
}

#[test]
fn zeros_after_a_power_cut_are_a_torn_tail() {
    let mut bytes = sample();
    let whole = decode(&bytes).unwrap();
    bytes.extend([0; 4096]);
    let decoded = decode(&bytes).unwrap();
    assert_eq!(decoded.records, whole.records);
    assert_eq!(decoded.damage.map(|damage| (damage.bytes, damage.lost_records)), Some((4096, 0)));
}

#[test]
fn what_stands_behind_a_bad_place_is_reported_and_not_trusted() {
    let bytes = sample();
    let bytes: Vec<u8> = bytes.split_inclusive(|byte| *byte == b'\n').take(12).flatten().copied().collect();
    let whole = decode(&bytes).unwrap().records;
    let mut line = 0;
    for index in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[index] ^= 1;
        let decoded = decode(&bad).unwrap();
        assert_eq!(decoded.records, whole[..line], "changed at {index}");
        let damage = decoded.damage.expect("damage");
        let behind = whole.len() - line - 1;
        // The changed line itself may look like a record still; a line end that is gone takes a second line with it.
        let lost = damage.lost_records;
        assert!((behind.saturating_sub(1)..=behind + 1).contains(&lost), "{lost} lost, changed at {index}");
        line += usize::from(bytes[index] == b'\n');
    }
}

#[test]
fn lines_that_are_lost_doubled_or_swapped_break_the_chain() {
    let bytes = sample();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut lost = lines.clone();
    lost.remove(4);
    let mut doubled = lines.clone();
    doubled.insert(4, lines[3]);
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    for lines in [lost, doubled, swapped] {
        let decoded = decode(&lines.concat()).unwrap();
        assert_eq!(decoded.records.len(), 4);
        assert!(decoded.damage.is_some_and(|damage| damage.lost_records > 0));
    }
}

#[test]
fn a_journal_of_a_newer_agent_is_refused() {
    let head = Record {
        at_ms: 5,
        boot: "b".to_owned(),
        entry: Entry::Machine { format: FORMAT + 1, identity: "i-1".to_owned() },
    };
    let (line, _) = Writer::default().line(&head).unwrap();
    let fault = decode(line.as_bytes()).unwrap_err();
    assert_eq!(fault, JournalFault::Format { found: FORMAT + 1, known: FORMAT });
    assert_eq!(fault.to_string(), "the journal has format 2; this program knows formats up to 1");
}

#[test]
fn a_journal_that_does_not_say_whose_it_is_is_nobodys() {
    let record = Record { at_ms: 6, boot: "b".to_owned(), entry: Entry::Plan { digest: "d".to_owned() } };
    let (line, _) = Writer::default().line(&record).unwrap();
    let decoded = decode(line.as_bytes()).unwrap();
    assert!(decoded.records.is_empty());
    assert_eq!(decoded.damage, Some(Damage { offset: 0, bytes: line.len() as u64, lost_records: 1 }));
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let decoded = decode(&bytes).unwrap();
        prop_assert!(decoded.records.is_empty());
        State::fold(&decoded.records);
    }

    /// A journal with a run of other bytes in it: what is before is kept, and it can be written on.
    #[test]
    fn any_bytes_in_the_middle_are_survived(at in 0.0_f64..1.0, garbage in proptest::collection::vec(any::<u8>(), 1..80)) {
        let bytes = sample();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place somewhere")]
        let at = (bytes.len() as f64 * at) as usize;
        let mut bad = bytes[..at].to_vec();
        bad.extend(&garbage);
        bad.extend(&bytes[at..]);
        let decoded = decode(&bad).unwrap();
        let good = usize::try_from(decoded.writer.length()).unwrap();
        prop_assert!(good <= at);
        prop_assert_eq!(&bad[..good], &bytes[..good]);
        let record = Record { at_ms: 6, boot: "b".to_owned(), entry: Entry::Machine { format: 1, identity: "x".to_owned() } };
        let (line, _) = decoded.writer.line(&record).unwrap();
        let mended = [&bad[..good], line.as_bytes()].concat();
        let again = decode(&mended).unwrap();
        prop_assert_eq!(again.damage, None);
        prop_assert_eq!(again.records.len(), decoded.records.len() + 1);
    }
}
