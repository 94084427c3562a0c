//! The role's stack frame as registers: which bytes of it are one.
//!
//! Bytes that some access takes together are one register; all accesses to it read or write some of
//! its bits. Words of 8 bytes stand apart, and an access across two of them is two accesses to
//! private memory, which nobody can tell.

use palisade_syntax::x86::lowerer::{Piece, Slot};
use std::collections::BTreeMap;

/// The registers that stand for the frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameLayout {
    /// First byte to number of bytes, none of which overlap.
    segments: BTreeMap<i64, u8>,
}

/// The parts of an access that lie in different words.
fn parts(offset: i64, bytes: u8) -> Vec<(i64, u8)> {
    let mut parts = Vec::new();
    let (mut at, end) = (offset, offset + i64::from(bytes));
    while at < end {
        let word_end = at.div_euclid(8) * 8 + 8;
        let length = end.min(word_end) - at;
        parts.push((at, u8::try_from(length).expect("at most 8")));
        at += length;
    }
    parts
}

impl FrameLayout {
    /// Takes in an access.
    pub(crate) fn add(&mut self, offset: i64, bytes: u8) {
        for (at, length) in parts(offset, bytes) {
            let (mut start, mut end) = (at, at + i64::from(length));
            let touched: Vec<i64> = self
                .segments
                .range(start - 7..end)
                .filter(|(from, length)| **from + i64::from(**length) > start)
                .map(|(from, _)| *from)
                .collect();
            for from in touched {
                let length = self.segments.remove(&from).expect("was just found");
                start = start.min(from);
                end = end.max(from + i64::from(length));
            }
            self.segments.insert(start, u8::try_from(end - start).expect("within one word"));
        }
    }

    /// The pieces of an access that was taken in, the lowest first.
    pub(crate) fn pieces(&self, offset: i64, bytes: u8) -> Vec<Piece> {
        let piece = |(at, length): (i64, u8)| {
            let (byte, whole) = self.segments.range(..=at).next_back().expect("all accesses were taken in");
            let from = u8::try_from((at - byte) * 8).expect("within one word");
            Piece { byte: *byte, bytes: *whole, from, bits: length * 8 }
        };
        parts(offset, bytes).into_iter().map(piece).collect()
    }

    /// The register that holds exactly these bytes.
    pub(crate) fn exactly(&self, offset: i64, bytes: u8) -> Option<Slot> {
        (self.segments.get(&offset) == Some(&bytes)).then_some(Slot::Private { byte: offset, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_accesses_share_a_register() {
        let mut layout = FrameLayout::default();
        layout.add(-16, 4);
        layout.add(-12, 4);
        layout.add(-8, 8);
        assert_eq!(layout.exactly(-16, 4), Some(Slot::Private { byte: -16, bytes: 4 }));
        layout.add(-16, 8);
        assert_eq!(layout.exactly(-16, 4), None);
        assert_eq!(layout.pieces(-12, 4), [Piece { byte: -16, bytes: 8, from: 32, bits: 32 }]);
        layout.add(-12, 8);
        let crossing = layout.pieces(-12, 8);
        assert_eq!(crossing.len(), 2);
        assert_eq!(crossing[1], Piece { byte: -8, bytes: 8, from: 0, bits: 32 });
    }
}
