//! A slice from which what it leaves out is really removed, for searches that need not go through it.
//!
//! A slice has `nop` where an instruction does not matter. A label is *passed* when a `nop` stands there alone, and no measure on offer changes
//! what happens there: then a copy that comes to it can as well be where the `nop` leads. The contraction leads there at once, and has no other
//! labels and instructions than the slice without these. Nobody sees a copy pass a label, it never waits there, and its buffer stays as it is,
//! so the slice reaches a target with a set of measures exactly when the contraction does; a run of the contraction becomes one of the slice
//! when each copy passes, before its next step, the labels on the way ([`Contraction::expanded`]).

use super::offer::Offer;
use super::rows::Run;
use palisade_model::program::{Action, InstructionId, LabelId, Program, Thread, ThreadId};
use palisade_model::semantics::{CopyId, Step, StepKind, Target};
use rustc_hash::FxHashMap;

/// A slice without the labels that copies only pass.
#[derive(Clone, Debug)]
pub(super) struct Contraction {
    /// The program that is left.
    pub(super) program: Program,
    threads: Vec<Contracted>,
    /// Where each thread of the slice begins.
    initial: Vec<LabelId>,
}

/// What has become of one thread.
#[derive(Clone, Debug)]
struct Contracted {
    /// For each label, the number that it has now; none where it is passed.
    labels: Vec<Option<LabelId>>,
    /// For each label, where a copy passes it: the `nop` and the label that it leads to.
    passed: Vec<Option<(InstructionId, LabelId)>>,
    /// For each instruction, the number that it has now; none for those of labels that are passed.
    instructions: Vec<Option<InstructionId>>,
    /// For each instruction that is left, its number and its two labels in the slice.
    left: Vec<(InstructionId, LabelId, LabelId)>,
}

impl Contraction {
    /// The contraction of a slice of the program whose measures are on offer.
    pub(super) fn of(slice: &Program, offer: &Offer<'_>) -> Self {
        let threads: Vec<Contracted> =
            slice.thread_ids().map(|(id, thread)| Contracted::of(id, thread, offer)).collect();
        let contracted = threads.iter().zip(&slice.threads).map(|(own, thread)| own.applied(thread));
        let program = Program {
            name: slice.name.clone(),
            domain: slice.domain,
            addresses: Vec::new(),
            initial_memory: slice.initial_memory.clone(),
            threads: contracted.collect(),
            posts: slice.posts,
            never: Vec::new(),
            accepted: Vec::new(),
            source: slice.source.clone(),
        };
        Self { program, threads, initial: slice.threads.iter().map(|thread| thread.initial).collect() }
    }

    /// The number of a label that is left.
    pub(super) fn label(&self, thread: ThreadId, label: LabelId) -> LabelId {
        self.threads[thread.index()].labels[label.index()].expect("no measure changes what is passed")
    }

    /// The number of an instruction that is left.
    pub(super) fn instruction(&self, thread: ThreadId, instruction: InstructionId) -> InstructionId {
        self.threads[thread.index()].instructions[instruction.index()]
            .expect("a `nop` alone is neither changed nor asked about")
    }

    /// How many of the first instructions of a thread are left.
    pub(super) fn left_of_first(&self, thread: usize, count: usize) -> usize {
        self.threads[thread].left.partition_point(|(id, ..)| id.index() < count)
    }

    /// A target by the numbers that are left.
    pub(super) fn target(&self, target: Target) -> Target {
        match target {
            Target::Instruction { thread, instruction } => {
                Target::Instruction { thread, instruction: self.instruction(thread, instruction) }
            }
            Target::FinalStates => Target::FinalStates,
        }
    }

    /// A run without measures as one of the slice.
    pub(super) fn expanded(&self, run: Run) -> Run {
        let mut expanding = Expanding { contraction: self, at: FxHashMap::default(), steps: Vec::new() };
        for step in &run.steps {
            expanding.take(*step);
        }
        let target = match run.target {
            Target::Instruction { thread, instruction } => {
                Target::Instruction { thread, instruction: self.threads[thread.index()].left[instruction.index()].0 }
            }
            Target::FinalStates => {
                run.instance.copies().for_each(|copy| expanding.pass(copy, None));
                Target::FinalStates
            }
        };
        Run { target, steps: expanding.steps, ..run }
    }
}

impl Contracted {
    fn of(id: ThreadId, thread: &Thread, offer: &Offer<'_>) -> Self {
        let by_label = thread.instructions_by_label();
        let is_on_offer = |label: LabelId, only: InstructionId| {
            offer.fence_at(id, label).is_some()
                || offer.store_fence_at(id, label).is_some()
                || offer.exchange_of(id, only).is_some()
                || offer.kept(id, only).is_some()
        };
        let passing = by_label.iter().enumerate().map(|(label, standing)| {
            let [only] = standing else { return None };
            let (label, instruction) = (LabelId::from_index(label), thread.instruction(*only));
            let is_passed = !offer.has_sites() && instruction.action == Action::Nop && !is_on_offer(label, *only);
            is_passed.then_some((*only, instruction.target))
        });
        let mut passed: Vec<Option<(InstructionId, LabelId)>> = passing.collect();
        stop_on_cycles(&mut passed);
        let mut next = 0..;
        let labels: Vec<Option<LabelId>> =
            passed.iter().map(|own| own.is_none().then(|| next.next().map(LabelId::from_index)).flatten()).collect();
        let is_left =
            |(_, own): &(InstructionId, &palisade_model::program::Instruction)| passed[own.source.index()].is_none();
        let left: Vec<_> =
            thread.instruction_ids().filter(is_left).map(|(id, own)| (id, own.source, own.target)).collect();
        let mut instructions = vec![None; thread.instructions.len()];
        for (number, (id, ..)) in left.iter().enumerate() {
            instructions[id.index()] = Some(InstructionId::from_index(number));
        }
        Self { labels, passed, instructions, left }
    }

    /// The thread of which only what is left is there.
    fn applied(&self, thread: &Thread) -> Thread {
        let instructions = self.left.iter().map(|(id, source, target)| {
            let mut own = thread.instruction(*id).clone();
            (own.source, own.target) = (self.end(*source), self.end(*target));
            own
        });
        let labels = thread.labels.iter().zip(&self.passed).filter(|(_, passed)| passed.is_none());
        Thread {
            role: thread.role.clone(),
            name: thread.name.clone(),
            span: thread.span,
            copies: thread.copies,
            registers: thread.registers.clone(),
            labels: labels.map(|(label, _)| label.clone()).collect(),
            initial: self.end(thread.initial),
            instructions: instructions.collect(),
        }
    }

    /// The label that is left where a copy comes to that goes to a label.
    fn end(&self, mut label: LabelId) -> LabelId {
        while let Some((_, target)) = self.passed[label.index()] {
            label = target;
        }
        self.labels[label.index()].expect("a label that is not passed is left")
    }
}

/// Leaves one label of each cycle of labels that would be passed.
fn stop_on_cycles(passed: &mut [Option<(InstructionId, LabelId)>]) {
    // For each label, from which start it was come to.
    let mut seen: Vec<Option<usize>> = vec![None; passed.len()];
    for start in 0..passed.len() {
        let mut label = start;
        while let Some((_, target)) = passed[label] {
            match seen[label] {
                None => seen[label] = Some(start),
                Some(before) => {
                    if before == start {
                        passed[label] = None;
                    }
                    break;
                }
            }
            label = target.index();
        }
    }
}

/// A run that is being expanded.
struct Expanding<'c> {
    contraction: &'c Contraction,
    /// Where copies stand in the slice that have taken a step.
    at: FxHashMap<CopyId, LabelId>,
    steps: Vec<Step>,
}

impl Expanding<'_> {
    fn take(&mut self, step: Step) {
        let StepKind::Execute { instruction, chosen } = step.kind else { return self.steps.push(step) };
        let (instruction, source, target) =
            self.contraction.threads[step.copy.thread.index()].left[instruction.index()];
        self.pass(step.copy, Some(source));
        self.steps.push(Step { copy: step.copy, kind: StepKind::Execute { instruction, chosen } });
        self.at.insert(step.copy, target);
    }

    /// Lets a copy pass labels up to one, or as long as it can.
    fn pass(&mut self, copy: CopyId, end: Option<LabelId>) {
        let thread = copy.thread.index();
        let mut at = self.at.get(&copy).copied().unwrap_or(self.contraction.initial[thread]);
        while Some(at) != end
            && let Some((instruction, target)) = self.contraction.threads[thread].passed[at.index()]
        {
            self.steps.push(Step { copy, kind: StepKind::Execute { instruction, chosen: None } });
            at = target;
        }
        self.at.insert(copy, at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::aim::Aim;
    use super::super::rows::Core;
    use super::super::search::{Answer, Reach, search};
    use super::*;
    use crate::fences::catalogue::MeasureSet;
    use crate::fences::{Cost, Measure};
    use crate::properties::targets;
    use crate::properties::tests::with_properties;
    use palisade_model::limits::Limits;
    use palisade_model::semantics::random::{Randomness, Shape};
    use palisade_model::semantics::{Effect, Instance, Machine, Model};

    /// A program with properties of which many instructions do nothing, as in a slice.
    fn random_slice(seed: u64) -> Program {
        let shape =
            Shape { copies: 2, labels: 6, total_labels: 10, store_fences: 10, stores_first: 40, ..Shape::default() };
        let mut program = with_properties(seed, &shape);
        let mut randomness = Randomness::new(seed ^ 0xc0de);
        for own in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            let may_go = matches!(own.action, Action::Load { .. } | Action::Store { .. } | Action::Assign { .. });
            if may_go && randomness.below(2) == 0 {
                own.action = Action::Nop;
            }
        }
        program
    }

    /// Some measures of a program, each offered at the cost of 1.
    fn some_measures(program: &Program, seed: u64) -> Vec<(Measure, Cost)> {
        let mut randomness = Randomness::new(seed ^ 0xfe);
        let mut measures = Vec::new();
        for (thread, template) in program.thread_ids() {
            for (store, own) in template.instruction_ids() {
                let label = own.source;
                measures.extend(match randomness.below(6) {
                    0 => Some(Measure::Fence { thread, label }),
                    1 => Some(Measure::StoreFence { thread, label }),
                    2 => Some(Measure::Exchange { thread, store }),
                    _ => None,
                });
            }
        }
        let may_be_made = |measure: &Measure| match *measure {
            Measure::Exchange { thread, store } => {
                matches!(program.thread(thread).instruction(store).action, Action::Store { .. } | Action::Nop)
            }
            _ => true,
        };
        measures.retain(may_be_made);
        measures.sort_unstable();
        measures.dedup();
        measures.into_iter().map(|measure| (measure, Cost::one())).collect()
    }

    fn answer(program: &Program, aim: &Aim<'_>, model: Model) -> Answer {
        let reach = Reach { capacity: 8, states: 20_000, limits: Limits::none() };
        search(program, &Instance::of(program).expect("copies are fixed"), model, aim, &reach)
    }

    /// Checks that a run without measures is one of the slice to its target.
    fn check_run(slice: &Program, run: &Run) {
        let machine = Machine::new(slice, &run.instance, run.model);
        let mut state = machine.initial_state();
        let mut last = None;
        for step in &run.steps {
            let event = machine.event(&state, *step).expect("the step can be taken in the slice");
            machine.take(&mut state, &event);
            last = Some((event.step, event.effect));
        }
        let (step, effect) = last.expect("a target is reached by a step");
        assert!(matches!(effect, Effect::Violation | Effect::Failure), "{effect:?}");
        let Target::Instruction { thread, instruction } = run.target else { panic!("there is no question") };
        assert!(matches!(step.kind, StepKind::Execute { instruction: own, .. } if own == instruction));
        assert_eq!(step.copy.thread, thread);
    }

    #[test]
    fn contractions_reach_what_slices_reach() {
        let (mut passed, mut reached, mut stopped) = (0, 0, 0);
        for seed in 0..400 {
            let slice = random_slice(seed);
            let measures = some_measures(&slice, seed);
            let offer = Offer::among(&slice, &slice, &measures);
            let aim = Aim::whole(&slice, targets(&slice, None), None);
            let contraction = Contraction::of(&slice, &offer);
            let core = Core::of(&aim, &offer);
            let contracted = offer.contracted(&contraction);
            let labels =
                |program: &Program| -> usize { program.threads.iter().map(|thread| thread.labels.len()).sum() };
            passed += labels(&slice) - labels(&contraction.program);
            for model in [Model::Sc, Model::Tso, Model::Pso] {
                for all in [false, true] {
                    let set: MeasureSet = if all { offer.everything() } else { offer.nothing() };
                    let before = answer(&offer.changed(&slice, &set), &aim, model);
                    let changed = contracted.changed(&contraction.program, &set);
                    let after = answer(&changed, core.aim(), model);
                    match (before, after) {
                        (Answer::Reached { .. }, Answer::Reached { target, steps }) => {
                            reached += 1;
                            if !all {
                                let instance = Instance::of(&slice).expect("copies are fixed");
                                check_run(&slice, &contraction.expanded(Run { instance, model, target, steps }));
                            }
                        }
                        (Answer::Closed { .. }, Answer::Closed { .. }) => stopped += 1,
                        (Answer::Cut(_), Answer::Cut(_)) => {}
                        (before, after) => panic!("seed {seed} {model:?}: {before:?}, but {after:?}\n{slice:?}"),
                    }
                }
            }
        }
        assert!(passed > 200 && reached > 50 && stopped > 50, "{passed} {reached} {stopped}");
    }
}
