//! Blocks: the addresses that accesses may be to, put together where one access may be to any of them.
//!
//! The slots of a ring stand at computed addresses, `slot + (position & 7)`. Such an access has a
//! *region*: what its expression can give, whatever registers hold, where that is known, in the
//! array that the expression names, where it names one. Regions that overlap are one block, and a
//! block is one variable of the partition: its addresses are in one class, or in none. That an
//! access stays in its region is watched by whoever turns
//! ([`Counters::is_broken_by`](super::Counters::is_broken_by)).

use crate::program::{BinaryOperator as Op, Expression, InstructionId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Larger regions are not looked at.
const MOST_ADDRESSES: usize = 1 << 10;

/// The blocks of a program, by number.
pub(super) struct Blocks {
    /// The block of each address that is in one.
    pub(super) of: BTreeMap<Value, usize>,
    /// The block that each instruction accesses whose address is constant, or has a region.
    pub(super) accessed: BTreeMap<(ThreadId, InstructionId), usize>,
    /// How many there are.
    pub(super) count: usize,
}

impl Blocks {
    pub(super) fn of(program: &Program) -> Self {
        let mut regions: Vec<((ThreadId, InstructionId), BTreeSet<Value>)> = Vec::new();
        for (thread, template) in program.thread_ids() {
            for (id, instruction) in template.instruction_ids() {
                let region = instruction.action.address().and_then(|address| region(program, address));
                regions.extend(region.map(|region| ((thread, id), region)));
            }
        }
        // The first region with an address stands for all that have it.
        let mut first: BTreeMap<Value, usize> = BTreeMap::new();
        let mut parent: Vec<usize> = (0..regions.len()).collect();
        for (number, (_, region)) in regions.iter().enumerate() {
            for address in region {
                let other = root(&parent, *first.entry(*address).or_insert(number));
                let own = root(&parent, number);
                parent[own.max(other)] = own.min(other);
            }
        }
        let roots: BTreeSet<usize> = (0..regions.len()).map(|region| root(&parent, region)).collect();
        let numbers: BTreeMap<usize, usize> = roots.into_iter().zip(0..).collect();
        let number = |region: usize| numbers[&root(&parent, region)];
        Self {
            of: first.into_iter().map(|(address, region)| (address, number(region))).collect(),
            accessed: regions.iter().enumerate().map(|(region, (at, _))| (*at, number(region))).collect(),
            count: numbers.len(),
        }
    }
}

fn root(parent: &[usize], mut region: usize) -> usize {
    while parent[region] != region {
        region = parent[region];
    }
    region
}

/// The addresses that an expression may stand for, as far as that is known.
fn region(program: &Program, address: &Expression) -> Option<BTreeSet<Value>> {
    if address.is_constant() {
        return address.evaluate_address(&[]).ok().map(|address| BTreeSet::from([address]));
    }
    let values: Option<BTreeSet<Value>> =
        values(address).and_then(|values| values.into_iter().map(|value| Value::try_from(value).ok()).collect());
    let region = match (values, named_array(program, address)) {
        (Some(values), Some(array)) => values.intersection(&array).copied().collect(),
        (values, array) => values.or(array)?,
    };
    (!region.is_empty()).then_some(region)
}

/// What an expression can give in integers; nothing where that depends on registers alone, or is much.
fn values(expression: &Expression) -> Option<BTreeSet<i128>> {
    let found: BTreeSet<i128> = match expression {
        own if own.is_constant() => BTreeSet::from([i128::from(own.evaluate_address(&[]).ok()?)]),
        Expression::Binary(Op::BitAnd, left, right) => {
            let ((Expression::Constant(mask), _) | (_, Expression::Constant(mask))) = (&**left, &**right) else {
                return None;
            };
            let length = usize::try_from(*mask).ok()?.checked_add(1)?;
            let mask = Some(*mask).filter(|_| length <= MOST_ADDRESSES)?;
            (0..=mask).filter(|value| value & mask == *value).map(i128::from).collect()
        }
        Expression::Binary(operator @ (Op::Add | Op::Subtract | Op::Multiply), left, right) => {
            let (left, right) = (values(left)?, values(right)?);
            if left.len().saturating_mul(right.len()) > MOST_ADDRESSES {
                return None;
            }
            let both = |one: i128, other: i128| match operator {
                Op::Add => one.checked_add(other),
                Op::Subtract => one.checked_sub(other),
                _ => one.checked_mul(other),
            };
            let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (*one, *other)));
            pairs.map(|(one, other)| both(one, other)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(found)
}

/// The addresses of the only array that an expression names.
fn named_array(program: &Program, address: &Expression) -> Option<BTreeSet<Value>> {
    let mut named = Vec::new();
    address.for_each_address(&mut |id| named.push(id));
    let [only] = named[..] else { return None };
    let array = &program.addresses[only.index()];
    let length = usize::try_from(array.length).ok().filter(|length| (2..=MOST_ADDRESSES).contains(length))?;
    Some((array.address..).take(length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::RegisterId;

    #[test]
    fn masks_bound_what_registers_can_be() {
        let (register, constant) = (Expression::Register(RegisterId::from_index(0)), Expression::Constant);
        let masked = |mask| Expression::binary(Op::BitAnd, register.clone(), constant(mask));
        let sum = |one, other| Expression::binary(Op::Add, one, other);
        let twice = Expression::binary(Op::Multiply, masked(1), constant(2));
        assert_eq!(values(&sum(constant(5), twice)), Some(BTreeSet::from([5, 7])));
        assert_eq!(values(&sum(masked(4), constant(1))), Some(BTreeSet::from([1, 5])));
        assert_eq!(values(&sum(constant(5), register.clone())), None);
        assert_eq!(values(&masked(1 << 10)), None);
        assert_eq!(values(&masked(-2)), None);
    }
}
