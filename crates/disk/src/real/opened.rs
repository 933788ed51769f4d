//! A file that is open for writing.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::fd::OwnedFd;

use crate::Opened;

/// A file of this machine that is open for writing.
#[derive(Debug)]
pub(super) struct OpenedFile(File);

impl OpenedFile {
    pub(super) fn new(file: OwnedFd) -> Self {
        Self(File::from(file))
    }
}

impl Opened for OpenedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.0.set_len(size)
    }

    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.0, super::raw(mode))?)
    }

    fn set_owner(&mut self, user: u32, group: u32) -> io::Result<()> {
        Ok(rustix::fs::fchown(&self.0, Some(super::user_id(user)), Some(super::group_id(group)))?)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}
