//! Sets of values, and what an expression can come to when its registers are in such sets.
//!
//! An expression over few values is evaluated for each choice of them. Where they are too many the
//! least and the greatest value are computed from those of its parts, an operator that has no rule
//! giving any number. In both cases a choice for which the expression has no value gives none: the
//! instruction is not executed then.

use palisade_model::program::{BinaryOperator, Domain, Expression, RegisterId, UnaryOperator, Value, truncate};
use std::collections::BTreeSet;

/// How many choices of values an expression is evaluated for.
const MOST_EVALUATIONS: u128 = 1 << 12;

/// A set of values: intervals with both ends, ascending, that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    intervals: Vec<(i128, i128)>,
}

/// What an expression is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Data, which the domain restricts.
    Data,
    /// An address, in plain integers.
    Address,
    /// A condition: 1 when it holds, else 0.
    Condition,
}

/// What the registers of a thread, and the value that a locked instruction has loaded, can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    pub(super) registers: &'a [Range],
    pub(super) old: &'a Range,
    pub(super) domain: Option<Domain>,
}

impl Range {
    /// The set that the intervals make up together.
    pub(super) fn of(mut intervals: Vec<(i128, i128)>) -> Self {
        intervals.retain(|(low, high)| low <= high);
        intervals.sort_unstable();
        let mut merged: Vec<(i128, i128)> = Vec::new();
        for (low, high) in intervals {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self { intervals: merged }
    }

    /// The set of one value.
    pub(super) fn only(value: Value) -> Self {
        Self { intervals: vec![(i128::from(value), i128::from(value))] }
    }

    pub(super) fn intervals(&self) -> &[(i128, i128)] {
        &self.intervals
    }

    pub(super) fn contains(&self, value: i128) -> bool {
        self.intervals.iter().any(|(low, high)| (*low..=*high).contains(&value))
    }

    /// Whether every value is one of `other`.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let inside = |own: &(i128, i128)| other.intervals.iter().any(|(low, high)| *low <= own.0 && own.1 <= *high);
        self.intervals.iter().all(inside)
    }

    /// Whether some value is one of `other`.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let meets = |own: &(i128, i128)| other.intervals.iter().any(|(low, high)| *low <= own.1 && own.0 <= *high);
        self.intervals.iter().any(meets)
    }

    /// How many values there are.
    fn count(&self) -> u128 {
        self.intervals.iter().map(|(low, high)| high.abs_diff(*low).saturating_add(1)).fold(0, u128::saturating_add)
    }

    /// The least and the greatest value.
    fn hull(&self) -> Option<(i128, i128)> {
        Some((self.intervals.first()?.0, self.intervals.last()?.1))
    }

    fn values(&self) -> impl Iterator<Item = i128> + '_ {
        self.intervals.iter().flat_map(|(low, high)| *low..=*high)
    }
}

impl Values<'_> {
    /// What an expression can come to.
    pub(super) fn of(&self, expression: &Expression, purpose: Purpose) -> Range {
        let mut read = BTreeSet::new();
        expression.for_each_register(&mut |register| {
            read.insert(register);
        });
        let read: Vec<RegisterId> = read.into_iter().collect();
        let sets = read.iter().map(|register| &self.registers[register.index()]);
        let sets: Vec<&Range> = if reads_old(expression) { sets.chain([self.old]).collect() } else { sets.collect() };
        let choices = sets.iter().map(|set| set.count()).fold(1, u128::saturating_mul);
        if choices <= MOST_EVALUATIONS {
            return self.one_by_one(expression, purpose, &read, &sets);
        }
        let wrapping = self.domain.filter(|domain| domain.wrap && purpose != Purpose::Address);
        let hull = self.hull(expression, wrapping);
        admitted(hull, purpose, self.domain)
    }

    /// The values for each choice of registers, and of the old value last.
    fn one_by_one(&self, expression: &Expression, purpose: Purpose, read: &[RegisterId], sets: &[&Range]) -> Range {
        let mut results = Vec::new();
        let mut registers: Vec<Value> = vec![0; self.registers.len()];
        let columns: Vec<Vec<Value>> =
            sets.iter().map(|set| set.values().filter_map(|value| Value::try_from(value).ok()).collect()).collect();
        let total: usize = columns.iter().map(Vec::len).product();
        for number in 0..total {
            let mut rest = number;
            let mut old = 0;
            for (position, column) in columns.iter().enumerate() {
                let value = column[rest % column.len()];
                rest /= column.len();
                match read.get(position) {
                    Some(register) => registers[register.index()] = value,
                    None => old = value,
                }
            }
            let value = match purpose {
                Purpose::Data => expression.evaluate_with_old(&registers, old, self.domain),
                Purpose::Address => expression.evaluate_address(&registers),
                Purpose::Condition => expression.holds(&registers, self.domain).map(Value::from),
            };
            results.extend(value.ok().map(|value| (i128::from(value), i128::from(value))));
        }
        Range::of(results)
    }

    /// Bounds of the expression's value; nothing when it has none, and all numbers where no rule
    /// bounds it.
    fn hull(&self, expression: &Expression, wrapping: Option<Domain>) -> Option<(i128, i128)> {
        let hull = match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => {
                Some((i128::from(*value), i128::from(*value)))
            }
            // Registers and memory hold values of the domain already.
            Expression::Register(register) => return self.registers[register.index()].hull(),
            Expression::Old => return self.old.hull(),
            Expression::Unary(operator, operand) => Some(unary(*operator, self.hull(operand, wrapping)?)),
            Expression::Binary(operator, left, right) => {
                let left = self.hull(left, wrapping)?;
                match (operator, self.hull(right, wrapping)) {
                    (_, Some(right)) => Some(binary(*operator, left, right)),
                    // The right side may not be evaluated at all.
                    (BinaryOperator::And | BinaryOperator::Or, None) => Some((0, 1)),
                    (_, None) => None,
                }
            }
        };
        hull.map(|hull| wrapped(hull, wrapping))
    }
}

/// All numbers.
const ANY: (i128, i128) = (i128::MIN, i128::MAX);

/// What is left of the bounds when the whole expression must be data, an address or a condition.
fn admitted(hull: Option<(i128, i128)>, purpose: Purpose, domain: Option<Domain>) -> Range {
    let Some((low, high)) = hull else { return Range::default() };
    let within =
        |least: Value, greatest: Value| Range::of(vec![(low.max(i128::from(least)), high.min(i128::from(greatest)))]);
    match purpose {
        Purpose::Condition => {
            let (can_be_zero, can_be_other) = (low <= 0 && 0 <= high, low != 0 || high != 0);
            Range::of([can_be_zero.then_some((0, 0)), can_be_other.then_some((1, 1))].into_iter().flatten().collect())
        }
        Purpose::Address => within(Value::MIN, Value::MAX),
        Purpose::Data => match domain {
            None => within(Value::MIN, Value::MAX),
            Some(domain) if domain.wrap => {
                let (low, high) = wrapped((low, high), Some(domain));
                Range::of(vec![(low, high)])
            }
            Some(domain) => within(domain.low, domain.high),
        },
    }
}

/// Bounds after wrapping into a domain: the same inside it, and the whole domain else.
fn wrapped(hull: (i128, i128), wrapping: Option<Domain>) -> (i128, i128) {
    match wrapping.map(|domain| (i128::from(domain.low), i128::from(domain.high))) {
        Some((low, high)) if hull.0 < low || high < hull.1 => (low, high),
        _ => hull,
    }
}

/// Whether the expression reads the value that a locked instruction has loaded.
fn reads_old(expression: &Expression) -> bool {
    match expression {
        Expression::Old => true,
        Expression::Unary(_, operand) => reads_old(operand),
        Expression::Binary(_, left, right) => reads_old(left) || reads_old(right),
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) => false,
    }
}

fn unary(operator: UnaryOperator, (low, high): (i128, i128)) -> (i128, i128) {
    match operator {
        UnaryOperator::Not => match (low, high) {
            (0, 0) => (1, 1),
            _ if low > 0 || high < 0 => (0, 0),
            _ => (0, 1),
        },
        UnaryOperator::Negate => match (high.checked_neg(), low.checked_neg()) {
            (Some(least), Some(greatest)) => (least, greatest),
            _ => ANY,
        },
        UnaryOperator::Complement => (!high, !low),
        UnaryOperator::Truncate { bits, signed } => {
            let range =
                if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
            let is_same = truncate(low, bits, signed) == low && truncate(high, bits, signed) == high;
            if is_same { (low, high) } else { range }
        }
    }
}

fn binary(operator: BinaryOperator, left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    use BinaryOperator as Op;
    let truth = |always: bool, never: bool| match (always, never) {
        (true, _) => (1, 1),
        (_, true) => (0, 0),
        _ => (0, 1),
    };
    let never_zero = |side: (i128, i128)| side.0 > 0 || side.1 < 0;
    match operator {
        Op::Add => corners(left, right, i128::checked_add),
        Op::Subtract => corners(left, right, i128::checked_sub),
        Op::Multiply => corners(left, right, i128::checked_mul),
        Op::Divide if right.0 > 0 => corners(left, right, i128::checked_div),
        Op::Remainder if right.0 > 0 => {
            let most = right.1 - 1;
            (if left.0 < 0 { -most } else { 0 }, if left.1 > 0 { most } else { 0 })
        }
        Op::Less => truth(left.1 < right.0, left.0 >= right.1),
        Op::LessOrEqual => truth(left.1 <= right.0, left.0 > right.1),
        Op::Greater => truth(left.0 > right.1, left.1 <= right.0),
        Op::GreaterOrEqual => truth(left.0 >= right.1, left.1 < right.0),
        Op::Equal => truth(left.0 == left.1 && left == right, left.1 < right.0 || right.1 < left.0),
        Op::NotEqual => truth(left.1 < right.0 || right.1 < left.0, left.0 == left.1 && left == right),
        Op::And => truth(never_zero(left) && never_zero(right), left == (0, 0) || right == (0, 0)),
        Op::Or => truth(never_zero(left) || never_zero(right), left == (0, 0) && right == (0, 0)),
        Op::BitAnd if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
        Op::Divide | Op::Remainder | Op::ShiftLeft | Op::ShiftRight | Op::BitAnd | Op::BitXor | Op::BitOr => ANY,
    }
}

/// Bounds of an operator that is monotone in each operand, one way or the other.
fn corners(left: (i128, i128), right: (i128, i128), operator: impl Fn(i128, i128) -> Option<i128>) -> (i128, i128) {
    let results = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
    let results: Option<Vec<i128>> = results.into_iter().map(|(one, other)| operator(one, other)).collect();
    let bounds = results.and_then(|results| Some((*results.iter().min()?, *results.iter().max()?)));
    bounds.unwrap_or(ANY)
}
