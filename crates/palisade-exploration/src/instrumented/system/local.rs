//! Local states of threads, settled, and what they can do next.

mod growth;
mod points;
mod successors;

pub use growth::Growth;
pub(crate) use points::Points;
pub(super) use successors::LocalSuccessors;

use super::counting::Counting;
use crate::instrumented::fault::{Fault, FaultKind};
use crate::instrumented::reached::Reached;
use crate::lazy::Interner;
use palisade_evidence::LocalState;
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, ByLabel, Domain, EvaluationError, Expression, Instruction, InstructionId, LabelId, Liveness, Program,
    RegisterId, ThreadId, Tickets, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A local state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// The thread.
    pub thread: ThreadId,
    /// Where it is.
    pub label: LabelId,
    /// Its registers, dead ones 0.
    pub registers: Box<[Value]>,
    /// Whether its locked section is open.
    pub holding: bool,
}

impl From<&Local> for LocalState {
    fn from(local: &Local) -> Self {
        Self { thread: local.thread, label: local.label, registers: local.registers.to_vec(), holding: local.holding }
    }
}

/// A range of the table of targets: the settled local states an action leads to; none where the
/// thread stops. And a range of the table of properties violated on the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    start: u32,
    end: u32,
    violated: (u32, u32),
}

/// What an instruction does at a local state, its expressions evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads an address.
    Load(Value),
    /// Writes a value to an address.
    Store(Value, Value),
    /// Needs an empty buffer.
    Fence,
    /// Marks the buffer: `sfence` under PSO. Local under TSO.
    Mark,
    /// A locked read-modify-write of an address.
    Update(Value),
    /// Opens a section.
    Lock,
    /// Closes it.
    Unlock,
    /// Posts a task.
    Post,
    /// Cannot be evaluated: a number of the table of faults.
    Faulty(u32),
}

/// One non-local instruction at a local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub instruction: InstructionId,
    pub operation: Operation,
}

/// What an instruction does, given the value that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// The value stored, for a read-modify-write that succeeds.
    pub(crate) stored: Option<Value>,
    pub(crate) targets: Targets,
}

/// The table of local states with their moves, filled as they come up.
#[derive(Clone, Debug)]
pub struct Locals<'p> {
    pub(crate) program: &'p Program,
    pub liveness: Vec<Liveness>,
    by_label: Vec<ByLabel>,
    pub table: Interner<Local>,
    moves: Vec<Option<(u32, u32)>>,
    move_arena: Vec<Move>,
    target_arena: Vec<Option<u32>>,
    outcomes: FxHashMap<(u32, InstructionId, Value), Executed>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) growth: Growth,
    register_values: FxHashMap<(ThreadId, RegisterId), FxHashSet<Value>>,
    address_values: FxHashMap<Value, FxHashSet<Value>>,
    /// Whether a step was left out under [`Growth::Cut`].
    pub(crate) was_cut: bool,
    /// The labels at which threads that settle have been.
    pub(crate) reached: Reached,
    /// The properties to watch, `ensure` or `fail`, by number.
    watched: FxHashMap<(ThreadId, InstructionId), u32>,
    /// Numbers of properties violated while threads settle; see [`Targets`].
    violated_arena: Vec<u32>,
    /// Whether a thread that has stopped keeps a local state.
    keeps_stopped: bool,
    /// Whether a thread keeps its label and registers that stopped at a label without instructions.
    keeps_ends: bool,
    /// Whether `sfence` marks the buffer, as under PSO.
    marks_buffers: bool,
    /// Whether a read that waits is a step only with a value that it waits for.
    awaits: bool,
    /// The counters that are turned, and computed addresses must miss.
    pub(super) counting: Option<Counting>,
    /// The tickets that the program had before they were erased.
    pub(super) tickets: Option<Arc<Tickets>>,
    /// How many values more than others counters may take: each copy can be at another one.
    more_values: usize,
    /// What to look at among local steps.
    limits: Limits,
}

/// So many local steps lie between two looks at the limits.
const STEPS_BETWEEN_LOOKS: usize = 1024;

/// By how many bytes a table grows for which nobody looks for room.
const LARGE_GROWTH: usize = 1 << 20;

/// With more copies than this, counters get no further values: what they hold stays far from 2⁶³.
const MOST_COPIES: usize = 1 << 16;

impl Local {
    /// Stands for the label of a thread that has stopped.
    pub(crate) fn stopped_label() -> LabelId {
        LabelId::from_index(u32::MAX as usize)
    }

    /// Whether the thread has stopped, and nothing of it matters but its buffer and its lock.
    pub fn is_stopped(&self) -> bool {
        self.label == Self::stopped_label()
    }
}

impl<'p> Locals<'p> {
    pub(crate) fn new(program: &'p Program, growth: Growth) -> Self {
        Self {
            program,
            liveness: program.threads.iter().map(Liveness::of).collect(),
            by_label: program.threads.iter().map(palisade_model::program::Thread::instructions_by_label).collect(),
            table: Interner::default(),
            moves: Vec::new(),
            move_arena: Vec::new(),
            target_arena: Vec::new(),
            outcomes: FxHashMap::default(),
            faults: Vec::new(),
            growth,
            register_values: FxHashMap::default(),
            address_values: FxHashMap::default(),
            was_cut: false,
            reached: Reached::none(program),
            watched: FxHashMap::default(),
            violated_arena: Vec::new(),
            keeps_stopped: false,
            keeps_ends: false,
            marks_buffers: false,
            awaits: false,
            counting: None,
            tickets: None,
            more_values: 0,
            limits: Limits::none(),
        }
    }

    /// Looks at these limits among local steps from now on.
    pub fn limit(&mut self, limits: &Limits) {
        self.limits = limits.clone();
    }

    /// Counts a local step of a thread; a fault that is none where a limit was reached.
    pub fn count_step(&self, thread: ThreadId, instruction: InstructionId, steps: &mut usize) -> Result<(), Fault> {
        *steps += 1;
        if !steps.is_multiple_of(STEPS_BETWEEN_LOOKS) {
            return Ok(());
        }
        let stopped = |reason| Fault { thread, instruction, kind: FaultKind::Stopped(reason) };
        self.limits.check().map_err(stopped)
    }

    /// Looks for room before a table grows by so many bytes.
    pub fn admit_growth(&self, thread: ThreadId, instruction: InstructionId, bytes: usize) -> Result<(), Fault> {
        if bytes < LARGE_GROWTH {
            return Ok(());
        }
        let stopped = |reason| Fault { thread, instruction, kind: FaultKind::Stopped(reason) };
        self.limits.check_room(bytes as u64).map_err(stopped)
    }

    /// Turns counters of a program with so many copies.
    pub(crate) fn count(&mut self, counting: &Counting, copies: usize) {
        self.counting = Some(counting.clone());
        self.more_values = copies.min(MOST_COPIES) * 2;
    }

    /// The table in which `sfence` is not local.
    pub(crate) fn with_marks(self) -> Self {
        Self { marks_buffers: true, ..self }
    }

    /// The table in which a read that waits is a step only with a value that it waits for.
    pub(crate) fn awaiting(self) -> Self {
        Self { awaits: true, ..self }
    }

    /// Whether a read is no step, as it waits for another value than this one.
    pub(crate) fn is_held_up(
        &self,
        (thread, id): (ThreadId, InstructionId),
        registers: &[Value],
        read: Value,
    ) -> Result<bool, Fault> {
        let Some(until) = self.program.thread(thread).instruction(id).until().filter(|_| self.awaits) else {
            return Ok(false);
        };
        let holds = until.holds_of(registers, read, self.domain());
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        holds.map(|holds| !holds).map_err(fault)
    }

    /// The table that keeps local states of invocations that have come to their end, and of those
    /// that have stopped before.
    pub(crate) fn keeping_ends(self) -> Self {
        Self { keeps_stopped: true, keeps_ends: true, ..self }
    }

    /// Whether an action touches neither memory, the store buffer nor the lock.
    pub fn is_local(&self, action: &Action) -> bool {
        action.is_local() || !self.marks_buffers && *action == Action::StoreFence
    }

    /// The table that notes which of these properties are violated while threads settle, and keeps
    /// local states of threads that have stopped; their labels and registers where the final states
    /// are `observed`.
    pub(crate) fn watching(
        mut self,
        properties: impl IntoIterator<Item = (ThreadId, InstructionId, u32)>,
        observed: Option<&[Vec<RegisterId>]>,
    ) -> Self {
        self.watched = properties.into_iter().map(|(thread, id, number)| ((thread, id), number)).collect();
        self.keeps_stopped = true;
        if let Some(observed) = observed {
            self.keeps_ends = true;
            let threads = self.program.threads.iter().zip(observed);
            self.liveness = threads.map(|(thread, observed)| Liveness::with_observed(thread, observed)).collect();
        }
        self
    }

    pub(crate) fn domain(&self) -> Option<Domain> {
        self.program.domain
    }

    pub fn instructions_at(&self, thread: ThreadId, label: LabelId) -> &[InstructionId] {
        &self.by_label[thread.index()][label.index()]
    }

    pub(crate) fn targets(&self, targets: Targets) -> &[Option<u32>] {
        &self.target_arena[targets.start as usize..targets.end as usize]
    }

    /// The numbers of the watched properties violated on the way to some targets.
    pub(crate) fn violated(&self, targets: Targets) -> &[u32] {
        &self.violated_arena[targets.violated.0 as usize..targets.violated.1 as usize]
    }

    /// Whether a local instruction is a watched property that these registers violate; its number.
    pub fn violates(&self, thread: ThreadId, id: InstructionId, registers: &[Value]) -> Result<Option<u32>, Fault> {
        let Some(number) = self.watched.get(&(thread, id)) else { return Ok(None) };
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        let violated = match &self.program.thread(thread).instruction(id).action {
            Action::Ensure(condition) => !condition.holds(registers, self.domain()).map_err(fault)?,
            action => *action == Action::Fail,
        };
        Ok(violated.then_some(*number))
    }

    /// The non-local moves of a local state.
    pub fn moves(&mut self, local: u32) -> (u32, u32) {
        let index = local as usize;
        if self.moves.len() <= index {
            self.moves.resize(index + 1, None);
        }
        if let Some(range) = self.moves[index] {
            return range;
        }
        let start = self.move_arena.len();
        let Local { thread, label, registers, .. } = self.table.get(local).clone();
        for id in self.by_label[thread.index()].get(label.index()).unwrap_or_default().to_vec() {
            let action = &self.program.thread(thread).instruction(id).action;
            if self.is_local(action) {
                continue;
            }
            let operation = self.operation((thread, id), action, &registers).unwrap_or_else(|error| {
                self.faults.push(Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) });
                Operation::Faulty(u32::try_from(self.faults.len() - 1).expect("few faults"))
            });
            self.move_arena.push(Move { instruction: id, operation });
        }
        let range = (number(start), number(self.move_arena.len()));
        self.moves[index] = Some(range);
        range
    }

    pub fn move_at(&self, index: u32) -> Move {
        self.move_arena[index as usize]
    }

    fn operation(
        &self,
        at: (ThreadId, InstructionId),
        action: &Action,
        registers: &[Value],
    ) -> Result<Operation, EvaluationError> {
        Ok(match action {
            Action::Load { address, .. } => Operation::Load(self.address(at, address, registers)?),
            Action::Store { address, value } => {
                Operation::Store(self.address(at, address, registers)?, value.evaluate(registers, self.domain())?)
            }
            Action::Cas { address, .. } | Action::Rmw { address, .. } => {
                Operation::Update(self.address(at, address, registers)?)
            }
            Action::Fence => Operation::Fence,
            Action::StoreFence => Operation::Mark,
            Action::Lock => Operation::Lock,
            Action::Unlock => Operation::Unlock,
            Action::Post { .. } => Operation::Post,
            _ => unreachable!("local actions are settled"),
        })
    }

    /// The address that an instruction's expression stands for.
    pub(in crate::instrumented) fn address(
        &self,
        at: (ThreadId, InstructionId),
        address: &Expression,
        registers: &[Value],
    ) -> Result<Value, EvaluationError> {
        let value = address.evaluate_address(registers)?;
        if let Some(counting) = self.counting.as_ref().filter(|_| !address.is_constant()) {
            counting.note_access(at, value);
        }
        Ok(value)
    }

    /// What a move does when memory holds `read` at its address (ignored by moves that do not
    /// read). Nothing when the step is cut, or waits for another value.
    pub(crate) fn outcome(&mut self, local: u32, step: Move, read: Value) -> Result<Option<Executed>, Fault> {
        let reads = matches!(step.operation, Operation::Load(_) | Operation::Update(_));
        let key = (local, step.instruction, if reads { read } else { 0 });
        if let Some(outcome) = self.outcomes.get(&key) {
            return Ok(Some(*outcome));
        }
        let Local { thread, registers, holding, .. } = self.table.get(local).clone();
        if self.is_held_up((thread, step.instruction), &registers, read)? {
            return Ok(None);
        }
        let (mut after, stored) = self.execute(thread, step.instruction, registers, read)?;
        if let Some(turn) = self.turn_that_ends(thread, step.instruction) {
            after[turn.index()] = 0;
        }
        let instruction = self.program.thread(thread).instruction(step.instruction);
        let holding = match instruction.action {
            Action::Lock => true,
            Action::Unlock => false,
            _ => holding,
        };
        let stored_value = match step.operation {
            Operation::Store(address, value) => Some((address, value)),
            Operation::Update(address) => stored.map(|value| (address, value)),
            _ => None,
        };
        if let Some((address, value)) = stored_value
            && !self.admit_stored(thread, step.instruction, address, value)?
        {
            return Ok(None);
        }
        let Some(targets) = self.settle(thread, step.instruction, instruction.target, after, holding)? else {
            return Ok(None);
        };
        let outcome = Executed { stored, targets };
        self.outcomes.insert(key, outcome);
        Ok(Some(outcome))
    }

    /// The registers after a non-local instruction that, if it reads memory, reads `read`, and what
    /// it stores when it updates memory.
    pub fn execute(
        &self,
        thread: ThreadId,
        id: InstructionId,
        registers: Box<[Value]>,
        read: Value,
    ) -> Result<(Box<[Value]>, Option<Value>), Fault> {
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        let domain = self.domain();
        let mut after = registers;
        let mut stored = None;
        match &self.program.thread(thread).instruction(id).action {
            Action::Load { register, .. } => after[register.index()] = read,
            Action::Store { .. } => {}
            Action::Cas { register, expected, new, .. } => {
                if expected.evaluate(&after, domain).map_err(fault)? == read {
                    stored = Some(new.evaluate(&after, domain).map_err(fault)?);
                }
                if let Some(register) = register {
                    after[register.index()] = read;
                }
            }
            Action::Rmw { register, new, .. } => {
                stored = Some(new.evaluate_with_old(&after, read, domain).map_err(fault)?);
                if let Some(register) = register {
                    after[register.index()] = read;
                }
            }
            _ => {}
        }
        Ok((after, stored))
    }

    /// The initial local states of a thread.
    pub(crate) fn initial(&mut self, thread: ThreadId) -> Result<Vec<Option<u32>>, Fault> {
        let targets = self.initial_targets(thread)?;
        Ok(targets.map_or_else(Vec::new, |targets| self.targets(targets).to_vec()))
    }

    /// Where a thread settles at first; nothing where that is cut.
    pub(crate) fn initial_targets(&mut self, thread: ThreadId) -> Result<Option<Targets>, Fault> {
        self.initial_with(thread, &[])
    }

    /// Where a task settles at first whose parameters have these values; nothing where that is cut.
    pub(crate) fn initial_with(&mut self, thread: ThreadId, arguments: &[Value]) -> Result<Option<Targets>, Fault> {
        let template = self.program.thread(thread);
        let mut registers = template.initial_registers().into_boxed_slice();
        registers[..arguments.len()].copy_from_slice(arguments);
        // A thread without instructions settles nowhere.
        let instruction = InstructionId::from_index(0);
        self.settle(thread, instruction, template.initial, registers, false)
    }

    /// The local states at which memory is next touched. `cause` is the instruction blamed for
    /// growth at the first label.
    fn settle(
        &mut self,
        thread: ThreadId,
        cause: InstructionId,
        label: LabelId,
        registers: Box<[Value]>,
        holding: bool,
    ) -> Result<Option<Targets>, Fault> {
        let start = self.target_arena.len();
        let mut violated: Vec<u32> = Vec::new();
        let mut found: Vec<Option<u32>> = Vec::new();
        let mut seen = Points::of(registers.len());
        let mut open = vec![(cause, label, LocalSuccessors::one(registers))];
        let (mut passes, mut steps) = (self.program.thread(thread).labels.len(), 0);
        while let Some((cause, label, mut afters)) = open.pop() {
            let Some(mut registers) = afters.next_back() else { continue };
            if !afters.is_empty() {
                open.push((cause, label, afters));
            }
            self.count_step(thread, cause, &mut steps)?;
            let label = self.past_nops(thread, label, &mut passes);
            self.liveness[thread.index()].forget_dead(label, &mut registers);
            if !self.admit_registers(thread, cause, label, &registers)? {
                continue;
            }
            self.admit_growth(thread, cause, seen.growth())?;
            if !seen.intern(label, &registers).1 {
                continue;
            }
            self.reached.insert(thread, label);
            let mut touches_memory = false;
            let mut goes_on = false;
            for id in self.by_label[thread.index()][label.index()].iter().copied() {
                let instruction = self.program.thread(thread).instruction(id);
                if !self.is_local(&instruction.action) {
                    touches_memory = true;
                    continue;
                }
                violated.extend(self.violates(thread, id, &registers)?);
                let afters = self.local_successors(thread, id, &registers)?;
                if !afters.is_empty() {
                    goes_on = true;
                    open.push((id, instruction.target, afters));
                }
            }
            let has_ended = self.keeps_ends && self.by_label[thread.index()][label.index()].is_empty();
            if touches_memory || has_ended {
                let local = Local { thread, label, registers, holding };
                found.push(Some(self.table.intern(local).0));
            } else if !goes_on {
                found.push(self.stopped(thread, holding));
            }
        }
        if found.is_empty() {
            // Every path was cut, or it circles among local instructions for ever: then the thread
            // has stopped for others.
            if self.was_cut {
                return Ok(None);
            }
            found.push(self.stopped(thread, holding));
        }
        found.sort_unstable();
        found.dedup();
        // A thread that goes on can do whatever one that stopped can.
        if found.iter().any(Option::is_some) {
            found.retain(Option::is_some);
        }
        self.target_arena.extend_from_slice(&found);
        violated.sort_unstable();
        violated.dedup();
        let violated_start = self.violated_arena.len();
        self.violated_arena.extend_from_slice(&violated);
        let violated = (number(violated_start), number(self.violated_arena.len()));
        Ok(Some(Targets { start: number(start), end: number(self.target_arena.len()), violated }))
    }

    /// Where a thread comes to that passes at most so many labels at which nothing but a `nop`
    /// stands. The same registers are live there.
    fn past_nops(&mut self, thread: ThreadId, mut label: LabelId, passes: &mut usize) -> LabelId {
        while *passes > 0
            && let [only] = self.by_label[thread.index()][label.index()]
            && let Instruction { action: Action::Nop, target, .. } = self.program.thread(thread).instruction(only)
        {
            self.reached.insert(thread, label);
            *passes -= 1;
            label = *target;
        }
        label
    }

    /// The local state of a thread that has stopped, where it is kept.
    fn stopped(&mut self, thread: ThreadId, holding: bool) -> Option<u32> {
        self.keeps_stopped.then(|| {
            let registers = vec![0; self.program.thread(thread).registers.len()].into_boxed_slice();
            self.table.intern(Local { thread, label: Local::stopped_label(), registers, holding }).0
        })
    }

    /// The register valuations after a local instruction; none when it blocks.
    pub fn local_successors(
        &self,
        thread: ThreadId,
        id: InstructionId,
        registers: &[Value],
    ) -> Result<LocalSuccessors, Fault> {
        let fault = |kind| Fault { thread, instruction: id, kind };
        let evaluation = |error| fault(FaultKind::Evaluation(error));
        let with = |register: RegisterId, value| {
            let mut after: Box<[Value]> = registers.into();
            after[register.index()] = value;
            after
        };
        Ok(match &self.program.thread(thread).instruction(id).action {
            Action::Assign { register, value } => {
                LocalSuccessors::one(with(*register, value.evaluate(registers, self.domain()).map_err(evaluation)?))
            }
            Action::Havoc { register } => {
                let domain = self.domain().ok_or_else(|| fault(FaultKind::HavocWithoutDomain))?;
                LocalSuccessors {
                    before: registers.into(),
                    register: Some(*register),
                    values: domain.low..=domain.high,
                }
            }
            Action::Assume(condition) => {
                if condition.holds(registers, self.domain()).map_err(evaluation)? {
                    LocalSuccessors::one(registers.into())
                } else {
                    LocalSuccessors::none()
                }
            }
            Action::Nop | Action::StoreFence | Action::Ensure(_) => LocalSuccessors::one(registers.into()),
            Action::Fail => LocalSuccessors::none(),
            _ => unreachable!("only local instructions settle"),
        })
    }
}

pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("tables stay below 2^32 entries")
}
