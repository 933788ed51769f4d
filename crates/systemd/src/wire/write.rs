//! Values to bytes, little end first.

use super::value::{Value, alignment};

/// Bytes that grow. Alignment counts from their beginning.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.align(4);
        self.bytes.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(length(text.len()));
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    fn signature(&mut self, text: &str) {
        self.bytes.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Byte(number) => self.bytes.push(*number),
            Value::Boolean(truth) => self.u32(u32::from(*truth)),
            Value::I16(number) => {
                self.align(2);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::U16(number) => {
                self.align(2);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::I32(number) => {
                self.align(4);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::U32(number) | Value::Descriptor(number) => self.u32(*number),
            Value::I64(number) => {
                self.align(8);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::U64(number) => {
                self.align(8);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::Double(number) => {
                self.align(8);
                self.bytes.extend(number.to_le_bytes());
            }
            Value::Text(text) | Value::Path(text) => self.text(text),
            Value::Signature(text) => self.signature(text),
            Value::Variant(inner) => {
                self.signature(&inner.signature());
                self.value(inner);
            }
            Value::Array(item, values) => {
                self.align(4);
                let place = self.bytes.len();
                self.bytes.extend([0; 4]);
                // The length counts from the first item, and so without what aligns it.
                self.align(item.bytes().next().map_or(1, alignment));
                let first = self.bytes.len();
                for value in values {
                    self.value(value);
                }
                let size = length(self.bytes.len() - first).to_le_bytes();
                if let Some(slot) = self.bytes.get_mut(place..place + 4) {
                    slot.copy_from_slice(&size);
                }
            }
            Value::Structure(members) => {
                self.align(8);
                for member in members {
                    self.value(member);
                }
            }
            Value::Entry(key, value) => {
                self.align(8);
                self.value(key);
                self.value(value);
            }
        }
    }
}

/// A length as the wire has it; nothing that this program sends comes near the limit.
pub(super) fn length(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
