//! The choice for one thread: its attacks one by one, their rows, the cheapest set.

use super::analysis::Analysis;
use super::catalogue::{Catalogue, MeasureSet};
use super::control_flow::ControlFlow;
use super::covering::{Cheapest, ProvedBlock, all_cheapest, cheapest, proved};
use super::eliminating::{EliminatingSets, eliminating_sets};
use super::obstacles::DelayFlow;
use super::progress::Observer;
use super::unfinished::Unfinished;
use crate::robustness::{Attack, Fault, Outcome};
use palisade_model::limits::{Halt, Limits, StopReason};
use palisade_model::program::{Thread, ThreadId};

/// What is asked of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// All optima, at most so many; 0 for one.
    pub(super) alternatives: usize,
    /// Measures are to be judged one by one as well: whether all but one will do. Then attacks that the whole catalogue does
    /// not eliminate are let be.
    pub(super) one_by_one: bool,
}

/// What was found for one thread.
pub(super) struct ThreadPlan {
    /// Each attack with its outcome without any measure.
    pub(super) outcomes: Vec<(Attack, Outcome)>,
    /// The feasible attacks to eliminate, and what eliminates them.
    pub(super) eliminations: Vec<(Attack, EliminatingSets)>,
    /// A set that eliminates them all; none when that is not known of any set on offer.
    pub(super) chosen: Option<MeasureSet>,
    /// An attack that the whole catalogue does not eliminate.
    pub(super) impossible: Option<Attack>,
    /// The rows of all attacks, with the first attack that has each.
    pub(super) rows: Vec<(Attack, MeasureSet)>,
    /// The proof that the choice is optimal.
    pub(super) cheapest: Option<Cheapest>,
    /// The same in cases and weights.
    pub(super) blocks: Vec<ProvedBlock>,
    /// The optima asked for.
    pub(super) alternatives: Vec<MeasureSet>,
    /// Whether these are all.
    pub(super) alternatives_complete: bool,
    /// Why the work was left unfinished.
    pub(super) stop: Option<Unfinished>,
    /// How many of the attacks have been decided, in order, with what eliminates them.
    decided: usize,
    /// Whether nothing is left to do, or to be done.
    pub(super) is_finished: bool,
    pub(super) candidates: usize,
    pub(super) searches: usize,
    pub(super) markings: usize,
}

/// Minimal sets per attack that are enumerated before the rows alone have to do.
const MINIMAL_SETS: usize = 400;

impl ThreadPlan {
    /// Nothing known yet of the attacks.
    pub(super) fn new(attacks: &[Attack]) -> Self {
        Self {
            outcomes: attacks.iter().map(|attack| (*attack, Outcome::Unknown)).collect(),
            eliminations: Vec::new(),
            chosen: None,
            impossible: None,
            rows: Vec::new(),
            cheapest: None,
            blocks: Vec::new(),
            alternatives: Vec::new(),
            alternatives_complete: false,
            stop: None,
            decided: 0,
            is_finished: false,
            candidates: 0,
            searches: 0,
            markings: 0,
        }
    }

    /// The thread.
    pub(super) fn thread(&self) -> ThreadId {
        self.outcomes[0].0.thread
    }

    /// Leaves the work unfinished.
    pub(super) fn leave(&mut self, thread: &Thread, catalogue: &Catalogue, reason: Unfinished) {
        self.is_finished = true;
        self.stop = Some(reason);
        let best = self.chosen.take();
        self.chosen = self.set_without_search(thread, catalogue, best);
    }

    /// Chooses for a thread, as far as a turn allows; what is known from earlier turns is not asked again.
    pub(super) fn choose(
        &mut self,
        analysis: &mut Analysis<'_, '_>,
        thread: &Thread,
        catalogue: &Catalogue,
        request: Request,
        observer: &dyn Observer,
    ) -> Result<(), Fault> {
        let limits = &analysis.attempt.limits;
        let finished = self
            .decide(analysis, thread, catalogue, request, observer)
            .and_then(|()| self.optimize(analysis, catalogue, request, limits));
        self.candidates += analysis.candidates;
        self.searches += analysis.searches;
        self.markings += analysis.markings;
        match finished {
            Ok(()) => {
                self.is_finished = true;
                if let Some(fault) = analysis.attempt.growth {
                    self.stop = Some(Unfinished::Growth(fault.clone()));
                    self.rely_on_control_flow(thread, catalogue, limits);
                }
            }
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) if !analysis.attempt.round.is_last => return Ok(()),
            Err(halt) => self.leave(thread, catalogue, Unfinished::at(&halt, analysis.attempt.growth)),
        }
        self.tell_best(self.chosen.as_ref(), catalogue, observer);
        Ok(())
    }

    /// Tells what is known to be valid before any search.
    pub(super) fn announce(attacks: &[Attack], thread: &Thread, catalogue: &Catalogue, observer: &dyn Observer) {
        if observer.asks_for_best() {
            let plan = Self::new(attacks);
            plan.tell_best(plan.set_without_search(thread, catalogue, None).as_ref(), catalogue, observer);
        }
    }

    fn tell_best(&self, set: Option<&MeasureSet>, catalogue: &Catalogue, observer: &dyn Observer) {
        observer.best_known(self.thread(), set.map(|set| catalogue.cost(set)).as_ref());
    }

    /// Decides each attack, and finds what eliminates the feasible ones.
    fn decide(
        &mut self,
        analysis: &mut Analysis<'_, '_>,
        thread: &Thread,
        catalogue: &Catalogue,
        request: Request,
        observer: &dyn Observer,
    ) -> Result<(), Halt<Fault>> {
        for index in self.decided..self.outcomes.len() {
            let attack = self.outcomes[index].0;
            let first = analysis.remaining(&attack, &catalogue.nothing())?;
            self.outcomes[index].1 = match (&first, analysis.attempt.growth) {
                (Some(_), _) => Outcome::Feasible,
                (None, None) => Outcome::Infeasible,
                (None, Some(_)) => Outcome::Unknown,
            };
            if let Some(first) = first {
                if analysis.remaining(&attack, &catalogue.everything())?.is_none() {
                    let first = analysis.shortened(&attack, first)?;
                    let mut sets =
                        eliminating_sets(first, MINIMAL_SETS, |set| match analysis.remaining(&attack, set)? {
                            Some(row) => analysis.shortened(&attack, row).map(Some),
                            None => Ok(None),
                        })?;
                    if analysis.attempt.growth.is_some() {
                        // The rows are real; but further values may have others.
                        sets.sets.clear();
                        sets.complete = false;
                    }
                    self.eliminations.push((attack, sets));
                } else if !request.one_by_one {
                    self.impossible = self.impossible.or(Some(attack));
                }
            }
            self.decided = index + 1;
            observer.attack_decided();
            if observer.asks_for_best() {
                let best = self.set_without_search(thread, catalogue, None);
                self.tell_best(best.as_ref(), catalogue, observer);
            }
        }
        Ok(())
    }

    /// Chooses the cheapest set; attacks whose rows may be incomplete add those that a candidate leaves open.
    fn optimize(
        &mut self,
        analysis: &mut Analysis<'_, '_>,
        catalogue: &Catalogue,
        request: Request,
        limits: &Limits,
    ) -> Result<(), Halt<Fault>> {
        if self.impossible.is_some() {
            return Ok(());
        }
        loop {
            self.collect_rows();
            let rows: Vec<MeasureSet> = self.rows.iter().map(|(_, row)| row.clone()).collect();
            let found = cheapest(&rows, catalogue.costs(), limits).map_err(|(reason, set)| {
                self.chosen = Some(set);
                Halt::Stopped(reason)
            })?;
            let mut candidates = vec![found.set.clone()];
            self.alternatives_complete = true;
            if request.alternatives > 0 {
                (candidates, self.alternatives_complete) =
                    all_cheapest(&rows, catalogue.costs(), &found.set, request.alternatives, limits)?;
            }
            let all_but_one = (0..if request.one_by_one { catalogue.len() } else { 0 }).map(|measure| {
                let mut set = catalogue.everything();
                set.set(measure, false);
                set
            });
            let asked: Vec<MeasureSet> = candidates.iter().cloned().chain(all_but_one).collect();
            if !self.add_rows_left_open(analysis, &asked)? {
                self.chosen = Some(found.set.clone());
                self.blocks = proved(&rows, catalogue.costs(), &found.set, limits);
                self.cheapest = Some(found);
                self.alternatives = candidates;
                return Ok(());
            }
        }
    }

    /// Where values grow: what is chosen, a cheapest set for the rows known, becomes one that control flow shows valid. If it
    /// costs no more, the rows still prove it optimal.
    fn rely_on_control_flow(&mut self, thread: &Thread, catalogue: &Catalogue, limits: &Limits) {
        let attacks = self.outcomes.iter().map(|(attack, _)| *attack).collect();
        let flow = ControlFlow { thread, catalogue, attacks };
        let rows = self.rows.iter().map(|(_, row)| row.clone()).collect();
        let bound = self.chosen.take();
        self.chosen = flow.cheapest_cut(rows, limits).or_else(|| self.set_without_search(thread, catalogue, None));
        let cost = |set: &Option<MeasureSet>| set.as_ref().map(|set| catalogue.cost(set));
        let listed = self.alternatives.len();
        if cost(&self.chosen) == cost(&bound) {
            // Every optimum touches the rows; those of the sets listed that are valid are optima, and so is the choice.
            self.alternatives.retain(|set| flow.row_left_open(set).is_none());
            self.alternatives_complete &= self.alternatives.len() == listed;
            let chosen = self.chosen.clone().filter(|set| !self.alternatives.contains(set));
            self.alternatives.extend(chosen);
        } else {
            self.cheapest = None;
            self.alternatives.clear();
            self.alternatives_complete = false;
        }
    }

    /// The attacks found feasible.
    pub(super) fn feasible(&self) -> impl Iterator<Item = Attack> {
        self.outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Feasible).map(|(attack, _)| *attack)
    }

    /// Asks whether candidates eliminate the attacks whose rows may be incomplete; adds the rows they leave open.
    fn add_rows_left_open(
        &mut self,
        analysis: &mut Analysis<'_, '_>,
        candidates: &[MeasureSet],
    ) -> Result<bool, Halt<Fault>> {
        let mut grew = false;
        for (attack, known) in self.eliminations.iter_mut().filter(|(_, known)| !known.complete) {
            for candidate in candidates {
                if known.rows.iter().any(|row| row.is_disjoint(candidate))
                    || known.sets.iter().any(|set| set.is_subset(candidate))
                {
                    continue;
                }
                if let Some(row) = analysis.remaining(attack, candidate)? {
                    let row = analysis.shortened(attack, row)?;
                    known.rows.push(row);
                    grew = true;
                }
            }
        }
        Ok(grew)
    }

    /// The minimal rows of all attacks, each once.
    fn collect_rows(&mut self) {
        let all: Vec<(Attack, &MeasureSet)> =
            self.eliminations.iter().flat_map(|(attack, known)| known.rows.iter().map(|row| (*attack, row))).collect();
        let mut rows: Vec<(Attack, MeasureSet)> = Vec::new();
        for (index, (attack, row)) in all.iter().enumerate() {
            let is_implied = all
                .iter()
                .enumerate()
                .any(|(other, (_, smaller))| smaller.is_subset(row) && (smaller != row || other < index));
            if !is_implied {
                rows.push((*attack, (*row).clone()));
            }
        }
        self.rows = rows;
    }

    /// A set known to eliminate every attack not known infeasible, by control flow or by sets already found: starting from
    /// `start`, measures are added attack by attack, then left out again where they are not needed.
    fn set_without_search(
        &self,
        thread: &Thread,
        catalogue: &Catalogue,
        start: Option<MeasureSet>,
    ) -> Option<MeasureSet> {
        let flow = DelayFlow::of(thread);
        let known = |attack: &Attack| {
            self.eliminations.iter().find(|(other, _)| other == attack).map_or(&[][..], |(_, known)| &known.sets)
        };
        let eliminates = |attack: &Attack, set: &MeasureSet| {
            known(attack).iter().any(|smaller| smaller.is_subset(set))
                || !flow.leads(attack.store, attack.load, &catalogue.obstacles(thread, set))
        };
        let open: Vec<Attack> = self
            .outcomes
            .iter()
            .filter(|(_, outcome)| *outcome != Outcome::Infeasible)
            .map(|(attack, _)| *attack)
            .collect();
        let mut chosen = start.unwrap_or_else(|| catalogue.nothing());
        for attack in &open {
            if eliminates(attack, &chosen) {
                continue;
            }
            let singles = (0..catalogue.len()).map(|measure| catalogue.set([measure]));
            let best = known(attack)
                .iter()
                .cloned()
                .chain(singles)
                .map(|set| &chosen | &set)
                .filter(|set| eliminates(attack, set))
                .min_by_key(|set| catalogue.cost(set));
            chosen = best.unwrap_or_else(|| catalogue.everything());
            if !eliminates(attack, &chosen) {
                return None;
            }
        }
        let mut dearest_first: Vec<usize> = chosen.ones().collect();
        dearest_first.sort_by(|a, b| catalogue.costs()[*b].cmp(&catalogue.costs()[*a]));
        for measure in dearest_first {
            let mut fewer = chosen.clone();
            fewer.set(measure, false);
            if open.iter().all(|attack| eliminates(attack, &fewer)) {
                chosen = fewer;
            }
        }
        Some(chosen)
    }
}
