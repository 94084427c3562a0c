//! The irreducible eliminating sets of one attack, smallest first.
//!
//! The attacker's ways from the store to the load, each seen as the set of measures that would stop
//! it, are *rows*; a set of measures eliminates the attack exactly when it touches every row. The
//! irreducible eliminating sets are hence the minimal sets that touch all rows known so far, once
//! no row is missing. Both are found together: the smallest minimal set not yet tried either
//! eliminates the attack, or leaves a way open, which is a new row. No superset of an eliminating
//! set is ever tried, since only minimal sets are; and at the end the rows known suffice to
//! characterise *all* eliminating sets.

use super::catalogue::MeasureSet;

/// What is known of the sets that eliminate one attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EliminatingSets {
    /// Irreducible eliminating sets, smallest first; all of them when `complete`.
    pub(super) sets: Vec<MeasureSet>,
    /// Sets every eliminating set must touch. When `complete`, touching all of them is enough.
    pub(super) rows: Vec<MeasureSet>,
    /// Whether the search went to the end.
    pub(super) complete: bool,
}

/// Finds the irreducible eliminating sets of an attack one of whose rows is `first`; gives up past
/// `limit` minimal sets. `remaining` tells a row that a set leaves open, if there is one.
pub(super) fn eliminating_sets<E>(
    first: MeasureSet,
    limit: usize,
    mut remaining: impl FnMut(&MeasureSet) -> Result<Option<MeasureSet>, E>,
) -> Result<EliminatingSets, E> {
    let mut sets: Vec<MeasureSet> = Vec::new();
    let mut untried = vec![MeasureSet::with_capacity(first.len())];
    let mut rows = Vec::new();
    let mut row = Some(first);
    loop {
        if let Some(row) = row.take() {
            untried = touching(&untried, &sets, &row);
            rows.retain(|known| !row.is_subset(known));
            rows.push(row);
        }
        // Smallest first, then in program order.
        let next = (0..untried.len()).min_by(|a, b| {
            let key = |index: usize| (untried[index].count_ones(..), untried[index].ones().collect::<Vec<_>>());
            key(*a).cmp(&key(*b))
        });
        let Some(next) = next else { return Ok(EliminatingSets { sets, rows, complete: true }) };
        if untried.len() + sets.len() > limit {
            return Ok(EliminatingSets { sets, rows, complete: false });
        }
        row = remaining(&untried[next])?;
        if row.is_none() {
            sets.push(untried.swap_remove(next));
        }
    }
}

/// The minimal sets that touch one row more: those of `untried`, extended where they do not. The
/// eliminating `sets` touch every row as they are.
fn touching(untried: &[MeasureSet], sets: &[MeasureSet], row: &MeasureSet) -> Vec<MeasureSet> {
    let (mut kept, missing): (Vec<MeasureSet>, Vec<MeasureSet>) =
        untried.iter().cloned().partition(|set| !set.is_disjoint(row));
    let mut extended: Vec<MeasureSet> = missing
        .iter()
        .flat_map(|set| {
            row.ones().map(|measure| {
                let mut longer = set.clone();
                longer.insert(measure);
                longer
            })
        })
        .filter(|longer| !kept.iter().chain(sets).any(|smaller| smaller.is_subset(longer)))
        .collect();
    extended.sort_by_key(|set| (set.count_ones(..), set.ones().collect::<Vec<_>>()));
    extended.dedup();
    let mut minimal: Vec<MeasureSet> = Vec::new();
    for set in extended {
        if !minimal.iter().any(|smaller| smaller.is_subset(&set)) {
            minimal.push(set);
        }
    }
    kept.append(&mut minimal);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_semantics::random::Randomness;

    fn set(size: usize, bits: u32) -> MeasureSet {
        (0..size).filter(|bit| bits >> bit & 1 == 1).fold(MeasureSet::with_capacity(size), |mut set, bit| {
            set.insert(bit);
            set
        })
    }

    /// All minimal sets that touch every row, by trying all sets.
    fn minimal_sets(size: usize, rows: &[MeasureSet]) -> Vec<MeasureSet> {
        let touches = |candidate: &MeasureSet| rows.iter().all(|row| !row.is_disjoint(candidate));
        let all: Vec<MeasureSet> = (0..1u32 << size).map(|bits| set(size, bits)).filter(touches).collect();
        all.iter()
            .filter(|candidate| !all.iter().any(|other| other != *candidate && other.is_subset(candidate)))
            .cloned()
            .collect()
    }

    #[test]
    fn all_irreducible_sets_of_random_rows() {
        let mut random = Randomness::new(5);
        for _ in 0..400 {
            let size = 1 + random.below(7);
            let hidden: Vec<MeasureSet> = (0..=random.below(6))
                .map(|_| set(size, 1 + u32::try_from(random.below((1 << size) - 1)).unwrap()))
                .collect();
            let mut tried: Vec<MeasureSet> = Vec::new();
            let found = eliminating_sets::<()>(hidden[0].clone(), usize::MAX, |candidate| {
                assert!(!tried.contains(candidate), "no set is tried twice");
                tried.push(candidate.clone());
                Ok(hidden.iter().find(|row| row.is_disjoint(candidate)).cloned())
            })
            .unwrap();
            assert!(found.complete);
            assert!(found.sets.windows(2).all(|pair| pair[0].count_ones(..) <= pair[1].count_ones(..)));
            let key = |set: &MeasureSet| set.ones().collect::<Vec<_>>();
            let mut sets = found.sets.clone();
            let mut expected = minimal_sets(size, &hidden);
            sets.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(sets, expected);
            let mut described = minimal_sets(size, &found.rows);
            described.sort_by_key(key);
            assert_eq!(described, expected);
        }
    }
}
