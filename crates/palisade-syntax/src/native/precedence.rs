//! Expressions that bind as in C and hardly as they are meant: comparisons inside bitwise
//! operators, comparisons of comparisons.

use super::ast::{ExpressionKind, RawExpression};
use super::{is_bitwise, is_comparison};
use crate::Diagnostic;
use palisade_model::program::{BinaryOperator, SourceText, Span, UnaryOperator};

/// The warning for an operator one of whose operands may have been meant to be a part of another
/// one. Parentheses around the operand show that it is meant as it stands.
pub(crate) fn warning(source: &SourceText, raw: &RawExpression<'_>) -> Option<Diagnostic> {
    let ExpressionKind::Binary(operator, left, right) = &raw.kind else { return None };
    let found = Found { source, left, right };
    let (message, help) = match *operator {
        operator if is_bitwise(operator) => found.inside_bitwise()?,
        operator if is_comparison(operator) => found.chain()?,
        _ => return None,
    };
    let span = left.extent.to(right.extent);
    Some(Diagnostic::warning(message, span).with_label("binds as in C").with_help(help))
}

/// An operator with its operands.
struct Found<'a, 's> {
    /// The text it stands in.
    source: &'a SourceText,
    /// Its left operand.
    left: &'a RawExpression<'s>,
    /// Its right operand.
    right: &'a RawExpression<'s>,
}

/// Longer operands, in bytes, are not quoted.
const LONGEST: usize = 40;

impl Found<'_, '_> {
    /// `r & 1 = 0`, which is `r & (1 = 0)`. Where both operands are truth values, they are hardly
    /// meant otherwise.
    fn inside_bitwise(&self) -> Option<(String, String)> {
        let Self { left, right, .. } = *self;
        let meant = match (comparison(left), comparison(right)) {
            (None, Some((first, second))) if !is_truth_value(left) => {
                let masked = format!("({} {} {})", self.text(left), self.operator(), self.text(first));
                format!("{masked} {} {}", self.between(first, second), self.text(second))
            }
            (Some((first, second)), None) if !is_truth_value(right) => {
                let masked = format!("({} {} {})", self.text(second), self.operator(), self.text(right));
                format!("{} {} {masked}", self.text(first), self.between(first, second))
            }
            _ => return None,
        };
        let read = self.as_read();
        Some((format!("`{}` is `{read}`", self.as_written()), format!("write `{meant}`, or `{read}` if that is meant")))
    }

    /// `a = b = c`, which is `(a = b) = c`; of a longer chain the beginning.
    fn chain(&self) -> Option<(String, String)> {
        let (left, right) = (self.text(self.left), self.text(self.right));
        let both = match (comparison(self.left), comparison(self.right)) {
            (Some((first, middle)), None) if comparison(first).is_none() => {
                format!("{left} && {} {} {right}", self.text(middle), self.operator())
            }
            (None, Some((middle, _))) => format!("{left} {} {} && {right}", self.operator(), self.text(middle)),
            _ => return None,
        };
        let read = self.as_read();
        let message = format!("`{}` is `{read}`, which compares the outcome of a comparison", self.as_written());
        Some((message, format!("write `{both}`, or `{read}` if that is meant")))
    }

    /// The text without the parentheses that precedence puts there.
    fn as_written(&self) -> String {
        let operand = |operand: &RawExpression<'_>| match comparison(operand) {
            Some((left, right)) => format!("{} {} {}", self.text(left), self.between(left, right), self.text(right)),
            None => self.text(operand).to_owned(),
        };
        format!("{} {} {}", operand(self.left), self.operator(), operand(self.right))
    }

    /// The text with these parentheses.
    fn as_read(&self) -> String {
        let operand = |operand: &RawExpression<'_>| match comparison(operand) {
            Some((left, right)) => format!("({} {} {})", self.text(left), self.between(left, right), self.text(right)),
            None => self.text(operand).to_owned(),
        };
        format!("{} {} {}", operand(self.left), self.operator(), operand(self.right))
    }

    /// The operator as it is written.
    fn operator(&self) -> &str {
        self.between(self.left, self.right)
    }

    fn between(&self, left: &RawExpression<'_>, right: &RawExpression<'_>) -> &str {
        self.quoted(Span { start: left.extent.end, end: right.extent.start })
    }

    fn text(&self, operand: &RawExpression<'_>) -> &str {
        self.quoted(operand.extent)
    }

    /// A stretch of the text on one line, if it is one.
    fn quoted(&self, span: Span) -> &str {
        let text = self.source.slice(span).trim();
        if text.len() > LONGEST || text.contains(['\n', '#']) || text.contains("/*") { "…" } else { text }
    }
}

/// The operands of a comparison without parentheses around it.
fn comparison<'a, 's>(raw: &'a RawExpression<'s>) -> Option<(&'a RawExpression<'s>, &'a RawExpression<'s>)> {
    raw.bare_binary().filter(|(operator, ..)| is_comparison(*operator)).map(|(_, left, right)| (left, right))
}

/// Whether an expression is 0 or 1 by its form.
fn is_truth_value(raw: &RawExpression<'_>) -> bool {
    match &raw.kind {
        ExpressionKind::Unary(UnaryOperator::Not, _) => true,
        ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, ..) => true,
        ExpressionKind::Binary(operator, left, right) => {
            is_comparison(*operator) || is_bitwise(*operator) && is_truth_value(left) && is_truth_value(right)
        }
        _ => false,
    }
}
