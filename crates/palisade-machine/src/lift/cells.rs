//! Addresses that are computed as the code runs, held to the cells that were seen.
//!
//! Which cells an instruction accesses is found out by runs of the roles. Nothing rests on these
//! runs: the address that the program computes is divided by whether it is one of these cells, so
//! that any other one is an error, which the search under SC reports.

use palisade_model::program::{BinaryOperator as Op, Expression};
use palisade_syntax::x86::fold::{binary, or};
use std::collections::BTreeSet;

/// The address, or an error where it is none of the cells.
pub(crate) fn checked(sum: Expression, cells: &BTreeSet<u64>) -> Expression {
    let valid = runs(cells).into_iter().map(|run| run.contains(&sum)).reduce(or).unwrap_or(Expression::Constant(0));
    let check = Expression::binary(Op::Divide, Expression::Constant(0), valid);
    Expression::binary(Op::Add, sum, check)
}

/// Cells at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u64,
    distance: u64,
}

impl Run {
    fn contains(self, address: &Expression) -> Expression {
        let first = Expression::Constant(self.first.cast_signed());
        if self.count == 1 {
            return binary(Op::Equal, address.clone(), first);
        }
        let last = Expression::Constant((self.first + (self.count - 1) * self.distance).cast_signed());
        let above = Expression::binary(Op::GreaterOrEqual, address.clone(), first.clone());
        let below = Expression::binary(Op::LessOrEqual, address.clone(), last);
        let distance = binary(Op::Subtract, address.clone(), first);
        let rest = binary(Op::Remainder, distance, Expression::Constant(self.distance.cast_signed()));
        let aligned = binary(Op::Equal, rest, Expression::Constant(0));
        Expression::binary(Op::And, Expression::binary(Op::And, above, below), aligned)
    }
}

fn runs(cells: &BTreeSet<u64>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for cell in cells {
        match runs.last_mut() {
            Some(run) if run.count == 1 => {
                (run.count, run.distance) = (2, cell - run.first);
            }
            Some(run) if *cell == run.first + run.count * run.distance => run.count += 1,
            _ => runs.push(Run { first: *cell, count: 1, distance: 0 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cells_are_addresses() {
        let cells = BTreeSet::from([16, 24, 32, 100, 200, 304]);
        for address in 0..400 {
            let value = checked(Expression::Constant(address), &cells).evaluate_address(&[]);
            let expected = cells.contains(&address.cast_unsigned());
            assert_eq!(value.is_ok(), expected, "{address}");
        }
    }
}
