//! The part of `palisade/check/1` that says whether a program with events or tasks is robust against TSO.

use super::{ConfirmationDocument, VerdictWord};
use crate::tso::{Computation, ShownStep};
use palisade_engine::robustness::{TaskCheck, Verdict};
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether TSO shows what no interleaving does.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TsoAnswer<'a> {
    /// The verdict.
    pub verdict: VerdictWord,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What posts do to store buffers: `drain` or `plain`.
    pub posts: &'static str,
    /// How often each event occurs, and how many copies of each thread run, in the violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<BTreeMap<&'a str, u64>>,
    /// Whether no instance with fewer occurrences and copies in all, of what there is any number of, has a violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_minimal: Option<bool>,
    /// The computation: the steps that others see, and the stores that reach memory late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computation: Option<Vec<TsoStep>>,
    /// A cycle of the happens-before relation, as numbers of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<usize>>,
    /// Whether the main thread takes a task in it before one that was posted to it earlier; left out where it takes no posted tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<bool>,
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// Configurations of the instrumented program explored.
    pub configurations: usize,
}

/// A step of a computation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TsoStep {
    /// Its number, from 1.
    pub number: usize,
    /// The thread that takes it: `main`, or the name of its only invocation.
    pub thread: String,
    /// The invocation: `onText#0`, or `search of onText#0` for a task.
    pub invocation: String,
    /// The line of the instruction, from 1; null where an event occurs, an invocation begins, or a store reaches memory.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
}

impl<'a> TsoAnswer<'a> {
    pub(super) fn new(check: &'a TaskCheck, program: &'a Program) -> Self {
        let verdict = match check.verdict {
            Verdict::Robust => VerdictWord::Robust,
            Verdict::NotRobust => VerdictWord::NotRobust,
            Verdict::Unknown(_) => VerdictWord::Unknown,
        };
        let reason = if let Verdict::Unknown(reason) = check.verdict { Some(reason.to_string()) } else { None };
        let mut answer = Self {
            verdict,
            reason,
            posts: program.posts.word(),
            instance: None,
            instance_minimal: None,
            computation: None,
            cycle: None,
            out_of_order: None,
            evidence: None,
            configurations: check.configurations,
        };
        let Some(witness) = &check.witness else { return answer };
        let counts = program.threads.iter().zip(&witness.instance).filter(|(it, _)| !it.is_task());
        answer.instance = Some(counts.map(|(it, count)| (it.name.as_str(), *count)).collect());
        answer.instance_minimal = program.is_parameterized().then_some(check.is_minimal);
        if let Some(computation) = Computation::of(program, witness) {
            answer.out_of_order = computation.is_out_of_order;
            answer.cycle = Some(computation.cycle);
            answer.computation = Some(computation.steps.into_iter().map(TsoStep::new).collect());
        }
        answer
    }
}

impl TsoStep {
    pub(super) fn new(step: ShownStep) -> Self {
        let ShownStep { number, thread, invocation, line, action, .. } = step;
        Self { number, thread, invocation, line, action }
    }
}
