//! Delays that are accepted: whoever asks takes them for harmless, and robustness is asked but for
//! them.

use super::{Instruction, Program};

/// The delays of stores that come from one place past loads that come from another, in the same
/// thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedDelay {
    /// The place of the stores, as the listing has it at the end of a line.
    pub store: String,
    /// The place of the loads.
    pub load: String,
}

impl Program {
    /// Whether the delay of a store past a load of the same thread is accepted.
    pub fn accepts(&self, store: &Instruction, load: &Instruction) -> bool {
        let comes_from = |instruction: &Instruction, place: &str| {
            self.source.origin(instruction.span).is_some_and(|origin| origin.place == place)
        };
        self.accepted.iter().any(|delay| comes_from(store, &delay.store) && comes_from(load, &delay.load))
    }
}
