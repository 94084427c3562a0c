//! What answers: coverability of Petri nets, robustness of programs, and the cheapest fences.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`coverability`] | strategies behind one trait, portfolio, reductions; exploration of lazily built nets | – |
//! | [`robustness`] | attacks, the instrumented program, search, verdict, witness, the net of an attack | `coverability` |
//! | [`fences`] | eliminating sets, the 0/1 program, costs | both |
//!
//! Everything here may be wrong without a wrong verdict: each answer carries evidence that `palisade-verify` checks.

pub mod coverability;
pub mod fences;
pub mod robustness;
