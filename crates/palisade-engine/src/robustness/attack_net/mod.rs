//! The counter abstraction of one attack as an eager Petri net, for the coverability engine and for other tools: every
//! place and transition that value sets admit.
//!
//! A place is added when it can be marked if tokens were never used up (which closes the value sets of the instrumented
//! program, thread by thread and address by address), a transition when all of its places are there. Addresses,
//! their access levels, the lock, the stage and the attacker are units; local states of threads are counters.
//! `success` can be marked exactly when the attack is feasible. Unlike the search, the net lets helpers move while
//! the attacker has local instructions to do; that changes no answer.

mod meaning;

pub(super) use meaning::Firing;

use super::attacks::Attack;
use super::fault::Fault;
use super::system::{Growth, Load, Local, OffPath, Operation, System, access, off_path, raise};
use meaning::Meaning;
use palisade_evidence::{Fact, Level};
use palisade_model::limits::{Halt, Limits, StopReason};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Problem, Query, Target, TransitionId};
use palisade_model::program::{Action, Copies, InstructionId, Program, Thread, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The net of an attack with the question whether `success` can be marked. `values` is how many distinct values of a
/// register or an address are admitted in a program without a domain.
///
/// # Errors
///
/// A fault when value sets do not close without a domain (they are thread-modular, so they can diverge where reachable
/// values do not), or an expression they reach has no value.
pub fn attack_net(program: &Program, attack: &Attack, values: usize, limits: &Limits) -> Result<Problem, Halt<Fault>> {
    let bounds = Bounds { values, copies: None, transitions: u64::MAX };
    Ok(AttackNet::build(program, attack, bounds, limits)?.problem)
}

/// How large the net of an attack may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub(super) values: usize,
    /// How many copies replicated threads have together, each free to be any of them; any number when not given.
    pub(super) copies: Option<u32>,
    /// When more transitions than this have been listed, some of them again and again, there is no net.
    pub(super) transitions: u64,
}

/// The net of an attack, with what its places and transitions stand for.
pub(super) struct AttackNet<'p> {
    /// The net and the question.
    pub(super) problem: Problem,
    /// What each transition does.
    pub(super) firings: Vec<Firing>,
    /// Other instructions of the attacker that a transition does as well, in the order they were listed.
    pub(super) also: FxHashMap<TransitionId, Vec<InstructionId>>,
    meanings: Vec<Meaning>,
    /// The tables that firings refer to.
    pub(super) system: System<'p>,
}

impl<'p> AttackNet<'p> {
    /// Lists the net.
    pub(super) fn build(
        program: &'p Program,
        attack: &Attack,
        bounds: Bounds,
        limits: &Limits,
    ) -> Result<Self, Halt<Fault>> {
        let mut builder = Builder::new(program, *attack, bounds, limits.clone());
        builder.start().map_err(Halt::Fault)?;
        builder.close()?;
        builder.finish()
    }

    /// What a place stands for in evidence.
    pub(super) fn fact(&self, place: PlaceId) -> Fact {
        self.meanings[place.index()].fact(&self.system)
    }
}

/// How many places are visited between two looks at the limits.
const METER: usize = 64;

/// How many ways and transitions are listed between two looks at the limits.
const WORK: usize = 256;

struct Builder<'p> {
    program: &'p Program,
    system: System<'p>,
    attack: Attack,
    bounds: Bounds,
    net: Net,
    firings: Vec<Firing>,
    also: FxHashMap<TransitionId, Vec<InstructionId>>,
    places: FxHashMap<Meaning, PlaceId>,
    meanings: Vec<Meaning>,
    transitions: FxHashMap<(Vec<PlaceId>, Vec<PlaceId>), TransitionId>,
    /// How many were listed, those that were there already included.
    listed: u64,
    /// Values seen per address, in order of discovery.
    values: FxHashMap<Value, Vec<Value>>,
    levels: FxHashMap<Value, Vec<Option<Level>>>,
    sections: Vec<Vec<(Value, Level)>>,
    /// Time, memory, interruption.
    limits: Limits,
    /// Why the listing ends before it is complete.
    stopped: Option<StopReason>,
    /// Ways and transitions listed since the limits were asked.
    work: usize,
}

/// What a transition takes and puts, one token each; a place in both is only read.
#[derive(Clone, Default)]
struct Arcs {
    take: Vec<PlaceId>,
    put: Vec<PlaceId>,
}

impl Arcs {
    fn moves(mut self, from: PlaceId, to: PlaceId) -> Self {
        self.take.push(from);
        self.put.push(to);
        self
    }

    fn reads(self, place: PlaceId) -> Self {
        self.moves(place, place)
    }

    fn takes(mut self, place: PlaceId) -> Self {
        self.take.push(place);
        self
    }

    fn puts(mut self, place: PlaceId) -> Self {
        self.put.push(place);
        self
    }
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, attack: Attack, bounds: Bounds, limits: Limits) -> Self {
        let mut net = Net { name: program.name.clone(), ..Net::default() };
        if net.name.is_empty() {
            net.name = "program".into();
        }
        Self {
            program,
            system: System::new(program, Growth::Fault(bounds.values)),
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

    /// Counts a piece of work, and says whether to go on: a single place can have as many transitions as there are memories,
    /// levels and sections to go with it.
    fn goes_on(&mut self) -> bool {
        self.work += 1;
        if self.work.is_multiple_of(WORK) && self.stopped.is_none() {
            self.stopped = self.limits.check().err();
        }
        if self.listed > self.bounds.transitions {
            self.stopped.get_or_insert(StopReason::Budget);
        }
        self.stopped.is_none()
    }

    fn start(&mut self) -> Result<(), Fault> {
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
    fn close(&mut self) -> Result<(), Halt<Fault>> {
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
                        Meaning::Token(local, joined) => self.token(local, joined).map_err(Halt::Fault)?,
                        Meaning::Attacker(number) => self.attacker(number).map_err(Halt::Fault)?,
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

    /// The transitions of a local state of a thread.
    fn token(&mut self, local: u32, joined: bool) -> Result<(), Fault> {
        let Local { thread, holding, .. } = self.system.local_state(local).clone();
        let token = self.place(Meaning::Token(local, joined));
        for (id, operation) in self.system.operations(local) {
            let free = self.place(Meaning::Lock(false));
            let arcs = match operation {
                Operation::Lock if holding => continue,
                Operation::Lock => Arcs::default().moves(free, self.place(Meaning::Lock(true))),
                Operation::Unlock if !holding => continue,
                Operation::Unlock => Arcs::default().moves(self.place(Meaning::Lock(true)), free),
                _ if holding => Arcs::default(),
                _ => Arcs::default().reads(free),
            }
            .takes(token);
            let reads = match operation {
                Operation::Load(address) | Operation::Update(address) => {
                    self.values_of(address).iter().map(|value| Some((address, *value))).collect()
                }
                _ => vec![None],
            };
            for read in reads {
                let value = read.map_or(0, |(_, value)| value);
                let Some((stored, targets)) = self.system.effect(local, id, operation, value)? else { continue };
                let write = match operation {
                    Operation::Store(address, value) => Some((address, value)),
                    Operation::Update(address) => stored.map(|stored| (address, stored)),
                    _ => None,
                };
                for arcs in self.with_memory(&arcs, read, write) {
                    if !self.goes_on() {
                        return Ok(());
                    }
                    for (arcs, joins) in self.with_stage(arcs, joined, holding, operation, stored.is_some()) {
                        for target in &targets {
                            let arcs = match target {
                                Some(local) => arcs.clone().puts(self.place(Meaning::Token(*local, joins))),
                                None => arcs.clone(),
                            };
                            let to = target.map(|local| (local, joins));
                            let firing = Firing::Step { from: (local, joined), instruction: id, to };
                            self.transition(&self.name(thread, id), arcs, firing);
                        }
                    }
                }
            }
            if thread == self.attack.thread
                && id == self.attack.store
                && !joined
                && let Some(attacker) = self.system.attacker_from(local, id)?
                && !self.system.is_hopeless(attacker)
            {
                // Isu_stA (Eq. 1): the idle attacker is the test-and-set flag.
                let idle = self.place(Meaning::Idle);
                let attacker = self.place(Meaning::Attacker(attacker));
                let stage = self.place(Meaning::Stage(false));
                let arcs = Arcs::default().takes(token).moves(idle, attacker).reads(stage);
                self.transition(&format!("{} delayed", self.name(thread, id)), arcs, Firing::Delay(local));
            }
        }
        Ok(())
    }

    /// The ways memory can be before and after an action that reads one address or writes one.
    fn with_memory(&mut self, arcs: &Arcs, read: Option<(Value, Value)>, write: Option<(Value, Value)>) -> Vec<Arcs> {
        match (read, write) {
            (None, None) => vec![arcs.clone()],
            (Some((address, value)), None) => {
                vec![arcs.clone().reads(self.place(Meaning::Memory(address, value)))]
            }
            (Some((address, old)), Some((_, new))) => {
                let old = self.place(Meaning::Memory(address, old));
                let new = self.value_place(address, new);
                vec![arcs.clone().moves(old, new)]
            }
            (None, Some((address, new))) => {
                let new = self.value_place(address, new);
                let olds = self.values_of(address);
                olds.into_iter().map(|old| arcs.clone().moves(self.place(Meaning::Memory(address, old)), new)).collect()
            }
        }
    }

    /// The ways an action can happen before ld_A and after it; with each, whether its thread has joined.
    fn with_stage(
        &mut self,
        arcs: Arcs,
        joined: bool,
        holding: bool,
        operation: Operation,
        updates: bool,
    ) -> Vec<(Arcs, bool)> {
        let mut ways = Vec::new();
        if !joined {
            ways.push((arcs.clone().reads(self.place(Meaning::Stage(false))), false));
        }
        let Some(after) = self.places.get(&Meaning::Stage(true)).copied() else { return ways };
        let access = access(operation, updates);
        let arcs = if joined { arcs } else { arcs.reads(after) };
        let Some((address, kind)) = access else {
            if joined || off_path(operation, holding, None) == OffPath::Passes {
                ways.push((arcs, joined));
            }
            return ways;
        };
        for known in self.levels_of(address) {
            if !self.goes_on() {
                break;
            }
            let before = self.place(Meaning::Level(address, known));
            if joined {
                let raised = self.level_place(address, known.max(Some(kind)));
                ways.push((arcs.clone().moves(before, raised), true));
                continue;
            }
            match off_path(operation, holding, Some((kind, known))) {
                OffPath::Joins => {
                    ways.extend(self.joining(&arcs, address, known, kind).into_iter().map(|arcs| (arcs, true)));
                }
                OffPath::Records => {
                    for section in self.sections.clone() {
                        if !self.goes_on() {
                            break;
                        }
                        let mut longer = section.clone();
                        raise(&mut longer, address, kind);
                        let arcs = arcs.clone().reads(before);
                        let from = self.place(Meaning::Section(section));
                        let to = self.section_place(longer);
                        ways.push((arcs.moves(from, to), false));
                    }
                }
                OffPath::Passes => ways.push((arcs.clone(), false)),
                OffPath::Stops => {}
            }
        }
        ways
    }

    /// The ways to join by an access: the accesses recorded in the open section, if any, count with it.
    fn joining(&mut self, arcs: &Arcs, address: Value, known: Option<Level>, level: Level) -> Vec<Arcs> {
        let mut ways = Vec::new();
        for section in self.sections.clone() {
            let from = self.place(Meaning::Section(section.clone()));
            let to = self.place(Meaning::Section(Vec::new()));
            let mut own = level;
            let mut open = vec![arcs.clone().moves(from, to)];
            for (other, recorded) in section {
                if other == address {
                    own = own.max(recorded);
                    continue;
                }
                let mut longer = Vec::new();
                for arcs in open {
                    if !self.goes_on() {
                        return ways;
                    }
                    for known in self.levels_of(other) {
                        let before = self.place(Meaning::Level(other, known));
                        let raised = self.level_place(other, known.max(Some(recorded)));
                        longer.push(arcs.clone().moves(before, raised));
                    }
                }
                open = longer;
            }
            let before = self.place(Meaning::Level(address, known));
            let raised = self.level_place(address, known.max(Some(own)));
            ways.extend(open.into_iter().map(|arcs| arcs.moves(before, raised)));
        }
        ways
    }

    /// The transitions of a delaying attacker (Eqs. 2–6).
    fn attacker(&mut self, number: u32) -> Result<(), Fault> {
        let from = self.place(Meaning::Attacker(number));
        let free = self.place(Meaning::Lock(false));
        let store_address = self.system.attacker(number).store_address;
        for id in self.system.attacker_instructions(number) {
            let load = self.system.attacker_load(number, id)?;
            let reads: Vec<(Arcs, Value)> = match load {
                None => vec![(Arcs::default(), 0)],
                Some(Load { buffered: Some(value), .. }) => vec![(Arcs::default().reads(free), value)],
                Some(Load { address, buffered: None }) => self
                    .values_of(address)
                    .into_iter()
                    .map(|value| {
                        (Arcs::default().reads(free).reads(self.place(Meaning::Memory(address, value))), value)
                    })
                    .collect(),
            };
            let name = format!("{} delaying", self.name(self.attack.thread, id));
            for (arcs, value) in reads {
                if !self.goes_on() {
                    return Ok(());
                }
                for after in self.system.attacker_after(number, id, value)? {
                    if self.system.is_hopeless(after) {
                        continue;
                    }
                    let to = self.place(Meaning::Attacker(after));
                    let firing = Firing::Attacker { instruction: id, after };
                    self.transition(&name, arcs.clone().moves(from, to), firing);
                }
            }
            if id == self.attack.load
                && let Some(Load { address, buffered: None }) = load
            {
                let none = self.level_place(address, None);
                let loaded = self.level_place(address, Some(Level::Load));
                let arcs = Arcs::default()
                    .moves(from, self.place(Meaning::Gone(store_address)))
                    .moves(self.place(Meaning::Stage(false)), self.place(Meaning::Stage(true)))
                    .moves(none, loaded)
                    .reads(free);
                self.transition(&format!("{} overstepped", self.name(self.attack.thread, id)), arcs, Firing::Load);
            }
        }
        Ok(())
    }

    /// The cycle is closed when the address of st_A has been accessed and no section is open (Eq. 13).
    fn success(&mut self, store_address: Value) {
        let gone = self.place(Meaning::Gone(store_address));
        let free = self.place(Meaning::Lock(false));
        let success = self.place(Meaning::Success);
        for level in self.levels_of(store_address).into_iter().flatten() {
            let accessed = self.place(Meaning::Level(store_address, Some(level)));
            let arcs = Arcs::default().takes(gone).reads(free).reads(accessed).puts(success);
            self.transition("success", arcs, Firing::Success);
        }
    }

    fn values_of(&mut self, address: Value) -> Vec<Value> {
        if !self.values.contains_key(&address) {
            let initial = self.program.initial_value(address);
            self.add(Meaning::Memory(address, initial), OmegaCount::Finite(Count::ONE));
        }
        self.values[&address].clone()
    }

    fn value_place(&mut self, address: Value, value: Value) -> PlaceId {
        self.values_of(address);
        self.place(Meaning::Memory(address, value))
    }

    fn levels_of(&mut self, address: Value) -> Vec<Option<Level>> {
        if !self.levels.contains_key(&address) {
            self.add(Meaning::Level(address, None), OmegaCount::Finite(Count::ONE));
        }
        self.levels[&address].clone()
    }

    fn level_place(&mut self, address: Value, level: Option<Level>) -> PlaceId {
        self.levels_of(address);
        self.place(Meaning::Level(address, level))
    }

    fn section_place(&mut self, section: Vec<(Value, Level)>) -> PlaceId {
        self.place(Meaning::Section(section))
    }

    fn place(&mut self, meaning: Meaning) -> PlaceId {
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

    fn transition(&mut self, name: &str, mut arcs: Arcs, firing: Firing) {
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

    fn name(&self, thread: ThreadId, id: InstructionId) -> String {
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

    /// The net with its units, and the question.
    fn finish(mut self) -> Result<AttackNet<'p>, Halt<Fault>> {
        let mut units: Vec<Vec<PlaceId>> = Vec::new();
        let mut numbers: FxHashMap<(u8, Value), usize> = FxHashMap::default();
        let mut member = |kind: u8, address: Value, place: PlaceId| {
            let number = *numbers.entry((kind, address)).or_insert_with(|| {
                units.push(Vec::new());
                units.len() - 1
            });
            units[number].push(place);
        };
        for (index, meaning) in self.meanings.iter().enumerate() {
            let place = PlaceId::from_index(index);
            match meaning {
                Meaning::Memory(address, _) => member(0, *address, place),
                Meaning::Level(address, _) => member(1, *address, place),
                Meaning::Lock(_) => member(2, 0, place),
                Meaning::Stage(_) => member(3, 0, place),
                // Success takes the attacker's token.
                Meaning::Idle | Meaning::Attacker(_) | Meaning::Gone(_) | Meaning::Success => member(4, 0, place),
                Meaning::Section(_) => member(5, 0, place),
                Meaning::Token(..) | Meaning::Start(_) | Meaning::Spare => {}
            }
        }
        // The attacker's token leaves its thread, and so does one that stops: then these are no unit.
        let mut of_thread = vec![Vec::new(); self.program.threads.len()];
        for (index, meaning) in self.meanings.iter().enumerate() {
            let thread = match meaning {
                Meaning::Token(local, _) => self.system.local_state(*local).thread,
                Meaning::Start(thread) => *thread,
                _ => continue,
            };
            of_thread[thread.index()].push(PlaceId::from_index(index));
        }
        let single = |(thread, _): &(&Thread, Vec<PlaceId>)| thread.copies == Copies::Exactly(1);
        units.extend(self.program.threads.iter().zip(of_thread).filter(single).map(|(_, places)| places));
        self.limits.check()?;
        self.net.add_sound_units(units);
        let success = self.places[&Meaning::Success];
        let target = Target::new(vec![(success, Count::ONE)]);
        let problem = Problem { net: self.net, query: Query { targets: vec![target] } };
        let Self { firings, also, meanings, system, .. } = self;
        Ok(AttackNet { problem, firings, also, meanings, system })
    }
}
