//! Sleeping at a word, and waking those who do.

use super::Emitter;
use crate::lift::contexts::Place;
use crate::lift::environment::Environment;
use crate::lift::futex::{ALL, Futex, INTERRUPTED, OTHER_VALUE, TIMED_OUT};
use crate::lift::knowledge::Knowledge;
use crate::lift::refusal::Objection;
use crate::lift::stubs::ERROR_NUMBER;
use crate::lift::transfer::Spot;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Span, Value};
use palisade_syntax::x86::code::Code;
use palisade_syntax::x86::fold::{binary, not, truncate};
use palisade_syntax::x86::lowerer::{Operand, Slot};
use palisade_syntax::x86::{Access, Atom};

impl Emitter<'_> {
    /// A call of `futex`. The language says nothing of it: there it is a fence, and a wait reads
    /// the word.
    pub(super) fn futex(
        &mut self,
        futex: Futex,
        spot: Spot,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) {
        let bytes = Futex::WORD.bytes;
        let Operand::Shared(address) = self.operand(spot, bytes, &Access::None, place, before, knowledge) else {
            unreachable!("who sleeps does so at a cell of its own")
        };
        match futex {
            Futex::Wait { is_timed } => self.wait(address, is_timed, !knowledge.is_by_language),
            Futex::Wake { .. } if knowledge.is_by_language => self.lowerer.act(Action::Fence),
            Futex::Wake { all } => self.wake(address, all),
            Futex::WakeCounted if knowledge.is_by_language => self.lowerer.act(Action::Fence),
            Futex::WakeCounted => self.wake_counted(&address),
        }
        if !knowledge.is_by_language {
            self.futexes.insert(self.lowerer.span.start, futex);
        }
    }

    /// One sleeper goes on, or all, as a register says: each at a place of its own. With another
    /// number the code is not understood.
    fn wake_counted(&mut self, address: &Expression) {
        let count = truncate(Atom::Family(Futex::NUMBER_OR_VALUE).expression(), 32, false);
        let count = self.lowerer.of_atoms(&count, None);
        let span = self.lowerer.span;
        let [all, other, end] = std::array::from_fn(|_| self.fresh_label());
        let is_one = binary(Op::Equal, count.clone(), Expression::Constant(1));
        self.lowerer.thread.code.push(Code::Branch(not(is_one), all, span));
        self.wake_at_own_place(address, false);
        self.lowerer.thread.code.push(Code::Jump(end, span));
        self.lowerer.thread.code.push(Code::Mark(all));
        let is_other = binary(Op::Less, count, Expression::Constant(ALL));
        self.lowerer.thread.code.push(Code::Branch(is_other, other, span));
        self.wake_at_own_place(address, true);
        self.lowerer.thread.code.push(Code::Jump(end, span));
        self.lowerer.thread.code.push(Code::Mark(other));
        self.not_understood(Objection::new("`futex` wakes more than one, and not all"));
        self.lowerer.thread.code.push(Code::Mark(end));
    }

    fn wake_at_own_place(&mut self, address: &Expression, all: bool) {
        let span = self.lowerer.span;
        let number = self.places.len();
        self.places.push(self.places[span.start].clone());
        self.lowerer.span = Span { start: number, end: number + 1 };
        self.futexes.insert(number, Futex::Wake { all });
        self.wake(address.clone(), all);
        self.lowerer.span = span;
    }

    fn wait(&mut self, address: Expression, is_timed: bool, may_sleep: bool) {
        let span = self.lowerer.span;
        let expected = truncate(Atom::Family(Futex::NUMBER_OR_VALUE).expression(), 32, false);
        let expected = self.lowerer.of_atoms(&expected, None);
        let register = self.lowerer.slot(Slot::Temporary(0));
        let is_expected = binary(Op::Equal, Expression::Register(register), expected.clone());
        let [awake, other, woken, end] = std::array::from_fn(|_| self.fresh_label());
        if may_sleep {
            self.lowerer.thread.code.push(Code::Choice(awake, span));
            let new = expected.clone();
            self.lowerer.act(Action::Cas { register: Some(register), address: address.clone(), expected, new });
            self.lowerer.thread.code.push(Code::Branch(is_expected.clone(), woken, span));
            self.fails(&[OTHER_VALUE], end);
        }
        self.lowerer.thread.code.push(Code::Mark(awake));
        self.lowerer.act(Action::Fence);
        self.lowerer.act(Action::Load { register, address });
        self.lowerer.thread.code.push(Code::Branch(not(is_expected), other, span));
        if !may_sleep {
            self.lowerer.thread.code.push(Code::Choice(woken, span));
        }
        self.fails(if is_timed { &[INTERRUPTED, TIMED_OUT] } else { &[INTERRUPTED] }, end);
        self.lowerer.thread.code.push(Code::Mark(other));
        self.fails(&[OTHER_VALUE], end);
        self.lowerer.thread.code.push(Code::Mark(woken));
        self.set(Slot::Family(0), Expression::Constant(0));
        self.lowerer.thread.code.push(Code::Mark(end));
    }

    /// The call fails with one of these errors, and control goes on.
    fn fails(&mut self, errors: &[Value], end: usize) {
        let span = self.lowerer.span;
        self.set(Slot::Family(0), Expression::Constant(-1));
        let pieces = self.layout.pieces(ERROR_NUMBER, 4);
        self.lowerer.known.clear();
        for (index, error) in errors.iter().enumerate() {
            let another = self.fresh_label();
            if index + 1 < errors.len() {
                self.lowerer.thread.code.push(Code::Choice(another, span));
            }
            self.lowerer.write_private(&pieces, &Expression::Constant(*error));
            self.lowerer.thread.code.push(Code::Jump(end, span));
            self.lowerer.thread.code.push(Code::Mark(another));
        }
    }

    /// How many of one were woken is any number: its places are noted, for what rests on that.
    fn wake(&mut self, address: Expression, all: bool) {
        let span = self.lowerer.span;
        self.lowerer.act(Action::Rmw { register: None, address, new: Expression::Old });
        if all {
            return;
        }
        let number = self.places.len();
        self.places.push(self.places[span.start].clone());
        self.guesses.insert(number);
        self.lowerer.span = Span { start: number, end: number + 1 };
        let [nobody, end] = std::array::from_fn(|_| self.fresh_label());
        self.lowerer.thread.code.push(Code::Choice(nobody, span));
        self.set(Slot::Family(0), Expression::Constant(1));
        self.lowerer.thread.code.push(Code::Jump(end, span));
        self.lowerer.thread.code.push(Code::Mark(nobody));
        self.set(Slot::Family(0), Expression::Constant(0));
        self.lowerer.thread.code.push(Code::Mark(end));
        self.lowerer.span = span;
    }
}
