//! Places by their names.

use crate::net::PlaceId;
use rustc_hash::FxHashMap;

/// Places by their names. Most names are short; these are looked up as numbers.
#[derive(Default)]
pub(super) struct Names<'a> {
    short: FxHashMap<u64, PlaceId>,
    long: FxHashMap<&'a str, PlaceId>,
}

impl<'a> Names<'a> {
    /// The place of this name.
    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<PlaceId> {
        match packed(name) {
            Some(number) => self.short.get(&number).copied(),
            None => self.long.get(name).copied(),
        }
    }

    /// Gives a place its name.
    pub(super) fn insert(&mut self, name: &'a str, place: PlaceId) {
        match packed(name) {
            Some(number) => self.short.insert(number, place),
            None => self.long.insert(name, place),
        };
    }
}

/// The bytes of a name as one number when they fit and it tells the name.
#[inline]
fn packed(name: &str) -> Option<u64> {
    let tells = name.len() <= size_of::<u64>() && !name.starts_with('\0');
    tells.then(|| name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_told_apart() {
        let texts =
            ["", "a", "b", "\0", "\0a", "a\0", "ab", "ba", "abcdefgh", "abcdefgi", "abcdefghi", "\0\0\0\0\0\0\0\0"];
        let mut names = Names::default();
        for (index, text) in texts.into_iter().enumerate() {
            assert_eq!(names.get(text), None, "{text:?}");
            names.insert(text, PlaceId::from_index(index));
        }
        for (index, text) in texts.into_iter().enumerate() {
            assert_eq!(names.get(text), Some(PlaceId::from_index(index)), "{text:?}");
        }
    }
}
