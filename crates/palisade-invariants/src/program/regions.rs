//! Where accesses with computed addresses go, as far as their expressions say: slots of rings,
//! which hold counters.
//!
//! The checker joins regions that overlap and takes each of them for one variable, named by its
//! least address. Steps are held to it ([`Model::address`](super::model::Model::address)): an
//! access of which a region is known has to stay in it while its variable is a counter's.

use palisade_model::program::{BinaryOperator as Op, Expression, InstructionId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// No region has more addresses.
const MOST: i128 = 1024;

/// The regions of a program.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// The least address of the joined regions that each address is in.
    least: BTreeMap<Value, Value>,
    /// An address in the region of each instruction that has one.
    accessed: BTreeMap<(ThreadId, InstructionId), Value>,
    /// The instructions whose addresses never have a value.
    nowhere: BTreeSet<(ThreadId, InstructionId)>,
    /// The instructions that may leave what is known of them: an array that their expressions name.
    unsure: BTreeSet<(ThreadId, InstructionId)>,
}

impl Regions {
    pub(super) fn of(program: &Program) -> Self {
        let mut regions = Vec::new();
        let mut found = Self::default();
        for (thread, template) in program.thread_ids() {
            for (id, instruction) in template.instruction_ids() {
                let Some(address) = instruction.action.address() else { continue };
                let Some(region) = region(program, address) else { continue };
                if tested(address).is_none() && !possible(address).is_some_and(|all| all.len() == region.len()) {
                    found.unsure.insert((thread, id));
                }
                let Some(first) = region.first() else {
                    found.nowhere.insert((thread, id));
                    continue;
                };
                found.accessed.insert((thread, id), *first);
                found.least.extend(region.iter().map(|address| (*address, *address)));
                if region.len() > 1 {
                    regions.push(region);
                }
            }
        }
        while regions.iter().any(|region| found.join(region)) {}
        found
    }

    /// Gives all addresses of a region the least one that any of them has; whether that changes
    /// something.
    fn join(&mut self, region: &BTreeSet<Value>) -> bool {
        let least = region.iter().map(|address| self.least[address]).min();
        let mut changes = false;
        for address in region {
            let own = self.least.get_mut(address);
            if let (Some(own), Some(least)) = (own, least) {
                changes |= std::mem::replace(own, least) != least;
            }
        }
        changes
    }

    /// The least address of what an instruction accesses, if that is known.
    pub(super) fn accessed(&self, thread: ThreadId, instruction: InstructionId) -> Option<Value> {
        self.accessed.get(&(thread, instruction)).map(|address| self.least[address])
    }

    /// Whether an instruction accesses nothing, as its address never has a value.
    pub(super) fn is_nowhere(&self, thread: ThreadId, instruction: InstructionId) -> bool {
        self.nowhere.contains(&(thread, instruction))
    }

    /// Whether an instruction stays where it is known to go whatever registers hold.
    pub(super) fn stays(&self, thread: ThreadId, instruction: InstructionId) -> bool {
        !self.unsure.contains(&(thread, instruction))
    }

    /// The addresses that are joined with the least one of them.
    pub(super) fn joined(&self, least: Value) -> impl Iterator<Item = Value> {
        self.least.iter().filter(move |(_, own)| **own == least).map(|(address, _)| *address)
    }

    /// The instructions whose accesses are known, with the least address of what they access.
    pub(super) fn accesses(&self) -> impl Iterator<Item = ((ThreadId, InstructionId), Value)> {
        self.accessed.iter().map(|(at, address)| (*at, self.least[address]))
    }
}

/// The addresses that an expression can stand for, none where it has no value; nothing where it
/// does not say.
fn region(program: &Program, address: &Expression) -> Option<BTreeSet<Value>> {
    if let Some(values) = tested(address) {
        return Some(values);
    }
    let mut names = Vec::new();
    address.for_each_address(&mut |name| names.push(name));
    let array = match names.as_slice() {
        [name] if !address.is_constant() => program.addresses.get(name.index()),
        _ => None,
    };
    let array = array.filter(|array| (2..=MOST).contains(&i128::from(array.length)));
    let is_named = |value: i128| {
        array.is_none_or(|array| (0..i128::from(array.length)).contains(&(value - i128::from(array.address))))
    };
    let region: Option<BTreeSet<Value>> = match (possible(address), array) {
        (Some(values), _) => {
            values.into_iter().filter(|value| is_named(*value)).map(|own| own.try_into().ok()).collect()
        }
        (None, Some(array)) => Some((0..array.length).map(|offset| array.address + Value::from(offset)).collect()),
        (None, None) => None,
    };
    region.filter(|region| !region.is_empty())
}

/// The addresses for which `e + 0 / t` has a value: those e for which the test t is true, where it
/// is made of comparisons with numbers as readers of machine code write it.
fn tested(address: &Expression) -> Option<BTreeSet<Value>> {
    match address {
        Expression::Binary(Op::Add, tested, quotient) => match &**quotient {
            Expression::Binary(Op::Divide, zero, test) if **zero == Expression::Constant(0) => passing(tested, test),
            _ => None,
        },
        _ => None,
    }
}

/// The values of an expression that pass a test.
fn passing(tested: &Expression, test: &Expression) -> Option<BTreeSet<Value>> {
    let (operator, one, other) = match test {
        Expression::Constant(0) => return Some(BTreeSet::new()),
        Expression::Binary(operator, one, other) => (operator, &**one, &**other),
        _ => return None,
    };
    match operator {
        Op::Or => Some(&passing(tested, one)? | &passing(tested, other)?),
        Op::Equal if one == tested => match other {
            Expression::Constant(value) => Some(BTreeSet::from([*value])),
            _ => None,
        },
        // first <= e, e <= last, and the distance divides e - first.
        Op::And => {
            let Expression::Binary(Op::And, low, high) = one else { return None };
            let Expression::Binary(Op::GreaterOrEqual, e, first) = &**low else { return None };
            let Expression::Binary(Op::LessOrEqual, own, last) = &**high else { return None };
            let (Expression::Constant(first), Expression::Constant(last)) = (&**first, &**last) else { return None };
            let Expression::Binary(Op::Equal, rest, zero) = other else { return None };
            let Expression::Binary(Op::Remainder, offset, step) = &**rest else { return None };
            let (Expression::Constant(step), Expression::Constant(0)) = (&**step, &**zero) else { return None };
            let Expression::Binary(Op::Subtract, from, begin) = &**offset else { return None };
            let is_it = [e, own, from].into_iter().all(|part| **part == *tested);
            let spread = i128::from(*last) - i128::from(*first);
            if !is_it || **begin != Expression::Constant(*first) || *step <= 0 || spread / i128::from(*step) >= MOST {
                return None;
            }
            let mut values = BTreeSet::new();
            let mut value = i128::from(*first);
            while value <= i128::from(*last) {
                values.insert(Value::try_from(value).ok()?);
                value += i128::from(*step);
            }
            Some(values)
        }
        _ => None,
    }
}

/// All numbers that an expression can give whatever registers hold; nothing where these are many,
/// or all that registers hold.
fn possible(expression: &Expression) -> Option<BTreeSet<i128>> {
    if expression.is_constant() {
        let value = expression.evaluate_address(&[]).ok()?;
        return Some(BTreeSet::from([i128::from(value)]));
    }
    let Expression::Binary(operator, left, right) = expression else { return None };
    if *operator == Op::BitAnd {
        let mask = match (&**left, &**right) {
            (_, Expression::Constant(mask)) | (Expression::Constant(mask), _) => i128::from(*mask),
            _ => return None,
        };
        return (0..MOST).contains(&mask).then(|| (0..=mask).filter(|value| value & !mask == 0).collect());
    }
    let combine: fn(i128, i128) -> Option<i128> = match operator {
        Op::Add => i128::checked_add,
        Op::Subtract => i128::checked_sub,
        Op::Multiply => i128::checked_mul,
        _ => return None,
    };
    let (left, right) = (possible(left)?, possible(right)?);
    let choices = i128::try_from(left.len().saturating_mul(right.len())).ok()?;
    if choices > MOST {
        return None;
    }
    left.iter().flat_map(|one| right.iter().map(|other| combine(*one, *other))).collect()
}
