//! Instructions that are understood of known numbers alone: products of 128 bits, quotients, scans for a bit.
//!
//! Compilers make remainders by constants of products of which only the upper half counts, and expressions of programs have 64 bits. Where the
//! numbers are known - the address of an object that chooses a lock, a capacity -, so is what comes out [SDM, vol. 2, MUL, DIV, BSF, BSR].

use super::environment::Environment;
use super::refusal::Objection;
use palisade_model::program::{Expression, Value};
use palisade_syntax::x86::registers::{MachineRegister, Part};
use palisade_syntax::x86::{Access, Flag, Meaning, Write};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfNumbers {
    /// `mul`: the product of the accumulator with the source, into `rdx` and `rax`.
    Multiply,
    /// `div`: `rdx` and `rax` divided by the source; the quotient into `rax`, the rest into `rdx`.
    Divide,
    /// `bsf` or `tzcnt`: the place of the lowest bit of a source that is not 0.
    LowestBit(u8),
    /// `bsr`: the place of the highest bit of a source that is not 0.
    HighestBit(u8),
}

/// The families of `rax` and `rdx`.
const ACCUMULATOR: u8 = 0;
const DATA: u8 = 2;

/// What an instruction does to the registers, with a source of 32 or 64 bits.
pub(crate) fn meaning(
    operation: OfNumbers,
    source: u8,
    bits: u8,
    environment: &Environment,
) -> Result<Meaning, Objection> {
    let number = |family: u8| {
        let known = environment.family(family).constant().map(Value::cast_unsigned);
        let known = known.map(|whole| if bits == 32 { whole & u64::from(u32::MAX) } else { whole });
        known.ok_or_else(|| Objection::new("this instruction is understood of known numbers alone"))
    };
    let by = number(source)?;
    let written = match operation {
        OfNumbers::Multiply => {
            let product = u128::from(number(ACCUMULATOR)?) * u128::from(by);
            vec![(ACCUMULATOR, product), (DATA, product >> bits)]
        }
        OfNumbers::Divide => {
            let dividend = u128::from(number(DATA)?) << bits | u128::from(number(ACCUMULATOR)?);
            let by = u128::from(by);
            let quotient = dividend.checked_div(by).filter(|quotient| quotient >> bits == 0);
            let quotient = quotient.ok_or_else(|| Objection::new("this quotient has no value"))?;
            vec![(ACCUMULATOR, quotient), (DATA, dividend % by)]
        }
        OfNumbers::LowestBit(_) | OfNumbers::HighestBit(_) if by == 0 => {
            return Err(Objection::new("a bit is sought in 0, and what comes out differs from processor to processor"));
        }
        OfNumbers::LowestBit(to) => vec![(to, u128::from(by.trailing_zeros()))],
        OfNumbers::HighestBit(to) => vec![(to, u128::from(by.ilog2()))],
    };
    let part = |number: u128| if bits == 32 { number & u128::from(u32::MAX) } else { number & u128::from(u64::MAX) };
    let write = |(family, number): (u8, u128)| Write {
        register: MachineRegister { family, part: Part::Quad },
        value: Expression::Constant(u64::try_from(part(number)).expect("at most 64 bits are left").cast_signed()),
        condition: None,
    };
    let flags = [Flag::Zero, Flag::Less, Flag::Carry, Flag::Sign, Flag::Overflow].map(|flag| (flag, None)).to_vec();
    Ok(Meaning { access: Access::None, result: None, writes: written.into_iter().map(write).collect(), flags })
}
