//! `palisade/fences/1`: the cheapest repair of a program, for robustness, for its properties or
//! against hangs.

mod for_pairs;
mod pairs;
mod properties;

use super::counters::{CountDocument, CountersDocument, EndDocument, FarDocument, TicketsDocument};
use super::program::threads;
use super::{AttackPlace, CopiesWord, DomainDocument, Finding, LabelPlace, OutcomeWord, VerdictHeader, VerdictWord};
use crate::context::Context;
use crate::fences::Result;
use crate::models::ModelWord;
use crate::needed::Needed;
use crate::proposal::KeptPlace;
use crate::source_place::SourcePlace;
use crate::verdict::before_the_repair;
use palisade_engine::fences::{Elimination, Measure, Placement, Proof, Redundancy, Repair, Unfinished};
use palisade_engine::robustness::{Attack, AttackOutcome};
use palisade_model::limits::peak_resident_bytes;
use palisade_model::program::Program;
pub use properties::{NeededDocument, PropertyPlace, PropertyRowDocument, ProvedDocument};
use properties::{NeededSummary, PropertiesDocument};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade fences` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FencesDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a, FencesVerdictWord>,
    /// What the fences are for.
    #[serde(rename = "for")]
    pub purpose: PurposeWord,
    /// The memory model.
    pub model: ModelWord,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The changes, empty for a robust program; null when no valid set is known or there is none.
    pub fences: Option<Vec<PlacedMeasure<'a>>>,
    /// What they cost together.
    pub cost: Option<f64>,
    /// The same as a decimal number or fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_cost: Option<String>,
    /// Whether no valid set costs less.
    pub optimal: bool,
    /// Whether the changed program was checked to the end: `robust` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired: Option<VerdictWord>,
    /// The counters for which it was shown robust besides, where these are more than those of the
    /// domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersDocument>,
    /// The tickets that copies draw and wait for, of which the proof of that uses no more than that
    /// all of them differ; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<TicketsDocument>,
    /// The addresses whose values only fall, or only rise, and of which that proof knows no more
    /// beyond an end; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The addresses that count what copies hold, of which that proof tells few values apart; left
    /// out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountDocument>,
    /// The addresses that counters fall behind, of which that proof does not tell apart how far;
    /// left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub far: Vec<FarDocument>,
    /// An attack that stays feasible whatever is changed, where no set is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impossible: Option<AttackPlace<'a>>,
    /// The attacks found feasible, where no valid set is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<Vec<AttackPlace<'a>>>,
    /// Why no valid set costs less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofDocument<'a>>,
    /// What is known about the fences for properties.
    #[serde(flatten)]
    pub properties: Option<PropertiesDocument<'a>>,
    /// Which of the changes that make the program robust its properties need under TSO; not there
    /// where it has none.
    #[serde(rename = "properties_need", skip_serializing_if = "Option::is_none")]
    pub needed: Option<NeededSummary<'a>>,
    /// All optimal sets, with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<Vec<MeasurePlace<'a>>>>,
    /// Whether these are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives_complete: Option<bool>,
    /// With `--all`, how many of them `verify` has accepted a certificate for: the one taken, and
    /// 100 others at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives_checked: Option<usize>,
    /// The attacks, in order, with what eliminates them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacks: Option<Vec<EliminatedAttack<'a>>>,
    /// How the evidence for these claims fared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceWord>,
    /// The fences that are there already, judged, with `--redundant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundant: Option<RedundancyDocument<'a>>,
    /// The labels of the repaired program that no interleaving reaches; null where that is not
    /// known.
    pub unreached: Option<Vec<LabelPlace<'a>>>,
    /// The unified diff to the repaired text; null where the text itself cannot be changed.
    pub diff: Option<&'a str>,
    /// Of machine code by its language, the places of its sources that no change was considered at.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub kept: &'a [KeptPlace],
    /// Of a language, what a report says besides, each as its heading and its words.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub notes: &'a [(&'static str, String)],
    /// Where the repaired text was written.
    pub written: Option<&'a str>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: FencesStatistics,
}

/// What fences are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum PurposeWord {
    /// Robustness against TSO.
    Robustness,
    /// The properties that the program states.
    Property,
    /// Freedom from hangs.
    Hangs,
}

/// The verdict on the program as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum FencesVerdictWord {
    /// Every computation under TSO has the trace of an interleaving.
    Robust,
    /// Some computation has not.
    NotRobust,
    /// Every property holds under the model, or nobody waits for ever.
    Holds,
    /// Some property is violated under the model, or somebody waits for ever.
    Violated,
    /// It was not found out.
    Unknown,
}

impl From<VerdictWord> for FencesVerdictWord {
    fn from(word: VerdictWord) -> Self {
        match word {
            VerdictWord::Robust => Self::Robust,
            VerdictWord::NotRobust => Self::NotRobust,
            VerdictWord::Unknown => Self::Unknown,
        }
    }
}

/// How the evidence for a repair fared; it is never rejected in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum EvidenceWord {
    /// Every claim has evidence that was checked.
    Accepted,
    /// A limit was reached before every claim had.
    Incomplete,
}

impl EvidenceWord {
    pub(crate) const fn of(is_complete: bool) -> Self {
        if is_complete { Self::Accepted } else { Self::Incomplete }
    }
}

/// A change of the program by its place.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasurePlace<'a> {
    /// The thread.
    pub thread: &'a str,
    /// The label.
    pub label: &'a str,
    /// The name that the text has there, if it has one.
    #[serde(skip)]
    pub name: Option<&'a str>,
    /// The line, from 1.
    pub line: usize,
    /// What is done there.
    pub kind: MeasureWord,
    /// The ordering that an access gets there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<&'static str>,
    /// Whether that is the ordering of an update that fails; missing where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// Of machine code, the place in its sources: the measure changes all that was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePlace<'a>>,
}

/// The kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum MeasureWord {
    /// A fence stands at the label.
    Fence,
    /// A store fence stands at the label.
    Sfence,
    /// The store becomes a locked exchange.
    Xchg,
    /// The access gets another ordering.
    Ordering,
}

/// A change with its cost.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlacedMeasure<'a> {
    /// The change.
    #[serde(flatten)]
    pub measure: MeasurePlace<'a>,
    /// Its cost.
    pub cost: f64,
    /// An attack that is feasible without it, where one is known.
    pub returns: Option<AttackPlace<'a>>,
    /// Whether the properties need it, where fences are for robustness, the program has properties
    /// and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<bool>,
    /// A property that is violated without it, where fences are for properties and one is known;
    /// where they are for robustness, when of the other changes only those stay that the properties
    /// need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violates: Option<PropertyPlace<'a>>,
}

/// Why no valid set costs less.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProofDocument<'a> {
    /// What a valid set costs at least, by these rows.
    pub bound: String,
    /// The rows.
    pub rows: Vec<RowDocument<'a>>,
    /// Branchings of the exact search that closes the gap between the bound and the cost.
    pub branchings: u64,
}

/// Changes of which a valid set has one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowDocument<'a> {
    /// The attack that is feasible without all of them.
    pub attack: AttackPlace<'a>,
    /// The changes.
    pub one_of: Vec<MeasurePlace<'a>>,
    /// The weight of the row in the bound.
    pub weight: String,
}

/// An attack with what eliminates it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EliminatedAttack<'a> {
    /// Its number, from 1.
    pub id: usize,
    /// Where it is.
    #[serde(flatten)]
    pub place: AttackPlace<'a>,
    /// The answer about it.
    pub outcome: OutcomeWord,
    /// The irreducible sets of changes that eliminate it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eliminating: Option<Vec<Vec<MeasurePlace<'a>>>>,
    /// Whether these are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eliminating_complete: Option<bool>,
}

/// What was found about the fences that are there already.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RedundancyDocument<'a> {
    /// They were judged.
    Judged {
        /// Each of them.
        fences: Vec<JudgedFence<'a>>,
        /// A largest set of them that can go together.
        largest: Vec<MeasurePlace<'a>>,
        /// The others, with what comes back if they go as well.
        needed: Vec<NeededFence<'a>>,
        /// The verdict on the program without the largest set.
        without_largest: VerdictWord,
        /// How the evidence for this fared; there is none where the program is not robust with its
        /// fences.
        #[serde(skip_serializing_if = "Option::is_none")]
        evidence: Option<EvidenceWord>,
    },
    /// They were not.
    Unjudged {
        /// Why.
        reason: String,
    },
}

/// A fence that is there already.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JudgedFence<'a> {
    /// The fence.
    #[serde(flatten)]
    pub measure: MeasurePlace<'a>,
    /// Whether it alone can go.
    pub redundant: bool,
    /// An attack that is feasible when it alone goes.
    pub returns: Option<AttackPlace<'a>>,
}

/// A fence that is needed once others have gone.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeededFence<'a> {
    /// The fence.
    #[serde(flatten)]
    pub measure: MeasurePlace<'a>,
    /// An attack that is feasible when it goes as well.
    pub returns: AttackPlace<'a>,
}

/// What a repair took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FencesStatistics {
    /// Sets of changes that the search considered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// Those of them that took a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searches: Option<usize>,
    /// Configurations explored in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markings: Option<usize>,
    /// Seconds from reading to the end.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> FencesDocument<'a> {
    /// A document that says nothing about a program yet but what it is and what its fences are for.
    pub(crate) fn blank(
        verdict: FencesVerdictWord,
        purpose: PurposeWord,
        model: ModelWord,
        context: &Context<'a>,
    ) -> Self {
        let program = context.program;
        Self {
            header: VerdictHeader::new("palisade/fences/1", context.file, program, verdict),
            purpose,
            model,
            threads: threads(program),
            domain: DomainDocument::new(program),
            fences: None,
            cost: None,
            exact_cost: None,
            optimal: false,
            repaired: None,
            counters: None,
            tickets: Vec::new(),
            ends: Vec::new(),
            counts: Vec::new(),
            far: Vec::new(),
            impossible: None,
            feasible: None,
            proof: None,
            properties: None,
            needed: None,
            alternatives: None,
            alternatives_complete: None,
            alternatives_checked: None,
            attacks: None,
            evidence: None,
            redundant: None,
            unreached: None,
            diff: None,
            kept: &[],
            notes: &[],
            written: None,
            certificates: context.certificates,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: FencesStatistics {
                candidates: None,
                searches: None,
                markings: None,
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }

    /// The document of a repair.
    pub fn new(result: &'a Result<'a>, context: &Context<'a>) -> Self {
        let found = result.found;
        let (program, known) = (context.program, found.certificate.as_ref());
        let blank = Self::blank(FencesVerdictWord::Unknown, PurposeWord::Robustness, ModelWord::Tso, context);
        let mut document = Self {
            needed: result.needed.map(|needed| NeededSummary::new(needed, program)),
            evidence: found.shown.as_ref().map(|_| EvidenceWord::of(result.is_complete())),
            redundant: found.redundancy.as_ref().map(|redundancy| {
                let shown = found.redundancy_shown.as_ref();
                RedundancyDocument::new(redundancy, shown.map(|shown| EvidenceWord::of(shown.is_complete)), program)
            }),
            counters: known.and_then(|known| known.modulo).map(CountersDocument::of),
            tickets: known.map_or(Vec::new(), |known| TicketsDocument::all(program, known)),
            ends: known.map_or(Vec::new(), |known| EndDocument::all(program, known)),
            counts: known.map_or(Vec::new(), |known| CountDocument::all(program, known)),
            far: known.map_or(Vec::new(), |known| FarDocument::all(program, known)),
            unreached: found.unreached.as_deref().map(|labels| LabelPlace::all(&found.program, labels)),
            diff: if result.no_diff.is_some() { None } else { Some(result.diff()) },
            written: result.written,
            ..blank
        };
        match &found.repair {
            Repair::Valid(placement) => {
                document.add_placement(placement, program, result);
                let checked = found.shown.as_ref().map_or(0, |shown| shown.optima);
                document.alternatives_checked = result.all.then_some(checked);
            }
            Repair::Impossible(attack) => {
                document.header.verdict = FencesVerdictWord::NotRobust;
                document.impossible = Some(AttackPlace::new(program, *attack));
            }
            Repair::Unknown { reason, feasible } => {
                document.header.reason = Some(reason.describe(program));
                document.feasible = Some(feasible.iter().map(|attack| AttackPlace::new(program, *attack)).collect());
            }
        }
        document
    }

    fn add_placement(&mut self, placement: &'a Placement, program: &'a Program, result: &Result<'_>) {
        let all = result.all;
        self.header.verdict = before_the_repair(placement).into();
        let placed = placement.measures.iter().map(|(measure, cost)| {
            let returning = placement.returning.iter().find(|returning| returning.measure == *measure);
            let row = result.needed.and_then(Needed::placement).and_then(|needed| needed.row_of(*measure));
            PlacedMeasure {
                measure: MeasurePlace::new(program, *measure),
                cost: cost.to_f64(),
                returns: returning.map(|returning| AttackPlace::new(program, returning.attack)),
                needed: result.needed.and_then(|needed| needed.is_needed(*measure)),
                violates: row.map(|row| PropertyPlace::new(program, row.run.target)),
            }
        });
        self.fences = Some(placed.collect());
        self.cost = Some(placement.cost.to_f64());
        self.exact_cost = Some(placement.cost.to_string());
        self.optimal = placement.proof.is_some();
        self.repaired = Some(if placement.confirmed { VerdictWord::Robust } else { VerdictWord::Unknown });
        self.header.reason = placement.stop.as_ref().map(|reason| reason.describe(program));
        self.proof = placement.proof.as_ref().map(|proof| ProofDocument::new(program, proof));
        if all {
            self.alternatives = Some(placement.alternatives.iter().map(|set| places(program, set)).collect());
            self.alternatives_complete = Some(placement.alternatives_complete);
        }
        let attacks = placement.attacks.iter().zip(1..).map(|((attack, outcome), id)| {
            let found = placement.eliminations.iter().find(|elimination| elimination.attack == *attack);
            EliminatedAttack::new(program, id, (*attack, *outcome), found)
        });
        self.attacks = Some(attacks.collect());
        self.statistics.candidates = Some(placement.candidates);
        self.statistics.searches = Some(placement.searches);
        self.statistics.markings = Some(placement.markings);
    }
}

impl<'a> MeasurePlace<'a> {
    /// Where a measure stands.
    pub fn new(program: &'a Program, measure: Measure) -> Self {
        let thread = program.thread(measure.thread());
        let label = thread.label(measure.label(program));
        Self {
            thread: &thread.name,
            label: &label.name,
            name: label.written(),
            line: measure.line(program),
            kind: match measure {
                Measure::Fence { .. } | Measure::Kept { .. } => MeasureWord::Fence,
                Measure::StoreFence { .. } => MeasureWord::Sfence,
                Measure::Exchange { .. } => MeasureWord::Xchg,
                Measure::Ordered { .. } => MeasureWord::Ordering,
            },
            ordering: match measure {
                Measure::Ordered { ordering, .. } => Some(ordering.word()),
                _ => None,
            },
            failing: matches!(measure, Measure::Ordered { failing: true, .. }),
            source: SourcePlace::of(&program.source, measure.span(program)),
        }
    }
}

pub(super) fn places<'a>(program: &'a Program, measures: &[Measure]) -> Vec<MeasurePlace<'a>> {
    measures.iter().map(|measure| MeasurePlace::new(program, *measure)).collect()
}

impl<'a> ProofDocument<'a> {
    fn new(program: &'a Program, proof: &Proof) -> Self {
        let rows = proof.weights.iter().map(|(attack, row, weight)| RowDocument {
            attack: AttackPlace::new(program, *attack),
            one_of: places(program, row),
            weight: weight.to_string(),
        });
        Self { bound: proof.bound.to_string(), rows: rows.collect(), branchings: proof.branchings }
    }
}

impl<'a> EliminatedAttack<'a> {
    fn new(
        program: &'a Program,
        id: usize,
        (attack, outcome): (Attack, AttackOutcome),
        elimination: Option<&Elimination>,
    ) -> Self {
        Self {
            id,
            place: AttackPlace::new(program, attack),
            outcome: outcome.into(),
            eliminating: elimination.map(|found| found.sets.iter().map(|set| places(program, set)).collect()),
            eliminating_complete: elimination.map(|found| found.complete),
        }
    }
}

impl<'a> RedundancyDocument<'a> {
    fn new(
        redundancy: &std::result::Result<Redundancy, Unfinished>,
        evidence: Option<EvidenceWord>,
        program: &'a Program,
    ) -> Self {
        let redundancy = match redundancy {
            Ok(redundancy) => redundancy,
            Err(reason) => return Self::Unjudged { reason: reason.describe(program) },
        };
        let fences = redundancy.fences.iter().map(|(fence, attack)| JudgedFence {
            measure: MeasurePlace::new(program, *fence),
            redundant: attack.is_none(),
            returns: attack.map(|attack| AttackPlace::new(program, attack)),
        });
        let needed = redundancy.needed.iter().map(|returning| NeededFence {
            measure: MeasurePlace::new(program, returning.measure),
            returns: AttackPlace::new(program, returning.attack),
        });
        Self::Judged {
            fences: fences.collect(),
            largest: places(program, &redundancy.removable),
            needed: needed.collect(),
            without_largest: (&redundancy.without_largest).into(),
            evidence,
        }
    }
}
