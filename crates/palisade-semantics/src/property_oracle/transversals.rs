//! Minimal sets that meet every set of a family.

/// The minimal sets, as bits, that share a bit with each of the given ones; in ascending order. One
/// by one (Berge).
pub fn minimal_transversals(rows: &[u128]) -> Vec<u128> {
    let mut found = vec![0u128];
    for row in rows {
        let (hit, missed): (Vec<u128>, Vec<u128>) = found.iter().partition(|set| *set & row != 0);
        let longer = missed.iter().flat_map(|set| bits(*row).map(move |bit| set | bit));
        // Of the longer ones none is contained in another one that is not: only those that hit
        // already can be smaller.
        let kept = longer.filter(|set| !hit.iter().any(|other| other & set == *other));
        let mut all: Vec<u128> = kept.collect();
        all.extend(&hit);
        found = minimal(all);
    }
    found
}

/// Those that contain no other one, ascending.
pub(super) fn minimal(mut sets: Vec<u128>) -> Vec<u128> {
    sets.sort_unstable_by_key(|set| (set.count_ones(), *set));
    sets.dedup();
    let mut kept: Vec<u128> = Vec::new();
    for set in sets {
        if !kept.iter().any(|smaller| smaller & set == *smaller) {
            kept.push(set);
        }
    }
    kept.sort_unstable();
    kept
}

/// The bits of a set, each by itself.
pub(super) fn bits(set: u128) -> impl Iterator<Item = u128> {
    (0..128).map(|index| 1u128 << index).filter(move |bit| set & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transversals_are_minimal_and_all() {
        let mut random = crate::random::Randomness::new(5);
        for _ in 0..300 {
            let rows: Vec<u128> = (0..random.below(5)).map(|_| u128::from(random.number() % 63 + 1)).collect();
            let meets = |set: u128| rows.iter().all(|row| row & set != 0);
            let expected: Vec<u128> =
                (0..64).filter(|set| meets(*set) && bits(*set).all(|bit| !meets(set & !bit))).collect();
            assert_eq!(minimal_transversals(&rows), expected, "{rows:?}");
        }
    }
}
