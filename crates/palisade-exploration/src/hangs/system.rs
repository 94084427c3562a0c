//! What one copy does in a memory: instructions with the local ones behind them, and stores that
//! reach memory.

use super::counters::step_of;
use super::place::{Local, Place, Waiting, settle};
use crate::buffered::{Buffers, Order, overtaking_labels};
use crate::instrumented::system::{Growth, Locals, number};
use crate::instrumented::{Fault, FaultKind};
use crate::lazy::Interner;
use fixedbitset::FixedBitSet;
use palisade_evidence::BufferEntry;
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, Copies, InstructionId, LabelId, Liveness, Program, Queue, RegisterId, ThreadId, Value,
};
use rustc_hash::FxHashMap;

/// Addresses, ascending, with their values where they differ from the initial ones.
type Memory = Vec<(Value, Value)>;

/// How configurations are explored.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// When stores reach memory: [`Order::Sc`], [`Order::Tso`] or [`Order::Pso`].
    pub order: Order,
    /// The most stores that a buffer holds.
    pub capacity: usize,
    /// How many distinct values a register or an address may have in a program without a domain.
    pub values: usize,
    /// Copies of replicated threads are counted up to this number.
    pub most: u64,
    /// Whether steps are left out that stuck states do not need.
    pub leaves_out: bool,
}

/// What a copy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It executes an instruction.
    Execute(InstructionId),
    /// It executes a store that reaches memory at once.
    Store(InstructionId),
    /// The oldest store of its buffer to this address reaches memory.
    Flush(Value),
}

/// What is the same for all copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Control {
    /// The number of the memory.
    pub memory: u32,
    /// Whether some copy holds the lock.
    pub locked: bool,
}

/// One way in which a copy goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) act: Act,
    /// Where the copy is then; nothing when it has ended.
    pub(super) to: Option<u32>,
    pub(super) control: Control,
    /// Whether others, or an end, may see that it was done: all but reads, fences, locked updates
    /// that leave memory as it is, and waking others.
    pub(super) is_effect: bool,
    /// The address whose sleepers it wakes, and whether it wakes all of them.
    pub(super) wakes: Option<(Value, bool)>,
    /// The counter that it moves, and by how much.
    pub(super) counts: Option<(Value, Value)>,
}

/// The ways in which a copy goes on: a range of the arena of changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether it may come to an `assume` that stops it.
    pub(super) may_die: bool,
    /// Whether a store waits for room in the buffer.
    pub(super) is_full: bool,
    /// Whether a counter would fall below 0.
    pub(super) is_negative: bool,
}

/// A program as copies of its threads go on one by one.
#[derive(Clone, Debug)]
pub struct System<'p> {
    pub(super) locals: Locals<'p>,
    pub(super) shape: Shape,
    pub(super) table: Interner<Local>,
    pub(super) places: Interner<Place>,
    pub(super) buffers: Buffers,
    memories: Interner<Memory>,
    changes: FxHashMap<(Control, u32), Changes>,
    arena: Vec<Change>,
    /// For each thread, the labels from which a delayed store can be overtaken.
    pub(super) overtaking: Vec<FixedBitSet>,
    /// Whether a copy waits where nobody sleeps, and whose sleepers it would wake.
    pub(super) waits: FxHashMap<(Control, u32), (Waiting, Box<[Value]>)>,
    /// Addresses whose values are told apart up to [`Shape::most`], ascending.
    counters: Vec<Value>,
    /// For each thread, whether a copy has come to its end.
    pub(super) ends: Vec<bool>,
}

impl<'p> System<'p> {
    /// The system of a program.
    pub(super) fn new(program: &'p Program, shape: Shape, counters: Vec<Value>, limits: &Limits) -> Self {
        let locals = Locals::new(program, Growth::Fault(shape.values));
        let mut locals = if shape.order == Order::Pso { locals.with_marks() } else { locals };
        locals.limit(limits);
        let mut memories = Interner::default();
        memories.intern(Memory::new());
        Self {
            locals,
            shape,
            table: Interner::default(),
            places: Interner::default(),
            buffers: Buffers::new(shape.order),
            memories,
            changes: FxHashMap::default(),
            arena: Vec::new(),
            overtaking: overtaking_labels(program, shape.order),
            waits: FxHashMap::default(),
            counters,
            ends: vec![false; program.threads.len()],
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.locals.program
    }

    /// How it is explored.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Addresses whose values are told apart up to [`Shape::most`], ascending.
    pub fn counters(&self) -> &[Value] {
        &self.counters
    }

    /// Whether copies in a place are counted up to a number alone.
    pub(super) fn is_counted_up_to(&self, place: u32) -> bool {
        self.program().thread(self.local(place).thread).copies == Copies::Any
    }

    /// How many places there are.
    pub(super) fn place_count(&self) -> usize {
        self.places.len()
    }

    /// All changes listed so far, with where they start.
    pub(super) fn listed_changes(&self) -> impl Iterator<Item = (Control, u32, Change)> + '_ {
        self.changes.iter().flat_map(|((control, place), changes)| {
            (changes.start..changes.end).map(|index| (*control, *place, self.change(index)))
        })
    }

    /// The registers that are live at each label of each thread.
    pub fn live(&self) -> Vec<Vec<Vec<RegisterId>>> {
        self.locals.liveness.iter().map(Liveness::by_label).collect()
    }

    /// The control at the start.
    pub(super) fn initial_control() -> Control {
        Control { memory: 0, locked: false }
    }

    /// The local state of a place.
    pub fn local(&self, place: u32) -> &Local {
        self.table.get(self.places.get(place).local)
    }

    /// Whether an action touches neither memory, the store buffer nor the lock.
    pub fn is_local(&self, action: &Action) -> bool {
        self.locals.is_local(action)
    }

    /// Whether a copy of a thread at a label, or at its end, and asleep or not, is in a place,
    /// whatever the registers that are dead.
    pub fn is_at(
        &self,
        place: u32,
        (thread, label, asleep): (ThreadId, Option<LabelId>, Option<InstructionId>),
        registers: &[Value],
    ) -> bool {
        let local = self.local(place);
        let mut registers = registers.to_vec();
        match label {
            Some(label) => self.locals.liveness[thread.index()].forget_dead(label, &mut registers),
            None => registers.fill(0),
        }
        local.thread == thread && local.label == label && local.asleep == asleep && *local.registers == *registers
    }

    /// The stores that wait in the buffer of a place.
    pub fn buffer(&self, place: u32) -> &[BufferEntry] {
        self.buffers.entries(self.places.get(place).buffer)
    }

    /// A memory by number.
    pub fn memory(&self, memory: u32) -> &Memory {
        self.memories.get(memory)
    }

    /// The value of an address in a memory.
    pub fn read(&self, memory: u32, address: Value) -> Value {
        let changed = self.memories.get(memory);
        match changed.binary_search_by_key(&address, |pair| pair.0) {
            Ok(index) => changed[index].1,
            Err(_) => self.program().initial_value(address),
        }
    }

    /// Whether all that is stated of the end holds of a memory.
    pub(super) fn ends_well(&self, memory: u32) -> bool {
        let program = self.program();
        program.finally.iter().all(|claim| claim.holds(program.domain, |address| self.read(memory, address)))
    }

    /// The number of a memory after a store.
    pub fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        let initial = self.program().initial_value(address);
        let mut changed = self.memories.get(memory).clone();
        match changed.binary_search_by_key(&address, |pair| pair.0) {
            Ok(index) if value == initial => drop(changed.remove(index)),
            Ok(index) => changed[index].1 = value,
            Err(_) if value == initial => return memory,
            Err(index) => changed.insert(index, (address, value)),
        }
        self.memories.intern(changed).0
    }

    /// The places in which a copy of a thread begins; whether it may come to an `assume` that stops
    /// it. An end is none.
    pub(super) fn beginnings(&mut self, thread: ThreadId) -> Result<(Vec<Option<u32>>, bool), Fault> {
        let template = self.program().thread(thread);
        let start = (template.initial, template.initial_registers().into_boxed_slice());
        let settled = settle(&mut self.locals, thread, InstructionId::from_index(0), start, false)?;
        let places = settled.locals.into_iter().map(|local| self.place_of(local, Buffers::EMPTY)).collect();
        Ok((places, settled.may_die))
    }

    /// The number of a local state with a buffer; nothing at an end with an empty buffer.
    fn place_of(&mut self, local: Local, buffer: u32) -> Option<u32> {
        let is_gone = local.label.is_none() && buffer == Buffers::EMPTY;
        self.ends[local.thread.index()] |= local.label.is_none();
        (!is_gone).then(|| {
            let local = self.table.intern(local).0;
            self.places.intern(Place { local, buffer }).0
        })
    }

    pub(super) fn change(&self, index: u32) -> Change {
        self.arena[index as usize]
    }

    /// How a copy goes on from a place.
    pub(super) fn changes(&mut self, control: Control, place: u32) -> Result<Changes, Fault> {
        if let Some(known) = self.changes.get(&(control, place)) {
            return Ok(*known);
        }
        let mut found = Found { start: self.arena.len(), may_die: false, is_full: false, is_negative: false };
        let Place { local, buffer } = *self.places.get(place);
        let local = self.table.get(local).clone();
        // Only who holds the lock goes on.
        if control.locked && !local.holding {
        } else if let Some(by) = local.asleep {
            // It may go on for no reason.
            let after = After {
                control,
                buffer,
                holding: local.holding,
                act: Act::Execute(by),
                is_effect: true,
                wakes: None,
                counts: None,
            };
            self.settle_after(local.thread, by, local.registers.clone(), after, &mut found)?;
        } else {
            self.flushes(control, &local, buffer);
            if let Some(label) = local.label {
                for id in self.locals.instructions_at(local.thread, label).to_vec() {
                    self.execute(control, &local, buffer, id, &mut found)?;
                }
            }
        }
        let changes = Changes {
            start: number(found.start),
            end: number(self.arena.len()),
            may_die: found.may_die,
            is_full: found.is_full,
            is_negative: found.is_negative,
        };
        self.changes.insert((control, place), changes);
        Ok(changes)
    }

    fn flushes(&mut self, control: Control, local: &Local, buffer: u32) {
        for flush in self.buffers.flushes(buffer) {
            let memory = self.write(control.memory, flush.address, flush.value);
            let to = self.place_of(local.clone(), flush.rest);
            let act = Act::Flush(flush.address);
            self.arena.push(Change {
                act,
                to,
                control: Control { memory, ..control },
                is_effect: true,
                wakes: None,
                counts: None,
            });
        }
    }

    /// What an instruction does, if it is enabled.
    fn execute(
        &mut self,
        control: Control,
        local: &Local,
        buffer: u32,
        id: InstructionId,
        found: &mut Found,
    ) -> Result<(), Fault> {
        let Local { thread, holding, .. } = *local;
        let instruction = self.program().thread(thread).instruction(id);
        let action = &instruction.action;
        if action.drains_buffer() && buffer != Buffers::EMPTY {
            return Ok(());
        }
        let mut after =
            After { control, buffer, holding, act: Act::Execute(id), is_effect: false, wakes: None, counts: None };
        if *action == Action::Fail {
            let end = Local { label: None, registers: vec![0; local.registers.len()].into(), ..local.clone() };
            let to = self.place_of(end, buffer);
            self.arena.push(Change { act: after.act, to, control, is_effect: true, wakes: None, counts: None });
            return Ok(());
        }
        if self.locals.is_local(action) {
            // An instruction beside others that are not local, or one of a loop without a way out.
            let mut steps = 0;
            for registers in self.locals.local_successors(thread, id, &local.registers)? {
                self.locals.count_step(thread, id, &mut steps)?;
                self.settle_after(thread, id, registers, after, found)?;
            }
            return Ok(());
        }
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        let address = action.address().map(|address| address.evaluate_address(&local.registers)).transpose();
        let address = address.map_err(fault)?.unwrap_or_default();
        let mut registers = local.registers.clone();
        let is_held_up = |read| match instruction.until() {
            Some(until) => until.holds_of(&local.registers, read, self.program().domain).map(|holds| !holds),
            None => Ok(false),
        };
        let mut falls_asleep = false;
        match action {
            Action::Load { .. } => {
                let own = self.buffers.youngest(buffer, address);
                let read = own.unwrap_or_else(|| self.read(control.memory, address));
                if is_held_up(read).map_err(fault)? {
                    return Ok(());
                }
                registers = self.locals.execute(thread, id, registers, read)?.0;
            }
            Action::Store { value, .. } => {
                let value = value.evaluate(&registers, self.program().domain).map_err(fault)?;
                self.locals.admit_stored(thread, id, address, value)?;
                after.is_effect = true;
                let is_dead =
                    buffer == Buffers::EMPTY && !self.overtaking[thread.index()].contains(instruction.target.index());
                if self.shape.order == Order::Sc || is_dead {
                    after.act = Act::Store(id);
                    after.control.memory = self.write(control.memory, address, value);
                } else if self.buffers.stores(buffer) >= self.shape.capacity {
                    found.is_full = true;
                    return Ok(());
                } else {
                    after.buffer = self.buffers.push(buffer, address, value);
                }
            }
            Action::Cas { .. } | Action::Rmw { .. } => {
                let read = self.read(control.memory, address);
                if is_held_up(read).map_err(fault)? {
                    return Ok(());
                }
                if let Action::Rmw { register, new, .. } = action
                    && self.counters.contains(&address)
                    && let Some(step) = step_of(new)
                {
                    if let Some(register) = register {
                        registers[register.index()] = read;
                    }
                    (after.is_effect, after.counts) = (true, Some((address, step)));
                    return self.count(thread, id, registers, after, (address, read, step), found);
                }
                let (new, stored) = self.locals.execute(thread, id, registers, read)?;
                registers = new;
                if let Some(value) = stored {
                    self.locals.admit_stored(thread, id, address, value)?;
                    after.control.memory = self.write(control.memory, address, value);
                    after.is_effect = value != read;
                    falls_asleep = instruction.sleeps().is_some();
                }
            }
            Action::Fence => {}
            Action::StoreFence => after.buffer = self.buffers.mark(buffer),
            Action::Lock if !control.locked => {
                after.holding = true;
                after.control.locked = true;
            }
            Action::Unlock if holding => {
                after.holding = false;
                after.control.locked = false;
            }
            _ => return Ok(()),
        }
        if falls_asleep {
            let to = self.place_of(Local { asleep: Some(id), ..local.clone() }, after.buffer);
            self.arena.push(Change {
                act: after.act,
                to,
                control: after.control,
                is_effect: true,
                wakes: None,
                counts: None,
            });
            return Ok(());
        }
        if let Some(Queue::Wake { address, all }) = instruction.queue() {
            after.wakes = Some((address.evaluate_address(&local.registers).map_err(fault)?, *all));
        }
        self.settle_after(thread, id, registers, after, found)
    }

    /// Moves a counter: one more than is told apart stands for any larger number.
    fn count(
        &mut self,
        thread: ThreadId,
        id: InstructionId,
        registers: Box<[Value]>,
        after: After,
        (counter, read, step): (Value, Value, Value),
        found: &mut Found,
    ) -> Result<(), Fault> {
        let top = Value::try_from(self.shape.most).unwrap_or(Value::MAX >> 1) + 1;
        let moved = read.saturating_add(step);
        found.is_negative |= moved < 0;
        let values = match () {
            () if read < top => moved..=moved,
            () if step > 0 => top..=top,
            () => moved.max(0)..=top,
        };
        for value in values.filter(|value| *value >= 0) {
            let mut after = after;
            after.control.memory = self.write(after.control.memory, counter, value.min(top));
            self.settle_after(thread, id, registers.clone(), after, found)?;
        }
        Ok(())
    }

    /// The address at which a copy in a place sleeps.
    pub fn slept_at(&self, place: u32) -> Option<Value> {
        let local = self.local(place);
        let address = self.program().thread(local.thread).instruction(local.asleep?).sleeps()?;
        address.evaluate_address(&local.registers).ok()
    }

    /// Whether an `assume` may stop a copy that is asleep in a place, when it is woken.
    pub(super) fn stops_when_woken(&mut self, place: u32) -> Result<bool, Fault> {
        let local = self.local(place).clone();
        let Some(by) = local.asleep else { return Ok(false) };
        let target = self.program().thread(local.thread).instruction(by).target;
        Ok(settle(&mut self.locals, local.thread, by, (target, local.registers), local.holding)?.may_die)
    }

    /// Where a copy goes on that was asleep in a place, when it is woken.
    pub(super) fn woken(&mut self, place: u32) -> Result<Vec<Option<u32>>, Fault> {
        let local = self.local(place).clone();
        let Some(by) = local.asleep else { return Ok(Vec::new()) };
        let target = self.program().thread(local.thread).instruction(by).target;
        let settled = settle(&mut self.locals, local.thread, by, (target, local.registers), local.holding)?;
        Ok(settled.locals.into_iter().map(|local| self.place_of(local, Buffers::EMPTY)).collect())
    }

    /// The local states behind an instruction.
    fn settle_after(
        &mut self,
        thread: ThreadId,
        id: InstructionId,
        registers: Box<[Value]>,
        after: After,
        found: &mut Found,
    ) -> Result<(), Fault> {
        let target = self.program().thread(thread).instruction(id).target;
        let settled = settle(&mut self.locals, thread, id, (target, registers), after.holding)?;
        found.may_die |= settled.may_die;
        for local in settled.locals {
            let is_effect = after.is_effect || local.label.is_none();
            let to = self.place_of(local, after.buffer);
            let After { act, control, wakes, counts, .. } = after;
            self.arena.push(Change { act, to, control, is_effect, wakes, counts });
        }
        Ok(())
    }
}

/// What is found of the ways in which a copy goes on.
struct Found {
    start: usize,
    may_die: bool,
    is_full: bool,
    is_negative: bool,
}

/// What an instruction leads to, but for the registers.
#[derive(Clone, Copy)]
struct After {
    control: Control,
    buffer: u32,
    holding: bool,
    act: Act,
    is_effect: bool,
    wakes: Option<(Value, bool)>,
    counts: Option<(Value, Value)>,
}
