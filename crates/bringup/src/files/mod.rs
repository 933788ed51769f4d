//! The files of this machine: every access names its path when it fails.
#![expect(clippy::disallowed_methods, reason = "this module is the wrapper that the bans point to")]

mod beneath;
mod owned;

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::outcome::Stop;

pub(crate) use beneath::local_files;
pub(crate) use owned::{fill, prune};

/// Nothing that we are asked to read is honestly larger: a document of ten thousand node groups has 10 MiB.
const LARGEST_INPUT: u64 = 64 * 1024 * 1024;

/// What was being done when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Reading what a person named.
    Read,
    /// Writing what a person asked for.
    Write,
}

/// An access that failed.
#[derive(Debug)]
pub(crate) struct FileError {
    doing: Doing,
    path: PathBuf,
    why: String,
    hint: Option<&'static str>,
}

impl FileError {
    fn new(doing: Doing, path: &Path, fault: &io::Error) -> Self {
        Self { doing, path: path.to_owned(), why: reason(fault), hint: way_out(doing, fault.kind()) }
    }

    /// What to do instead, where that is known.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    /// Whether the person named something that is not there or not readable.
    pub(crate) fn is_about_input(&self) -> bool {
        self.doing == Doing::Read
    }
}

impl std::fmt::Display for FileError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = match self.doing {
            Doing::Read => "read",
            Doing::Write => "write",
        };
        if self.doing == Doing::Read && is_standard_input(&self.path) {
            return write!(formatter, "cannot read standard input: {}", self.why);
        }
        write!(formatter, "cannot {verb} `{}`: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for FileError {}

fn way_out(doing: Doing, kind: ErrorKind) -> Option<&'static str> {
    Some(match (doing, kind) {
        (Doing::Read, ErrorKind::IsADirectory) => "name a file in it",
        (Doing::Write, ErrorKind::NotADirectory | ErrorKind::AlreadyExists) => {
            "a file stands where a directory is needed: move it away or write to another directory"
        }
        (Doing::Write, ErrorKind::IsADirectory) => {
            "a directory stands where a file is needed: move it away or write to another directory"
        }
        (Doing::Write, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            "write to a directory that is yours to write to"
        }
        (Doing::Write, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            "make room there, or write to another disk; what is there already is whole"
        }
        _ => return None,
    })
}

/// The system's own words, lower case and without its number.
pub(crate) fn reason(fault: &io::Error) -> String {
    let text = fault.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Whether `-` was given, which stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What to answer if it was given twice.
pub(crate) fn standard_input_twice() -> Stop {
    Stop::input("`-` is given twice, but standard input can be read only once")
        .with_hint("name a file for one of them")
}

/// The name under which findings speak of an input.
pub(crate) fn shown(path: &Path) -> String {
    if is_standard_input(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The bytes of a file or, for `-`, of standard input.
pub(crate) fn input(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |fault: &io::Error| FileError::new(Doing::Read, path, fault);
    let mut bytes = Vec::new();
    if is_standard_input(path) {
        io::stdin().lock().take(LARGEST_INPUT + 1).read_to_end(&mut bytes).map_err(|fault| failed(&fault))?;
    } else {
        let file = fs::File::open(path).map_err(|fault| failed(&fault))?;
        // A regular file says how long it is; pipes and devices are read up to the limit.
        if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > LARGEST_INPUT) {
            return Err(too_large(path));
        }
        file.take(LARGEST_INPUT + 1).read_to_end(&mut bytes).map_err(|fault| failed(&fault))?;
    }
    if bytes.len() as u64 > LARGEST_INPUT {
        return Err(too_large(path));
    }
    Ok(bytes)
}

fn too_large(path: &Path) -> FileError {
    FileError {
        doing: Doing::Read,
        path: path.to_owned(),
        why: format!("it is larger than {} MiB, which is the most that is read", LARGEST_INPUT / 1024 / 1024),
        hint: Some("check that this is the file that was meant; split what is really so large"),
    }
}

/// The text of a file or, for `-`, of standard input. User-data may be compressed or in base64, as templates and APIs carry it.
pub(crate) fn input_text(path: &Path) -> Result<String, FileError> {
    let peeled = bringup_cloudinit::peel(&input(path)?);
    let failed = |why: &str, hint| FileError {
        doing: Doing::Read,
        path: path.to_owned(),
        why: why.to_owned(),
        hint: Some(hint),
    };
    if peeled.refused.is_some() {
        return Err(failed("it is compressed, but broken or far too large", "compress it anew with gzip"));
    }
    String::from_utf8(peeled.bytes).map_err(|_| failed("it is no UTF-8 text", "save it as UTF-8"))
}

/// Whether the path is a directory.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether anything, a dangling link included, stands at the path.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The names in a directory, sorted.
pub(crate) fn listing(directory: &Path) -> Result<Vec<String>, FileError> {
    let failed = |fault: &io::Error| FileError::new(Doing::Read, directory, fault);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(|fault| failed(&fault))? {
        let entry = entry.map_err(|fault| failed(&fault))?;
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Makes a directory and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|fault| FileError::new(Doing::Write, path, &fault))
}

/// Writes `bytes` so that the path holds the old content or the new, never a mix.
///
/// A file that already holds them is left alone: tools that watch for changes see none.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    if holds(path, bytes, readers) {
        return Ok(());
    }
    let written = written_beside(path, bytes, readers)
        .and_then(|file| file.persist(path).map(drop).map_err(|fault| fault.error));
    written.map_err(|fault| FileError::new(Doing::Write, path, &fault))
}

/// Writes a new file, whole or not at all; refuses if anything stands there.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = written_beside(path, bytes, Readers::All)
        .and_then(|file| file.persist_noclobber(path).map(drop).map_err(|fault| fault.error));
    written.map_err(|fault| FileError::new(Doing::Write, path, &fault))
}

/// The bytes in a file beside `path`, which goes away unless it is given that name.
fn written_beside(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<tempfile::NamedTempFile> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(&prefix).permissions(readers.permissions()).tempfile_in(directory)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Whether the path holds these bytes, and shows them to nobody that it should not.
fn holds(path: &Path, bytes: &[u8], readers: Readers) -> bool {
    let hidden =
        || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o777 == 0o600);
    (readers == Readers::All || hidden()) && fs::read(path).is_ok_and(|there| there == bytes)
}

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever the umask lets.
    All,
    /// Its owner: it may hold what a document holds inline, secrets included.
    Owner,
}

impl Readers {
    fn permissions(self) -> fs::Permissions {
        fs::Permissions::from_mode(match self {
            Self::All => 0o644,
            Self::Owner => 0o600,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Readers, create, input, replace};

    #[test]
    fn a_replaced_file_is_whole_and_leaves_nothing_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan.json");
        replace(&path, b"one", Readers::All).unwrap();
        replace(&path, b"two", Readers::All).unwrap();
        assert_eq!(input(&path).unwrap(), b"two");
        assert_eq!(super::listing(directory.path()).unwrap(), ["plan.json"]);
    }

    #[test]
    fn an_error_names_the_path_in_plain_words() {
        let fault = input(std::path::Path::new("/nonexistent/cluster.yaml")).unwrap_err();
        assert_eq!(fault.to_string(), "cannot read `/nonexistent/cluster.yaml`: no such file or directory");
    }

    #[test]
    fn a_compressed_text_is_read() {
        use std::io::Write as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("user-data.gz");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(b"#!/bin/bash\n/etc/eks/bootstrap.sh demo\n").unwrap();
        let packed = packed.finish().unwrap();
        create(&path, &packed).unwrap();
        assert_eq!(super::input_text(&path).unwrap(), "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n");
        replace(&path, &packed[..packed.len() - 9], Readers::All).unwrap();
        assert!(super::input_text(&path).unwrap_err().to_string().contains("compressed, but broken"));
    }

    #[test]
    fn creating_refuses_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cluster.yaml");
        create(&path, b"mine").unwrap();
        assert!(create(&path, b"other").is_err());
        assert_eq!(input(&path).unwrap(), b"mine");
    }
}
