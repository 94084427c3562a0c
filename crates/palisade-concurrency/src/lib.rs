//! Robustness of event-driven programs against concurrency: can events be seen as atomic, and their
//! tasks as run one after the other?
//!
//! A program is *robust against concurrency* when every interleaving of its events and tasks can be
//! permuted, keeping the order of conflicting accesses, into a run of the *serial* semantics, in
//! which events come one after the other and the tasks of an event in depth-first order of their
//! posts [NETYS18, Definition 1]. By graphs: the conflicts between events are acyclic
//! (*serializability*), and conflicts between invocations of one event go forward in depth-first
//! order (*determinism*).
//!
//! No interleaving is explored, but for one thing: a violation in which the main thread takes tasks
//! in another order than that of their posts is sought again, by enumeration, in that order. A
//! violation has one last access λ, which spoils it; all before λ has a serial permutation. So the
//! search runs the program serially, with a monitor that guesses λ's task (the *pivot*) and takes λ
//! out, guesses the one main task that has not returned (the *cut* one), follows happens-before
//! from it and from the pivot's event, and accepts when λ, taken now, closes a cycle or goes
//! backward.
//!
//! DIVERGENCE from [NETYS18, §4]: the same order on the main thread is no conflict here. Under the
//! printed relation no program with a callback and two events is robust, the paper's own examples
//! included. And handlers are cut and pivots like all other tasks; without that, violations are
//! missed.
//!
//! Of the engine this crate uses only the faults of programs.

mod certificate;
mod check;
mod cover;
mod in_order;
mod levels;
mod locals;
mod moves;
mod reason;
mod state;
mod system;
mod witness;

pub use check::{ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict, check};
pub use in_order::{in_order, is_in_order};
pub use witness::ConcurrencyViolation;
