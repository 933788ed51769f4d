//! One socket, with systemd or a bus at the other end.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::BusFault;
use crate::wire::{Kind, Message, Value, total_length};

/// How long a method may take to answer. Methods that start work answer when it is queued.
const ANSWER: Duration = Duration::from_secs(25);

/// A connection. Signals that come while an answer is awaited are kept.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    serial: u32,
    bus: bool,
    signals: VecDeque<Message>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to a peer that is no bus, such as the manager's own socket.
    pub fn peer(socket: &Path) -> Result<Self, BusFault> {
        Self::open(socket, false)
    }

    /// Connects to a bus.
    pub fn bus(socket: &Path) -> Result<Self, BusFault> {
        let mut connection = Self::open(socket, true)?;
        let name = "org.freedesktop.DBus";
        connection.call(name, "/org/freedesktop/DBus", name, "Hello", Vec::new())?;
        Ok(connection)
    }

    fn open(socket: &Path, bus: bool) -> Result<Self, BusFault> {
        let unreachable = |source| BusFault::Unreachable { socket: socket.display().to_string(), source };
        let stream = UnixStream::connect(socket).map_err(unreachable)?;
        let mut connection = Self { stream, serial: 0, bus, signals: VecDeque::new(), buffer: Vec::new() };
        connection.authenticate()?;
        Ok(connection)
    }

    /// Says who we are; the kernel vouches for it.
    fn authenticate(&mut self) -> Result<(), BusFault> {
        let user = rustix::process::geteuid().as_raw().to_string();
        let hex = crate::wire::hex(user.bytes());
        // All at once, as systemd's own programs do: a manager that finds `BEGIN` and a call in one read looks at the call
        // only when something else comes.
        self.send(format!("\0AUTH EXTERNAL {hex}\r\nBEGIN\r\n").as_bytes())?;
        let deadline = Instant::now() + ANSWER;
        let answer = loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                break String::from_utf8_lossy(&line).trim_end().to_owned();
            }
            if !self.receive(deadline)? {
                return Err(BusFault::Late { member: "AUTH".to_owned(), seconds: ANSWER.as_secs() });
            }
        };
        if answer.starts_with("OK ") { Ok(()) } else { Err(BusFault::Refused { answer }) }
    }

    /// Calls a method and waits for its answer.
    pub fn call(
        &mut self,
        destination: &str,
        path: &str,
        interface: &str,
        member: &str,
        body: Vec<Value>,
    ) -> Result<Vec<Value>, BusFault> {
        self.call_within(destination, path, interface, member, body, ANSWER)
    }

    /// Calls a method that may take so long to answer.
    pub fn call_within(
        &mut self,
        destination: &str,
        path: &str,
        interface: &str,
        member: &str,
        body: Vec<Value>,
        patience: Duration,
    ) -> Result<Vec<Value>, BusFault> {
        let mut message = Message::call(self.bus.then_some(destination), path, interface, member, body);
        self.serial = self.serial.checked_add(1).unwrap_or(1);
        message.serial = self.serial;
        self.send(&message.to_bytes())?;
        let deadline = Instant::now() + patience;
        while let Some(answer) = self.next(deadline)? {
            if answer.answers != Some(message.serial) {
                if answer.kind == Kind::Signal {
                    self.signals.push_back(answer);
                }
                continue;
            }
            if answer.kind == Kind::Error {
                let told = answer.body.first().and_then(Value::as_text).unwrap_or("no reason is given");
                return Err(BusFault::Error {
                    name: answer.error.unwrap_or_default(),
                    message: told.to_owned(),
                });
            }
            return Ok(answer.body);
        }
        Err(BusFault::Late { member: member.to_owned(), seconds: patience.as_secs() })
    }

    /// The next signal, or nothing if none comes before the deadline.
    pub fn signal(&mut self, deadline: Instant) -> Result<Option<Message>, BusFault> {
        if let Some(signal) = self.signals.pop_front() {
            return Ok(Some(signal));
        }
        while let Some(message) = self.next(deadline)? {
            if message.kind == Kind::Signal {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Signals that came while an answer was awaited.
    pub(crate) fn kept_signals(&self) -> impl Iterator<Item = &Message> {
        self.signals.iter()
    }

    /// Drops the signals that came while an answer was awaited.
    pub(crate) fn forget_signals(&mut self) {
        self.signals.clear();
    }

    fn next(&mut self, deadline: Instant) -> Result<Option<Message>, BusFault> {
        loop {
            if let Some(head) = self.buffer.first_chunk::<16>() {
                let total = total_length(head)?;
                if self.buffer.len() >= total {
                    let bytes: Vec<u8> = self.buffer.drain(..total).collect();
                    return Ok(Some(Message::from_bytes(&bytes)?));
                }
            }
            if !self.receive(deadline)? {
                return Ok(None);
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), BusFault> {
        self.stream.write_all(bytes).map_err(BusFault::Broken)
    }

    /// Waits for more bytes; false if the deadline came first.
    fn receive(&mut self, deadline: Instant) -> Result<bool, BusFault> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        self.stream.set_read_timeout(Some(left)).map_err(BusFault::Broken)?;
        let mut chunk = [0; 4096];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(BusFault::Broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.buffer.extend(chunk.get(..count).unwrap_or_default());
                Ok(true)
            }
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(fault) if matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(fault) => Err(BusFault::Broken(fault)),
        }
    }
}
