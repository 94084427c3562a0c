//! The cheapest set of measures that control flow alone shows valid, whatever the values.

use super::catalogue::{Catalogue, MeasureSet};
use super::covering::cheapest;
use palisade_exploration::instrumented::{Attack, DelayFlow};
use palisade_model::limits::Limits;
use palisade_model::program::Program;

/// What of control flow is left open by sets of measures, for some attacks.
pub(super) struct ControlFlow<'a> {
    pub(super) program: &'a Program,
    pub(super) catalogue: &'a Catalogue,
    pub(super) attacks: Vec<Attack>,
}

impl ControlFlow<'_> {
    /// A way of control from the store to the load of an attack that a set leaves open, seen as the
    /// measures on it.
    pub(super) fn row_left_open(&self, set: &MeasureSet) -> Option<MeasureSet> {
        self.attacks.iter().find_map(|attack| {
            let flow = DelayFlow::of(self.program.thread(attack.thread));
            let obstacles = self.catalogue.obstacles(self.program, attack.thread, set);
            let way = flow.way(attack.store, attack.load, &obstacles)?;
            Some(self.catalogue.row_of(self.program, attack.thread, &way))
        })
    }

    /// A cheapest set that touches some rows and cuts every way of control; none when there is
    /// none, or no time to find it.
    ///
    /// The ways are rows as well. They are many, so only those that a cheapest set for the rows so
    /// far leaves open are added.
    pub(super) fn cheapest_cut(&self, mut rows: Vec<MeasureSet>, limits: &Limits) -> Option<MeasureSet> {
        loop {
            let set = cheapest(&rows, self.catalogue.costs(), limits).ok()?.set;
            match self.row_left_open(&set) {
                None => return Some(set),
                Some(row) if row.is_clear() => return None,
                Some(row) => rows.push(row),
            }
        }
    }
}
