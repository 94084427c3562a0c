//! Spinlocks of the Linux kernel, and read sections with the grace periods that wait for them.
//!
//! `spin_lock` waits for a `cmpxchg` that takes the lock, and `spin_unlock` is a store that
//! releases, as on x86.
//!
//! *Grace periods.* The law of RCU: no read section begins before a grace period and ends behind it
//! [ASPLOS18]. On the machine, each processor passes a *quiescent state* between the two: a point
//! outside of its sections at which its store buffer is empty. Just that is what a test is read as.
//! For each `synchronize_rcu` and each other thread with sections there is a hidden location, 0 at
//! first. `synchronize_rcu` is a full fence, sets it to 1, waits until it is 2, and is a full fence
//! again. At each point outside of its sections such a thread may, by one locked instruction, make
//! 1 to 2. A point stands before each access, and at the end. `rcu_read_lock` and `rcu_read_unlock`
//! are no instructions. SRCU is read alike, for the sections of one `srcu_struct`.

use super::body::{Read, Reader, statement};
use super::calls::{Called, Returned, fence, load, store, update, word};
use super::graces::{Grace, SectionCall, section_call};
use super::locations::Locations;
use super::types::{INT, Typed};
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::braced::{Block, Statement, StatementKind};
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

impl<'s> Reader<'_, 's> {
    /// A call of a spinlock; nothing if it is none.
    pub(super) fn of_locks(&mut self, name: Name<'s>) -> Read<Option<Called<'s>>> {
        let bare = name.text.strip_prefix("raw_").unwrap_or(name.text);
        let bare = bare.strip_suffix("_irq").or(bare.strip_suffix("_bh")).unwrap_or(bare);
        if !matches!(bare, "spin_lock" | "spin_unlock" | "spin_trylock" | "spin_is_locked") {
            return Ok(None);
        }
        let place = self.location()?;
        let span = name.span.to(self.here());
        let number = |value: i128| RawExpression::new(ExpressionKind::Constant(value), name.span);
        Ok(Some(match bare {
            "spin_is_locked" => Called::Load(load(place, Ordering::Relaxed, span)),
            "spin_unlock" => Called::Statement(store(place, number(0), Ordering::Release, span)),
            _ => {
                let words = [word(Ordering::Acquire, name.span), word(Ordering::Relaxed, name.span)];
                let operands = [place.raw, number(0), number(1)].into_iter().chain(words).collect();
                let taken = update("cas", operands, span);
                if bare == "spin_trylock" {
                    let free = Typed::known(0, INT, name.span);
                    Called::Update { raw: taken, cell: INT, outcome: Returned::Is(free) }
                } else {
                    let mut condition = RawExpression::binary(BinaryOperator::Equal, taken, number(0));
                    (condition.span, condition.extent) = (span, span);
                    Called::Statement(StatementKind::Await(condition))
                }
            }
        }))
    }

    /// A call about read sections; nothing if it is none.
    pub(super) fn of_rcu(&mut self, name: Name<'s>) -> Read<Option<Called<'s>>> {
        let Some((call, is_named)) = section_call(name.text) else { return Ok(None) };
        let domain = if is_named {
            self.take("&");
            Some(self.name("the name of an `srcu_struct`")?.text.to_owned())
        } else {
            None
        };
        let is_open = self.sections.open.iter().any(|(own, _)| *own == domain);
        match call {
            SectionCall::Lock => {
                self.sections.open.push((domain, name.span));
                // Which number `srcu_read_lock` gives matters to `srcu_read_unlock` alone.
                Ok(Some(Called::Load(Typed::known(0, INT, name.span))))
            }
            SectionCall::Unlock => {
                if is_named {
                    self.expect(",")?;
                    let value = self.nested(Self::expression)?;
                    self.fitted(value, INT, None)?;
                }
                let Some(last) = self.sections.open.iter().rposition(|(own, _)| *own == domain) else {
                    let message = "no read section is open that this could end";
                    return Err(Diagnostic::error(message, name.span));
                };
                self.sections.open.remove(last);
                Ok(Some(Called::Statement(StatementKind::Empty)))
            }
            SectionCall::Synchronize if is_open => {
                let message = "this waits for the read section that it stands in, for ever";
                Err(Diagnostic::error(message, name.span).with_help("wait behind the section"))
            }
            SectionCall::Synchronize if self.sections.loops > 0 => {
                let message = "a grace period in a loop is not understood";
                Err(Diagnostic::error(message, name.span).with_help("write each round out"))
            }
            SectionCall::Synchronize => Ok(Some(self.grace_period(name))),
        }
    }

    /// `synchronize_rcu()`.
    fn grace_period(&mut self, name: Name<'s>) -> Called<'s> {
        let locations: &'s Locations = self.locations;
        let thread = self.thread;
        let own = locations.graces.iter().filter(|grace| grace.thread == thread).nth(self.sections.waited);
        self.sections.waited += 1;
        let readers = own.map_or(&[][..], |grace| &grace.readers);
        let span = name.span.to(self.here());
        if readers.is_empty() {
            return fence(Ordering::SeqCst, span);
        }
        let place = |reader: &'s (u32, String)| RawExpression::new(ExpressionKind::Name(reader.1.as_str()), span);
        let number = |value: i128| RawExpression::new(ExpressionKind::Constant(value), span);
        let full_fence = |span| update("fence", vec![word(Ordering::SeqCst, span)], span);
        let mut kinds = vec![StatementKind::Effect(full_fence(span))];
        for reader in readers {
            let request = update("xchg", vec![place(reader), number(1), word(Ordering::SeqCst, span)], span);
            kinds.push(StatementKind::Effect(request));
        }
        let mut statements: Vec<Statement<'s>> = kinds.into_iter().map(|kind| statement(kind, span, span)).collect();
        for reader in readers {
            // One that waits is outside of its sections.
            self.pass_quiescent(span, &mut statements);
            let granted = update("load", vec![place(reader), word(Ordering::Acquire, span)], span);
            let condition = RawExpression::binary(BinaryOperator::Equal, granted, number(2));
            statements.push(statement(StatementKind::Await(condition), span, span));
        }
        statements.push(statement(StatementKind::Effect(full_fence(span)), span, span));
        Called::Statement(StatementKind::Block(Block { statements, span }))
    }

    /// The hidden locations by which the thread tells grace periods that it is outside of their
    /// sections now.
    fn duties(&self) -> Vec<&'s str> {
        let locations: &'s Locations = self.locations;
        let is_outside = |grace: &&'s Grace| self.sections.open.iter().all(|(own, _)| *own != grace.domain);
        let graces = locations.graces.iter().filter(is_outside);
        let readers = graces.flat_map(|grace| &grace.readers);
        readers.filter(|(reader, _)| *reader == self.thread).map(|(_, name)| name.as_str()).collect()
    }

    /// Adds a point at which the thread may pass a quiescent state.
    pub(super) fn pass_quiescent(&self, span: Span, statements: &mut Vec<Statement<'s>>) {
        statements.extend(quiescent(&self.duties(), Span { start: span.start, end: span.start }));
    }

    /// Adds such a point before the statements from a number on, if these access memory: those in a
    /// read section have none.
    pub(super) fn may_pass_before(
        &self,
        (first, accesses, duties): (usize, usize, Vec<&'s str>),
        start: Span,
        statements: &mut Vec<Statement<'s>>,
    ) -> Read<()> {
        if duties.is_empty() || self.accesses == accesses {
            return Ok(());
        }
        if self.accesses > accesses + 1 {
            return Err(several(start));
        }
        let point = quiescent(&duties, Span { start: start.start, end: start.start });
        statements.splice(first..first, point);
        Ok(())
    }

    /// The names for [`may_pass_before`](Self::may_pass_before) as they are before a statement.
    pub(super) fn before_statement(&self, statements: &[Statement<'s>]) -> (usize, usize, Vec<&'s str>) {
        (statements.len(), self.accesses, self.duties())
    }

    /// Refuses a condition that reads memory again and again where a quiescent state may be passed
    /// in between.
    pub(super) fn reads_no_memory(&self, accesses: usize, start: Span) -> Read<()> {
        if self.accesses == accesses || self.duties().is_empty() { Ok(()) } else { Err(several(start)) }
    }

    /// Reads the body of a branch or of a loop, in which as many sections begin as end.
    pub(super) fn inside<T>(&mut self, start: Span, is_loop: bool, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let open = self.sections.open.clone();
        self.sections.loops += usize::from(is_loop);
        let result = read(self)?;
        self.sections.loops -= usize::from(is_loop);
        if self.sections.open != open {
            let message = "a read section begins and ends in one block";
            return Err(Diagnostic::error(message, start).with_help("put its beginning or its end beside the other"));
        }
        Ok(result)
    }
}

/// A point at which quiescent states are passed for any of these locations, each by a locked
/// instruction, in any order.
fn quiescent<'s>(duties: &[&'s str], span: Span) -> Option<Statement<'s>> {
    let block = |kind| Block { statements: vec![statement(kind, span, span)], span };
    let number = |value: i128| RawExpression::new(ExpressionKind::Constant(value), span);
    let pass = |name: &'s str| {
        let place = RawExpression::new(ExpressionKind::Name(name), span);
        let words = [word(Ordering::SeqCst, span), word(Ordering::Relaxed, span)];
        let operands = [place, number(1), number(2)].into_iter().chain(words).collect();
        let condition = RawExpression::binary(BinaryOperator::Equal, update("cas", operands, span), number(1));
        block(StatementKind::Await(condition))
    };
    let kind = match duties {
        [] => return None,
        [only] => StatementKind::Choose(vec![block(StatementKind::Empty), pass(only)]),
        several => {
            let ways = std::iter::once(block(StatementKind::Break)).chain(several.iter().copied().map(pass));
            StatementKind::Loop(block(StatementKind::Choose(ways.collect())))
        }
    };
    Some(statement(kind, span, span))
}

fn several(span: Span) -> Diagnostic {
    Diagnostic::error("a quiescent state may be passed between the accesses of this statement", span)
        .with_help("write one access in each statement outside of read sections: `r1 = READ_ONCE(*x);`")
}
