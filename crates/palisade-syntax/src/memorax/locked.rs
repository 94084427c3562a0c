//! `locked { … or … }`: several accesses as one atomic step.
//!
//! Such a block needs an empty buffer if it writes; it becomes a locked section, or a locked update
//! where it loads and stores one variable. A block that only reads flushes nothing. It is a plain
//! load where it reads once, or where only one of the variables that it reads is ever written; else
//! a section, which is the same where the buffer is empty, and refused where it may not be.

use super::ast::{Labelled, Sequence, Statement, WriteKind};
use super::body::{Body, Target};
use super::lower::Between;
use super::values::{Fit, Interval, opposite};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, RegisterId};
use palisade_model::text::Span;

/// A locked update whose expression would have more parts than this becomes a section.
const MOST_PARTS: usize = 60;

/// What an attempt at a section has done so far.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// Where an attempt that fails leaves the section.
    failed: LabelId,
    /// Whether it has neither written nor assigned anything, so that it may end as if it had not
    /// begun.
    clean: bool,
}

impl<'s> Body<'_, 's> {
    /// A block `locked`.
    pub(super) fn locked(&mut self, alternatives: &[Sequence<'s>], between: Between, span: Span) -> Option<()> {
        self.check_contents(alternatives)?;
        if let [alternative] = alternatives
            && let [one] = alternative.as_slice()
        {
            match &one.statement {
                Statement::Write { place, value, .. } => {
                    return self.write(place, value, WriteKind::Locked, between, span);
                }
                Statement::Cas { place, expected, new } => return self.cas(place, [expected, new], between, span),
                _ => {}
            }
        }
        let errors = self.found.len();
        if self.update(alternatives, between, span).is_some() {
            return Some(());
        }
        self.found.truncate(errors);
        let writes = alternatives.iter().any(writes);
        if !writes && (alternatives.iter().map(reads).max() <= Some(1) || self.written_of(alternatives) <= 1) {
            for alternative in alternatives {
                self.sequence(alternative, Between { shared: true, ..between });
            }
            return Some(());
        }
        if !writes {
            let message = "this reads several variables at one moment, while stores may be buffered";
            let help = "a `fence` before the block makes sure that none is";
            self.drained.push((between.from, Diagnostic::error(message, span).with_help(help)));
        }
        self.section(alternatives, between, span);
        Some(())
    }

    /// Finds fault with what cannot stand in a locked block.
    fn check_contents(&mut self, alternatives: &[Sequence<'s>]) -> Option<()> {
        for labelled in alternatives.iter().flatten() {
            let mut refuse = |what: &str, span: Span| {
                let message = format!("{what} cannot stand in a locked block");
                self.found.push(Diagnostic::error(message, span));
            };
            if let Some(label) = labelled.label {
                refuse("a label", label.span);
                return None;
            }
            match &labelled.statement {
                Statement::Goto(_) => refuse("a jump", labelled.span),
                Statement::If { .. } => refuse("`if`", labelled.span),
                Statement::While { .. } => refuse("`while`", labelled.span),
                Statement::Either(_) => refuse("`either`", labelled.span),
                Statement::Fence | Statement::StoreFence => refuse("a fence", labelled.span),
                Statement::Locked(inner) => {
                    self.check_contents(inner)?;
                    continue;
                }
                Statement::Block(inner) => {
                    self.check_contents(std::slice::from_ref(inner))?;
                    continue;
                }
                _ => continue,
            }
            return None;
        }
        Some(())
    }

    /// How many of the variables that are read are ever written.
    fn written_of(&mut self, alternatives: &[Sequence<'s>]) -> usize {
        let mut cells = Vec::new();
        for place in alternatives.iter().flat_map(super::memory::places) {
            let errors = self.found.len();
            let target = self.target(place);
            self.found.truncate(errors);
            cells.extend(target.into_iter().flat_map(|target| target.cells).map(|(index, _)| index));
        }
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().filter(|index| self.memory.written[*index]).count()
    }

    /// A block that loads and stores one variable, as a locked update; nothing where it is
    /// something else.
    fn update(&mut self, alternatives: &[Sequence<'s>], between: Between, span: Span) -> Option<()> {
        let [alternative] = alternatives else { return None };
        let (first, rest) = alternative.split_first()?;
        let write = rest.iter().position(|it| matches!(it.statement, Statement::Write { .. }))?;
        let Statement::Write { place: written, value, .. } = &rest[write].statement else { return None };
        let assigns = rest.iter().enumerate().filter(|(index, _)| *index != write);
        if !assigns.into_iter().all(|(_, it)| matches!(it.statement, Statement::Assign { .. })) {
            return None;
        }
        let written = self.target(written)?;
        if written.exists != Fit::Always || written.cells.len() != 1 {
            return None;
        }
        match &first.statement {
            Statement::Await { place, value: expected } if write == 0 => {
                if self.target(place)?.address != written.address {
                    return None;
                }
                let (expected, new) = (self.expression(expected)?, self.expression(value)?);
                let fits = self.fits(&expected, &written).and(self.fits(&new, &written));
                let after = &rest[1..];
                let to = after.first().map_or(between.to, |next| self.begin(next));
                let from = self.guarded(fits, between, span)?;
                let tried = self.fresh(span);
                let (register, address) = (Some(self.seen()), written.address);
                self.emit(from, Action::Cas { register, address, expected: expected.clone(), new }, tried, span);
                self.until_seen(expected, tried, Between { to, ..between }, span);
                self.sequence(after, Between { from: to, to: between.to, shared: false });
            }
            Statement::Read { register, place } => {
                let register = self.register_named(*register)?;
                if self.target(place)?.address != written.address || self.read_fits(register, &written) != Fit::Always {
                    return None;
                }
                let new = self.stored(register.index(), &rest[..write], value, &written)?;
                let after: Vec<&Labelled<'s>> =
                    rest.iter().enumerate().filter(|(index, _)| *index != write).map(|(_, it)| it).collect();
                let mut here = Between { shared: false, ..between };
                here.to = after.first().map_or(between.to, |next| self.begin(next));
                let register = Some(register);
                self.emit(between.from, Action::Rmw { register, address: written.address, new }, here.to, span);
                for (index, labelled) in after.iter().enumerate() {
                    here.from = here.to;
                    here.to = after.get(index + 1).map_or(between.to, |next| self.begin(next));
                    self.labelled(labelled, here);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// What is stored, as an expression over the registers before the block and the value loaded
    /// into a register; nothing where an assignment or the store may not be possible.
    fn stored(
        &mut self,
        loaded: usize,
        assigns: &[Labelled<'s>],
        value: &super::ast::Expression<'s>,
        target: &Target,
    ) -> Option<Expression> {
        let (_, domain) = target.cells[0];
        let register = |index| Expression::Register(RegisterId::from_index(index));
        let mut values: Vec<Expression> = (0..self.registers.len()).map(register).collect();
        values[loaded] = Expression::Old;
        let inside = |body: &Self, value: &Expression, domain| {
            Interval::of_expression(value, &body.domains, target.cells[0].1).is_inside(Interval::of(domain))
        };
        for labelled in assigns {
            let Statement::Assign { register, value } = &labelled.statement else { return None };
            let (register, value) = (self.register_named(*register)?, self.expression(value)?);
            let value = substituted(&value, &values);
            if !inside(self, &value, self.domains[register.index()]) || parts(&value) > MOST_PARTS {
                return None;
            }
            values[register.index()] = value;
        }
        let value = substituted(&self.expression(value)?, &values);
        (inside(self, &value, domain) && parts(&value) <= MOST_PARTS).then_some(value)
    }

    /// A block as a locked section.
    fn section(&mut self, alternatives: &[Sequence<'s>], between: Between, span: Span) {
        let (inside, done, failed) = (self.fresh(span), self.fresh(span), self.fresh(span));
        self.emit(between.from, Action::Lock, inside, span);
        for alternative in alternatives {
            self.attempt(alternative, [inside, done], Attempt { failed, clean: true });
        }
        self.emit(done, Action::Unlock, between.to, span);
        if self.instructions.iter().any(|instruction| instruction.target == failed) {
            self.emit(failed, Action::Unlock, between.from, span);
        }
    }

    /// Statements inside of a section, between two labels; how far the attempt has come afterwards.
    fn attempt(&mut self, sequence: &[Labelled<'s>], [from, to]: [LabelId; 2], mut attempt: Attempt) -> Attempt {
        let mut here = from;
        for (index, labelled) in sequence.iter().enumerate() {
            let next = if index + 1 == sequence.len() { to } else { self.fresh(sequence[index + 1].span) };
            // What is wrong is recorded; then there is nothing to put here.
            attempt.clean &= self.step(labelled, [here, next], attempt).unwrap_or(false);
            here = next;
        }
        attempt
    }

    /// One statement inside of a section; whether the attempt stays clean.
    fn step(&mut self, labelled: &Labelled<'s>, [from, to]: [LabelId; 2], attempt: Attempt) -> Option<bool> {
        let span = labelled.span;
        let seen = self.seen;
        match &labelled.statement {
            Statement::Nop => self.emit(from, Action::Nop, to, span),
            Statement::Assume(condition) => {
                let condition = self.condition(condition)?;
                self.check_in_section(condition, [from, to], attempt, span);
            }
            Statement::Assign { register, value } => {
                let (register, value) = (self.register_named(*register)?, self.expression(value)?);
                let fit = Fit::of(&value, self.values(&value), self.domains[register.index()]);
                let from = self.fitting(fit, [from, to], attempt, span)?;
                self.emit(from, Action::Assign { register, value }, to, span);
                return Some(false);
            }
            Statement::Read { register, place } => {
                let (register, target) = (self.register_named(*register)?, self.target(place)?);
                let from = self.fitting(target.exists.clone(), [from, to], attempt, span)?;
                let fit = self.read_fits(register, &target);
                if fit == Fit::Always {
                    self.emit(from, Action::Load { register, address: target.address }, to, span);
                    return Some(false);
                }
                let loaded = self.fresh(span);
                self.emit(from, Action::Load { register: seen?, address: target.address }, loaded, span);
                let fitting = self.fitting(fit, [loaded, to], attempt, span)?;
                self.emit(fitting, Action::Assign { register, value: Expression::Register(seen?) }, to, span);
                return Some(false);
            }
            Statement::Await { place, value } => {
                let (target, value) = (self.target(place)?, self.expression(value)?);
                let from = self.fitting(target.exists, [from, to], attempt, span)?;
                let loaded = self.fresh(span);
                self.emit(from, Action::Load { register: seen?, address: target.address }, loaded, span);
                self.check_in_section(equal(seen?, value), [loaded, to], attempt, span);
            }
            Statement::Write { place, value, .. } => {
                let (target, value) = (self.target(place)?, self.expression(value)?);
                let fit = target.exists.clone().and(self.fits(&value, &target));
                let from = self.fitting(fit, [from, to], attempt, span)?;
                self.emit(from, Action::Store { address: target.address, value }, to, span);
                return Some(false);
            }
            Statement::Cas { place, expected, new } => {
                let target = self.target(place)?;
                let (expected, new) = (self.expression(expected)?, self.expression(new)?);
                let fit = target.exists.clone().and(self.fits(&new, &target));
                let from = self.fitting(fit, [from, to], attempt, span)?;
                let (loaded, expected_here) = (self.fresh(span), self.fresh(span));
                let address = target.address;
                self.emit(from, Action::Load { register: seen?, address: address.clone() }, loaded, span);
                self.check_in_section(equal(seen?, expected), [loaded, expected_here], attempt, span);
                self.emit(expected_here, Action::Store { address, value: new }, to, span);
                return Some(false);
            }
            Statement::Locked(alternatives) => {
                let all = alternatives.iter().map(|inner| self.attempt(inner, [from, to], attempt).clean);
                return Some(all.fold(true, |all, clean| all & clean));
            }
            Statement::Block(inner) => return Some(self.attempt(inner, [from, to], attempt).clean),
            _ => unreachable!("such statements are refused in locked blocks"),
        }
        Some(true)
    }

    /// Goes on when a condition holds. Else a clean attempt leaves the section as if it had not
    /// begun, and another one never ends: the block has not been executed then, which it need not
    /// be.
    fn check_in_section(&mut self, condition: Expression, [from, to]: [LabelId; 2], attempt: Attempt, span: Span) {
        self.emit(from, Action::Assume(condition.clone()), to, span);
        if attempt.clean {
            self.emit(from, Action::Assume(opposite(condition)), attempt.failed, span);
        }
    }

    /// The label where something fits, or nothing where it never does.
    fn fitting(&mut self, fit: Fit, [from, to]: [LabelId; 2], attempt: Attempt, span: Span) -> Option<LabelId> {
        match fit {
            Fit::Always => Some(from),
            Fit::When(condition) => {
                let fitting = self.fresh(span);
                self.check_in_section(condition, [from, fitting], attempt, span);
                Some(fitting)
            }
            Fit::Never => {
                self.check_in_section(Expression::Constant(0), [from, to], attempt, span);
                None
            }
        }
    }
}

fn equal(register: RegisterId, value: Expression) -> Expression {
    Expression::binary(BinaryOperator::Equal, Expression::Register(register), value)
}

/// Whether something is written.
fn writes(sequence: &Sequence<'_>) -> bool {
    let mut writes = false;
    super::memory::for_each_statement(sequence, &mut |statement| {
        writes |= matches!(statement, Statement::Write { .. } | Statement::Cas { .. });
    });
    writes
}

/// How many reads follow each other at most.
fn reads(sequence: &Sequence<'_>) -> usize {
    let of_statement = |labelled: &Labelled<'_>| match &labelled.statement {
        Statement::Read { .. } | Statement::Await { .. } => 1,
        Statement::Locked(alternatives) => alternatives.iter().map(reads).max().unwrap_or(0),
        Statement::Block(inner) => reads(inner),
        _ => 0,
    };
    sequence.iter().map(of_statement).sum()
}

/// An expression with others in place of registers.
fn substituted(expression: &Expression, values: &[Expression]) -> Expression {
    match expression {
        Expression::Register(register) => values[register.index()].clone(),
        Expression::Unary(operator, operand) => Expression::unary(*operator, substituted(operand, values)),
        Expression::Binary(operator, left, right) => {
            Expression::binary(*operator, substituted(left, values), substituted(right, values))
        }
        Expression::Constant(_) | Expression::Address { .. } | Expression::Old => expression.clone(),
    }
}

/// How many operators and operands an expression has.
fn parts(expression: &Expression) -> usize {
    match expression {
        Expression::Unary(_, operand) => 1 + parts(operand),
        Expression::Binary(_, left, right) => 1 + parts(left) + parts(right),
        Expression::Register(_) | Expression::Constant(_) | Expression::Address { .. } | Expression::Old => 1,
    }
}
