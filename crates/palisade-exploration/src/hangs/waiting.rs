//! Whether a copy waits, judged by effect.

use super::place::Waiting;
use super::system::{Control, System};
use crate::buffered::Buffers;
use crate::instrumented::Fault;
use palisade_model::program::{InstructionId, Value};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

impl System<'_> {
    /// Whether a copy in a place waits: of all places that it reaches alone, while memory stays as it is, it leaves none with an effect.
    ///
    /// A copy that could only go on if another gave the lock back waits as well. A locked section that it opens itself it may close again.
    pub fn waiting(&mut self, control: Control, place: u32) -> Result<Waiting, Fault> {
        if let Some(known) = self.waits.get(&(control, place)) {
            return Ok(*known);
        }
        let found = self.search_effect(control, place)?;
        self.waits.insert((control, place), found);
        Ok(found)
    }

    fn search_effect(&mut self, control: Control, place: u32) -> Result<Waiting, Fault> {
        if self.places.get(place).buffer != Buffers::EMPTY {
            return Ok(Waiting::Active);
        }
        let begins_holding = self.local(place).holding;
        let mut seen = FxHashSet::from_iter([(control, place)]);
        let mut open = vec![(control, place)];
        while let Some((control, place)) = open.pop() {
            let changes = self.changes(control, place)?;
            if changes.may_die {
                return Ok(Waiting::Active);
            }
            for index in changes.start..changes.end {
                let change = self.change(index);
                let Some(to) = change.to.filter(|_| !change.is_effect) else { return Ok(Waiting::Active) };
                if begins_holding && !self.local(to).holding {
                    return Ok(Waiting::Active);
                }
                if seen.insert((change.control, to)) {
                    open.push((change.control, to));
                }
            }
        }
        Ok(Waiting::Waits)
    }

    /// What a copy in a place reads while it waits: instructions with addresses, in the order in which it comes to them.
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

    /// Whether a copy that waits would go on if memory held a value at an address.
    pub fn goes_on_with(&mut self, control: Control, place: u32, address: Value, value: Value) -> bool {
        let control = Control { memory: self.write(control.memory, address, value), ..control };
        self.waiting(control, place) == Ok(Waiting::Active)
    }
}
