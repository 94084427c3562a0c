//! Computations with fewer steps that reach the same target.

use super::replay::Violation;
use palisade_model::limits::Limits;
use palisade_model::program::Program;
use palisade_semantics::{Computation, Goal, Machine, StepKind, Target, shortest_violation};

/// States kept at most while a shorter computation is sought, for one of few steps; fewer for a
/// longer one, of which they would show little.
const EFFORT: usize = 20_000;

/// A computation of so many steps is long.
const LONG: usize = 64;

/// A computation of the same copies with as few steps as can be found. The final states of a litmus
/// test are reached as they are.
pub(super) fn shortened(program: &Program, violation: Violation, limits: &Limits) -> Violation {
    let Target::Instruction { instruction, .. } = violation.target else { return violation };
    let Some(last) = violation.events.last() else { return violation };
    if !matches!(last.step.kind, StepKind::Execute { instruction: executed, .. } if executed == instruction) {
        return violation;
    }
    let machine = Machine::of_copies(program, violation.acting.clone(), violation.model);
    let violated = Goal::Violation(last.step.copy, instruction);
    let known = Computation { events: violation.events, states: violation.states, shortest: false };
    let mut effort = EFFORT / (1 + known.events.len() / LONG).pow(2);
    let found = shortest_violation(&machine, violated, known, &mut effort, limits);
    Violation { events: found.events, states: found.states, shortest: found.shortest, ..violation }
}
