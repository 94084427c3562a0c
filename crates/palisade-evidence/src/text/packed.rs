//! Many markings as text, each a number in hexadecimal digits.
//!
//! The lowest bits are the number of tokens on the first place, as many as its width says, the next
//! ones that of the second place, and so on. Lists of numbers take eight times as much.

use super::net::{set_in, set_out};
use crate::reach::MarkingSet;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// Where lists of markings have more numbers than this, they are packed.
const MOST_NUMBERS: usize = 1 << 20;

/// Whether a set is written like this.
pub(super) fn is_large(set: &MarkingSet) -> bool {
    let (_, length) = MarkingSet::layout(&set.widths);
    set.words.len() / length * set.places.len() > MOST_NUMBERS
}

/// `{"places": […], "widths": […], "markings": ["2f", …]}`.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct PackedText(pub(super) Arc<MarkingSet>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    places: Vec<u32>,
    widths: Vec<u8>,
    markings: Vec<String>,
}

impl Serialize for PackedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let set = &*self.0;
        let mut fields = serializer.serialize_struct("PackedText", 3)?;
        fields.serialize_field("places", &set_out(&set.places))?;
        fields.serialize_field("widths", &set.widths)?;
        fields.serialize_field("markings", &Markings(set))?;
        fields.end()
    }
}

/// The markings of a set, made one by one: together they take several times the set's memory.
struct Markings<'a>(&'a MarkingSet);

impl Serialize for Markings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let used = used(&self.0.widths);
        serializer.collect_seq(self.0.words.chunks_exact(used.len()).map(|words| hexadecimal(words, &used)))
    }
}

impl TryFrom<Fields> for PackedText {
    type Error = String;

    fn try_from(Fields { places, widths, markings }: Fields) -> Result<Self, String> {
        if widths.len() != places.len() || widths.iter().any(|width| !(1..=32).contains(width)) {
            return Err("expected a width for each place, from 1 to 32".to_owned());
        }
        let used = used(&widths);
        let mut words = vec![0; markings.len() * used.len()];
        for (text, words) in markings.iter().zip(words.chunks_exact_mut(used.len())) {
            read(text, &used, words).ok_or_else(|| {
                let count = digits(&used);
                format!("expected markings of {count} hexadecimal digits each, of as many bits as the widths say")
            })?;
        }
        Ok(Self(Arc::new(MarkingSet { places: set_in(places), widths, words })))
    }
}

/// How many bits of each word of a marking are numbers: its lowest ones.
fn used(widths: &[u8]) -> Vec<u32> {
    let (fields, length) = MarkingSet::layout(widths);
    let mut used = vec![0; length];
    for ((word, bit), width) in fields.iter().zip(widths) {
        used[*word] = bit + u32::from(*width);
    }
    used
}

/// How many digits a marking has.
fn digits(used: &[u32]) -> usize {
    used.iter().map(|bits| *bits as usize).sum::<usize>().div_ceil(4).max(1)
}

fn hexadecimal(words: &[u64], used: &[u32]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = vec![b'0'; digits(used)];
    let mut lowest_first = text.iter_mut().rev();
    let (mut bits, mut count) = (0_u128, 0);
    let mut write = |bits: u128| {
        if let Some(digit) = lowest_first.next() {
            *digit = DIGITS[(bits & 15) as usize];
        }
    };
    for (word, used) in words.iter().zip(used) {
        bits |= u128::from(*word) << count;
        count += used;
        while count >= 4 {
            write(bits);
            (bits, count) = (bits >> 4, count - 4);
        }
    }
    if count > 0 {
        write(bits);
    }
    String::from_utf8(text).expect("digits")
}

/// Reads the words of a marking; nothing where the text is not what [`hexadecimal`] makes.
fn read(text: &str, used: &[u32], words: &mut [u64]) -> Option<()> {
    if text.len() != digits(used) {
        return None;
    }
    let mut lowest_first = text.bytes().rev();
    let mut next = || match lowest_first.next()? {
        digit @ b'0'..=b'9' => Some(u128::from(digit - b'0')),
        digit @ b'a'..=b'f' => Some(u128::from(digit - b'a') + 10),
        _ => None,
    };
    let (mut bits, mut count) = (0_u128, 0);
    for (word, used) in words.iter_mut().zip(used) {
        while count < *used {
            bits |= next()? << count;
            count += 4;
        }
        *word = u64::try_from(bits & ((1 << used) - 1)).ok()?;
        (bits, count) = (bits >> used, count - used);
    }
    // No bits are beyond the last number; without places the only digit is 0.
    (bits == 0 && next().is_none_or(|digit| digit == 0)).then_some(())
}
