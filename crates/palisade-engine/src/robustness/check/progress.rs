//! Events of a check, seen by an observer.

use palisade_exploration::instrumented::Fault;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// What a check is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It decides a question, by its name.
    Question(&'static str),
    /// It searches among all copies that are asked for.
    Search,
    /// It searches instances in which replicated threads have so many copies together.
    Instances(u32),
    /// It asks the nets of so many attacks.
    Nets(usize),
}

/// Sees a check advance.
pub trait Observer: Sync {
    /// A stage begins, and ends the one before.
    fn begins(&self, _stage: Stage) {}
    /// A register or an address has taken so many values that it may be growing without end.
    fn may_grow(&self, _fault: &Fault) {}
    /// Where to count the configurations found, from several worker threads.
    fn counter(&self) -> Option<Arc<AtomicUsize>> {
        None
    }
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
