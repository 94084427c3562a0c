//! What an exploration looks for: several targets of one program at once.

use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, Copies, InstructionId, Program, RegisterId, ThreadId, Value};
use palisade_semantics::{Observable, Proposition, Quantifier, Question, Target};
use std::collections::BTreeSet;

/// All targets of a program: every `ensure` and `fail` of the threads that run, in order, and what
/// a litmus test asks of its final states.
pub fn targets(program: &Program, question: Option<&Question>) -> Vec<Target> {
    let mut targets = Vec::new();
    for (thread, template) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        for (instruction, it) in template.instruction_ids() {
            if matches!(it.action, Action::Ensure(_) | Action::Fail) {
                targets.push(Target::Instruction { thread, instruction });
            }
        }
    }
    if question.is_some_and(|question| question.condition.is_some()) {
        targets.push(Target::FinalStates);
    }
    targets
}

/// The targets of one exploration.
#[derive(Clone, Debug)]
pub struct Goal<'q> {
    /// The targets, ascending.
    pub targets: Vec<Target>,
    /// What the final states are asked, where they are a target.
    pub question: Option<&'q Question>,
}

impl<'q> Goal<'q> {
    /// The goal of reaching one of these targets.
    pub fn new(targets: Vec<Target>, question: Option<&'q Question>) -> Self {
        let asks = targets.contains(&Target::FinalStates);
        Self { targets, question: question.filter(|_| asks) }
    }

    /// The number of a target.
    pub(super) fn number(&self, target: Target) -> Option<u32> {
        self.targets.iter().zip(0..).find_map(|(it, number)| (*it == target).then_some(number))
    }

    /// The targets that are instructions, with their numbers.
    pub(super) fn properties(&self) -> impl Iterator<Item = (ThreadId, InstructionId, u32)> + '_ {
        self.targets.iter().zip(0..).filter_map(|(target, number)| match target {
            Target::Instruction { thread, instruction } => Some((*thread, *instruction, number)),
            Target::FinalStates => None,
        })
    }

    /// The number of the final states among the targets.
    pub fn final_states(&self) -> Option<u32> {
        self.number(Target::FinalStates)
    }

    /// The registers of each thread that the question looks at; nothing where the final states are
    /// no target.
    pub(super) fn observed_registers(&self, program: &Program) -> Option<Vec<Vec<RegisterId>>> {
        let mut observed = vec![BTreeSet::new(); program.threads.len()];
        for observable in observables(self.question?) {
            if let Observable::Register { thread, register } = observable {
                observed[thread.index()].insert(register);
            }
        }
        Some(observed.into_iter().map(|registers| registers.into_iter().collect()).collect())
    }

    /// The addresses that the question looks at.
    pub(super) fn observed_addresses(&self) -> BTreeSet<Value> {
        self.question.into_iter().flat_map(observables).filter_map(Observable::address).collect_set()
    }

    /// Whether a final state answers the question: the filter keeps it, and it satisfies the
    /// proposition (`exists`, `~exists`) or does not (`forall`).
    pub fn is_answered(&self, value: &impl Fn(Observable) -> Value) -> bool {
        let Some(question) = self.question else { return false };
        if question.filter.as_ref().is_some_and(|filter| !filter.holds(value)) {
            return false;
        }
        let condition = question.condition();
        condition.proposition.holds(value) != (condition.quantifier == Quantifier::ForAll)
    }
}

/// What a question looks at to answer its condition.
fn observables(question: &Question) -> Vec<Observable> {
    let mut found = Vec::new();
    let mut look = |proposition: &Proposition| proposition.for_each_location(&mut |it| found.push(it.observable));
    question.filter.iter().for_each(&mut look);
    question.condition.iter().for_each(|condition| look(&condition.proposition));
    found
}
