//! The instrumented program against C11 and release/acquire \[RA19\]: one write is guessed, and a
//! few bits for each thread and each address say what is known of it.
//!
//! A graph that no interleaving makes has a first event e that breaks it: the graph H before e is
//! that of an interleaving, and e reads a write w that another one, w', has overwritten, or comes
//! between the two in modification order. So H + e has a cycle of po, rf, mo and fr exactly when a
//! path of these leads from w' to e's thread in H, and whether the language admits H + e is a
//! question about such paths as well. THEORY.md has the theorem with its proof. So the phases
//! are:
//!
//! 1. *SC.* Everyone runs under sequential consistency.
//! 2. *Overwritten.* Some write has been guessed to be w' when it was made ([`Attack`]). From then
//!    on each thread has a [`View`] and each address a [`Location`], and a step changes only those
//!    of the thread that takes it and of the address that it accesses. Only threads to which a path
//!    leads from w' take steps: what others do can come before w'. It succeeds where such a thread
//!    may read w, or write right behind it.
//!
//! A race is found in the same way, with an access to plain data in place of w'.
//!
//! Nothing is broadcast, so the copies of threads are counted, and one exploration of all attacks
//! is the proof.

mod certificate;
mod hopes;
mod modes;
mod steps;
mod system;
mod turned;
mod views;

pub use certificate::certificate;
pub use system::{Attack, Role, StaleSystem, StepLabel, Token};
pub use views::{Facts, Family, Location, View};
