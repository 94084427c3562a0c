//! What one copy of a thread does in a memory, as the checker sees it.

use super::counters::moves_by;
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::{Live, checked_liveness};
use crate::property::{Buffering, dead_delays};
use crate::tokens::{MOST_CHOICES, Numbering};
use hashbrown::HashMap;
use palisade_evidence::{BufferEntry, BufferedLocal, WaitingLocal, WaitingSet};
use palisade_model::program::{
    Action, ByLabel, Copies, EvaluationError, Expression, InstructionId, LabelId, Program, Queue, Thread, ThreadId,
    Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The values of addresses that do not hold their initial value.
pub(super) type Memory = BTreeMap<Value, Value>;

/// What all copies share: the number of the memory, and whether some copy holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Control {
    pub(super) memory: u32,
    pub(super) locked: bool,
}

/// A configuration: what copies share, and how many are in which state, ascending. Of a replicated
/// thread one more than is counted stands for all larger numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    pub(super) control: Control,
    pub(super) tokens: Vec<(u32, u64)>,
}

/// Where a copy can go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The number of its state then; nothing when it has ended and nothing waits in its buffer.
    pub(super) to: Option<u32>,
    pub(super) control: Control,
    /// Whether it does something there: all but local instructions, reads, fences, the lock,
    /// updates that leave memory as it is, and waking others.
    pub(super) does_something: bool,
    /// The address whose sleepers it wakes, and whether it wakes all of them.
    pub(super) wakes: Option<(Value, bool)>,
    /// The counter that it moves, and by how much.
    pub(super) counts: Option<(Value, Value)>,
}

/// All that a copy can do.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) all: Vec<Way>,
    /// Whether an `assume` may stop it, after which there is no run.
    pub(super) may_be_stopped: bool,
}

/// Where a copy stands, with the values of its registers.
type Point = (LabelId, Vec<Value>);

/// A program with the evidence's live registers, and the states met so far by number.
pub(super) struct Threads<'a> {
    pub(super) program: &'a Program,
    pub(super) buffering: Buffering,
    live: Live,
    by_label: Vec<ByLabel>,
    dead_delays: Vec<Vec<bool>>,
    pub(super) states: Numbering<WaitingLocal>,
    pub(super) memories: Numbering<Memory>,
    ways: HashMap<(Control, u32), Rc<Ways>>,
    /// Addresses whose values are told apart up to a number.
    counters: Vec<Value>,
    most: u64,
}

impl<'a> Threads<'a> {
    /// Checks the evidence's live registers.
    pub(super) fn new(program: &'a Program, buffering: Buffering, set: &WaitingSet) -> Result<Self, CheckFailure> {
        Ok(Self {
            program,
            buffering,
            live: checked_liveness(program, &set.live)?,
            by_label: program.threads.iter().map(Thread::instructions_by_label).collect(),
            dead_delays: dead_delays(program, buffering),
            states: Numbering::new(),
            memories: Numbering::new(),
            ways: HashMap::new(),
            counters: set.counters.clone(),
            most: set.most,
        })
    }

    /// Checks that a state is one of its thread, in the form of the model; its number.
    pub(super) fn admit(&mut self, state: &WaitingLocal) -> Result<u32, CheckFailure> {
        let local = &state.local;
        let Some(thread) = self.program.threads.get(local.thread.index()) else {
            reject!(Form, "there is no thread {}", local.thread);
        };
        let name = &thread.name;
        if local.registers.len() != thread.registers.len() {
            reject!(Form, "thread `{name}` has {} registers", thread.registers.len());
        }
        let form = self.buffering.in_form(local.buffer.clone());
        if form.as_ref() != Some(&local.buffer) {
            reject!(Form, "a state of thread `{name}` has a buffer that is not in the form of the model");
        }
        match local.label {
            None if local.buffer.is_empty() || local.registers.iter().any(|value| *value != 0) => {
                reject!(Form, "a copy of thread `{name}` that has ended is listed")
            }
            None => {}
            Some(label) if label.index() >= thread.labels.len() => {
                reject!(Form, "thread `{name}` has no label {label}")
            }
            Some(label) => {
                if self.only_live(local.thread, label, local.registers.clone()) != local.registers {
                    reject!(Form, "a state of thread `{name}` gives a dead register a value");
                }
            }
        }
        if let Some(by) = state.asleep {
            let sleeps = thread.instructions.get(by.index()).filter(|own| own.sleeps().is_some());
            if sleeps.is_none_or(|own| local.label != Some(own.source)) || !local.buffer.is_empty() {
                reject!(Form, "a copy of thread `{name}` sleeps where nothing puts it to sleep");
            }
        }
        Ok(self.states.number(state.clone()))
    }

    /// Where a copy of a thread begins; nothing for one that ends at once.
    pub(super) fn beginnings(&mut self, id: ThreadId) -> Result<Vec<Option<u32>>, CheckFailure> {
        let thread = self.program.thread(id);
        let start = BufferedLocal {
            thread: id,
            label: Some(thread.initial),
            registers: thread.initial_registers(),
            holding: false,
            buffer: Vec::new(),
        };
        Ok(self.settle(start)?.0)
    }

    fn only_live(&self, thread: ThreadId, label: LabelId, mut registers: Vec<Value>) -> Vec<Value> {
        for (value, live) in registers.iter_mut().zip(&self.live[thread.index()][label.index()]) {
            if !live {
                *value = 0;
            }
        }
        registers
    }

    fn value<T>(
        &self,
        thread: ThreadId,
        id: InstructionId,
        value: Result<T, EvaluationError>,
    ) -> Result<T, CheckFailure> {
        match value {
            Ok(value) => Ok(value),
            Err(error) => {
                reject!(Form, "thread `{}`, instruction {id}: {error}", self.program.thread(thread).name)
            }
        }
    }

    /// The number of a state; nothing where nothing is left of it.
    fn numbered(&mut self, local: BufferedLocal) -> Option<u32> {
        let is_gone = local.label.is_none() && local.buffer.is_empty();
        (!is_gone).then(|| self.states.number(WaitingLocal { local, asleep: None }))
    }

    /// The states that a copy comes to by local instructions: with one that is not at its label, at
    /// its end, or going round among local ones without a way out, for which the least such point
    /// stands. And whether an `assume` may stop it.
    fn settle(&mut self, start: BufferedLocal) -> Result<(Vec<Option<u32>>, bool), CheckFailure> {
        let BufferedLocal { thread, label, registers, holding, buffer } = start;
        let state = |label, registers| BufferedLocal { thread, label, registers, holding, buffer: buffer.clone() };
        let nothing = vec![0; registers.len()];
        let Some(label) = label else { return Ok((vec![self.numbered(state(None, nothing))], false)) };
        let first = (label, self.only_live(thread, label, registers));
        let mut after: BTreeMap<Point, Vec<Point>> = BTreeMap::new();
        let mut leaves: BTreeSet<Point> = BTreeSet::new();
        let (mut found, mut may_be_stopped) = (BTreeSet::new(), false);
        let mut open = vec![first];
        while let Some(point) = open.pop() {
            if after.contains_key(&point) {
                continue;
            }
            let mut next = Vec::new();
            let (mut stays, mut ends) = (false, self.by_label[thread.index()][point.0.index()].is_empty());
            for id in self.by_label[thread.index()][point.0.index()].to_vec() {
                let instruction = self.program.thread(thread).instruction(id);
                match &instruction.action {
                    Action::Fail => ends = true,
                    action if !self.buffering.is_local(action) => stays = true,
                    _ => {
                        for registers in self.locally(thread, id, &point.1)? {
                            next.push((instruction.target, self.only_live(thread, instruction.target, registers)));
                        }
                    }
                }
            }
            if ends {
                found.insert(None);
            }
            if stays {
                found.insert(Some(point.clone()));
            }
            let is_stopped = !ends && !stays && next.is_empty();
            may_be_stopped |= is_stopped;
            if ends || stays || is_stopped {
                leaves.insert(point.clone());
            }
            open.extend(next.iter().cloned());
            after.insert(point, next);
            if after.len() > MOST_CHOICES {
                reject!(Form, "thread `{}` has too many states between two accesses", self.program.thread(thread).name);
            }
        }
        // A point leaves if one behind it does.
        while let Some(point) = after.iter().find_map(|(point, next)| {
            (!leaves.contains(point) && next.iter().any(|next| leaves.contains(next))).then(|| point.clone())
        }) {
            leaves.insert(point);
        }
        if let Some(round) = after.into_keys().find(|point| !leaves.contains(point)) {
            found.insert(Some(round));
        }
        let number = |point: Option<Point>| match point {
            None => self.numbered(state(None, nothing.clone())),
            Some((label, registers)) => self.numbered(state(Some(label), registers)),
        };
        Ok((found.into_iter().map(number).collect(), may_be_stopped))
    }

    /// The registers after a local instruction: none where it blocks, several where it chooses.
    fn locally(
        &self,
        thread: ThreadId,
        id: InstructionId,
        registers: &[Value],
    ) -> Result<Vec<Vec<Value>>, CheckFailure> {
        let domain = self.program.domain;
        let with = |register: usize, value: Value| {
            let mut registers = registers.to_vec();
            registers[register] = value;
            registers
        };
        Ok(match &self.program.thread(thread).instruction(id).action {
            Action::Assign { register, value } => {
                vec![with(register.index(), self.value(thread, id, value.evaluate(registers, domain))?)]
            }
            Action::Havoc { register } => match domain {
                Some(domain) if domain.size() <= MOST_CHOICES as u128 => {
                    domain.values().map(|value| with(register.index(), value)).collect()
                }
                _ => reject!(Form, "instruction {id} of thread {thread} chooses among too many values"),
            },
            Action::Assume(condition) if !self.value(thread, id, condition.holds(registers, domain))? => Vec::new(),
            Action::Assume(_) | Action::Nop | Action::StoreFence | Action::Ensure(_) => vec![registers.to_vec()],
            other => reject!(Form, "instruction {id} of thread {thread} is not known here: {other:?}"),
        })
    }

    /// All that a copy can do next.
    pub(super) fn ways(&mut self, control: Control, number: u32) -> Result<Rc<Ways>, CheckFailure> {
        if let Some(ways) = self.ways.get(&(control, number)) {
            return Ok(ways.clone());
        }
        let WaitingLocal { local, asleep } = self.states.get(number).clone();
        let mut ways = Ways::default();
        // While a copy holds the lock, only that copy goes on.
        if control.locked && !local.holding {
        } else if let Some(by) = asleep {
            // A sleeper may go on for no reason.
            for to in self.woken(number, by)? {
                ways.all.push(Way { to, control, does_something: true, wakes: None, counts: None });
            }
        } else {
            self.drains(control, &local, &mut ways);
            if let Some(label) = local.label {
                for id in self.by_label[local.thread.index()][label.index()].to_vec() {
                    self.executes(control, &local, id, &mut ways)?;
                }
            }
        }
        let ways = Rc::new(ways);
        self.ways.insert((control, number), ways.clone());
        Ok(ways)
    }

    /// The stores that may reach memory: the oldest, or under PSO the oldest to each address before
    /// the first mark.
    fn drains(&mut self, control: Control, local: &BufferedLocal, ways: &mut Ways) {
        let mut seen = BTreeSet::new();
        for (position, entry) in local.buffer.iter().enumerate() {
            let BufferEntry::Store(address, value) = *entry else { break };
            let is_next = if self.buffering == Buffering::PerAddress { seen.insert(address) } else { position == 0 };
            if is_next {
                let mut buffer = local.buffer.clone();
                buffer.remove(position);
                let buffer = self.buffering.in_form(buffer).expect("fewer stores keep the form");
                let control = self.written(control, address, value);
                let to = self.numbered(BufferedLocal { buffer, ..local.clone() });
                ways.all.push(Way { to, control, does_something: true, wakes: None, counts: None });
            }
        }
    }

    /// Whether a store that finds the buffer empty reaches memory at once.
    pub(super) fn is_dead_delay(&self, thread: ThreadId, instruction: usize) -> bool {
        self.dead_delays[thread.index()][instruction]
    }

    /// Where a copy goes on that sleeps by an instruction.
    pub(super) fn woken(&mut self, number: u32, by: InstructionId) -> Result<Vec<Option<u32>>, CheckFailure> {
        let local = self.states.get(number).local.clone();
        let target = self.program.thread(local.thread).instruction(by).target;
        // An `assume` that stops it makes that no run, which leaves fewer ways.
        Ok(self.settle(BufferedLocal { label: Some(target), ..local })?.0)
    }

    /// Whether an `assume` may stop a copy that slept by an instruction.
    pub(super) fn is_stopped_when_woken(&mut self, number: u32, by: InstructionId) -> Result<bool, CheckFailure> {
        let local = self.states.get(number).local.clone();
        let target = self.program.thread(local.thread).instruction(by).target;
        Ok(self.settle(BufferedLocal { label: Some(target), ..local })?.1)
    }

    /// Whether some thread has any number of copies.
    pub(super) fn has_replicated(&self) -> bool {
        self.program.threads.iter().any(|thread| thread.copies == Copies::Any)
    }

    /// The address at which a copy sleeps.
    pub(super) fn slept_at(&self, number: u32) -> Result<Option<Value>, CheckFailure> {
        let WaitingLocal { local, asleep } = self.states.get(number);
        let Some(by) = *asleep else { return Ok(None) };
        let instruction = self.program.thread(local.thread).instruction(by);
        let Some(address) = instruction.sleeps() else { return Ok(None) };
        self.value(local.thread, by, address.evaluate_address(&local.registers)).map(Some)
    }

    fn written(&mut self, control: Control, address: Value, value: Value) -> Control {
        let mut memory = self.memories.get(control.memory).clone();
        memory.insert(address, value);
        if value == self.program.initial_value(address) {
            memory.remove(&address);
        }
        Control { memory: self.memories.number(memory), ..control }
    }

    /// Whether copies in a state are those of a replicated thread.
    pub(super) fn is_replicated(&self, state: u32) -> bool {
        self.program.thread(self.states.get(state).local.thread).copies == Copies::Any
    }

    pub(super) fn in_memory(&self, control: Control, address: Value) -> Value {
        let memory = self.memories.get(control.memory);
        memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }

    /// What an instruction does, if it can be executed.
    fn executes(
        &mut self,
        mut control: Control,
        local: &BufferedLocal,
        id: InstructionId,
        ways: &mut Ways,
    ) -> Result<(), CheckFailure> {
        let (thread, domain, registers) = (local.thread, self.program.domain, &local.registers);
        let instruction = self.program.thread(thread).instruction(id);
        let action = &instruction.action;
        if action.drains_buffer() && !local.buffer.is_empty() {
            return Ok(());
        }
        let mut after = BufferedLocal { label: Some(instruction.target), ..local.clone() };
        let (mut does_something, mut falls_asleep) = (false, false);
        let address = match action.address() {
            Some(address) => self.value(thread, id, address.evaluate_address(registers))?,
            None => 0,
        };
        match action {
            Action::Fail => {
                after.label = None;
                does_something = true;
            }
            action if self.buffering.is_local(action) => {
                for registers in self.locally(thread, id, registers)? {
                    self.arrive(control, BufferedLocal { registers, ..after.clone() }, (false, None), ways)?;
                }
                return Ok(());
            }
            Action::Load { register, .. } => {
                let own = local.buffer.iter().rev().find_map(|entry| match entry {
                    BufferEntry::Store(of, value) if *of == address => Some(*value),
                    _ => None,
                });
                let read = own.unwrap_or_else(|| self.in_memory(control, address));
                if self.is_held_up(local, id, read)? {
                    return Ok(());
                }
                after.registers[register.index()] = read;
            }
            Action::Store { value, .. } => {
                let value = self.value(thread, id, value.evaluate(registers, domain))?;
                does_something = true;
                let is_dead = self.dead_delays[thread.index()][id.index()] && local.buffer.is_empty();
                if self.buffering == Buffering::Nothing || is_dead {
                    control = self.written(control, address, value);
                } else {
                    after.buffer.push(BufferEntry::Store(address, value));
                    after.buffer = self.buffering.in_form(after.buffer).expect("stores are of the form");
                }
            }
            Action::Cas { register, expected, new, .. } => {
                let old = self.in_memory(control, address);
                if self.is_held_up(local, id, old)? {
                    return Ok(());
                }
                if old == self.value(thread, id, expected.evaluate(registers, domain))? {
                    let new = self.value(thread, id, new.evaluate(registers, domain))?;
                    does_something = new != old;
                    falls_asleep = instruction.sleeps().is_some();
                    control = self.written(control, address, new);
                }
                if let Some(register) = register {
                    after.registers[register.index()] = old;
                }
            }
            Action::Rmw { register, new, .. } => {
                let old = self.in_memory(control, address);
                if self.is_held_up(local, id, old)? {
                    return Ok(());
                }
                if self.counters.contains(&address) {
                    if let Some(register) = register {
                        after.registers[register.index()] = old;
                    }
                    return self.counts(control, after, (address, old, new), ways);
                }
                falls_asleep = instruction.sleeps().is_some();
                let new = self.value(thread, id, new.evaluate_with_old(registers, old, domain))?;
                does_something = new != old;
                control = self.written(control, address, new);
                if let Some(register) = register {
                    after.registers[register.index()] = old;
                }
            }
            Action::Fence => {}
            Action::StoreFence => {
                after.buffer.push(BufferEntry::Mark);
                after.buffer = self.buffering.in_form(after.buffer).expect("marks are of the form");
            }
            Action::Lock if control.locked => return Ok(()),
            Action::Unlock if !local.holding => return Ok(()),
            Action::Lock => (after.holding, control.locked) = (true, true),
            Action::Unlock => (after.holding, control.locked) = (false, false),
            other => reject!(Form, "instruction {id} of thread {thread} is not known here: {other:?}"),
        }
        if falls_asleep {
            let to = Some(self.states.number(WaitingLocal { local: local.clone(), asleep: Some(id) }));
            ways.all.push(Way { to, control, does_something: true, wakes: None, counts: None });
            return Ok(());
        }
        let wakes = match instruction.queue() {
            Some(Queue::Wake { address, all }) => {
                Some((self.value(thread, id, address.evaluate_address(registers))?, *all))
            }
            _ => None,
        };
        self.arrive(control, after, (does_something, wakes), ways)
    }

    /// What an addition to a counter does: one more than is told apart stands for any larger
    /// number.
    fn counts(
        &mut self,
        control: Control,
        after: BufferedLocal,
        (counter, old, new): (Value, Value, &Expression),
        ways: &mut Ways,
    ) -> Result<(), CheckFailure> {
        let Some(step) = moves_by(new) else { reject!(Form, "{counter} is no counter") };
        let Some(top) = Value::try_from(self.most).ok().and_then(|most| most.checked_add(1)) else {
            reject!(Form, "counters are told apart too far");
        };
        let Some(moved) = old.checked_add(step) else { reject!(Form, "a counter moves too far") };
        if moved < 0 {
            reject!(Safe, "counter {counter} may fall below 0");
        }
        let is_many = old >= top;
        for value in if is_many && step < 0 { moved..=top } else { moved.min(top)..=moved.min(top) } {
            let control = self.written(control, counter, value);
            let before = ways.all.len();
            self.arrive(control, after.clone(), (true, None), ways)?;
            ways.all[before..].iter_mut().for_each(|way| way.counts = Some((counter, step)));
        }
        Ok(())
    }

    /// Whether an instruction waits for another value than the one that it would read.
    fn is_held_up(&self, local: &BufferedLocal, id: InstructionId, read: Value) -> Result<bool, CheckFailure> {
        let Some(until) = self.program.thread(local.thread).instruction(id).until() else { return Ok(false) };
        let holds = until.holds_of(&local.registers, read, self.program.domain);
        self.value(local.thread, id, holds).map(|holds| !holds)
    }

    /// Where a copy settles behind an instruction.
    fn arrive(
        &mut self,
        control: Control,
        after: BufferedLocal,
        (does_something, wakes): (bool, Option<(Value, bool)>),
        ways: &mut Ways,
    ) -> Result<(), CheckFailure> {
        let (settled, may_be_stopped) = self.settle(after)?;
        ways.may_be_stopped |= may_be_stopped;
        for to in settled {
            let has_ended = to.is_none_or(|to| self.states.get(to).local.label.is_none());
            ways.all.push(Way { to, control, does_something: does_something || has_ended, wakes, counts: None });
        }
        Ok(())
    }
}
