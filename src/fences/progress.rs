//! Events of a long computation, seen by an observer.

use super::cost::Cost;

/// Sees a computation advance, from several worker threads.
pub trait Observer: Sync {
    /// So many attacks are to be decided (in addition to those announced before).
    fn attacks_found(&self, _count: usize) {}
    /// One of them has been decided.
    fn attack_decided(&self) {}
    /// A candidate set has been tried.
    fn candidate_tried(&self) {}
    /// A valid choice for one more thread has been found, at this cost.
    fn thread_settled(&self, _cost: &Cost) {}
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
