//! The net under construction: places and transitions are added until nothing is new.

use super::Bounds;
use super::arcs::Arcs;
use super::meaning::{Firing, Meaning};
use crate::instrumented::attacks::Attack;
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Growth, Operation};
use crate::instrumented::tso::{Load, System};
use crate::lazy::{LazyNet, NetError};
use palisade_evidence::Level;
use palisade_model::limits::{Halt, Limits, StopReason};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, TransitionId};
use palisade_model::program::{Action, Copies, InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// How many places are visited between two looks at the limits.
const METER: usize = 64;

/// How many ways and transitions are listed between two looks at the limits.
const WORK: usize = 256;

/// A net under construction, with what is known of values and levels so far.
pub(super) struct Builder<'p> {
    pub(super) program: &'p Program,
    /// The tables of local states and attackers.
    pub(super) system: System<'p>,
    pub(super) attack: Attack,
    bounds: Bounds,
    /// The places and transitions so far.
    pub(super) net: Net,
    /// What each transition does.
    pub(super) firings: Vec<Firing>,
    /// Other instructions of the attacker that a transition does as well.
    pub(super) also: FxHashMap<TransitionId, Vec<InstructionId>>,
    /// The place of each meaning.
    pub(super) places: FxHashMap<Meaning, PlaceId>,
    /// The meaning of each place.
    pub(super) meanings: Vec<Meaning>,
    /// The transition with given arcs.
    transitions: FxHashMap<(Vec<PlaceId>, Vec<PlaceId>), TransitionId>,
    /// How many were listed, those that were there already included.
    listed: u64,
    /// Values seen per address, in order of discovery.
    values: FxHashMap<Value, Vec<Value>>,
    /// Access levels seen per address, in order of discovery.
    levels: FxHashMap<Value, Vec<Option<Level>>>,
    /// What open sections have accessed, in order of discovery.
    pub(super) sections: Vec<Vec<(Value, Level)>>,
    /// Time, memory, interruption.
    pub(super) limits: Limits,
    /// Why the listing ends before it is complete.
    stopped: Option<StopReason>,
    /// Ways and transitions listed since the limits were asked.
    work: usize,
}

impl<'p> Builder<'p> {
    /// An empty net.
    pub(super) fn new(program: &'p Program, attack: Attack, bounds: Bounds, limits: Limits) -> Self {
        let mut net = Net { name: program.name.clone(), ..Net::default() };
        if net.name.is_empty() {
            net.name = "program".into();
        }
        let mut system = System::new(program, Growth::Fault(bounds.values));
        system.limit(&limits);
        Self {
            program,
            system,
            attack,
            bounds,
            net,
            firings: Vec::new(),
            also: FxHashMap::default(),
            places: FxHashMap::default(),
            meanings: Vec::new(),
            transitions: FxHashMap::default(),
            listed: 0,
            values: FxHashMap::default(),
            levels: FxHashMap::default(),
            sections: Vec::new(),
            limits,
            stopped: None,
            work: 0,
        }
    }

    /// Counts a piece of work, and says whether to go on: a single place can have as many
    /// transitions as there are memories, levels and sections to go with it.
    pub(super) fn goes_on(&mut self) -> bool {
        self.work += 1;
        if self.work.is_multiple_of(WORK) && self.stopped.is_none() {
            self.stopped = self.limits.check().err();
        }
        if self.listed > self.bounds.transitions {
            self.stopped.get_or_insert(StopReason::Budget);
        }
        self.stopped.is_none()
    }

    /// Adds the places that are marked at first.
    pub(super) fn start(&mut self) -> Result<(), Fault> {
        let one = || OmegaCount::Finite(Count::ONE);
        self.add(Meaning::Lock(false), one());
        self.add(Meaning::Stage(false), one());
        self.add(Meaning::Idle, one());
        self.add(Meaning::Section(Vec::new()), one());
        self.place(Meaning::Success);
        let spare = self.bounds.copies.map(|copies| {
            let count = OmegaCount::Finite(Count::from(u64::from(copies)));
            self.add(Meaning::Spare, count)
        });
        for (thread, template) in self.program.thread_ids() {
            let count = match template.copies {
                Copies::Exactly(0) => continue,
                Copies::Exactly(count) => OmegaCount::Finite(Count::from(count)),
                Copies::Any => OmegaCount::Omega,
            };
            let locals = self.system.initial_locals(thread)?;
            if let (Copies::Any, Some(spare)) = (template.copies, spare) {
                for local in locals {
                    let chosen = self.place(Meaning::Token(local, false));
                    self.transition("start", Arcs::default().moves(spare, chosen), Firing::Start(local));
                }
                continue;
            }
            if let ([local], _) | ([local, ..], OmegaCount::Omega) = (&locals[..], &count) {
                self.add(Meaning::Token(*local, false), count.clone());
                for local in &locals[1..] {
                    self.add(Meaning::Token(*local, false), count.clone());
                }
            } else if !locals.is_empty() {
                let start = self.add(Meaning::Start(thread), count);
                for local in locals {
                    let chosen = self.place(Meaning::Token(local, false));
                    self.transition("start", Arcs::default().moves(start, chosen), Firing::Start(local));
                }
            }
        }
        Ok(())
    }

    /// Adds places and transitions until nothing is new.
    pub(super) fn close(&mut self) -> Result<(), Halt<Fault>> {
        // How much a place's transitions could see when they were last listed.
        let mut seen: Vec<usize> = Vec::new();
        let mut changed = true;
        while changed {
            changed = false;
            let mut index = 0;
            while index < self.meanings.len() {
                if index.is_multiple_of(METER) {
                    self.limits.check()?;
                }
                if self.listed > self.bounds.transitions {
                    return Err(Halt::Stopped(StopReason::Budget));
                }
                if let Some(reason) = self.stopped {
                    return Err(Halt::Stopped(reason));
                }
                let meaning = self.meanings[index].clone();
                let visible = self.visible(&meaning);
                seen.resize(self.meanings.len().max(seen.len()), 0);
                if seen[index] < visible {
                    seen[index] = visible;
                    changed = true;
                    match meaning {
                        Meaning::Token(local, joined) => self.token(local, joined).map_err(NetError::halt)?,
                        Meaning::Attacker(number) => self.attacker(number).map_err(NetError::halt)?,
                        Meaning::Gone(address) => self.success(address),
                        _ => {}
                    }
                }
                index += 1;
            }
        }
        self.stopped.map_or(Ok(()), |reason| Err(Halt::Stopped(reason)))
    }

    /// The size of everything a place's transitions depend on; it only grows.
    fn visible(&mut self, meaning: &Meaning) -> usize {
        let stages = usize::from(self.places.contains_key(&Meaning::Stage(true)))
            + usize::from(self.places.contains_key(&Meaning::Lock(true)));
        match meaning {
            Meaning::Token(local, _) => {
                let addresses: Vec<Value> = self
                    .system
                    .operations(*local)
                    .iter()
                    .filter_map(|(_, operation)| match operation {
                        Operation::Load(address) | Operation::Store(address, _) | Operation::Update(address) => {
                            Some(*address)
                        }
                        _ => None,
                    })
                    .collect();
                let sizes: usize = addresses
                    .iter()
                    .map(|address| self.values_of(*address).len() + self.levels_of(*address).len())
                    .sum();
                let others: usize = self.levels.values().map(Vec::len).sum();
                1 + sizes + stages + self.sections.len() + if self.sections.is_empty() { 0 } else { others }
            }
            Meaning::Attacker(number) => {
                let mut size = 1 + stages;
                for id in self.system.attacker_instructions(*number) {
                    if let Ok(Some(Load { address, .. })) = self.system.attacker_load(*number, id) {
                        size += self.values_of(address).len();
                    }
                }
                size
            }
            Meaning::Gone(address) => 1 + self.levels_of(*address).len(),
            _ => 0,
        }
    }

    /// The values that an address can have, as far as they are known.
    pub(super) fn values_of(&mut self, address: Value) -> Vec<Value> {
        if !self.values.contains_key(&address) {
            let initial = self.program.initial_value(address);
            self.add(Meaning::Memory(address, initial), OmegaCount::Finite(Count::ONE));
        }
        self.values[&address].clone()
    }

    /// The place of a value of an address.
    pub(super) fn value_place(&mut self, address: Value, value: Value) -> PlaceId {
        self.values_of(address);
        self.place(Meaning::Memory(address, value))
    }

    /// The levels at which an address can have been accessed, as far as they are known.
    pub(super) fn levels_of(&mut self, address: Value) -> Vec<Option<Level>> {
        if !self.levels.contains_key(&address) {
            self.add(Meaning::Level(address, None), OmegaCount::Finite(Count::ONE));
        }
        self.levels[&address].clone()
    }

    /// The place of a level of an address.
    pub(super) fn level_place(&mut self, address: Value, level: Option<Level>) -> PlaceId {
        self.levels_of(address);
        self.place(Meaning::Level(address, level))
    }

    /// The place of the accesses of an open section.
    pub(super) fn section_place(&mut self, section: Vec<(Value, Level)>) -> PlaceId {
        self.place(Meaning::Section(section))
    }

    /// The place with a meaning, unmarked at first.
    pub(super) fn place(&mut self, meaning: Meaning) -> PlaceId {
        match self.places.get(&meaning) {
            Some(place) => *place,
            None => self.add(meaning, OmegaCount::Finite(Count::ZERO)),
        }
    }

    fn add(&mut self, meaning: Meaning, initial: OmegaCount) -> PlaceId {
        match &meaning {
            Meaning::Memory(address, value) => self.values.entry(*address).or_default().push(*value),
            Meaning::Level(address, level) => self.levels.entry(*address).or_default().push(*level),
            Meaning::Section(section) => self.sections.push(section.clone()),
            _ => {}
        }
        let place = self.net.add_place(meaning.describe(&self.system), initial);
        self.places.insert(meaning.clone(), place);
        self.meanings.push(meaning);
        place
    }

    /// Adds a transition, unless it changes nothing or is there.
    pub(super) fn transition(&mut self, name: &str, mut arcs: Arcs, firing: Firing) {
        self.listed += 1;
        arcs.take.sort_unstable();
        arcs.put.sort_unstable();
        if arcs.take == arcs.put {
            return;
        }
        match self.transitions.entry((arcs.take, arcs.put)) {
            Entry::Occupied(known) => {
                let known = *known.get();
                if let Firing::Attacker { instruction, .. } = firing {
                    self.note_instruction(known, instruction);
                }
            }
            Entry::Vacant(new) => {
                let weighted = |places: &[PlaceId]| places.iter().map(|place| (*place, Count::ONE)).collect();
                let (take, put) = new.key();
                let id = self.net.add_transition(name, weighted(take), weighted(put));
                new.insert(id);
                self.firings.push(firing);
            }
        }
    }

    /// Notes that a transition which is there already does an instruction of the attacker.
    fn note_instruction(&mut self, transition: TransitionId, instruction: InstructionId) {
        let first = self.firings[transition.index()];
        if !matches!(first, Firing::Attacker { instruction: first, .. } if first == instruction) {
            let others = self.also.entry(transition).or_default();
            if !others.contains(&instruction) {
                others.push(instruction);
            }
        }
    }

    /// The name of an instruction's transitions.
    pub(super) fn name(&self, thread: ThreadId, id: InstructionId) -> String {
        let template = self.program.thread(thread);
        let instruction = template.instruction(id);
        let kind = match instruction.action {
            Action::Load { .. } => "load",
            Action::Store { .. } => "store",
            Action::Fence => "mfence",
            Action::Cas { .. } => "cas",
            Action::Rmw { .. } => "rmw",
            Action::Lock => "lock",
            Action::Unlock => "unlock",
            _ => "local",
        };
        format!("{}@{} {kind}", template.name, template.label(instruction.source).name)
    }
}
