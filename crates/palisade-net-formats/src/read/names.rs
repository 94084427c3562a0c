//! Places by their names.

use palisade_model::net::PlaceId;
use rustc_hash::FxHashMap;

/// A name of one to eight bytes, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ShortName(u64);

impl ShortName {
    /// The name that so many bytes at the start of a text make. Nothing when it is longer, or the
    /// text shorter, than eight bytes, and when a zero ends it, which a number does not tell.
    #[inline]
    pub(super) fn at_start(text: &[u8], length: usize) -> Option<Self> {
        let bytes = text.first_chunk()?;
        let unused = 8_usize.checked_sub(length).filter(|unused| *unused < 8)?;
        let number = u64::from_le_bytes(*bytes) << (8 * unused);
        (number >> 56 != 0).then_some(Self(number >> (8 * unused)))
    }

    /// The name, if it is short and no zero ends it.
    #[inline]
    fn of(name: &str) -> Option<Self> {
        let is_short = (1..=8).contains(&name.len()) && !name.ends_with('\0');
        is_short.then(|| Self(name.bytes().rfold(0, |number, byte| number << 8 | u64::from(byte))))
    }
}

/// Places by their names. Most names are short; the table finds these as numbers.
#[derive(Default)]
pub(super) struct Names<'a> {
    short: FxHashMap<ShortName, PlaceId>,
    long: FxHashMap<&'a str, PlaceId>,
}

impl<'a> Names<'a> {
    /// The place of this name.
    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<PlaceId> {
        match ShortName::of(name) {
            Some(name) => self.get_short(name),
            None => self.long.get(name).copied(),
        }
    }

    /// The place of this name.
    #[inline]
    pub(super) fn get_short(&self, name: ShortName) -> Option<PlaceId> {
        self.short.get(&name).copied()
    }

    /// Gives a place its name.
    pub(super) fn insert(&mut self, name: &'a str, place: PlaceId) {
        match ShortName::of(name) {
            Some(name) => self.short.insert(name, place),
            None => self.long.insert(name, place),
        };
    }
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

    #[test]
    fn short_names_are_found_in_a_text() {
        let mut names = Names::default();
        names.insert("abcd", PlaceId(1));
        names.insert("abcdefgh", PlaceId(2));
        names.insert("abcdefghi", PlaceId(3));
        let find = |text: &[u8], length| ShortName::at_start(text, length).and_then(|name| names.get_short(name));
        assert_eq!(find(b"abcd >= 1", 4), Some(PlaceId(1)));
        assert_eq!(find(b"abcdefgh", 8), Some(PlaceId(2)));
        assert_eq!(find(b"abcdefghi", 3), None);
        assert_eq!(ShortName::at_start(b"abcdefghi", 9), None);
        assert_eq!(ShortName::at_start(b"abcd >=", 4), None);
        assert_eq!(ShortName::at_start(b" >= 1234", 0), None);
        assert_eq!(ShortName::at_start(b"abc\0 >= 1", 4), None);
    }
}
