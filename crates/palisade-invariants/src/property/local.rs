//! Threads of the sliced program as the checker sees them: what is live, where they settle, which
//! targets they meet on the way.

use super::lag::Lag;
use super::ranges::Range;
use super::{Buffering, Goal, Known};
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::{Live, checked_liveness};
use crate::program::Shifts;
use crate::tokens::{MOST_CHOICES, Numbering, strictly_ascending};
use hashbrown::{HashMap, HashSet};
use palisade_evidence::{BufferEntry, BufferInvariant, BufferedLocal};
use palisade_model::ordered;
use palisade_model::program::{
    Action, ByLabel, EvaluationError, Instruction, InstructionId, LabelId, Program, Thread, ThreadId, Value,
};
use palisade_semantics::{Observable, Target};
use std::collections::{BTreeMap, BTreeSet};

/// The values of addresses that do not hold their initial value.
pub(super) type Memory = BTreeMap<Value, Value>;

/// Where a thread stands, with the values of its registers.
pub(super) type Place = (LabelId, Vec<Value>);

/// The sliced program with the evidence's live registers, and the states met so far by number.
pub(super) struct Threads<'a> {
    pub(super) program: &'a Program,
    pub(super) buffering: Buffering,
    goal: &'a Goal<'a>,
    /// For each thread, label and register: whether it is live there.
    live: Live,
    /// For each thread and label, the instructions there.
    by_label: Vec<ByLabel>,
    /// For each thread and instruction, whether it is a store whose delay nobody can see.
    pub(super) dead_delays: Vec<Vec<bool>>,
    /// Addresses at which silent stores are left out.
    pub(super) silent: BTreeSet<Value>,
    /// Addresses that the slice may write, so that the sliced program must not read them.
    pub(super) written_by_slice: Range,
    /// What loads lag behind for, where they do.
    pub(super) lag: Lag,
    /// The shifts of counters up to which sets are closed, where they are.
    pub(super) shifts: Option<Shifts>,
    pub(super) locals: Numbering<BufferedLocal>,
    pub(super) memories: Numbering<Memory>,
    /// The numbers of the evidence's local states, by their position in its table.
    pub(super) local_numbers: Vec<u32>,
    /// The numbers of the evidence's memories, by their position in its table.
    pub(super) memory_numbers: Vec<u32>,
    /// Where threads settle from places met before.
    settled: HashMap<(ThreadId, Place), Vec<Place>>,
}

impl<'a> Threads<'a> {
    /// Checks the evidence's live registers and tables.
    pub(super) fn new(
        program: &'a Program,
        buffering: Buffering,
        goal: &'a Goal<'a>,
        invariant: &BufferInvariant,
        (dead_delays, silent): (Vec<Vec<bool>>, BTreeSet<Value>),
        known: Known<'_>,
    ) -> Result<Self, CheckFailure> {
        let mut threads = Self {
            program,
            buffering,
            goal,
            live: checked_liveness(program, &invariant.live)?,
            by_label: program.threads.iter().map(Thread::instructions_by_label).collect(),
            dead_delays,
            silent,
            written_by_slice: Range::default(),
            lag: Lag::default(),
            shifts: None,
            locals: Numbering::new(),
            memories: Numbering::new(),
            local_numbers: Vec::with_capacity(invariant.locals.len()),
            memory_numbers: Vec::with_capacity(invariant.memories.len()),
            settled: HashMap::new(),
        };
        threads.check_observed()?;
        if buffering == Buffering::Lagging {
            threads.lag = Lag::of(program, &threads.live, known.bounds);
        }
        for memory in &invariant.memories {
            let mut memory = strictly_ascending(memory, "memory")?;
            memory.retain(|address, value| *value != program.initial_value(*address));
            let number = threads.memories.number(memory);
            threads.memory_numbers.push(number);
        }
        for local in &invariant.locals {
            let local = threads.with_own_numbers(local.clone())?;
            threads.check_local(&local)?;
            let number = threads.locals.number(local);
            threads.local_numbers.push(number);
        }
        Ok(threads)
    }

    /// Checks that registers in the question are live where threads end.
    fn check_observed(&self) -> Result<(), CheckFailure> {
        for observable in &self.goal.observed {
            let Observable::Register { thread, register } = observable else { continue };
            for (label, instructions) in self.by_label[thread.index()].iter().enumerate() {
                if instructions.is_empty() && !self.live[thread.index()][label][register.index()] {
                    let name = &self.program.thread(*thread).name;
                    reject!(Form, "register {register} of thread `{name}` is asked for and not live at label {label}");
                }
            }
        }
        Ok(())
    }

    /// Checks that a state is one of its thread, in the form of the model.
    fn check_local(&mut self, local: &BufferedLocal) -> Result<(), CheckFailure> {
        let Some(thread) = self.program.threads.get(local.thread.index()) else {
            reject!(Form, "there is no thread {}", local.thread);
        };
        let name = &thread.name;
        if local.registers.len() != thread.registers.len() {
            let (given, own) = (local.registers.len(), thread.registers.len());
            reject!(Form, "thread `{name}` has {own} registers, not {given}");
        }
        let nothing_live = vec![false; thread.registers.len()];
        let live = match local.label {
            None => &nothing_live,
            Some(label) => match self.live[local.thread.index()].get(label.index()) {
                None => reject!(Form, "thread `{name}` has no label {label}"),
                Some(live) => live,
            },
        };
        if local.registers.iter().zip(live).any(|(value, live)| !live && *value != 0) {
            reject!(Form, "a state of thread `{name}` gives a dead register a value");
        }
        if local.label.is_none() && (local.buffer.is_empty() || self.buffering == Buffering::Noted) {
            reject!(Form, "a state of thread `{name}` without a label has nothing in its buffer");
        }
        let form = self.buffering.in_form(local.buffer.clone());
        if form.as_ref() != Some(&local.buffer) {
            reject!(Form, "a state of thread `{name}` has a buffer that is not in the form of the model");
        }
        if self.buffering == Buffering::Lagging && !local.buffer.is_empty() && !self.is_queue_in_form(local) {
            reject!(Form, "a state of thread `{name}` has a queue that is not in its form");
        }
        Ok(())
    }

    /// From here on configurations count up to shifts of counters, with which violations of targets
    /// commute as well; whether there are any.
    pub(super) fn count(&mut self) -> bool {
        let mut seen = self.program.clone();
        for target in self.goal.targets {
            let Target::Instruction { thread, instruction } = *target else { continue };
            let action = &mut seen.threads[thread.index()].instructions[instruction.index()].action;
            if let Action::Ensure(condition) = action {
                *action = Action::Assume(condition.clone());
            }
        }
        self.shifts = Shifts::of(&seen, &self.live);
        self.shifts.is_some()
    }

    /// The instructions at a label.
    pub(super) fn instructions_at(&self, thread: ThreadId, label: LabelId) -> &[InstructionId] {
        &self.by_label[thread.index()][label.index()]
    }

    /// An instruction of a thread.
    pub(super) fn instruction(&self, thread: ThreadId, instruction: InstructionId) -> &'a Instruction {
        self.program.thread(thread).instruction(instruction)
    }

    /// A value computed by an instruction; a program that has none is in error, and no evidence
    /// about it is accepted.
    pub(super) fn value<T>(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
        value: Result<T, EvaluationError>,
    ) -> Result<T, CheckFailure> {
        match value {
            Ok(value) => Ok(value),
            Err(error) => reject!(Form, "{}: {error}", self.instruction_in_words(thread, instruction)),
        }
    }

    /// The states, by number, in which a thread executes its next instruction that is not local, or
    /// ends; a state without a label when there is none, for as long as its buffer is not empty.
    /// Rejects when it meets a target on the way.
    pub(super) fn settle(&mut self, start: BufferedLocal) -> Result<Vec<u32>, CheckFailure> {
        let BufferedLocal { thread, label, registers, holding, buffer } = start;
        let Some(label) = label else {
            let stopped = BufferedLocal { thread, label, registers, holding, buffer };
            let is_gone = stopped.buffer.is_empty() || self.buffering == Buffering::Noted;
            return Ok(if is_gone { Vec::new() } else { vec![self.locals.number(stopped)] });
        };
        let places = self.places(thread, label, registers)?;
        let mut settled = Vec::with_capacity(places.len());
        for (label, registers) in places {
            let local = BufferedLocal { thread, label: Some(label), registers, holding, buffer: buffer.clone() };
            settled.push(self.locals.number(local));
        }
        if settled.is_empty() && !buffer.is_empty() && self.buffering != Buffering::Noted {
            let registers = vec![0; self.program.thread(thread).registers.len()];
            settled.push(self.locals.number(BufferedLocal { thread, label: None, registers, holding, buffer }));
        }
        Ok(settled)
    }

    /// The places where a thread settles.
    pub(super) fn places(
        &mut self,
        thread: ThreadId,
        label: LabelId,
        registers: Vec<Value>,
    ) -> Result<Vec<Place>, CheckFailure> {
        let start = (label, self.only_live(thread, label, registers));
        let key = (thread, start);
        if let Some(settled) = self.settled.get(&key) {
            return Ok(settled.clone());
        }
        let mut seen: HashSet<_> = HashSet::from([key.1.clone()]);
        let mut waiting = vec![key.1.clone()];
        let mut settled = Vec::new();
        while let Some((label, registers)) = waiting.pop() {
            for id in self.instructions_at(thread, label) {
                let target = self.instruction(thread, *id).target;
                for after in self.after_local_instruction(thread, *id, &registers)? {
                    let next = (target, self.only_live(thread, target, after));
                    if seen.insert(next.clone()) {
                        waiting.push(next);
                    }
                }
            }
            if seen.len() > MOST_CHOICES {
                reject!(Form, "thread `{}` has too many states between two accesses", self.program.thread(thread).name);
            }
            if self.is_settled_at(thread, label) {
                settled.push((label, registers));
            }
        }
        self.settled.insert(key, settled.clone());
        Ok(settled)
    }

    /// Whether threads settle at a label: some instruction there is not local, or, where the
    /// question is about final states, none stands there.
    fn is_settled_at(&self, thread: ThreadId, label: LabelId) -> bool {
        let instructions = self.instructions_at(thread, label);
        let is_end = instructions.is_empty() && self.goal.question.is_some();
        is_end || instructions.iter().any(|id| !self.buffering.is_local(&self.instruction(thread, *id).action))
    }

    /// `registers` with 0 for those that are dead at `label`.
    fn only_live(&self, thread: ThreadId, label: LabelId, mut registers: Vec<Value>) -> Vec<Value> {
        for (value, live) in registers.iter_mut().zip(&self.live[thread.index()][label.index()]) {
            if !live {
                *value = 0;
            }
        }
        registers
    }

    /// The values of the registers after a local instruction: none when it blocks, several when it
    /// chooses. Rejects when it meets a target.
    fn after_local_instruction(
        &self,
        thread: ThreadId,
        id: InstructionId,
        registers: &[Value],
    ) -> Result<Vec<Vec<Value>>, CheckFailure> {
        let domain = self.program.domain;
        let set = |register: usize, value: Value| {
            let mut registers = registers.to_vec();
            registers[register] = value;
            registers
        };
        let is_target = self.goal.targets.contains(&Target::Instruction { thread, instruction: id });
        Ok(match &self.instruction(thread, id).action {
            Action::Assign { register, value } => {
                let value = self.value(thread, id, value.evaluate(registers, domain))?;
                vec![set(register.index(), value)]
            }
            Action::Havoc { register } => match domain {
                Some(domain) if domain.size() <= MOST_CHOICES as u128 => {
                    domain.values().map(|value| set(register.index(), value)).collect()
                }
                _ => reject!(Form, "{} chooses among too many values", self.instruction_in_words(thread, id)),
            },
            Action::Assume(condition) => {
                let holds = self.value(thread, id, condition.holds(registers, domain))?;
                if holds { vec![registers.to_vec()] } else { Vec::new() }
            }
            Action::Nop => vec![registers.to_vec()],
            Action::StoreFence if self.buffering.is_local(&Action::StoreFence) => vec![registers.to_vec()],
            Action::Ensure(condition) => {
                let holds = self.value(thread, id, condition.holds(registers, domain))?;
                if is_target && !holds {
                    reject!(Safe, "{} is reached and violated", self.instruction_in_words(thread, id));
                }
                vec![registers.to_vec()]
            }
            Action::Fail if is_target => {
                reject!(Safe, "{} is reached", self.instruction_in_words(thread, id));
            }
            _ => Vec::new(),
        })
    }

    /// The states, by number, in which a thread starts.
    pub(super) fn initial_states(&mut self, id: ThreadId) -> Result<Vec<u32>, CheckFailure> {
        let thread = self.program.thread(id);
        self.settle(BufferedLocal {
            thread: id,
            label: Some(thread.initial),
            registers: thread.initial_registers(),
            holding: false,
            buffer: Vec::new(),
        })
    }
}

impl Buffering {
    /// A buffer in the form of the model; nothing when it holds what it cannot hold there.
    pub(crate) fn in_form(self, mut buffer: Vec<BufferEntry>) -> Option<Vec<BufferEntry>> {
        match self {
            Self::Nothing => buffer.is_empty().then_some(buffer),
            Self::Noted => {
                matches!(buffer.as_slice(), [] | [BufferEntry::Store(_, 0) | BufferEntry::Mark]).then_some(buffer)
            }
            Self::Fifo => buffer.iter().all(|entry| matches!(entry, BufferEntry::Store(..))).then_some(buffer),
            Self::Lagging => (!buffer.contains(&BufferEntry::Mark)).then_some(buffer),
            Self::PerAddress => {
                if buffer.iter().any(|entry| matches!(entry, BufferEntry::Snapshot(_))) {
                    return None;
                }
                buffer.dedup_by(|one, other| *one == BufferEntry::Mark && *other == BufferEntry::Mark);
                if buffer.first() == Some(&BufferEntry::Mark) {
                    buffer.remove(0);
                }
                for segment in buffer.split_mut(|entry| *entry == BufferEntry::Mark) {
                    // Stable: stores to one address keep their order.
                    ordered::sort_by_key(segment, |entry| match entry {
                        BufferEntry::Store(address, _) => Some(*address),
                        BufferEntry::Mark | BufferEntry::Snapshot(_) => None,
                    });
                }
                Some(buffer)
            }
        }
    }
}
