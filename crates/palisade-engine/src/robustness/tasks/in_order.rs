//! The same violation with an ordinary queue, where there is one.

use palisade_evidence::TaskWitness;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, Program};
use palisade_semantics::Model;
use palisade_semantics::tasks::oracle::{Answer, TaskBounds, tso};
use palisade_semantics::tasks::{TaskMachine, is_out_of_order, most_executed};

/// Whether the main thread takes tasks in the order of their posts in a violation.
pub fn is_task_witness_in_order(program: &Program, witness: &TaskWitness) -> bool {
    let instance = instance(program, witness);
    let machine = TaskMachine::new(&instance, Model::Tso);
    let mut state = machine.initial_state();
    let steps = &witness.steps;
    steps.iter().all(|step| machine.apply(&mut state, *step).is_ok()) && !is_out_of_order(&state, steps)
}

/// A violation in the same instance in which the main thread takes tasks in the order of their
/// posts, by enumeration of the computations whose invocations execute no more instructions than
/// there. Nothing where there is none, or more than so many configurations.
pub fn tasks_in_order(
    program: &Program,
    witness: &TaskWitness,
    configurations: usize,
    limits: &Limits,
) -> Option<TaskWitness> {
    let steps = Some(most_executed(&witness.steps));
    let bounds = TaskBounds { steps, configurations, in_order: true, limits: limits.clone() };
    match tso(&instance(program, witness), &bounds) {
        Ok(Answer::Violated { computation: steps, .. }) => {
            Some(TaskWitness { instance: witness.instance.clone(), steps })
        }
        _ => None,
    }
}

fn instance(program: &Program, witness: &TaskWitness) -> Program {
    let mut instance = program.clone();
    let counts = instance.threads.iter_mut().zip(&witness.instance);
    counts.for_each(|(template, count)| template.copies = Copies::Exactly(*count));
    instance
}
