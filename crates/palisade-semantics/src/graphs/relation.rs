//! Relations over the events of a graph, as matrices of bits.

use std::ops::{BitOr, BitOrAssign};

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

    fn row(&self, from: usize) -> &[u64] {
        &self.rows[from * self.words..(from + 1) * self.words]
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.rows[from * self.words + to / 64] |= 1 << (to % 64);
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

    fn add_row(&mut self, to: usize, from: &[u64]) {
        let row = &mut self.rows[to * self.words..(to + 1) * self.words];
        row.iter_mut().zip(from).for_each(|(own, other)| *own |= other);
    }

    /// The composition `self; next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut composed = Self::empty(self.size);
        for from in 0..self.size {
            for between in self.after(from) {
                composed.add_row(from, next.row(between));
            }
        }
        composed
    }

    /// The transitive closure.
    #[must_use]
    pub fn plus(&self) -> Self {
        let mut closure = self.clone();
        for between in 0..self.size {
            let row = closure.row(between).to_vec();
            for from in 0..self.size {
                if closure.contains(from, between) {
                    closure.add_row(from, &row);
                }
            }
        }
        closure
    }

    /// The reflexive closure.
    #[must_use]
    pub fn optional(&self) -> Self {
        self.clone() | &Self::identity(self.size, |_| true)
    }

    /// The pairs that start in one set and end in another.
    #[must_use]
    pub fn between(&self, starts: impl Fn(usize) -> bool, ends: impl Fn(usize) -> bool) -> Self {
        self.only(|from, to| starts(from) && ends(to))
    }

    /// The pairs of which something holds.
    #[must_use]
    pub fn only(&self, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut kept = Self::empty(self.size);
        self.pairs().filter(|(from, to)| holds(*from, *to)).for_each(|(from, to)| kept.insert(from, to));
        kept
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }

    /// Whether there is no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.plus().is_irreflexive()
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
mod tests {
    use super::*;

    fn relation(size: usize, pairs: &[(usize, usize)]) -> Relation {
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
    }
}
