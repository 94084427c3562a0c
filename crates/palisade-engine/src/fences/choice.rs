//! The choice among the measures on offer for one part, with what proves it a cheapest one.

use super::catalogue::{Catalogue, MeasureSet};
use super::control_flow::ControlFlow;
use super::covering::{Cheapest, ProvedBlock};
use super::known::KnownAttacks;
use palisade_exploration::instrumented::Attack;
use palisade_model::limits::Limits;
use palisade_model::program::Program;

/// The choice for one part.
#[derive(Default)]
pub(super) struct Choice {
    /// A set that eliminates all attacks; none when that is not known of any set on offer.
    pub(super) chosen: Option<MeasureSet>,
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
}

impl Choice {
    /// Where values grow: what is chosen, a cheapest set for the rows known, becomes one that
    /// control flow shows valid. If it costs no more, the rows still prove it optimal.
    pub(super) fn rely_on_control_flow(
        &mut self,
        known: &KnownAttacks,
        program: &Program,
        catalogue: &Catalogue,
        limits: &Limits,
    ) {
        let attacks = known.outcomes.iter().map(|(attack, _)| *attack).collect();
        let flow = ControlFlow { program, catalogue, attacks };
        let rows = self.rows.iter().map(|(_, row)| row.clone()).collect();
        let bound = self.chosen.take();
        self.chosen =
            flow.cheapest_cut(rows, limits).or_else(|| known.set_without_search(program, catalogue, None, limits));
        let cost = |set: &Option<MeasureSet>| set.as_ref().map(|set| catalogue.cost(set));
        let listed = self.alternatives.len();
        if cost(&self.chosen) == cost(&bound) {
            // Every optimum touches the rows; those of the sets listed that are valid are optima,
            // and so is the choice.
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
}
