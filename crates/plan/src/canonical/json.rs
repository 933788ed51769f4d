//! JSON with sorted keys, straight from the types.
//!
//! Going through a tree of values would do as well, at four times the cost; ten thousand plans are to be written in a
//! fraction of a second.

use std::borrow::Cow;
use std::fmt::Display;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::key::Key;

/// What went wrong: a type that a plan does not have.
#[derive(Debug)]
pub(super) struct Fault(String);

impl Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl serde::ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The value as JSON without white space, keys sorted at every level.
pub(super) fn sorted<T: Serialize>(value: &T) -> Result<String, Fault> {
    let mut out = String::with_capacity(16 * 1024);
    value.serialize(Writer { out: &mut out })?;
    Ok(out)
}

struct Writer<'a> {
    out: &'a mut String,
}

/// The bytes that JSON escapes in a string.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        escaped[byte] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

fn write_text(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| ESCAPED[usize::from(byte)]) {
        let (plain, escaped) = rest.split_at(at);
        out.push_str(plain);
        let byte = escaped.as_bytes().first().copied().unwrap_or_default();
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => {
                out.push_str("\\u00");
                for digit in [byte >> 4, byte & 15] {
                    out.push(char::from(HEX[usize::from(digit)]));
                }
            }
        }
        rest = escaped.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// An object on its way: its members stand in the output as they came, and are put in order when it ends.
struct Object<'a> {
    out: &'a mut String,
    /// Where the object begins.
    start: usize,
    /// The key of each member, and where the member begins.
    members: Vec<(Cow<'static, str>, usize)>,
    ordered: bool,
    /// What closes it: an enum's variant is an object in an object.
    closing: &'static str,
}

impl<'a> Object<'a> {
    fn open(out: &'a mut String, closing: &'static str) -> Self {
        out.push('{');
        let start = out.len();
        Self { out, start, members: Vec::with_capacity(8), ordered: true, closing }
    }

    fn key(&mut self, key: Cow<'static, str>) {
        let begin = self.out.len();
        write_text(self.out, &key);
        self.out.push(':');
        self.ordered &= self.members.last().is_none_or(|(last, _)| *last < key);
        self.members.push((key, begin));
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        value.serialize(Writer { out: self.out })?;
        self.out.push(',');
        Ok(())
    }

    fn close(self) {
        if !self.ordered {
            let text = self.out.split_off(self.start);
            let ends = self.members.iter().skip(1).map(|(_, begin)| *begin).chain([self.start + text.len()]);
            let mut members: Vec<(&str, &str)> = self
                .members
                .iter()
                .zip(ends)
                .map(|((key, begin), end)| {
                    (key.as_ref(), text.get(begin - self.start..end - self.start).unwrap_or_default())
                })
                .collect();
            members.sort_unstable();
            for (_, member) in members {
                self.out.push_str(member);
            }
        }
        if !self.members.is_empty() {
            self.out.pop();
        }
        self.out.push('}');
        self.out.push_str(self.closing);
    }
}

struct List<'a> {
    out: &'a mut String,
    empty: bool,
    closing: &'static str,
}

impl<'a> List<'a> {
    fn open(out: &'a mut String, closing: &'static str) -> Self {
        out.push('[');
        Self { out, empty: true, closing }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        value.serialize(Writer { out: self.out })
    }

    fn close(self) {
        self.out.push(']');
        self.out.push_str(self.closing);
    }
}

macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Fault> {
            use std::fmt::Write as _;
            write!(self.out, "{value}").map_err(Fault::custom)
        })*
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = List<'a>;
    type SerializeTuple = List<'a>;
    type SerializeTupleStruct = List<'a>;
    type SerializeTupleVariant = List<'a>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Object<'a>;
    type SerializeStructVariant = Object<'a>;

    numbers! { serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
    serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64 }

    fn serialize_bool(self, value: bool) -> Result<(), Fault> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, _: f32) -> Result<(), Fault> {
        Err(Fault::custom("a plan has no fractions"))
    }

    fn serialize_f64(self, _: f64) -> Result<(), Fault> {
        Err(Fault::custom("a plan has no fractions"))
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        write_text(self.out, value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        write_text(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Fault> {
        Err(Fault::custom("bytes stand in a plan in base64"))
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Fault> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        let mut object = Object::open(self.out, "");
        object.key(Cow::Borrowed(variant));
        object.value(value)?;
        object.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'a>, Fault> {
        Ok(List::open(self.out, ""))
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'a>, Fault> {
        Ok(List::open(self.out, ""))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'a>, Fault> {
        Ok(List::open(self.out, ""))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List<'a>, Fault> {
        self.out.push('{');
        write_text(self.out, variant);
        self.out.push(':');
        Ok(List::open(self.out, "}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Object<'a>, Fault> {
        Ok(Object::open(self.out, ""))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object<'a>, Fault> {
        Ok(Object::open(self.out, ""))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object<'a>, Fault> {
        self.out.push('{');
        write_text(self.out, variant);
        self.out.push(':');
        Ok(Object::open(self.out, "}"))
    }
}

impl SerializeMap for Object<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        let key = key.serialize(Key)?;
        self.key(Cow::Owned(key));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.value(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.close();
        Ok(())
    }
}

macro_rules! members {
    ($($name:ident),*) => {
        $(impl $name for Object<'_> {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Fault> {
                self.key(Cow::Borrowed(key));
                self.value(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.close();
                Ok(())
            }
        })*
    };
}

members!(SerializeStruct, SerializeStructVariant);

macro_rules! items {
    ($($name:ident::$method:ident),*) => {
        $(impl $name for List<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.item(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.close();
                Ok(())
            }
        })*
    };
}

items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[derive(serde::Serialize)]
    struct Sample {
        zebra: u32,
        apple: Option<&'static str>,
        middle: Kinds,
        list: Vec<Kinds>,
        map: BTreeMap<String, Vec<u8>>,
    }

    #[derive(serde::Serialize)]
    enum Kinds {
        Unit,
        New(bool),
        Pair(i8, i8),
        Named { y: char, x: () },
    }

    #[test]
    fn keys_are_sorted_at_every_level() {
        let sample = Sample {
            zebra: 1,
            apple: None,
            middle: Kinds::Named { y: 'é', x: () },
            list: vec![Kinds::Unit, Kinds::New(true), Kinds::Pair(-1, 2)],
            map: BTreeMap::from([("b\"".to_owned(), vec![]), ("a\u{1}\n".to_owned(), vec![7])]),
        };
        assert_eq!(
            sorted(&sample).unwrap(),
            r#"{"apple":null,"list":["Unit",{"New":true},{"Pair":[-1,2]}],"map":{"a\u0001\n":[7],"b\"":[]},"middle":{"Named":{"x":null,"y":"é"}},"zebra":1}"#
        );
    }

    fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest::proptest! {
        /// The other writer's maps are sorted, so that both must give the same bytes.
        #[test]
        fn any_tree_is_written_as_serde_json_writes_it(value in any_json()) {
            proptest::prop_assert_eq!(sorted(&value).unwrap(), value.to_string());
        }
    }

    #[test]
    fn fractions_are_refused() {
        assert!(sorted(&json!(1.5)).is_err());
    }
}
