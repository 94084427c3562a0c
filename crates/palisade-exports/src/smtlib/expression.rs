//! Expressions of programs as integer terms, with the conditions under which they have a value.
//!
//! Registers have known values, as the states of a certificate have; the old value of a
//! read-modify-write is a term. Arithmetic is written out for the solver, with the wrapping of the
//! domain. Bitwise operators and shifts, which linear arithmetic does not have, are written as the
//! values they give; where they read the old value, one for each value that it may have.

use super::terms::{conjunction, disjunction, equal, integer, negation};
use num_bigint::BigInt;
use palisade_model::program::{BinaryOperator, Domain, Expression, UnaryOperator, Value};

/// A term and what must hold for it to have a value.
pub(super) struct Term {
    pub(super) text: String,
    pub(super) defined: Vec<String>,
}

/// What an expression may read.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// The registers' values.
    pub(super) registers: &'a [Value],
    /// The term for the old value of a read-modify-write, and the values it may have.
    pub(super) old: Option<(&'a str, &'a [Value])>,
    /// The domain of data.
    pub(super) domain: Option<Domain>,
}

impl Reading<'_> {
    /// The expression's value as data: in the domain, or in 64 bits.
    pub(super) fn data(&self, expression: &Expression) -> Term {
        let mut defined = Vec::new();
        let wrapping = self.domain.filter(|domain| domain.wrap);
        let text = self.term(expression, wrapping, &mut defined);
        match self.domain {
            Some(domain) if domain.wrap => {}
            Some(domain) => defined.push(between(&text, domain.low, domain.high)),
            None => defined.extend(in_64_bits(expression, &text)),
        }
        Term { text, defined }
    }

    /// Whether the expression is not 0.
    pub(super) fn condition(&self, expression: &Expression) -> Term {
        let mut defined = Vec::new();
        let wrapping = self.domain.filter(|domain| domain.wrap);
        let text = self.term(expression, wrapping, &mut defined);
        Term { text: negation(&equal(text, 0)), defined }
    }

    /// The expression's value as an address, which no domain bears on.
    pub(super) fn address(&self, expression: &Expression) -> Term {
        let mut defined = Vec::new();
        let text = self.term(expression, None, &mut defined);
        defined.extend(in_64_bits(expression, &text));
        Term { text, defined }
    }

    fn term(&self, expression: &Expression, wrapping: Option<Domain>, defined: &mut Vec<String>) -> String {
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => {
                integer(wrapping.map_or(*value, |domain| domain.wrapped(i128::from(*value))))
            }
            Expression::Register(register) => integer(self.registers[register.index()]),
            Expression::Old => self.old.map_or_else(|| "0".to_owned(), |(term, _)| term.to_owned()),
            Expression::Unary(operator, operand) => {
                let operand = self.term(operand, wrapping, defined);
                into_range(unary(*operator, &operand), wrapping)
            }
            Expression::Binary(operator, left, right) => {
                let (mut left_defined, mut right_defined) = (Vec::new(), Vec::new());
                let left = self.term(left, wrapping, &mut left_defined);
                let right = self.term(right, wrapping, &mut right_defined);
                let Some(applied) = binary(*operator, &left, &right) else {
                    return self.values_of(expression, wrapping, defined);
                };
                defined.extend(left_defined);
                // As C does: the right operand of `&&` and `||` counts only where the left one does
                // not decide.
                let counts = match operator {
                    BinaryOperator::And => Some(negation(&equal(&left, 0))),
                    BinaryOperator::Or => Some(equal(&left, 0)),
                    _ => None,
                };
                match counts {
                    Some(counts) if !right_defined.is_empty() => {
                        defined.push(format!("(=> {counts} {})", conjunction(right_defined)));
                    }
                    _ => defined.extend(right_defined),
                }
                if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) {
                    defined.push(negation(&equal(&right, 0)));
                }
                into_range(applied, wrapping)
            }
        }
    }

    /// The values an expression has: one, or one for each old value.
    fn values_of(&self, expression: &Expression, wrapping: Option<Domain>, defined: &mut Vec<String>) -> String {
        let Some((term, values)) = self.old else {
            return expression.evaluate(self.registers, wrapping).map_or_else(
                |_| {
                    defined.push("false".to_owned());
                    "0".to_owned()
                },
                integer,
            );
        };
        let value = |old: Value| expression.evaluate_with_old(self.registers, old, wrapping).ok().map(|new| (old, new));
        let known: Vec<(Value, Value)> = values.iter().filter_map(|old| value(*old)).collect();
        defined.push(disjunction(known.iter().map(|(old, _)| equal(term, integer(*old)))));
        known.iter().fold("0".to_owned(), |otherwise, (old, new)| {
            format!("(ite {} {} {otherwise})", equal(term, integer(*old)), integer(*new))
        })
    }
}

fn unary(operator: UnaryOperator, operand: &str) -> String {
    match operator {
        UnaryOperator::Not => truth(&equal(operand, 0)),
        UnaryOperator::Negate => format!("(- {operand})"),
        UnaryOperator::Complement => format!("(- (- 1) {operand})"),
        UnaryOperator::Truncate { bits, signed } => {
            let size = BigInt::from(1) << bits;
            if signed {
                let half = BigInt::from(1) << (bits - 1);
                format!("(- (mod (+ {operand} {half}) {size}) {half})")
            } else {
                format!("(mod {operand} {size})")
            }
        }
    }
}

/// The operator applied to terms; nothing for bitwise ones.
fn binary(operator: BinaryOperator, left: &str, right: &str) -> Option<String> {
    use BinaryOperator as Op;
    let is_true = |operand: &str| negation(&equal(operand, 0));
    Some(match operator {
        Op::Multiply => format!("(* {left} {right})"),
        // SMT-LIB's quotients and remainders are Euclidean, C's go towards 0.
        Op::Divide => format!("(ite (>= {left} 0) (div {left} {right}) (- (div (- {left}) {right})))"),
        Op::Remainder => format!("(ite (>= {left} 0) (mod {left} {right}) (- (mod (- {left}) {right})))"),
        Op::Add => format!("(+ {left} {right})"),
        Op::Subtract => format!("(- {left} {right})"),
        Op::Less => truth(&format!("(< {left} {right})")),
        Op::LessOrEqual => truth(&format!("(<= {left} {right})")),
        Op::Greater => truth(&format!("(> {left} {right})")),
        Op::GreaterOrEqual => truth(&format!("(>= {left} {right})")),
        Op::Equal => truth(&equal(left, right)),
        Op::NotEqual => truth(&negation(&equal(left, right))),
        Op::And => truth(&conjunction([is_true(left), is_true(right)])),
        Op::Or => truth(&disjunction([is_true(left), is_true(right)])),
        Op::ShiftLeft | Op::ShiftRight | Op::BitAnd | Op::BitXor | Op::BitOr => return None,
    })
}

/// 1 or 0.
fn truth(condition: &str) -> String {
    format!("(ite {condition} 1 0)")
}

/// A term modulo the size of a domain that wraps.
fn into_range(term: String, wrapping: Option<Domain>) -> String {
    match wrapping {
        None => term,
        Some(domain) => {
            let (low, size) = (integer(domain.low), BigInt::from(domain.size()));
            if domain.low == 0 {
                format!("(mod {term} {size})")
            } else {
                format!("(+ {low} (mod (- {term} {low}) {size}))")
            }
        }
    }
}

fn between(term: &str, low: Value, high: Value) -> String {
    format!("(<= {} {term} {})", integer(low), integer(high))
}

/// The condition that a value fits 64 bits, where that is a question.
fn in_64_bits(expression: &Expression, term: &str) -> Option<String> {
    let is_question = matches!(expression, Expression::Unary(..) | Expression::Binary(..));
    is_question.then(|| between(term, Value::MIN, Value::MAX))
}
