//! Robustness against a language by enumeration, in two forms that share the axioms alone.
//!
//! [`by_events`] makes all consistent graphs of an instance, event by event. [`naive`] makes all
//! combinations of local runs, sources and modification orders, and asks the axioms of each.
//! Programs must have no loops but awaits.

mod by_events;
mod local;
mod naive;

pub use by_events::{Ends, by_events, ends, stuck};
pub use naive::naive;

/// What there is among the consistent graphs of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether one is not that of an interleaving.
    pub beyond_sc: bool,
    /// Whether one has a race. Graphs behind one that is not that of an interleaving are not looked
    /// at.
    pub racy: bool,
}
