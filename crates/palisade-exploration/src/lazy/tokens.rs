//! Token counts of lazily built nets: machine words and ω.

/// A number of tokens below 2³² − 1, or ω.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens(u32);

impl Tokens {
    /// As many as one likes; greater than every finite count.
    pub const OMEGA: Tokens = Tokens(u32::MAX);
    /// One token.
    pub const ONE: Tokens = Tokens(1);

    /// So many tokens.
    pub fn finite(count: u32) -> Self {
        assert!(count < u32::MAX, "token counts of lazily built nets stay below 2^32 - 1");
        Self(count)
    }

    /// Whether this is ω.
    pub fn is_omega(self) -> bool {
        self == Self::OMEGA
    }

    /// The count, unless it is ω.
    pub fn count(self) -> Option<u32> {
        (!self.is_omega()).then_some(self.0)
    }

    /// One more; ω stays ω.
    #[must_use]
    pub fn plus_one(self) -> Self {
        if self.is_omega() { self } else { Self::finite(self.0 + 1) }
    }

    /// One less, nothing when none is left; ω stays ω.
    pub fn minus_one(self) -> Option<Self> {
        if self.is_omega() { Some(self) } else { (self.0 > 1).then(|| Self(self.0 - 1)) }
    }
}

/// In the terms of the checker.
impl From<Tokens> for palisade_evidence::Tokens {
    fn from(tokens: Tokens) -> Self {
        tokens.count().map_or(Self::Omega, |count| Self::Finite(count.into()))
    }
}

/// A place with at least one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The place's number.
    pub place: u32,
    /// Its tokens, at least one.
    pub tokens: Tokens,
}

/// Takes one token from a place of a sorted list, which must hold one.
pub fn take(entries: &mut Vec<Entry>, place: u32) {
    let index = entries.binary_search_by_key(&place, |entry| entry.place).expect("a step takes a token that is there");
    match entries[index].tokens.minus_one() {
        Some(rest) => entries[index].tokens = rest,
        None => {
            entries.remove(index);
        }
    }
}

/// Puts one token on a place of a sorted list, or ω.
pub(super) fn put(entries: &mut Vec<Entry>, place: u32, omega: bool) {
    match entries.binary_search_by_key(&place, |entry| entry.place) {
        Ok(index) => {
            entries[index].tokens = if omega { Tokens::OMEGA } else { entries[index].tokens.plus_one() };
        }
        Err(index) => {
            entries.insert(index, Entry { place, tokens: if omega { Tokens::OMEGA } else { Tokens::ONE } });
        }
    }
}

/// Sorts entries by their places.
pub fn sort_entries(entries: &mut [Entry]) {
    entries.sort_unstable_by_key(|entry| entry.place);
}

/// Sorts entries, and puts those of one place together.
pub fn put_together(entries: &mut Vec<Entry>) {
    sort_entries(entries);
    entries.dedup_by(|more, entry| {
        let is_same = more.place == entry.place;
        if is_same {
            let sum = entry.tokens.count().zip(more.tokens.count()).map(|(one, other)| Tokens::finite(one + other));
            entry.tokens = sum.unwrap_or(Tokens::OMEGA);
        }
        is_same
    });
}

/// Whether `small` is at most `large` on every place; both sorted by place.
pub fn is_covered(small: &[Entry], large: &[Entry]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut candidates = large.iter();
    'places: for entry in small {
        for candidate in candidates.by_ref() {
            if candidate.place == entry.place {
                if candidate.tokens < entry.tokens {
                    return false;
                }
                continue 'places;
            }
            if candidate.place > entry.place {
                return false;
            }
        }
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(places: &[(u32, u32)]) -> Vec<Entry> {
        places
            .iter()
            .map(|(place, count)| Entry {
                place: *place,
                tokens: if *count == 99 { Tokens::OMEGA } else { Tokens::finite(*count) },
            })
            .collect()
    }

    #[test]
    fn covering_is_per_place() {
        assert!(is_covered(&list(&[(1, 2), (4, 1)]), &list(&[(0, 1), (1, 99), (4, 1)])));
        assert!(!is_covered(&list(&[(1, 2)]), &list(&[(0, 1), (2, 5)])));
        assert!(!is_covered(&list(&[(1, 99)]), &list(&[(1, 5)])));
        assert!(is_covered(&[], &[]));
    }

    #[test]
    fn entries_of_one_place_come_together() {
        let mut entries = list(&[(4, 1), (2, 99), (4, 2), (2, 1), (3, 1)]);
        put_together(&mut entries);
        assert_eq!(entries, list(&[(2, 99), (3, 1), (4, 3)]));
    }

    #[test]
    fn taking_and_putting() {
        let mut entries = list(&[(1, 1), (3, 99)]);
        take(&mut entries, 1);
        take(&mut entries, 3);
        put(&mut entries, 2, false);
        put(&mut entries, 2, false);
        assert_eq!(entries, list(&[(2, 2), (3, 99)]));
    }
}
