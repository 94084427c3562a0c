//! Events of a long computation, seen by an observer.

use super::cost::Cost;
use palisade_model::program::ThreadId;

/// Sees a computation advance, from several worker threads.
pub trait Observer: Sync {
    /// So many attacks are to be decided (in addition to those announced before).
    fn attacks_found(&self, _count: usize) {}
    /// One of them has been decided.
    fn attack_decided(&self) {}
    /// A candidate set has been tried.
    fn candidate_tried(&self) {}
    /// The cheapest valid choice known for a thread costs so much now; none is known as long as
    /// there is no cost.
    fn best_known(&self, _thread: ThreadId, _cost: Option<&Cost>) {}
    /// The result is being checked, and evidence for it collected.
    fn confirming(&self) {}
    /// Whether to say what is best known again now, which takes some work.
    fn asks_for_best(&self) -> bool {
        false
    }
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
