//! Configurations up to the turns of counters.
//!
//! The classes of counters of a program ([`Counters`]) can be turned without any step noticing. So
//! the searches keep one configuration for all that turn into each other: the one in which the
//! first address of each class holds a value at most a step above its initial one. Where a step
//! leads elsewhere, what it leads to is turned at once ([`Instrumented::turn`]). Which turn that
//! takes depends on memory alone; phases that begin do not change memory, so configurations stay as
//! they should be.
//!
//! Proof that this loses nothing: let the configurations explored be closed under steps followed by
//! turns. Every reachable configuration is one of them, turned: the initial one is (no turn takes
//! it to itself); and if `c` is `d` turned by t, with `d` explored, then a step from `c` to `c'` is
//! a step from `d` to `d'` with `c'` = `d'` turned by t, as turning commutes with steps; and `d'`
//! turned is explored. Faults, success and what is reached are the same in `c` and `d`. ∎
//!
//! Where what is far behind is one value (THEORY.md, "Monotone counters"), turned values at most an
//! end become the one that stands for them, and places come together. Such a turn, again and again,
//! takes each place to one where it stays.

use super::counting::Counting;
use super::{Control, InitialTokens, Instrumented, Local, Memory, MemoryModel};
use crate::instrumented::fault::{Fault, FaultKind, Growing};
use crate::lazy::{Entry, Interner, put_together};
use palisade_model::program::{Action, Copies, Instruction, InstructionId, LabelId, ThreadId, Value};
use rustc_hash::FxHashMap;

/// Turns by number, and what they make of the parts of configurations.
#[derive(Clone, Debug)]
pub(super) struct Turning {
    counting: Counting,
    /// For each class by how much its members are turned. Turn 0 is none.
    turns: Interner<Box<[Value]>>,
    /// The turn that the configurations of a memory take.
    of_memory: FxHashMap<u32, u32>,
    /// What controls become, with the turn.
    controls: FxHashMap<u32, (u32, u32)>,
    /// What places become by a turn.
    places: FxHashMap<(u32, u32), u32>,
    /// The fault that turns have taken a member without a domain to more values than are admitted.
    overgrown: Option<Fault>,
}

impl Turning {
    pub(super) fn new(counting: Counting) -> Self {
        let mut turns = Interner::default();
        turns.intern(vec![0; counting.counters.classes().len()].into_boxed_slice());
        Self {
            counting,
            turns,
            of_memory: FxHashMap::default(),
            controls: FxHashMap::default(),
            places: FxHashMap::default(),
            overgrown: None,
        }
    }
}

/// A place that turns take to more places than this is not accelerated.
const MOST_TURNED: usize = 1 << 10;

/// So many turns take values behind an end, or are given up.
const MOST_FALLING: usize = 1 << 6;

/// A turn that is none.
pub const NO_TURN: u32 = 0;

impl<M: MemoryModel> Instrumented<'_, M> {
    /// The system that is explored up to turns of counters.
    #[must_use]
    pub fn counting(mut self, counting: Option<&Counting>) -> Self {
        if let Some(counting) = counting {
            let copies = self.program().threads.iter().map(|thread| match thread.copies {
                Copies::Exactly(count) => usize::try_from(count).unwrap_or(usize::MAX),
                Copies::Any => self.spare.map_or(0, |spare| spare as usize),
            });
            self.locals.count(counting, copies.fold(0, usize::saturating_add));
            self.turning = Some(Box::new(Turning::new(counting.clone())));
        }
        self
    }

    /// The control that stands for one and all that turn into it, and the turn.
    pub fn turned_control(&mut self, control: u32) -> (u32, u32) {
        let Some(turning) = &self.turning else { return (control, NO_TURN) };
        if let Some(known) = turning.controls.get(&control) {
            return *known;
        }
        let Control { memory, locked, phase } = self.control(control);
        let turn = self.turn_of_memory(memory);
        let turned = if turn == NO_TURN && !self.has_ends() {
            control
        } else {
            let memory = self.turned_memory(memory, turn);
            let phase = M::turned(self, phase, turn);
            self.intern(Control { memory, locked, phase })
        };
        self.turning_mut().controls.insert(control, (turned, turn));
        (turned, turn)
    }

    /// Turns a marking with the given control into the one that stands for it; the control then,
    /// and the turn.
    pub(super) fn turn(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        let (control, turn) = self.turned_control(control);
        if turn != NO_TURN || self.has_ends() {
            for entry in entries.iter_mut() {
                entry.place = self.turned_place(turn, entry.place);
            }
            put_together(entries);
        }
        (control, turn)
    }

    /// Whether what is far behind is one value.
    fn has_ends(&self) -> bool {
        self.turning.as_ref().is_some_and(|turning| turning.counting.has_ends())
    }

    /// What a place becomes by a turn.
    pub fn turned_place(&mut self, turn: u32, place: u32) -> u32 {
        if turn == NO_TURN && !self.has_ends() || place == InitialTokens::SPARE {
            return place;
        }
        if let Some(known) = self.turning_mut().places.get(&(turn, place)) {
            return *known;
        }
        let (from, mark) = self.model.token(place);
        let local = self.turned_local(turn, &self.local(from).clone());
        self.admit_turned(local.thread, local.label, &local.registers);
        let local = self.locals.table.intern(local).0;
        let turned = M::place(self, local, mark);
        self.turning_mut().places.insert((turn, place), turned);
        turned
    }

    /// What a local state becomes by a turn.
    pub fn turned_local(&mut self, turn: u32, local: &Local) -> Local {
        let mut turned = local.clone();
        self.turn_registers(turn, local.thread, local.label, &mut turned.registers);
        turned
    }

    /// Turns the registers of a thread at a label.
    pub(in crate::instrumented) fn turn_registers(
        &mut self,
        turn: u32,
        thread: ThreadId,
        label: LabelId,
        registers: &mut [Value],
    ) {
        let Turning { counting, turns, .. } = self.turning_mut();
        for (register, member) in counting.counters.registers_at(thread, label) {
            let value = &mut registers[register.index()];
            *value = counting.turned(*member, *value, turns.get(turn)[member.class]);
        }
    }

    /// The turn of one class by so much.
    pub(crate) fn one_turn(&mut self, class: usize, by: Value) -> u32 {
        let Turning { counting, turns, .. } = self.turning_mut();
        let mut turn = vec![0; counting.counters.classes().len()].into_boxed_slice();
        turn[class] = by;
        turns.intern(turn).0
    }

    /// What the value of an address becomes by a turn.
    pub(crate) fn turned_cell(&mut self, turn: u32, address: Value, value: Value) -> Value {
        let Turning { counting, turns, .. } = self.turning_mut();
        let member = counting.counters.member_at(address);
        member.map_or(value, |member| counting.turned(member, value, turns.get(turn)[member.class]))
    }

    /// The turn that two turns make together.
    pub fn turns_together(&mut self, first: u32, second: u32) -> u32 {
        if first == NO_TURN || second == NO_TURN {
            return first.max(second);
        }
        let Turning { counting, turns, .. } = self.turning_mut();
        let pairs = turns.get(first).iter().zip(turns.get(second));
        let sum = pairs.map(|(first, second)| counting.counters.together(*first, *second)).collect();
        turns.intern(sum).0
    }

    /// The turn that takes another one back.
    pub fn turn_back(&mut self, turn: u32) -> u32 {
        if turn == NO_TURN {
            return NO_TURN;
        }
        let Turning { counting, turns, .. } = self.turning_mut();
        let back = turns.get(turn).iter().map(|by| counting.counters.back(*by)).collect();
        turns.intern(back).0
    }

    /// The places that a place is taken to by the turn between two turns, again and again, itself
    /// included; none where there are many.
    pub(super) fn turned_places(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        let back = self.turn_back(from);
        let turn = self.turns_together(back, to);
        if self.has_ends() {
            return self.where_turns_end(turn, place).into_iter().collect();
        }
        let mut places = vec![place];
        let mut next = self.turned_place(turn, place);
        while next != place {
            if places.len() == MOST_TURNED || self.program().domain.is_none() {
                return Vec::new();
            }
            places.push(next);
            next = self.turned_place(turn, next);
        }
        places
    }

    /// The place where a turn, again and again, takes a place in the end, if it comes to one where
    /// what is far behind is one value.
    fn where_turns_end(&mut self, turn: u32, place: u32) -> Option<u32> {
        let mut place = place;
        for _ in 0..MOST_FALLING {
            let next = self.turned_place(turn, place);
            if next == place {
                return Some(place);
            }
            place = next;
        }
        None
    }

    /// Whether turns move the tokens of a place.
    fn is_moved(&self, place: u32) -> bool {
        let Some(turning) = &self.turning else { return false };
        let local = self.local(self.model.token(place).0);
        !turning.counting.counters.registers_at(local.thread, local.label).is_empty()
    }

    /// Stops turning where that would change what copies are that have not chosen their thread yet.
    pub(super) fn keep_spare_copies(&mut self) {
        if self.spare_places.iter().any(|place| self.is_moved(*place)) {
            self.turning = None;
        }
    }

    fn turning_mut(&mut self) -> &mut Turning {
        self.turning.as_mut().expect("only systems with counters turn")
    }

    /// The turn that takes the first address of each class to its initial value, or a step above it
    /// at most.
    fn turn_of_memory(&mut self, memory: u32) -> u32 {
        if let Some(known) = self.turning_mut().of_memory.get(&memory) {
            return *known;
        }
        let counting = self.turning_mut().counting.clone();
        let turn_of = |(class, reference): (usize, &Value)| {
            counting.counters.turn_to(class, self.read(memory, *reference), self.program().initial_value(*reference))
        };
        let turn: Box<[Value]> = counting.references().iter().enumerate().map(turn_of).collect();
        // What is far behind an address that falls comes near.
        let falls = turn.iter().enumerate().find(|(class, by)| **by > 0 && counting.has_end(*class));
        if let Some((class, _)) = falls {
            let what = Growing::Address(counting.references()[class]);
            let kind = FaultKind::Growth { what, limit: 0 };
            let fault = Fault { thread: ThreadId::from_index(0), instruction: InstructionId::from_index(0), kind };
            self.note_admitted(Err(fault));
        }
        let turn = self.turning_mut().turns.intern(turn).0;
        self.turning_mut().of_memory.insert(memory, turn);
        turn
    }

    fn turned_memory(&mut self, memory: u32, turn: u32) -> u32 {
        let counting = self.turning_mut().counting.clone();
        let counters = &counting.counters;
        let mut changed: Vec<(Value, Value)> = self.memories.get(memory).changed.clone();
        changed.retain(|(address, _)| counters.class_of_cell(*address).is_none());
        for (class, cells) in counters.classes().iter().map(|class| &class.cells).enumerate() {
            for address in cells {
                let by = self.turning_mut().turns.get(turn)[class];
                let member = counters.member_at(*address).expect("an address of a class is a member");
                let value = counting.turned(member, self.read(memory, *address), by);
                self.admit_turned_cell(*address, value);
                if value != self.program().initial_value(*address) {
                    changed.push((*address, value));
                }
            }
        }
        changed.sort_unstable();
        self.memories.intern(Memory { changed }).0
    }

    /// The fault that turns have led to more values than are admitted.
    pub(super) fn overgrown(&self) -> Result<(), Fault> {
        self.turning.as_ref().and_then(|turning| turning.overgrown.clone()).map_or(Ok(()), Err)
    }

    /// Registers that a turn leads to count as values like those that instructions compute.
    pub(in crate::instrumented) fn admit_turned(&mut self, thread: ThreadId, label: LabelId, registers: &[Value]) {
        let cause = self.locals.instructions_at(thread, label).first().copied();
        let cause = cause.unwrap_or_else(|| InstructionId::from_index(0));
        let admitted = self.locals.admit_registers(thread, cause, label, registers);
        self.note_admitted(admitted);
    }

    /// A value of an address that a turn leads to, likewise.
    fn admit_turned_cell(&mut self, address: Value, value: Value) {
        let counters = self.turning_mut().counting.counters.clone();
        let member = counters.member_at(address);
        let stores = self.program().thread_ids().find_map(|(id, thread)| {
            let is_it = |(own, instruction): &(InstructionId, &Instruction)| {
                let is_constant = instruction.action.address().filter(|address| address.is_constant());
                let is_there = is_constant.is_none_or(|own| own.evaluate_address(&[]) == Ok(address));
                let is_load = matches!(instruction.action, Action::Load { .. });
                !is_load && is_there && counters.member_accessed(id, *own) == member
            };
            thread.instruction_ids().find(is_it).map(|(own, _)| (id, own))
        });
        let Some((thread, instruction)) = stores else { return };
        let admitted = self.locals.admit_stored(thread, instruction, address, value);
        self.note_admitted(admitted);
    }

    fn note_admitted(&mut self, admitted: Result<bool, Fault>) {
        if let Err(fault) = admitted {
            self.turning_mut().overgrown.get_or_insert(fault);
        }
    }
}
