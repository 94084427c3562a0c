//! Whether a copy waits, judged by effect.

use super::place::Waiting;
use super::system::{Control, System};
use crate::buffered::Buffers;
use crate::instrumented::Fault;
use palisade_model::program::{Instruction, InstructionId, Patience, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// Where a copy goes alone while memory stays as it is.
#[derive(Default)]
struct Round {
    points: Vec<(Control, u32)>,
    numbers: FxHashMap<(Control, u32), usize>,
    after: Vec<Vec<usize>>,
    /// Whether it reads something there that is marked `idle`.
    is_idle: Vec<bool>,
}

impl Round {
    fn number(&mut self, point: (Control, u32)) -> usize {
        if let Some(known) = self.numbers.get(&point) {
            return *known;
        }
        let number = self.points.len();
        self.points.push(point);
        self.numbers.insert(point, number);
        self.after.push(Vec::new());
        self.is_idle.push(false);
        number
    }

    fn reached_from(&self, first: usize) -> Vec<bool> {
        let mut reached = vec![false; self.points.len()];
        let mut open = vec![first];
        while let Some(point) = open.pop() {
            if !std::mem::replace(&mut reached[point], true) {
                open.extend(&self.after[point]);
            }
        }
        reached
    }

    /// Whether it may go round for ever: wherever it does so at last, it reads something that is
    /// marked. It goes round at last where each point behind a point leads back to it.
    fn may_last(&self) -> bool {
        if !self.is_idle.contains(&true) {
            return false;
        }
        let reached: Vec<Vec<bool>> = (0..self.points.len()).map(|point| self.reached_from(point)).collect();
        let all = || 0..self.points.len();
        let is_last = |point: &usize| all().all(|other| !reached[*point][other] || reached[other][*point]);
        all().filter(is_last).all(|point| all().any(|other| reached[point][other] && self.is_idle[other]))
    }
}

impl System<'_> {
    /// Whether a copy in a place waits beside copies that sleep at some addresses: of all places
    /// that it reaches alone, while memory stays as it is, it leaves none with an effect. Where
    /// nobody sleeps, waking has none.
    ///
    /// A copy that could only go on if another gave the lock back waits as well. A locked section
    /// that it opens itself it may close again.
    pub fn waiting(&mut self, control: Control, place: u32, sleepers: &[Value]) -> Result<Waiting, Fault> {
        if !self.waits.contains_key(&(control, place)) {
            let found = self.search_effect(control, place)?;
            self.waits.insert((control, place), found);
        }
        let (alone, wakes) = &self.waits[&(control, place)];
        let wakes_somebody = wakes.iter().any(|address| sleepers.contains(address));
        Ok(if wakes_somebody { Waiting::Active } else { *alone })
    }

    /// The addresses at which copies sleep.
    pub fn sleepers(&self, tokens: &[(u32, u64)]) -> Vec<Value> {
        tokens.iter().filter_map(|(place, _)| self.slept_at(*place)).collect()
    }

    /// What becomes of a copy where nobody sleeps, and the addresses whose sleepers it would wake.
    fn search_effect(&mut self, control: Control, place: u32) -> Result<(Waiting, Box<[Value]>), Fault> {
        let mut wakes = BTreeSet::new();
        let waiting = self.search_round(control, place, &mut wakes)?;
        Ok((waiting, wakes.into_iter().collect()))
    }

    fn search_round(&mut self, control: Control, place: u32, wakes: &mut BTreeSet<Value>) -> Result<Waiting, Fault> {
        if self.places.get(place).buffer != Buffers::EMPTY {
            return Ok(Waiting::Active);
        }
        let local = self.local(place).clone();
        let begins_holding = local.holding;
        let template = self.program().thread(local.thread);
        let rests = |is_idle: bool| if is_idle || template.is_daemon { Waiting::Idle } else { Waiting::Waits };
        if let Some(by) = local.asleep {
            let patience = template.instruction(by).patience();
            return Ok(if patience == Patience::Timed { Waiting::Active } else { rests(patience == Patience::Idle) });
        }
        let mut round = Round::default();
        round.number((control, place));
        let mut next = 0;
        while let Some((control, place)) = round.points.get(next).copied() {
            let changes = self.changes(control, place)?;
            if changes.may_die {
                return Ok(Waiting::Active);
            }
            let label = self.local(place).label;
            let here = label.map_or(&[][..], |label| self.locals.instructions_at(local.thread, label));
            let here = here.iter().map(|id| template.instruction(*id)).filter(|own| own.action.address().is_some());
            let patiences: Vec<Patience> = here.map(Instruction::patience).collect();
            if patiences.contains(&Patience::Timed) {
                return Ok(Waiting::Active);
            }
            round.is_idle[next] = patiences.contains(&Patience::Idle);
            for index in changes.start..changes.end {
                let change = self.change(index);
                wakes.extend(change.wakes.map(|(address, _)| address));
                let Some(to) = change.to.filter(|_| !change.is_effect) else { return Ok(Waiting::Active) };
                if begins_holding && !self.local(to).holding {
                    return Ok(Waiting::Active);
                }
                let to = round.number((change.control, to));
                round.after[next].push(to);
            }
            next += 1;
        }
        Ok(rests(round.may_last()))
    }

    /// What a copy in a place reads while it waits: instructions with addresses, in the order in
    /// which it comes to them.
    pub fn looks_at(&mut self, control: Control, place: u32) -> Result<Vec<(InstructionId, Value)>, Fault> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::from_iter([(control, place)]);
        let mut open = VecDeque::from([(control, place)]);
        while let Some((control, place)) = open.pop_front() {
            let local = self.local(place).clone();
            if let Some(label) = local.label {
                for id in self.locals.instructions_at(local.thread, label) {
                    let action = &self.program().thread(local.thread).instruction(*id).action;
                    let address = action.address().and_then(|own| own.evaluate_address(&local.registers).ok());
                    found.extend(address.map(|address| (*id, address)));
                }
            }
            let changes = self.changes(control, place)?;
            for index in changes.start..changes.end {
                let change = self.change(index);
                if let Some(to) = change.to.filter(|_| !change.is_effect)
                    && seen.insert((change.control, to))
                {
                    open.push_back((change.control, to));
                }
            }
        }
        Ok(found)
    }

    /// Whether a copy that waits beside sleepers would go on if memory held a value at an address.
    pub fn goes_on_with(
        &mut self,
        (control, sleepers): (Control, &[Value]),
        place: u32,
        address: Value,
        value: Value,
    ) -> bool {
        let control = Control { memory: self.write(control.memory, address, value), ..control };
        self.waiting(control, place, sleepers) == Ok(Waiting::Active)
    }
}
