//! Functions that copy, fill and compare memory: what they do to so many bytes.
//!
//! They are not followed: which one a program has differs from processor to processor. All bytes
//! are read before one is written, so that what overlaps needs no care; words of shared memory are
//! accessed in any order, a few at most.

use super::decode::MemoryOperand;
use palisade_model::program::{BinaryOperator as Op, Expression, Value};
use palisade_syntax::x86::fold::{binary, not, select, truncate};

/// What a function does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// `memcpy` and `memmove`.
    Copy,
    /// `memset`.
    Fill,
    /// `bcmp`: whether bytes differ.
    Differ,
    /// `memcmp`: which bytes are less; of the result, its sign is what counts.
    Compare,
}

/// The registers of the arguments: rdi, rsi.
const FIRST: u8 = 7;
const SECOND: u8 = 6;

impl Copying {
    /// What the C library calls it, whichever of its functions was chosen for the processor.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let chosen = name
            .strip_prefix("__")
            .and_then(|rest| rest.split_once('_'))
            .filter(|(_, kind)| ["avx", "sse", "evex", "erms", "ssse"].iter().any(|known| kind.starts_with(known)));
        match chosen.map_or(name, |(stem, _)| stem) {
            "memcpy" | "memmove" | "__new_memcpy" => Some(Self::Copy),
            "memset" => Some(Self::Fill),
            "bcmp" | "memcmpeq" | "__memcmpeq" => Some(Self::Differ),
            "memcmp" => Some(Self::Compare),
            _ => None,
        }
    }

    /// The most bytes that it is followed for.
    pub(crate) fn most(self) -> Value {
        match self {
            Self::Copy | Self::Fill => 1024,
            Self::Differ | Self::Compare => 64,
        }
    }

    /// Whether it reads from its first argument, and from its second.
    pub(crate) fn reads(self) -> (bool, bool) {
        match self {
            Self::Copy => (false, true),
            Self::Fill => (false, false),
            Self::Differ | Self::Compare => (true, true),
        }
    }

    /// Whether it writes to its first argument, which it returns then.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Copy | Self::Fill)
    }

    /// What it returns that compares these bytes of both, with their numbers.
    pub(crate) fn compared(self, pairs: &[(Expression, Expression, u8)]) -> Expression {
        let equal = |(one, two, _): &(Expression, Expression, u8)| binary(Op::Equal, one.clone(), two.clone());
        if self == Self::Differ {
            let all = pairs.iter().map(equal).reduce(|all, one| binary(Op::And, all, one));
            return not(all.unwrap_or(Expression::Constant(1)));
        }
        let sign = pairs.iter().rev().fold(Expression::Constant(0), |rest, pair| {
            let (one, two) = (reversed(&pair.0, pair.2), reversed(&pair.1, pair.2));
            let less = binary(Op::Multiply, binary(Op::Less, one, two), Expression::Constant(-2));
            select(equal(pair), rest, binary(Op::Add, Expression::Constant(1), less))
        });
        truncate(sign, 32, false)
    }
}

/// The words of so many bytes behind an argument: of 8 bytes, and what is left.
pub(crate) fn words(first: bool, bytes: u16) -> Vec<MemoryOperand> {
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes {
        let length = [8, 4, 2, 1].into_iter().find(|length| at + length <= bytes).expect("there is a byte");
        let base = Some(if first { FIRST } else { SECOND });
        let bytes = u8::try_from(length).expect("at most 8");
        words.push(MemoryOperand { base, index: None, displacement: at.into(), bytes });
        at += length;
    }
    words
}

/// As many copies of the low byte of the second argument as a word has bytes, over the atoms.
pub(crate) fn filled(second: Expression, bytes: u8) -> Expression {
    let ones = Value::from_le_bytes([1; 8]);
    let all = binary(Op::Multiply, truncate(second, 8, false), Expression::Constant(ones));
    truncate(all, bytes * 8, bytes == 8)
}

/// The bytes of a number in reverse, as an unsigned number.
fn reversed(number: &Expression, bytes: u8) -> Expression {
    let byte = |index: u8| {
        let moved = binary(Op::ShiftRight, number.clone(), Expression::Constant(Value::from(index) * 8));
        let byte = binary(Op::BitAnd, moved, Expression::Constant(255));
        binary(Op::ShiftLeft, byte, Expression::Constant(Value::from(bytes - 1 - index) * 8))
    };
    (0..bytes).map(byte).reduce(|sum, one| binary(Op::BitOr, sum, one)).unwrap_or(Expression::Constant(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_many_names() {
        for (name, expected) in [
            ("memcpy", Some(Copying::Copy)),
            ("__memmove_avx512_unaligned_erms", Some(Copying::Copy)),
            ("__memset_evex_unaligned", Some(Copying::Fill)),
            ("__memcmpeq_evex", Some(Copying::Differ)),
            ("__memcmp_sse2", Some(Copying::Compare)),
            ("__memcpy_chk", None),
            ("memchr", None),
        ] {
            assert_eq!(Copying::named(name), expected, "{name}");
        }
    }

    #[test]
    fn comparisons_are_those_of_bytes() {
        let mut random = 1u64;
        for round in 0..400u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
            let one: [u8; 13] = std::array::from_fn(|index| (random >> (4 * index)) as u8 & 1);
            let mut two = one;
            if round % 3 > 0 {
                two[(random >> 60) as usize % 13] ^= 0x81;
            }
            let pairs: Vec<_> = words(true, 13)
                .into_iter()
                .map(|word| {
                    let from = usize::try_from(word.displacement).expect("small");
                    let value = |bytes: &[u8; 13]| {
                        let low = bytes[from..from + usize::from(word.bytes)].iter().rev();
                        Expression::Constant(low.fold(0i64, |sum, byte| sum << 8 | i64::from(*byte)))
                    };
                    (value(&one), value(&two), word.bytes)
                })
                .collect();
            let found = Copying::Compare.compared(&pairs).evaluate(&[], None).expect("a number");
            let sign = i64::from(i32::from_le_bytes(found.to_le_bytes()[..4].try_into().expect("4 bytes")));
            assert_eq!(sign.signum(), one.cmp(&two) as i64, "{one:?} {two:?}");
            let differs = Copying::Differ.compared(&pairs).evaluate(&[], None).expect("a number");
            assert_eq!(differs != 0, one != two);
        }
    }
}
