//! Rows of violating runs, each cut down to a minimal one, and the queries that find them.

use super::offer::Offer;
use super::options::PlacementOptions;
use super::row::{erased, row_of};
use crate::decide::schedule::{PROPERTY_GLANCE, PROPERTY_ROW, PROPERTY_ROW_CAPACITY};
use crate::fences::catalogue::MeasureSet;
use palisade_exploration::states::{Aim, Answer, Contraction, Cut, Reach, instances, search};
use palisade_model::program::Program;
use palisade_semantics::{Instance, Machine, Model, Step, Target};

/// A run to a target.
#[derive(Clone, Debug)]
pub struct Run {
    /// How many copies run.
    pub instance: Instance,
    /// The memory model.
    pub model: Model,
    /// What is reached.
    pub target: Target,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A run that was found, with its row.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    /// The number of the aim whose slice it is a run of.
    pub(super) aim: usize,
    /// The measures on offer that it needs absent.
    pub(super) row: MeasureSet,
    /// The run of the slice without measures.
    pub(super) run: Run,
}

/// A row with the run that has it.
#[derive(Clone, Debug)]
pub(super) struct FoundRow {
    /// The number of the aim whose slice it is a run of.
    pub(super) aim: usize,
    /// The measures that the run needs absent.
    pub(super) measures: MeasureSet,
    /// The run of a slice without measures.
    pub(super) run: Run,
}

/// How much is done to find a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// One search of small size, as a proof is tried next.
    Glance,
    /// Larger buffers where some are full.
    Full,
}

/// What the queries about an aim search.
pub(super) struct Core<'q> {
    contraction: Contraction,
    /// The targets of the contraction.
    aim: Aim<'q>,
    /// The contraction without measures.
    bare: Program,
}

impl<'q> Core<'q> {
    /// The contraction of an aim's slice.
    pub(super) fn of(aim: &Aim<'q>, offer: &Offer<'_>) -> Self {
        let contraction = Contraction::of(&aim.program, |thread, label, only| offer.may_change(thread, label, only));
        let bare = offer.contracted(&contraction).bare(&contraction.program);
        Self { aim: aim.contracted(&contraction), bare, contraction }
    }

    /// What is searched for.
    #[cfg(test)]
    pub(super) fn aim(&self) -> &Aim<'q> {
        &self.aim
    }
}

/// The queries of a placement.
pub(super) struct Queries<'a, 'p> {
    pub(super) offer: &'a Offer<'p>,
    pub(super) options: &'a PlacementOptions,
    pub(super) aims: &'a [Aim<'p>],
    cores: &'a [Core<'p>],
    /// For each aim, the measures on offer for its contraction.
    offers: Vec<Offer<'a>>,
    /// The instances searched, smallest first.
    instances: Vec<Instance>,
    /// For each aim, sets with which a search has seen all there is, and no target. More measures
    /// let no more happen.
    closed: Vec<Vec<MeasureSet>>,
    /// Searches made.
    pub(super) count: usize,
    /// States visited by those that ended without a run.
    pub(super) states: usize,
}

impl<'a, 'p> Queries<'a, 'p> {
    pub(super) fn new(
        offer: &'a Offer<'p>,
        aims: &'a [Aim<'p>],
        cores: &'a [Core<'p>],
        options: &'a PlacementOptions,
    ) -> Self {
        let (instances, closed) = (instances(offer.program()), vec![Vec::new(); aims.len()]);
        let offers = cores.iter().map(|core| offer.contracted(&core.contraction)).collect();
        Self { offer, options, aims, cores, offers, instances, closed, count: 0, states: 0 }
    }

    /// The number of the aim that a target belongs to.
    pub(super) fn aim_of(&self, target: Target) -> usize {
        self.aims.iter().position(|aim| aim.contains(target)).expect("every target asked belongs to an aim")
    }

    /// A run to a target with these measures in force, if a short search finds one. A proof is
    /// tried next, and finds what takes longer buffers.
    pub(super) fn ask(&mut self, set: &MeasureSet) -> Option<Reached> {
        (0..self.aims.len()).find_map(|aim| self.ask_about(aim, set, Effort::Glance))
    }

    fn ask_about(&mut self, number: usize, set: &MeasureSet, effort: Effort) -> Option<Reached> {
        if self.closed[number].iter().any(|closed| closed.is_subset(set)) {
            return None;
        }
        let mut is_closed = true;
        let (core, offer, model) = (&self.cores[number], &self.offers[number], self.options.model);
        let changed = offer.changed(&core.aim.program, set);
        for instance in self.instances.clone() {
            let answer = self.search(&core.aim, &changed, &instance, effort);
            is_closed &= matches!(answer, Answer::Closed { .. });
            if let Answer::Reached { target, steps } = answer {
                let bare = &core.bare;
                let steps = erased(bare, &Machine::new(&changed, &instance, model), &steps);
                let row = row_of(&self.offers[number], &Machine::new(bare, &instance, model), &steps);
                debug_assert!(row.is_disjoint(set), "the measures in force do not forbid the run");
                let (target, steps) = core.contraction.expanded(&instance, target, &steps);
                return Some(Reached { aim: number, row, run: Run { instance, model, target, steps } });
            }
        }
        if is_closed {
            self.closed[number].push(set.clone());
        }
        None
    }

    /// Searches with small buffers, and unless that is to do, with larger ones where some are full:
    /// a run may need these, or none may be full any more.
    fn search(&mut self, aim: &Aim<'_>, changed: &Program, instance: &Instance, effort: Effort) -> Answer {
        let states = match effort {
            Effort::Glance => PROPERTY_GLANCE,
            Effort::Full if self.offer.program().is_parameterized() => PROPERTY_ROW,
            Effort::Full => usize::MAX,
        };
        let mut reach = Reach {
            capacity: PROPERTY_ROW_CAPACITY.min(self.options.buffer),
            states: states.min(self.options.states),
            limits: self.options.limits.clone(),
        };
        self.count += 1;
        loop {
            match search(changed, instance, self.options.model, aim, &reach) {
                Answer::Cut(Cut::Buffers(_)) if effort == Effort::Full && reach.capacity < self.options.buffer => {
                    reach.capacity = (2 * reach.capacity).min(self.options.buffer);
                    reach.states = reach.states.min(PROPERTY_ROW);
                }
                Answer::Closed { states } => {
                    self.states += states;
                    return Answer::Closed { states };
                }
                answer => return answer,
            }
        }
    }

    /// The row of a run, less what it does not need: some of its measures are tried in force, with
    /// all others that are not in the row. A run that reaches a target even so has a smaller row;
    /// else they are halved. The dearest are tried first.
    pub(super) fn minimal(&mut self, found: Reached) -> FoundRow {
        let Reached { aim, row, run } = found;
        let mut row = FoundRow { aim, measures: row, run };
        let costs = self.offer.costs();
        let mut order: Vec<usize> = row.measures.ones().collect();
        order.sort_by(|one, other| costs[*other].cmp(&costs[*one]).then(one.cmp(other)));
        let half = order.len() / 2;
        let mut open = vec![order.split_off(half), order];
        while let Some(mut chunk) = open.pop() {
            chunk.retain(|measure| row.measures.contains(*measure));
            if chunk.is_empty() || chunk.len() == row.measures.count_ones(..) && chunk.len() == 1 {
                continue;
            }
            let mut in_force = self.offer.everything();
            in_force.difference_with(&row.measures);
            in_force.extend(chunk.iter().copied());
            let is_whole = chunk.len() == row.measures.count_ones(..);
            let smaller = if is_whole { None } else { self.ask_about(aim, &in_force, Effort::Full) };
            if let Some(reached) = smaller {
                (row.measures, row.run) = (reached.row, reached.run);
            } else if chunk.len() > 1 {
                let behind = chunk.split_off(chunk.len() / 2);
                open.extend([behind, chunk]);
            }
        }
        row
    }
}
