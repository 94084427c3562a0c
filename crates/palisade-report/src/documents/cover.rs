//! `palisade/cover/1`: the answer about a net, or what became of a net that was written to files.

use super::{ConfirmationDocument, FileHeader};
use crate::cover::Context;
use palisade_coverability::{Answer, Outcome, ReachAnswer, ReachOutcome, Statistics};
use palisade_evidence::{NetRun, RunStep};
use palisade_model::limits::{peak_resident_bytes, processor_time};
use palisade_model::net::{Count, Net, PlaceId, Quantifier};
use serde::{Serialize, Serializer};

/// What `palisade cover` found. Runs can be long.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoverDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The answer.
    pub verdict: CoverVerdict,
    /// Why the answer is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the answer means for the question, where that is a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<FormulaDocument>,
    /// The file of the question, when it is not the net's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<&'a str>,
    /// The property that the command line names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<&'a str>,
    /// The strategy that answered.
    pub strategy: &'static str,
    /// How many tokens the run puts on places that may start with any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<Tokens<'a>>>,
    /// The steps that cover a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<RunPart<'a>>>,
    /// The file that the evidence was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<&'a str>,
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What it took.
    pub statistics: CoverStatistics,
}

/// The answers about a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum CoverVerdict {
    /// A target can be covered.
    Coverable,
    /// None can.
    Uncoverable,
    /// A marking can be reached that satisfies the condition.
    Reachable,
    /// None can.
    Unreachable,
    /// A limit was reached.
    Unknown,
}

/// A question that is a formula.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FormulaDocument {
    /// How it is put.
    pub quantifier: QuantifierWord,
    /// Whether it holds; null where the answer is unknown.
    pub holds: Option<bool>,
}

/// How a formula is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum QuantifierWord {
    /// Some reachable marking satisfies it: a target is what satisfies it.
    Ef,
    /// All reachable markings satisfy it: a target is what does not.
    Ag,
}

/// The tokens that a place starts with.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tokens<'a> {
    /// The place's name.
    pub place: &'a str,
    /// How many.
    pub tokens: Exact<'a>,
}

/// A part of a run that is repeated so many times.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RunPart<'a> {
    /// A transition fires.
    Fire {
        /// The transition's name.
        transition: &'a str,
        /// Its position among the net's transitions, from 0.
        id: usize,
        /// How many times it fires.
        times: Exact<'a>,
    },
    /// Several parts follow each other.
    Sequence {
        /// The parts.
        run: Vec<RunPart<'a>>,
        /// How many times all of them are repeated.
        times: Exact<'a>,
    },
}

impl<'a> RunPart<'a> {
    /// The steps of a run.
    fn all(net: &'a Net, steps: &'a [(RunStep, Count)]) -> Vec<Self> {
        let part = |(step, times): &'a (RunStep, Count)| match step {
            RunStep::Fire(id) => {
                Self::Fire { transition: &net.transitions[id.index()].name, id: id.index(), times: Exact(times) }
            }
            RunStep::Sequence(steps) => Self::Sequence { run: Self::all(net, steps), times: Exact(times) },
        };
        steps.iter().map(part).collect()
    }
}

/// A count as a JSON number, or as a string of digits where readers would round it.
#[derive(Clone, Debug)]
pub struct Exact<'a>(&'a Count);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EXACT: u64 = 1 << 53;
        match self.0.to_u64().filter(|count| *count < EXACT) {
            Some(count) => serializer.serialize_u64(count),
            None => serializer.collect_str(self.0),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Exact<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Exact".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number, from 2^53 on as a string of its digits.",
            "type": ["integer", "string"],
            "minimum": 0,
        })
    }
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoverStatistics {
    /// Places of the net.
    pub places: usize,
    /// Transitions of the net.
    pub transitions: usize,
    /// Alternative targets of the question.
    pub targets: usize,
    /// Markings that the answering strategy looked at.
    pub markings: u64,
    /// Steps that the answering strategy made.
    pub iterations: u64,
    /// Seconds to read the net.
    pub read_seconds: f64,
    /// Seconds to search.
    pub search_seconds: f64,
    /// Seconds from reading to the answer.
    pub seconds: f64,
    /// Seconds of processor time of the whole process so far.
    pub cpu_seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// What an answer says.
struct Answered<'a> {
    verdict: CoverVerdict,
    reason: Option<String>,
    is_met: Option<bool>,
    run: Option<&'a NetRun>,
}

impl<'a> CoverDocument<'a> {
    /// The document of an answer.
    pub fn new(answer: &'a Answer, context: &Context<'a>) -> Self {
        let verdict = match answer.is_coverable() {
            Some(true) => CoverVerdict::Coverable,
            Some(false) => CoverVerdict::Uncoverable,
            None => CoverVerdict::Unknown,
        };
        let run = match &answer.outcome {
            Outcome::Coverable(run) => Some(run),
            _ => None,
        };
        let answered = Answered { verdict, reason: crate::cover::reason(answer), is_met: answer.is_coverable(), run };
        Self::of(answered, answer.strategy, &answer.statistics, context)
    }

    /// The document of an answer to a question of reachability.
    pub fn of_reach(answer: &'a ReachAnswer, context: &Context<'a>) -> Self {
        let (verdict, run, reason) = match &answer.outcome {
            ReachOutcome::Reachable(run) => (CoverVerdict::Reachable, Some(run), None),
            ReachOutcome::Unreachable(_) => (CoverVerdict::Unreachable, None, None),
            ReachOutcome::Unknown(reason) => (CoverVerdict::Unknown, None, Some(reason.to_string())),
        };
        let answered = Answered { verdict, reason, is_met: answer.outcome.is_reachable(), run };
        Self::of(answered, answer.strategy, &answer.statistics, context)
    }

    fn of(answered: Answered<'a>, strategy: &'static str, statistics: &Statistics, context: &Context<'a>) -> Self {
        let net = &context.problem.net;
        let Answered { verdict, reason, is_met, run } = answered;
        let tokens = |(place, tokens): &'a (PlaceId, Count)| Tokens {
            place: &net.places[place.index()].name,
            tokens: Exact(tokens),
        };
        let formula = |quantifier: Quantifier| FormulaDocument {
            quantifier: match quantifier {
                Quantifier::Eventually => QuantifierWord::Ef,
                Quantifier::Always => QuantifierWord::Ag,
            },
            holds: is_met.map(|coverable| quantifier.holds(coverable)),
        };
        Self {
            header: FileHeader::new("palisade/cover/1", context.file),
            verdict,
            reason,
            formula: context.quantifier.map(formula),
            query: context.query,
            property: context.property,
            strategy,
            initial: run.map(|run| run.initial_choice.iter().map(tokens).collect()),
            run: run.map(|run| RunPart::all(net, &run.firings)),
            certificate: context.certificate,
            evidence: None,
            statistics: CoverStatistics {
                places: net.places.len(),
                transitions: net.transitions.len(),
                targets: context.problem.query.targets.len(),
                markings: statistics.markings,
                iterations: statistics.iterations,
                read_seconds: context.read_seconds,
                search_seconds: statistics.seconds,
                seconds: context.seconds,
                cpu_seconds: processor_time().as_secs_f64(),
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

/// Where a net was written that `palisade cover --write` rewrites.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The files: the net, and its question where that has a file of its own.
    pub written: &'a [String],
    /// What the format could not say.
    pub notes: &'a [String],
}

impl<'a> WrittenDocument<'a> {
    /// The document of a net that was written.
    pub fn new(file: &'a str, written: &'a [String], notes: &'a [String]) -> Self {
        Self { header: FileHeader::new("palisade/cover/1", file), written, notes }
    }
}
