//! Accesses to memory: where an operand is, in one cell or in several.

use super::Emitter;
use crate::lift::abstraction::Abstract;
use crate::lift::cells::checked;
use crate::lift::contexts::Place;
use crate::lift::copies::{Copying, filled, words};
use crate::lift::decode::VectorPlace;
use crate::lift::environment::Environment;
use crate::lift::knowledge::{Knowledge, Loaded, Stretch};
use crate::lift::transfer::Spot;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Span, Value};
use palisade_syntax::x86::code::Code;
use palisade_syntax::x86::fold::{binary, truncate};
use palisade_syntax::x86::lowerer::{ASIDE, Operand, Piece, Slot};
use palisade_syntax::x86::{Access, Meaning};

/// The first temporary for parts of what is loaded.
pub(super) const FIRST_PART: u8 = 16;

/// The first temporary for words that a function copies.
const FIRST_COPY: u8 = 64;

/// An access to one cell, with the span of its place.
pub(super) type Part = (Action, Span);

impl Emitter<'_> {
    pub(super) fn operand(
        &mut self,
        spot: Spot,
        bytes: u8,
        access: &Access,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) -> Operand {
        match spot {
            Spot::Frame(offset) => match before.read_frame(offset, bytes) {
                Abstract::Constant(value) if *access == Access::Load => Operand::Constant(value),
                _ => Operand::Private(self.layout.pieces(offset, bytes)),
            },
            Spot::Constant(value) => Operand::Constant(value),
            Spot::Fixed(address) => Operand::Shared(Expression::Constant(address.cast_signed())),
            Spot::Parts(_) => unreachable!("parts are accessed one by one"),
            Spot::Part((address, whole), from) => {
                let piece = Piece { byte: 0, bytes: whole, from, bits: bytes * 8 };
                Operand::Part(Expression::Constant(address.cast_signed()), piece)
            }
            Spot::Computed(expression, _) => Operand::Shared(self.computed(&expression, place, knowledge)),
        }
    }

    /// A computed address, held to those that were seen where that is to be checked.
    fn computed(&mut self, expression: &Expression, place: Place, knowledge: &Knowledge<'_>) -> Expression {
        let sum = self.lowerer.of_atoms(expression, None);
        match knowledge.computed.get(&place.address) {
            Some(seen) if self.checks => checked(sum, &seen.addresses),
            _ => sum,
        }
    }

    /// The addresses of the parts of an access to a computed one, each with a place of its own, by
    /// which its cells are known.
    fn computed_parts(
        &mut self,
        expression: &Expression,
        parts: &[(u8, u8)],
        place: Place,
        knowledge: &Knowledge<'_>,
    ) -> Vec<(Expression, Span)> {
        let (address, text) =
            (self.computed(expression, place, knowledge), self.places[self.lowerer.span.start].1.clone());
        // Their cells lie in one word: the processor makes the access at once.
        self.divided.insert(self.lowerer.span.start, true);
        let mut addresses = Vec::new();
        for part in parts {
            let number = self.places.len();
            self.places.push((place, text.clone()));
            self.parts.insert(number, *part);
            let moved = binary(Op::Add, address.clone(), Expression::Constant(part.0.into()));
            addresses.push((moved, Span { start: number, end: number + 1 }));
        }
        addresses
    }

    /// The loads of what an operand in memory holds, into temporaries from a number on, and what it
    /// holds then.
    pub(super) fn loads(
        &mut self,
        first: u8,
        spot: Spot,
        bytes: u8,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) -> (Vec<Part>, Expression) {
        let span = self.lowerer.span;
        let stretches = match spot {
            Spot::Parts(stretches) => stretches,
            Spot::Computed(expression, parts) if parts.len() > 1 => {
                let addresses = self.computed_parts(&expression, &parts, place, knowledge);
                let (mut loads, mut sum) = (Vec::new(), Expression::Constant(0));
                for (((address, span), (at, bytes)), number) in addresses.into_iter().zip(&parts).zip(first..) {
                    let register = self.lowerer.slot(Slot::Temporary(number));
                    loads.push((Action::Load { register, address }, span));
                    let part = truncate(Expression::Register(register), bytes * 8, false);
                    let moved = binary(Op::ShiftLeft, part, Expression::Constant(Value::from(*at) * 8));
                    sum = binary(Op::BitOr, sum, moved);
                }
                return (loads, truncate(sum, bytes * 8, bytes == 8));
            }
            spot => {
                let operand = self.operand(spot, bytes, &Access::Load, place, before, knowledge);
                let register = self.lowerer.slot(Slot::Temporary(first));
                return match operand {
                    Operand::Constant(value) => (Vec::new(), Expression::Constant(value)),
                    Operand::Private(pieces) => (Vec::new(), self.lowerer.read_private(&pieces)),
                    Operand::Shared(address) => {
                        (vec![(Action::Load { register, address }, span)], Expression::Register(register))
                    }
                    Operand::Part(address, piece) => {
                        (vec![(Action::Load { register, address }, span)], piece.of(Expression::Register(register)))
                    }
                    Operand::Aside(_) | Operand::None => unreachable!("what is read has an operand"),
                };
            }
        };
        let (mut loads, mut sum) = (Vec::new(), Expression::Constant(0));
        for stretch in stretches {
            let part = match stretch.found {
                Loaded::Constant(value) => truncate(Expression::Constant(value), stretch.bytes * 8, false),
                Loaded::Cell((address, whole)) => {
                    let number = u8::try_from(loads.len()).expect("a few loads");
                    let register = self.lowerer.slot(Slot::Temporary(first + number));
                    loads.push((Action::Load { register, address: Expression::Constant(address.cast_signed()) }, span));
                    let piece = Piece { byte: 0, bytes: whole, from: stretch.into * 8, bits: stretch.bytes * 8 };
                    piece.of(Expression::Register(register))
                }
            };
            let moved = binary(Op::ShiftLeft, part, Expression::Constant(Value::from(stretch.at) * 8));
            sum = binary(Op::BitOr, sum, moved);
        }
        (loads, truncate(sum, bytes * 8, bytes == 8))
    }

    /// What an operand in memory holds once these loads are made, with its own among them.
    fn load_with(
        &mut self,
        actions: &mut Vec<Part>,
        spot: Spot,
        bytes: u8,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) -> Expression {
        let first = FIRST_PART + u8::try_from(actions.len()).expect("a few loads");
        let (loads, value) = self.loads(first, spot, bytes, place, before, knowledge);
        actions.extend(loads);
        value
    }

    /// Memory that a function copies, fills or compares.
    pub(super) fn copying(
        &mut self,
        copying: Copying,
        bytes: u16,
        spots: &[(Spot, u8)],
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) {
        let count = words(true, bytes).len();
        let (reads_first, reads_second) = copying.reads();
        let mut spots = spots.iter().cloned();
        let mut read = |own: &mut Self, actions: &mut Vec<Part>| -> Vec<(Expression, u8)> {
            let mut values = Vec::new();
            for (spot, length) in spots.by_ref().take(count) {
                values.push((own.load_with(actions, spot, length, place, before, knowledge), length));
            }
            values
        };
        let mut actions = Vec::new();
        let one = if reads_first { read(self, &mut actions) } else { Vec::new() };
        let two = if reads_second { read(self, &mut actions) } else { Vec::new() };
        self.in_any_order(std::mem::take(&mut actions));
        if !copying.writes() {
            let pairs: Vec<_> = one.into_iter().zip(two).map(|((one, length), (two, _))| (one, two, length)).collect();
            return self.set(Slot::Family(0), copying.compared(&pairs));
        }
        let returned = self.lowerer.value_of(Slot::Family(7));
        let second = self.lowerer.value_of(Slot::Family(6));
        let mut values = Vec::new();
        for (index, word) in (0u8..).zip(words(true, bytes)) {
            let value = match two.get(usize::from(index)) {
                Some((value, _)) => value.clone(),
                None => filled(second.clone(), word.bytes),
            };
            values.push(self.aside(FIRST_COPY + index, value));
        }
        for ((spot, length), value) in spots.zip(values) {
            actions.extend(self.stores(&value, spot, length, place, before, knowledge));
        }
        self.in_any_order(actions);
        self.set(Slot::Family(0), returned);
    }

    /// A value in a temporary, in case what it is computed from is written.
    fn aside(&mut self, number: u8, value: Expression) -> Expression {
        if value.is_constant() {
            return value;
        }
        let register = self.lowerer.slot(Slot::Temporary(number));
        self.lowerer.assign(Slot::Temporary(number), value);
        Expression::Register(register)
    }

    /// The stores of a value to an operand in memory; private memory is written at once.
    fn stores(
        &mut self,
        value: &Expression,
        spot: Spot,
        bytes: u8,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) -> Vec<Part> {
        let span = self.lowerer.span;
        let piece = |at: u8, bytes: u8| {
            let from = Expression::Constant(Value::from(at) * 8);
            truncate(binary(Op::ShiftRight, value.clone(), from), bytes * 8, bytes == 8)
        };
        if let Spot::Computed(expression, parts) = &spot
            && parts.len() > 1
        {
            let addresses = self.computed_parts(expression, parts, place, knowledge);
            let store = |((address, span), (at, bytes)): ((Expression, Span), &(u8, u8))| {
                (Action::Store { address, value: piece(*at, *bytes) }, span)
            };
            return addresses.into_iter().zip(parts).map(store).collect();
        }
        let Spot::Parts(stretches) = spot else {
            let access = Access::Store(value.clone());
            return match self.operand(spot, bytes, &access, place, before, knowledge) {
                Operand::Private(pieces) => {
                    self.lowerer.write_private(&pieces, value);
                    // The next part may be of the same word: what was known of it is no more.
                    let is_written = |slot: Slot| {
                        pieces.iter().any(|piece| slot == Slot::Private { byte: piece.byte, bytes: piece.bytes })
                    };
                    self.lowerer.known.retain(|(slot, _)| !is_written(*slot));
                    Vec::new()
                }
                Operand::Shared(address) => vec![(Action::Store { address, value: value.clone() }, span)],
                Operand::Part(..) | Operand::Constant(_) | Operand::Aside(_) | Operand::None => {
                    unreachable!("what is stored is of whole cells")
                }
            };
        };
        let store = |stretch: Stretch| {
            let Loaded::Cell((address, _)) = stretch.found else { unreachable!("what is stored to is a cell") };
            let address = Expression::Constant(address.cast_signed());
            (Action::Store { address, value: piece(stretch.at, stretch.bytes) }, span)
        };
        stretches.into_iter().map(store).collect()
    }

    /// An instruction of the table whose operand in memory is in several cells.
    pub(super) fn in_parts(
        &mut self,
        meaning: &Meaning,
        spot: Spot,
        bytes: u8,
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) {
        let mut loaded = Expression::Constant(0);
        if matches!(meaning.access, Access::Load | Access::LoadStore(_)) {
            let (loads, value) = self.loads(FIRST_PART, spot.clone(), bytes, place, before, knowledge);
            self.in_any_order(loads);
            loaded = value;
        }
        self.lowerer.effects(meaning, Operand::Aside(loaded));
        if matches!(meaning.access, Access::Store(_) | Access::LoadStore(_)) {
            let value = Expression::Register(self.lowerer.slot(ASIDE));
            let stores = self.stores(&value, spot, bytes, place, before, knowledge);
            self.in_any_order(stores);
        }
    }

    /// Accesses of one instruction, in any order: nothing says which.
    pub(super) fn in_any_order(&mut self, actions: Vec<Part>) {
        let span = self.lowerer.span;
        if actions.len() <= 1 {
            return self.each(actions);
        }
        // Nothing divides a word of 8 bytes but stores to less of it.
        let word = |(action, _): &Part| {
            action.address().filter(|own| own.is_constant())?.evaluate_address(&[]).ok().map(|address| address >> 3)
        };
        let words: Vec<_> = actions.iter().filter_map(word).collect();
        let is_at_once = words.iter().enumerate().any(|(index, word)| words[..index].contains(word));
        *self.divided.entry(span.start).or_default() |= is_at_once;
        // Control is where it is by which of them have been made.
        let all = (1usize << actions.len()) - 1;
        let labels: Vec<usize> = (0..=all).map(|_| self.fresh_label()).collect();
        for made in 0..all {
            self.lowerer.thread.code.push(Code::Mark(labels[made]));
            let left: Vec<usize> = (0..actions.len()).filter(|index| made >> index & 1 == 0).collect();
            for (position, index) in left.iter().enumerate() {
                let other = (position + 1 < left.len()).then(|| self.fresh_label());
                if let Some(other) = other {
                    self.lowerer.thread.code.push(Code::Choice(other, span));
                }
                self.each(vec![actions[*index].clone()]);
                self.lowerer.thread.code.push(Code::Jump(labels[made | 1 << index], span));
                if let Some(other) = other {
                    self.lowerer.thread.code.push(Code::Mark(other));
                }
            }
        }
        self.lowerer.thread.code.push(Code::Mark(labels[all]));
    }

    /// Accesses one after the other, each at its place.
    fn each(&mut self, actions: Vec<Part>) {
        let span = self.lowerer.span;
        for (action, own) in actions {
            self.lowerer.span = own;
            self.lowerer.act(action);
        }
        self.lowerer.span = span;
    }

    /// A copy through registers of 16 bytes: all parts are read, then all are written.
    #[allow(clippy::too_many_arguments, reason = "what a step is given")]
    pub(super) fn vector(
        &mut self,
        to: VectorPlace,
        from: VectorPlace,
        bytes: u8,
        spots: &[(Spot, u8)],
        place: Place,
        before: &Environment,
        knowledge: &Knowledge<'_>,
    ) {
        let count: u8 = if bytes == 16 { 2 } else { 1 };
        let (loads, stores) = match from {
            VectorPlace::Memory(_) => spots.split_at(usize::from(count)),
            _ => (&[][..], spots),
        };
        let (mut values, mut actions) = (Vec::new(), Vec::new());
        for index in 0..count {
            values.push(match from {
                VectorPlace::Vector(number) => self.lowerer.value_of(Slot::Vector { number, upper: index == 1 }),
                VectorPlace::General(family, _) => self.lowerer.value_of(Slot::Family(family)),
                VectorPlace::Memory(_) => {
                    let (spot, length) = loads[usize::from(index)].clone();
                    self.load_with(&mut actions, spot, length, place, before, knowledge)
                }
            });
        }
        self.in_any_order(std::mem::take(&mut actions));
        // Private memory and registers are copied aside, in case source and destination overlap.
        for (value, index) in values.iter_mut().zip(0u8..) {
            if count == 2 {
                *value = self.aside(12 + index, value.clone());
            }
            if bytes == 4 {
                *value = truncate(value.clone(), 32, false);
            }
        }
        for (value, index) in values.into_iter().zip(0u8..) {
            match to {
                VectorPlace::Vector(number) => self.set(Slot::Vector { number, upper: index == 1 }, value),
                VectorPlace::General(family, _) => self.set(Slot::Family(family), value),
                VectorPlace::Memory(_) => {
                    let (spot, length) = stores[usize::from(index)].clone();
                    actions.extend(self.stores(&value, spot, length, place, before, knowledge));
                }
            }
        }
        self.in_any_order(actions);
        if let (VectorPlace::Vector(number), true) = (to, bytes < 16) {
            self.set(Slot::Vector { number, upper: true }, Expression::Constant(0));
        }
    }
}
