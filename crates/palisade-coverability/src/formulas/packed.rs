//! Markings that have been found, packed, each with the marking and the transition it was found
//! from first.
//!
//! Each place has as many bits as its largest number so far takes, and when one no longer fits, all
//! are packed anew; where that was done often, each place gets more bits than it needs. A marking
//! is made from the one before it by changing the few places that a transition changes.

use super::machine::Machine;
use crate::Context;
use crate::rows::Rows;
use hashbrown::HashTable;
use palisade_evidence::MarkingSet;
use palisade_model::limits::StopReason;
use palisade_model::net::PlaceId;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Words that are copied or packed between two looks at the budget: less than a millisecond.
const INTERVAL: usize = 1 << 16;

/// So many words are packed anew, and four times as many as there are, before each place gets more
/// bits than it needs.
const REPACKED: usize = 1 << 16;

/// Why a marking is not inserted.
pub(super) enum NotInserted {
    /// Numbers of tokens do not fit.
    TooManyTokens,
    /// The budget has ended, and all is as it was.
    Stopped(StopReason),
}

impl From<StopReason> for NotInserted {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// Markings, numbered in the order in which they were found; the first is the initial one.
pub(super) struct Packed<'m> {
    machine: &'m Machine,
    widths: Vec<u8>,
    fields: Vec<(usize, u32)>,
    /// Words of a marking.
    length: usize,
    words: Vec<u64>,
    /// Words that were moved since the budget was looked at.
    moved: usize,
    /// Words that were packed anew since each place got more bits than it needs.
    repacked: usize,
    table: HashTable<u32>,
    /// The marking from which each was found first, and by which transition.
    parents: Vec<(u32, u32)>,
    /// For each place the transitions that need tokens there first.
    by_first: Rows,
    without_needs: Vec<u32>,
}

impl<'m> Packed<'m> {
    /// The initial marking alone.
    pub(super) fn new(machine: &'m Machine) -> Self {
        let mut first = Vec::new();
        let mut without_needs = Vec::new();
        for (transition, needs) in machine.needs.numbered() {
            // The place with the fewest consumers is the likeliest to be empty.
            let rarest = needs.iter().min_by_key(|(place, _)| machine.consumers[*place as usize].len());
            match rarest {
                Some((place, _)) => first.push((*place, transition)),
                None => without_needs.push(transition),
            }
        }
        let by_first = Rows::group(machine.initial.len(), first.iter().copied());
        let widths: Vec<u8> = machine.initial.iter().map(|count| bits(*count)).collect();
        let (fields, length) = MarkingSet::layout(&widths);
        let mut packed = Self {
            machine,
            widths,
            fields,
            length,
            words: vec![0; length],
            moved: 0,
            repacked: 0,
            table: HashTable::new(),
            parents: Vec::new(),
            by_first,
            without_needs,
        };
        for ((word, bit), count) in packed.fields.iter().zip(&machine.initial) {
            packed.words[*word] |= u64::from(*count) << bit;
        }
        packed.take_last((u32::MAX, u32::MAX));
        packed
    }

    /// How many markings there are.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// How many words they take.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    /// The transitions that can fire in a marking.
    pub(super) fn enabled(&self, marking: &[u32], enabled: &mut Vec<u32>) {
        enabled.clear();
        enabled.extend(&self.without_needs);
        let can_fire = |transition: &&u32| {
            self.machine.needs[**transition as usize].iter().all(|(place, count)| marking[*place as usize] >= *count)
        };
        for (place, _) in marking.iter().enumerate().filter(|(_, count)| **count > 0) {
            enabled.extend(self.by_first[place].iter().filter(can_fire));
        }
    }

    /// The number of the marking to which a transition leads, if it is new.
    pub(super) fn insert_after(
        &mut self,
        parent: u32,
        transition: u32,
        context: &Context,
    ) -> Result<Option<u32>, NotInserted> {
        self.look(self.length, context)?;
        self.make_room();
        let start = self.words.len();
        let before = parent as usize * self.length;
        self.words.extend_from_within(before..before + self.length);
        for (place, change) in &self.machine.changes[transition as usize] {
            let ((word, bit), mask) = (self.fields[*place as usize], mask(self.widths[*place as usize]));
            let packed = &mut self.words[start + word];
            let count = ((*packed >> bit) & mask).checked_add_signed(*change).filter(|count| *count < 1 << 31);
            let Some(count) = count else {
                self.words.truncate(start);
                return Err(NotInserted::TooManyTokens);
            };
            if count > mask {
                self.words.truncate(start);
                self.widen(parent, transition, context)?;
                return self.insert_after(parent, transition, context);
            }
            *packed = *packed & !(mask << bit) | count << bit;
        }
        Ok(self.take_last((parent, transition)))
    }

    /// Looks at the budget, where enough was moved since the last time.
    fn look(&mut self, moved: usize, context: &Context) -> Result<(), StopReason> {
        self.moved += moved;
        if self.moved < INTERVAL {
            return Ok(());
        }
        self.moved = 0;
        context.check()
    }

    /// Makes room for a marking more. Twice the room at a time would be half of it for nothing.
    fn make_room(&mut self) {
        if self.words.capacity() - self.words.len() < self.length {
            self.words.reserve_exact(self.length.max(self.words.len() / 4).max(64));
        }
    }

    /// Numbers the marking at the end of the words, or drops it where it is known.
    fn take_last(&mut self, parent: (u32, u32)) -> Option<u32> {
        let start = self.words.len() - self.length;
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

    /// Packs all markings so that the one to which a transition leads fits.
    fn widen(&mut self, parent: u32, transition: u32, context: &Context) -> Result<(), NotInserted> {
        let mut unpacked = vec![0; self.widths.len()];
        self.unpack(parent, &mut unpacked);
        let is_often = self.repacked > REPACKED + 4 * self.words.len();
        let more = |width: &u8| if is_often { (2 * width).min(MOST_BITS) } else { *width };
        let mut widths: Vec<u8> = self.widths.iter().map(more).collect();
        for (place, change) in &self.machine.changes[transition as usize] {
            let count = i64::from(unpacked[*place as usize]) + change;
            let width = &mut widths[*place as usize];
            *width = bits(u32::try_from(count).map_err(|_| NotInserted::TooManyTokens)?).max(*width);
        }
        let (fields, length) = MarkingSet::layout(&widths);
        let mut words = vec![0; self.parents.len() * length];
        for (number, wider) in (0u32..).zip(words.chunks_exact_mut(length)) {
            self.look(unpacked.len(), context)?;
            self.unpack(number, &mut unpacked);
            for ((word, bit), count) in fields.iter().zip(&unpacked) {
                wider[*word] |= u64::from(*count) << bit;
            }
        }
        self.repacked = if is_often { 0 } else { self.repacked + words.len() };
        (self.widths, self.fields, self.length, self.words) = (widths, fields, length, words);
        let (words, length) = (&self.words, self.length);
        let hash = |number: &u32| FxBuildHasher.hash_one(&words[*number as usize * length..][..length]);
        let mut table = HashTable::with_capacity(self.parents.len() + 1);
        for number in 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX) {
            table.insert_unique(hash(&number), number, hash);
        }
        self.table = table;
        Ok(())
    }

    /// The tokens of a marking.
    pub(super) fn unpack(&self, number: u32, marking: &mut [u32]) {
        let words = &self.words[number as usize * self.length..][..self.length];
        for (((word, bit), width), count) in self.fields.iter().zip(&self.widths).zip(marking) {
            let value = (words[*word] >> bit) & mask(*width);
            *count = u32::try_from(value).expect("a number has at most 32 bits");
        }
    }

    /// The transitions by which a marking was found.
    pub(super) fn path(&self, mut number: u32) -> Vec<u32> {
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

/// As many bits as a number of tokens has at most.
const MOST_BITS: u8 = 31;

/// The lowest bits of a word, so many.
fn mask(width: u8) -> u64 {
    u64::MAX >> (u64::BITS - u32::from(width))
}

/// How many bits a number takes, one at least.
fn bits(count: u32) -> u8 {
    u8::try_from(u32::BITS - count.leading_zeros()).expect("at most 32").max(1)
}
