//! Sets of values as intervals, and what an expression can come to when its registers are in such
//! sets.
//!
//! An expression over few values is evaluated for each choice of them; where they are too many, the
//! least and the greatest value are computed from those of its parts. A choice for which the
//! expression has no value gives none: the instruction is not executed then.

use palisade_model::program::{BinaryOperator, Domain, Expression, RegisterId, UnaryOperator, Value};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// How many choices of values an expression is evaluated for.
const MOST_CHOICES: u128 = 1 << 10;

/// A set of values: intervals with both ends, ascending, that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range(Intervals);

/// Most sets are one interval.
type Intervals = SmallVec<[(i128, i128); 1]>;

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
pub(super) struct Surroundings<'a> {
    pub(super) registers: &'a [Range],
    pub(super) old: &'a Range,
    pub(super) domain: Option<Domain>,
}

impl Range {
    /// The set that intervals make up together.
    pub(super) fn of(intervals: impl IntoIterator<Item = (i128, i128)>) -> Self {
        let mut intervals: Intervals = intervals.into_iter().filter(|(low, high)| low <= high).collect();
        intervals.sort_unstable();
        let mut merged = Intervals::new();
        for (low, high) in intervals {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    /// The set of one value.
    pub(super) fn only(value: Value) -> Self {
        Self(smallvec![(value.into(), value.into())])
    }

    /// All values from the least to the greatest one of a type or domain.
    pub(super) fn all(domain: Option<Domain>) -> Self {
        let (low, high) = domain.map_or((Value::MIN, Value::MAX), |domain| (domain.low, domain.high));
        Self(smallvec![(low.into(), high.into())])
    }

    /// The intervals, ascending.
    pub(super) fn intervals(&self) -> &[(i128, i128)] {
        &self.0
    }

    /// Whether a value is one of them.
    pub fn contains(&self, value: i128) -> bool {
        self.0.iter().any(|(low, high)| (*low..=*high).contains(&value))
    }

    /// Whether all values of another set are in this one.
    pub(super) fn includes(&self, other: &Self) -> bool {
        // Intervals do not touch, so that one of the other set must lie in one of these.
        other.0.iter().all(|(low, high)| self.0.iter().any(|own| own.0 <= *low && *high <= own.1))
    }

    /// Whether some value is in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().any(|one| other.0.iter().any(|two| one.0 <= two.1 && two.0 <= one.1))
    }

    /// The values of both.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied())
    }

    /// How many values there are.
    pub(super) fn count(&self) -> u128 {
        self.0.iter().map(|(low, high)| high.abs_diff(*low).saturating_add(1)).fold(0, u128::saturating_add)
    }

    /// The least and the greatest value.
    pub(super) fn hull(&self) -> Option<(i128, i128)> {
        Some((self.0.first()?.0, self.0.last()?.1))
    }

    /// The values, ascending.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.0.iter().flat_map(|(low, high)| *low..=*high).filter_map(|value| Value::try_from(value).ok())
    }
}

impl Surroundings<'_> {
    /// What an expression can come to.
    pub(super) fn of(&self, expression: &Expression, purpose: Purpose) -> Range {
        if expression.is_constant() {
            return self.by_choice(expression, purpose, &[], 0).map(Range::only).unwrap_or_default();
        }
        let mut read: SmallVec<[RegisterId; 4]> = SmallVec::new();
        expression.for_each_register(&mut |register| read.push(register));
        read.sort_unstable();
        read.dedup();
        let mut sets: SmallVec<[(Option<RegisterId>, &Range); 4]> =
            read.into_iter().map(|register| (Some(register), &self.registers[register.index()])).collect();
        if reads_old(expression) {
            sets.push((None, self.old));
        }
        if sets.iter().map(|(_, set)| set.count()).fold(1, u128::saturating_mul) <= MOST_CHOICES {
            return match self.moved(expression, purpose) {
                Some(range) => range,
                None => self.by_choices(expression, purpose, &sets),
            };
        }
        let wrapping = self.domain.filter(|domain| domain.wrap && purpose != Purpose::Address);
        let Some(hull) = self.hull(expression, wrapping) else { return Range::default() };
        admitted(hull, purpose, self.domain)
    }

    /// The data that a sum or difference of two different registers, or of one and a number, comes
    /// to: what each two intervals come to.
    fn moved(&self, expression: &Expression, purpose: Purpose) -> Option<Range> {
        let Expression::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right) = expression
        else {
            return None;
        };
        let is_wrapped = self.domain.is_some_and(|domain| domain.wrap);
        if left == right || purpose != Purpose::Data || is_wrapped {
            return None;
        }
        let (left, right) = (self.simple(left)?, self.simple(right)?);
        let pairs = left.0.iter().flat_map(|one| right.0.iter().map(move |other| binary(*operator, *one, *other)));
        let admitted = |hull| admitted(hull, purpose, self.domain).0;
        Some(Range::of(pairs.flat_map(admitted)))
    }

    /// What a register or a number can be.
    fn simple(&self, expression: &Expression) -> Option<Cow<'_, Range>> {
        match expression {
            Expression::Register(register) => Some(Cow::Borrowed(&self.registers[register.index()])),
            Expression::Constant(value) => Some(Cow::Owned(Range::only(*value))),
            _ => None,
        }
    }

    /// The values for each choice.
    fn by_choices(&self, expression: &Expression, purpose: Purpose, sets: &[(Option<RegisterId>, &Range)]) -> Range {
        let columns: Vec<Vec<Value>> = sets.iter().map(|(_, set)| set.values().collect()).collect();
        let mut registers: Vec<Value> = vec![0; self.registers.len()];
        let mut old = 0;
        let mut results = Vec::new();
        for number in 0..columns.iter().map(Vec::len).product() {
            let mut rest = number;
            for ((register, _), column) in sets.iter().zip(&columns) {
                let value = column[rest % column.len()];
                rest /= column.len();
                match register {
                    Some(register) => registers[register.index()] = value,
                    None => old = value,
                }
            }
            let value = self.by_choice(expression, purpose, &registers, old);
            results.extend(value.map(|value| (i128::from(value), i128::from(value))));
        }
        Range::of(results)
    }

    /// The value for one choice; nothing where the expression has none.
    fn by_choice(&self, expression: &Expression, purpose: Purpose, registers: &[Value], old: Value) -> Option<Value> {
        let value = match purpose {
            Purpose::Data => expression.evaluate_with_old(registers, old, self.domain),
            Purpose::Address => expression.evaluate_address(registers),
            Purpose::Condition => expression.holds(registers, self.domain).map(Value::from),
        };
        value.ok()
    }

    /// Bounds of the expression's value; nothing when it has none.
    fn hull(&self, expression: &Expression, wrapping: Option<Domain>) -> Option<(i128, i128)> {
        let hull = match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => ((*value).into(), (*value).into()),
            Expression::Register(register) => return self.registers[register.index()].hull(),
            Expression::Old => return self.old.hull(),
            Expression::Unary(operator, operand) => unary(*operator, self.hull(operand, wrapping)?),
            Expression::Binary(operator, left, right) => {
                let left = self.hull(left, wrapping)?;
                match self.hull(right, wrapping) {
                    Some(right) => binary(*operator, left, right),
                    // The right side may not be evaluated at all.
                    None if matches!(operator, BinaryOperator::And | BinaryOperator::Or) => (0, 1),
                    None => return None,
                }
            }
        };
        Some(wrapped(hull, wrapping))
    }
}

/// All numbers.
const ANY: (i128, i128) = (i128::MIN, i128::MAX);

/// What is left of bounds when the whole expression must be data, an address or a condition.
fn admitted((low, high): (i128, i128), purpose: Purpose, domain: Option<Domain>) -> Range {
    let within = |range: Range| {
        let (least, greatest) = range.hull().expect("a domain has values");
        Range::of([(low.max(least), high.min(greatest))])
    };
    match (purpose, domain) {
        (Purpose::Condition, _) => {
            let (can_be_zero, can_be_other) = (low <= 0 && 0 <= high, low != 0 || high != 0);
            Range::of([can_be_zero.then_some((0, 0)), can_be_other.then_some((1, 1))].into_iter().flatten())
        }
        (Purpose::Address, _) | (Purpose::Data, None) => within(Range::all(None)),
        (Purpose::Data, Some(domain)) if domain.wrap => Range::of([wrapped((low, high), Some(domain))]),
        (Purpose::Data, domain) => within(Range::all(domain)),
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
        UnaryOperator::Not if (low, high) == (0, 0) => (1, 1),
        UnaryOperator::Not if low > 0 || high < 0 => (0, 0),
        UnaryOperator::Not => (0, 1),
        UnaryOperator::Negate => match (high.checked_neg(), low.checked_neg()) {
            (Some(least), Some(greatest)) => (least, greatest),
            _ => ANY,
        },
        UnaryOperator::Complement => (!high, !low),
        UnaryOperator::Truncate { bits, signed: true } => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        UnaryOperator::Truncate { bits, signed: false } => (0, (1i128 << bits) - 1),
    }
}

fn binary(operator: BinaryOperator, left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    use BinaryOperator as Op;
    let truth = |always: bool, never: bool| (i128::from(always), i128::from(!never));
    let never_zero = |side: (i128, i128)| side.0 > 0 || side.1 < 0;
    let apart = left.1 < right.0 || right.1 < left.0;
    let same = left.0 == left.1 && left == right;
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
        Op::Equal => truth(same, apart),
        Op::NotEqual => truth(apart, same),
        Op::And => truth(never_zero(left) && never_zero(right), left == (0, 0) || right == (0, 0)),
        Op::Or => truth(never_zero(left) || never_zero(right), left == (0, 0) && right == (0, 0)),
        Op::BitAnd if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
        Op::Divide | Op::Remainder | Op::ShiftLeft | Op::ShiftRight | Op::BitAnd | Op::BitXor | Op::BitOr => ANY,
    }
}

/// Bounds of an operator that is monotone in each operand, one way or the other.
fn corners(left: (i128, i128), right: (i128, i128), operator: impl Fn(i128, i128) -> Option<i128>) -> (i128, i128) {
    let mut bounds: Option<(i128, i128)> = None;
    for (one, other) in [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)] {
        let Some(result) = operator(one, other) else { return ANY };
        bounds = Some(bounds.map_or((result, result), |(low, high)| (low.min(result), high.max(result))));
    }
    bounds.unwrap_or(ANY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::program::DomainOrigin;
    use palisade_semantics::random::Randomness;
    use std::sync::Arc;

    /// A set of up to three intervals, near 0 or near the end of what values can be.
    fn random(randomness: &mut Randomness) -> Range {
        let around = [0, i128::from(Value::MAX) - 9][usize::from(randomness.below(4) == 0)];
        let mut intervals = Vec::new();
        for _ in 0..randomness.below(4) {
            let low = around + randomness.below(10) as i128;
            intervals.push((low, (low + randomness.below(3) as i128).min(Value::MAX.into())));
        }
        Range::of(intervals)
    }

    #[test]
    fn sums_and_differences_are_those_of_all_choices() {
        let mut randomness = Randomness::new(1);
        let register = |index| Arc::new(Expression::Register(RegisterId::from_index(index)));
        for round in 0..2_000 {
            let registers = [random(&mut randomness), random(&mut randomness)];
            let domain =
                (round % 2 == 0).then_some(Domain { low: -2, high: 7, wrap: false, origin: DomainOrigin::File });
            let around = Surroundings { registers: &registers, old: &Range::default(), domain };
            for operator in [BinaryOperator::Add, BinaryOperator::Subtract] {
                let number =
                    Arc::new(Expression::Constant(Value::try_from(randomness.below(5)).expect("a small number")));
                for right in [register(1), number] {
                    let expression = Expression::Binary(operator, register(0), right);
                    let mut read = vec![(Some(RegisterId::from_index(0)), &registers[0])];
                    expression.for_each_register(&mut |register| {
                        if register.index() == 1 {
                            read.push((Some(register), &registers[1]));
                        }
                    });
                    let all = around.by_choices(&expression, Purpose::Data, &read);
                    assert_eq!(around.moved(&expression, Purpose::Data), Some(all), "{expression:?} {registers:?}");
                }
            }
        }
    }
}
