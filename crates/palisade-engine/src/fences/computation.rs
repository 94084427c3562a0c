//! What shows a row: every valid set has one of its measures.

use super::catalogue::MeasureSet;
use crate::robustness::{Story, Violation};
use palisade_exploration::instrumented::Attack;
use rustc_hash::FxHashMap;

/// A computation that shows a row.
#[derive(Clone, Debug)]
pub(super) enum Computation {
    /// Of the program without any measure; those outside the row do not stand in its way.
    Bare(Story),
    /// Of the program with all that is permitted but the measures of the row.
    AllBut(Box<Violation>),
}

/// Computations that show rows of attacks.
pub(super) type Computations = FxHashMap<(Attack, MeasureSet), Computation>;
