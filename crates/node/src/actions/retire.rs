//! Removes what no plan has any more, and puts back what stood there before.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::{Change, FileFault};
use bringup_progress::{Failure, Made, Success};
use bringup_systemd::Systemd;

use super::units::UNITS;
use super::{of_bus, of_file};
use crate::machine::Machine;
use crate::originals;

/// How long the stop of a unit is waited for.
const LONGEST_STOP: Duration = Duration::from_secs(90);

/// Removes files, links, units and empty directories that an earlier plan made.
pub(crate) fn remove(machine: &Machine, made: &BTreeSet<Made>) -> Result<Success, Failure> {
    let files = machine.files();
    let units: Vec<&str> = made
        .iter()
        .filter_map(|made| if let Made::Unit(name) = made { Some(name.as_str()) } else { None })
        .collect();
    if machine.is_itself() && !units.is_empty() {
        let stopped = Systemd::connect().and_then(|mut systemd| {
            systemd.subscribe()?;
            for unit in &units {
                if systemd.state(unit)?.is_some() {
                    // What it uses may be among what is removed next.
                    let job = systemd.stop(unit)?;
                    systemd.job_end(&job, Instant::now() + LONGEST_STOP)?;
                }
                match systemd.disable(&[unit]) {
                    // An agent that was cut off has removed it already.
                    Err(fault) if fault.is("NoSuchUnit") || fault.is("FileNotFound") => {}
                    disabled => disabled?,
                }
            }
            Ok(())
        });
        stopped.map_err(|fault| of_bus(&fault))?;
    }
    let mut changed = BTreeSet::new();
    let mut gone = |path: &str, result: Result<Change, FileFault>| match result {
        Ok(change) => {
            if change.is_any() {
                changed.insert(path.to_owned());
            }
            Ok(())
        }
        Err(fault) => Err(of_file(&fault)),
    };
    for thing in made {
        let path = thing.path();
        match thing {
            Made::File(_) | Made::Link(_) | Made::Unit(_) => {
                let path_of = Path::new(&path);
                // In one rename where there is something to put back: nobody finds the place empty.
                match originals::put_back(files, path_of) {
                    Ok(true) => gone(&path, Ok(Change::Changed))?,
                    Ok(false) => gone(&path, files.remove(path_of))?,
                    Err(fault) => return Err(of_file(&fault)),
                }
            }
            Made::Directory(_) => {}
        }
    }
    for thing in made.iter().rev() {
        if let Made::Directory(path) = thing {
            let path = Path::new(path);
            match originals::put_back(files, path) {
                Ok(true) => {}
                // One that is not empty holds something of somebody else's.
                Ok(false) => drop(files.disk().remove_directory(path)),
                Err(fault) => return Err(of_file(&fault)),
            }
        }
    }
    let of_manager = |thing: &Made| thing.path().starts_with(UNITS);
    if machine.is_itself() && made.iter().any(of_manager) {
        Systemd::connect().and_then(|mut systemd| systemd.reload()).map_err(|fault| of_bus(&fault))?;
    }
    Ok(Success { changed, ..Success::default() })
}
