//! The counters: threads and tasks by their local states, and events that may still occur.

use crate::instrumented::system::InitialTokens;
use palisade_model::program::ThreadId;

/// A counter of the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Tasks on threads of their own, and threads, in a local state; whether they are on the
    /// happens-before path.
    Own(u32, bool),
    /// Tasks posted to the main thread that have not begun there, with the local state in which
    /// they will touch memory.
    Pending(u32, bool),
    /// How often an event may still occur.
    Start(ThreadId),
    /// Occurrences and copies that have not chosen their event or thread, of those with any number
    /// of them.
    Spare,
}

/// Places from here on are no local states: a program has fewer templates.
const STARTS: u32 = 1 << 31;

impl Place {
    /// The number that the exploration uses.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Own(local, joined) => local * 4 + u32::from(joined),
            Self::Pending(local, joined) => local * 4 + 2 + u32::from(joined),
            Self::Start(event) => InitialTokens::SPARE - 1 - u32::try_from(event.index()).expect("few events"),
            Self::Spare => InitialTokens::SPARE,
        }
    }

    /// The place with a number.
    pub fn of_number(number: u32) -> Self {
        if number == InitialTokens::SPARE {
            return Self::Spare;
        }
        if number > STARTS {
            return Self::Start(ThreadId::from_index((InitialTokens::SPARE - 1 - number) as usize));
        }
        let joined = number % 2 == 1;
        if number % 4 < 2 { Self::Own(number / 4, joined) } else { Self::Pending(number / 4, joined) }
    }
}
