//! Execution graphs: what programs in the words of C and Rust mean.
//!
//! A [`Graph`] has the events of an execution, what each reads from, and the order of the writes of
//! each address. [`Axioms`] say which graphs a language admits. [`by_language`] makes of a program,
//! whose actions are those of its mapping to x86, one whose actions are the language's own, with
//! the same instructions; an [`Execution`] is the graph of an interleaving of it. A program is
//! *robust* against a language when every consistent graph that belongs to it is one of an
//! interleaving ([`Graph::is_sc`]); [`oracle`] decides this by brute force, with the feature
//! `oracles`.

mod axioms;
mod closure;
mod execution;
mod graph;
mod language;
#[cfg(any(test, feature = "oracles"))]
pub mod oracle;
mod relation;

pub use axioms::{Axioms, FENCE_ADDRESS, Relations, is_consistent, partial_sc, race};
pub use execution::{Execution, NotAnEvent, event_reading};
pub use graph::{EventKind, Graph, GraphEvent};
pub use language::{NotInLanguage, access, by_language, not_in_language};
pub use relation::Relation;
