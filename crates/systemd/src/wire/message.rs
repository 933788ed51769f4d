//! A message: who, what, and with which values.

use super::read::{Malformed, Reader};
use super::value::{Value, signature_of};
use super::write::{Writer, length};

/// No message may be longer; D-Bus says 128 MiB, and nothing that systemd answers comes near this.
const LONGEST: usize = 16 << 20;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A question.
    Call,
    /// Its answer.
    Answer,
    /// A refusal.
    Error,
    /// News for whoever listens.
    Signal,
}

impl Kind {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Call => 1,
            Self::Answer => 2,
            Self::Error => 3,
            Self::Signal => 4,
        }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What it is for.
    pub kind: Kind,
    /// Its number on this connection.
    pub serial: u32,
    /// The number of the call that it answers.
    pub answers: Option<u32>,
    /// The receiver, where there is a bus between.
    pub destination: Option<String>,
    /// The object.
    pub path: Option<String>,
    /// The object's interface.
    pub interface: Option<String>,
    /// The method or signal.
    pub member: Option<String>,
    /// The name of an error.
    pub error: Option<String>,
    /// The values.
    pub body: Vec<Value>,
}

impl Message {
    /// A call of a method.
    pub fn call(
        destination: Option<&str>,
        path: &str,
        interface: &str,
        member: &str,
        body: Vec<Value>,
    ) -> Self {
        Self {
            kind: Kind::Call,
            serial: 0,
            answers: None,
            destination: destination.map(str::to_owned),
            path: Some(path.to_owned()),
            interface: Some(interface.to_owned()),
            member: Some(member.to_owned()),
            error: None,
            body,
        }
    }

    /// The bytes of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Writer::default();
        for value in &self.body {
            body.value(value);
        }
        let mut writer = Writer::default();
        writer.bytes.extend([b'l', self.kind.number(), 0, 1]);
        writer.u32(length(body.bytes.len()));
        writer.u32(self.serial);
        let field = |code: u8, value: Value| {
            Value::Structure(vec![Value::Byte(code), Value::Variant(Box::new(value))])
        };
        let mut fields = Vec::new();
        fields.extend(self.path.clone().map(|path| field(1, Value::Path(path))));
        fields.extend(self.interface.clone().map(|name| field(2, Value::Text(name))));
        fields.extend(self.member.clone().map(|name| field(3, Value::Text(name))));
        fields.extend(self.error.clone().map(|name| field(4, Value::Text(name))));
        fields.extend(self.answers.map(|serial| field(5, Value::U32(serial))));
        fields.extend(self.destination.clone().map(|name| field(6, Value::Text(name))));
        if !self.body.is_empty() {
            fields.push(field(8, Value::Signature(signature_of(&self.body))));
        }
        writer.value(&Value::Array("(yv)".to_owned(), fields));
        writer.align(8);
        writer.bytes.extend(body.bytes);
        writer.bytes
    }

    /// Reads a whole message.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader { bytes, at: 4, big: bytes.first() == Some(&b'B') };
        let kind = match bytes.get(1) {
            Some(1) => Kind::Call,
            Some(2) => Kind::Answer,
            Some(3) => Kind::Error,
            Some(4) => Kind::Signal,
            _ => return Err(Malformed("an unknown kind")),
        };
        reader.u32()?;
        let serial = reader.u32()?;
        let fields = reader.values("a(yv)")?;
        reader.align(8)?;
        let mut message = Self {
            kind,
            serial,
            answers: None,
            destination: None,
            path: None,
            interface: None,
            member: None,
            error: None,
            body: Vec::new(),
        };
        let mut signature = String::new();
        for field in fields.first().map(Value::items).unwrap_or_default() {
            let [Value::Byte(code), value] = field.items() else { continue };
            let text = value.as_text().map(str::to_owned);
            match code {
                1 => message.path = text,
                2 => message.interface = text,
                3 => message.member = text,
                4 => message.error = text,
                5 => message.answers = value.as_number().and_then(|number| u32::try_from(number).ok()),
                6 => message.destination = text,
                8 => signature = text.unwrap_or_default(),
                _ => {}
            }
        }
        message.body = reader.values(&signature)?;
        Ok(message)
    }
}

/// How long a message is in all, by its first sixteen bytes.
pub(crate) fn total_length(head: &[u8; 16]) -> Result<usize, Malformed> {
    let big = match head[0] {
        b'l' => false,
        b'B' => true,
        _ => return Err(Malformed("neither order of bytes")),
    };
    let number = |at: usize| {
        let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let number = if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        usize::try_from(number).unwrap_or(usize::MAX)
    };
    let fields = number(12).checked_add(16).map(|end| end.next_multiple_of(8));
    let total = fields.and_then(|end| end.checked_add(number(4)));
    total.filter(|total| *total <= LONGEST).ok_or(Malformed("it is too long"))
}
