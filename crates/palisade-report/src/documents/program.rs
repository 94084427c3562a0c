//! What documents say of programs: copies, domain, attacks, verdicts.

use crate::source_place::SourcePlace;
use crate::unreached;
use crate::verdict::outcome_words;
use palisade_engine::robustness::{Attack, AttackOutcome, ThreadLabel};
use palisade_model::program::{Copies, Domain, DomainOrigin, InstructionId, Program};
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer about an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum OutcomeWord {
    /// It is feasible.
    Feasible,
    /// It is not.
    Infeasible,
    /// Control flow rules it out.
    Pruned,
    /// A limit was reached before it was decided.
    Unknown,
    /// Another attack was found feasible before it was decided.
    NotAsked,
}

impl From<AttackOutcome> for OutcomeWord {
    fn from(outcome: AttackOutcome) -> Self {
        match outcome {
            AttackOutcome::Feasible => Self::Feasible,
            AttackOutcome::Infeasible => Self::Infeasible,
            AttackOutcome::Pruned => Self::Pruned,
            AttackOutcome::Unknown => Self::Unknown,
            AttackOutcome::NotAsked => Self::NotAsked,
        }
    }
}

impl OutcomeWord {
    /// What has become of the attack, for people.
    pub fn words(self) -> &'static str {
        let outcome = match self {
            Self::Feasible => AttackOutcome::Feasible,
            Self::Infeasible => AttackOutcome::Infeasible,
            Self::Pruned => AttackOutcome::Pruned,
            Self::Unknown => AttackOutcome::Unknown,
            Self::NotAsked => AttackOutcome::NotAsked,
        };
        outcome_words(outcome, 1)
    }
}

/// How many copies of a thread there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum CopiesWord {
    /// So many.
    Exactly(u64),
    /// Any number.
    Any(AnyNumber),
}

/// Any number of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum AnyNumber {
    /// Any number.
    #[serde(rename = "*")]
    Star,
}

impl From<Copies> for CopiesWord {
    fn from(copies: Copies) -> Self {
        match copies {
            Copies::Exactly(count) => Self::Exactly(count),
            Copies::Any => Self::Any(AnyNumber::Star),
        }
    }
}

/// The copies of each thread of a program.
pub fn threads(program: &Program) -> BTreeMap<&str, CopiesWord> {
    let counted = program.threads.iter().filter(|thread| !thread.is_task());
    counted.map(|thread| (thread.name.as_str(), thread.copies.into())).collect()
}

/// The domain of values.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainDocument {
    /// The least value; null without a domain.
    pub low: Option<i64>,
    /// The largest value; null without a domain.
    pub high: Option<i64>,
    /// Whether arithmetic wraps into the domain.
    pub wrap: bool,
    /// Where the domain comes from.
    pub origin: DomainSource,
}

/// Where a domain comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum DomainSource {
    /// The program's text.
    File,
    /// An option of the command.
    Option,
    /// There is no domain.
    None,
}

impl DomainDocument {
    /// The domain of a program.
    pub fn new(program: &Program) -> Self {
        Self::of(program.domain)
    }

    /// A domain, if there is one.
    pub(super) fn of(domain: Option<Domain>) -> Self {
        let Some(domain) = domain else {
            return Self { low: None, high: None, wrap: false, origin: DomainSource::None };
        };
        let origin = match domain.origin {
            DomainOrigin::File => DomainSource::File,
            DomainOrigin::Option => DomainSource::Option,
        };
        Self { low: Some(domain.low), high: Some(domain.high), wrap: domain.wrap, origin }
    }
}

/// An attack by its places in the program's text.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttackPlace<'a> {
    /// The thread that delays the store.
    pub thread: &'a str,
    /// The store that is delayed.
    pub store: InstructionPlace<'a>,
    /// The load that it is delayed past.
    pub load: InstructionPlace<'a>,
}

/// An instruction by its place in the program's text.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InstructionPlace<'a> {
    /// Its label.
    pub label: &'a str,
    /// The name that the text has there, if it has one.
    #[serde(skip)]
    pub name: Option<&'a str>,
    /// Its line, from 1.
    pub line: usize,
    /// Of machine code, the place in its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePlace<'a>>,
}

impl<'a> AttackPlace<'a> {
    /// An attack of a program.
    pub fn new(program: &'a Program, attack: Attack) -> Self {
        let thread = program.thread(attack.thread);
        let place = |instruction: InstructionId| {
            let found = thread.instruction(instruction);
            let label = thread.label(found.source);
            InstructionPlace {
                label: &label.name,
                name: label.written(),
                line: program.source.position(found.span.start).line,
                source: SourcePlace::of(&program.source, found.span),
            }
        };
        Self { thread: &thread.name, store: place(attack.store), load: place(attack.load) }
    }
}

/// A label by its place in the program's text.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LabelPlace<'a> {
    /// The thread.
    pub thread: &'a str,
    /// The label.
    pub label: &'a str,
    /// The name that the text has for it, if it has one.
    #[serde(skip)]
    pub name: Option<&'a str>,
    /// The line of its first instruction, from 1.
    pub line: usize,
}

impl<'a> LabelPlace<'a> {
    /// Labels of a program that are not reached, as far as they are told.
    pub fn all(program: &'a Program, labels: &[ThreadLabel]) -> Vec<Self> {
        let labels = unreached::told(program, labels);
        let of_threads = labels.chunk_by(|(one, _), (other, _)| one == other).flat_map(|chunk| {
            let thread = program.thread(chunk[0].0);
            let by_label = thread.instructions_by_label();
            chunk.iter().map(move |(_, label)| {
                // Where it stands before an instruction, not where something goes to it.
                let first = by_label[label.index()].first().map(|instruction| thread.instruction(*instruction).span);
                let label = thread.label(*label);
                let line = program.source.position(first.unwrap_or(label.span).start).line;
                Self { thread: &thread.name, label: &label.name, name: label.written(), line }
            })
        });
        of_threads.collect()
    }
}
