//! The steps of the whole net: those of each token, and those that take none.

use super::{InitialTokens, Instrumented, MemoryModel, Movers, number};
use crate::instrumented::fault::Fault;
use crate::lazy::{Entry, LazyNet, Step};
use palisade_model::limits::Limits;

impl<M: MemoryModel> Instrumented<'_, M> {
    /// Adds a step to those that are being listed.
    #[inline]
    pub(super) fn list(&mut self, step: Step) {
        self.step_arena.push(step);
    }

    /// The steps of one token, as a range of the step arena; computed once per control and place.
    pub(super) fn token_steps(&mut self, control: u32, place: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place)) {
            return Ok(*range);
        }
        let start = self.step_arena.len();
        let listed = M::token_steps(self, control, place);
        self.keep(start, listed)?;
        let range = (number(start), number(self.step_arena.len()));
        self.cache.insert((control, place), range);
        Ok(range)
    }

    /// The steps that take no token, as a range of their own arena; computed once per control.
    fn lone_steps(&mut self, control: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.lone_cache.get(&control) {
            return Ok(*range);
        }
        let start = self.step_arena.len();
        let listed = M::lone_steps(self, control);
        self.keep(start, listed)?;
        let first = number(self.lone_arena.len());
        self.lone_arena.extend(self.step_arena.drain(start..));
        let range = (first, number(self.lone_arena.len()));
        self.lone_cache.insert(control, range);
        Ok(range)
    }

    /// Keeps what was listed, unless a step has no value.
    fn keep(&mut self, start: usize, listed: Result<(), Fault>) -> Result<(), Fault> {
        if listed.is_err() {
            self.step_arena.truncate(start);
        }
        listed
    }

    /// The steps of a token on a place.
    pub(crate) fn steps_of(&mut self, control: u32, place: u32) -> Result<Vec<Step>, Fault> {
        let (start, end) = self.token_steps(control, place)?;
        Ok(self.step_arena[start as usize..end as usize].to_vec())
    }

    /// The steps that take no token, and whether no others are taken.
    pub(crate) fn steps_without_token(&mut self, control: u32) -> Result<(Vec<Step>, bool), Fault> {
        let movers = M::movers(self, self.control(control).phase);
        if movers == Movers::Tokens {
            return Ok((Vec::new(), false));
        }
        let (start, end) = self.lone_steps(control)?;
        Ok((self.lone_arena[start as usize..end as usize].to_vec(), movers == Movers::Lone))
    }
}

impl<M: MemoryModel> LazyNet for Instrumented<'_, M> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        self.overgrown()?;
        let movers = M::movers(self, self.control(control).phase);
        if movers != Movers::Tokens {
            let (start, end) = self.lone_steps(control)?;
            steps.extend_from_slice(&self.lone_arena[start as usize..end as usize]);
        }
        if movers == Movers::Lone {
            return Ok(());
        }
        for entry in entries {
            if entry.place == InitialTokens::SPARE && !M::COPIES_WAKE {
                for index in 0..self.spare_places.len() {
                    let (start, end) = self.token_steps(control, self.spare_places[index])?;
                    let started = self.step_arena[start as usize..end as usize].iter();
                    steps.extend(started.map(|step| Step { take: Some(InitialTokens::SPARE), ..*step }));
                }
            } else {
                let (start, end) = self.token_steps(control, entry.place)?;
                steps.extend_from_slice(&self.step_arena[start as usize..end as usize]);
            }
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        M::is_unbounded(self, place)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.token_steps(step.control, place)?;
        Ok(self.step_arena[start as usize..end as usize].contains(step))
    }

    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        self.turn(control, entries)
    }

    fn together(&mut self, first: u32, second: u32) -> u32 {
        self.turns_together(first, second)
    }

    fn orbit(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        self.turned_places(from, to, place)
    }

    fn make_room(&self, step: &Step, entries: &mut Vec<Entry>) {
        if !self.balances.is_empty() {
            self.leave_who_holds_no_more(step, entries);
        }
    }

    fn also_puts(&self, step: &Step) -> Option<u32> {
        M::also_puts(self, step)
    }
}
