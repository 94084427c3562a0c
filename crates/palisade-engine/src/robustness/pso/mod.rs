//! Robustness against PSO, for programs of threads without sections and without `sfence`.
//!
//! *Singularity.* An instance of such a program that is not robust has a violation that delays a
//! single store A and lets every other store reach memory at once ([NETYS17]; THEORY.md,
//! "Robustness against PSO", proves it for this language and says why sections and `sfence` are
//! left out). Until A reaches memory, such a computation is one of SC, but that its thread, the
//! *attacker*, reads the value of A where it loads from the address of A. All edges of
//! happens-before but those of program order that leave A go forward in it, so that a cycle leads
//! from A to a later access e of the attacker to another address, and from there along the
//! computation to an access to the address of A.
//!
//! So one transition system decides the question
//! ([`PsoSystem`](palisade_exploration::instrumented::pso::PsoSystem)), in one exploration of all
//! attacks and phases.

mod check;
mod instrumented;
mod refused;
mod replay;

pub(crate) use check::check_pso_within;
pub use check::{PsoCheck, check_pso};
pub use refused::{NotForPso, not_for_pso};
