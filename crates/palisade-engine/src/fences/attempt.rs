//! One attempt at all attacks that are open: which methods take part, and how much work they may
//! do.

use crate::decide::{Round, Schedule};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::Limits;

/// The methods that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Methods {
    /// Explorations of the instrumented program.
    Searches,
    /// Coverability of the attacks' nets.
    Nets,
    /// Each where the other takes long.
    Both,
}

/// What may be used to decide attacks.
pub(super) struct Attempt<'f> {
    /// Time, memory, interruption.
    pub(super) limits: Limits,
    /// What each exploration may take, and each question to a net in proportion.
    pub(super) round: Round,
    /// What they may take before the other method has its turn.
    pub(super) first_work: u64,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub(super) values: usize,
    /// The methods that take part.
    pub(super) methods: Methods,
    /// The step at which values grow, when the attempt admits the first values only: what it finds
    /// is real, what it does not find means nothing.
    pub(super) growth: Option<&'f Fault>,
}

impl Attempt<'_> {
    /// How the methods take turns at one question.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule { most: self.round.work, ..Schedule::growing_from(self.first_work) }
    }
}
