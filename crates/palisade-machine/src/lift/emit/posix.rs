//! Taking and giving back what POSIX has, and sleeping at its condition variables.

use super::Emitter;
use crate::lift::posix::{Effect, Held, Posix, Trial};
use crate::lift::stubs::ERROR_NUMBER;
use palisade_model::program::{Action, Expression, Span, Value};
use palisade_syntax::x86::code::Code;
use palisade_syntax::x86::fold::{not, rebuilt};
use palisade_syntax::x86::lowerer::Slot;

impl Emitter<'_> {
    /// A call, with the addresses of its operands. A language has no sleepers: there a wait gives
    /// the mutex back and takes it again, and who wakes sleepers does nothing.
    pub(super) fn posix(&mut self, posix: Posix, addresses: &[Expression], is_by_language: bool) {
        let address = addresses[0].clone();
        let returned = Slot::Family(0);
        match posix {
            Posix::Take(held, trial) => self.take_lock(posix, held, trial, address),
            Posix::Give(held) => {
                self.note_effect(Effect::Give);
                self.lowerer.act(Action::Rmw { register: None, address, new: held.given() });
                self.set(returned, Expression::Constant(0));
            }
            Posix::Wake { .. } if is_by_language => self.set(returned, Expression::Constant(0)),
            Posix::Wake { all } => {
                self.note_effect(Effect::Wake { all });
                self.lowerer.act(Action::Rmw { register: None, address, new: Expression::Old });
                self.set(returned, Expression::Constant(0));
            }
            Posix::Sleep { is_timed } => {
                let (mutex, condition) = (addresses[1].clone(), address.evaluate_address(&[]));
                let address = condition.expect("a known condition variable");
                self.note_effect(if is_by_language { Effect::Give } else { Effect::Sleep { address, is_timed } });
                self.lowerer.act(Action::Rmw { register: None, address: mutex.clone(), new: Expression::Constant(0) });
                self.at_own_place(|own| {
                    own.take_lock(Posix::Take(Held::Mutex, Trial::Waits), Held::Mutex, Trial::Waits, mutex)
                });
                self.may_be_late(posix);
            }
        }
    }

    /// Says what the instruction that comes next does about waiting.
    fn note_effect(&mut self, effect: Effect) {
        self.effects.insert(self.lowerer.span.start, effect);
    }

    /// Writes code at a place of its own, with the text of the current one.
    fn at_own_place(&mut self, write: impl FnOnce(&mut Self)) {
        let span = self.lowerer.span;
        let number = self.places.len();
        self.places.push(self.places[span.start].clone());
        self.lowerer.span = Span { start: number, end: number + 1 };
        write(self);
        self.lowerer.span = span;
    }

    fn take_lock(&mut self, posix: Posix, held: Held, trial: Trial, address: Expression) {
        let span = self.lowerer.span;
        let register = self.lowerer.slot(Slot::Temporary(0));
        let old = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
        let is_free = rebuilt(&held.is_free(), &old);
        let [again, without, end] = std::array::from_fn(|_| self.fresh_label());
        if let Some((number, error)) = posix.failure() {
            let goes = self.fresh_label();
            self.lowerer.thread.code.push(Code::Choice(goes, span));
            if trial == Trial::GoesOn {
                // It only looks, which orders nothing.
                self.note_effect(Effect::Look);
                self.lowerer.act(Action::Load { register, address: address.clone() });
                self.lowerer.thread.code.push(Code::Branch(is_free.clone(), goes, span));
            }
            self.lowerer.thread.code.push(Code::Mark(without));
            self.goes_without(number, error);
            self.lowerer.thread.code.push(Code::Jump(end, span));
            self.lowerer.thread.code.push(Code::Mark(goes));
        }
        let try_it = |own: &mut Self| {
            own.lowerer.thread.code.push(Code::Mark(again));
            own.note_effect(match trial {
                Trial::GoesOn => Effect::Try,
                Trial::Waits | Trial::WaitsForSomeTime => Effect::Until(held.is_free(), trial),
            });
            own.lowerer.act(held.taken(register, address.clone()));
            let otherwise = if trial == Trial::GoesOn { without } else { again };
            let span = own.lowerer.span;
            own.lowerer.thread.code.push(Code::Branch(not(is_free), otherwise, span));
            own.set(Slot::Family(0), Expression::Constant(0));
        };
        // The look before it has the place of the call.
        if trial == Trial::GoesOn {
            self.at_own_place(try_it)
        } else {
            try_it(self)
        }
        self.lowerer.thread.code.push(Code::Mark(end));
    }

    /// The call returns without what it wanted.
    fn goes_without(&mut self, number: Value, error: Option<Value>) {
        self.set(Slot::Family(0), Expression::Constant(number));
        if let Some(error) = error {
            let pieces = self.layout.pieces(ERROR_NUMBER, 4);
            self.lowerer.known.clear();
            self.lowerer.write_private(&pieces, &Expression::Constant(error));
        }
    }

    /// The call returns, and says that the time was up or not.
    fn may_be_late(&mut self, posix: Posix) {
        let span = self.lowerer.span;
        let [late, end] = std::array::from_fn(|_| self.fresh_label());
        if let Some((number, error)) = posix.failure() {
            self.lowerer.thread.code.push(Code::Choice(late, span));
            self.set(Slot::Family(0), Expression::Constant(0));
            self.lowerer.thread.code.push(Code::Jump(end, span));
            self.lowerer.thread.code.push(Code::Mark(late));
            self.goes_without(number, error);
        } else {
            self.set(Slot::Family(0), Expression::Constant(0));
        }
        self.lowerer.thread.code.push(Code::Mark(end));
    }
}
