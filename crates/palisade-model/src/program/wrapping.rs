//! Which domain a program may have that wraps, so that values do not grow.

use super::Program;
use super::domain::Value;
use super::expression::{BinaryOperator, Expression};

/// The greatest number that a domain has that is proposed.
const GREATEST: Value = 0xffff;

impl Program {
    /// The least domain with eight values or more, and a power of two, that has all constants and
    /// may wrap: `0..7`. Nothing where values are compared by order, which wrapping changes, where
    /// a register is the index of a smaller array, or constants are too large.
    pub fn domain_to_wrap(&self) -> Option<String> {
        let instructions = self.threads.iter().flat_map(|thread| &thread.instructions);
        let (mut least, mut greatest, mut by_order) = (0, 7, false);
        for expression in instructions.flat_map(|instruction| instruction.expressions()) {
            expression.for_each_constant(&mut |value| (least, greatest) = (least.min(value), greatest.max(value)));
            by_order |= expression.compares_by_order();
        }
        for value in self.initial_memory.values() {
            (least, greatest) = (least.min(*value), greatest.max(*value));
        }
        if by_order || greatest > GREATEST || least < -GREATEST {
            return None;
        }
        let size = |value: Value| value.unsigned_abs().next_power_of_two();
        let high = size(greatest + 1).max(size(least));
        let mut addresses = self.threads.iter().flat_map(|thread| &thread.instructions);
        let leaves = |address: &Expression| match address {
            Expression::Binary(BinaryOperator::Add, array, index) => match (&**array, &**index) {
                (Expression::Address { id, .. }, Expression::Register(_)) => {
                    u64::from(self.addresses[id.index()].length) < high
                }
                _ => false,
            },
            _ => false,
        };
        if addresses.any(|own| own.action.address().is_some_and(leaves)) {
            return None;
        }
        Some(if least < 0 { format!("-{high}..{}", high - 1) } else { format!("0..{}", high - 1) })
    }
}
