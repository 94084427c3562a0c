//! Instructions that access the same cell as one before them: an address is computed once, and what
//! is loaded from there is replaced later.
//!
//! Where short executions come to the first and not to the second, or to fewer cells of it, the
//! cells of the first are those that it may have. As with executions, nothing rests on this: what
//! an address is besides is found by the search.

use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, Instruction, RegisterId, Thread, UnaryOperator, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// More of what is known is left out at a label.
const MOST: usize = 64;

/// A sum of registers, each so often, and a number; modulo 2⁶⁴.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    registers: BTreeMap<RegisterId, Value>,
    number: Value,
}

impl Sum {
    fn of(expression: &Expression) -> Option<Self> {
        match expression {
            Expression::Constant(number) => Some(Self { number: *number, ..Self::default() }),
            Expression::Register(register) => Some(Self::register(*register)),
            Expression::Unary(UnaryOperator::Truncate { bits: 64, .. }, operand) => Self::of(operand),
            Expression::Binary(Op::Add, left, right) => Some(Self::of(left)?.plus(&Self::of(right)?, 1)),
            Expression::Binary(Op::Subtract, left, right) => Some(Self::of(left)?.plus(&Self::of(right)?, -1)),
            Expression::Binary(Op::Multiply, left, right) => {
                let (left, right) = (Self::of(left)?, Self::of(right)?);
                match (left.registers.is_empty(), right.registers.is_empty()) {
                    (true, _) => Some(Self::default().plus(&right, left.number)),
                    (_, true) => Some(Self::default().plus(&left, right.number)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn register(register: RegisterId) -> Self {
        Self { registers: BTreeMap::from([(register, 1)]), number: 0 }
    }

    /// The sum with another one, so often.
    fn plus(mut self, other: &Self, times: Value) -> Self {
        self.number = self.number.wrapping_add(other.number.wrapping_mul(times));
        for (register, count) in &other.registers {
            let own = self.registers.entry(*register).or_insert(0);
            *own = own.wrapping_add(count.wrapping_mul(times));
        }
        self.registers.retain(|_, count| *count != 0);
        self
    }
}

/// What equals a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Equal {
    /// The address of the access at a place, when control was there last.
    Address(usize),
    /// A register.
    Register(RegisterId),
}

/// What is known at a label.
type Facts = BTreeSet<(Sum, Equal)>;

/// For the places of accesses, the places of others before them, and by how much their addresses
/// are less.
pub(super) fn before(thread: &Thread) -> BTreeMap<usize, BTreeSet<(usize, Value)>> {
    let facts = facts(thread);
    let mut found: BTreeMap<usize, BTreeSet<(usize, Value)>> = BTreeMap::new();
    for instruction in &thread.instructions {
        let Some(known) = &facts[instruction.source.index()] else { continue };
        let Some(address) = computed(instruction) else { continue };
        for (sum, equal) in known {
            let difference = address.clone().plus(sum, -1);
            match equal {
                Equal::Address(place) if difference.registers.is_empty() && *place != instruction.span.start => {
                    found.entry(instruction.span.start).or_default().insert((*place, difference.number));
                }
                _ => {}
            }
        }
    }
    found
}

/// What is known at each label on all ways there.
fn facts(thread: &Thread) -> Vec<Option<Facts>> {
    let by_label = thread.instructions_by_label();
    let mut facts: Vec<Option<Facts>> = vec![None; thread.labels.len()];
    facts[thread.initial.index()] = Some(Facts::new());
    let mut open = vec![thread.initial];
    while let Some(label) = open.pop() {
        let known = facts[label.index()].clone().expect("what is open has been reached");
        for id in &by_label[label.index()] {
            let instruction = thread.instruction(*id);
            let after = after(&known, instruction);
            let target = &mut facts[instruction.target.index()];
            let met: Facts = match target {
                Some(other) => other.intersection(&after).cloned().collect(),
                None => after.into_iter().take(MOST).collect(),
            };
            if target.as_ref() != Some(&met) {
                *target = Some(met);
                open.push(instruction.target);
            }
        }
    }
    facts
}

/// The address of an access that is computed.
fn computed(instruction: &Instruction) -> Option<Sum> {
    let address = instruction.action.address().filter(|address| !address.is_constant())?;
    Sum::of(address)
}

/// What is known behind an instruction.
fn after(known: &Facts, instruction: &Instruction) -> Facts {
    let mut known = known.clone();
    if let Some(address) = computed(instruction) {
        let place = Equal::Address(instruction.span.start);
        known.retain(|(_, equal)| *equal != place);
        let registers = known.iter().filter_map(|(sum, equal)| match equal {
            Equal::Register(register) => {
                let difference = address.clone().plus(sum, -1);
                let is_near = difference.registers.is_empty();
                is_near.then(|| (Sum::register(*register).plus(&difference, 1), place))
            }
            Equal::Address(_) => None,
        });
        let registers: Vec<_> = registers.collect();
        known.extend(registers);
        known.insert((address, place));
    }
    let Some(written) = instruction.action.written_register() else { return known };
    known.retain(|(_, equal)| *equal != Equal::Register(written));
    let is_kept = |(sum, _): &&(Sum, Equal)| !sum.registers.contains_key(&written);
    let mut after: Facts = known.iter().filter(is_kept).cloned().collect();
    let assigned = match &instruction.action {
        Action::Assign { value, .. } => Sum::of(value),
        _ => None,
    };
    let Some(assigned) = assigned.filter(|sum| !sum.registers.is_empty()) else { return after };
    for (sum, equal) in &known {
        after.extend(replaced(sum, &assigned, written).map(|sum| (sum, *equal)));
    }
    if !assigned.registers.contains_key(&written) {
        after.insert((assigned, Equal::Register(written)));
    }
    after
}

/// A sum in which what a register is assigned has become the register.
fn replaced(sum: &Sum, assigned: &Sum, written: RegisterId) -> Option<Sum> {
    let own = Sum::register(written);
    let rest = sum.clone().plus(assigned, -1);
    if rest.registers.is_empty() {
        return Some(rest.plus(&own, 1));
    }
    let [(register, 1)] =
        assigned.registers.iter().map(|(register, count)| (*register, *count)).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let times = *sum.registers.get(&register)?;
    let rest = sum.clone().plus(assigned, times.wrapping_neg());
    (!rest.registers.contains_key(&written)).then(|| rest.plus(&own, times))
}
