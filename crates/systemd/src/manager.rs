//! The manager's own methods, as far as this program needs them.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::connection::{ANSWER, Question};
use crate::wire::{Value, hex};
use crate::{Activity, BusFault, Connection, HelperEnd, Transient, UnitState};

const NAME: &str = "org.freedesktop.systemd1";
const PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const UNIT: &str = "org.freedesktop.systemd1.Unit";
const SERVICE: &str = "org.freedesktop.systemd1.Service";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Sockets, in the order in which they are tried: the manager's own needs no bus to be up, as `systemctl` knows, too.
const OWN_SOCKET: &str = "/run/systemd/private";
const BUS_SOCKET: &str = "/run/dbus/system_bus_socket";

/// Where commands beside a service's main process stand.
const HELPERS: [&str; 4] = ["ExecCondition", "ExecStartPre", "ExecStartPost", "ExecStopPost"];

/// How long a reload may take: generators run anew, and have a minute and a half. As long as `systemctl` waits.
const RELOAD: Duration = Duration::from_mins(3);

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// As it should.
    Done,
    /// Otherwise: `failed`, `dependency`, `timeout`, `canceled`, `skipped`.
    Other(String),
    /// Not before the deadline.
    Late,
}

/// For how long a change to unit files holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnableScope {
    /// Until the next boot.
    ThisBoot,
    /// For good.
    ForGood,
}

/// The manager of the system.
#[derive(Debug)]
pub struct Systemd {
    connection: Connection,
}

impl Systemd {
    /// Connects to the manager of this system.
    pub fn connect() -> Result<Self, BusFault> {
        let connection =
            Connection::peer(Path::new(OWN_SOCKET)).or_else(|_| Connection::bus(Path::new(BUS_SOCKET)))?;
        Ok(Self { connection })
    }

    /// The manager at the other end of a connection.
    pub fn over(connection: Connection) -> Self {
        Self { connection }
    }

    /// Listens to what becomes of jobs; needed before [`Self::job_end`].
    pub fn subscribe(&mut self) -> Result<(), BusFault> {
        match self.manager("Subscribe", Vec::new()) {
            Err(fault) if !fault.is("AlreadySubscribed") => Err(fault),
            _ => Ok(()),
        }
    }

    /// Queues the start of a unit and gives its job; nothing is waited for.
    pub fn start(&mut self, unit: &str) -> Result<String, BusFault> {
        self.job("StartUnit", unit)
    }

    /// Queues the stop of a unit.
    pub fn stop(&mut self, unit: &str) -> Result<String, BusFault> {
        self.job("StopUnit", unit)
    }

    /// Queues a restart, or a start if it does not run.
    pub fn restart(&mut self, unit: &str) -> Result<String, BusFault> {
        self.job("RestartUnit", unit)
    }

    fn job(&mut self, method: &str, unit: &str) -> Result<String, BusFault> {
        let answer = self.manager(method, vec![Value::text(unit), Value::text("replace")])?;
        Ok(first_text(&answer))
    }

    /// Starts a program as a unit of its own.
    pub fn start_transient(&mut self, unit: &str, transient: &Transient) -> Result<String, BusFault> {
        let nothing = Value::Array("(sa(sv))".to_owned(), Vec::new());
        let body = vec![Value::text(unit), Value::text("fail"), transient.properties(), nothing];
        Ok(first_text(&self.manager("StartTransientUnit", body)?))
    }

    /// Waits until a job has ended.
    pub fn job_end(&mut self, job: &str, deadline: Instant) -> Result<JobEnd, BusFault> {
        // It may have ended before anybody listened.
        if let Err(fault) = self.property(job, "org.freedesktop.systemd1.Job", "State")
            && (fault.is("UnknownObject") || fault.is("UnknownMethod"))
            && !self.heard_of(job)
        {
            return Ok(JobEnd::Done);
        }
        while let Some(signal) = self.connection.signal(deadline)? {
            if signal.member.as_deref() == Some("JobRemoved")
                && signal.body.get(1).and_then(Value::as_text) == Some(job)
            {
                return Ok(match signal.body.get(3).and_then(Value::as_text) {
                    Some("done") => JobEnd::Done,
                    other => JobEnd::Other(other.unwrap_or("unknown").to_owned()),
                });
            }
        }
        Ok(JobEnd::Late)
    }

    fn heard_of(&self, job: &str) -> bool {
        self.connection.kept_signals().any(|signal| {
            signal.member.as_deref() == Some("JobRemoved")
                && signal.body.get(1).and_then(Value::as_text) == Some(job)
        })
    }

    /// Waits for any news of the manager or its units; false if none came. Whoever asks afterwards learns all that was new,
    /// so what has come by then is one piece of news: a reload brings hundreds of signals.
    pub fn news(&mut self, deadline: Instant) -> Result<bool, BusFault> {
        let came = self.connection.signal(deadline)?.is_some();
        self.connection.forget_signals()?;
        Ok(came)
    }

    /// What the manager knows of a unit; nothing if it knows none of this name.
    pub fn state(&mut self, unit: &str) -> Result<Option<UnitState>, BusFault> {
        let loaded = match self.manager("GetUnit", vec![Value::text(unit)]) {
            Ok(answer) => first_text(&answer),
            Err(fault) if fault.is("NoSuchUnit") => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let text = |value: Option<Value>| {
            value.and_then(|value| value.as_text().map(str::to_owned)).unwrap_or_default()
        };
        let number = |value: Option<Value>| value.and_then(|value| value.as_number());
        let [activity, sub_state, job, invocation, result, process, code, status, restarts] = self
            .all_known(
                &loaded,
                [
                    (UNIT, "ActiveState"),
                    (UNIT, "SubState"),
                    (UNIT, "Job"),
                    (UNIT, "InvocationID"),
                    (SERVICE, "Result"),
                    (SERVICE, "MainPID"),
                    (SERVICE, "ExecMainCode"),
                    (SERVICE, "ExecMainStatus"),
                    (SERVICE, "NRestarts"),
                ],
            )?;
        let (activity, sub_state, result) = (text(activity), text(sub_state), text(result));
        // The number of its job and the job's path; zero without one.
        let queued = job.as_ref().and_then(|job| job.items().first()).and_then(Value::as_number);
        let invocation = invocation.map_or(String::new(), |value| {
            let bytes = value.items().iter().filter_map(Value::as_number);
            hex(bytes.filter_map(|byte| u8::try_from(byte).ok()))
        });
        let [process, code, status, restarts] = [process, code, status, restarts].map(number);
        // Only what did not fail by its main process did so by another one.
        let main_failed = status.is_some_and(|status| status != 0) || matches!(code, Some(2 | 3));
        let mut helper = None;
        if matches!(result.as_str(), "exit-code" | "signal" | "core-dump") && !main_failed {
            for setting in HELPERS {
                if let Some(commands) = self.known(&loaded, SERVICE, setting)? {
                    helper = helper.or(HelperEnd::among(setting, &commands));
                }
            }
        }
        Ok(Some(UnitState {
            activity: Activity::read(&activity),
            sub_state,
            result,
            main_process: process
                .and_then(|process| u32::try_from(process).ok())
                .filter(|process| *process != 0),
            status: status.and_then(|status| i32::try_from(status).ok()).unwrap_or_default(),
            // CLD_EXITED is 1; CLD_KILLED and CLD_DUMPED are 2 and 3.
            killed: matches!(code, Some(2 | 3)),
            helper,
            restarts: restarts.and_then(|restarts| u32::try_from(restarts).ok()),
            queued: queued.is_some_and(|number| number != 0),
            invocation,
        }))
    }

    /// The main process of a unit that is active; nothing of any other. All that can be asked of it in one breath, for who
    /// looks again and again.
    pub fn active_process(&mut self, unit: &str) -> Result<Option<u32>, BusFault> {
        let path = unit_path(unit);
        let [activity, process] = self.all_known(&path, [(UNIT, "ActiveState"), (SERVICE, "MainPID")])?;
        let is_active =
            activity.as_ref().and_then(Value::as_text).map(Activity::read) == Some(Activity::Active);
        let process =
            process.as_ref().and_then(Value::as_number).and_then(|process| u32::try_from(process).ok());
        Ok(process.filter(|process| is_active && *process != 0))
    }

    /// The names of all units that the manager has loaded and that begin like this.
    pub fn named(&mut self, beginning: &str) -> Result<Vec<String>, BusFault> {
        let answer = self.manager("ListUnits", Vec::new())?;
        let units = answer.first().map(Value::items).unwrap_or_default();
        let names = units.iter().filter_map(|unit| unit.items().first()?.as_text());
        Ok(names.filter(|name| name.starts_with(beginning)).map(str::to_owned).collect())
    }

    /// What a unit says that it is; nothing if there is none of this name.
    pub fn description(&mut self, unit: &str) -> Result<String, BusFault> {
        self.told(unit, UNIT, "Description")
    }

    /// The control group of a service, beneath the tree that the manager keeps; nothing if it has no processes.
    pub fn control_group(&mut self, unit: &str) -> Result<String, BusFault> {
        self.told(unit, SERVICE, "ControlGroup")
    }

    /// A text that a unit tells of itself; nothing if there is none of this name.
    fn told(&mut self, unit: &str, interface: &str, name: &str) -> Result<String, BusFault> {
        let loaded = match self.manager("GetUnit", vec![Value::text(unit)]) {
            Ok(answer) => first_text(&answer),
            Err(fault) if fault.is("NoSuchUnit") => return Ok(String::new()),
            Err(fault) => return Err(fault),
        };
        let told = self.known(&loaded, interface, name)?;
        Ok(told.and_then(|told| told.as_text().map(str::to_owned)).unwrap_or_default())
    }

    /// A property that this version or this kind of unit may not have.
    fn known(&mut self, path: &str, interface: &str, name: &str) -> Result<Option<Value>, BusFault> {
        match self.property(path, interface, name) {
            Ok(value) => Ok(Some(value)),
            Err(BusFault::Error { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Such properties, asked for at once.
    fn all_known<const N: usize>(
        &mut self,
        path: &str,
        names: [(&str, &str); N],
    ) -> Result<[Option<Value>; N], BusFault> {
        let questions = names.map(|(interface, name)| Question {
            destination: NAME,
            path,
            interface: PROPERTIES,
            member: "Get",
            body: vec![Value::text(interface), Value::text(name)],
        });
        let mut answers = self.connection.ask(&questions, ANSWER)?.into_iter();
        let mut known = [const { None }; N];
        for value in &mut known {
            *value = match answers.next() {
                Some(Ok(answer)) => answer.into_iter().next().map(Value::unwrapped),
                Some(Err(BusFault::Error { .. })) | None => None,
                Some(Err(fault)) => return Err(fault),
            };
        }
        Ok(known)
    }

    fn property(&mut self, path: &str, interface: &str, name: &str) -> Result<Value, BusFault> {
        let body = vec![Value::text(interface), Value::text(name)];
        let answer = self.connection.call(NAME, path, PROPERTIES, "Get", body)?;
        Ok(answer.into_iter().next().map_or(Value::Boolean(false), Value::unwrapped))
    }

    /// Reads all unit files anew.
    pub fn reload(&mut self) -> Result<(), BusFault> {
        self.connection.call_within(NAME, PATH, MANAGER, "Reload", Vec::new(), RELOAD).map(|_| ())
    }

    /// Makes units start at boot.
    pub fn enable(&mut self, units: &[&str]) -> Result<(), BusFault> {
        let body = vec![Value::texts(units.iter().copied()), Value::Boolean(false), Value::Boolean(true)];
        self.manager("EnableUnitFiles", body).map(|_| ())
    }

    /// Makes units not start at boot.
    pub fn disable(&mut self, units: &[&str]) -> Result<(), BusFault> {
        let body = vec![Value::texts(units.iter().copied()), Value::Boolean(false)];
        self.manager("DisableUnitFiles", body).map(|_| ())
    }

    /// Makes units impossible to start.
    pub fn mask(&mut self, units: &[&str], scope: EnableScope) -> Result<(), BusFault> {
        let this_boot = Value::Boolean(scope == EnableScope::ThisBoot);
        let body = vec![Value::texts(units.iter().copied()), this_boot, Value::Boolean(true)];
        self.manager("MaskUnitFiles", body).map(|_| ())
    }

    /// Forgets that a unit has failed.
    pub fn forget_failure(&mut self, unit: &str) -> Result<(), BusFault> {
        match self.manager("ResetFailedUnit", vec![Value::text(unit)]) {
            Err(fault) if !fault.is("NoSuchUnit") => Err(fault),
            _ => Ok(()),
        }
    }

    /// Reboots the machine.
    pub fn reboot(&mut self) -> Result<(), BusFault> {
        self.job("StartUnit", "reboot.target").map(|_| ())
    }

    /// The manager's version, such as `252`.
    pub fn version(&mut self) -> Result<Option<u32>, BusFault> {
        let version = self.property(PATH, MANAGER, "Version")?;
        Ok(version.as_text().and_then(|text| {
            text.split(|letter: char| !letter.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
        }))
    }

    fn manager(&mut self, member: &str, body: Vec<Value>) -> Result<Vec<Value>, BusFault> {
        self.connection.call(NAME, PATH, MANAGER, member, body)
    }
}

fn first_text(answer: &[Value]) -> String {
    answer.first().and_then(Value::as_text).unwrap_or_default().to_owned()
}

/// The object that a unit is. All but letters and digits are written as their code, and so is a digit that comes first.
fn unit_path(unit: &str) -> String {
    let mut path = format!("{PATH}/unit/");
    for (index, byte) in unit.bytes().enumerate() {
        if byte.is_ascii_alphabetic() || (index > 0 && byte.is_ascii_digit()) {
            path.push(char::from(byte));
        } else {
            path.push('_');
            path.push_str(&hex(std::iter::once(byte)));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::unit_path;

    /// The right sides are what `GetUnit` of systemd 252 answers.
    #[test]
    fn the_object_of_a_unit_has_the_name_that_the_manager_gives_it() {
        for (unit, path) in [
            ("kubelet.service", "kubelet_2eservice"),
            ("1a-b@2.service", "_31a_2db_402_2eservice"),
            ("dev-disk-by\\x2dlabel.swap", "dev_2ddisk_2dby_5cx2dlabel_2eswap"),
        ] {
            assert_eq!(unit_path(unit), format!("/org/freedesktop/systemd1/unit/{path}"));
        }
    }
}
