//! The turns that an exploration takes, by number, and what they make of its parts: for systems
//! whose configurations are memories and copies with something besides that no turn changes.

use super::control::lookup;
use super::counting::Counting;
use super::local::{Local, Locals};
use crate::instrumented::fault::{Fault, FaultKind, Growing};
use crate::lazy::Interner;
use palisade_model::program::{InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;

/// The turns that an exploration takes.
#[derive(Clone, Debug)]
pub(crate) struct Turned {
    pub(crate) counting: Counting,
    /// For each class by how much its members are turned. Turn 0 is none.
    pub(crate) turns: Interner<Box<[Value]>>,
    /// What controls become, with the turn.
    pub(crate) controls: FxHashMap<u32, (u32, u32)>,
    /// What places become by a turn.
    pub(crate) places: FxHashMap<(u32, u32), u32>,
    /// The fault that turns have led to more values than are admitted, or that a reference has
    /// fallen.
    pub(crate) overgrown: Option<Fault>,
}

impl Turned {
    /// No turn has been taken.
    pub(crate) fn new(counting: Counting) -> Self {
        let mut turns = Interner::default();
        turns.intern(vec![0; counting.counters.classes().len()].into_boxed_slice());
        Self { counting, turns, controls: FxHashMap::default(), places: FxHashMap::default(), overgrown: None }
    }

    /// The turn that a memory takes.
    pub(crate) fn turn_of(&mut self, program: &Program, memory: &[(Value, Value)]) -> u32 {
        let value = |address: Value| lookup(memory, address).unwrap_or_else(|| program.initial_value(address));
        let turn_of = |(class, reference): (usize, &Value)| {
            self.counting.counters.turn_to(class, value(*reference), program.initial_value(*reference))
        };
        let turn: Box<[Value]> = self.counting.references().iter().enumerate().map(turn_of).collect();
        // What is far behind an address that falls comes near.
        let falls = turn.iter().enumerate().find(|(class, by)| **by > 0 && self.counting.has_end(*class));
        if let Some((class, _)) = falls {
            let what = Growing::Address(self.counting.references()[class]);
            let kind = FaultKind::Growth { what, limit: 0 };
            let fault = Fault { thread: ThreadId::from_index(0), instruction: InstructionId::from_index(0), kind };
            self.overgrown.get_or_insert(fault);
        }
        self.turns.intern(turn).0
    }

    /// What a memory, a sorted list of what has changed, becomes by a turn.
    pub(crate) fn memory(&self, program: &Program, turn: u32, memory: &[(Value, Value)]) -> Vec<(Value, Value)> {
        let counters = &self.counting.counters;
        let value = |address: Value| lookup(memory, address).unwrap_or_else(|| program.initial_value(address));
        let is_none = |(address, _): &&(Value, Value)| counters.class_of_cell(*address).is_none();
        let mut changed: Vec<(Value, Value)> = memory.iter().filter(is_none).copied().collect();
        let cells = counters.classes().iter().flat_map(|class| class.cells.iter().copied());
        let turned = cells.map(|address| (address, self.at_address(turn, address, value(address))));
        changed.extend(turned.filter(|(address, value)| *value != program.initial_value(*address)));
        changed.sort_unstable();
        changed
    }

    /// What a value at an address, or waiting for it, becomes by a turn.
    pub(crate) fn at_address(&self, turn: u32, address: Value, value: Value) -> Value {
        let member = self.counting.counters.member_at(address);
        member.map_or(value, |member| self.counting.turned(member, value, self.turns.get(turn)[member.class]))
    }

    /// What a local state becomes by a turn.
    pub(crate) fn local(&mut self, locals: &mut Locals<'_>, turn: u32, local: &Local) -> Local {
        let mut local = local.clone();
        for (register, member) in self.counting.counters.registers_at(local.thread, local.label) {
            let value = &mut local.registers[register.index()];
            *value = self.counting.turned(*member, *value, self.turns.get(turn)[member.class]);
        }
        if !local.is_stopped() {
            let cause = locals.instructions_at(local.thread, local.label).first().copied();
            let cause = cause.unwrap_or_else(|| InstructionId::from_index(0));
            let admitted = locals.admit_registers(local.thread, cause, local.label, &local.registers);
            if let Err(fault) = admitted {
                self.overgrown.get_or_insert(fault);
            }
        }
        local
    }

    /// The turn between two turns, the first taken back.
    pub(crate) fn between(&mut self, from: u32, to: u32) -> u32 {
        let counters = &self.counting.counters;
        let pairs = self.turns.get(from).iter().zip(self.turns.get(to));
        let sum = pairs.map(|(from, to)| counters.together(counters.back(*from), *to)).collect();
        self.turns.intern(sum).0
    }

    /// The turn that two turns make together.
    pub(crate) fn together(&mut self, first: u32, second: u32) -> u32 {
        let counters = &self.counting.counters;
        let pairs = self.turns.get(first).iter().zip(self.turns.get(second));
        let sum = pairs.map(|(first, second)| counters.together(*first, *second)).collect();
        self.turns.intern(sum).0
    }

    /// Whether turns move the registers of a local state.
    pub(crate) fn moves(&self, local: &Local) -> bool {
        !self.counting.counters.registers_at(local.thread, local.label).is_empty()
    }
}
