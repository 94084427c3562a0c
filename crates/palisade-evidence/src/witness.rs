//! Evidence that a program is not robust: a TSO computation of one instance with its happens-before
//! cycle.

use palisade_model::program::InstructionId;
use palisade_semantics::{CopyId, Edge, Instance, Step};

/// A TSO witness ([ESOP13, Definition 1 and Fig. 4]).
///
/// The computation is `τ1 · issue of st_A · τ2 · ld_A · τ3 · st_A · τ4`. It is valid when the
/// machine can take the steps under TSO and leave every buffer empty, and
///
/// - (W1) every store of a thread copy other than the attacker, and every store of the attacker in
///   `τ1`, reaches memory in the very next step;
/// - (W2) step `store_step` is the attacker's execution of `store` outside locked sections, step
///   `load_step` its execution of `load`; between them no store of the attacker reaches memory;
/// - (W3) for every access and every locked section of a helper between `ld_A` and `st_A`, and for
///   `st_A`, a path of happens-before leads there from `ld_A`;
/// - (W4) after `ld_A` the attacker only lets its stores reach memory, after all the helpers'
///   steps;
/// - (W5) `ld_A` reads from memory, not from its own buffer;
/// - `cycle` is a cycle of happens-before of the computation's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// How many copies of each thread run: as many as the program says where it says so.
    pub instance: Instance,
    /// The attacker.
    pub attacker: CopyId,
    /// The store instruction that is delayed first.
    pub store: InstructionId,
    /// The load instruction that it is delayed past.
    pub load: InstructionId,
    /// The position in `steps` of the issue of `st_A`.
    pub store_step: usize,
    /// The position in `steps` of `ld_A`.
    pub load_step: usize,
    /// The computation.
    pub steps: Vec<Step>,
    /// The cycle: each edge starts where the one before it ends, and the first where the last ends.
    /// Nodes are counted per copy in program order; [`semantics`](palisade_semantics::Trace) says
    /// what a node is.
    pub cycle: Vec<Edge>,
}
