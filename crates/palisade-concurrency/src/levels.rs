//! How much has been done at each address: nothing, a read, a write.

use palisade_model::program::Value;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Bits {
    /// Without zero words at the end.
    words: SmallVec<[u64; 1]>,
}

impl Bits {
    fn insert(&mut self, index: usize) {
        if self.words.len() <= index / 64 {
            self.words.resize(index / 64 + 1, 0);
        }
        self.words[index / 64] |= 1 << (index % 64);
    }

    fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (own, more) in self.words.iter_mut().zip(&other.words) {
            *own |= more;
        }
    }

    fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(own, other)| own & other != 0)
    }

    fn is_within(&self, other: &Self) -> bool {
        self.words.iter().enumerate().all(|(index, word)| word & !other.words.get(index).copied().unwrap_or(0) == 0)
    }

    fn contains(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// For each address, whether it was accessed and whether it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Levels {
    accessed: Bits,
    written: Bits,
}

impl Levels {
    /// Adds an access.
    pub(super) fn insert(&mut self, address: usize, writes: bool) {
        self.accessed.insert(address);
        if writes {
            self.written.insert(address);
        }
    }

    /// Adds all accesses of another one.
    pub(super) fn add(&mut self, other: &Self) {
        self.accessed.add(&other.accessed);
        self.written.add(&other.written);
    }

    /// Adds the access of another one to an address, or all of them if none is given.
    pub(super) fn add_at(&mut self, other: &Self, address: Option<usize>) {
        match address {
            None => self.add(other),
            Some(address) if other.accessed.contains(address) => self.insert(address, other.written.contains(address)),
            Some(_) => {}
        }
    }

    /// Whether some address was accessed by both and written by one.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.written.meets(&other.accessed) || self.accessed.meets(&other.written)
    }

    /// Whether another one has all these accesses.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.accessed.is_within(&other.accessed) && self.written.is_within(&other.written)
    }

    /// The numbers of the addresses accessed, ascending, with whether they were written.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let indices = 0..64 * self.accessed.words.len();
        indices.filter(|index| self.accessed.contains(*index)).map(|index| (index, self.written.contains(index)))
    }
}

/// Numbers for addresses, in the order in which they come up.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    numbers: FxHashMap<Value, usize>,
    addresses: Vec<Value>,
}

impl Numbering {
    /// The number of an address.
    pub(super) fn number(&mut self, address: Value) -> usize {
        *self.numbers.entry(address).or_insert_with(|| {
            self.addresses.push(address);
            self.addresses.len() - 1
        })
    }

    /// The address of a number.
    pub(super) fn address(&self, number: usize) -> Value {
        self.addresses[number]
    }
}
