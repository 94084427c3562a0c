//! What answers: coverability of Petri nets, robustness of programs, and the cheapest fences.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`exploration`] | forward exploration of nets that are built while they are explored | – |
//! | [`compilations`] | whether orderings suffice for every compilation of the sources of machine code | – |
//! | `decide` | the scheduler: methods that take turns under growing budgets | – |
//! | [`coverability`] | strategies behind one trait, portfolio, reductions | – |
//! | [`robustness`] | attacks, the instrumented program, search, verdict, witness, the net of an attack | `exploration`, `decide`, `coverability` |
//! | [`concurrency`] | robustness of event-driven programs against concurrency: the serial program with a monitor, search, witness | `robustness` |
//! | [`properties`] | targets, slices, explorations with store buffers, proofs and violations of properties | `exploration`, `decide`, `coverability`, `robustness` |
//! | [`fences`] | eliminating sets, the 0/1 program, costs | all above |
//!
//! Everything here may be wrong without a wrong verdict: each answer carries evidence that `palisade-verify` checks.

pub mod compilations;
pub mod concurrency;
pub mod coverability;
mod decide;
pub mod exploration;
pub mod fences;
pub mod properties;
pub mod robustness;
