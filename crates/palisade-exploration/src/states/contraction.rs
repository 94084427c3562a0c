//! A slice from which what it leaves out is really removed, for searches that need not go through
//! it.
//!
//! A slice has `nop` where an instruction does not matter. A label is *passed* when a `nop` stands
//! there alone, and no measure on offer changes what happens there: then a copy that comes to it
//! can as well be where the `nop` leads. The contraction leads there at once, and has no other
//! labels and instructions than the slice without these. Nobody sees a copy pass a label, it never
//! waits there, and its buffer stays as it is, so the slice reaches a target with a set of measures
//! exactly when the contraction does; a run of the contraction becomes one of the slice when each
//! copy passes, before its next step, the labels on the way ([`Contraction::expanded`]).

use palisade_model::program::{Action, Instruction, InstructionId, LabelId, Program, Thread, ThreadId};
use palisade_semantics::{CopyId, Instance, Step, StepKind, Target};
use rustc_hash::FxHashMap;

/// A slice without the labels that copies only pass.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The program that is left.
    pub program: Program,
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
    /// The contraction of a slice, given whether some measure may change what happens at a label
    /// where an instruction stands alone.
    pub fn of(slice: &Program, may_change: impl Fn(ThreadId, LabelId, InstructionId) -> bool) -> Self {
        let threads: Vec<Contracted> = slice
            .thread_ids()
            .map(|(id, thread)| Contracted::of(thread, |label, only| may_change(id, label, only)))
            .collect();
        let contracted = threads.iter().zip(&slice.threads).map(|(own, thread)| own.applied(thread));
        let program = Program {
            name: slice.name.clone(),
            domain: slice.domain,
            addresses: Vec::new(),
            initial_memory: slice.initial_memory.clone(),
            threads: contracted.collect(),
            posts: slice.posts,
            never: Vec::new(),
            finally: Vec::new(),
            accepted: Vec::new(),
            source: slice.source.clone(),
        };
        Self { program, threads, initial: slice.threads.iter().map(|thread| thread.initial).collect() }
    }

    /// The number of a label that is left.
    pub fn label(&self, thread: ThreadId, label: LabelId) -> LabelId {
        self.threads[thread.index()].labels[label.index()].expect("no measure changes what is passed")
    }

    /// The number of an instruction that is left.
    pub fn instruction(&self, thread: ThreadId, instruction: InstructionId) -> InstructionId {
        self.threads[thread.index()].instructions[instruction.index()]
            .expect("a `nop` alone is neither changed nor asked about")
    }

    /// How many of the first instructions of a thread are left.
    pub fn left_of_first(&self, thread: usize, count: usize) -> usize {
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

    /// The target and the steps of a run without measures as those of a run of the slice.
    pub fn expanded(&self, instance: &Instance, target: Target, steps: &[Step]) -> (Target, Vec<Step>) {
        let mut expanding = Expanding { contraction: self, at: FxHashMap::default(), steps: Vec::new() };
        for step in steps {
            expanding.take(*step);
        }
        let target = match target {
            Target::Instruction { thread, instruction } => {
                Target::Instruction { thread, instruction: self.threads[thread.index()].left[instruction.index()].0 }
            }
            Target::FinalStates => {
                instance.copies().for_each(|copy| expanding.pass(copy, None));
                Target::FinalStates
            }
        };
        (target, expanding.steps)
    }
}

impl Contracted {
    fn of(thread: &Thread, may_change: impl Fn(LabelId, InstructionId) -> bool) -> Self {
        let by_label = thread.instructions_by_label();
        let passing = by_label.iter().enumerate().map(|(label, standing)| {
            let [only] = standing else { return None };
            let (label, instruction) = (LabelId::from_index(label), thread.instruction(*only));
            let is_passed = instruction.action == Action::Nop && !may_change(label, *only);
            is_passed.then_some((*only, instruction.target))
        });
        let mut passed: Vec<Option<(InstructionId, LabelId)>> = passing.collect();
        stop_on_cycles(&mut passed);
        let mut next = 0..;
        let labels: Vec<Option<LabelId>> =
            passed.iter().map(|own| own.is_none().then(|| next.next().map(LabelId::from_index)).flatten()).collect();
        let is_left = |(_, own): &(InstructionId, &Instruction)| passed[own.source.index()].is_none();
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
            is_daemon: thread.is_daemon,
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
