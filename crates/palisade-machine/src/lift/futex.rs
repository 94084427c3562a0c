//! The system's call `futex`, by which copies sleep at a word of memory and wake those that do.
//!
//! A wait compares the word and falls asleep at once, as the kernel does under a lock of its own.
//! It returns 0 once the copy goes on, or fails: with another word at once, by a signal or when its
//! time is up. Of the last two only the moment differs in which a copy stops sleeping. So such a
//! wait is one that never sleeps.

use super::abstraction::Abstract;
use super::decode::MemoryOperand;
use super::environment::{ARGUMENTS, Environment};
use super::refusal::Objection;
use palisade_model::program::Value;

/// A call of `futex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Futex {
    /// The copy sleeps if the word is as expected.
    Wait {
        /// Whether it goes on after some time.
        is_timed: bool,
    },
    /// Sleepers go on.
    Wake {
        /// Whether all do, or one.
        all: bool,
    },
    /// One sleeper goes on, or all do: a register says how many, as where the compiler has merged
    /// two calls.
    WakeCounted,
}

/// From this number on, all sleepers are woken.
pub(crate) const ALL: Value = i16::MAX as Value;

/// The word did not have the value that was expected.
pub(crate) const OTHER_VALUE: Value = 11;
/// A signal has come.
pub(crate) const INTERRUPTED: Value = 4;
/// The time is up.
pub(crate) const TIMED_OUT: Value = 110;

impl Futex {
    /// The number of the call.
    const NUMBER: Value = 202;

    /// The word.
    pub(crate) const WORD: MemoryOperand =
        MemoryOperand { base: Some(ARGUMENTS[1]), index: None, displacement: 0, bytes: 4 };

    /// The register with the value that is expected, or with how many are woken.
    pub(crate) const NUMBER_OR_VALUE: u8 = ARGUMENTS[3];

    /// What a call of the system does with these arguments.
    pub(crate) fn called(environment: &Environment) -> Result<Self, Objection> {
        /// For threads of one process alone, and by which clock: neither matters here.
        const FLAGS: Value = 128 | 256;
        let argument = |index: usize| environment.family(ARGUMENTS[index]).whole();
        match argument(0) {
            Abstract::Constant(Self::NUMBER) => {}
            Abstract::Constant(number) => {
                return Err(Objection::new(format!(
                    "the system's call {number} is made, which is not understood: of these, only `futex` is"
                )));
            }
            _ => return Err(Objection::new("a call of the system is made whose number is not known")),
        }
        let Abstract::Constant(operation) = argument(2).truncated(32, false) else {
            return Err(Objection::new("it is not known which operation of `futex` this is"));
        };
        match (operation & !FLAGS, argument(3).truncated(32, false), argument(4)) {
            (0 | 9, _, Abstract::Constant(0)) => Ok(Self::Wait { is_timed: false }),
            (0 | 9, _, time) if environment.in_frame(time).is_some() => Ok(Self::Wait { is_timed: true }),
            (0 | 9, ..) => Err(Objection::new("it is not known whether this wait ends when its time is up")),
            (1, Abstract::Constant(1), _) => Ok(Self::Wake { all: false }),
            (1, Abstract::Constant(count), _) if count >= ALL => Ok(Self::Wake { all: true }),
            (1, count, _) if count.constant().is_none() && count.is_number() => Ok(Self::WakeCounted),
            (1, ..) => Err(Objection::new("`futex` wakes more than one, and not all")),
            (other, ..) => Err(Objection::new(format!("operation {other} of `futex` is neither a wait nor a wake-up"))),
        }
    }

    /// Whether the copy may sleep.
    pub(crate) fn is_wait(self) -> bool {
        matches!(self, Self::Wait { .. })
    }

    /// What is known of its result. How many of all were woken nobody may ask.
    pub(crate) fn result(self) -> Abstract {
        match self {
            Self::Wait { .. } => Abstract::Constant(0).join(Abstract::Constant(-1)),
            Self::Wake { all: false } => Abstract::Constant(0).join(Abstract::Constant(1)),
            Self::Wake { all: true } | Self::WakeCounted => Abstract::Unknown,
        }
    }
}
