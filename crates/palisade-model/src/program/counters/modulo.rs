//! Programs that know their counters only modulo a number of values.
//!
//! In `modulo(program, low, high)` values live in `low..=high`, which wraps, m values in all, and a
//! comparison of counters no longer tells that they differ: `a = b` still needs equal residues,
//! `a != b` holds of all. Whatever the program does in integers, or in a wrapping domain whose size
//! is a multiple of m, the new one does with residues, as long as values that are no counters stay
//! in `low..=high` (THEORY.md, "Residues"). So one certificate of robustness is about all these
//! widths.
//!
//! Machine code keeps in a flag whether counters are equal. Where that is not told, the new program
//! chooses: the assignment becomes two.

use super::Counters;
use super::form::{cut_operand, tells};
use crate::program::{
    Action, BinaryOperator, Domain, DomainOrigin, Expression, Instruction, InstructionId, LabelId, Program, ThreadId,
    UnaryOperator, Value,
};

/// The program that knows its counters modulo the size of a domain; none where it has no counters
/// in that domain, or uses them in a way that residues do not tell about.
pub fn modulo(program: &Program, low: Value, high: Value) -> Option<Program> {
    let mut narrow = program.clone();
    let domain = Domain { low, high, wrap: true, origin: DomainOrigin::Option };
    narrow.domain = Some(domain);
    let counters = Counters::of(&narrow);
    if counters.is_empty() {
        return None;
    }
    for thread in 0..narrow.threads.len() {
        let mut choices: Vec<Instruction> = Vec::new();
        for (id, instruction) in narrow.threads[thread].instructions.iter_mut().enumerate() {
            let site = Site {
                counters: &counters,
                domain,
                thread: ThreadId::from_index(thread),
                label: instruction.source,
                instruction: InstructionId::from_index(id),
            };
            let mut others = Vec::new();
            site.weaken_action(&mut instruction.action, &mut others)?;
            choices.extend(others.into_iter().map(|action| Instruction { action, ..instruction.clone() }));
        }
        narrow.threads[thread].instructions.extend(choices);
    }
    Some(narrow)
}

/// What a value may become.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    /// Nothing else: residues must tell it.
    Stay,
    /// True, where it was not.
    BecomeTrue,
    /// False, where it was not.
    BecomeFalse,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Site<'c> {
    counters: &'c Counters,
    domain: Domain,
    thread: ThreadId,
    label: LabelId,
    instruction: InstructionId,
}

impl Site<'_> {
    /// Weakens the condition of an action; nothing where residues do not tell what it does. Where
    /// it assigns a truth value that they do not tell, there is another choice.
    fn weaken_action(self, action: &mut Action, choices: &mut Vec<Action>) -> Option<()> {
        if let Some(address) = action.address() {
            self.weakened(address, May::Stay)?;
        }
        match action {
            Action::Assume(condition) => *condition = self.weakened(condition, May::BecomeTrue)?,
            Action::Assign { register, value } if is_truth(value) && self.value(value).is_none() => {
                let fails = self.weakened(value, May::BecomeFalse)?;
                *value = self.weakened(value, May::BecomeTrue)?;
                choices.push(Action::Assign { register: *register, value: fails });
            }
            Action::Assign { value, .. } | Action::Store { value, .. } | Action::Rmw { new: value, .. } => {
                self.value(value)?;
            }
            // That a comparison fails is not told by residues, nor is what is chosen among all
            // values.
            Action::Cas { .. } if self.is_counter_cell() => return None,
            Action::Cas { expected, new, .. } => {
                self.weakened(expected, May::Stay)?;
                self.weakened(new, May::Stay)?;
            }
            Action::Havoc { .. } => return None,
            _ => {}
        }
        Some(())
    }

    fn is_counter_cell(self) -> bool {
        self.counters.member_accessed(self.thread, self.instruction).is_some()
    }

    /// Whether residues tell a value, or its residue if it is a counter's.
    fn value(self, value: &Expression) -> Option<()> {
        self.weakened(value, May::Stay).map(drop)
    }

    /// An expression without what residues do not tell; nothing where that is not possible.
    fn weakened(self, expression: &Expression, may: May) -> Option<Expression> {
        use BinaryOperator as Op;
        match expression {
            Expression::Unary(UnaryOperator::Not, operand) => {
                let inner = match may {
                    May::Stay => May::Stay,
                    May::BecomeTrue => May::BecomeFalse,
                    May::BecomeFalse => May::BecomeTrue,
                };
                Some(Expression::unary(UnaryOperator::Not, self.weakened(operand, inner)?))
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) => {
                Some(Expression::binary(*operator, self.weakened(left, may)?, self.weakened(right, may)?))
            }
            Expression::Binary(Op::Equal | Op::NotEqual, left, right) if self.is_comparison(left, right) => {
                self.comparison(expression, may)
            }
            // `e % n = 0` where n divides the size of the domain.
            Expression::Binary(Op::Equal | Op::NotEqual, left, right)
                if self.is_remainder(left) && **right == Expression::Constant(0) =>
            {
                Some(expression.clone())
            }
            Expression::Binary(Op::Subtract, left, right) if self.is_counter(left) && self.is_counter(right) => None,
            Expression::Binary(Op::Remainder, ..) if self.is_remainder(expression) => None,
            Expression::Binary(_, left, right) => {
                self.weakened(left, May::Stay)?;
                self.weakened(right, May::Stay)?;
                Some(expression.clone())
            }
            Expression::Unary(_, operand) => {
                self.weakened(operand, May::Stay)?;
                Some(expression.clone())
            }
            _ => Some(expression.clone()),
        }
    }

    /// Whether two counters, or their difference and a number, are compared.
    fn is_comparison(self, left: &Expression, right: &Expression) -> bool {
        self.is_counter(left) && self.is_counter(right) || self.is_difference(left) && !self.mentions(right)
    }

    /// A comparison for equality of which only that residues are equal is known.
    fn comparison(self, comparison: &Expression, may: May) -> Option<Expression> {
        use BinaryOperator as Op;
        let Expression::Binary(operator, left, right) = comparison else { return None };
        let offsets = match self.uncut(left) {
            Expression::Binary(Op::Subtract, a, b) if self.is_difference(left) => [&**a, &**b],
            _ => [&**left, &**right],
        };
        for side in offsets {
            self.weakened(side, May::Stay)?;
        }
        let one_way =
            |operator, constant| Expression::binary(operator, comparison.clone(), Expression::Constant(constant));
        match (operator, may) {
            (Op::Equal, May::BecomeTrue) | (Op::NotEqual, May::BecomeFalse) => Some(comparison.clone()),
            // The registers that it reads stay live.
            (_, May::BecomeTrue) => Some(one_way(Op::Or, 1)),
            (_, May::BecomeFalse) => Some(one_way(Op::And, 0)),
            (_, May::Stay) => None,
        }
    }

    /// What an expression cuts, again and again, to bits of which residues tell.
    fn uncut(self, expression: &Expression) -> &Expression {
        match cut_operand(expression, Some(self.domain)) {
            Some((operand, (bits, _))) if tells(self.domain, bits) => self.uncut(operand),
            _ => expression,
        }
    }

    /// Whether an expression is the difference of two counters, cut or not.
    fn is_difference(self, expression: &Expression) -> bool {
        matches!(self.uncut(expression), Expression::Binary(BinaryOperator::Subtract, a, b) if self.is_counter(a) && self.is_counter(b))
    }

    /// Whether an expression is the remainder of a counter.
    fn is_remainder(self, expression: &Expression) -> bool {
        matches!(expression, Expression::Binary(BinaryOperator::Remainder, a, _) if self.is_counter(a))
    }

    /// Whether an expression's value turns with a class.
    fn is_counter(self, expression: &Expression) -> bool {
        use BinaryOperator as Op;
        match self.uncut(expression) {
            Expression::Register(register) => {
                self.counters.registers_at(self.thread, self.label).iter().any(|(member, _)| member == register)
            }
            Expression::Old => self.is_counter_cell(),
            Expression::Binary(Op::Add, left, right) => self.is_counter(left) || self.is_counter(right),
            Expression::Binary(Op::Subtract, left, right) => self.is_counter(left) && !self.is_counter(right),
            _ => false,
        }
    }

    /// Whether an expression reads a counter.
    fn mentions(self, expression: &Expression) -> bool {
        match expression {
            Expression::Unary(_, operand) => self.mentions(operand),
            Expression::Binary(_, left, right) => self.mentions(left) || self.mentions(right),
            own => self.is_counter(own),
        }
    }
}

/// Whether an expression's value is 0 or 1.
fn is_truth(expression: &Expression) -> bool {
    use BinaryOperator as Op;
    match expression {
        Expression::Unary(operator, _) => *operator == UnaryOperator::Not,
        Expression::Binary(operator, ..) => matches!(operator, Op::And | Op::Or) || operator.contrary().is_some(),
        _ => false,
    }
}
