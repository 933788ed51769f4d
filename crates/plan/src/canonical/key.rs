//! The keys of a mapping on their way to JSON.

use serde::ser::{Error as _, Impossible, Serialize, Serializer};

use super::json::Fault;

/// Keys are texts, or types that are written as one.
pub(super) struct Key;

macro_rules! refused {
    ($($method:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, Fault> {
            Err(Fault::custom("a key must be a text"))
        })*
    };
}

impl Serializer for Key {
    type Ok = String;
    type Error = Fault;
    type SerializeSeq = Impossible<String, Fault>;
    type SerializeTuple = Impossible<String, Fault>;
    type SerializeTupleStruct = Impossible<String, Fault>;
    type SerializeTupleVariant = Impossible<String, Fault>;
    type SerializeMap = Impossible<String, Fault>;
    type SerializeStruct = Impossible<String, Fault>;
    type SerializeStructVariant = Impossible<String, Fault>;

    fn serialize_str(self, value: &str) -> Result<String, Fault> {
        Ok(value.to_owned())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, Fault> {
        Ok(variant.to_owned())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Fault> {
        Err(Fault::custom("a key must be a text"))
    }

    refused! {
        serialize_bool(bool) -> String;
        serialize_i8(i8) -> String;
        serialize_i16(i16) -> String;
        serialize_i32(i32) -> String;
        serialize_i64(i64) -> String;
        serialize_u8(u8) -> String;
        serialize_u16(u16) -> String;
        serialize_u32(u32) -> String;
        serialize_u64(u64) -> String;
        serialize_f32(f32) -> String;
        serialize_f64(f64) -> String;
        serialize_char(char) -> String;
        serialize_bytes(&[u8]) -> String;
        serialize_none() -> String;
        serialize_unit() -> String;
        serialize_unit_struct(&'static str) -> String;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}
