//! `palisade/check/1` for programs with events: whether they are robust against concurrency and against TSO.

use super::tso::TsoAnswer;
use super::{ConfirmationDocument, CopiesWord, DomainDocument, Finding, VerdictHeader, VerdictWord};
use crate::concurrency::unknown_reason;
use crate::context::Context;
use crate::interleaving::{Interleaving, SeenStep};
use palisade_concurrency::{ConcurrencyCheck, ConcurrencyVerdict, ConcurrencyViolation};
use palisade_engine::robustness::TaskCheck;
use palisade_model::limits::peak_resident_bytes;
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade check` found about a program with events.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventCheckDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a>,
    /// How often each event may occur.
    pub events: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// Robustness against concurrency, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<ConcurrencyAnswer<'a>>,
    /// Robustness against TSO, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tso: Option<TsoAnswer<'a>>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// How the evidence about concurrency fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: EventCheckStatistics,
}

/// Whether events can be seen as atomic, and their tasks as run one after the other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConcurrencyAnswer<'a> {
    /// The verdict.
    pub verdict: VerdictWord,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is violated: `serializability` if events cannot be seen as atomic, `determinism` if the tasks of one event cannot be seen as run one after
    /// the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// How often each event occurs in the violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<BTreeMap<&'a str, u64>>,
    /// The interleaving: the steps that others see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Vec<InterleavingStep>>,
    /// The conflicts without a serial order, each as the numbers of its earlier and its later step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Vec<(usize, usize)>>,
    /// Whether the main thread takes a task in it before one that was posted to it earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<bool>,
}

/// A step of an interleaving.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterleavingStep {
    /// Its number, from 1.
    pub number: usize,
    /// The invocation: `onText#0`, or `search of onText#0` for a task.
    pub invocation: String,
    /// Whether it runs on the main thread.
    pub on_main: bool,
    /// The label of the instruction; null where an event occurs.
    pub label: Option<String>,
    /// What it does.
    pub action: String,
}

/// What a check of a program with events took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventCheckStatistics {
    /// States of the serial program explored, where concurrency was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<usize>,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> EventCheckDocument<'a> {
    /// The document of the checks that were asked for: against concurrency, and against TSO.
    pub fn new(
        (concurrency, tso): (Option<&'a ConcurrencyCheck>, Option<&'a TaskCheck>),
        context: &Context<'a>,
    ) -> Self {
        let program = context.program;
        let states = concurrency.map(|check| check.states);
        let concurrency = concurrency.map(|check| ConcurrencyAnswer::new(check, program));
        let tso = tso.map(|check| TsoAnswer::new(check, program));
        let first = concurrency.iter().map(|answer| (answer.verdict, answer.reason.clone()));
        let (verdict, reason) = worst(first.chain(tso.iter().map(|answer| (answer.verdict, answer.reason.clone()))));
        let mut header = VerdictHeader::new("palisade/check/1", context.file, program, verdict);
        header.reason = reason;
        Self {
            header,
            events: program.events().map(|(_, event)| (event.name.as_str(), event.copies.into())).collect(),
            domain: DomainDocument::new(program),
            concurrency,
            tso,
            certificates: context.certificates,
            evidence: None,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: EventCheckStatistics {
                states,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

/// The worst of several verdicts, with the reason for it.
pub(super) fn worst(answers: impl Iterator<Item = (VerdictWord, Option<String>)>) -> (VerdictWord, Option<String>) {
    let answers: Vec<_> = answers.collect();
    let words = [VerdictWord::NotRobust, VerdictWord::Unknown];
    let found = words.iter().find_map(|word| answers.iter().find(|(verdict, _)| verdict == word));
    found.cloned().unwrap_or((VerdictWord::Robust, None))
}

impl<'a> ConcurrencyAnswer<'a> {
    pub(super) fn new(check: &ConcurrencyCheck, program: &'a Program) -> Self {
        let verdict = match &check.verdict {
            ConcurrencyVerdict::Robust(_) => VerdictWord::Robust,
            ConcurrencyVerdict::NotRobust(_) => VerdictWord::NotRobust,
            ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => VerdictWord::Unknown,
        };
        let reason = unknown_reason(check, program);
        let mut answer = Self {
            verdict,
            reason,
            kind: None,
            instance: None,
            interleaving: None,
            conflicts: None,
            out_of_order: None,
        };
        let ConcurrencyVerdict::NotRobust(ConcurrencyViolation { witness, instance }) = &check.verdict else {
            return answer;
        };
        let counts = instance.iter().map(|(event, count)| (program.thread(*event).name.as_str(), *count));
        answer.instance = Some(counts.collect());
        if let Some(shown) = Interleaving::of(program, witness) {
            answer.out_of_order = Some(shown.is_out_of_order);
            answer.kind = Some(if shown.is_cycle { "serializability" } else { "determinism" });
            answer.conflicts = Some(shown.conflicts);
            answer.interleaving = Some(shown.steps.into_iter().map(InterleavingStep::new).collect());
        }
        answer
    }
}

impl InterleavingStep {
    fn new(step: SeenStep) -> Self {
        let SeenStep { number, invocation, on_main, label, action, .. } = step;
        Self { number, invocation, on_main, label, action }
    }
}
