//! The parts of `palisade/fences/1` that are about fences for properties.

use super::pairs::PairsDocument;
use super::{EvidenceWord, FencesDocument, FencesVerdictWord, MeasurePlace, PlacedMeasure, PurposeWord, places};
use crate::context::Context;
use crate::models::ModelWord;
use crate::needed::Needed;
use crate::open::open_words;
use crate::properties::Properties;
use crate::property_fences::{BeforeTheChange, Result};
use palisade_engine::fences::{Cost, Measure};
use palisade_engine::properties::placement::{Placed, PropertyPlacement, PropertyRow};
use palisade_engine::properties::{Answer, TargetAnswer};
use palisade_model::program::Program;
use palisade_semantics::{Model, Target};
use serde::Serialize;

/// What is known about the fences for properties.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertiesDocument<'a> {
    /// A property that is violated under SC, so that no fence helps, or whatever is changed.
    pub violated: Option<PropertyPlace<'a>>,
    /// The fences that are there already, where these were asked about; null where they were not
    /// judged.
    pub needed: Option<Vec<NeededDocument<'a>>>,
    /// Changes of which every valid set has one.
    pub rows: Vec<PropertyRowDocument<'a>>,
    /// What every valid set costs at least.
    pub lower_bound: Option<String>,
    /// The proofs that the properties hold with the changes made; null where some property has
    /// none.
    pub proved: Option<Vec<ProvedDocument<'a>>>,
    /// Queries made: sets of changes for which a search was made, or with pairs runs that were
    /// asked for.
    pub queries: usize,
    /// The pairs of statements that must not be reordered, where these were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsDocument<'a>>,
}

/// A property by its place.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertyPlace<'a> {
    /// The thread; null for a `never` and for the question about final states.
    pub thread: Option<&'a str>,
    /// The label of the `ensure` or `fail`.
    pub label: Option<&'a str>,
    /// Its line; null for the question.
    pub line: Option<usize>,
    /// The property as the language writes it, or `the question`.
    pub property: String,
}

/// A fence that is there already.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeededDocument<'a> {
    /// The fence.
    #[serde(flatten)]
    pub measure: MeasurePlace<'a>,
    /// Whether it stays in a smallest set of fences that the properties need.
    pub needed: bool,
    /// A property that is violated without it, when all others of that set stay.
    pub violates: Option<PropertyPlace<'a>>,
}

impl<'a> NeededDocument<'a> {
    fn all(needed: &Placed, program: &'a Program) -> Option<Vec<Self>> {
        let Placed::Valid(needed) = needed else { return None };
        let one = |(measure, _): &(Measure, Cost)| Self {
            measure: MeasurePlace::new(program, *measure),
            needed: needed.measures.iter().any(|(kept, _)| kept == measure),
            violates: needed.row_of(*measure).map(|row| PropertyPlace::new(program, row.run.target)),
        };
        Some(needed.offered.iter().map(one).collect())
    }
}

/// Changes of which every valid set has one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertyRowDocument<'a> {
    /// The changes.
    pub measures: Vec<MeasurePlace<'a>>,
    /// The property that is violated without all of them, whatever else is changed.
    pub property: PropertyPlace<'a>,
    /// The steps of the run that shows it, on what matters for the property: the thread's copy and
    /// the label, `flush` where a store reaches memory.
    pub witness: Vec<String>,
}

/// Which of the changes that make a program robust its properties need.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeededSummary<'a> {
    /// The cheapest of the changes with which the properties hold; null where that is not known, or
    /// where none helps.
    pub changes: Option<Vec<MeasurePlace<'a>>>,
    /// What these cost together.
    pub cost: Option<String>,
    /// Why it is not known, or why none helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the evidence for this fared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceWord>,
}

impl<'a> NeededSummary<'a> {
    /// What was found out about the changes of a program.
    pub(super) fn new(needed: &Needed, program: &'a Program) -> Self {
        let decided = needed.placement().filter(|placement| placement.open.is_none());
        let place = |(measure, _): &(Measure, Cost)| MeasurePlace::new(program, *measure);
        let shown = match needed {
            Needed::Found(found) => found.shown.as_ref(),
            Needed::Undecided(_) => None,
        };
        Self {
            changes: decided.map(|placement| placement.measures.iter().map(place).collect()),
            cost: decided.map(|placement| placement.cost.to_string()),
            reason: needed.reason(program),
            evidence: shown.map(|shown| EvidenceWord::of(shown.is_complete)),
        }
    }
}

/// The proof of a property.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProvedDocument<'a> {
    /// The property.
    #[serde(flatten)]
    pub property: PropertyPlace<'a>,
    /// What proved it: `sc`, `sc-robust`, `buffers` and so on; `search` for a search that has seen
    /// all states.
    pub by: &'static str,
    /// How many stores a buffer could hold in the exploration.
    pub buffer: Option<usize>,
    /// The configurations explored.
    pub states: usize,
}

impl<'a> PropertyPlace<'a> {
    pub(super) fn new(program: &'a Program, target: Target) -> Self {
        let properties = Properties { program, question: None };
        let label = properties.label(target);
        Self {
            thread: label.map(|(thread, _)| thread),
            label: label.map(|(_, label)| label),
            line: properties.line(target),
            property: properties.text(target),
        }
    }
}

impl<'a> PropertyRowDocument<'a> {
    /// A row of the program, whose run is one of the program that watches joint control states.
    fn new(program: &'a Program, watched: &Program, row: &PropertyRow) -> Self {
        let step = |step: &palisade_semantics::Step| {
            let name = row.run.instance.copy_name(watched, step.copy);
            let template = watched.thread(step.copy.thread);
            match step.kind {
                palisade_semantics::StepKind::Execute { instruction, .. }
                | palisade_semantics::StepKind::Crowd { instruction, .. } => {
                    format!("{name} {}", template.label(template.instruction(instruction).source).name)
                }
                palisade_semantics::StepKind::Flush => format!("{name} flush"),
                palisade_semantics::StepKind::FlushAddress(address) => {
                    format!("{name} flush {}", watched.address_name(address))
                }
            }
        };
        Self {
            measures: places(program, &row.measures),
            property: PropertyPlace::new(program, row.run.target),
            witness: row.run.steps.iter().map(step).collect(),
        }
    }
}

impl<'a> ProvedDocument<'a> {
    /// The proof that a changed program has a property, named as the program before the change has
    /// it.
    fn new(program: &'a Program, before: &BeforeTheChange, answer: &TargetAnswer) -> Option<Self> {
        let Answer::Holds(_) = answer.answer else { return None };
        let property = PropertyPlace::new(program, before.target(answer.target));
        Some(Self { property, by: answer.rung.name(), buffer: answer.buffer, states: answer.states })
    }
}

impl<'a> FencesDocument<'a> {
    /// The document of fences for properties, without an answer.
    pub(super) fn for_model(model: Model, context: &Context<'a>) -> Self {
        Self::blank(FencesVerdictWord::Violated, PurposeWord::Property, ModelWord::from(model), context)
    }

    /// The document of a placement for properties.
    pub fn for_properties(result: &Result<'a>, context: &Context<'a>) -> Self {
        let program = context.program;
        let mut document = Self {
            diff: if result.no_diff.is_some() { None } else { Some(result.diff) },
            written: result.written,
            ..Self::for_model(result.model, context)
        };
        let violated = match &result.found.placed {
            Placed::Valid(placement) => {
                document.add_property_placement(placement, program, result);
                return document;
            }
            Placed::NoFenceHelps(violation) => violation.target,
            Placed::Impossible(impossible) => impossible.run.target,
        };
        document.properties = Some(PropertiesDocument {
            violated: Some(PropertyPlace::new(program, violated)),
            needed: None,
            rows: Vec::new(),
            lower_bound: None,
            proved: None,
            queries: 0,
            pairs: None,
        });
        document
    }

    fn add_property_placement(&mut self, placement: &'a PropertyPlacement, program: &'a Program, result: &Result<'a>) {
        self.header.verdict = match (&placement.open, placement.rows.is_empty()) {
            (_, false) => FencesVerdictWord::Violated,
            (None, true) => FencesVerdictWord::Holds,
            (Some(_), true) => FencesVerdictWord::Unknown,
        };
        let placed = placement.measures.iter().map(|(measure, cost)| PlacedMeasure {
            measure: MeasurePlace::new(program, *measure),
            cost: cost.to_f64(),
            returns: None,
            needed: None,
            violates: placement.row_of(*measure).map(|row| PropertyPlace::new(program, row.run.target)),
        });
        self.fences = Some(placed.collect());
        self.cost = Some(placement.cost.to_f64());
        self.exact_cost = Some(placement.cost.to_string());
        self.optimal = placement.open.is_none();
        self.header.reason = placement.open.as_ref().map(open_words);
        self.evidence = Some(EvidenceWord::of(result.found.is_complete));
        if result.all {
            self.alternatives = Some(placement.alternatives.iter().map(|set| places(program, set)).collect());
            self.alternatives_complete = Some(placement.alternatives_complete);
        }
        self.statistics.candidates = Some(placement.queries);
        self.statistics.markings = Some(placement.states);
        let proofs = result.found.proof.iter().flat_map(|proof| &proof.answers);
        let before = BeforeTheChange::of(program, &result.found.program);
        let proved = proofs.map(|answer| ProvedDocument::new(program, &before, answer)).collect::<Option<Vec<_>>>();
        self.properties = Some(PropertiesDocument {
            violated: None,
            needed: result.found.needed.as_ref().and_then(|needed| NeededDocument::all(needed, program)),
            rows: placement
                .rows
                .iter()
                .map(|row| PropertyRowDocument::new(program, &result.found.watched, row))
                .collect(),
            lower_bound: Some(placement.lower_bound.to_string()),
            proved: proved.filter(|_| placement.open.is_none()),
            queries: placement.queries,
            pairs: None,
        });
    }
}
