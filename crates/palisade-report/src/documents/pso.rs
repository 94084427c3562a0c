//! `palisade/check/1` of a check against PSO.

use super::program::threads;
use super::simulate::ModelWord;
use super::{ConfirmationDocument, CopiesWord, DomainDocument, Finding, VerdictHeader, ViolationDocument};
use crate::context::Context;
use palisade_engine::robustness::{PsoCheck, Verdict};
use palisade_model::limits::peak_resident_bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade check --model pso` found. Its verdict is about PSO, as `model` says.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PsoCheckDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a>,
    /// The memory model that the verdict is about.
    pub model: ModelWord,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The violation, a computation under PSO, where the program is not robust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ViolationDocument<'a>>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: PsoCheckStatistics,
}

/// What a check against PSO took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PsoCheckStatistics {
    /// Configurations of the instrumented program explored.
    pub markings: usize,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> PsoCheckDocument<'a> {
    /// The document of a check.
    pub fn new(check: &'a PsoCheck, context: &Context<'a>) -> Self {
        let program = context.program;
        let mut header = VerdictHeader::new("palisade/check/1", context.file, program, (&check.verdict).into());
        if let Verdict::Unknown(reason) = check.verdict {
            header.reason = Some(reason.to_string());
        }
        Self {
            header,
            model: ModelWord::Pso,
            threads: threads(program),
            domain: DomainDocument::new(program),
            witness: check.violation.as_ref().map(|violation| ViolationDocument::new(program, violation)),
            certificates: context.certificates,
            evidence: None,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: PsoCheckStatistics {
                markings: check.configurations,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}
