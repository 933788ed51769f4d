//! Certificate authorities of the document, in the system's own bundle.

use std::path::Path;

use bringup_disk::{Owner, Wanted};
use bringup_progress::Success;

use super::{Doing, Stopped, files};

/// Adds the plan's authorities to the bundle, in place and once each.
pub(super) fn trust(doing: &Doing<'_>, bundle: &str) -> Result<Success, Stopped> {
    let path = Path::new(bundle);
    let disk = doing.machine.files();
    let mut content = disk.read(path)?.unwrap_or_default();
    for authority in &doing.plan.certificate_authorities {
        let wanted = authority.trim();
        if !String::from_utf8_lossy(&content).contains(wanted) {
            if !content.is_empty() && !content.ends_with(b"\n") {
                content.push(b'\n');
            }
            content.extend(wanted.as_bytes());
            content.push(b'\n');
        }
    }
    let entry = disk.disk().look(path).ok().flatten();
    let (mode, owner) = entry
        .map_or((0o644, Owner::ROOT), |entry| (entry.mode, Owner { user: entry.user, group: entry.group }));
    let change = disk.replace(path, Wanted { content: &content, mode, owner })?;
    Ok(files::changed(bundle, change))
}
