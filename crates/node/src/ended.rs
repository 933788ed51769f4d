//! How a command ended.

/// How a command ended; what the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As it should.
    Well,
    /// The answer is no: given up, differs.
    No,
    /// The call or the input is wrong.
    Wrong,
    /// Not finished: paused, in progress.
    NotYet,
}

impl Ended {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::No => 1,
            Self::Wrong => 2,
            Self::NotYet => 3,
        }
    }
}
