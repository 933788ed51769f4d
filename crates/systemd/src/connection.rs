//! One socket, with systemd or a bus at the other end.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::BusFault;
use crate::wire::{Kind, Message, Value, total_length};

/// How long a method may take to answer. Methods that start work answer when it is queued.
pub(crate) const ANSWER: Duration = Duration::from_secs(25);

/// How long signals may gather while a slow answer is awaited.
const HEAP: Duration = Duration::from_millis(5);

/// How much is taken from the socket at once: a reload brings hundreds of short signals.
const CHUNK: usize = 16 * 1024;

/// A connection. Signals that come while an answer is awaited are kept, and read only by who wants them.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    serial: u32,
    bus: bool,
    signals: VecDeque<Vec<u8>>,
    /// What one read brings.
    chunk: Vec<u8>,
    buffer: Vec<u8>,
    /// How much of the buffer has been taken out of it.
    taken: usize,
}

/// A question to somebody on the other side.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Who is asked, where there is a bus between.
    pub destination: &'a str,
    /// The object.
    pub path: &'a str,
    /// The object's interface.
    pub interface: &'a str,
    /// The method.
    pub member: &'a str,
    /// The values that it takes.
    pub body: Vec<Value>,
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
        let mut connection = Self {
            stream,
            serial: 0,
            bus,
            signals: VecDeque::new(),
            chunk: vec![0; CHUNK],
            buffer: Vec::new(),
            taken: 0,
        };
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
        let question = Question { destination, path, interface, member, body };
        let mut answers = self.ask(&[question], patience)?;
        answers.pop().unwrap_or_else(|| Err(BusFault::Late { member: member.to_owned(), seconds: 0 }))
    }

    /// Asks all of it at once, and waits for all answers: one way there and back, whatever their number. They come in the
    /// order of the questions.
    pub fn ask(
        &mut self,
        questions: &[Question<'_>],
        patience: Duration,
    ) -> Result<Vec<Result<Vec<Value>, BusFault>>, BusFault> {
        let mut bytes = Vec::new();
        let mut serials = Vec::new();
        for question in questions {
            let Question { destination, path, interface, member, body } = question.clone();
            let mut message = Message::call(self.bus.then_some(destination), path, interface, member, body);
            self.serial = self.serial.checked_add(1).unwrap_or(1);
            message.serial = self.serial;
            serials.push(self.serial);
            bytes.extend(message.to_bytes());
        }
        self.send(&bytes)?;
        let deadline = Instant::now() + patience;
        let mut answers = BTreeMap::new();
        while answers.len() < serials.len() {
            if patience > ANSWER && self.next_is_missing() {
                // Who takes long to answer may tell of hundreds of units meanwhile, one by one: a reload does. Hearing them in
                // heaps takes less than waking up for each.
                std::thread::sleep(HEAP);
            }
            let Some(bytes) = self.next(deadline)? else {
                let late = serials.iter().zip(questions).find(|(serial, _)| !answers.contains_key(*serial));
                let member = late.map_or("", |(_, question)| question.member).to_owned();
                return Err(BusFault::Late { member, seconds: patience.as_secs() });
            };
            if is_signal(&bytes) {
                self.signals.push_back(bytes);
                continue;
            }
            let answer = Message::from_bytes(&bytes)?;
            if let Some(serial) = answer.answers.filter(|serial| serials.contains(serial)) {
                answers.insert(serial, read(answer));
            }
        }
        Ok(serials.iter().filter_map(|serial| answers.remove(serial)).collect())
    }

    /// The next signal, or nothing if none comes before the deadline.
    pub fn signal(&mut self, deadline: Instant) -> Result<Option<Message>, BusFault> {
        if let Some(signal) = self.signals.pop_front() {
            return Ok(Some(Message::from_bytes(&signal)?));
        }
        while let Some(bytes) = self.next(deadline)? {
            if is_signal(&bytes) {
                return Ok(Some(Message::from_bytes(&bytes)?));
            }
        }
        Ok(None)
    }

    /// Signals that came while an answer was awaited.
    pub(crate) fn kept_signals(&self) -> impl Iterator<Item = Message> {
        self.signals.iter().filter_map(|bytes| Message::from_bytes(bytes).ok())
    }

    /// Drops the signals that came while an answer was awaited, and those that are there already.
    pub(crate) fn forget_signals(&mut self) -> Result<(), BusFault> {
        self.signals.clear();
        // Nobody waits for an answer now.
        while self.next_in_buffer()?.is_some() {}
        Ok(())
    }

    fn next(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, BusFault> {
        loop {
            if let Some(bytes) = self.next_in_buffer()? {
                return Ok(Some(bytes));
            }
            if !self.receive(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Whether the next message has yet to come.
    fn next_is_missing(&self) -> bool {
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let total = rest.first_chunk::<16>().map(total_length);
        !total.is_some_and(|total| total.is_ok_and(|total| total <= rest.len()))
    }

    fn next_in_buffer(&mut self) -> Result<Option<Vec<u8>>, BusFault> {
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let Some(head) = rest.first_chunk::<16>() else { return Ok(None) };
        let total = total_length(head)?;
        let found = rest.get(..total).map(<[u8]>::to_vec);
        if found.is_some() {
            self.taken += total;
        }
        Ok(found)
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
        // What is left is the beginning of a message, if anything.
        self.buffer.drain(..self.taken.min(self.buffer.len()));
        self.taken = 0;
        match self.stream.read(&mut self.chunk) {
            Ok(0) => Err(BusFault::Broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.buffer.extend(self.chunk.get(..count).unwrap_or_default());
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

fn is_signal(bytes: &[u8]) -> bool {
    bytes.get(1).copied() == Some(Kind::Signal.number())
}

/// What an answer says.
fn read(answer: Message) -> Result<Vec<Value>, BusFault> {
    if answer.kind == Kind::Error {
        let told = answer.body.first().and_then(Value::as_text).unwrap_or("no reason is given").to_owned();
        return Err(BusFault::Error { name: answer.error.unwrap_or_default(), message: told });
    }
    Ok(answer.body)
}
