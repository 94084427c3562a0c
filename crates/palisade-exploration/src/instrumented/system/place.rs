//! Counters of the net.

use super::initial::InitialTokens;

/// A counter of the net: the tokens of one local state, joined to the happens-before path or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub(super) u32);

impl Place {
    /// Copies of replicated threads that have not chosen their thread yet (see
    /// `System::with_spare_copies`).
    pub const SPARE: Place = Place(InitialTokens::SPARE);

    /// The place of a local state.
    pub fn of(local: u32, joined: bool) -> Self {
        Self(local * 2 + u32::from(joined))
    }

    /// From the number the engine uses.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number the engine uses.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The local state; not for [`Place::SPARE`].
    pub fn local(self) -> u32 {
        debug_assert_ne!(self, Self::SPARE);
        self.0 / 2
    }

    /// Whether its tokens have joined the happens-before path.
    pub fn joined(self) -> bool {
        self != Self::SPARE && self.0 % 2 == 1
    }
}
