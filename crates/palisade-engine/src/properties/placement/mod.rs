//! Fences for properties: the cheapest measures with which a program reaches none of its targets,
//! after \[FM15\].
//!
//! A violating run *needs* a measure absent when it does what the measure would prevent: it passes
//! the label of an `mfence` while stores are buffered, or lets a store overtake another one across
//! the label of an `sfence`. The measures that a run needs absent are its *row*. A set of measures
//! is valid exactly when it has one of each row, so that the cheapest valid sets are those that
//! touch all rows at the least cost: the 0/1 program of `fences::covering`.
//!
//! DIVERGENCE \[FM15\]: the paper looks for smallest sets of *pairs of statements* not to be
//! reordered. A fence bans all pairs across it, and what users pay for is fences; so rows hold
//! measures at labels here. The paper bounds the number of reordered pairs from below upwards; here
//! a row is cut down by queries in which all measures are in force but a few, which are nearly SC.
//! Rows are found as they are needed: each round asks for a violating run that the cheapest set for
//! the rows known does not stop. There are finitely many rows, so this ends, with a set that is
//! valid, and no dearer than any other.
//!
//! * `offer`: the measures that control flow gives a say;
//! * `row`: what a run needs absent; `rows`: rows cut down to minimal ones, by queries that search
//!   contractions of slices ([`states`](palisade_exploration::states));
//! * [`place`](fn@place): the rounds; [`needed_fences`]: the same for the fences that a program
//!   has;
//! * [`repair`](fn@repair): a placement with the changed text and checked evidence, which `shown`
//!   collects;
//! * [`needed_measures`]: which of the measures that make a program robust its properties need;
//! * [`pairs`]: the paper's own problem and methods, for comparison.

pub(crate) mod offer;
mod options;
pub mod pairs;
mod place;
mod repair;
mod repair_error;
mod retrace;
pub(crate) mod row;
mod rows;
pub(crate) mod shown;
#[cfg(test)]
mod tests;

pub use options::PlacementOptions;
pub use place::{
    Impossible, OpenReason, Placed, PlacementError, PropertyPlacement, PropertyRow, needed_fences, place, place_among,
};
pub use repair::{NeededMeasures, PropertyRepaired, needed_measures, repair};
pub use repair_error::PropertyRepairError;
pub use rows::Run;
pub use shown::{Shown, unit_of_costs};
