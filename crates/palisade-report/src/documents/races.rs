//! `palisade/races/1`: whether a program has a triangular race.

use super::program::threads;
use super::step::{StepDocument, steps};
use super::{ConfirmationDocument, CopiesWord, DomainDocument, FileHeader, Finding, VerdictHeader};
use crate::context::Context;
use crate::races::{Corners, computation};
use palisade_engine::fences::Measure;
use palisade_engine::properties::races::{Race, RaceFences, RaceVerdict, Races};
use palisade_model::limits::{StopReason, peak_resident_bytes};
use palisade_model::program::{InstructionId, Program, ThreadId};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade check --criterion trf` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RacesDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a, RacesVerdictWord>,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The race, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceDocument<'a>>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: RacesStatistics,
}

/// Whether a program has a triangular race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RacesVerdictWord {
    /// It has none, and is robust for that unless it has sections.
    RaceFree,
    /// It has one.
    TriangularRace,
    /// A limit was reached.
    Unknown,
}

/// A triangular race.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RaceDocument<'a> {
    /// The last store to another address before the load, by the load's thread.
    pub store: CornerDocument<'a>,
    /// The load.
    pub load: CornerDocument<'a>,
    /// The store to the address that is loaded.
    pub racing: CornerDocument<'a>,
    /// How many copies of each thread run.
    pub instance: BTreeMap<&'a str, u64>,
    /// Whether no instance with fewer copies of replicated threads in all has a race.
    pub instance_minimal: bool,
    /// The computation, an interleaving that ends in the race.
    pub steps: Vec<StepDocument<'a>>,
}

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

/// What the search took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RacesStatistics {
    /// Configurations explored in all.
    pub states: usize,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> RacesDocument<'a> {
    /// The document of what was found.
    pub fn new(races: &'a Races, context: &Context<'a>) -> Self {
        let program = context.program;
        let verdict = match &races.verdict {
            RaceVerdict::Free(_) => RacesVerdictWord::RaceFree,
            RaceVerdict::Racy(_) => RacesVerdictWord::TriangularRace,
            RaceVerdict::Unknown(_) => RacesVerdictWord::Unknown,
        };
        let mut header = VerdictHeader::new("palisade/races/1", context.file, program, verdict);
        if let RaceVerdict::Unknown(reason) = &races.verdict {
            header.reason = Some(reason.to_string());
        }
        Self {
            header,
            threads: threads(program),
            domain: DomainDocument::new(program),
            race: match &races.verdict {
                RaceVerdict::Racy(race) => Some(race_document(program, race)),
                _ => None,
            },
            certificates: context.certificates,
            evidence: None,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: RacesStatistics {
                states: races.states,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

fn race_document<'a>(program: &'a Program, race: &'a Race) -> RaceDocument<'a> {
    let corners = Corners::of(race);
    let (reader, writer) = corners.threads;
    let copies = program.threads.iter().zip(race.instance.counts());
    RaceDocument {
        store: corner(program, reader, corners.store),
        load: corner(program, reader, corners.load),
        racing: corner(program, writer, corners.racing),
        instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
        instance_minimal: race.instance_minimal,
        steps: steps(&computation(program, race)),
    }
}

fn corner(program: &Program, thread: ThreadId, instruction: InstructionId) -> CornerDocument<'_> {
    let template = program.thread(thread);
    let found = template.instruction(instruction);
    CornerDocument {
        thread: &template.name,
        label: &template.label(found.source).name,
        line: program.source.position(found.span.start).line,
    }
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
