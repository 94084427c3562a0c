//! `palisade simulate --model sc,tso`: what each of several models reaches.

use super::Answer;
use crate::cli::{Exit, SharedOptions};
use crate::report::documents::{self, SimulateModelsDocument};
use crate::report::simulate::{Simulation, side_by_side};

/// Answers for the same program under several models, the strongest first. The exit status is that
/// of the weakest.
pub(super) fn answer(simulations: &[Simulation<'_>], shared: &SharedOptions) -> Answer {
    let weakest = simulations.last().expect("there are models");
    let exit = if weakest.holds() { Exit::Holds } else { Exit::Fails };
    let text = if shared.json {
        documents::text(&SimulateModelsDocument::new(simulations))
    } else {
        side_by_side(simulations, shared.verbose > 0)
    };
    Answer::Printed(exit, text)
}
