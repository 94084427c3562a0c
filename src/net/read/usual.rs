//! The forms in which most tools write `.spec`, each taken at one glance: a short name, fixed signs and one digit.
//!
//! They make up most of a text. What is written otherwise is left to the lexer, and means the same.

use super::lexicon::Lexicon;
use super::names::ShortName;
use crate::net::Count;

/// What is said of a place.
pub(super) struct Said {
    /// The place's name.
    pub(super) name: ShortName,
    /// How many bytes it has.
    pub(super) name_length: usize,
    /// The number that is said.
    pub(super) count: Count,
    /// How many bytes all of it has.
    pub(super) length: usize,
}

/// A name, this sign and a number of one digit: `p >= 1`.
#[inline]
pub(super) fn relation<const N: usize>(text: &[u8], sign: &[u8; N], lexicon: &Lexicon) -> Option<Said> {
    let (name, name_length) = short_name(text, lexicon)?;
    match behind(&text[name_length..], sign)? {
        [digit @ b'0'..=b'9', next, ..] if !next.is_ascii_digit() => {
            Some(Said { name, name_length, count: value(*digit), length: name_length + N + 1 })
        }
        _ => None,
    }
}

/// All of an update by one digit, and whether it adds: `p' = p + 1` or `p' = p - 1`.
#[inline]
pub(super) fn change(text: &[u8], lexicon: &Lexicon) -> Option<(Said, bool)> {
    const IS: &[u8; 4] = b"' = ";
    let (name, name_length) = short_name(text, lexicon)?;
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

/// The word that the text starts with, and its length.
#[inline]
fn short_name(text: &[u8], lexicon: &Lexicon) -> Option<(ShortName, usize)> {
    let length = text.iter().position(|byte| lexicon.class(*byte) & Lexicon::CONTINUES_WORD == 0)?;
    Some((ShortName::at_start(text, length)?, length))
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
