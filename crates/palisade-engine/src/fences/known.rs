//! What is known of the attacks of one part, decided one after the other.

use super::catalogue::{Catalogue, MeasureSet};
use super::eliminating::{EliminatingSets, eliminating_sets};
use super::joint::Joint;
use super::progress::Observer;
use super::request::Request;
use crate::robustness::AttackOutcome;
use palisade_exploration::instrumented::{Attack, DelayFlow, Fault};
use palisade_model::limits::{Halt, Limits};
use palisade_model::program::{Program, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The attacks of one part, with what eliminates them.
pub(super) struct KnownAttacks {
    /// Each attack with its outcome without any measure.
    pub(super) outcomes: Vec<(Attack, AttackOutcome)>,
    /// The feasible attacks to eliminate, and what eliminates them.
    pub(super) eliminations: Vec<(Attack, EliminatingSets)>,
    /// An attack that the whole catalogue does not eliminate.
    pub(super) impossible: Option<Attack>,
    /// How many of the attacks have been decided, in order, with what eliminates them.
    decided: usize,
}

/// Minimal sets per attack that are enumerated before the rows alone have to do.
const MINIMAL_SETS: usize = 400;

impl KnownAttacks {
    /// Nothing is known yet.
    pub(super) fn new(attacks: &[Attack]) -> Self {
        Self {
            outcomes: attacks.iter().map(|attack| (*attack, AttackOutcome::Unknown)).collect(),
            eliminations: Vec::new(),
            impossible: None,
            decided: 0,
        }
    }

    /// All is known of the attacks that is asked.
    pub(super) fn told(outcomes: Vec<(Attack, AttackOutcome)>, impossible: Option<Attack>) -> Self {
        Self { decided: outcomes.len(), outcomes, eliminations: Vec::new(), impossible }
    }

    /// The thread, the first of several.
    pub(super) fn thread(&self) -> ThreadId {
        self.outcomes[0].0.thread
    }

    /// The threads whose attacks these are.
    pub(super) fn threads(&self) -> BTreeSet<ThreadId> {
        self.outcomes.iter().map(|(attack, _)| attack.thread).collect()
    }

    /// Tells the observer which valid set is the best known.
    pub(super) fn tell_best(&self, set: Option<&MeasureSet>, catalogue: &Catalogue, observer: &dyn Observer) {
        observer.best_known(self.thread(), set.map(|set| catalogue.cost(set)).as_ref());
    }

    /// Decides each attack, and finds what eliminates the feasible ones.
    pub(super) fn decide(
        &mut self,
        analysis: &mut Joint<'_, '_>,
        request: Request,
        observer: &dyn Observer,
    ) -> Result<(), Halt<Fault>> {
        let (program, catalogue) = (analysis.program, analysis.catalogue);
        for index in self.decided..self.outcomes.len() {
            let attack = self.outcomes[index].0;
            let first = analysis.remaining(&attack, &catalogue.nothing())?;
            self.outcomes[index].1 = match (&first, analysis.attempt.growth) {
                (Some(_), _) => AttackOutcome::Feasible,
                (None, None) => AttackOutcome::Infeasible,
                (None, Some(_)) => AttackOutcome::Unknown,
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
                self.tell_best(
                    self.set_without_search(program, catalogue, None, &analysis.attempt.limits).as_ref(),
                    catalogue,
                    observer,
                );
            }
        }
        Ok(())
    }

    /// The attacks found feasible.
    pub(super) fn feasible(&self) -> impl Iterator<Item = Attack> {
        self.outcomes.iter().filter(|(_, outcome)| *outcome == AttackOutcome::Feasible).map(|(attack, _)| *attack)
    }

    /// Asks whether candidates eliminate the attacks whose rows may be incomplete; adds the rows
    /// they leave open.
    pub(super) fn add_rows_left_open(
        &mut self,
        analysis: &mut Joint<'_, '_>,
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

    /// The minimal rows of all attacks, each once, with the first attack that has it.
    pub(super) fn minimal_rows(&self) -> Vec<(Attack, MeasureSet)> {
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
        rows
    }

    /// A set known to eliminate every attack not known infeasible, by control flow or by sets
    /// already found: starting from `start`, measures are added attack by attack, then left out
    /// again where they are not needed. Where the time for that is over, all are added, and what
    /// has not been left out stays.
    pub(super) fn set_without_search(
        &self,
        program: &Program,
        catalogue: &Catalogue,
        start: Option<MeasureSet>,
        limits: &Limits,
    ) -> Option<MeasureSet> {
        let mut flows: BTreeMap<ThreadId, DelayFlow<'_>> = BTreeMap::new();
        for (attack, _) in &self.outcomes {
            flows.entry(attack.thread).or_insert_with(|| DelayFlow::of(program.thread(attack.thread)));
        }
        let known = |attack: &Attack| {
            self.eliminations.iter().find(|(other, _)| other == attack).map_or(&[][..], |(_, known)| &known.sets)
        };
        let eliminates = |attack: &Attack, set: &MeasureSet| {
            known(attack).iter().any(|smaller| smaller.is_subset(set))
                || !flows[&attack.thread].leads(
                    attack.store,
                    attack.load,
                    &catalogue.obstacles(program, attack.thread, set),
                )
        };
        let open: Vec<Attack> = self
            .outcomes
            .iter()
            .filter(|(_, outcome)| *outcome != AttackOutcome::Infeasible)
            .map(|(attack, _)| *attack)
            .collect();
        let mut chosen = start.unwrap_or_else(|| catalogue.nothing());
        for attack in &open {
            if eliminates(attack, &chosen) {
                continue;
            }
            if limits.check().is_err() {
                chosen = catalogue.everything();
                break;
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
        if limits.check().is_err() && !open.iter().all(|attack| eliminates(attack, &chosen)) {
            return None;
        }
        let mut dearest_first: Vec<usize> = chosen.ones().collect();
        dearest_first.sort_by(|a, b| catalogue.costs()[*b].cmp(&catalogue.costs()[*a]));
        for measure in dearest_first.into_iter().take_while(|_| limits.check().is_ok()) {
            let mut fewer = chosen.clone();
            fewer.set(measure, false);
            if open.iter().all(|attack| eliminates(attack, &fewer)) {
                chosen = fewer;
            }
        }
        Some(chosen)
    }
}
