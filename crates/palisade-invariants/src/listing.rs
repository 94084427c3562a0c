//! What the listing of machine code says of an instruction.

use palisade_model::program::{Action, BinaryOperator, Expression, Instruction, Program};

/// The place of the sources at the end of an instruction's line; none when the line is not one of
/// an instruction.
pub fn listed_place<'p>(program: &'p Program, instruction: &Instruction) -> Option<&'p str> {
    program.listed(instruction).map(|listed| listed.place)
}

/// Whether the code of a listing was read under the premise that an action of it has a value
/// whenever it is come to: addresses that are of no known cell, values that the cells of hints are
/// not known to take, and code that was not understood are divided by 0.
pub(crate) fn rests_on(program: &Program, action: &Action) -> bool {
    fn divides(expression: &Expression) -> bool {
        match expression {
            Expression::Unary(_, operand) => divides(operand),
            Expression::Binary(BinaryOperator::Divide, ..) => true,
            Expression::Binary(_, left, right) => divides(left) || divides(right),
            _ => false,
        }
    }
    program.source.is_listing && action.expressions().any(divides)
}

/// Whether the code of a listing was read under premises that sets of configurations are to show.
pub(crate) fn rests_on_sets(program: &Program) -> bool {
    let mut all = program.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
    let is_computed = |action: &Action| action.address().is_some_and(|address| !address.is_constant());
    all.any(|action| rests_on(program, action) || program.source.is_listing && is_computed(action))
}
