//! What is asked of the instrumented program.

use super::together::Together;
use palisade_exploration::instrumented::stale::StaleSystem;
use palisade_model::program::Program;
use palisade_semantics::graphs::Axioms;

/// The instrumented program, with what is to be said of it.
pub(super) struct Asked<'p> {
    pub(super) system: StaleSystem<'p>,
    /// The program by its language, of which the system has threads counted together.
    pub(super) stated: &'p Program,
    pub(super) together: &'p Together,
    pub(super) axioms: Axioms,
    pub(super) certifies: bool,
}
