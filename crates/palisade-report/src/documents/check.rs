//! `palisade/check/1`: the verdict on a program.

use super::counters::{CountersDocument, EndDocument, FarDocument, TicketsDocument};
use super::program::threads;
use super::prove::PropertyDocument;
use super::simulate::ModelWord;
use super::{
    AttackPlace, ConfirmationDocument, CopiesWord, DomainDocument, Finding, LabelPlace, OutcomeWord,
    PropertyVerdictWord, VerdictHeader, ViolationDocument,
};
use crate::breaks::Breaks;
use crate::check::missing;
use crate::context::Context;
use palisade_engine::robustness::{Abstraction, AttackOutcome, AttackReport, Check, Verdict};
use palisade_model::limits::peak_resident_bytes;
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade check` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a>,
    /// What may be growing without end, where the verdict is unknown; or why a search answers in place of nets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A step without a value that TSO reaches and SC does not; the program is not robust for that alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_under_tso: Option<String>,
    /// What to do about what may be growing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// What may be missing where a limit ended the check: counters that are explored value by value, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// For which counters the verdict is given besides, where it is for more than those of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersDocument>,
    /// The tickets that copies draw and wait for, of which the proof uses no more than that all of them differ; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<TicketsDocument>,
    /// The addresses whose values only fall, or only rise, and of which the proof knows no more beyond an end; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The addresses that counters fall behind, of which the proof does not tell apart how far; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub far: Vec<FarDocument>,
    /// The attacks, in order.
    pub attacks: Vec<AttackAnswer<'a>>,
    /// The labels that no interleaving reaches; null where that is not known.
    pub unreached: Option<Vec<LabelPlace<'a>>>,
    /// The violation, where the program is not robust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ViolationDocument<'a>>,
    /// What becomes of the properties under TSO, where the program is not robust and has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<BreaksDocument<'a>>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: CheckStatistics,
}

/// What becomes of the properties of a program that is not robust.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BreaksDocument<'a> {
    /// The memory model.
    pub model: ModelWord,
    /// The verdict on all properties together, as of `palisade prove`.
    pub verdict: PropertyVerdictWord,
    /// Why properties were not asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The properties that were asked about, in order.
    pub properties: Vec<PropertyDocument<'a>>,
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
}

impl<'a> BreaksDocument<'a> {
    fn new(breaks: &Breaks<'a>) -> Self {
        Self {
            model: ModelWord::Tso,
            verdict: breaks.verdict().into(),
            reason: breaks.unasked,
            properties: breaks.proof.map_or(Vec::new(), |proof| PropertyDocument::all(proof, &breaks.context)),
            evidence: None,
        }
    }
}

/// An attack with its answer.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttackAnswer<'a> {
    /// Its number, from 1.
    pub id: usize,
    /// Where it is.
    #[serde(flatten)]
    pub place: AttackPlace<'a>,
    /// The answer.
    pub outcome: OutcomeWord,
    /// What answered.
    pub strategy: &'static str,
    /// Configurations explored for it alone.
    pub markings: usize,
    /// Seconds spent on it alone.
    pub seconds: f64,
}

/// What a check took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckStatistics {
    /// Attacks that were decided by more than control flow.
    pub queries: usize,
    /// Configurations explored in all.
    pub markings: usize,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> CheckDocument<'a> {
    /// The document of a check.
    pub fn new(check: &'a Check<'_>, context: &Context<'a>, breaks: Option<&Breaks<'a>>) -> Self {
        let program = context.program;
        let decided =
            |report: &&AttackReport| matches!(report.outcome, AttackOutcome::Feasible | AttackOutcome::Infeasible);
        let suspect = check.suspect.as_ref();
        let mut header = VerdictHeader::new("palisade/check/1", context.file, program, (&check.verdict).into());
        if let Verdict::Unknown(reason) = check.verdict {
            header.reason = Some(reason.to_string());
        }
        let known = check.abstraction.as_ref().map(Abstraction::certificate);
        Self {
            header,
            note: suspect.map(|suspect| suspect.describe_suspicion(program)).or_else(|| {
                let fault = check.without_nets.as_ref()?;
                Some(format!("{}; a search answers in its place", fault.describe_in_net(program)))
            }),
            only_under_tso: check.only_under_tso.as_ref().map(|fault| fault.describe(program)),
            help: suspect.map(|fault| fault.advice(program)),
            missing: missing(check, program),
            threads: threads(program),
            domain: DomainDocument::new(program),
            counters: known.and_then(|known| known.modulo).map(CountersDocument::of),
            tickets: known.map_or(Vec::new(), |known| TicketsDocument::all(program, known)),
            ends: known.map_or(Vec::new(), |known| EndDocument::all(program, known)),
            far: known.map_or(Vec::new(), |known| FarDocument::all(program, known)),
            attacks: check.attacks.iter().zip(1..).map(|(report, id)| attack(program, id, report)).collect(),
            unreached: check.unreached.as_deref().map(|labels| LabelPlace::all(program, labels)),
            witness: check.violation.as_ref().map(|violation| ViolationDocument::new(program, violation)),
            properties: breaks.map(BreaksDocument::new),
            certificates: context.certificates,
            evidence: None,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: CheckStatistics {
                queries: check.attacks.iter().filter(decided).count(),
                markings: check.markings,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

fn attack<'a>(program: &'a Program, id: usize, report: &AttackReport) -> AttackAnswer<'a> {
    AttackAnswer {
        id,
        place: AttackPlace::new(program, report.attack),
        outcome: report.outcome.into(),
        strategy: report.strategy,
        markings: report.markings,
        seconds: report.seconds,
    }
}
