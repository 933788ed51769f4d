//! Messages beside those of another implementation, and bytes that are no messages.

use bringup_systemd::wire::{Kind, Message, Value};
use proptest::prelude::*;

/// Made with jeepney 0.9.0: `new_method_call(…, 'StartTransientUnit', 'ssa(sv)a(sa(sv))', …).serialise(serial=7)`.
const CALL: &str = "6c010001d000000007000000b600000001016f00190000002f6f72672f667265656465736b746f702f73797374\
     656d64310000000000000002017300200000006f72672e667265656465736b746f702e73797374656d64312e4d\
     616e616765720000000000000000030173001200000053746172745472616e7369656e74556e69740000000000\
     0006017300180000006f72672e667265656465736b746f702e73797374656d6431000000000000000008016700\
     107373612873762961287361287376292900000009000000782e73657276696365000000040000006661696c00\
     000000a8000000040000005479706500017300070000006f6e6573686f74000f00000052656d61696e41667465\
     7245786974000162000001000000000000001000000054696d656f757453746172745553656300017400404b4c\
     00000000000900000045786563537461727400076128736173622900003000000000000000090000002f62696e\
     2f7472756500000016000000090000002f62696e2f747275650000000100000061000000000000000000000000\
     000000";

/// Made with jeepney 0.9.0: `new_signal(…, 'JobRemoved', 'uoss', …).serialise(serial=9)`.
const SIGNAL: &str = "6c04000141000000090000007a00000001016f00190000002f6f72672f667265656465736b746f702f73797374\
     656d64310000000000000002017300200000006f72672e667265656465736b746f702e73797374656d64312e4d\
     616e616765720000000000000000030173000a0000004a6f6252656d6f7665640000000000000801670004756f\
     737300000000000000030000001f0000002f6f72672f667265656465736b746f702f73797374656d64312f6a6f\
     622f330009000000782e7365727669636500000004000000646f6e6500";

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or_default(), 16).unwrap_or_default())
        .collect()
}

#[test]
fn a_call_has_the_bytes_that_others_write() {
    let program = Value::Structure(vec![
        Value::text("/bin/true"),
        Value::texts(["/bin/true", "a"]),
        Value::Boolean(false),
    ]);
    let properties = vec![
        Value::property("Type", Value::text("oneshot")),
        Value::property("RemainAfterExit", Value::Boolean(true)),
        Value::property("TimeoutStartUSec", Value::U64(5_000_000)),
        Value::property("ExecStart", Value::Array("(sasb)".to_owned(), vec![program])),
    ];
    let mut call = Message::call(
        Some("org.freedesktop.systemd1"),
        "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager",
        "StartTransientUnit",
        vec![
            Value::text("x.service"),
            Value::text("fail"),
            Value::Array("(sv)".to_owned(), properties),
            Value::Array("(sa(sv))".to_owned(), Vec::new()),
        ],
    );
    call.serial = 7;
    assert_eq!(call.to_bytes(), bytes(CALL));
    assert_eq!(Message::from_bytes(&bytes(CALL)).unwrap(), call);
}

#[test]
fn a_signal_is_read() {
    let signal = Message::from_bytes(&bytes(SIGNAL)).unwrap();
    assert_eq!((signal.kind, signal.serial), (Kind::Signal, 9));
    assert_eq!(signal.member.as_deref(), Some("JobRemoved"));
    assert_eq!(
        signal.body,
        [
            Value::U32(3),
            Value::Path("/org/freedesktop/systemd1/job/3".to_owned()),
            Value::text("x.service"),
            Value::text("done"),
        ]
    );
}

#[test]
fn a_message_cut_anywhere_is_refused() {
    let whole = bytes(SIGNAL);
    for end in 0..whole.len() {
        assert!(Message::from_bytes(&whole[..end]).is_err(), "cut at {end}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<u8>().prop_map(Value::Byte),
        any::<bool>().prop_map(Value::Boolean),
        any::<i16>().prop_map(Value::I16),
        any::<u32>().prop_map(Value::U32),
        any::<i64>().prop_map(Value::I64),
        "[a-z/]{0,20}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::Structure),
            inner.clone().prop_map(|value| Value::Variant(Box::new(value))),
            (inner, 0..4_usize)
                .prop_map(|(value, count)| Value::Array(value.signature(), vec![value; count])),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(body in prop::collection::vec(value(), 0..4)) {
        let mut call = Message::call(None, "/", "a.b", "C", body);
        call.serial = 1;
        prop_assert_eq!(Message::from_bytes(&call.to_bytes()).unwrap(), call);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Message::from_bytes(&bytes);
    }

    #[test]
    fn a_changed_byte_harms_nobody(at in 0..200_usize, with in any::<u8>()) {
        let mut changed = bytes(CALL);
        if let Some(byte) = changed.get_mut(at) {
            *byte = with;
        }
        let _ = Message::from_bytes(&changed);
    }
}
