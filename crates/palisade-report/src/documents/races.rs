//! `palisade/race-fences/1`: the fences that stop all triangular races of a program.

use super::program::threads;
use super::{CopiesWord, FileHeader};
use crate::context::Context;
use palisade_engine::fences::Measure;
use palisade_engine::properties::races::RaceFences;
use palisade_model::limits::StopReason;
use serde::Serialize;
use std::collections::BTreeMap;

/// An instruction of a race, or where a fence is to stand.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CornerDocument<'a> {
    /// The thread.
    pub thread: &'a str,
    /// The label.
    pub label: &'a str,
    /// The line, from 1.
    pub line: usize,
}

/// The fences that stop all triangular races of a program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RaceFencesDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// A cheapest set of fences; null where a limit was reached.
    pub fences: Option<Vec<CornerDocument<'a>>>,
    /// What they cost together.
    pub cost: Option<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many races were looked at.
    pub races: usize,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// Seconds from reading to the answer.
    pub seconds: f64,
}

impl<'a> RaceFencesDocument<'a> {
    /// The document of what was found.
    pub fn new(found: Result<&RaceFences, StopReason>, context: &Context<'a>) -> Self {
        let program = context.program;
        let fence = |measure: &Measure| {
            let thread = program.thread(measure.thread());
            let label = &thread.label(measure.label(program)).name;
            CornerDocument { thread: &thread.name, label, line: measure.line(program) }
        };
        let fences = found.ok();
        Self {
            header: FileHeader::new("palisade/race-fences/1", context.file),
            program: &program.name,
            fences: fences.map(|fences| fences.measures.iter().map(fence).collect()),
            cost: fences.map(|fences| fences.cost.to_string()),
            reason: found.err().map(|reason| reason.to_string()),
            races: fences.map_or(0, |fences| fences.rows.len()),
            threads: threads(program),
            seconds: context.seconds,
        }
    }
}
