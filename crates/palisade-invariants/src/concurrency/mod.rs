//! Checks evidence about robustness against concurrency, from the program's text and the evidence
//! alone.
//!
//! *Robust*: a set of states of the serial program with the monitor that
//! docs/certificate/concurrency.md describes. The checker has its own serial semantics ([`local`])
//! and its own monitor ([`serial`]), and asks that the initial state is covered by one of the set,
//! that everything that comes next is, and that no state accepts ([`cover`] says what covers what).
//!
//! *Not robust*: an interleaving. It is replayed on the multi-threaded semantics of `semantics`,
//! and the conflicts that the evidence names are found again ([`interleaving`]).

mod cover;
mod interleaving;
mod local;
mod serial;

pub use interleaving::check_concurrency_witness;
pub use serial::check_concurrency_certificate;

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::Program;

/// Rejects programs that the question is not about: threads belong to no event.
fn events_alone(program: &Program) -> Result<(), CheckFailure> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out()) {
        reject!(Form, "`{}` is a thread, and robustness against concurrency is about events and tasks", thread.name);
    }
    if program.events().all(|(_, event)| event.is_left_out()) {
        reject!(Form, "no event occurs, so the evidence is about nothing");
    }
    Ok(())
}
