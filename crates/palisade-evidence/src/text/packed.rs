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
        serializer.collect_seq(self.0.rows().map(|row| hexadecimal(&row, &self.0.widths)))
    }
}

impl TryFrom<Fields> for PackedText {
    type Error = String;

    fn try_from(Fields { places, widths, markings }: Fields) -> Result<Self, String> {
        if widths.len() != places.len() || widths.iter().any(|width| !(1..=32).contains(width)) {
            return Err("expected a width for each place, from 1 to 32".to_owned());
        }
        let (fields, length) = MarkingSet::layout(&widths);
        let mut words = vec![0; markings.len() * length];
        for (text, words) in markings.iter().zip(words.chunks_exact_mut(length)) {
            let row = numbers(text, &widths).ok_or_else(|| {
                let count = digits(&widths);
                format!("expected markings of {count} hexadecimal digits each, of as many bits as the widths say")
            })?;
            for ((word, bit), number) in fields.iter().zip(row) {
                words[*word] |= u64::from(number) << bit;
            }
        }
        Ok(Self(Arc::new(MarkingSet { places: set_in(places), widths, words })))
    }
}

/// How many digits a marking has.
fn digits(widths: &[u8]) -> usize {
    widths.iter().map(|width| usize::from(*width)).sum::<usize>().div_ceil(4).max(1)
}

fn hexadecimal(row: &[u32], widths: &[u8]) -> String {
    let mut lowest_first = Vec::with_capacity(digits(widths));
    let (mut bits, mut count) = (0_u64, 0);
    for (number, width) in row.iter().zip(widths) {
        bits |= u64::from(*number) << count;
        count += u32::from(*width);
        while count >= 4 {
            lowest_first.push(bits);
            (bits, count) = (bits >> 4, count - 4);
        }
    }
    lowest_first.resize(digits(widths), bits);
    let digit = |bits: u64| char::from_digit(u32::try_from(bits & 15).expect("four bits"), 16).expect("a digit");
    lowest_first.into_iter().rev().map(digit).collect()
}

/// The numbers of a marking; nothing where the text is not what [`hexadecimal`] makes.
fn numbers(text: &str, widths: &[u8]) -> Option<Vec<u32>> {
    if text.len() != digits(widths) {
        return None;
    }
    let mut lowest_first = text.bytes().rev();
    let mut next = || match lowest_first.next()? {
        digit @ b'0'..=b'9' => Some(u64::from(digit - b'0')),
        digit @ b'a'..=b'f' => Some(u64::from(digit - b'a') + 10),
        _ => None,
    };
    let (mut bits, mut count) = (0_u64, 0);
    let mut row = Vec::with_capacity(widths.len());
    for width in widths {
        let width = u32::from(*width);
        while count < width {
            bits |= next()? << count;
            count += 4;
        }
        row.push(u32::try_from(bits & (u64::MAX >> (u64::BITS - width))).ok()?);
        (bits, count) = (bits >> width, count - width);
    }
    // The highest digit has no bits beyond the last width; that of no places is 0.
    let is_rest_empty = bits == 0 && next().is_none_or(|digit| digit == 0 && widths.is_empty());
    is_rest_empty.then_some(row)
}
