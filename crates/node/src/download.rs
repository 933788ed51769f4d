//! Brings something here and checks its digest. What has come survives the agent and is gone on with.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bringup_aws::Fault;
use bringup_aws::store::Object;
use bringup_disk::{Files, Kind, Opened, Owner};
use bringup_plan::Plan;
use bringup_progress::{Failure, FailureKind};
use sha2::{Digest as _, Sha256};

use crate::actions::{Doing, Stopped, of_file};
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::{self, Network};
use crate::places;
use crate::web::{Incoming, WebFault, shown};

/// How much is held in memory at a time.
const PIECE: usize = 64 * 1024;

/// Who brings things here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Download<'a> {
    machine: &'a Machine,
    plan: &'a Plan,
    knowledge: &'a Knowledge<'a>,
    network: &'a Network,
    deadline: Instant,
}

impl<'a> Download<'a> {
    /// For one attempt at a step.
    pub(crate) fn new(doing: &Doing<'a>) -> Self {
        Self {
            machine: doing.machine,
            plan: doing.plan,
            knowledge: doing.knowledge,
            network: doing.network,
            deadline: network::deadline(doing.order.timeout_ms),
        }
    }

    /// Brings what has this digest from the first mirror that has it. The file that is named afterwards is whole; whoever
    /// asked moves it away or removes it.
    pub(crate) fn obtain(&self, urls: &[String], sha256: &str) -> Result<PathBuf, Stopped> {
        let files = self.machine.files();
        files.make_directory(Path::new(places::FETCH), 0o700, Owner::ROOT)?;
        let path = Path::new(places::FETCH).join(sha256);
        let mut part = Part::open(files, &path)?;
        if part.size > 0 && part.digest() == sha256 {
            return Ok(path);
        }
        let mut failures = Vec::new();
        for url in urls {
            match self.from(url, &mut part, sha256) {
                Ok(()) => {
                    part.sync()?;
                    return Ok(path);
                }
                Err(Stopped::Failed(failure)) => failures.push(failure),
                Err(other) => return Err(other),
            }
        }
        Err(together(&failures).into())
    }

    fn from(&self, url: &str, part: &mut Part<'_>, sha256: &str) -> Result<(), Stopped> {
        let resumed = part.size > 0;
        self.stream(url, part)?;
        if part.digest() != sha256 && resumed {
            // The first part may be of something else: once more, from the beginning.
            part.restart()?;
            self.stream(url, part)?;
        }
        let found = part.digest();
        if found == sha256 {
            return Ok(());
        }
        part.restart()?;
        Err(Failure::new(
            FailureKind::Permanent,
            format!("{} has another digest: {found}", shown(url)),
            "see whether what is there is what is meant, and mend `sha256` or the mirror",
        )
        .into())
    }

    fn stream(&self, url: &str, part: &mut Part<'_>) -> Result<(), Stopped> {
        if let Some(path) = url.strip_prefix("file://") {
            return self.copy(path, part);
        }
        let mut incoming = self.open(url, part.size)?;
        if part.size > 0 {
            match (incoming.status, incoming.from) {
                (206, Some(from)) if from == part.size => {}
                (200, _) => part.restart()?,
                // Of what we have, this mirror has less, or says something else than what was asked.
                (206 | 416, _) => {
                    part.restart()?;
                    incoming = self.open(url, 0)?;
                }
                _ => {}
            }
        }
        match incoming.status {
            200 | 206 => {
                self.pour(&mut incoming.body, part, &|fault| WebFault::of_io(fault).failure(&shown(url)))
            }
            status => Err(refused(url, status).into()),
        }
    }

    fn open(&self, url: &str, from: u64) -> Result<Incoming, Failure> {
        match url.split_once("://") {
            Some(("s3", _)) => self.object(url, from),
            Some(("http" | "https", _)) => {
                self.network.web.fetch(url, from).map_err(|fault| fault.failure(&shown(url)))
            }
            _ => Err(Failure::new(
                FailureKind::Permanent,
                format!("`{}` cannot be fetched", shown(url)),
                "write an address with `https`, `http`, `s3` or `file`",
            )),
        }
    }

    fn object(&self, url: &str, from: u64) -> Result<Incoming, Failure> {
        let object = Object::parse(url).map_err(|fault| {
            Failure::new(FailureKind::Permanent, fault.to_string(), "write `s3://BUCKET/KEY`")
        })?;
        let mut region = network::region(self.plan, self.knowledge)?;
        let (mut renewed, mut moved) = (false, false);
        loop {
            let credentials = self.network.metadata.credentials(self.deadline)?;
            let request = object.get(&region, from, &credentials, network::now());
            let incoming = self.network.web.open(&request).map_err(|fault| fault.failure(url))?;
            if matches!(incoming.status, 200 | 206 | 416) {
                return Ok(incoming);
            }
            match Object::refused(incoming.into_answer().response()) {
                Fault::Expired(_) if !renewed => {
                    renewed = true;
                    self.network.metadata.forget_credentials();
                }
                Fault::Elsewhere { region: there, .. } if !moved => {
                    moved = true;
                    region = there;
                }
                fault => {
                    let failure = network::of_service(&fault);
                    return Err(Failure { why: format!("{url}: {}", failure.why), ..failure });
                }
            }
        }
    }

    /// From this machine itself.
    fn copy(&self, path: &str, part: &mut Part<'_>) -> Result<(), Stopped> {
        part.restart()?;
        let missing = |fault: &std::io::Error| {
            Failure::new(
                FailureKind::Operator,
                format!("`{path}` cannot be read: {}", fault.kind()),
                "put it there; the agent goes on by itself",
            )
        };
        let mut source =
            self.machine.files().disk().open(Path::new(path)).map_err(|fault| missing(&fault))?;
        self.pour(&mut source, part, &missing)
    }

    fn pour(
        &self,
        source: &mut dyn Read,
        part: &mut Part<'_>,
        failed: &dyn Fn(&std::io::Error) -> Failure,
    ) -> Result<(), Stopped> {
        let mut piece = vec![0; PIECE];
        loop {
            let count = match source.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(fault) if fault.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(fault) => return Err(failed(&fault).into()),
            };
            part.add(piece.get(..count).unwrap_or_default())?;
            if Instant::now() >= self.deadline {
                return Err(Stopped::TimedOut { tail: String::new() });
            }
        }
    }
}

fn refused(url: &str, status: u16) -> Failure {
    let (kind, fix) = match status {
        408 | 429 | 500..=599 => (FailureKind::Transient, ""),
        401 | 403 => (FailureKind::Operator, "let this machine read it there; the agent goes on by itself"),
        _ => (FailureKind::Permanent, "see that the address is the right one"),
    };
    Failure::new(kind, format!("{} answered with {status}", shown(url)), fix)
}

/// What all mirrors together come to: as long as one of them may still do better, it is worth another attempt.
fn together(failures: &[Failure]) -> Failure {
    let has = |kind| failures.iter().any(|failure| failure.kind == kind);
    let kind = if has(FailureKind::Transient) {
        FailureKind::Transient
    } else if has(FailureKind::Operator) {
        FailureKind::Operator
    } else {
        FailureKind::Permanent
    };
    let why: Vec<&str> = failures.iter().map(|failure| failure.why.as_str()).collect();
    let fix = failures.iter().find(|failure| failure.kind == kind).map_or("", |failure| failure.fix.as_str());
    let why = if why.is_empty() { "there is no address to fetch from".to_owned() } else { why.join("; ") };
    Failure::new(kind, why, fix)
}

/// The digest of a file, piece by piece; nothing, if there is no such file.
pub(crate) fn digest_of(files: Files<'_>, path: &Path) -> Option<String> {
    let part = Part::open(files, path).ok()?;
    (part.file.is_some()).then(|| part.digest())
}

/// What has come so far.
struct Part<'d> {
    files: Files<'d>,
    path: PathBuf,
    file: Option<Box<dyn Opened>>,
    size: u64,
    hasher: Sha256,
}

impl<'d> Part<'d> {
    /// What an earlier attempt has left.
    fn open(files: Files<'d>, path: &Path) -> Result<Self, Failure> {
        let disk = files.disk();
        let mut part = Self { files, path: path.to_owned(), file: None, size: 0, hasher: Sha256::new() };
        let is_file = matches!(disk.look(path), Ok(Some(entry)) if entry.kind == Kind::File);
        if !is_file {
            return Ok(part);
        }
        let mut read = || -> std::io::Result<()> {
            let mut source = disk.open(path)?;
            let mut piece = vec![0; PIECE];
            loop {
                match source.read(&mut piece)? {
                    0 => break,
                    count => {
                        part.hasher.update(piece.get(..count).unwrap_or_default());
                        part.size += count as u64;
                    }
                }
            }
            part.file = Some(disk.append(path)?);
            Ok(())
        };
        read().map_err(|fault| of_io("read", path, fault))?;
        Ok(part)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let fault = |fault| of_io("write", &self.path, fault);
        if self.file.is_none() {
            self.file = Some(self.files.disk().create(&self.path, 0o600).map_err(fault)?);
        }
        if let Some(file) = &mut self.file
            && let Err(io) = file.write(bytes)
        {
            // Of a piece that did not fit, some bytes may be there; the digest does not know them.
            let _ = file.cut(self.size);
            return Err(fault(io));
        }
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Failure> {
        self.hasher = Sha256::new();
        self.size = 0;
        match &mut self.file {
            Some(file) => file.cut(0).map_err(|fault| of_io("write", &self.path, fault)),
            None => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<(), Failure> {
        match &mut self.file {
            Some(file) => file.sync().map_err(|fault| of_io("write", &self.path, fault)),
            // Something that is empty has come whole.
            None => self.add(&[]),
        }
    }

    fn digest(&self) -> String {
        let digest = self.hasher.clone().finalize();
        digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
            text
        })
    }
}

fn of_io(doing: &'static str, path: &Path, source: std::io::Error) -> Failure {
    of_file(&bringup_disk::FileFault { doing, path: path.to_owned(), source })
}
