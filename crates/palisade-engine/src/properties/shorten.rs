//! Computations with fewer steps that reach the same target.

use super::replay::Violation;
use palisade_model::limits::Limits;
use palisade_model::program::Program;
use palisade_semantics::{Computation, Goal, StepKind, Target, shortest_violation};

/// States kept at most while a shorter computation is sought, for one of few steps; fewer for a
/// longer one, of which they would show little.
const EFFORT: usize = 20_000;

/// A computation of so many steps is long.
const LONG: usize = 64;

/// A computation of the same copies with as few steps as can be found. The final states of a litmus
/// test are reached as they are.
pub(super) fn shortened(program: &Program, violation: Violation, limits: &Limits) -> Violation {
    let Target::Instruction { instruction, .. } = violation.target else { return violation };
    let Some(violating) = violation.events.last() else { return violation };
    if !matches!(violating.step.kind, StepKind::Execute { instruction: executed, .. } if executed == instruction) {
        return violation;
    }
    let machine = violation.machine(program);
    let violated = Goal::Violation(violating.step.copy, instruction);
    let last = machine.walk(&violation.events, |_| {});
    let known = Computation { events: violation.events, last, shortest: false };
    let mut effort = EFFORT / (1 + known.events.len() / LONG).pow(2);
    let found = shortest_violation(&machine, violated, known, &mut effort, limits);
    Violation { events: found.events, shortest: found.shortest, ..violation }
}
