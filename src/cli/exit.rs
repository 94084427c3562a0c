//! Exit status (README.md, "What a verdict means, and what it does not").

use crate::robustness::Verdict;

/// How a command ended, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The property holds (robust, uncoverable, certificate accepted): 0.
    Holds,
    /// A limit was reached: 3.
    Unknown,
    /// The property does not hold: 1.
    Fails,
    /// Evidence was rejected, malformed evidence included: 4.
    Rejected,
    /// Bad input or usage: 2.
    BadInput,
}

impl From<&Verdict> for Exit {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Robust => Self::Holds,
            Verdict::NotRobust => Self::Fails,
            Verdict::Unknown(_) => Self::Unknown,
        }
    }
}

impl Exit {
    /// The status of several files together: the worst in the order 2, 4, 1, 3, 0.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }

    /// How another run of the command ended; nothing where its status is none of ours.
    #[cfg(feature = "machine")]
    pub(super) fn of(status: std::process::ExitStatus) -> Option<Self> {
        let all = [Self::Holds, Self::Fails, Self::BadInput, Self::Unknown, Self::Rejected];
        all.into_iter().find(|exit| status.code() == Some(exit.code().into()))
    }

    /// The process's exit status.
    pub fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Fails => 1,
            Self::BadInput => 2,
            Self::Unknown => 3,
            Self::Rejected => 4,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
