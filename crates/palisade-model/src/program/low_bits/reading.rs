//! What is known where a copy stands: which registers have their low bits only, and what an
//! expression of these is.

use crate::program::{Action, BinaryOperator as Op, Expression, Instruction, RegisterId, Thread, UnaryOperator, Value};

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// What it is in the program.
    Exact(Expression),
    /// Some number with the same low bits.
    Low(Expression),
    /// 0 or 1: one of these, or a value between them.
    Truth {
        /// 1 where it is certainly 1.
        least: Expression,
        /// 0 where it is certainly 0.
        most: Expression,
    },
}

/// What is known at a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The registers of which the low bits are known, and no more.
    pub(super) low: Vec<bool>,
    /// What the last `cas` on low bits expected and found, while the registers of both are as they
    /// were.
    pub(super) outcome: Option<(Expression, RegisterId)>,
}

/// How expressions are read at a place.
#[derive(Clone, Copy)]
pub(super) struct Reader<'s> {
    /// How many low bits are known.
    pub(super) bits: u8,
    pub(super) site: &'s Site,
    /// Whether the instruction accesses what has its low bits only.
    pub(super) is_old_low: bool,
    /// The register that says whether the last `cas` on low bits succeeded.
    pub(super) success: RegisterId,
}

impl Site {
    /// What is known where a thread starts.
    pub(super) fn initial(thread: &Thread) -> Self {
        Self { low: vec![false; thread.registers.len()], outcome: None }
    }

    /// What is known whichever way a copy came; whether that is less.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (own, other) in self.low.iter_mut().zip(&other.low) {
            *own |= other;
        }
        self.outcome = self.outcome.take().filter(|outcome| other.outcome.as_ref() == Some(outcome));
        *self != before
    }

    /// What is known after an instruction; `is_cut` says whether low bits are all that it assigns.
    pub(super) fn after(&self, reader: Reader<'_>, instruction: &Instruction, is_cut: bool) -> Option<Self> {
        let mut after = self.clone();
        let action = &instruction.action;
        let is_cas = reader.is_old_low && matches!(action, Action::Cas { .. });
        if is_cas {
            after.outcome = None;
        }
        let Some(register) = action.written_register() else { return Some(after) };
        after.low[register.index()] = match action {
            Action::Assign { value, .. } => is_cut || matches!(reader.read(value)?, Reading::Low(_)),
            Action::Havoc { .. } => false,
            _ => reader.is_old_low,
        };
        let is_read = |value: &Expression| {
            let mut is_read = false;
            value.for_each_register(&mut |own| is_read |= own == register);
            is_read
        };
        after.outcome = after.outcome.filter(|(expected, found)| *found != register && !is_read(expected));
        if let Action::Cas { expected, .. } = action
            && is_cas
            && !is_read(expected)
        {
            after.outcome = Some((expected.clone(), register));
        }
        Some(after)
    }
}

impl Reader<'_> {
    /// What an expression is; nothing where low bits do not tell.
    pub(super) fn read(self, expression: &Expression) -> Option<Reading> {
        match expression {
            own if !self.reads_low(own) => Some(Reading::Exact(own.clone())),
            own if own.divides() => None,
            Expression::Unary(operator, operand) => self.unary(*operator, self.read(operand)?),
            Expression::Binary(operator @ (Op::Equal | Op::NotEqual), left, right) if self.is_outcome(left, right) => {
                let success = Expression::Register(self.success);
                Some(Reading::Exact(if *operator == Op::Equal { success } else { not(success) }))
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) => {
                let ((least, most), (other_least, other_most)) = (self.truth(left)?, self.truth(right)?);
                let both = |one, other| Expression::binary(*operator, one, other);
                Some(Reading::Truth { least: both(least, other_least), most: both(most, other_most) })
            }
            Expression::Binary(operator, left, right) => self.binary(*operator, self.read(left)?, self.read(right)?),
            own => Some(Reading::Low(own.clone())),
        }
    }

    /// The least and the greatest truth value of an expression.
    pub(super) fn truth(self, expression: &Expression) -> Option<(Expression, Expression)> {
        Some(match self.read(expression)? {
            Reading::Exact(own) => (own.clone(), own),
            Reading::Truth { least, most } => (least, most),
            // What has a bit among these is not 0.
            Reading::Low(own) => {
                let is_some = Expression::binary(Op::NotEqual, self.cut(own), Expression::Constant(0));
                (is_some.clone(), perhaps(is_some))
            }
        })
    }

    /// The low bits.
    pub(super) fn cut(self, expression: Expression) -> Expression {
        match expression {
            Expression::Constant(value) => Expression::Constant(value & ((1 << self.bits) - 1)),
            other => Expression::unary(UnaryOperator::Truncate { bits: self.bits, signed: false }, other),
        }
    }

    fn reads_low(self, expression: &Expression) -> bool {
        match expression {
            Expression::Constant(_) | Expression::Address { .. } => false,
            Expression::Register(register) => self.site.low[register.index()],
            Expression::Old => self.is_old_low,
            Expression::Unary(_, operand) => self.reads_low(operand),
            Expression::Binary(_, left, right) => self.reads_low(left) || self.reads_low(right),
        }
    }

    /// Whether two values are what the last `cas` expected and found.
    fn is_outcome(self, left: &Expression, right: &Expression) -> bool {
        self.site.outcome.as_ref().is_some_and(|(expected, found)| {
            let found = Expression::Register(*found);
            expected == left && found == *right || expected == right && found == *left
        })
    }

    fn unary(self, operator: UnaryOperator, operand: Reading) -> Option<Reading> {
        let again = |own| Expression::unary(operator, own);
        Some(match (operator, operand) {
            (_, Reading::Exact(own)) => Reading::Exact(again(own)),
            (UnaryOperator::Not, Reading::Low(own)) => {
                let is_none = Expression::binary(Op::Equal, self.cut(own), Expression::Constant(0));
                Reading::Truth { least: never(is_none.clone()), most: is_none }
            }
            (UnaryOperator::Truncate { bits, .. }, Reading::Low(own)) if bits <= self.bits => {
                Reading::Exact(again(own))
            }
            (_, Reading::Low(own)) => Reading::Low(again(own)),
            (UnaryOperator::Not, Reading::Truth { least, most }) => {
                Reading::Truth { least: not(most), most: not(least) }
            }
            // A truth value is no more than one bit.
            (UnaryOperator::Truncate { signed: false, .. }, truth) => truth,
            _ => return None,
        })
    }

    fn binary(self, operator: Op, left: Reading, right: Reading) -> Option<Reading> {
        use Reading::{Exact, Low, Truth};
        let is_comparison = operator.contrary().is_some();
        let (left, right) = match (left, right) {
            (Exact(left), Exact(right)) => return Some(Exact(Expression::binary(operator, left, right))),
            (Truth { least, most }, Exact(Expression::Constant(0))) => {
                return match operator {
                    Op::Equal => Some(Truth { least: not(most), most: not(least) }),
                    Op::NotEqual => Some(Truth { least, most }),
                    _ => None,
                };
            }
            (Truth { .. }, _) | (_, Truth { .. }) => return None,
            (Low(left), Low(right)) => (left, right),
            (Low(own), Exact(Expression::Constant(mask))) | (Exact(Expression::Constant(mask)), Low(own))
                if operator == Op::BitAnd && (0..1 << self.bits).contains(&mask) =>
            {
                return Some(Exact(Expression::binary(operator, own, Expression::Constant(mask))));
            }
            (Low(own), Exact(Expression::Constant(by))) if operator == Op::ShiftLeft => {
                let is_known = (0..64).contains(&by);
                let shifted = Expression::binary(operator, self.cut(own), Expression::Constant(by));
                return is_known.then_some(Low(shifted));
            }
            (Exact(left), Low(right)) | (Low(left), Exact(right)) => (left, right),
        };
        match operator {
            Op::Equal => {
                let is_equal = Expression::binary(operator, self.cut(left), self.cut(right));
                Some(Truth { least: never(is_equal.clone()), most: is_equal })
            }
            Op::NotEqual => {
                let differ = Expression::binary(operator, self.cut(left), self.cut(right));
                Some(Truth { least: differ.clone(), most: perhaps(differ) })
            }
            _ if is_comparison => {
                let compared = Expression::binary(operator, left, right);
                Some(Truth { least: never(compared.clone()), most: perhaps(compared) })
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::BitAnd | Op::BitOr | Op::BitXor => {
                Some(Low(Expression::binary(operator, left, right)))
            }
            _ => None,
        }
    }
}

fn not(expression: Expression) -> Expression {
    Expression::unary(UnaryOperator::Not, expression)
}

/// 1, whatever it is. The registers that it reads stay live.
fn perhaps(expression: Expression) -> Expression {
    Expression::binary(Op::Or, expression, Expression::Constant(1))
}

/// 0, whatever it is.
fn never(expression: Expression) -> Expression {
    Expression::binary(Op::And, expression, Expression::Constant(0))
}

/// Whether an expression adds or subtracts a number other than 0.
pub(super) fn moves(expression: &Expression) -> bool {
    let is_number = |own: &Expression| matches!(own, Expression::Constant(number) if *number != 0 as Value);
    match expression {
        Expression::Binary(Op::Add, left, right) => is_number(left) || is_number(right) || moves(left) || moves(right),
        Expression::Binary(Op::Subtract, left, right) => is_number(right) || moves(left),
        Expression::Unary(_, operand) => moves(operand),
        Expression::Binary(_, left, right) => moves(left) || moves(right),
        _ => false,
    }
}
