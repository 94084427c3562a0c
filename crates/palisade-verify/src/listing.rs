//! What the listing of machine code says of an instruction.

use palisade_model::program::{Instruction, Program};

/// The place of the sources at the end of an instruction's line; none when the line is not one of an instruction.
pub(crate) fn listed_place<'p>(program: &'p Program, instruction: &Instruction) -> Option<&'p str> {
    let mut words = program.source.slice(instruction.span).split_whitespace();
    u64::from_str_radix(words.next()?, 16).ok()?;
    words.last()
}
