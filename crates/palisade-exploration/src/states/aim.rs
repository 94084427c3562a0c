//! What a placement keeps a program from, in parts that share a slice.

use super::contraction::Contraction;
use crate::buffered::Goal;
use crate::buffered::Range;
use crate::buffered::Slice;
use crate::buffered::Values;
use palisade_model::ordered;
use palisade_model::program::{Copies, InstructionId, Program};
use palisade_semantics::{Effect, Event, Instance, Machine, Observable, Question, State, StepKind, Target};

/// Targets that share a slice, with the program in which nothing is left but what matters for them.
///
/// Slices leave fences and labels as they are, so that a set of measures keeps the program from the
/// targets exactly when it keeps the slice from them.
#[derive(Clone, Debug)]
pub struct Aim<'q> {
    /// The slice.
    pub program: Program,
    /// What the instructions left out may write. A run of the slice that reads none of it is a run
    /// of the program.
    written: Range,
    /// The targets.
    goal: Goal<'q>,
}

impl<'q> Aim<'q> {
    /// Some targets of a program, whose computed addresses have these bounds. Loads may be assumed
    /// to stay in the arrays that they name: then the runs that do otherwise have to be left alone
    /// ([`leaves`](Self::leaves)).
    pub fn new(
        program: &Program,
        targets: Vec<Target>,
        question: Option<&'q Question>,
        bounds: Option<&Values<'_>>,
        assumes: bool,
    ) -> Self {
        let goal = Goal::new(targets, question);
        let slice = Slice::of(program, &goal, bounds, assumes);
        Self { program: slice.apply(program), written: slice.written, goal }
    }

    /// Some targets of a program, of which nothing is left out.
    pub fn whole(program: &Program, targets: Vec<Target>, question: Option<&'q Question>) -> Self {
        Self { program: program.clone(), written: Range::default(), goal: Goal::new(targets, question) }
    }

    /// The same targets of the contraction.
    #[must_use]
    pub fn contracted(&self, contraction: &Contraction) -> Self {
        let targets = self.goal.targets.iter().map(|target| contraction.target(*target)).collect();
        Self {
            program: contraction.program.clone(),
            written: self.written.clone(),
            goal: Goal::new(targets, self.goal.question),
        }
    }

    /// Whether a target is one of these.
    pub fn contains(&self, target: Target) -> bool {
        self.goal.targets.contains(&target)
    }

    /// Whether final states are a target.
    pub(super) fn asks_final_states(&self) -> bool {
        self.goal.question.is_some()
    }

    /// Whether an event of the slice or of the program, with or without measures, reads in the
    /// slice what this does not have as the program has it. What the instructions read that are
    /// left out does not matter.
    pub fn leaves(&self, event: &Event) -> bool {
        let (Effect::Load { address, .. } | Effect::Rmw { address, .. }) = event.effect else { return false };
        let own = |id: InstructionId| self.program.thread(event.step.copy.thread).instructions.get(id.index());
        let accesses = |id| own(id).is_some_and(|own| own.action.address().is_some());
        event.step.kind.instruction().is_some_and(accesses) && self.written.contains(i128::from(address))
    }

    /// The target that an event reaches, if it does.
    pub fn reached_by(&self, event: &Event) -> Option<Target> {
        let StepKind::Execute { instruction, .. } = event.step.kind else { return None };
        let violates = matches!(event.effect, Effect::Violation | Effect::Failure);
        let target = Target::Instruction { thread: event.step.copy.thread, instruction };
        (violates && self.goal.targets.contains(&target)).then_some(target)
    }

    /// Whether a state is final and answers the question.
    pub fn is_final(&self, machine: &Machine<'_>, state: &State) -> bool {
        let ended = |position| machine.has_ended(state, position);
        if !self.asks_final_states() || !state.buffers_are_empty() || !(0..machine.copies().len()).all(ended) {
            return false;
        }
        self.goal.is_answered(&|observable| match observable {
            Observable::Register { thread, register } => match machine.positions(thread).next() {
                Some(position) => state.threads()[position].registers[register.index()],
                None => machine.program().thread(thread).registers[register.index()].initial,
            },
            Observable::Address(address) => state.memory(address),
        })
    }
}

/// Copies of each thread with any number of copies in the largest instances searched.
const MOST_COPIES: u64 = 3;

/// How many copies more than threads the largest instances searched have.
const MORE_COPIES: u64 = 2;

/// The instances in which runs are sought, smallest first: the one that the program declares, or
/// where threads have any number of copies, small ones.
pub fn instances(program: &Program) -> Vec<Instance> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for thread in &program.threads {
        let counts = match thread.copies {
            Copies::Exactly(count) => count..=count,
            Copies::Any => 1..=MOST_COPIES,
        };
        let longer = |before: &Vec<u64>| {
            let before = before.clone();
            counts.clone().map(move |count| [before.as_slice(), &[count]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    let total = |counts: &Vec<u64>| counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    ordered::sort_by_key(&mut all, total);
    let most = total(&all[0]).saturating_add(MORE_COPIES);
    all.retain(|counts| total(counts) <= most);
    all.into_iter().map(Instance::new).collect()
}
