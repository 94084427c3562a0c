//! All markings of a bounded net, breadth first, with all conditions looked at on the way.
//!
//! The exploration goes on from turn to turn. When it is complete, the markings are the evidence
//! for every condition that none of them satisfies.

use super::machine::{Goal, Machine};
use super::packed::{NotInserted, Packed};
use crate::Context;
use palisade_evidence::{MarkingSet, NetRun};
use palisade_model::limits::StopReason;

/// The exploration gives up when its markings take more words than this: a quarter of a gigabyte.
const MOST_WORDS: usize = 1 << 25;

/// Markings between two looks at the budget.
const INTERVAL: u32 = 64;

/// How an exploration has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Explored {
    /// All markings are known.
    All,
    /// They are too many.
    TooMany,
}

/// An exploration.
pub(super) struct Explorer<'m> {
    machine: &'m Machine,
    known: Packed<'m>,
    /// The next marking to go on from, and how many of the transitions that can fire there have.
    next: u32,
    fired: usize,
    goals_by_atom: Vec<Vec<u32>>,
}

impl<'m> Explorer<'m> {
    /// The exploration that knows the initial marking.
    pub(super) fn new(machine: &'m Machine) -> Self {
        Self { machine, known: Packed::new(machine), next: 0, fired: 0, goals_by_atom: machine.goals_by_atom() }
    }

    /// How many markings are known.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Goes on until the budget ends, all markings are known or no condition is open.
    pub(super) fn go_on(
        &mut self,
        open: &mut [bool],
        context: &Context,
        mut found: impl FnMut(usize, NetRun),
    ) -> Result<Explored, StopReason> {
        let machine = self.machine;
        let mut marking = vec![0; machine.initial.len()];
        if self.next == 0 && self.fired == 0 {
            let sums = machine.sums(&machine.initial);
            for goal in 0..open.len() {
                self.look(goal, &sums, false, 0, open, &mut found);
            }
        }
        let mut enabled = Vec::new();
        while (self.next as usize) < self.len() {
            if self.next.is_multiple_of(INTERVAL) {
                context.check()?;
                if !(0..open.len()).any(|goal| open[goal] && machine.goals[goal].is_some()) {
                    return Ok(Explored::TooMany);
                }
            }
            let number = self.next;
            self.known.unpack(number, &mut marking);
            self.known.enabled(&marking, &mut enabled);
            context.count_work(10 + 10 * enabled.len());
            context.count_markings(1);
            if enabled.is_empty() {
                let sums = machine.sums(&marking);
                for goal in 0..open.len() {
                    self.look(goal, &sums, true, number, open, &mut found);
                }
            }
            let mut sums = None;
            for transition in &enabled[self.fired..] {
                if self.known.words() > MOST_WORDS {
                    return Ok(Explored::TooMany);
                }
                let new = match self.known.insert_after(number, *transition, context) {
                    Ok(new) => new,
                    Err(NotInserted::TooManyTokens) => return Ok(Explored::TooMany),
                    Err(NotInserted::Stopped(reason)) => return Err(reason),
                };
                self.fired += 1;
                if let Some(new) = new.filter(|_| !machine.deltas[*transition as usize].is_empty()) {
                    let sums = sums.get_or_insert_with(|| machine.sums(&marking));
                    self.look_after(*transition, sums, new, open, &mut found);
                }
            }
            (self.next, self.fired) = (self.next + 1, 0);
        }
        Ok(Explored::All)
    }

    /// Looks at the conditions that a transition has changed.
    fn look_after(
        &self,
        transition: u32,
        sums: &mut [i64],
        new: u32,
        open: &mut [bool],
        found: &mut impl FnMut(usize, NetRun),
    ) {
        let deltas = &self.machine.deltas[transition as usize];
        let mut changed: Vec<u32> = Vec::new();
        for (atom, delta) in deltas {
            let before = self.machine.is_true(*atom, sums);
            sums[*atom as usize] += delta;
            if before != self.machine.is_true(*atom, sums) {
                changed.extend(&self.goals_by_atom[*atom as usize]);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for goal in changed {
            self.look(goal as usize, sums, false, new, open, found);
        }
        deltas.iter().for_each(|(atom, delta)| sums[*atom as usize] -= delta);
    }

    /// Hands a condition over that is open and holds.
    fn look(
        &self,
        goal: usize,
        sums: &[i64],
        is_dead: bool,
        number: u32,
        open: &mut [bool],
        found: &mut impl FnMut(usize, NetRun),
    ) {
        let holds = |own: &Goal| self.machine.holds(own, sums, is_dead);
        if open[goal] && self.machine.goals[goal].as_ref().is_some_and(holds) {
            open[goal] = false;
            found(goal, self.machine.run(&self.known.path(number)));
        }
    }

    /// The markings as evidence.
    pub(super) fn into_set(self) -> MarkingSet {
        self.known.into_set()
    }
}
