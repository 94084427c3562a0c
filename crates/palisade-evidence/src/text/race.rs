//! Races as text.

use super::MalformedEvidence;
use super::witness::{StepText, counted_instance, step_in, step_out};
use crate::RaceWitness;
use serde::{Deserialize, Serialize};

/// The race as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RaceText {
    /// How many copies of each thread run.
    instance: Vec<u64>,
    load_step: usize,
    steps: Vec<StepText>,
}

impl From<&RaceWitness> for RaceText {
    fn from(witness: &RaceWitness) -> Self {
        Self {
            instance: witness.instance.counts().to_vec(),
            load_step: witness.load_step,
            steps: witness.steps.iter().map(|step| step_out(&witness.instance, step)).collect(),
        }
    }
}

impl TryFrom<RaceText> for RaceWitness {
    type Error = MalformedEvidence;

    fn try_from(text: RaceText) -> Result<Self, MalformedEvidence> {
        let instance = counted_instance(text.instance)?;
        let steps = text.steps.into_iter().map(|step| step_in(&instance, &step));
        let steps = steps.collect::<Result<_, MalformedEvidence>>()?;
        Ok(Self { instance, steps, load_step: text.load_step })
    }
}
