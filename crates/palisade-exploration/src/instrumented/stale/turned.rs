//! Configurations up to the turns of counters.
//!
//! What threads and addresses know does not depend on values, and success depends on them as a step
//! does: on whether the last event happens with the overwritten value, which is one of its address.
//! So turns commute with the steps of the instrumented program, the guess among them, if they turn
//! the overwritten value as well (docs/src/arm.md, "Counters"). The turn that a configuration takes
//! depends on its memory alone, which no guess changes.

use super::system::{Attack, Control, StaleSystem, Token};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Counting, InitialTokens, Memory, NO_TURN, Turned};
use crate::lazy::{Entry, put_together};
use palisade_evidence::StaleGoal;
use palisade_model::program::Copies;

/// A place that turns take to more places than this is not accelerated.
const MOST_TURNED: usize = 1 << 6;

impl StaleSystem<'_> {
    /// The system that is explored up to turns of counters. In integers all of these are whole.
    #[must_use]
    pub fn counting(mut self, counting: &Counting) -> Self {
        let copies = self.program().threads.iter().map(|thread| match thread.copies {
            Copies::Exactly(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Copies::Any => self.spare.map_or(0, |spare| spare as usize),
        });
        let copies = copies.fold(0, usize::saturating_add);
        self.locals.count(counting, copies);
        self.turned = Some(Box::new(Turned::new(counting.clone())));
        self
    }

    /// Whether what was assumed of computed addresses is not true, or nothing is turned, so that
    /// what was explored means nothing.
    pub fn turns_are_broken(&self) -> bool {
        self.turned.as_ref().is_none_or(|turned| turned.counting.is_broken() || turned.overgrown.is_some())
    }

    /// The fault that turns have led to more values than are admitted.
    pub(super) fn overgrown(&self) -> Result<(), Fault> {
        self.turned.as_ref().and_then(|turned| turned.overgrown.clone()).map_or(Ok(()), Err)
    }

    /// Stops turning where that would change what copies are that have not chosen their thread yet.
    pub(super) fn keep_spare_copies(&mut self) {
        let Some(turned) = &self.turned else { return };
        if self.spare_places.iter().any(|place| turned.moves(self.local(self.token(*place).local))) {
            self.turned = None;
        }
    }

    /// Turns a marking into the one that stands for it and all that turn into it; its control then,
    /// and the turn.
    pub(super) fn turn(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        if self.turned.is_none() {
            return (control, NO_TURN);
        }
        let (control, turn) = self.turned_control(control);
        for entry in entries.iter_mut() {
            entry.place = self.turned_place(turn, entry.place);
        }
        put_together(entries);
        (control, turn)
    }

    fn turned_control(&mut self, control: u32) -> (u32, u32) {
        let program = self.program();
        let Control { memory, attack } = self.control(control);
        let memory = self.memory(memory).changed.clone();
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        if let Some(known) = turned.controls.get(&control) {
            return *known;
        }
        let turn = turned.turn_of(program, &memory);
        let changed = turned.memory(program, turn, &memory);
        let attack = attack.map(|number| {
            let attack = self.attacks.get(number);
            let goal = match attack.goal {
                StaleGoal::Stale { old, is_update } => {
                    let old = old.map(|old| turned.at_address(turn, attack.address, old));
                    StaleGoal::Stale { old, is_update }
                }
                race @ StaleGoal::Race { .. } => race,
            };
            Attack { goal, ..attack.clone() }
        });
        let memory = self.memories.intern(Memory { changed }).0;
        let attack = attack.map(|attack| self.attacks.intern(attack).0);
        let after = self.controls.intern(Control { memory, attack }).0;
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        turned.controls.insert(control, (after, turn));
        (after, turn)
    }

    fn turned_place(&mut self, turn: u32, place: u32) -> u32 {
        if place == InitialTokens::SPARE {
            return place;
        }
        let turned = self.turned.as_ref().expect("only systems with counters turn");
        if let Some(known) = turned.places.get(&(turn, place)) {
            return *known;
        }
        let Token { local, view } = self.token(place);
        let local = self.local(local).clone();
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        let local = turned.local(&mut self.locals, turn, &local);
        let local = self.locals.table.intern(local).0;
        let after = self.tokens.intern(Token { local, view }).0;
        self.turned.as_mut().expect("only systems with counters turn").places.insert((turn, place), after);
        after
    }

    /// The places that a place is taken to by the turn between two turns, again and again, itself
    /// included: where values far behind are one, the place where that ends. None where there are
    /// many, or no end.
    pub(super) fn turned_places(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        let Some(turned) = &mut self.turned else { return vec![place] };
        let (turn, has_ends) = (turned.between(from, to), turned.counting.has_ends());
        let mut places = vec![place];
        for _ in 0..MOST_TURNED {
            let last = places[places.len() - 1];
            let next = self.turned_place(turn, last);
            match next == last || next == place {
                true if has_ends => return if next == last { vec![last] } else { Vec::new() },
                true => return places,
                false => places.push(next),
            }
        }
        Vec::new()
    }
}
