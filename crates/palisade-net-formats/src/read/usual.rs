//! The forms in which most tools write `.spec`, each taken at one glance: a short name, fixed signs
//! and one digit.
//!
//! They make up most of a text. The lexer reads other ways of writing the same.

use super::names::ShortName;
use palisade_model::net::Count;

/// What the text says of a place.
pub(super) struct Said {
    /// What stands where the place's name belongs. If a place has this name, it is one.
    pub(super) name: ShortName,
    /// How many bytes it has.
    pub(super) name_length: usize,
    /// The number in the text.
    pub(super) count: Count,
    /// How many bytes all of it has.
    pub(super) length: usize,
}

/// A name, this sign and a number of one digit: `p >= 1`.
#[inline]
pub(super) fn relation<const N: usize>(text: &[u8], sign: &[u8; N]) -> Option<Said> {
    let (name, name_length) = short_name(text, sign[0])?;
    match behind(&text[name_length..], sign)? {
        [digit @ b'0'..=b'9', next, ..] if !next.is_ascii_digit() => {
            Some(Said { name, name_length, count: value(*digit), length: name_length + N + 1 })
        }
        _ => None,
    }
}

/// All of an update by one digit, and whether it adds: `p' = p + 1` or `p' = p - 1`.
#[inline]
pub(super) fn change(text: &[u8]) -> Option<(Said, bool)> {
    const IS: &[u8; 4] = b"' = ";
    let (name, name_length) = short_name(text, IS[0])?;
    let source = behind(&text[name_length..], IS)?;
    if ShortName::at_start(source, name_length)? != name {
        return None;
    }
    match &source[name_length..] {
        [b' ', sign @ (b'+' | b'-'), b' ', digit @ b'0'..=b'9', b',' | b';', ..] => {
            let length = 2 * name_length + IS.len() + " + 1".len();
            Some((Said { name, name_length, count: value(*digit), length }, *sign == b'+'))
        }
        _ => None,
    }
}

/// How many bytes a comma has with the blank behind it, or with the line break and the start of an
/// indented line.
#[inline]
pub(super) fn comma(text: &[u8]) -> Option<usize> {
    const NEW_LINE: &[u8; 6] = b",\n    ";
    const BLANK: &[u8; 2] = b", ";
    if text.starts_with(BLANK) {
        return Some(BLANK.len());
    }
    behind(text, NEW_LINE).map(|rest| NEW_LINE.len() + if rest.starts_with(b"    ") { 4 } else { 0 })
}

/// What the text starts with before the first such byte, and its length, if that is less than
/// eight.
#[inline]
fn short_name(text: &[u8], end: u8) -> Option<(ShortName, usize)> {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest high bit that is set below belongs to the first byte that is zero here, if there
    // is one.
    let differences = u64::from_le_bytes(*text.first_chunk()?) ^ (LOW * u64::from(end));
    let zeros = differences.wrapping_sub(LOW) & !differences & HIGH;
    let length = usize::try_from(zeros.trailing_zeros() / u8::BITS).expect("it is small");
    Some((ShortName::at_start(text, length)?, length)).filter(|_| zeros != 0)
}

/// What comes behind these bytes, which come first.
#[inline]
fn behind<'a, const N: usize>(text: &'a [u8], first: &[u8; N]) -> Option<&'a [u8]> {
    text.split_first_chunk::<N>().and_then(|(start, rest)| (start == first).then_some(rest))
}

/// The number that a digit is.
#[inline]
fn value(digit: u8) -> Count {
    u64::from(digit - b'0').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_sign_and_have_less_than_eight_bytes() {
        let length = |text: &[u8]| relation(text, b" >= ").map(|said| (said.name_length, said.length));
        assert_eq!(length(b"p >= 1, "), Some((1, 6)));
        assert_eq!(length(b"abcdefg >= 7;"), Some((7, 12)));
        assert_eq!(length(b"abcdefgh >= 7;"), None);
        assert_eq!(length(b"\x1f\x00\xa0\x21 >= 7;"), Some((4, 9)));
        assert_eq!(length(b"abc\x00 >= 7;"), None);
        assert_eq!(length(b" >= 1234567"), None);
        assert_eq!(length(b"p >= 12, q"), None);
        assert_eq!(length(b"p > 1, q >= 1"), None);
        let change = |text: &[u8]| change(text).map(|(said, adds)| (said.name_length, said.length, adds));
        assert_eq!(change(b"p' = p + 1, q"), Some((1, 10, true)));
        assert_eq!(change(b"abc' = abc - 2;     "), Some((3, 14, false)));
        assert_eq!(change(b"abc' = abd - 2;     "), None);
        assert_eq!(change(b"p' = p - 1 + 2;"), None);
    }

    #[test]
    fn commas_are_taken_with_what_is_behind_them() {
        let lengths = [&b", p"[..], b",  p", b",\n    p", b",\n        p", b",\n\tp", b",p", b"; ", b","].map(comma);
        assert_eq!(lengths, [Some(2), Some(2), Some(6), Some(10), None, None, None, None]);
    }
}
