//! What a memory model makes of a program's text.

use super::Diagnostic;
use palisade_model::program::{Action, Program};
use palisade_semantics::Model;

/// A warning at the first `sfence` of a program, for a model in which stores are in order without
/// it.
pub fn store_fence_without_effect(program: &Program, model: Model) -> Option<Diagnostic> {
    let name = match model {
        Model::Sc => "SC",
        Model::Tso => "TSO",
        Model::Pso => return None,
    };
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    let fence = instructions.find(|instruction| instruction.action == Action::StoreFence)?;
    Some(Diagnostic::warning(format!("`sfence` has no effect under {name}: stores are in order"), fence.span))
}
