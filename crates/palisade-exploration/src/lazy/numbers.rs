//! Tables of numbers by the hashes of what they number.

use hashbrown::HashTable;

/// Numbers by the hashes of what they number. Half of its hash is kept beside each, so that to make
/// room takes no look at the values; and so a compiler translates that once, not for each type of
/// them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    table: HashTable<Numbered>,
}

#[derive(Clone, Copy, Debug)]
struct Numbered {
    hash: u32,
    number: u32,
}

impl Numbers {
    /// The number with this hash that is meant.
    pub(crate) fn find(&self, hash: u64, mut is_meant: impl FnMut(u32) -> bool) -> Option<u32> {
        let hash = half(hash);
        let found = self.table.find(spread(hash), |known| known.hash == hash && is_meant(known.number));
        found.map(|found| found.number)
    }

    /// Adds a number that is not there.
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
        let hash = half(hash);
        self.table.insert_unique(spread(hash), Numbered { hash, number }, |known| spread(known.hash));
    }

    /// How many bytes the table takes more when the next number is inserted: it doubles when it is
    /// full.
    pub(crate) fn growth(&self) -> usize {
        let is_full = self.table.len() == self.table.capacity();
        if is_full { self.table.len() * 2 * size_of::<Numbered>() } else { 0 }
    }

    /// Takes a number out, if it is there.
    pub(crate) fn remove(&mut self, hash: u64, number: u32) {
        if let Ok(entry) = self.table.find_entry(spread(half(hash)), |known| known.number == number) {
            entry.remove();
        }
    }
}

/// A hash of half the size.
#[expect(clippy::cast_possible_truncation, reason = "the other half is mixed in")]
fn half(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// A hash for the table, which looks at the lowest and at the highest bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_hash_are_told_apart() {
        let mut numbers = Numbers::default();
        for number in 0..1_000 {
            assert_eq!(numbers.find(7, |known| known == number), None);
            numbers.insert(7, number);
        }
        assert!((0..1_000).all(|number| numbers.find(7, |known| known == number) == Some(number)));
        assert_eq!(numbers.find(8, |_| true), None);
        numbers.remove(7, 500);
        numbers.remove(7, 500);
        assert_eq!(numbers.find(7, |known| known == 500), None);
        assert!(
            (0..1_000).filter(|known| *known != 500).all(|number| numbers.find(7, |known| known == number).is_some())
        );
    }
}
