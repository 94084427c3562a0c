//! The same violation with an ordinary queue, where there is one.

use crate::reason::reason;
use crate::witness::ConcurrencyViolation;
use palisade_evidence::ConcurrencyWitness;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, Program};
use palisade_semantics::Model;
use palisade_semantics::tasks::oracle::{Answer, Kind, TaskBounds, concurrency};
use palisade_semantics::tasks::{TaskMachine, is_out_of_order, most_executed};

/// Whether the main thread takes tasks in the order of their posts in a violation.
pub fn is_in_order(program: &Program, violation: &ConcurrencyViolation) -> bool {
    let machine = TaskMachine::new(program, Model::Sc);
    let mut state = machine.initial_state();
    let steps = &violation.witness.steps;
    steps.iter().all(|step| machine.apply(&mut state, *step).is_ok()) && !is_out_of_order(&state, steps)
}

/// A violation with the same events in which the main thread takes tasks in the order of their
/// posts, by enumeration of the interleavings whose invocations execute no more instructions than
/// there. Nothing where there is none, or more than so many configurations.
pub fn in_order(
    program: &Program,
    violation: &ConcurrencyViolation,
    configurations: usize,
    limits: &Limits,
) -> Option<ConcurrencyViolation> {
    let mut instance = program.clone();
    for (event, count) in &violation.instance {
        instance.threads[event.index()].copies = Copies::Exactly(*count);
    }
    let steps = Some(most_executed(&violation.witness.steps));
    let bounds = TaskBounds { steps, configurations, in_order: true, limits: limits.clone() };
    let kinds = [Kind::Serializability, Kind::Determinism];
    let Ok(Answer::Violated { computation: steps, .. }) = concurrency(&instance, &kinds, &bounds) else { return None };
    let reason = reason(&TaskMachine::new(program, Model::Sc), &steps).ok()??;
    Some(ConcurrencyViolation { witness: ConcurrencyWitness { steps, reason }, instance: violation.instance.clone() })
}
