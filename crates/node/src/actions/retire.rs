//! Removes what no plan has any more.

use std::collections::BTreeSet;
use std::path::Path;

use bringup_disk::FileFault;
use bringup_progress::{Failure, Made, Success};
use bringup_systemd::Systemd;

use super::{of_bus, of_file};
use crate::machine::Machine;

/// Removes files, links, units and empty directories that an earlier plan made.
pub(crate) fn remove(machine: &Machine, made: &BTreeSet<Made>) -> Result<Success, Failure> {
    let files = machine.files();
    let units: Vec<&str> = made
        .iter()
        .filter_map(|made| if let Made::Unit(name) = made { Some(name.as_str()) } else { None })
        .collect();
    if machine.is_itself() && !units.is_empty() {
        let stopped = Systemd::connect().and_then(|mut systemd| {
            for unit in &units {
                if systemd.state(unit)?.is_some() {
                    systemd.stop(unit)?;
                }
            }
            systemd.disable(&units)
        });
        stopped.map_err(|fault| of_bus(&fault))?;
    }
    let mut changed = BTreeSet::new();
    let mut gone = |path: &str, result: Result<bringup_disk::Change, FileFault>| match result {
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
            Made::File(_) | Made::Link(_) | Made::Unit(_) => gone(&path, files.remove(Path::new(&path)))?,
            // One that is not empty holds something of somebody else's.
            Made::Directory(_) => {
                let _ = files.disk().remove_directory(Path::new(&path));
            }
        }
    }
    if machine.is_itself() && !units.is_empty() {
        Systemd::connect().and_then(|mut systemd| systemd.reload()).map_err(|fault| of_bus(&fault))?;
    }
    Ok(Success { changed, ..Success::default() })
}
