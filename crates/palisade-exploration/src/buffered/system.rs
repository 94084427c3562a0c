//! A program with store buffers as a lazily built net.
//!
//! The control is the memory, and whether some thread holds the lock. A token is one copy of a
//! thread: its local state, settled as in [`instrumented::system`](crate::instrumented::system),
//! with its store buffer. Every step – an instruction with the local instructions behind it, or a
//! store that reaches memory – moves one token, so that fixed and any numbers of copies are
//! explored alike. Buffers hold [`capacity`](BufferSystem::new) stores at most;
//! [`overflowed`](BufferSystem::overflowed) tells whether a store ever had to wait for room. If
//! none had to, the set that was explored is closed for unbounded buffers.
//!
//! While a thread holds the lock, only that thread steps. What others could do meanwhile – local
//! instructions, stores into their buffers, fences – they can do before, as none of it depends on
//! memory.
//!
//! A step on which a thread violates a target leads, besides where it leads to, to a control that
//! stands for just that.

use super::buffer::{Buffers, Order};
use super::delay::overtaking_labels;
use super::goal::Goal;
use super::lag::Lag;
use super::range::Range;
use super::values::Values;
use crate::instrumented::Fault;
use crate::instrumented::system::{Growth, InitialTokens, Local, Locals, Move, Operation, Targets, Turned, number};
use crate::lazy::{Entry, Interner, LazyNet, Step};
use fixedbitset::FixedBitSet;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, InstructionId, LabelId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Addresses, ascending, with their values where they differ from the initial ones.
pub(super) type Memory = Vec<(Value, Value)>;

/// What all threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// A number of the table of memories.
    pub memory: u32,
    /// Whether some thread holds the lock.
    pub locked: bool,
}

/// What becomes of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreEffect {
    /// It reaches memory at once.
    AtOnce,
    /// It enters the buffer.
    Buffered,
    /// It is left out: its thread sees this value there already.
    Silent,
    /// It waits for room in the buffer.
    Waits,
}

/// What a step's label says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// An instruction of a thread is executed.
    Execute(ThreadId, InstructionId),
    /// The store at this position of the buffer reaches memory.
    Flush(u32),
}

/// How the net is built.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// When stores reach memory.
    pub order: Order,
    /// The most stores that a buffer holds.
    pub capacity: usize,
    /// How values outside every expectation are treated.
    pub growth: Growth,
    /// How many copies the replicated threads have together, when that is bounded.
    pub spare: Option<u32>,
}

/// A program with store buffers as a lazily built net.
#[derive(Clone, Debug)]
pub struct BufferSystem<'p> {
    /// Local states, and what they can do.
    pub locals: Locals<'p>,
    /// The buffers.
    pub buffers: Buffers,
    shape: Shape,
    /// A local state with a buffer.
    places: Interner<(u32, u32)>,
    memories: Interner<Memory>,
    controls: Interner<Control>,
    /// The first label number of each thread's instructions.
    first_label: Vec<u32>,
    /// The places in which a spare copy may begin.
    spare_places: Vec<u32>,
    /// The steps of one token in one control.
    cache: FxHashMap<(u32, u32), (u32, u32)>,
    step_arena: Vec<Step>,
    /// For each thread, the labels from which a delayed store can be overtaken.
    overtaking: Vec<FixedBitSet>,
    /// Addresses at which silent stores are left out.
    silent: BTreeSet<Value>,
    /// Whether a store had to wait for room in a buffer.
    overflowed: bool,
    /// What loads lag behind for, where they do.
    lag: Lag,
    /// Memories restricted to what a thread may still load at a label.
    restricted: FxHashMap<(u32, ThreadId, LabelId), u32>,
    /// Addresses that nothing must read.
    forbidden: Range,
    /// Whether something has read one of them.
    strayed: bool,
    /// Properties violated before memory is touched: the number of the target, with the thread.
    violated_at_first: Vec<(u32, ThreadId)>,
    /// The turns up to which configurations are explored, if they are.
    pub(super) turned: Option<Box<Turned>>,
}

/// Controls from here on stand for a target that is reached.
const REACHED: u32 = 1 << 31;

/// Labels from here on stand for stores that reach memory.
const FLUSHES: u32 = 1 << 31;

/// The initial configurations: their control, and the tokens of each.
pub(super) type Roots = (u32, Vec<Vec<Entry>>);

impl<'p> BufferSystem<'p> {
    /// The label of steps that take a snapshot.
    pub(super) const CAPTURE: u32 = u32::MAX;

    /// The system of a program with the targets of a goal; silent stores are left out at some
    /// addresses.
    pub fn new(program: &'p Program, goal: &Goal<'_>, silent: &BTreeSet<Value>, shape: Shape) -> Self {
        let mut next = 0;
        let first_label = program.threads.iter().map(|thread| {
            let first = next;
            next += number(thread.instructions.len());
            first
        });
        let observed = goal.observed_registers(program);
        let locals = Locals::new(program, shape.growth).watching(goal.properties(), observed.as_deref());
        Self {
            first_label: first_label.collect(),
            locals: if shape.order == Order::Pso { locals.with_marks() } else { locals },
            buffers: Buffers::new(shape.order),
            shape,
            places: Interner::default(),
            memories: Interner::default(),
            controls: Interner::default(),
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            step_arena: Vec::new(),
            overtaking: overtaking_labels(program, shape.order),
            silent: if shape.order.is_interleaving() { BTreeSet::new() } else { silent.clone() },
            overflowed: false,
            lag: Lag::default(),
            restricted: FxHashMap::default(),
            forbidden: Range::default(),
            strayed: false,
            violated_at_first: Vec::new(),
            turned: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.locals.program
    }

    /// How the net is built.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether some place may hold ω.
    pub fn is_unbounded_net(&self) -> bool {
        self.shape.spare.is_none() && self.program().is_parameterized()
    }

    /// Whether a store had to wait for room in a buffer.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The system in which nothing must read some addresses.
    pub(super) fn forbidding(self, forbidden: Range) -> Self {
        Self { forbidden, ..self }
    }

    /// The system in which loads lag behind on snapshots.
    pub(super) fn lagging(mut self, bounds: Option<&Values<'_>>) -> Self {
        self.lag = Lag::of(self.program(), &self.locals.liveness, bounds);
        self
    }

    /// What loads lag behind for.
    pub(super) fn lag(&self) -> &Lag {
        &self.lag
    }

    /// Whether something has read an address that nothing must read.
    pub fn strayed(&self) -> bool {
        self.strayed
    }

    /// Whether a step was left out because values grow.
    pub fn was_cut(&self) -> bool {
        self.locals.was_cut
    }

    /// Addresses at which silent stores are left out.
    pub fn silent(&self) -> &BTreeSet<Value> {
        &self.silent
    }

    /// The local state and the number of the buffer of a place.
    pub fn place(&self, place: u32) -> (&Local, u32) {
        let (local, buffer) = *self.places.get(place);
        (self.locals.table.get(local), buffer)
    }

    /// The number of the local state of a place.
    pub fn local_number(&self, place: u32) -> u32 {
        self.places.get(place).0
    }

    /// The numbers of the local state and of the buffer of a place.
    pub(super) fn place_numbers(&self, place: u32) -> (u32, u32) {
        *self.places.get(place)
    }

    /// The number of a control.
    pub(super) fn control_number(&mut self, control: Control) -> u32 {
        self.controls.intern(control).0
    }

    /// The number of a memory.
    pub(super) fn memory_number(&mut self, memory: Memory) -> u32 {
        self.memories.intern(memory).0
    }

    /// The number of the control that stands for a target.
    pub(super) fn reaching(target: u32) -> u32 {
        REACHED + target
    }

    /// The label of the steps that execute an instruction.
    pub(super) fn label_of(&self, thread: ThreadId, instruction: InstructionId) -> u32 {
        self.first_label[thread.index()] + number(instruction.index())
    }

    /// Notes that something had to wait for room.
    pub(super) fn note_overflow(&mut self) {
        self.overflowed = true;
    }

    /// Notes a read, should nothing read there.
    pub(super) fn watch_read(&mut self, address: Value) {
        self.strayed |= self.forbidden.contains(i128::from(address));
    }

    /// Whether a load (under PSO an access) can overtake a store instruction before the buffer is
    /// drained.
    pub(super) fn can_be_overtaken(&self, thread: ThreadId, instruction: InstructionId) -> bool {
        let target = self.program().thread(thread).instruction(instruction).target;
        self.overtaking[thread.index()].contains(target.index())
    }

    /// A memory with the initial value wherever a thread loads no more before it drains its buffer.
    pub(super) fn restricted(&mut self, memory: u32, thread: ThreadId, label: LabelId) -> u32 {
        if let Some(known) = self.restricted.get(&(memory, thread, label)) {
            return *known;
        }
        let mut kept = self.memories.get(memory).clone();
        kept.retain(|(address, _)| self.lag.may_load(thread, label, *address));
        let kept = self.memories.intern(kept).0;
        self.restricted.insert((memory, thread, label), kept);
        kept
    }

    /// A control by number; not one that stands for a target.
    pub fn control(&self, control: u32) -> Control {
        *self.controls.get(control)
    }

    /// The number of the target that a control stands for.
    pub fn target_of(control: u32) -> Option<u32> {
        control.checked_sub(REACHED)
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

    /// Properties violated before memory is touched: the number of the target, with the thread.
    pub(super) fn violated_at_first(&self) -> &[(u32, ThreadId)] {
        &self.violated_at_first
    }

    /// What a step's label says of a thread's step.
    pub fn act(&self, label: u32) -> Act {
        if let Some(index) = label.checked_sub(FLUSHES) {
            return Act::Flush(index);
        }
        let thread = self.first_label.partition_point(|first| *first <= label) - 1;
        let instruction = InstructionId::from_index((label - self.first_label[thread]) as usize);
        Act::Execute(ThreadId::from_index(thread), instruction)
    }

    /// The initial configurations; none when there are too many.
    pub fn roots(&mut self) -> Result<Option<Roots>, Fault> {
        let memory = self.memories.intern(Memory::new()).0;
        let control = self.controls.intern(Control { memory, locked: false }).0;
        let program = self.program();
        let tokens = InitialTokens::of(program, self.shape.spare, &mut |thread| {
            let Some(targets) = self.locals.initial_targets(thread)? else { return Ok(Vec::new()) };
            self.violated_at_first.extend(self.locals.violated(targets).iter().map(|target| (*target, thread)));
            let mut places: Vec<u32> =
                self.targets(targets).into_iter().filter_map(|local| self.place_of(local, Buffers::EMPTY)).collect();
            places.sort_unstable();
            Ok(places)
        })?;
        Ok(tokens.map(|InitialTokens { roots, spare_places }| {
            self.spare_places = spare_places;
            (control, roots)
        }))
    }

    /// The local states that an action leads to.
    pub(super) fn targets(&self, targets: Targets) -> SmallVec<[u32; 4]> {
        self.locals.targets(targets).iter().flatten().copied().collect()
    }

    /// The place of a local state with a buffer; none when its thread has stopped and left nothing
    /// behind.
    pub(super) fn place_of(&mut self, local: u32, buffer: u32) -> Option<u32> {
        let has_nothing_left = buffer == Buffers::EMPTY || self.shape.order == Order::Noted;
        let is_gone = has_nothing_left && self.locals.table.get(local).is_stopped();
        (!is_gone).then(|| self.places.intern((local, buffer)).0)
    }

    /// The places in which a spare copy may begin.
    pub(super) fn spare_places(&self) -> &[u32] {
        &self.spare_places
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<u32, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.token_steps(control, place)?;
            let started = Step { take: Some(place), ..*step };
            if self.step_arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }

    /// What becomes of a store that a thread executes next.
    pub fn store_effect(&self, control: Control, place: u32, id: InstructionId, store: (Value, Value)) -> StoreEffect {
        let (local, buffer) = self.place(place);
        let (address, value) = store;
        if self.shape.order.is_interleaving() {
            return StoreEffect::AtOnce;
        }
        let is_delayed = self.shape.order != Order::Snapshots;
        let seen = || self.buffers.youngest(buffer, address).unwrap_or_else(|| self.read(control.memory, address));
        if self.silent.contains(&address) && seen() == value {
            StoreEffect::Silent
        } else if !is_delayed || buffer == Buffers::EMPTY && !self.can_be_overtaken(local.thread, id) {
            StoreEffect::AtOnce
        } else if self.buffers.stores(buffer) >= self.shape.capacity {
            StoreEffect::Waits
        } else {
            StoreEffect::Buffered
        }
    }

    /// The steps of one token, as a range of the step arena; computed once per control and place.
    fn token_steps(&mut self, control: u32, place: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place)) {
            return Ok(*range);
        }
        let mut steps: SmallVec<[Step; 4]> = SmallVec::new();
        let before = self.control(control);
        if before.locked && !self.place(place).0.holding {
            // Only the thread that holds the lock steps.
        } else if self.shape.order == Order::Snapshots {
            self.lagging_steps(before, place, &mut steps)?;
        } else {
            self.flush_steps(before, place, &mut steps);
            let (first, last) = self.locals.moves(self.local_number(place));
            for index in first..last {
                self.execution_steps(before, place, index, &mut steps)?;
            }
        }
        let start = number(self.step_arena.len());
        self.step_arena.extend_from_slice(&steps);
        let range = (start, number(self.step_arena.len()));
        self.cache.insert((control, place), range);
        Ok(range)
    }

    /// Stores that reach memory.
    fn flush_steps(&mut self, before: Control, place: u32, steps: &mut SmallVec<[Step; 4]>) {
        let (local, buffer) = *self.places.get(place);
        if buffer == Buffers::EMPTY || self.shape.order == Order::Noted {
            return;
        }
        for flush in self.buffers.flushes(buffer) {
            let memory = self.write(before.memory, flush.address, flush.value);
            let control = self.controls.intern(Control { memory, ..before }).0;
            let put = self.place_of(local, flush.rest);
            steps.push(Step { control, take: Some(place), put, label: FLUSHES + flush.index });
        }
    }

    /// One instruction of one token.
    pub(super) fn execution_steps(
        &mut self,
        before: Control,
        place: u32,
        index: u32,
        steps: &mut SmallVec<[Step; 4]>,
    ) -> Result<(), Fault> {
        let step = self.locals.move_at(index);
        let (local, buffer) = *self.places.get(place);
        let Local { thread, holding, .. } = *self.locals.table.get(local);
        let is_drained = buffer == Buffers::EMPTY || self.shape.order == Order::Noted;
        let (mut after, mut longer) = (before, buffer);
        let mut read = 0;
        if let Operation::Load(address) | Operation::Update(address) = step.operation {
            self.watch_read(address);
        }
        match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Load(address) => {
                let buffered = self.buffers.youngest(buffer, address);
                read = buffered.unwrap_or_else(|| self.read(before.memory, address));
            }
            Operation::Store(address, value) => {
                match self.store_effect(before, place, step.instruction, (address, value)) {
                    StoreEffect::AtOnce => after.memory = self.write(before.memory, address, value),
                    StoreEffect::Buffered => longer = self.buffers.push(buffer, address, value),
                    StoreEffect::Silent => {}
                    StoreEffect::Waits => {
                        self.overflowed = true;
                        return Ok(());
                    }
                }
            }
            Operation::Fence if is_drained => {}
            Operation::Mark => longer = self.buffers.mark(buffer),
            Operation::Update(address) if is_drained => read = self.read(before.memory, address),
            Operation::Lock if is_drained && !before.locked && !holding => after.locked = true,
            Operation::Unlock if is_drained && holding => after.locked = false,
            _ => return Ok(()),
        }
        if self.shape.order == Order::Noted {
            longer = self.noted(thread, buffer, step);
        }
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(()) };
        if let (Operation::Update(address), Some(value)) = (step.operation, outcome.stored) {
            after.memory = self.write(before.memory, address, value);
        }
        let label = self.label_of(thread, step.instruction);
        for target in self.locals.violated(outcome.targets) {
            steps.push(Step { control: Self::reaching(*target), take: Some(place), put: None, label });
        }
        let control = self.controls.intern(after).0;
        for target in self.targets(outcome.targets) {
            let put = self.place_of(target, longer);
            steps.push(Step { control, take: Some(place), put, label });
        }
        Ok(())
    }

    /// What a thread has stored since it last drained its buffer, after one more step. Where no
    /// load can follow before the next drain, that does not matter.
    fn noted(&mut self, thread: ThreadId, note: u32, step: Move) -> u32 {
        match step.operation {
            Operation::Store(address, _) if self.can_be_overtaken(thread, step.instruction) => {
                self.buffers.note(note, address)
            }
            Operation::Store(..) => Buffers::EMPTY,
            Operation::Fence | Operation::Update(_) | Operation::Lock | Operation::Unlock => Buffers::EMPTY,
            Operation::Load(_) | Operation::Mark | Operation::Post | Operation::Faulty(_) => note,
        }
    }

    /// The number of a memory after a store.
    pub(super) fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        if self.read(memory, address) == value {
            return memory;
        }
        let mut changed = self.memories.get(memory).clone();
        match changed.binary_search_by_key(&address, |pair| pair.0) {
            Ok(index) if value == self.program().initial_value(address) => {
                changed.remove(index);
            }
            Ok(index) => changed[index].1 = value,
            Err(index) => changed.insert(index, (address, value)),
        }
        self.memories.intern(changed).0
    }
}

impl LazyNet for BufferSystem<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        self.overgrown()?;
        for entry in entries {
            if entry.place == InitialTokens::SPARE {
                for index in 0..self.spare_places.len() {
                    let (start, end) = self.token_steps(control, self.spare_places[index])?;
                    let started = self.step_arena[start as usize..end as usize].iter();
                    steps.extend(started.map(|step| Step { take: Some(InitialTokens::SPARE), ..*step }));
                }
            } else {
                let (start, end) = self.token_steps(control, entry.place)?;
                steps.extend_from_slice(&self.step_arena[start as usize..end as usize]);
            }
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        let thread = self.place(place).0.thread;
        self.is_unbounded_net() && self.program().thread(thread).copies == Copies::Any
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take.filter(|_| Self::target_of(step.control).is_none()) else { return Ok(false) };
        let (start, end) = self.token_steps(step.control, place)?;
        Ok(self.step_arena[start as usize..end as usize].contains(step))
    }

    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        (self.turn(control, entries), 0)
    }
}
