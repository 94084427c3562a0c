//! Which of the fences that make a program robust its properties need: a look at these behind
//! `palisade fences`.

use super::arguments::FencesArguments;
use super::checks::Guarded;
use crate::cli::Loaded;
use crate::fences::{FenceError, Repair, Repaired};
use crate::limits::Limits;
use crate::properties::placement::{PlacementError, PlacementOptions, PropertyRepairError, needed_measures};
use crate::properties::targets;
use crate::report::needed::Needed;
use crate::semantics::{Model, Target};

/// The configurations that an exploration may have: who asks for robustness has not asked for a
/// long search.
const CONFIGURATIONS: u64 = 200_000;

/// The states that a search for a violating run may visit.
const STATES: usize = 200_000;

/// Asks which of the measures that make a program robust its properties need, within what is left
/// of the limits; nothing where it has no properties or needs no measures, and what `verify` says
/// where it rejects the evidence.
pub(super) fn ask(
    arguments: &FencesArguments,
    loaded: &Loaded,
    found: &Repaired,
    limits: &Limits,
) -> Result<Option<Needed>, String> {
    let measures = match &found.repair {
        Repair::Valid(placement) if placement.confirmed && !placement.measures.is_empty() => &placement.measures,
        _ => return Ok(None),
    };
    let question = loaded.question.as_ref();
    let watched = match loaded.program.monitored() {
        Ok(watched) => watched,
        Err(error) => return Ok(Some(Needed::Undecided(error.to_string()))),
    };
    let mut asked = targets(&watched, question);
    // Final states need fixed numbers of copies.
    asked.retain(|target| *target != Target::FinalStates || !watched.is_parameterized());
    if asked.is_empty() {
        return Ok(None);
    }
    // A fence that no other property needs may be needed for the end.
    if !loaded.program.finally.is_empty() {
        return Ok(Some(Needed::Undecided("`--ask hangs` asks what `finally` states".to_owned())));
    }
    let options = PlacementOptions {
        targets: asked,
        states: STATES,
        most: CONFIGURATIONS,
        values: loaded.values(arguments.values),
        limits: limits.clone(),
        ..PlacementOptions::new(Model::Tso)
    };
    let checks = Guarded { file: &arguments.file };
    match needed_measures(&loaded.program, question, &options, measures, &checks) {
        Ok(needed) => Ok(Some(Needed::Found(Box::new(needed)))),
        Err(PropertyRepairError::Placement(PlacementError::Input(FenceError::Fault(fault)))) => {
            Ok(Some(Needed::Undecided(fault.describe(&watched))))
        }
        Err(PropertyRepairError::Placement(error)) => Ok(Some(Needed::Undecided(error.to_string()))),
        Err(error @ (PropertyRepairError::Rejected(_) | PropertyRepairError::Broken(_))) => Err(error.to_string()),
    }
}
