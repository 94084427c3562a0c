//! Whether a copy rests: by what it does alone while memory stays as it is.

use super::copies::{Control, Threads};
use crate::CheckFailure;
use palisade_model::program::{Patience, Value};
use std::collections::BTreeSet;

/// What becomes of a copy with nothing in its buffer while memory stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// It may do something.
    None,
    /// It waits or sleeps, and must not do so for ever.
    Hangs,
    /// It may wait for ever: it is a copy of a daemon, or what it looks at is marked `idle`.
    MayWait,
}

impl Threads<'_> {
    /// The addresses at which copies sleep.
    pub(super) fn sleepers(&self, tokens: &[(u32, u64)]) -> Result<BTreeSet<Value>, CheckFailure> {
        let mut found = BTreeSet::new();
        for (state, _) in tokens {
            found.extend(self.slept_at(*state)?);
        }
        Ok(found)
    }

    /// Whether a copy rests beside others that sleep at some addresses: it sleeps, or alone, while
    /// memory stays as it is, does nothing on any way, nor wakes one of them, nor can an `assume`
    /// stop it. To give back the lock that it holds is to do something. Where time runs out it does
    /// not rest.
    pub(super) fn rest(
        &mut self,
        control: Control,
        number: u32,
        sleepers: &BTreeSet<Value>,
    ) -> Result<Rest, CheckFailure> {
        let state = self.states.get(number).clone();
        let thread = self.program.thread(state.local.thread);
        let rests = |is_idle: bool| if is_idle || thread.is_daemon { Rest::MayWait } else { Rest::Hangs };
        if let Some(by) = state.asleep {
            return Ok(match thread.instruction(by).patience() {
                Patience::Timed => Rest::None,
                Patience::Idle => rests(true),
                Patience::Finite => rests(false),
            });
        }
        let mut round = Round::new((control, number));
        while let Some((control, number)) = round.next() {
            let label = self.states.get(number).local.label;
            let here = thread.instructions.iter().filter(|own| Some(own.source) == label);
            round.reads(here.filter(|own| own.action.address().is_some()).map(|own| own.patience()));
            let ways = self.ways(control, number)?;
            if ways.may_be_stopped {
                return Ok(Rest::None);
            }
            for way in &ways.all {
                let wakes_one = way.wakes.is_some_and(|(address, _)| sleepers.contains(&address));
                let Some(to) = way.to.filter(|_| !way.does_something && !wakes_one) else { return Ok(Rest::None) };
                if state.local.holding && !self.states.get(to).local.holding {
                    return Ok(Rest::None);
                }
                round.leads_to((way.control, to));
            }
        }
        if round.is_timed() {
            return Ok(Rest::None);
        }
        Ok(rests(round.may_last()))
    }
}

/// Where a copy goes alone, one point after the other.
pub(super) struct Round<P> {
    points: Vec<P>,
    /// For each point looked at, what is read there, and where it leads.
    looked: Vec<(Vec<Patience>, BTreeSet<usize>)>,
}

impl<P: Clone + PartialEq> Round<P> {
    pub(super) fn new(first: P) -> Self {
        Self { points: vec![first], looked: Vec::new() }
    }

    /// The next point to look at.
    pub(super) fn next(&mut self) -> Option<P> {
        let next = self.points.get(self.looked.len()).cloned()?;
        self.looked.push((Vec::new(), BTreeSet::new()));
        Some(next)
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Notes with which patience the point reads.
    pub(super) fn reads(&mut self, patiences: impl Iterator<Item = Patience>) {
        if let Some((reads, _)) = self.looked.last_mut() {
            reads.extend(patiences);
        }
    }

    /// Notes where the point leads.
    pub(super) fn leads_to(&mut self, point: P) {
        let number = self.points.iter().position(|own| *own == point).unwrap_or_else(|| {
            self.points.push(point);
            self.points.len() - 1
        });
        if let Some((_, after)) = self.looked.last_mut() {
            after.insert(number);
        }
    }

    /// Whether time runs out somewhere.
    pub(super) fn is_timed(&self) -> bool {
        self.looked.iter().any(|(reads, _)| reads.contains(&Patience::Timed))
    }

    /// All that a point leads to, in any number of steps, itself included.
    fn behind(&self, point: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![point];
        while let Some(point) = open.pop() {
            if found.insert(point) {
                open.extend(&self.looked[point].1);
            }
        }
        found
    }

    /// Whether the copy may go on like this for ever: wherever it goes round at last, it reads
    /// something that is marked `idle`. It goes round at last where each point behind a point leads
    /// back to it.
    pub(super) fn may_last(&self) -> bool {
        let is_idle = |point: &usize| self.looked[*point].0.contains(&Patience::Idle);
        if !(0..self.looked.len()).any(|point| is_idle(&point)) {
            return false;
        }
        let behind: Vec<BTreeSet<usize>> = (0..self.looked.len()).map(|point| self.behind(point)).collect();
        let lasts = |point: &usize| behind[*point].iter().all(|next| behind[*next].contains(point));
        (0..self.looked.len()).filter(lasts).all(|point| behind[point].iter().any(is_idle))
    }
}
