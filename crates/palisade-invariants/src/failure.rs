//! Why evidence is rejected.

use thiserror::Error;

/// What the evidence fails to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obligation {
    /// It is about the input at hand, with the copies, the domain and the question that it states.
    Subject,
    /// Every part of it is well formed.
    Form,
    /// The set contains what is there initially (for sets taken backwards: does not contain it).
    Initial,
    /// The set is closed under every step.
    Inductive,
    /// The set meets nothing that it must not meet.
    Safe,
    /// Each step of the run is possible where it stands.
    Run,
    /// The computation has the form of a TSO witness, and its trace is cyclic.
    Witness,
}

impl std::fmt::Display for Obligation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Subject => "about something else",
            Self::Form => "not well formed",
            Self::Initial => "wrong at the start",
            Self::Inductive => "not inductive",
            Self::Safe => "not safe",
            Self::Run => "not a run",
            Self::Witness => "not a witness",
        })
    }
}

/// Evidence that is rejected: a fault of whatever produced it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{obligation}: {detail}")]
pub struct CheckFailure {
    /// What is not shown.
    pub obligation: Obligation,
    /// The marking, configuration, transition or step at which the check fails, in words.
    pub detail: String,
}

impl CheckFailure {
    /// A failure that [`reject!`] makes, told in these words. Apart from checks and called cold, so
    /// that these stay short.
    #[cold]
    #[inline(never)]
    pub fn told(obligation: Obligation, words: std::fmt::Arguments<'_>) -> Self {
        Self { obligation, detail: words.to_string() }
    }

    /// The same failure, in a part of the evidence.
    #[must_use]
    pub fn within(self, part: impl std::fmt::Display) -> Self {
        Self { detail: format!("{part}: {}", self.detail), ..self }
    }
}

/// A failure to show an obligation; the format arguments say where.
#[macro_export]
macro_rules! reject {
    ($obligation:ident, $($words:tt)*) => {
        return Err($crate::CheckFailure::told(
            $crate::Obligation::$obligation,
            format_args!($($words)*),
        ))
    };
}

pub(crate) use reject;
