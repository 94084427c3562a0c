//! Certificates that know counters only modulo a number of values, and so are about every domain
//! that is a multiple of these.
//!
//! Let the certificate state the domain L..H, with m values. The checker gives the program that
//! domain, which wraps, finds its counters there, and *loosens* each condition on them: that two
//! counters are equal implies that their residues are, that they differ implies nothing. Where a
//! register is assigned whether they are equal, the loosened program has two assignments, of the
//! greatest and the least truth value that it may be. The sets have to be closed under the steps of
//! the loosened program, and none of these may compute a value that is no counter and leaves L..H.
//! THEORY.md ("Residues") has the proof that then no attack on the program is feasible, in integers
//! or in a domain that wraps, contains L..H and has a multiple of m values.

use super::counters::Counters;
use super::spans::{Variable, low_bits, size};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{
    Action, BinaryOperator as Op, Domain, DomainOrigin, Expression, InstructionId, Program, ThreadId, UnaryOperator,
    Value,
};

/// What the steps of a loosened program must not compute.
#[derive(Debug)]
pub(super) struct Watch {
    /// The counters of the program before it was loosened.
    pub(super) counters: Counters,
    /// Where values stay that are no counters.
    pub(super) range: (Value, Value),
}

/// How the truth of an expression may be changed without losing what the program can do.
#[derive(Clone, Copy)]
enum Change {
    None,
    ToTrue,
    ToFalse,
}

/// An instruction, as a reader of its expressions needs it.
struct Site<'c> {
    counters: &'c Counters,
    thread: ThreadId,
    program: &'c Program,
    instruction: InstructionId,
}

/// The domain that wraps and has these ends, if the program's values are known modulo its size.
pub(super) fn admitted(program: &Program, low: Value, high: Value) -> Result<Domain, CheckFailure> {
    if low > 0 || high < 1 {
        reject!(Form, "{low}..{high} does not contain 0 and 1");
    }
    let domain = Domain { low, high, wrap: true, origin: DomainOrigin::Option };
    let is_wider =
        |own: Domain| own.wrap && own.contains(low) && own.contains(high) && own.size().is_multiple_of(domain.size());
    if !program.domain.is_none_or(is_wider) {
        reject!(Form, "the program's domain is no multiple of {low}..{high} that wraps");
    }
    Ok(domain)
}

/// The program with each condition on counters loosened.
pub(super) fn loosened(program: &Program, counters: &Counters) -> Result<Program, CheckFailure> {
    let mut result = program.clone();
    for (thread, template) in program.thread_ids() {
        for (id, instruction) in template.instruction_ids() {
            let site = Site { counters, thread, program, instruction: id };
            let action = &mut result.threads[thread.index()].instructions[id.index()].action;
            if let Some(address) = instruction.action.address() {
                site.loosen(address, Change::None)?;
            }
            match action {
                Action::Assume(condition) => *condition = site.loosen(condition, Change::ToTrue)?,
                Action::Assign { register, value }
                    if is_truth_value(value) && site.loosen(value, Change::None).is_err() =>
                {
                    let (register, least) = (*register, site.loosen(value, Change::ToFalse)?);
                    *value = site.loosen(value, Change::ToTrue)?;
                    let mut other = instruction.clone();
                    other.action = Action::Assign { register, value: least };
                    result.threads[thread.index()].instructions.push(other);
                }
                Action::Assign { value, .. } | Action::Store { value, .. } | Action::Rmw { new: value, .. } => {
                    site.loosen(value, Change::None)?;
                }
                Action::Cas { expected, new, .. } => {
                    if site.shifts(&Expression::Old) {
                        return site.refuse("compares and exchanges a counter");
                    }
                    site.loosen(expected, Change::None)?;
                    site.loosen(new, Change::None)?;
                }
                Action::Havoc { .. } => return site.refuse("chooses among all values"),
                _ => {}
            }
        }
    }
    Ok(result)
}

impl Site<'_> {
    fn refuse<T>(&self, what: &str) -> Result<T, CheckFailure> {
        reject!(Form, "instruction {} of thread {} {what}", self.instruction, self.thread);
    }

    /// The expression where it is known only modulo the size of the domain what counters are, or a
    /// rejection where its value is more than that tells.
    fn loosen(&self, expression: &Expression, change: Change) -> Result<Expression, CheckFailure> {
        let constant = |operator, value| Expression::binary(operator, expression.clone(), Expression::Constant(value));
        match expression {
            Expression::Unary(UnaryOperator::Not, operand) => {
                let contrary = match change {
                    Change::None => Change::None,
                    Change::ToTrue => Change::ToFalse,
                    Change::ToFalse => Change::ToTrue,
                };
                return Ok(Expression::unary(UnaryOperator::Not, self.loosen(operand, contrary)?));
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) => {
                return Ok(Expression::binary(*operator, self.loosen(left, change)?, self.loosen(right, change)?));
            }
            Expression::Binary(operator @ (Op::Equal | Op::NotEqual), left, right) => {
                if let Some(compared) = self.compared(left, right) {
                    for own in compared {
                        self.loosen(own, Change::None)?;
                    }
                    return match (operator, change) {
                        (Op::Equal, Change::ToTrue) | (Op::NotEqual, Change::ToFalse) => Ok(expression.clone()),
                        (_, Change::ToTrue) => Ok(constant(Op::Or, 1)),
                        (_, Change::ToFalse) => Ok(constant(Op::And, 0)),
                        (_, Change::None) => self.refuse("computes with whether counters are equal"),
                    };
                }
                // Whether a divisor of the domain's size divides a counter.
                if let Expression::Binary(Op::Remainder, counter, _) = &**left
                    && self.shifts(counter)
                    && **right == Expression::Constant(0)
                {
                    return Ok(expression.clone());
                }
            }
            Expression::Binary(Op::Subtract, left, right) if self.shifts(left) && self.shifts(right) => {
                return self.refuse("computes with the difference of counters");
            }
            Expression::Binary(Op::Remainder, left, _) if self.shifts(left) => {
                return self.refuse("computes with the remainder of a counter");
            }
            _ => {}
        }
        match expression {
            Expression::Unary(_, operand) => {
                self.loosen(operand, Change::None)?;
            }
            Expression::Binary(_, left, right) => {
                self.loosen(left, Change::None)?;
                self.loosen(right, Change::None)?;
            }
            _ => {}
        }
        Ok(expression.clone())
    }

    /// The parts of two expressions that are compared, if these are counters, or the difference of
    /// counters and what is none.
    fn compared<'e>(&self, left: &'e Expression, right: &'e Expression) -> Option<Vec<&'e Expression>> {
        if self.shifts(left) && self.shifts(right) {
            return Some(vec![left, right]);
        }
        let Expression::Binary(Op::Subtract, one, other) = self.before_cuts(left) else { return None };
        let is_difference = self.shifts(one) && self.shifts(other) && !self.reads_counters(right);
        is_difference.then(|| vec![&**one, &**other, right])
    }

    /// Whether a value shifts with a class.
    fn shifts(&self, expression: &Expression) -> bool {
        let instruction = self.program.thread(self.thread).instruction(self.instruction);
        match self.before_cuts(expression) {
            Expression::Register(register) => {
                let variable = Variable::Register(self.thread, instruction.source, *register);
                self.counters.members.contains_key(&variable)
            }
            Expression::Old => self.counters.accesses.contains_key(&(self.thread, self.instruction)),
            Expression::Binary(Op::Add, left, right) => self.shifts(left) || self.shifts(right),
            Expression::Binary(Op::Subtract, left, right) => self.shifts(left) && !self.shifts(right),
            _ => false,
        }
    }

    /// The expression of which one keeps low bits, as far as the size of the domain divides their
    /// number of values or is a multiple.
    fn before_cuts<'e>(&self, expression: &'e Expression) -> &'e Expression {
        let Some(domain) = self.counters.domain else { return expression };
        match low_bits(expression, Some(domain)) {
            Some((operand, bits, _)) if size(domain) % (1 << bits) == 0 || (1 << bits) % size(domain) == 0 => {
                self.before_cuts(operand)
            }
            _ => expression,
        }
    }

    fn reads_counters(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Unary(_, operand) => self.reads_counters(operand),
            Expression::Binary(_, left, right) => self.reads_counters(left) || self.reads_counters(right),
            own => self.shifts(own),
        }
    }
}

impl Watch {
    /// Rejects an expression that computes a value outside of the range which is no counter's.
    pub(super) fn over(
        &self,
        program: &Program,
        (thread, instruction): (ThreadId, InstructionId),
        expression: &Expression,
        registers: &[Value],
        old: Value,
    ) -> Result<(), CheckFailure> {
        let site = Site { counters: &self.counters, thread, program, instruction };
        self.walk(&site, expression, registers, old)
    }

    fn walk(
        &self,
        site: &Site<'_>,
        expression: &Expression,
        registers: &[Value],
        old: Value,
    ) -> Result<(), CheckFailure> {
        let is_counter = site.shifts(expression);
        // Differences stand in comparisons alone.
        if let Expression::Binary(Op::Subtract, left, right) = site.before_cuts(expression)
            && site.shifts(left)
            && site.shifts(right)
        {
            self.walk(site, left, registers, old)?;
            return self.walk(site, right, registers, old);
        }
        match expression {
            Expression::Unary(operator, operand) => {
                self.walk(site, operand, registers, old)?;
                if *operator == UnaryOperator::Not {
                    return Ok(());
                }
            }
            Expression::Binary(operator, left, right) => {
                for operand in [left, right] {
                    // What is added to a counter counts modulo the size of the domain.
                    if !(is_counter && operand.is_constant()) {
                        self.walk(site, operand, registers, old)?;
                    }
                }
                if is_truth(*operator) {
                    return Ok(());
                }
            }
            _ => {}
        }
        if is_counter {
            return Ok(());
        }
        let (low, high) = self.range;
        match expression.evaluate_with_old(registers, old, None) {
            Ok(value) if (low..=high).contains(&value) => Ok(()),
            Ok(value) => site.refuse(&format!("computes {value}, which is no counter's and outside of {low}..{high}")),
            Err(error) => site.refuse(&format!("computes what has no value: {error}")),
        }
    }
}

/// Whether an operator gives 0 or 1.
fn is_truth(operator: Op) -> bool {
    matches!(
        operator,
        Op::And | Op::Or | Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
    )
}

/// Whether an expression is 0 or 1.
fn is_truth_value(expression: &Expression) -> bool {
    match expression {
        Expression::Unary(operator, _) => *operator == UnaryOperator::Not,
        Expression::Binary(operator, ..) => is_truth(*operator),
        _ => false,
    }
}
