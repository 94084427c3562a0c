//! The state that expressions of the table are about, and the parts of its registers.
//!
//! A value as wide as the architecture's registers is a signed number; a narrower one is
//! zero-extended, which is what a 32-bit load leaves in a 64-bit register. Values in this form are
//! called canonical.

use super::Architecture;
use super::fold::{binary, truncate};
use super::registers::{MachineRegister, Part};
use palisade_model::program::{BinaryOperator as Op, Expression, RegisterId};

/// Flags as they are kept: the machine's, and SF ≠ OF, which signed comparisons ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// ZF.
    Zero,
    /// SF ≠ OF.
    Less,
    /// CF.
    Carry,
    /// SF.
    Sign,
    /// OF.
    Overflow,
}

/// All flags, in the order of their atoms.
const FLAGS: [Flag; 5] = [Flag::Zero, Flag::Less, Flag::Carry, Flag::Sign, Flag::Overflow];

/// The number of general-purpose registers.
const FAMILIES: usize = 16;

/// The first atom of registers of 16 bytes.
const VECTORS: usize = FAMILIES + FLAGS.len() + 1;

/// What a register of the table's expressions stands for. [`Expression::Old`] is what memory has
/// held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    /// A whole register of the machine, before the instruction.
    Family(u8),
    /// A flag, 0 or 1, before the instruction.
    Flag(Flag),
    /// What the instruction computes ([`Meaning::result`](super::Meaning::result)).
    Result,
    /// Half of a register of 16 bytes, before the instruction.
    Vector(Half),
}

/// Half of a register of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// The register; [`SCRATCH`] is none of the machine's.
    pub number: u8,
    /// Whether it is the upper half.
    pub upper: bool,
}

/// The register of 16 bytes that an operand in memory is read into first.
pub const SCRATCH: u8 = 16;

impl Atom {
    /// The atom as an expression.
    pub fn expression(self) -> Expression {
        let index = match self {
            Self::Family(family) => usize::from(family),
            Self::Flag(flag) => FAMILIES + FLAGS.iter().position(|other| *other == flag).expect("all flags are listed"),
            Self::Result => FAMILIES + FLAGS.len(),
            Self::Vector(Half { number, upper }) => VECTORS + 2 * usize::from(number) + usize::from(upper),
        };
        Expression::Register(RegisterId::from_index(index))
    }

    /// What a register of the table's expressions stands for.
    pub fn of(register: RegisterId) -> Self {
        let index = register.index();
        if let Some(half) = index.checked_sub(VECTORS) {
            let number = u8::try_from(half / 2).expect("registers are few");
            return Self::Vector(Half { number, upper: half % 2 == 1 });
        }
        match FLAGS.get(index.wrapping_sub(FAMILIES)) {
            Some(flag) => Self::Flag(*flag),
            None => u8::try_from(index).ok().filter(|_| index < FAMILIES).map_or(Self::Result, Self::Family),
        }
    }
}

/// What is known of the machine before an instruction.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The width of its registers.
    pub architecture: Architecture,
    /// For each register, whether it holds an unsigned number of 32 bits, though it has 64.
    pub narrow: [bool; FAMILIES],
}

impl Machine {
    /// A machine of which nothing is known.
    pub fn any(architecture: Architecture) -> Self {
        Self { architecture, narrow: [false; FAMILIES] }
    }

    fn is_narrow(&self, family: u8) -> bool {
        self.narrow.get(usize::from(family)).copied().unwrap_or(false)
    }

    /// Whether a write to the register replaces all of its family that is not 0 anyway.
    pub fn is_whole(&self, register: MachineRegister) -> bool {
        register.part.bits() == self.architecture.register_bits()
            || (register.part == Part::Double && self.is_narrow(register.family))
    }

    /// The canonical value of a register that may be a part of a whole one.
    pub fn read(&self, register: MachineRegister) -> Expression {
        let whole = Atom::Family(register.family).expression();
        match register.part {
            _ if self.is_whole(register) => whole,
            Part::HighByte => truncate(binary(Op::ShiftRight, whole, Expression::Constant(8)), 8, false),
            part => truncate(whole, part.bits(), false),
        }
    }
}

/// What a whole register becomes when a part of it is written: 32 bits clear the upper half, fewer
/// keep the rest.
pub(super) fn widened(register: MachineRegister, whole: Expression, value: Expression) -> Expression {
    let (mask, value) = match register.part {
        Part::Quad | Part::Double => return value,
        Part::Word => (!0xffff, value),
        Part::LowByte => (!0xff, value),
        Part::HighByte => (!0xff00, binary(Op::ShiftLeft, value, Expression::Constant(8))),
    };
    binary(Op::BitOr, binary(Op::BitAnd, whole, Expression::Constant(mask)), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_and_registers_agree() {
        let halves = (0..=SCRATCH).flat_map(|number| [false, true].map(|upper| Atom::Vector(Half { number, upper })));
        let atoms = (0..16).map(Atom::Family).chain(FLAGS.map(Atom::Flag)).chain([Atom::Result]).chain(halves);
        for atom in atoms {
            let Expression::Register(register) = atom.expression() else { panic!("atoms are registers") };
            assert_eq!(Atom::of(register), atom);
        }
    }
}
