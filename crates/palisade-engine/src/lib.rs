//! What answers about programs: robustness, properties, and the cheapest fences.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`exploration`] | forward exploration of nets that are built while they are explored | – |
//! | [`compilations`] | whether orderings suffice for every compilation of the sources of machine code | – |
//! | `decide` | the scheduler: methods that take turns under growing budgets | – |
//! | [`robustness`] | attacks, the instrumented program, search, verdict, witness, the net of an attack | `exploration`, `decide` |
//! | [`fences`] | eliminating sets, the 0/1 program, costs | `exploration`, `decide`, `robustness` |
//! | [`properties`] | targets, slices, explorations with store buffers, proofs and violations of properties | `exploration`, `decide`, `robustness`, `fences` |
//!
//! The nets of attacks are answered by `palisade-coverability`. Everything here may be wrong without a wrong verdict: each answer carries evidence that `palisade-verify` checks.

pub mod compilations;
mod decide;
pub mod exploration;
pub mod fences;
pub mod properties;
pub mod robustness;
