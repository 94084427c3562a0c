//! From statements to instructions.
//!
//! A statement is put between two labels, where it begins and where it goes on. Statements that
//! wait – reads of a value, `cas` – go back to where they begin: the alternatives of an `either`
//! begin at one label, so that another one may be taken there.

use super::ast;
use super::ast::{Labelled, Name, Place, Statement, WriteKind};
use super::body::{Body, Target};
use super::values::{Fit, opposite};
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, RegisterId};
use palisade_model::text::Span;

/// Where a statement stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// The label where it begins.
    pub(super) from: LabelId,
    /// The label where it goes on.
    pub(super) to: LabelId,
    /// Whether others begin there as well.
    pub(super) shared: bool,
}

impl<'s> Body<'_, 's> {
    /// The label where a statement begins, if it has one already: its own, or that of a jump
    /// without one.
    fn entry(&mut self, labelled: &Labelled<'s>) -> Option<LabelId> {
        match (&labelled.label, &labelled.statement) {
            (Some(name), _) | (None, Statement::Goto(name)) => self.label_named(*name),
            (None, Statement::Block(sequence)) => self.entry(&sequence[0]),
            _ => None,
        }
    }

    /// The label where a statement begins.
    pub(super) fn begin(&mut self, labelled: &Labelled<'s>) -> LabelId {
        let errors = self.found.len();
        match self.entry(labelled) {
            Some(label) => label,
            None => {
                // A jump to nowhere is found fault with when it is put into place.
                self.found.truncate(errors);
                self.fresh(labelled.span)
            }
        }
    }

    /// Statements one after the other.
    pub(super) fn sequence(&mut self, sequence: &[Labelled<'s>], between: Between) {
        let mut here = between;
        for (index, labelled) in sequence.iter().enumerate() {
            here.to = match sequence.get(index + 1) {
                Some(next) => self.begin(next),
                None => between.to,
            };
            self.labelled(labelled, here);
            here = Between { from: here.to, to: between.to, shared: false };
        }
    }

    /// A statement that may have a label.
    pub(super) fn labelled(&mut self, labelled: &Labelled<'s>, mut between: Between) {
        let Labelled { label, statement, span } = labelled;
        if let Some(label) = label.and_then(|label| self.label_named(label))
            && label != between.from
        {
            self.emit(between.from, Action::Nop, label, *span);
            between = Between { from: label, shared: false, ..between };
        }
        // What is wrong is recorded; then there is nothing to put here.
        let _ = self.statement(statement, between, *span, label.is_some());
    }

    fn statement(&mut self, statement: &Statement<'s>, between: Between, span: Span, is_labelled: bool) -> Option<()> {
        let Between { from, to, .. } = between;
        match statement {
            Statement::Nop => self.emit(from, Action::Nop, to, span),
            Statement::Fence => self.emit(from, Action::Fence, to, span),
            Statement::StoreFence => self.emit(from, Action::StoreFence, to, span),
            Statement::Assume(condition) => {
                let condition = self.condition(condition)?;
                self.emit(from, Action::Assume(condition), to, span);
            }
            Statement::Goto(label) => {
                let target = self.label_named(*label)?;
                if is_labelled || target != from {
                    self.emit(from, Action::Nop, target, span);
                }
            }
            Statement::Assign { register, value } => self.assign(*register, value, between, span)?,
            Statement::Read { register, place } => self.read(*register, place, between, span)?,
            Statement::Await { place, value } => self.wait(place, value, between, span)?,
            Statement::Write { place, value, kind } => self.write(place, value, *kind, between, span)?,
            Statement::Cas { place, expected, new } => self.cas(place, [expected, new], between, span)?,
            Statement::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let condition = condition.unwrap_or(Expression::Constant(1));
                self.branch(condition.clone(), then, between, span);
                match otherwise {
                    Some(otherwise) => self.branch(opposite(condition), otherwise, between, span),
                    None => self.emit(from, Action::Assume(opposite(condition)), to, span),
                }
            }
            Statement::While { condition, body } => {
                let head = if between.shared { self.fresh(span) } else { from };
                if head != from {
                    self.emit(from, Action::Nop, head, span);
                }
                let condition = self.condition(condition).unwrap_or(Expression::Constant(1));
                let again = Between { from: head, to: head, shared: false };
                self.branch(condition.clone(), body, again, span);
                self.emit(head, Action::Assume(opposite(condition)), to, span);
            }
            Statement::Either(alternatives) => {
                for alternative in alternatives {
                    self.sequence(alternative, Between { shared: true, ..between });
                }
            }
            Statement::Locked(alternatives) => self.locked(alternatives, between, span)?,
            Statement::Block(sequence) => self.sequence(sequence, between),
        }
        Some(())
    }

    /// A statement behind a condition.
    fn branch(&mut self, condition: Expression, labelled: &Labelled<'s>, between: Between, span: Span) {
        let inside = self.begin(labelled);
        self.emit(between.from, Action::Assume(condition), inside, span);
        self.labelled(labelled, Between { from: inside, to: between.to, shared: false });
    }

    /// Puts an assumption before what follows, if one is needed: where that goes on from, or
    /// nothing where it never can.
    pub(super) fn guarded(&mut self, fit: Fit, between: Between, span: Span) -> Option<LabelId> {
        match fit {
            Fit::Always => Some(between.from),
            Fit::When(condition) => {
                let inside = self.fresh(span);
                self.emit(between.from, Action::Assume(condition), inside, span);
                Some(inside)
            }
            Fit::Never => {
                self.emit(between.from, Action::Assume(Expression::Constant(0)), between.to, span);
                None
            }
        }
    }

    /// `register := value`: waits for ever when the value does not fit.
    fn assign(&mut self, register: Name<'s>, value: &ast::Expression<'s>, between: Between, span: Span) -> Option<()> {
        let register = self.register_named(register);
        let value = self.expression(value)?;
        let register = register?;
        let fit = Fit::of(&value, self.values(&value), self.domains[register.index()]);
        let from = self.guarded(fit, between, span)?;
        self.emit(from, Action::Assign { register, value }, between.to, span);
        Some(())
    }

    /// `read: register := place`: waits while the value does not fit the register.
    fn read(&mut self, register: Name<'s>, place: &Place<'s>, between: Between, span: Span) -> Option<()> {
        let register = self.register_named(register);
        let target = self.target(place)?;
        let register = register?;
        let from = self.guarded(target.exists.clone(), between, span)?;
        let fit = self.read_fits(register, &target);
        if fit == Fit::Always {
            self.emit(from, Action::Load { register, address: target.address }, between.to, span);
            return Some(());
        }
        let seen = self.seen();
        let loaded = self.fresh(span);
        self.emit(from, Action::Load { register: seen, address: target.address }, loaded, span);
        self.emit_waiting(fit, loaded, between.from, span, |body, fitting| {
            let value = Expression::Register(seen);
            body.emit(fitting, Action::Assign { register, value }, between.to, span);
        });
        Some(())
    }

    /// Whether what is read at a place, in the register for it, fits another register.
    pub(super) fn read_fits(&self, register: RegisterId, target: &Target) -> Fit {
        let domain = self.domains[register.index()];
        let mut all = target.cells.iter().map(|(_, domain)| super::values::Interval::of(*domain));
        if all.all(|values| values.is_inside(super::values::Interval::of(domain))) {
            return Fit::Always;
        }
        let seen = Expression::Register(self.seen());
        Fit::of(&seen, super::values::Interval::of(None), domain)
    }

    /// Goes on from a label while something fits, else back.
    fn emit_waiting(
        &mut self,
        fit: Fit,
        here: LabelId,
        back: LabelId,
        span: Span,
        go_on: impl FnOnce(&mut Self, LabelId),
    ) {
        match fit {
            Fit::Always => go_on(self, here),
            Fit::Never => self.emit(here, Action::Nop, back, span),
            Fit::When(condition) => {
                let fitting = self.fresh(span);
                self.emit(here, Action::Assume(condition.clone()), fitting, span);
                self.emit(here, Action::Assume(opposite(condition)), back, span);
                go_on(self, fitting);
            }
        }
    }

    /// `read: place = value`: waits for the value.
    fn wait(&mut self, place: &Place<'s>, value: &ast::Expression<'s>, between: Between, span: Span) -> Option<()> {
        let target = self.target(place);
        let value = self.expression(value)?;
        let target = target?;
        let from = self.guarded(target.exists, between, span)?;
        let loaded = self.fresh(span);
        self.emit(from, Action::Load { register: self.seen(), address: target.address }, loaded, span);
        self.until_seen(value, loaded, between, span);
        Some(())
    }

    /// Goes on when the value seen is the expected one, else back.
    pub(super) fn until_seen(&mut self, expected: Expression, here: LabelId, between: Between, span: Span) {
        let seen = Expression::Register(self.seen());
        let equal = Expression::binary(BinaryOperator::Equal, seen, expected);
        self.emit(here, Action::Assume(equal.clone()), between.to, span);
        self.emit(here, Action::Assume(opposite(equal)), between.from, span);
    }

    /// A write: waits for ever when the value does not fit.
    pub(super) fn write(
        &mut self,
        place: &Place<'s>,
        value: &ast::Expression<'s>,
        kind: WriteKind,
        between: Between,
        span: Span,
    ) -> Option<()> {
        let target = self.target(place);
        let value = self.expression(value)?;
        let target = target?;
        let fit = target.exists.clone().and(self.fits(&value, &target));
        let from = self.guarded(fit, between, span)?;
        let fence = match kind {
            WriteKind::Plain => None,
            WriteKind::Locked => Some(Action::Fence),
            WriteKind::StoreLocked => Some(Action::StoreFence),
        };
        let written = if fence.is_some() { self.fresh(span) } else { between.to };
        self.emit(from, Action::Store { address: target.address, value }, written, span);
        if let Some(fence) = fence {
            self.emit(written, fence, between.to, span);
        }
        Some(())
    }

    /// `cas(place, expected, new)`: waits for the expected value.
    pub(super) fn cas(
        &mut self,
        place: &Place<'s>,
        [expected, new]: [&ast::Expression<'s>; 2],
        between: Between,
        span: Span,
    ) -> Option<()> {
        let target = self.target(place);
        let (expected, new) = (self.expression(expected), self.expression(new));
        let (target, expected, new) = (target?, expected?, new?);
        let fits = self.fits(&expected, &target).and(self.fits(&new, &target));
        let from = self.guarded(target.exists.clone().and(fits), between, span)?;
        let tried = self.fresh(span);
        let action =
            Action::Cas { register: Some(self.seen()), address: target.address, expected: expected.clone(), new };
        self.emit(from, action, tried, span);
        self.until_seen(expected, tried, between, span);
        Some(())
    }
}
