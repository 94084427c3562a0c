//! What expressions are where a count in them is many.

use palisade_model::program::{Action, BinaryOperator as Op, Expression, UnaryOperator, Value, truncate};

/// Registers are raised by so much at most above what an address held.
pub(super) const MARGIN: Value = 1024;

/// With more values than this, an expression must not be computed.
const CHOICES: i128 = 8;

/// The values of a count.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) cell: Value,
    /// The least value that is many, which stands for all.
    pub(super) many: Value,
    /// The greatest one; nothing where there is none.
    pub(super) high: Option<i128>,
    /// What is left of it when nobody holds anything.
    pub(super) floor: i128,
}

impl Scale {
    /// Whether an action accesses the address by a constant.
    pub(super) fn is_accessed(&self, action: &Action) -> bool {
        let address = action.address().filter(|address| address.is_constant());
        address.is_some_and(|address| address.evaluate_address(&[]) == Ok(self.cell))
    }

    /// Whether a number is many.
    pub(super) fn is_many(&self, number: Value) -> bool {
        number >= self.many && i128::from(number) <= self.top()
    }

    /// The greatest value that is many, or one that no program computes with.
    pub(super) fn top(&self) -> i128 {
        self.high.unwrap_or(1 << 100)
    }

    /// The values that stand for those between two, ascending.
    pub(super) fn stand_for(&self, least: i128, greatest: i128) -> Option<Vec<Value>> {
        let (many, top) = (i128::from(self.many), self.top());
        let mut few = 0;
        if least < many {
            few += greatest.min(many - 1) - least + 1;
        }
        if greatest > top {
            few += greatest - least.max(top + 1) + 1;
        }
        if few > CHOICES {
            return None;
        }
        let mut values = Vec::new();
        let mut next = least;
        while next <= greatest {
            values.push(Value::try_from(next).ok()?);
            // All that are many are one.
            next = if (many..=top).contains(&next) { top + 1 } else { next + 1 };
        }
        if let Some(value) = values.iter_mut().find(|value| (many..=top).contains(&i128::from(**value))) {
            *value = self.many;
        }
        Some(values)
    }

    /// The least and the greatest value of an expression whose only variable is many.
    pub(super) fn bounds(&self, expression: &Expression) -> Option<(i128, i128)> {
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => {
                Some((i128::from(*value), i128::from(*value)))
            }
            Expression::Register(_) | Expression::Old => Some((i128::from(self.many), self.top())),
            Expression::Unary(operator, operand) => {
                let (least, greatest) = self.bounds(operand)?;
                match operator {
                    UnaryOperator::Negate => Some((-greatest, -least)),
                    UnaryOperator::Complement => Some((!greatest, !least)),
                    UnaryOperator::Not => {
                        let (least, greatest) = truths((least, greatest));
                        Some((1 - greatest, 1 - least))
                    }
                    UnaryOperator::Truncate { bits, signed } => {
                        let cut = |end| truncate(end, *bits, *signed);
                        (cut(greatest) - cut(least) == greatest - least).then(|| (cut(least), cut(greatest)))
                    }
                }
            }
            Expression::Binary(operator, left, right) => self.bounds_of_two(*operator, left, right),
        }
    }

    fn bounds_of_two(&self, operator: Op, left: &Expression, right: &Expression) -> Option<(i128, i128)> {
        let ((a, b), (c, d)) = (self.bounds(left)?, self.bounds(right)?);
        let are_equal = || self.essence(left) == self.essence(right);
        let decided = |holds: bool, fails: bool| match (holds, fails) {
            (true, _) => (1, 1),
            (_, true) => (0, 0),
            _ => (0, 1),
        };
        let swapped = |(least, greatest): (i128, i128)| (1 - greatest, 1 - least);
        let equal = || decided(are_equal() || a == b && c == d && a == c, b < c || d < a);
        let less = || decided(b < c, a >= d || are_equal());
        let greater = || decided(a > d, b <= c || are_equal());
        Some(match operator {
            Op::Add => (a + c, b + d),
            Op::Subtract => (a - d, b - c),
            Op::Equal => equal(),
            Op::NotEqual => swapped(equal()),
            Op::Less => less(),
            Op::GreaterOrEqual => swapped(less()),
            Op::Greater => greater(),
            Op::LessOrEqual => swapped(greater()),
            Op::And | Op::Or => {
                let ((a, b), (c, d)) = (truths((a, b)), truths((c, d)));
                if operator == Op::And { (a.min(c), b.min(d)) } else { (a.max(c), b.max(d)) }
            }
            Op::ShiftRight if c == d && (0..64).contains(&c) && a >= 0 => (a >> c, b >> c),
            Op::BitAnd | Op::BitOr if c == d && c >= 0 && a >= 0 => {
                let ones = ones_up_to(b)?;
                match (operator, ones & !c == 0) {
                    (Op::BitAnd, true) => (a, b),
                    (Op::BitAnd, false) => (0, b.min(c)),
                    (_, true) => (c, c),
                    (_, false) => (a.max(c), c | ones),
                }
            }
            _ => return None,
        })
    }

    /// An expression without cuts and masks that leave all of its values as they are.
    fn essence(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Unary(operator, operand) => {
                let is_idle = matches!(operator, UnaryOperator::Truncate { .. })
                    && self.bounds(operand).is_some_and(|own| self.bounds(expression) == Some(own));
                let operand = self.essence(operand);
                if is_idle { operand } else { Expression::unary(*operator, operand) }
            }
            Expression::Binary(operator, left, right) => {
                let keeps = |(least, mask): (i128, i128), ones: i128| least >= 0 && mask >= 0 && ones & !mask == 0;
                if *operator == Op::BitAnd
                    && let (Some((least, greatest)), Some((mask, other))) = (self.bounds(left), self.bounds(right))
                    && mask == other
                    && ones_up_to(greatest).is_some_and(|ones| keeps((least, mask), ones))
                {
                    return self.essence(left);
                }
                Expression::binary(*operator, self.essence(left), self.essence(right))
            }
            _ => expression.clone(),
        }
    }
}

fn truths((least, greatest): (i128, i128)) -> (i128, i128) {
    match (least, greatest) {
        (0, 0) => (0, 0),
        (least, greatest) if least > 0 || greatest < 0 => (1, 1),
        _ => (0, 1),
    }
}

/// A number with ones in all places in which a number up to a greatest one may have any.
fn ones_up_to(greatest: i128) -> Option<i128> {
    if !(0..1 << 100).contains(&greatest) {
        return None;
    }
    let mut ones = 0;
    while ones < greatest {
        ones = 2 * ones + 1;
    }
    Some(ones)
}

/// By how much an expression raises another one by constants, perhaps cut to some bits.
pub(super) fn distance(expression: &Expression, from: &Expression) -> Option<i128> {
    if expression == from {
        return Some(0);
    }
    match expression {
        Expression::Unary(UnaryOperator::Truncate { bits, .. }, inner) => {
            distance(inner, from).map(|by| truncate(by, *bits, true))
        }
        Expression::Binary(Op::Add, left, right) => match (&**left, &**right) {
            (inner, Expression::Constant(by)) | (Expression::Constant(by), inner) => {
                distance(inner, from).map(|own| own + i128::from(*by))
            }
            _ => None,
        },
        Expression::Binary(Op::Subtract, inner, by) => match **by {
            Expression::Constant(by) => distance(inner, from).map(|own| own - i128::from(by)),
            _ => None,
        },
        _ => None,
    }
}
