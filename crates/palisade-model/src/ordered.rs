//! What is put in order once: sets and maps that are filled one by one, and items that one sort of
//! positions arranges.
//!
//! The sorts of the standard library are translated for each type of item and each closure, and
//! what collects into its ordered sets and maps sorts first, for each type of iterator: a sixth of
//! the code of searches and checks was such sorts. Where few items are sorted, or they are sorted
//! once, what stands here does as well, and is translated once for each crate. What sorts on the
//! way of a search does better by `sort_unstable`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What an iterator gives, as an ordered set or map.
pub trait CollectOrdered: Iterator + Sized {
    /// A map of its pairs; of two with one key the later counts.
    fn collect_map<K: Ord, V>(self) -> BTreeMap<K, V>
    where
        Self: Iterator<Item = (K, V)>,
    {
        let mut map = BTreeMap::new();
        map.extend(self);
        map
    }

    /// The set of its items.
    fn collect_set(self) -> BTreeSet<Self::Item>
    where
        Self::Item: Ord,
    {
        let mut set = BTreeSet::new();
        set.extend(self);
        set
    }
}

impl<I: Iterator> CollectOrdered for I {}

/// Sorts items by a key; equal ones keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// Sorts items by a comparison; equal ones keep their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|one, other| compare(one, other).is_le()) {
        return;
    }
    let mut order = order(items.len(), &|one, other| compare(&items[one], &items[other]));
    // Each circle of positions, from its first one: what belongs there comes there, and the rest
    // moves on.
    for start in 0..order.len() {
        let mut hole = start;
        while order[hole] != start {
            let next = order[hole];
            items.swap(hole, next);
            order[hole] = hole;
            hole = next;
        }
        order[hole] = hole;
    }
}

/// The positions below `length` in order; equal ones ascend.
#[inline]
pub fn order(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..length).collect();
    positions.sort_by(|one, other| compare(*one, *other));
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_as_collecting() {
        let pairs = [(3, 'a'), (1, 'b'), (3, 'c'), (2, 'd')];
        assert_eq!(pairs.into_iter().collect_map(), pairs.into_iter().collect());
        assert_eq!(pairs.into_iter().collect_set(), pairs.into_iter().collect());
    }

    #[test]
    fn the_same_as_sorting() {
        // All lists of six numbers below four.
        for code in 0..1 << 12_u32 {
            let list = (0..6).map(|place| (code >> (2 * place) & 3, place));
            let (mut own, mut expected): (Vec<_>, Vec<_>) = (list.clone().collect(), list.collect());
            sort_by_key(&mut own, |(number, _)| *number);
            expected.sort_by_key(|(number, _)| *number);
            assert_eq!(own, expected);
        }
    }
}
