//! Bytes to values, in either order of bytes.

use super::value::{Value, alignment};

/// Deeper than this no value is nested; D-Bus allows 32 arrays in 32 structures.
const DEPTH: u32 = 64;

/// Bytes that are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a malformed message: {0}")]
pub struct Malformed(pub(super) &'static str);

/// Reads values one after the other.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
    pub(super) big: bool,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], Malformed> {
        let end = self.at.checked_add(count).ok_or(Malformed("a length out of bounds"))?;
        let taken = self.bytes.get(self.at..end).ok_or(Malformed("it ends too early"))?;
        self.at = end;
        Ok(taken)
    }

    pub(super) fn align(&mut self, to: usize) -> Result<(), Malformed> {
        let next = self.at.next_multiple_of(to);
        self.take(next - self.at).map(|_| ())
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.align(N)?;
        let mut number = [0; N];
        number.copy_from_slice(self.take(N)?);
        if self.big {
            number.reverse();
        }
        Ok(number)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.number()?))
    }

    fn string(&mut self, length: usize) -> Result<String, Malformed> {
        let text = self.take(length)?.to_vec();
        if self.take(1)? != [0] {
            return Err(Malformed("a string without its end"));
        }
        String::from_utf8(text).map_err(|_| Malformed("a string that is not UTF-8"))
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed("a length out of bounds"))?;
        self.string(length)
    }

    fn signature(&mut self) -> Result<String, Malformed> {
        let [length] = self.number::<1>()?;
        self.string(usize::from(length))
    }

    /// All values of a signature.
    pub(super) fn values(&mut self, signature: &str) -> Result<Vec<Value>, Malformed> {
        let mut values = Vec::new();
        let mut rest = signature.as_bytes();
        while !rest.is_empty() {
            let (value, left) = self.value(rest, 0)?;
            values.push(value);
            rest = left;
        }
        Ok(values)
    }

    /// One value, and what is left of the signature.
    fn value<'s>(&mut self, signature: &'s [u8], depth: u32) -> Result<(Value, &'s [u8]), Malformed> {
        if depth > DEPTH {
            return Err(Malformed("it is nested too deeply"));
        }
        let (letter, rest) = signature.split_first().ok_or(Malformed("a signature that ends too early"))?;
        let value = match letter {
            b'y' => Value::Byte(self.number::<1>()?[0]),
            b'b' => Value::Boolean(self.u32()? != 0),
            b'n' => Value::I16(i16::from_le_bytes(self.number()?)),
            b'q' => Value::U16(u16::from_le_bytes(self.number()?)),
            b'i' => Value::I32(i32::from_le_bytes(self.number()?)),
            b'u' => Value::U32(self.u32()?),
            b'x' => Value::I64(i64::from_le_bytes(self.number()?)),
            b't' => Value::U64(u64::from_le_bytes(self.number()?)),
            b'd' => Value::Double(f64::from_le_bytes(self.number()?)),
            b'h' => Value::Descriptor(self.u32()?),
            b's' => Value::Text(self.text()?),
            b'o' => Value::Path(self.text()?),
            b'g' => Value::Signature(self.signature()?),
            b'v' => {
                let inner = self.signature()?;
                let (value, left) = self.value(inner.as_bytes(), depth + 1)?;
                if !left.is_empty() {
                    return Err(Malformed("a variant of several values"));
                }
                Value::Variant(Box::new(value))
            }
            b'a' => return self.array(rest, depth),
            b'(' => {
                self.align(8)?;
                let mut members = Vec::new();
                let mut rest = rest;
                while rest.first() != Some(&b')') {
                    let (member, left) = self.value(rest, depth + 1)?;
                    members.push(member);
                    rest = left;
                }
                return Ok((Value::Structure(members), rest.get(1..).unwrap_or_default()));
            }
            b'{' => {
                self.align(8)?;
                let (key, rest) = self.value(rest, depth + 1)?;
                let (value, rest) = self.value(rest, depth + 1)?;
                let rest = rest.strip_prefix(b"}").ok_or(Malformed("an entry of more than two values"))?;
                return Ok((Value::Entry(Box::new(key), Box::new(value)), rest));
            }
            _ => return Err(Malformed("an unknown type")),
        };
        Ok((value, rest))
    }

    fn array<'s>(&mut self, signature: &'s [u8], depth: u32) -> Result<(Value, &'s [u8]), Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed("a length out of bounds"))?;
        self.align(signature.first().copied().map_or(1, alignment))?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(Malformed("an array out of bounds"))?;
        let rest = skip(signature, 0)?;
        let item = signature.get(..signature.len() - rest.len()).unwrap_or_default();
        let mut values = Vec::new();
        while self.at < end {
            let before = self.at;
            let (value, _) = self.value(item, depth + 1)?;
            if self.at == before {
                return Err(Malformed("an array of nothing"));
            }
            values.push(value);
        }
        if self.at != end {
            return Err(Malformed("an array that ends within an item"));
        }
        Ok((Value::Array(String::from_utf8_lossy(item).into_owned(), values), rest))
    }
}

/// What is left of a signature after its first type.
fn skip(signature: &[u8], depth: u32) -> Result<&[u8], Malformed> {
    if depth > DEPTH {
        return Err(Malformed("it is nested too deeply"));
    }
    let (letter, rest) = signature.split_first().ok_or(Malformed("a signature that ends too early"))?;
    match letter {
        b'a' => skip(rest, depth + 1),
        b'(' | b'{' => {
            let close = if *letter == b'(' { b')' } else { b'}' };
            let mut rest = rest;
            while rest.first() != Some(&close) {
                rest = skip(rest, depth + 1)?;
            }
            Ok(rest.get(1..).unwrap_or_default())
        }
        b'y' | b'b' | b'n' | b'q' | b'i' | b'u' | b'x' | b't' | b'd' | b'h' | b's' | b'o' | b'g' | b'v' => {
            Ok(rest)
        }
        _ => Err(Malformed("an unknown type")),
    }
}
