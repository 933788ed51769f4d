//! Gzipped tars.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use super::tree::Tree;
use super::{ArchiveFault, broken};

/// Shows what is in a gzipped tar.
pub(super) fn walk(archive: impl Read, tree: &mut dyn Tree) -> Result<(), ArchiveFault> {
    let mut archive = tar::Archive::new(MultiGzDecoder::new(archive));
    for entry in archive.entries().map_err(|fault| broken(&fault))? {
        let mut entry = entry.map_err(|fault| broken(&fault))?;
        let name = entry.path().map_err(|fault| broken(&fault))?.into_owned();
        let mode = entry.header().mode().map_err(|fault| broken(&fault))?;
        let target = entry.link_name().map_err(|fault| broken(&fault))?.map(std::borrow::Cow::into_owned);
        let target = target.as_deref().unwrap_or(Path::new(""));
        match entry.header().entry_type() {
            EntryType::Directory => tree.directory(&name, mode)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                tree.file(&name, &mut entry, mode)?;
            }
            EntryType::Symlink => tree.link(&name, target)?,
            EntryType::Link => tree.again(&name, target, mode)?,
            // Comments of the archive itself.
            EntryType::XGlobalHeader | EntryType::XHeader => {}
            _ => {
                let name = name.display().to_string();
                return Err(ArchiveFault::Unsound(format!(
                    "`{}` is neither a file nor a directory nor a link",
                    name.escape_debug()
                )));
            }
        }
    }
    Ok(())
}
