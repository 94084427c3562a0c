//! `palisade/prove/1`: which properties of a program hold under a memory model.

use super::counters::{CountersDocument, EndDocument, FarDocument, TicketsDocument};
use super::program::threads;
use super::simulate::ModelWord;
use super::step::{StepDocument, steps};
use super::tso::TsoStep;
use super::{ClaimDocument, ConfirmationDocument, CopiesWord, DomainDocument, FileHeader, Finding};
use crate::prove::{Context, PropertyVerdict, computation, task_computation, why_open};
use crate::widths::widths;
use palisade_engine::properties::{Answer, Proof, TargetAnswer, Violation};
use palisade_evidence::PropertyReason;
use palisade_model::limits::peak_resident_bytes;
use palisade_semantics::Model;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade prove` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProveDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The memory model.
    pub model: ModelWord,
    /// The verdict on all properties together.
    pub verdict: PropertyVerdictWord,
    /// What the verdict is about, where it is about machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimDocument<'a>>,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The properties, in order.
    pub properties: Vec<PropertyDocument<'a>>,
    /// True where posts are plain and the program is robust with them, so that it keeps what it keeps where posts drain; left out elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub robust_with_plain_posts: bool,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: ProveStatistics,
}

/// A verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum PropertyVerdictWord {
    /// It holds.
    Holds,
    /// It is violated.
    Violated,
    /// There is no answer.
    Unknown,
}

impl From<PropertyVerdict> for PropertyVerdictWord {
    fn from(verdict: PropertyVerdict) -> Self {
        match verdict {
            PropertyVerdict::Holds => Self::Holds,
            PropertyVerdict::Violated => Self::Violated,
            PropertyVerdict::Unknown => Self::Unknown,
        }
    }
}

/// A property with its answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertyDocument<'a> {
    /// What it is: `ensure`, `fail`, `never`, or the quantifier of a litmus test's question.
    pub kind: &'static str,
    /// The property as the language writes it, or the condition of the question.
    pub property: String,
    /// The thread; null for a `never` and for a question.
    pub thread: Option<&'a str>,
    /// The label; null for a `never` and for a question.
    pub label: Option<&'a str>,
    /// The line, from 1; null for a question.
    pub line: Option<usize>,
    /// The verdict.
    pub verdict: PropertyVerdictWord,
    /// What answered: `values`, `sc`, `sc-robust`, `buffers`, `snapshots`, `enriched` or `counters`; null where there is no answer.
    pub by: Option<&'static str>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the target is reached under SC already; null where that is not known.
    pub under_sc: Option<bool>,
    /// How many stores a buffer could hold in the exploration that answered, or a thread keep itself, or how many snapshots a queue; else null.
    pub buffer: Option<usize>,
    /// For which counters it holds besides, where the proof is about more than those of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersDocument>,
    /// The tickets that copies draw and wait for, of which the proof uses no more than that all of them differ; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<TicketsDocument>,
    /// The addresses whose values stop at an end in the proof; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The addresses that counters fall behind, of which the proof does not tell apart how far; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub far: Vec<FarDocument>,
    /// The configurations explored by what answered.
    pub states: usize,
    /// How many instructions do not matter for it and were left out.
    pub left_out: usize,
    /// Seconds spent on it and the properties that were asked together with it.
    pub seconds: f64,
    /// The computation that reaches the target: a violation, or for `exists` what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ReachingDocument<'a>>,
}

/// A computation that reaches a target.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReachingDocument<'a> {
    /// How many copies of each thread run, and how often each event occurs.
    pub instance: BTreeMap<&'a str, u64>,
    /// Whether no instance with fewer copies of replicated threads in all reaches the target.
    pub instance_minimal: bool,
    /// Whether no computation in fewer steps reaches the target, as far as is known.
    pub shortest: bool,
    /// The computation.
    pub steps: Vec<ReachingStep<'a>>,
}

/// A step of a computation that reaches a target.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ReachingStep<'a> {
    /// One of a copy of a thread.
    Copy(StepDocument<'a>),
    /// One of an event, a task or a thread, in a program that has events or tasks.
    Invocation(TsoStep),
}

/// What a proof took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProveStatistics {
    /// Configurations explored in all.
    pub states: usize,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> ProveDocument<'a> {
    /// The document of a proof.
    pub fn new(proof: &'a Proof, context: &Context<'a>) -> Self {
        let program = context.program;
        Self {
            header: FileHeader::new("palisade/prove/1", context.file),
            program: &program.name,
            model: match proof.model {
                Model::Sc => ModelWord::Sc,
                Model::Tso => ModelWord::Tso,
                Model::Pso => ModelWord::Pso,
            },
            verdict: PropertyVerdict::of_all(proof, context.question).into(),
            claim: ClaimDocument::of(context.written),
            threads: threads(if context.queued.is_some() { context.written } else { program }),
            domain: DomainDocument::new(program),
            properties: PropertyDocument::all(proof, context),
            robust_with_plain_posts: proof.plain_posts.is_some(),
            certificates: context.certificates,
            evidence: None,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: ProveStatistics {
                states: proof.states,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

impl<'a> PropertyDocument<'a> {
    /// The properties of a proof, in order.
    pub(super) fn all(proof: &'a Proof, context: &Context<'a>) -> Vec<Self> {
        proof.answers.iter().map(|answer| Self::new(proof, answer, context)).collect()
    }

    fn new(proof: &Proof, answer: &'a TargetAnswer, context: &Context<'a>) -> Self {
        let properties = context.properties();
        let label = properties.label(answer.target);
        let is_open = matches!(answer.answer, Answer::Open(_));
        let reason = match answer.answer {
            Answer::Holds(position) => proof.proofs.get(position),
            _ => None,
        };
        let interleavings = reason.and_then(|own| match &own.reason {
            PropertyReason::Counters { sc, .. } => Some(&**sc),
            _ => None,
        });
        Self {
            kind: properties.kind(answer.target),
            property: properties.text(answer.target),
            thread: label.map(|(thread, _)| thread),
            label: label.map(|(_, label)| label),
            line: properties.line(answer.target),
            verdict: PropertyVerdict::of(answer, context.question).into(),
            by: (!is_open).then(|| answer.rung.name()),
            reason: match answer.answer {
                Answer::Open(why) => Some(why_open(answer.rung, why)),
                _ => None,
            },
            under_sc: answer.under_sc,
            buffer: answer.buffer,
            counters: reason.and_then(widths).map(CountersDocument::of),
            tickets: interleavings.map_or(Vec::new(), |own| TicketsDocument::all(context.program, own)),
            ends: interleavings.map_or(Vec::new(), |own| EndDocument::all(context.program, own)),
            far: interleavings.map_or(Vec::new(), |own| FarDocument::all(context.program, own)),
            states: answer.states,
            left_out: answer.sliced,
            seconds: answer.seconds,
            witness: match &answer.answer {
                Answer::Violated(violation) => Some(reaching(violation, context)),
                _ => None,
            },
        }
    }
}

fn reaching<'a>(violation: &'a Violation, context: &Context<'a>) -> ReachingDocument<'a> {
    let copies = context.program.threads.iter().zip(violation.instance.counts()).enumerate();
    // Tasks have copies only among the threads that say them.
    let is_shown = |position: usize| context.written.threads.get(position).is_none_or(|written| !written.is_task());
    let shown = copies.filter(|(position, _)| is_shown(*position));
    ReachingDocument {
        instance: shown.map(|(_, (thread, count))| (thread.name.as_str(), *count)).collect(),
        instance_minimal: violation.instance_minimal,
        shortest: violation.shortest,
        steps: match task_computation(context, violation) {
            Some(shown) => shown.steps.into_iter().map(TsoStep::new).map(ReachingStep::Invocation).collect(),
            None => steps(&computation(context.program, violation)).into_iter().map(ReachingStep::Copy).collect(),
        },
    }
}
