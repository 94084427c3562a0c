//! Blocks: the addresses that accesses may be to, put together where one access may be to any of
//! them.
//!
//! The slots of a ring stand at computed addresses, `slot + (position & 7)`. Such an access has a
//! *region*: what its expression can give, whatever registers hold, where that is known, in the
//! array that the expression names, where it names one. Regions that overlap are one block, and a
//! block is one variable of the partition: its addresses are in one class, or in none. That an
//! access stays in its region is watched by whoever turns
//! ([`Counters::is_broken_by`](super::Counters::is_broken_by)).
//!
//! In machine code the address is divided by whether it is one of the cells that were seen. Such a
//! *guard* says what the region is.

use crate::program::{BinaryOperator as Op, Expression, InstructionId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Larger regions are not looked at.
const MOST_ADDRESSES: usize = 1 << 10;

/// The blocks of a program, by number.
#[derive(Clone, Debug)]
pub(in crate::program) struct Blocks {
    /// The block of each address that is in one.
    pub(in crate::program) of: BTreeMap<Value, usize>,
    /// The block that each instruction accesses whose address is constant, or has a region.
    pub(in crate::program) accessed: BTreeMap<(ThreadId, InstructionId), usize>,
    /// The instructions whose guards admit no address at all.
    pub(in crate::program) nowhere: BTreeSet<(ThreadId, InstructionId)>,
    /// The instructions that stay in their regions whatever registers hold.
    pub(in crate::program) sure: BTreeSet<(ThreadId, InstructionId)>,
    /// How many there are.
    pub(in crate::program) count: usize,
}

impl Blocks {
    pub(in crate::program) fn of(program: &Program) -> Self {
        let mut regions: Vec<((ThreadId, InstructionId), BTreeSet<Value>)> = Vec::new();
        let (mut nowhere, mut sure) = (BTreeSet::new(), BTreeSet::new());
        for (thread, template) in program.thread_ids() {
            for (id, instruction) in template.instruction_ids() {
                let address = instruction.action.address();
                if address.is_some_and(|address| is_sure(program, address)) {
                    sure.insert((thread, id));
                }
                match address.and_then(|address| region(program, address)) {
                    Some(region) if region.is_empty() => _ = nowhere.insert((thread, id)),
                    region => regions.extend(region.map(|region| ((thread, id), region))),
                }
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
            nowhere,
            sure,
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

/// The addresses that an expression may stand for, as far as that is known; none where it has no
/// value.
fn region(program: &Program, address: &Expression) -> Option<BTreeSet<Value>> {
    if address.is_constant() {
        return address.evaluate_address(&[]).ok().map(|address| BTreeSet::from([address]));
    }
    if let Some(guarded) = guarded(address) {
        return Some(guarded);
    }
    let values: Option<BTreeSet<Value>> =
        values(address).and_then(|values| values.into_iter().map(|value| Value::try_from(value).ok()).collect());
    let region = match (values, named_array(program, address)) {
        (Some(values), Some(array)) => values.intersection(&array).copied().collect(),
        (values, array) => values.or(array)?,
    };
    (!region.is_empty()).then_some(region)
}

/// Whether an expression gives addresses of its region alone: it is constant, or has a guard or
/// masks, and does not leave the array that it names.
fn is_sure(program: &Program, address: &Expression) -> bool {
    if address.is_constant() || guarded(address).is_some() {
        return true;
    }
    let array = named_array(program, address);
    let is_inside = |value: &i128| {
        array.as_ref().is_none_or(|array| Value::try_from(*value).is_ok_and(|value| array.contains(&value)))
    };
    values(address).is_some_and(|values| values.iter().all(is_inside))
}

/// The addresses that `e + 0 / guard` may stand for, where the guard says it of `e`.
fn guarded(address: &Expression) -> Option<BTreeSet<Value>> {
    let Expression::Binary(Op::Add, own, check) = address else { return None };
    let Expression::Binary(Op::Divide, zero, guard) = &**check else { return None };
    if **zero != Expression::Constant(0) {
        return None;
    }
    admitted(own, guard)
}

/// The values of an expression for which a guard holds: one, some at equal distances, or either.
fn admitted(own: &Expression, guard: &Expression) -> Option<BTreeSet<Value>> {
    let number = |expression: &Expression| match expression {
        Expression::Constant(value) => Some(*value),
        _ => None,
    };
    let Expression::Binary(operator, left, right) = guard else {
        return (number(guard)? == 0).then(BTreeSet::new);
    };
    match (operator, &**left) {
        (Op::Or, _) => {
            let mut either = admitted(own, left)?;
            either.extend(admitted(own, right)?);
            Some(either)
        }
        (Op::Equal, left) => Some(BTreeSet::from([number(right).filter(|_| left == own)?])),
        (Op::And, Expression::Binary(Op::And, above, below)) => {
            let bound = |side: &Expression, wanted: Op| match side {
                Expression::Binary(operator, left, right) if *operator == wanted && **left == *own => number(right),
                _ => None,
            };
            let (first, last) = (bound(above, Op::GreaterOrEqual)?, bound(below, Op::LessOrEqual)?);
            let Expression::Binary(Op::Equal, rest, zero) = &**right else { return None };
            let Expression::Binary(Op::Remainder, offset, distance) = &**rest else { return None };
            let from_first = Expression::binary(Op::Subtract, own.clone(), Expression::Constant(first));
            let distance = usize::try_from(number(distance)?).ok().filter(|distance| *distance > 0)?;
            if **offset != from_first || number(zero) != Some(0) {
                return None;
            }
            let all = (first..=last).step_by(distance);
            (all.clone().take(MOST_ADDRESSES + 1).count() <= MOST_ADDRESSES).then(|| all.collect())
        }
        _ => None,
    }
}

/// What an expression can give in integers; nothing where that depends on registers alone, or is
/// much.
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
    fn guards_bound_what_registers_can_be() {
        let (register, number) = (Expression::Register(RegisterId::from_index(0)), Expression::Constant);
        let own = Expression::binary(Op::Add, number(96), register.clone());
        let compared = |operator, value| Expression::binary(operator, own.clone(), number(value));
        let run = |first, last, distance| {
            let bounds =
                Expression::binary(Op::And, compared(Op::GreaterOrEqual, first), compared(Op::LessOrEqual, last));
            let offset = Expression::binary(Op::Subtract, own.clone(), number(first));
            let rest = Expression::binary(Op::Remainder, offset, number(distance));
            Expression::binary(Op::And, bounds, Expression::binary(Op::Equal, rest, number(0)))
        };
        let with = |guard| Expression::binary(Op::Add, own.clone(), Expression::binary(Op::Divide, number(0), guard));
        let either = Expression::binary(Op::Or, run(96, 128, 16), compared(Op::Equal, 200));
        assert_eq!(guarded(&with(either.clone())), Some(BTreeSet::from([96, 112, 128, 200])));
        // What the guard does not admit has no value.
        for value in 0..300 {
            let has_value = with(either.clone()).evaluate_address(&[value - 96]).is_ok();
            assert_eq!(has_value, [96, 112, 128, 200].contains(&value), "{value}");
        }
        assert_eq!(guarded(&with(number(0))), Some(BTreeSet::new()));
        for other in [number(1), run(96, 128, 0), compared(Op::NotEqual, 96), register] {
            assert_eq!(guarded(&with(other)), None);
        }
    }

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
