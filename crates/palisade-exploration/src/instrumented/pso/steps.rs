//! The steps of the net: of tokens, and of the attacker.

use super::system::{Attack, Control, PsoSystem, StepLabel};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{
    Memory, Move, OffPath, Operation, Place, Targets, access, number, off_path, raise, set,
};
use crate::lazy::{Entry, LazyNet, Step};
use palisade_evidence::Level;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, Value};

/// Stands for steps that take no token: the attacker's. The largest number is that of spare copies.
const NO_TOKEN: u32 = u32::MAX - 1;

impl PsoSystem<'_> {
    /// The steps that take a token from a place, or none ([`NO_TOKEN`]); computed once per control and place.
    fn steps_at(&mut self, control: u32, place: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place)) {
            return Ok(*range);
        }
        let before = self.control(control);
        let mut steps = Vec::new();
        if place == NO_TOKEN {
            self.attacker_steps(before, &mut steps)?;
        } else {
            self.token_steps(before, Place::from_number(place), &mut steps)?;
        }
        let start = number(self.arena.len());
        self.arena.extend_from_slice(&steps);
        let range = (start, number(self.arena.len()));
        self.cache.insert((control, place), range);
        Ok(range)
    }

    fn push(
        &mut self,
        steps: &mut Vec<Step>,
        after: Control,
        (take, put): (Option<u32>, Option<u32>),
        label: StepLabel,
    ) {
        let (control, label) = (self.controls.intern(after).0, self.labels.intern(label).0);
        steps.push(Step { control, take, put, label });
    }

    /// The steps of a token: everyone's under SC, those of the path after it has begun, none in between.
    fn token_steps(&mut self, before: Control, place: Place, steps: &mut Vec<Step>) -> Result<(), Fault> {
        if self.attack(before).is_some_and(|attack| attack.levels.is_empty()) {
            return Ok(());
        }
        let (first, last) = self.locals.moves(place.local());
        for index in first..last {
            let step = self.locals.move_at(index);
            let Some((after, joined, targets)) = self.execute(before, place, step)? else { continue };
            let thread = self.local(place.local()).thread;
            let label = StepLabel { thread, instruction: step.instruction, by_attacker: false, delays: false };
            let take = Some(place.number());
            for target in self.locals.targets(targets).to_vec() {
                let put = target.map(|local| Place::of(local, joined).number());
                self.push(steps, after, (take, put), label);
                if let (None, Operation::Store(address, value), Some(local)) = (before.attack, step.operation, target)
                    && self.goes_on(local, address)
                {
                    let attack = Attack { store_address: address, attacker: Some((local, value)), levels: Vec::new() };
                    let delayed = Control { attack: Some(self.attacks.intern(attack).0), ..before };
                    self.push(steps, delayed, (take, None), StepLabel { delays: true, ..label });
                }
            }
        }
        Ok(())
    }

    /// One instruction of a token on memory as it is; nothing when it is disabled.
    fn execute(
        &mut self,
        before: Control,
        place: Place,
        step: Move,
    ) -> Result<Option<(Control, bool, Targets)>, Fault> {
        let read = match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Load(address) | Operation::Update(address) => self.read(before.memory, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(place.local(), step, read)? else { return Ok(None) };
        let access = access(step.operation, outcome.stored.is_some());
        let Some((attack, joined)) = self.attack_after(before.attack, place.joined(), (step.operation, access)) else {
            return Ok(None);
        };
        let memory = match (step.operation, outcome.stored) {
            (Operation::Store(address, value), _) | (Operation::Update(address), Some(value)) => {
                self.write(before.memory, address, value)
            }
            _ => before.memory,
        };
        Ok(Some((Control { memory, attack }, joined, outcome.targets)))
    }

    /// The attack after an operation of a helper with its access, and whether the helper is on the path then; nothing when it may not be made.
    fn attack_after(
        &mut self,
        before: Option<u32>,
        joined: bool,
        (operation, access): (Operation, Option<(Value, Level)>),
    ) -> Option<(Option<u32>, bool)> {
        let Some(number) = before else { return Some((None, false)) };
        let known = self.attacks.get(number);
        let joins = joined
            || off_path(operation, false, access.map(|(address, kind)| (kind, known.level(address)))) == OffPath::Joins;
        joins.then(|| (Some(self.with_access(number, access)), true))
    }

    /// The attack after an access on the path.
    fn with_access(&mut self, number: u32, access: Option<(Value, Level)>) -> u32 {
        let Some((address, level)) = access else { return number };
        let known = self.attacks.get(number);
        if known.level(address) >= Some(level) {
            return number;
        }
        let mut after = known.clone();
        raise(&mut after.levels, address, level);
        self.attacks.intern(after).0
    }

    /// The steps of the attacker, which is on the path from its first access to another address on.
    fn attacker_steps(&mut self, before: Control, steps: &mut Vec<Step>) -> Result<(), Fault> {
        let Some(attack) = self.attack(before).cloned() else { return Ok(()) };
        let Some((local, value)) = attack.attacker else { return Ok(()) };
        let thread = self.local(local).thread;
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            let step = self.locals.move_at(index);
            let mut access = None;
            let mut memory = before.memory;
            let read = match step.operation {
                Operation::Load(address) if address == attack.store_address => value,
                Operation::Load(address) => {
                    access = Some((address, Level::Load));
                    self.read(memory, address)
                }
                Operation::Store(address, stored) if address != attack.store_address => {
                    access = Some((address, Level::Store));
                    memory = self.write(memory, address, stored);
                    0
                }
                Operation::Faulty(fault) if !self.drains(local, step.instruction) => {
                    return Err(self.locals.faults[fault as usize].clone());
                }
                // A store to the same address and whatever needs an empty buffer wait for the delayed store.
                _ => continue,
            };
            let Some(outcome) = self.locals.outcome(local, step, read)? else { continue };
            let mut after = attack.clone();
            if let Some((address, level)) = access {
                raise(&mut after.levels, address, level);
            }
            let label = StepLabel { thread, instruction: step.instruction, by_attacker: true, delays: false };
            for target in self.locals.targets(outcome.targets).to_vec() {
                let going = target.filter(|local| self.goes_on(*local, attack.store_address));
                if going.is_none() && after.levels.is_empty() {
                    continue;
                }
                let after = Attack { attacker: going.map(|local| (local, value)), ..after.clone() };
                let control = Control { memory, attack: Some(self.attacks.intern(after).0) };
                self.push(steps, control, (None, None), label);
            }
        }
        Ok(())
    }

    fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        if self.read(memory, address) == value {
            return memory;
        }
        let mut changed = self.memory(memory).changed.clone();
        if value == self.program().initial_value(address) {
            changed.retain(|pair| pair.0 != address);
        } else {
            set(&mut changed, address, value);
        }
        self.memories.intern(Memory { changed }).0
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<Place, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.steps_at(control, place.number())?;
            let started = Step { take: Some(place.number()), ..*step };
            if self.arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }
}

impl LazyNet for PsoSystem<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        let spare = Place::SPARE.number();
        for place in std::iter::once(NO_TOKEN).chain(entries.iter().map(|entry| entry.place)) {
            if place != spare {
                let (start, end) = self.steps_at(control, place)?;
                steps.extend_from_slice(&self.arena[start as usize..end as usize]);
                continue;
            }
            for initial in self.spare_places.clone() {
                let (start, end) = self.steps_at(control, initial.number())?;
                let own = self.arena[start as usize..end as usize].iter();
                steps.extend(own.map(|step| Step { take: Some(spare), ..*step }));
            }
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        let is_replicated = |place: Place| {
            let thread = self.local(place.local()).thread;
            self.program().thread(thread).copies == Copies::Any
        };
        self.spare.is_none() && is_replicated(Place::from_number(place))
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.steps_at(step.control, place)?;
        Ok(self.arena[start as usize..end as usize].contains(step))
    }
}
