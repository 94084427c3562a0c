//! The proof obligations of certificates as SMT-LIB 2 scripts, so that an outside solver can decide
//! them.
//!
//! Each script is one obligation over integers: it holds iff the solver answers `unsat`. The
//! certificate is turned into a predicate on states, and the scripts say that an initial state
//! violates it, that a step leads out of it, and that a state in it is one that must not be
//! reached. [`net`] does so for markings of a net; [`program`] for the instrumented program, whose
//! rules are written out as docs/certificate has them; [`property`] for closed sets with store
//! buffers. Nothing of the checker's own reasoning (which steps matter, which element covers which)
//! goes in, and none of its code is used, with two exceptions: [`attack_nets`], for attacks that
//! are answered on their nets, takes the nets that the checker lists, and [`property`] the enriched
//! programs that it makes.

mod attack_nets;
mod claims;
mod expression;
mod invariant;
mod moves;
mod net;
mod program;
mod property;
mod steps;
mod tables;
mod terms;
mod turns;

pub use net::net_scripts;
pub use program::program_scripts;
pub use property::property_scripts;
pub use turns::closed_as_they_stand;

/// One proof obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// `initial`, `inductive` or `safe`; for proofs about properties `proof-N.initial` and so on,
    /// proofs counted from 1; for robust programs also `tables`, on which the others rely, and for
    /// the attacks they answer by proofs about nets `attack-N.initial` and so on, attacks counted
    /// from 1.
    pub obligation: String,
    /// The script; it ends in `(check-sat)`, and the obligation holds iff the answer is `unsat`.
    pub text: String,
}
