//! The update engine of Flatcar Container Linux, over the system's bus.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::wire::{Message, Value};
use crate::{BusFault, Connection};

const NAME: &str = "com.coreos.update1";
const PATH: &str = "/com/coreos/update1";
const MANAGER: &str = "com.coreos.update1.Manager";
const BUS: &str = "org.freedesktop.DBus";

/// How long nothing may be heard before it is asked how it stands.
const SILENCE: Duration = Duration::from_secs(10);
/// How often it may say that it is idle before it has begun anything.
const IDLE: u32 = 3;

/// How the engine stands, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateStatus {
    /// What it does, such as `UPDATE_STATUS_DOWNLOADING`.
    pub operation: String,
    /// The version that it brings; `0.0.0` or nothing where there is none.
    pub version: String,
}

impl UpdateStatus {
    fn of(body: &[Value]) -> Option<Self> {
        // When it last found an update, how far it is, what it does, the version, its size.
        let text = |index: usize| body.get(index).and_then(Value::as_text).map(str::to_owned);
        Some(Self { operation: text(2)?, version: text(3)? })
    }

    /// Whether an update is in place that a reboot begins to use.
    pub fn needs_reboot(&self) -> bool {
        self.operation == "UPDATE_STATUS_UPDATED_NEED_REBOOT"
    }

    fn is_idle(&self) -> bool {
        self.operation == "UPDATE_STATUS_IDLE"
    }

    fn is_error(&self) -> bool {
        self.operation == "UPDATE_STATUS_REPORTING_ERROR_EVENT"
    }
}

/// How an attempt at an update ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// There was none.
    Current,
    /// It is in place, and needs a reboot.
    NeedsReboot {
        /// Its version.
        version: String,
    },
    /// The engine had an error, while it did this.
    Failed {
        /// What it did before, in its own words.
        during: String,
    },
    /// It was not over before the deadline.
    Late {
        /// What it did, in its own words.
        during: String,
    },
}

/// The engine.
#[derive(Debug)]
pub struct UpdateEngine {
    connection: Connection,
}

impl UpdateEngine {
    /// Connects to the engine by the system's bus.
    pub fn connect() -> Result<Self, BusFault> {
        Self::at(Path::new("/run/dbus/system_bus_socket"))
    }

    /// Connects to it by the bus at this socket.
    pub fn at(bus: &Path) -> Result<Self, BusFault> {
        Ok(Self { connection: Connection::bus(bus)? })
    }

    /// How it stands.
    pub fn status(&mut self) -> Result<UpdateStatus, BusFault> {
        let body = self.connection.call(NAME, PATH, MANAGER, "GetStatus", Vec::new())?;
        UpdateStatus::of(&body).ok_or_else(|| BusFault::Refused { answer: "no status".to_owned() })
    }

    /// Asks for an update and follows it to its end. One that is in place already is not asked for again.
    pub fn update(&mut self, deadline: Instant) -> Result<Updated, BusFault> {
        let rule = format!("type='signal',interface='{MANAGER}',member='StatusUpdate'");
        self.connection.call(BUS, "/org/freedesktop/DBus", BUS, "AddMatch", vec![Value::text(rule)])?;
        let before = self.status()?;
        if before.needs_reboot() {
            return Ok(Updated::NeedsReboot { version: before.version });
        }
        let mut watch = Watch { idle: 0, last: before };
        if watch.last.is_idle() {
            self.connection.call(NAME, PATH, MANAGER, "AttemptUpdate", Vec::new())?;
        }
        loop {
            let until = deadline.min(Instant::now() + SILENCE);
            let heard = match self.connection.signal(until)? {
                Some(signal) => told(&signal),
                None if Instant::now() >= deadline => {
                    return Ok(Updated::Late { during: watch.last.operation });
                }
                // A signal may get lost with a bus that is started anew; an error among them would show as silence.
                None => Some(self.status()?),
            };
            if let Some(ended) = heard.and_then(|status| watch.look(status)) {
                return Ok(ended);
            }
        }
    }
}

fn told(signal: &Message) -> Option<UpdateStatus> {
    let ours =
        signal.member.as_deref() == Some("StatusUpdate") && signal.interface.as_deref() == Some(MANAGER);
    ours.then(|| UpdateStatus::of(&signal.body)).flatten()
}

/// What was seen of an attempt so far.
struct Watch {
    /// How often it was seen idle, without having begun.
    idle: u32,
    last: UpdateStatus,
}

impl Watch {
    fn look(&mut self, status: UpdateStatus) -> Option<Updated> {
        if status.needs_reboot() {
            return Some(Updated::NeedsReboot { version: status.version });
        }
        if status.is_error() {
            return Some(self.failed());
        }
        if status.is_idle() {
            // Asked whether there is an update, it was told that there is none; anything else must have ended otherwise.
            return match self.last.operation.as_str() {
                "UPDATE_STATUS_CHECKING_FOR_UPDATE" => Some(Updated::Current),
                "UPDATE_STATUS_IDLE" => {
                    self.idle += 1;
                    (self.idle >= IDLE).then(|| self.failed())
                }
                _ => Some(self.failed()),
            };
        }
        self.last = status;
        None
    }

    fn failed(&self) -> Updated {
        Updated::Failed { during: self.last.operation.clone() }
    }
}
