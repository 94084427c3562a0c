//! Transitions that are enough to reach a condition, at one marking: stubborn sets [Valmari 1990].
//!
//! A set of transitions is enough when every run to the condition has one of them, and the first
//! one of them that a run has could as well come first. So
//!
//! * without a transition of the set the condition stays false,
//! * what keeps a transition of the set from firing now, a place with too few tokens, only
//!   transitions of the set can end, and
//! * a transition of the set that can fire takes no tokens that others need.
//!
//! Runs that are found this way are evidence like others. Where none is found there is none, but
//! that is no evidence.

use super::machine::{Goal, Machine};
use crate::rows::Rows;

/// Finds sets of transitions that are enough.
pub(super) struct Stubborn<'m> {
    machine: &'m Machine,
    /// For each place the transitions that add tokens, and those that take some away.
    producers: Rows,
    takers: Rows,
    /// For each inequality the transitions that make its sum larger.
    raisers: Rows,
    is_inside: Vec<bool>,
    inside: Vec<u32>,
}

impl<'m> Stubborn<'m> {
    pub(super) fn new(machine: &'m Machine) -> Self {
        let of = |rows: &'m Rows<(u32, i64)>, counts: fn(i64) -> bool| {
            let own = move |(transition, row): (u32, &'m [(u32, i64)])| {
                row.iter().filter(move |(_, change)| counts(*change)).map(move |(of, _)| (*of, transition))
            };
            rows.numbered().flat_map(own)
        };
        let places = machine.initial.len();
        let producers = Rows::group(places, of(&machine.changes, |change| change > 0));
        let takers = Rows::group(places, of(&machine.changes, |change| change < 0));
        let raisers = Rows::group(machine.atoms.len(), of(&machine.deltas, |delta| delta > 0));
        let is_inside = vec![false; machine.needs.len()];
        Self { machine, producers, takers, raisers, is_inside, inside: Vec::new() }
    }

    /// Leaves those of the transitions that can fire in a marking which are enough to reach a
    /// condition that does not hold there.
    pub(super) fn retain(&mut self, goal: &Goal, marking: &[u32], sums: &[i64], enabled: &mut Vec<u32>) {
        self.add_useful(goal, sums, enabled);
        let mut next = 0;
        let mut fireable = 0;
        while let Some(transition) = self.inside.get(next).copied() {
            next += 1;
            let needs = &self.machine.needs[transition as usize];
            match needs.iter().find(|(place, count)| marking[*place as usize] < *count) {
                Some((place, _)) => add(&mut self.is_inside, &mut self.inside, &self.producers[*place as usize]),
                None => {
                    fireable += 1;
                    if fireable == enabled.len() {
                        break;
                    }
                    let changes = &self.machine.changes[transition as usize];
                    for (place, _) in changes.iter().filter(|(_, change)| *change < 0) {
                        let consumers = self.machine.consumers[*place as usize].iter().map(|(id, _)| id);
                        add(&mut self.is_inside, &mut self.inside, consumers);
                    }
                }
            }
        }
        if fireable < enabled.len() {
            enabled.retain(|transition| self.is_inside[*transition as usize]);
        }
        self.inside.drain(..).for_each(|transition| self.is_inside[transition as usize] = false);
    }

    /// Adds transitions one of which every run to the condition has.
    fn add_useful(&mut self, goal: &Goal, sums: &[i64], enabled: &[u32]) {
        match goal {
            Goal::Constant(_) => {}
            Goal::Atom(atom) => add(&mut self.is_inside, &mut self.inside, &self.raisers[*atom as usize]),
            Goal::Deadlock => {
                // One that can fire, and whatever may end that.
                let Some(first) = enabled.first() else { return };
                add(&mut self.is_inside, &mut self.inside, [first]);
                for (place, _) in &self.machine.needs[*first as usize] {
                    add(&mut self.is_inside, &mut self.inside, &self.takers[*place as usize]);
                }
            }
            Goal::All(parts) => {
                let fails = |part: &&Goal| !self.machine.holds(part, sums, enabled.is_empty());
                if let Some(part) = parts.iter().find(fails) {
                    self.add_useful(part, sums, enabled);
                }
            }
            Goal::Any(parts) => parts.iter().for_each(|part| self.add_useful(part, sums, enabled)),
        }
    }
}

/// Adds transitions to a set.
fn add<'a>(is_inside: &mut [bool], inside: &mut Vec<u32>, transitions: impl IntoIterator<Item = &'a u32>) {
    for transition in transitions {
        if !std::mem::replace(&mut is_inside[*transition as usize], true) {
            inside.push(*transition);
        }
    }
}
