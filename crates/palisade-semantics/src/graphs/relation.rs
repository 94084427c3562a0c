//! Relations over the events of a graph, as matrices of bits.

use std::ops::{BitOr, BitOrAssign, Range};

/// A relation over `0..size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    /// The number of words of a row.
    words: usize,
    rows: Vec<u64>,
}

impl Relation {
    /// The empty relation.
    pub fn empty(size: usize) -> Self {
        let words = size.div_ceil(64);
        Self { size, words, rows: vec![0; size * words] }
    }

    /// The number of events.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The identity on the events of a set.
    pub fn identity(size: usize, is_member: impl Fn(usize) -> bool) -> Self {
        let mut identity = Self::empty(size);
        (0..size).filter(|event| is_member(*event)).for_each(|event| identity.insert(event, event));
        identity
    }

    pub(super) fn row(&self, from: usize) -> &[u64] {
        &self.rows[from * self.words..(from + 1) * self.words]
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.rows[from * self.words + to / 64] |= 1 << (to % 64);
    }

    /// Relates an event to others.
    pub fn insert_all(&mut self, from: usize, to: &[usize]) {
        to.iter().for_each(|to| self.insert(from, *to));
    }

    /// Relates each of some events to all behind it.
    pub fn insert_chain(&mut self, events: &[usize]) {
        let mut behind = vec![0; self.words];
        for event in events.iter().rev() {
            self.add_row(*event, &behind);
            behind[event / 64] |= 1 << (event % 64);
        }
    }

    /// Removes a pair.
    pub fn remove(&mut self, from: usize, to: usize) {
        self.rows[from * self.words + to / 64] &= !(1 << (to % 64));
    }

    /// Whether a pair is related.
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.rows[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }

    /// The pairs, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(move |from| self.after(from).map(move |to| (from, to)))
    }

    /// What an event is related to, ascending.
    pub fn after(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let bits = |(index, word): (usize, &u64)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    index * 64 + bit
                })
            })
        };
        self.row(from).iter().enumerate().flat_map(bits)
    }

    pub(super) fn add_row(&mut self, to: usize, from: &[u64]) {
        let row = &mut self.rows[to * self.words..(to + 1) * self.words];
        row.iter_mut().zip(from).for_each(|(own, other)| *own |= other);
    }

    /// The composition `self; next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        // Rows of one pair or a few are common: only the words that have some are added.
        let filled = |event: usize| {
            let row = next.row(event);
            let first = row.iter().position(|word| *word != 0).unwrap_or(row.len());
            first..row.iter().rposition(|word| *word != 0).map_or(first, |last| last + 1)
        };
        let filled: Vec<Range<usize>> = (0..self.size).map(filled).collect();
        let mut composed = Self::empty(self.size);
        for from in 0..self.size {
            for between in self.after(from) {
                let words = filled[between].clone();
                let start = from * self.words;
                let row = &mut composed.rows[start + words.start..start + words.end];
                row.iter_mut().zip(&next.row(between)[words]).for_each(|(own, other)| *own |= other);
            }
        }
        composed
    }

    /// The reflexive closure.
    #[must_use]
    pub fn optional(&self) -> Self {
        self.clone() | &Self::identity(self.size, |_| true)
    }

    /// The pairs that start in one set and end in another.
    #[must_use]
    pub fn between(&self, starts: impl Fn(usize) -> bool, ends: impl Fn(usize) -> bool) -> Self {
        let mut all_ends = Self::empty(self.size);
        (0..self.size).filter(|to| ends(*to)).for_each(|to| all_ends.insert(0, to));
        let mut kept = Self::empty(self.size);
        for from in (0..self.size).filter(|from| starts(*from)) {
            kept.add_row(from, self.row(from));
            let row = &mut kept.rows[from * self.words..(from + 1) * self.words];
            row.iter_mut().zip(all_ends.row(0)).for_each(|(own, end)| *own &= end);
        }
        kept
    }

    /// The pairs of which something holds.
    #[must_use]
    pub fn only(&self, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut kept = Self::empty(self.size);
        self.pairs().filter(|(from, to)| holds(*from, *to)).for_each(|(from, to)| kept.insert(from, to));
        kept
    }

    /// Whether a pair of this relation is one of another backwards: their composition then relates
    /// an event to itself.
    pub fn meets_backwards(&self, other: &Self) -> bool {
        self.pairs().any(|(from, to)| other.contains(to, from))
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }
}

impl BitOr<&Relation> for Relation {
    type Output = Relation;

    fn bitor(mut self, other: &Relation) -> Relation {
        self |= other;
        self
    }
}

impl BitOrAssign<&Relation> for Relation {
    fn bitor_assign(&mut self, other: &Relation) {
        self.rows.iter_mut().zip(&other.rows).for_each(|(own, other)| *own |= other);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn relation(size: usize, pairs: &[(usize, usize)]) -> Relation {
        let mut relation = Relation::empty(size);
        pairs.iter().for_each(|(from, to)| relation.insert(*from, *to));
        relation
    }

    #[test]
    fn relations_compose_and_close() {
        let steps = relation(70, &[(0, 1), (1, 69), (69, 2)]);
        assert_eq!(steps.then(&steps), relation(70, &[(0, 69), (1, 2)]));
        assert_eq!(steps.plus().pairs().count(), 6);
        assert!(steps.is_acyclic());
        assert!(!(steps.clone() | &relation(70, &[(2, 0)])).is_acyclic());
        assert_eq!(steps.between(|from| from == 1, |_| true), relation(70, &[(1, 69)]));
        assert!(!steps.optional().is_irreflexive());
        assert!(steps.meets_backwards(&relation(70, &[(69, 1)])) && !steps.meets_backwards(&steps));
    }
}
