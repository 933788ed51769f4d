//! snapd: sets a snap and starts it, through snapd's socket and without a child process.
//!
//! What is asked and what an answer means is in [`bringup_plan::snap`].

mod own;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bringup_disk::{FileFault, Files};
use bringup_plan::Snap;
use bringup_plan::snap::{
    ChangeState, Control, SOCKET, SnapAnswer, SnapRefusal, SnapRequest, abort, answer, change, change_state,
};
use bringup_progress::{Failure, FailureKind};
use serde_json::{Map, Value};

use crate::actions::{Stopped, of_file};
use crate::teller::Teller;

/// How long snapd may take for an answer; what takes long, it does behind one.
const PATIENCE: Duration = Duration::from_secs(30);
/// So long it may take also when the time is over: what is let go must still be told.
const LEAST: Duration = Duration::from_secs(2);
/// How often a change is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
enum SnapFault {
    #[error("snapd does not answer at `{}`: {source}", path.display())]
    Unheard { path: PathBuf, source: io::Error },
    #[error("snapd refuses: {}", .0.message)]
    Refused(SnapRefusal),
    #[error("snapd has failed: {0}")]
    Failed(String),
    #[error("snapd is not through with it: {0}")]
    Late(String),
    #[error(transparent)]
    File(#[from] FileFault),
}

/// snapd, as far as one snap is concerned.
#[derive(Debug)]
pub(crate) struct Snapd<'a> {
    socket: PathBuf,
    snap: &'a Snap,
    files: Files<'a>,
    deadline: Instant,
}

impl<'a> Snapd<'a> {
    /// snapd of this machine, for so long.
    pub(crate) fn new(snap: &'a Snap, files: Files<'a>, deadline: Instant) -> Self {
        Self { socket: PathBuf::from(SOCKET), snap, files, deadline }
    }

    /// Sets the snap as the plan wants it and starts it, once: one that runs stops before it is set anew. `anew` is for what
    /// it reads beside its settings.
    pub(crate) fn bring_up(&self, runs: bool, anew: bool) -> Result<(), Stopped> {
        self.begin(runs, anew).map_err(|fault| self.stopped(&fault))
    }

    fn begin(&self, runs: bool, anew: bool) -> Result<(), SnapFault> {
        self.give_names()?;
        let unlike = self.unlike()?;
        let changes = anew || !unlike.is_empty();
        if runs && changes {
            self.done(&self.snap.control(Control::Stop))?;
        }
        if !unlike.is_empty() {
            self.set(unlike)?;
        }
        if !runs || changes {
            self.done(&self.snap.control(Control::Start))?;
        }
        Ok(())
    }

    /// Gives programs the names that the plan has for them. Only people at a shell use them: one that cannot be given, as its
    /// snap is not there or another one has it, is told of, and kubelet starts without.
    fn give_names(&self) -> Result<(), SnapFault> {
        if self.snap.aliases.is_empty() {
            return Ok(());
        }
        let are = self.done(&Snap::ask_aliases())?;
        for (alias, program) in self.snap.missing_aliases(&are) {
            let mut own = own::aliases(self.files, &self.snap.name)?;
            own.insert(alias.to_owned(), program.to_owned());
            own::write_aliases(self.files, &self.snap.name, own)?;
            match self.done(&Snap::alias(alias, program)) {
                Err(SnapFault::Refused(refusal)) if refusal.is_transient() && !refusal.kind.is_empty() => {
                    return Err(SnapFault::Refused(refusal));
                }
                Err(fault @ (SnapFault::Refused(_) | SnapFault::Failed(_))) => {
                    Teller::note(&format!("`{alias}` cannot stand for `{program}`: {fault}"));
                }
                given => drop(given?),
            }
        }
        Ok(())
    }

    fn take_names(&self) -> Result<(), SnapFault> {
        let own = own::aliases(self.files, &self.snap.name)?;
        if own.is_empty() {
            return Ok(());
        }
        for (alias, program) in &own {
            match self.done(&Snap::unalias(alias, program)) {
                // It was never given, or is gone with its snap.
                Err(SnapFault::Refused(_) | SnapFault::Failed(_)) => {}
                taken => drop(taken?),
            }
        }
        Ok(own::write_aliases(self.files, &self.snap.name, BTreeMap::new())?)
    }

    /// Unsets what the agent has set, if the snap is still there.
    pub(crate) fn take_away(&self) -> Result<(), Stopped> {
        match self.take_names().and_then(|()| self.unset()) {
            Err(SnapFault::Refused(refusal)) if refusal.is_absent() => Ok(()),
            ended => ended.map_err(|fault| self.stopped(&fault)),
        }
    }

    fn unset(&self) -> Result<(), SnapFault> {
        if own::read(self.files, &self.snap.name)?.is_empty() {
            return Ok(());
        }
        let bare = Snap { settings: BTreeMap::new(), ..self.snap.clone() };
        let snapd = Snapd { snap: &bare, socket: self.socket.clone(), ..*self };
        let gone = snapd.unlike()?;
        if gone.is_empty() { Ok(()) } else { snapd.set(gone) }
    }

    fn unlike(&self) -> Result<Map<String, Value>, SnapFault> {
        let own = own::read(self.files, &self.snap.name)?;
        Ok(self.snap.unlike(&self.done(&self.snap.ask())?, &own))
    }

    /// Sets these settings, which are the agent's from then on.
    fn set(&self, settings: Map<String, Value>) -> Result<(), SnapFault> {
        let name = &self.snap.name;
        let before = own::read(self.files, name)?;
        let own: BTreeSet<String> = before.into_iter().chain(settings.keys().cloned()).collect();
        own::write(self.files, name, own.clone())?;
        self.done(&self.snap.set(settings))?;
        let is_wanted = |setting: &String| self.snap.settings.contains_key(setting);
        Ok(own::write(self.files, name, own.into_iter().filter(is_wanted).collect())?)
    }

    /// What came of a request, when it is done.
    fn done(&self, request: &SnapRequest) -> Result<Value, SnapFault> {
        match self.ask(request)? {
            SnapAnswer::Done(value) => Ok(value),
            SnapAnswer::Change(id) => self.end_of(&id).map(|()| Value::Null),
        }
    }

    /// Waits for a change.
    fn end_of(&self, id: &str) -> Result<(), SnapFault> {
        loop {
            let last = match self.ask(&change(id)) {
                Ok(SnapAnswer::Done(value)) => match change_state(&value) {
                    ChangeState::Done => return Ok(()),
                    ChangeState::Failed(why) => return Err(SnapFault::Failed(why)),
                    ChangeState::UnderWay(doing) => SnapFault::Late(doing),
                },
                Ok(SnapAnswer::Change(_)) => SnapFault::Late(String::new()),
                // It may be its own turn to be started anew, and knows its changes afterwards.
                Err(fault @ SnapFault::Unheard { .. }) => fault,
                Err(fault) => return Err(fault),
            };
            if self.left() <= LOOK {
                let _ = self.ask(&abort(id));
                return Err(last);
            }
            std::thread::sleep(LOOK);
        }
    }

    fn ask(&self, request: &SnapRequest) -> Result<SnapAnswer, SnapFault> {
        let (status, body) = wire::ask(&self.socket, request, self.left().clamp(LEAST, PATIENCE))
            .map_err(|source| SnapFault::Unheard { path: self.socket.clone(), source })?;
        answer(status, &body).map_err(SnapFault::Refused)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn stopped(&self, fault: &SnapFault) -> Stopped {
        let name = &self.snap.name;
        let (kind, fix) = match fault {
            SnapFault::Late(doing) => return Stopped::TimedOut { tail: format!("snapd: {doing}\n") },
            SnapFault::File(fault) => return of_file(fault).into(),
            SnapFault::Unheard { .. } => {
                (FailureKind::Transient, "see `systemctl status snapd.socket`".to_owned())
            }
            SnapFault::Refused(refusal) if refusal.is_absent() => (
                FailureKind::Operator,
                format!(
                    "install the snap `{name}`, or say in `software.kubelet` where kubelet is; the agent goes on by itself"
                ),
            ),
            SnapFault::Refused(refusal) if refusal.is_transient() => {
                (FailureKind::Transient, "see `snap changes`".to_owned())
            }
            SnapFault::Refused(_) | SnapFault::Failed(_) => {
                (FailureKind::Transient, format!("see `snap changes {name}`"))
            }
        };
        Failure::new(kind, fault.to_string(), fix).into()
    }
}

/// What would be done to the settings of the snap.
pub(crate) fn preview(snap: &Snap, files: Files<'_>) -> Vec<String> {
    let unlike = Snapd::new(snap, files, Instant::now() + LOOK * 10).unlike().unwrap_or_default();
    let does = |(name, value): (String, Value)| match value {
        Value::Null => format!("unsets `{name}` of kubelet's snap"),
        _ => format!("sets `{name}` of kubelet's snap"),
    };
    unlike.into_iter().map(does).collect()
}

#[cfg(test)]
mod tests;
