//! Registers of 16 bytes: two halves of 64 bits, each kept as a signed number, divided into lanes
//! [SDM, vol. 2].
//!
//! Only registers are operands here: what is in memory is read into
//! [`SCRATCH`](super::super::SCRATCH) first.

use super::super::fold::{binary, truncate};
use super::super::parts::{Atom, Half};
use super::super::registers::MachineRegister;
use super::{Meaning, Write};
use palisade_model::program::{BinaryOperator as Op, Expression, UnaryOperator, Value};

/// What is done to a register of 16 bytes; lanes have so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOperation {
    /// `pand`.
    And,
    /// `pandn`: the complement of the first with the second.
    AndNot,
    /// `por`.
    Or,
    /// `pxor`.
    Xor,
    /// `padd`, lane by lane.
    Add(u8),
    /// `psub`.
    Subtract(u8),
    /// `pcmpeq`: ones where lanes are equal, zeros elsewhere.
    Equal(u8),
    /// `pcmpgt`, of signed numbers.
    Greater(u8),
    /// `psll` by a number.
    ShiftLeft(u8),
    /// `psrl` and `psra` by a number.
    ShiftRight {
        /// The bits of a lane.
        lane: u8,
        /// Whether copies of the sign come in.
        signed: bool,
    },
    /// `pslldq` and `psrldq`: all of it, by a number of bytes.
    ShiftBytes {
        /// Whether to the left.
        left: bool,
    },
    /// `punpckl` and `punpckh`: lanes of both, in turn.
    Interleave {
        /// The bits of a lane.
        lane: u8,
        /// Whether those of the upper halves.
        upper: bool,
    },
    /// `pshufd`: four lanes of the second, by two bits each.
    Shuffle,
    /// `pshuflw` and `pshufhw`: one half of the second with its lanes of 16 bits chosen so, beside
    /// the other.
    ShuffleWords {
        /// Whether in the upper half.
        upper: bool,
    },
    /// `shufps` and `shufpd`: the lower half of lanes of the first, the upper one of the second.
    ShuffleBoth(u8),
    /// `movsd` and `movss` between registers: so many low bits.
    Low(u8),
    /// `movhlps`: the upper half becomes the lower one.
    LowFromHigh,
    /// `movlhps`: the lower half becomes the upper one.
    HighFromLow,
}

/// An instruction on registers of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorForm {
    /// What is done.
    pub operation: VectorOperation,
    /// The first operand, which is written.
    pub to: u8,
    /// The second operand.
    pub from: u8,
    /// The number of the instruction, 0 without one.
    pub number: u8,
}

/// The halves of a register, or what they become: the lower one first.
type Halves = [Expression; 2];

fn number(number: Value) -> Expression {
    Expression::Constant(number)
}

fn halves(number: u8) -> Halves {
    [false, true].map(|upper| Atom::Vector(Half { number, upper }).expression())
}

/// A lane as an unsigned number; of 64 bits, as a signed one.
fn lane(of: &Halves, bits: u8, index: usize) -> Expression {
    let (half, from) = (index * usize::from(bits) / 64, index * usize::from(bits) % 64);
    let from = Value::try_from(from).expect("less than 64");
    truncate(binary(Op::ShiftRight, of[half].clone(), number(from)), bits, bits == 64)
}

/// A half made of lanes, the lowest first.
fn joined(lanes: &[Expression], bits: u8) -> Expression {
    if let [only] = lanes {
        return only.clone();
    }
    let moved =
        |(index, lane): (Value, &Expression)| binary(Op::ShiftLeft, lane.clone(), number(index * Value::from(bits)));
    let sum = (0..).zip(lanes).map(moved).reduce(|sum, one| binary(Op::BitOr, sum, one)).unwrap_or(number(0));
    truncate(sum, 64, true)
}

/// Halves whose lanes are these.
fn of_lanes(bits: u8, lane: impl Fn(usize) -> Expression) -> Halves {
    let count = 64 / usize::from(bits);
    [0, count].map(|first| joined(&(first..first + count).map(&lane).collect::<Vec<_>>(), bits))
}

/// A half whose lanes are chosen from some halves, each by half and place in it; whole where they
/// are one half's.
fn chosen(bits: u8, places: &[(&Halves, usize)]) -> Expression {
    let count = 64 / usize::from(bits);
    let (of, first) = places[0];
    let is_whole = first % count == 0
        && (first..).zip(places).all(|(index, (other, place))| *place == index && std::ptr::eq(*other, of));
    if is_whole {
        return of[first / count].clone();
    }
    joined(&places.iter().map(|(of, place)| lane(of, bits, *place)).collect::<Vec<_>>(), bits)
}

/// The places that the bits of a number choose.
fn order(number: u8, bits: u8, count: usize) -> Vec<usize> {
    (0..count).map(|index| usize::from(number >> (index * usize::from(bits))) & ((1 << bits) - 1)).collect()
}

/// What an instruction on registers of 16 bytes does.
pub fn vector_meaning(form: &VectorForm) -> Meaning {
    use VectorOperation as V;
    let (one, two, by) = (&halves(form.to), &halves(form.from), form.number);
    let bitwise = |operator, one: &Halves| [0, 1].map(|half| binary(operator, one[half].clone(), two[half].clone()));
    let wrapped = |operator, bits: u8| {
        of_lanes(bits, |index| {
            truncate(binary(operator, lane(one, bits, index), lane(two, bits, index)), bits, bits == 64)
        })
    };
    let compared = |operator, bits: u8| {
        let signed = |of: &Halves, index| truncate(lane(of, bits, index), bits, true);
        let ones = if bits == 64 { -1 } else { (1 << bits) - 1 };
        of_lanes(bits, |index| {
            binary(Op::Multiply, binary(operator, signed(one, index), signed(two, index)), number(ones))
        })
    };
    let written = match form.operation {
        V::And => bitwise(Op::BitAnd, one),
        V::AndNot => {
            let complement = one.clone().map(|half| Expression::unary(UnaryOperator::Complement, half));
            bitwise(Op::BitAnd, &complement)
        }
        V::Or => bitwise(Op::BitOr, one),
        V::Xor => bitwise(Op::BitXor, one),
        V::Add(bits) => wrapped(Op::Add, bits),
        V::Subtract(bits) => wrapped(Op::Subtract, bits),
        V::Equal(bits) => compared(Op::Equal, bits),
        V::Greater(bits) => compared(Op::Greater, bits),
        V::ShiftLeft(bits) if by >= bits => [number(0), number(0)],
        V::ShiftLeft(bits) => {
            let moved = |index| binary(Op::ShiftLeft, lane(one, bits, index), number(by.into()));
            of_lanes(bits, |index| truncate(moved(index), bits, bits == 64))
        }
        V::ShiftRight { lane: bits, signed: false } if by >= bits => [number(0), number(0)],
        V::ShiftRight { lane: bits, signed } => {
            let moved = |index| {
                let operand = truncate(lane(one, bits, index), bits, signed);
                binary(Op::ShiftRight, operand, number(by.min(bits - 1).into()))
            };
            of_lanes(bits, |index| truncate(moved(index), bits, bits == 64))
        }
        V::ShiftBytes { left } => shifted(one, by, left),
        V::Interleave { lane: bits, upper } => {
            let count = 64 / usize::from(bits);
            let first = if upper { count } else { 0 };
            let place = |index: usize| if index % 2 == 0 { (one, first + index / 2) } else { (two, first + index / 2) };
            [0, count].map(|start| chosen(bits, &(start..start + count).map(place).collect::<Vec<_>>()))
        }
        V::Shuffle => {
            let order = order(by, 2, 4);
            [0, 2].map(|first| chosen(32, &[(two, order[first]), (two, order[first + 1])]))
        }
        V::ShuffleWords { upper } => {
            let first = if upper { 4 } else { 0 };
            let places: Vec<_> = order(by, 2, 4).into_iter().map(|place| (two, first + place)).collect();
            let shuffled = chosen(16, &places);
            if upper { [two[0].clone(), shuffled] } else { [shuffled, two[1].clone()] }
        }
        V::ShuffleBoth(64) => [one[usize::from(by & 1)].clone(), two[usize::from(by >> 1 & 1)].clone()],
        V::ShuffleBoth(bits) => {
            let order = order(by, 2, 4);
            [(one, 0), (two, 2)].map(|(of, first)| chosen(bits, &[(of, order[first]), (of, order[first + 1])]))
        }
        V::Low(64) => [two[0].clone(), one[1].clone()],
        V::Low(bits) => {
            let kept = binary(Op::BitAnd, one[0].clone(), number(-1 << bits));
            [binary(Op::BitOr, kept, lane(two, bits, 0)), one[1].clone()]
        }
        V::LowFromHigh => [two[1].clone(), one[1].clone()],
        V::HighFromLow => [one[0].clone(), two[0].clone()],
    };
    let half = |upper| Half { number: form.to, upper };
    let mut vectors = Vec::new();
    for ((upper, value), before) in [false, true].into_iter().zip(written).zip(one) {
        if value != *before {
            vectors.push((half(upper), value));
        }
    }
    Meaning { vectors, ..Meaning::nothing() }
}

/// All 128 bits moved by some bytes; zeros come in.
fn shifted(of: &Halves, bytes: u8, left: bool) -> Halves {
    let byte = |index: usize| {
        let from = if left { index.checked_sub(bytes.into()) } else { Some(index + usize::from(bytes)) };
        from.filter(|from| *from < 16).map_or(number(0), |from| lane(of, 8, from))
    };
    match (bytes, left) {
        (0, _) => of.clone(),
        (8, true) => [number(0), of[0].clone()],
        (8, false) => [of[1].clone(), number(0)],
        _ => of_lanes(8, byte),
    }
}

/// The signs of all lanes, the lowest lane's first, in a general-purpose register: `pmovmskb`,
/// `movmskps`, `movmskpd`.
pub fn vector_mask(register: MachineRegister, from: u8, bits: u8) -> Meaning {
    let of = halves(from);
    let count = 128 / usize::from(bits);
    let sign = |index: usize| {
        let place = index * usize::from(bits) + usize::from(bits) - 1;
        let place_in_half = Value::try_from(place % 64).expect("less than 64");
        let sign = binary(Op::BitAnd, binary(Op::ShiftRight, of[place / 64].clone(), number(place_in_half)), number(1));
        binary(Op::ShiftLeft, sign, number(Value::try_from(index).expect("at most 15")))
    };
    let value = (0..count).map(sign).reduce(|sum, one| binary(Op::BitOr, sum, one)).unwrap_or(number(0));
    Meaning { writes: vec![Write { register, value, condition: None }], ..Meaning::nothing() }
}
