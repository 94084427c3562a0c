//! The plan for one part: the attacks of its threads one by one, their rows, the cheapest set.

use super::catalogue::{Catalogue, MeasureSet};
use super::choice::Choice;
use super::computation::{Computation, Computations};
use super::covering::{all_cheapest, cheapest, proved};
use super::joint::{Effort, Joint};
use super::known::KnownAttacks;
use super::progress::Observer;
use super::request::Request;
use super::unfinished::Unfinished;
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_model::limits::{Halt, Limits, StopReason};
use palisade_model::program::{Program, ThreadId};
use std::time::Duration;

/// How long a set may be sought without searches when the limits are reached.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What was found for one part.
pub(super) struct PartPlan {
    /// What is known of its attacks.
    pub(super) known: KnownAttacks,
    /// The choice among the measures.
    pub(super) choice: Choice,
    /// Computations that show rows.
    pub(super) computations: Computations,
    /// How far the work is.
    state: State,
    /// The work done.
    pub(super) effort: Effort,
}

/// How far the work for a part is.
enum State {
    /// Another attempt may add to it.
    Open,
    /// It is done.
    Finished,
    /// It was left unfinished.
    Left(Unfinished),
}

impl PartPlan {
    /// Nothing known yet of the attacks.
    pub(super) fn new(attacks: &[Attack]) -> Self {
        Self {
            known: KnownAttacks::new(attacks),
            choice: Choice::default(),
            computations: Computations::default(),
            state: State::Open,
            effort: Effort::default(),
        }
    }

    /// All that is asked was found out.
    pub(super) fn finished(known: KnownAttacks, choice: Choice, computations: Computations, effort: Effort) -> Self {
        Self { known, choice, computations, state: State::Finished, effort }
    }

    /// The thread, the first of several.
    pub(super) fn thread(&self) -> ThreadId {
        self.known.thread()
    }

    /// Whether another attempt may add to it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// An attack that stays feasible whatever is changed, with a computation if a check has found
    /// it.
    pub(super) fn impossible(&self) -> Option<(Attack, Option<&Computation>)> {
        let attack = self.known.impossible?;
        let unstopped = self.computations.iter().find(|((own, row), _)| *own == attack && row.is_clear());
        Some((attack, unstopped.map(|(_, computation)| computation)))
    }

    /// Why the work was left unfinished.
    pub(super) fn stop(&self) -> Option<&Unfinished> {
        match &self.state {
            State::Left(reason) => Some(reason),
            State::Open | State::Finished => None,
        }
    }

    /// Leaves the work unfinished.
    pub(super) fn leave(&mut self, program: &Program, catalogue: &Catalogue, reason: Unfinished) {
        self.state = State::Left(reason);
        let best = self.choice.chosen.take();
        let limits = Limits::none().with_timeout(LAST_WORDS);
        self.choice.chosen = self.known.set_without_search(program, catalogue, best, &limits);
    }

    /// Chooses for the part, as far as an attempt allows; what earlier attempts have found is not
    /// asked again.
    pub(super) fn choose(
        &mut self,
        mut joint: Joint<'_, '_>,
        request: Request,
        observer: &dyn Observer,
    ) -> Result<(), Fault> {
        let (program, catalogue, attempt) = (joint.program, joint.catalogue, joint.attempt);
        let limits = &attempt.limits;
        let finished =
            self.known.decide(&mut joint, request, observer).and_then(|()| self.optimize(&mut joint, request, limits));
        let (stories, effort) = joint.finish();
        self.computations.extend(stories.into_iter().map(|(row, story)| (row, Computation::Bare(story))));
        self.effort = self.effort.and(effort);
        match finished {
            Ok(()) => match attempt.growth {
                Some(fault) => {
                    self.state = State::Left(Unfinished::Growth(fault.clone()));
                    self.choice.rely_on_control_flow(&self.known, program, catalogue, limits);
                }
                None => self.state = State::Finished,
            },
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) if !attempt.round.is_last => return Ok(()),
            Err(halt) => self.leave(program, catalogue, Unfinished::at(&halt, attempt.growth)),
        }
        self.known.tell_best(self.choice.chosen.as_ref(), catalogue, observer);
        Ok(())
    }

    /// Tells the observer what is known to be valid before any search.
    pub(super) fn announce(
        attacks: &[Attack],
        program: &Program,
        catalogue: &Catalogue,
        limits: &Limits,
        observer: &dyn Observer,
    ) {
        if observer.asks_for_best() {
            let known = KnownAttacks::new(attacks);
            known.tell_best(known.set_without_search(program, catalogue, None, limits).as_ref(), catalogue, observer);
        }
    }

    /// Chooses the cheapest set; attacks whose rows may be incomplete add those that a candidate
    /// leaves open.
    fn optimize(&mut self, joint: &mut Joint<'_, '_>, request: Request, limits: &Limits) -> Result<(), Halt<Fault>> {
        let catalogue = joint.catalogue;
        if self.known.impossible.is_some() {
            return Ok(());
        }
        let choice = &mut self.choice;
        loop {
            choice.rows = self.known.minimal_rows();
            let rows: Vec<MeasureSet> = choice.rows.iter().map(|(_, row)| row.clone()).collect();
            let found = cheapest(&rows, catalogue.costs(), limits).map_err(|(reason, set)| {
                choice.chosen = Some(set);
                Halt::Stopped(reason)
            })?;
            let mut candidates = vec![found.set.clone()];
            choice.alternatives_complete = true;
            if request.alternatives > 0 {
                (candidates, choice.alternatives_complete) =
                    all_cheapest(&rows, catalogue.costs(), &found.set, request.alternatives, limits)?;
            }
            let all_but_one = (0..if request.one_by_one { catalogue.len() } else { 0 }).map(|measure| {
                let mut set = catalogue.everything();
                set.set(measure, false);
                set
            });
            let asked: Vec<MeasureSet> = candidates.iter().cloned().chain(all_but_one).collect();
            if !self.known.add_rows_left_open(joint, &asked)? {
                choice.chosen = Some(found.set.clone());
                choice.blocks = proved(&rows, catalogue.costs(), &found.set, limits);
                choice.cheapest = Some(found);
                choice.alternatives = candidates;
                return Ok(());
            }
        }
    }
}
