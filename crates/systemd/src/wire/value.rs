//! A value of D-Bus, with its type.

/// A value. Arrays know the type of their items, as they may be empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `y`
    Byte(u8),
    /// `b`
    Boolean(bool),
    /// `n`
    I16(i16),
    /// `q`
    U16(u16),
    /// `i`
    I32(i32),
    /// `u`
    U32(u32),
    /// `x`
    I64(i64),
    /// `t`
    U64(u64),
    /// `d`
    Double(f64),
    /// `s`
    Text(String),
    /// `o`
    Path(String),
    /// `g`
    Signature(String),
    /// `h`: the place of a file descriptor among those that came along.
    Descriptor(u32),
    /// `v`
    Variant(Box<Value>),
    /// `a…`, with the signature of its items.
    Array(String, Vec<Value>),
    /// `(…)`
    Structure(Vec<Value>),
    /// `{…}`: an item of a dictionary.
    Entry(Box<Value>, Box<Value>),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts, `as`.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Array("s".to_owned(), texts.into_iter().map(Self::text).collect())
    }

    /// A property as methods of systemd take it, `(sv)`.
    pub fn property(name: &str, value: Self) -> Self {
        Self::Structure(vec![Self::text(name), Self::Variant(Box::new(value))])
    }

    /// What is inside, if it is a variant.
    #[must_use]
    pub fn unwrapped(self) -> Self {
        match self {
            Self::Variant(inner) => inner.unwrapped(),
            other => other,
        }
    }

    /// The text of a string, a path or a signature.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Path(text) | Self::Signature(text) => Some(text),
            Self::Variant(inner) => inner.as_text(),
            _ => None,
        }
    }

    /// A whole number, whatever its width.
    pub fn as_number(&self) -> Option<i128> {
        Some(match self {
            Self::Byte(number) => i128::from(*number),
            Self::I16(number) => i128::from(*number),
            Self::U16(number) => i128::from(*number),
            Self::I32(number) => i128::from(*number),
            Self::U32(number) | Self::Descriptor(number) => i128::from(*number),
            Self::I64(number) => i128::from(*number),
            Self::U64(number) => i128::from(*number),
            Self::Variant(inner) => return inner.as_number(),
            _ => return None,
        })
    }

    /// The items of an array or the members of a structure.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(_, items) | Self::Structure(items) => items,
            Self::Variant(inner) => inner.items(),
            _ => &[],
        }
    }

    /// The type, in D-Bus' own letters.
    pub fn signature(&self) -> String {
        match self {
            Self::Byte(_) => "y".to_owned(),
            Self::Boolean(_) => "b".to_owned(),
            Self::I16(_) => "n".to_owned(),
            Self::U16(_) => "q".to_owned(),
            Self::I32(_) => "i".to_owned(),
            Self::U32(_) => "u".to_owned(),
            Self::I64(_) => "x".to_owned(),
            Self::U64(_) => "t".to_owned(),
            Self::Double(_) => "d".to_owned(),
            Self::Text(_) => "s".to_owned(),
            Self::Path(_) => "o".to_owned(),
            Self::Signature(_) => "g".to_owned(),
            Self::Descriptor(_) => "h".to_owned(),
            Self::Variant(_) => "v".to_owned(),
            Self::Array(item, _) => format!("a{item}"),
            Self::Structure(members) => format!("({})", signature_of(members)),
            Self::Entry(key, value) => format!("{{{}{}}}", key.signature(), value.signature()),
        }
    }
}

/// The signatures of several values, one after the other.
pub(super) fn signature_of(values: &[Value]) -> String {
    values.iter().map(Value::signature).collect()
}

/// How a type is aligned.
pub(super) fn alignment(letter: u8) -> usize {
    match letter {
        b'n' | b'q' => 2,
        b'b' | b'i' | b'u' | b's' | b'o' | b'a' | b'h' => 4,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 1,
    }
}
