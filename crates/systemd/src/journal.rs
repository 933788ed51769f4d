//! Writes into the system's journal, for a process whose output goes elsewhere.

use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// Where the journal listens.
pub const SOCKET: &str = "/run/systemd/journal/socket";

/// Adds a line in the name of a program; does nothing where nobody listens. A journal that does not listen is no reason to
/// fail.
pub fn tell(socket: &Path, program: &str, line: &str) {
    // A field with more lines than one has another form.
    let line = line.replace('\n', " ");
    let entry = format!("MESSAGE={line}\nSYSLOG_IDENTIFIER={program}\nPRIORITY=6\n");
    if let Ok(sender) = UnixDatagram::unbound() {
        let _ = sender.send_to(entry.as_bytes(), socket);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::path::Path;

    use super::tell;

    #[test]
    fn the_journal_hears_a_line_in_its_own_form_and_nobody_else_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let journal = UnixDatagram::bind(&socket).unwrap();
        tell(&socket, "bringup-node", "gate: opened\nPRIORITY=0");
        let mut heard = [0; 128];
        let count = journal.recv(&mut heard).unwrap();
        assert_eq!(
            std::str::from_utf8(&heard[..count]).unwrap(),
            "MESSAGE=gate: opened PRIORITY=0\nSYSLOG_IDENTIFIER=bringup-node\nPRIORITY=6\n"
        );
        tell(Path::new("/nowhere/at/all"), "bringup-node", "x");
    }
}
