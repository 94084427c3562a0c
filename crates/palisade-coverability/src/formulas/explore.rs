//! All markings of a bounded net, breadth first, with all conditions looked at on the way.
//!
//! Markings are packed: each place has as many bits as its largest number so far takes, and when one no longer fits, all are packed anew. The
//! exploration goes on from turn to turn. When it is complete, the markings are the evidence for every condition that none of them satisfies.

use super::machine::{Goal, Machine};
use crate::Context;
use hashbrown::HashTable;
use palisade_evidence::{MarkingSet, NetRun};
use palisade_model::limits::StopReason;
use palisade_model::net::PlaceId;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The exploration gives up when its markings take more words than this: a quarter of a gigabyte.
const MOST_WORDS: usize = 1 << 25;

/// Markings between two looks at the budget.
const INTERVAL: usize = 64;

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
    widths: Vec<u8>,
    fields: Vec<(usize, u32)>,
    /// Words of a marking.
    length: usize,
    words: Vec<u64>,
    table: HashTable<u32>,
    /// The marking from which each was found first, and by which transition.
    parents: Vec<(u32, u32)>,
    /// The next marking to go on from.
    next: usize,
    /// For each place the transitions that need tokens there first.
    by_first: Vec<Vec<u32>>,
    without_needs: Vec<u32>,
    goals_by_atom: Vec<Vec<u32>>,
}

impl<'m> Explorer<'m> {
    /// The exploration that knows the initial marking.
    pub(super) fn new(machine: &'m Machine) -> Self {
        let mut by_first = vec![Vec::new(); machine.initial.len()];
        let mut without_needs = Vec::new();
        for (transition, needs) in (0u32..).zip(&machine.needs) {
            // The place with the fewest consumers is the likeliest to be empty.
            let rarest = needs.iter().min_by_key(|(place, _)| machine.consumers[*place as usize].len());
            match rarest {
                Some((place, _)) => by_first[*place as usize].push(transition),
                None => without_needs.push(transition),
            }
        }
        let widths: Vec<u8> = machine.initial.iter().map(|count| bits(*count)).collect();
        let (fields, length) = MarkingSet::layout(&widths);
        let mut explorer = Self {
            machine,
            widths,
            fields,
            length,
            words: Vec::new(),
            table: HashTable::new(),
            parents: Vec::new(),
            next: 0,
            by_first,
            without_needs,
            goals_by_atom: machine.goals_by_atom(),
        };
        explorer.insert(&machine.initial, (u32::MAX, u32::MAX));
        explorer
    }

    /// How many markings are known.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The number of a marking that is new.
    fn insert(&mut self, marking: &[u32], parent: (u32, u32)) -> Option<u32> {
        if marking.iter().zip(&self.widths).any(|(count, width)| bits(*count) > *width) {
            self.widen(marking);
        }
        let start = self.words.len();
        self.words.resize(start + self.length, 0);
        for ((word, bit), count) in self.fields.iter().zip(marking) {
            self.words[start + word] |= u64::from(*count) << bit;
        }
        let (words, length) = (&self.words, self.length);
        let of = |number: u32| &words[number as usize * length..][..length];
        let own = &words[start..];
        let hash = FxBuildHasher.hash_one(own);
        if self.table.find(hash, |number| of(*number) == own).is_some() {
            self.words.truncate(start);
            return None;
        }
        let number = u32::try_from(self.parents.len()).ok()?;
        self.table.insert_unique(hash, number, |number| FxBuildHasher.hash_one(of(*number)));
        self.parents.push(parent);
        Some(number)
    }

    /// Packs all markings so that this one fits.
    fn widen(&mut self, marking: &[u32]) {
        let widths: Vec<u8> = marking.iter().zip(&self.widths).map(|(count, width)| bits(*count).max(*width)).collect();
        let (fields, length) = MarkingSet::layout(&widths);
        let mut words = vec![0; self.parents.len() * length];
        let mut unpacked = vec![0; marking.len()];
        for (number, wider) in words.chunks_exact_mut(length).enumerate() {
            self.unpack(number, &mut unpacked);
            for ((word, bit), count) in fields.iter().zip(&unpacked) {
                wider[*word] |= u64::from(*count) << bit;
            }
        }
        (self.widths, self.fields, self.length, self.words) = (widths, fields, length, words);
        let (words, length) = (&self.words, self.length);
        let hash = |number: &u32| FxBuildHasher.hash_one(&words[*number as usize * length..][..length]);
        let mut table = HashTable::with_capacity(self.parents.len() + 1);
        for number in 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX) {
            table.insert_unique(hash(&number), number, hash);
        }
        self.table = table;
    }

    fn unpack(&self, number: usize, marking: &mut [u32]) {
        let words = &self.words[number * self.length..][..self.length];
        for (((word, bit), width), count) in self.fields.iter().zip(&self.widths).zip(marking) {
            let value = (words[*word] >> bit) & (u64::MAX >> (u64::BITS - u32::from(*width)));
            *count = u32::try_from(value).expect("a number has at most 32 bits");
        }
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
        if self.next == 0 {
            let sums = machine.sums(&machine.initial);
            for goal in 0..open.len() {
                self.look(goal, &sums, false, 0, open, &mut found);
            }
        }
        let mut enabled = Vec::new();
        while self.next < self.len() {
            if self.next % INTERVAL == 0 {
                context.check()?;
                if self.words.len() > MOST_WORDS {
                    return Ok(Explored::TooMany);
                }
                if !(0..open.len()).any(|goal| open[goal] && machine.goals[goal].is_some()) {
                    return Ok(Explored::TooMany);
                }
            }
            let number = u32::try_from(self.next).unwrap_or(u32::MAX);
            self.unpack(self.next, &mut marking);
            self.next += 1;
            enabled.clear();
            enabled.extend(&self.without_needs);
            let can_fire = |transition: &&u32| {
                machine.needs[**transition as usize].iter().all(|(place, count)| marking[*place as usize] >= *count)
            };
            for (place, _) in marking.iter().enumerate().filter(|(_, count)| **count > 0) {
                enabled.extend(self.by_first[place].iter().filter(can_fire));
            }
            context.count_work(10 + 10 * enabled.len());
            context.count_markings(1);
            let mut sums = machine.sums(&marking);
            if enabled.is_empty() {
                for goal in 0..open.len() {
                    self.look(goal, &sums, true, number, open, &mut found);
                }
            }
            for transition in &enabled {
                for (place, change) in &machine.changes[*transition as usize] {
                    let after = i64::from(marking[*place as usize]) + change;
                    let Some(after) = u32::try_from(after).ok().filter(|after| *after < 1 << 31) else {
                        return Ok(Explored::TooMany);
                    };
                    marking[*place as usize] = after;
                }
                if let Some(new) = self.insert(&marking, (number, *transition)) {
                    self.look_after(*transition, &mut sums, new, open, &mut found);
                }
                for (place, change) in &machine.changes[*transition as usize] {
                    let before = i64::from(marking[*place as usize]) - change;
                    marking[*place as usize] = u32::try_from(before).expect("it was so before");
                }
            }
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
            found(goal, self.machine.run(&self.path(number)));
        }
    }

    fn path(&self, mut number: u32) -> Vec<u32> {
        let mut path = Vec::new();
        while let Some((parent, transition)) =
            self.parents.get(number as usize).filter(|(parent, _)| *parent != u32::MAX)
        {
            path.push(*transition);
            number = *parent;
        }
        path.reverse();
        path
    }

    /// The markings as evidence.
    pub(super) fn into_set(self) -> MarkingSet {
        let places = (0..self.widths.len()).map(PlaceId::from_index).collect();
        MarkingSet { places, widths: self.widths, words: self.words }
    }
}

/// How many bits a number takes, one at least.
fn bits(count: u32) -> u8 {
    u8::try_from(u32::BITS - count.leading_zeros()).expect("at most 32").max(1)
}
