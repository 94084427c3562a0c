//! In which ways copies choose.

/// A search starts from no more initial configurations than this, and one step leads to no more.
/// The checker lists as many.
pub(crate) const MOST_WAYS: usize = 1 << 16;

/// For each way that is chosen its index, and how many copies choose it.
pub(crate) type Split = Vec<(usize, u64)>;

/// Every split of `copies` among `ways`, in the order of the counts of all ways; nothing where
/// there are more than [`MOST_WAYS`]. No copies split in one way, and copies that have no way split
/// in none.
///
/// The work is linear in what is returned, however many ways there are.
pub(crate) fn splits(copies: u64, ways: usize) -> Option<Vec<Split>> {
    if copies > 0 && ways == 0 {
        return Some(Vec::new());
    }
    let is_few = number_of_splits(copies, ways).is_some_and(|number| number <= MOST_WAYS as u128);
    is_few.then(|| {
        let mut found = Vec::new();
        split(copies, 0..ways, &mut Vec::new(), &mut found);
        found
    })
}

/// Binomial of `copies + ways - 1` over `copies`; nothing where numbers grow too large.
fn number_of_splits(copies: u64, ways: usize) -> Option<u128> {
    let others = (ways as u128).saturating_sub(1);
    let (fewer, more) = (others.min(copies.into()), others.max(copies.into()));
    let mut number: u128 = 1;
    for step in 1..=fewer {
        number = number.checked_mul(more + step)? / step;
        if number > MOST_WAYS as u128 {
            return None;
        }
    }
    Some(number)
}

fn split(copies: u64, ways: std::ops::Range<usize>, chosen: &mut Split, found: &mut Vec<Split>) {
    if copies == 0 {
        found.push(chosen.clone());
        return;
    }
    for way in ways.clone().rev() {
        let is_last = way + 1 == ways.end;
        for count in if is_last { copies..=copies } else { 1..=copies } {
            chosen.push((way, count));
            split(copies - count, way + 1..ways.end, chosen, found);
            chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_WAYS, splits};

    /// All counts of so many ways that have a sum, in order.
    fn counts(copies: u64, ways: usize) -> Vec<Vec<u64>> {
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for _ in 0..ways {
            all = all.iter().flat_map(|own| (0..=copies).map(|next| [own.as_slice(), &[next]].concat())).collect();
        }
        all.retain(|counts| counts.iter().sum::<u64>() == copies);
        all
    }

    #[test]
    fn splits_are_all_counts_with_the_sum() {
        for (copies, ways) in (0..5).flat_map(|copies| (0..5).map(move |ways| (copies, ways))) {
            let sparse = |counts: Vec<u64>| counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
            let expected: Vec<Vec<(usize, u64)>> = counts(copies, ways).into_iter().map(sparse).collect();
            assert_eq!(splits(copies, ways), Some(expected), "{copies} copies, {ways} ways");
        }
    }

    #[test]
    fn many_ways_are_many_splits_and_too_many_are_none() {
        assert_eq!(splits(1, MOST_WAYS).map(|splits| splits.len()), Some(MOST_WAYS));
        assert_eq!(splits(1, MOST_WAYS + 1), None);
        assert_eq!(splits(u64::MAX, 1), Some(vec![vec![(0, u64::MAX)]]));
        assert_eq!(splits(u64::MAX, 2), None);
        assert_eq!(splits(300, 3).map(|splits| splits.len()), Some(301 * 302 / 2));
    }
}
