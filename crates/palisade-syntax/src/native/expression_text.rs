//! Prints expressions.

use super::{is_bitwise, is_comparison, strength};
use palisade_model::program::{BinaryOperator, Expression, UnaryOperator};
use std::fmt::Write as _;

/// Prints expressions, with these names for registers and addresses.
pub(super) struct ExpressionPrinter<'a> {
    pub(super) registers: Vec<String>,
    pub(super) addresses: &'a [String],
}

impl ExpressionPrinter<'_> {
    /// An expression without parentheses around it.
    pub(super) fn whole(&self, expression: &Expression) -> String {
        self.bounded(expression, 0)
    }

    /// An expression, in parentheses unless it binds at least as strongly as `least`.
    pub(super) fn bounded(&self, expression: &Expression, least: u8) -> String {
        let mut text = String::new();
        self.expression(&mut text, expression, least);
        text
    }

    /// Prints an expression, in parentheses unless it binds at least as strongly as `least`.
    fn expression(&self, text: &mut String, expression: &Expression, least: u8) {
        match expression {
            Expression::Constant(value) => write!(text, "{value}").expect(WRITES),
            Expression::Address { id, .. } => text.push_str(&self.addresses[id.index()]),
            Expression::Register(register) => text.push_str(&self.registers[register.index()]),
            Expression::Old => text.push_str("old"),
            Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => {
                write!(text, "{}{bits}(", if *signed { 'i' } else { 'u' }).expect(WRITES);
                self.expression(text, operand, 0);
                text.push(')');
            }
            Expression::Unary(operator, operand) => {
                text.push(match operator {
                    UnaryOperator::Not => '!',
                    UnaryOperator::Complement => '~',
                    UnaryOperator::Negate | UnaryOperator::Truncate { .. } => '-',
                });
                // A minus before a number belongs to the number; here it is an operator.
                match **operand {
                    Expression::Constant(value) if *operator == UnaryOperator::Negate || value < 0 => {
                        write!(text, "({value})").expect(WRITES);
                    }
                    _ => self.expression(text, operand, UNARY),
                }
            }
            Expression::Binary(operator, left, right) => {
                let strength = strength(*operator);
                let parentheses = strength < least;
                if parentheses {
                    text.push('(');
                }
                let least = |operand: &Expression, least: u8| {
                    if is_unclear(*operator, operand) { COMPARISON + 1 } else { least }
                };
                self.expression(text, left, least(left, strength));
                write!(text, " {} ", spelling(*operator)).expect(WRITES);
                self.expression(text, right, least(right, strength + 1));
                if parentheses {
                    text.push(')');
                }
            }
        }
    }
}

/// Writing to a string never fails.
const WRITES: &str = "a string takes any text";

/// How strongly prefix operators bind.
const UNARY: u8 = 11;

/// How strongly a comparison binds at most.
pub(super) const COMPARISON: u8 = 7;

/// Whether an operand is a comparison whose parentheses readers need, although the grammar does
/// not.
fn is_unclear(operator: BinaryOperator, operand: &Expression) -> bool {
    let is_comparison_inside = matches!(operand, Expression::Binary(inner, ..) if is_comparison(*inner));
    is_comparison_inside && (is_bitwise(operator) || is_comparison(operator))
}

/// The symbol of an operator.
pub(super) fn spelling(operator: BinaryOperator) -> &'static str {
    use BinaryOperator as Op;
    match operator {
        Op::Multiply => "*",
        Op::Divide => "/",
        Op::Remainder => "%",
        Op::Add => "+",
        Op::Subtract => "-",
        Op::ShiftLeft => "<<",
        Op::ShiftRight => ">>",
        Op::Less => "<",
        Op::LessOrEqual => "<=",
        Op::Greater => ">",
        Op::GreaterOrEqual => ">=",
        Op::Equal => "=",
        Op::NotEqual => "!=",
        Op::BitAnd => "&",
        Op::BitXor => "^",
        Op::BitOr => "|",
        Op::And => "&&",
        Op::Or => "||",
    }
}
