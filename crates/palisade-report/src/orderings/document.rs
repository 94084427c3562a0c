//! `palisade/orderings/1`: which orderings of a program can be weaker, one by one and together.

use super::{Result, code, line, word};
use crate::account::{Shown, ShownDocument};
use crate::context::Context;
use crate::documents::{CopiesWord, DomainDocument, EvidenceWord, Finding, VerdictHeader, threads};
use crate::language_fences::why_unknown;
use crate::models::ModelWord;
use crate::proposal::KeptPlace;
use crate::source_place::SourcePlace;
use palisade_engine::fences::{Needed, OrderedPlace, Orderings};
use palisade_model::limits::peak_resident_bytes;
use palisade_model::program::{Ordering, Program};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade orderings` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OrderingsDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a, OrderingsVerdict>,
    /// The language.
    pub model: ModelWord,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The properties that the program states, under interleavings: orderings change nothing of
    /// them while the program is robust.
    pub properties: Vec<StatedPropertyDocument<'a>>,
    /// The accesses and fences with orderings that are not the weakest there are.
    pub places: Vec<OrderingPlace<'a>>,
    /// Whether all of `together` cost as little as any orderings of a robust program that are no
    /// stronger than the text's.
    pub optimal: bool,
    /// The violation of the program with its own orderings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<ShownDocument<'a>>,
    /// How the evidence for these claims fared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceWord>,
    /// The unified diff to the text with the weakest orderings; null where there is none.
    pub diff: Option<&'a str>,
    /// Of machine code, the places of its sources whose orderings were not judged.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub kept: &'a [KeptPlace],
    /// What a report says besides, each as its heading and its words.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub notes: &'a [(&'static str, String)],
    /// Where that text was written.
    pub written: Option<&'a str>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// How many forms of the program were checked.
    pub searches: usize,
    /// Configurations explored for that.
    pub configurations: usize,
    /// Seconds from reading to the end.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// The verdict on the program as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum OrderingsVerdict {
    /// Every execution is one of an interleaving, and none has a race.
    Robust,
    /// Some execution is not, or has a race.
    NotRobust,
    /// It was not found out.
    Unknown,
}

/// A property that the program states.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatedPropertyDocument<'a> {
    /// What it is: `ensure`, `fail`, `never`.
    pub kind: &'static str,
    /// Where it stands.
    pub place: &'a str,
    /// Whether it holds for interleavings; null where that is not known, or where a weak
    /// compare-exchange may break it by failing for no reason.
    pub holds: Option<bool>,
}

/// An access or a fence that has some ordering.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OrderingPlace<'a> {
    /// Its thread, the first one where several have the same text.
    pub thread: &'a str,
    /// Its label.
    pub label: &'a str,
    /// Its line, from 1.
    pub line: usize,
    /// Of machine code, the place in its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePlace<'a>>,
    /// Its text.
    pub text: String,
    /// Whether it is about an update that does not store.
    pub failing: bool,
    /// The ordering of the text.
    pub ordering: &'static str,
    /// The weakest orderings that it may have while all others stay as they are; `none` for a fence
    /// that can go.
    pub alone: Vec<&'static str>,
    /// Orderings of which it is not known whether it may have them alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<&'static str>,
    /// The ordering that it has where all are as weak as possible together.
    pub together: &'static str,
    /// The strongest orderings that it may not have alone, each with what it leads to.
    pub needed_alone: Vec<NeededOrderingDocument<'a>>,
    /// The strongest orderings below `together` that it may not have besides the others, each with
    /// what it leads to.
    pub needed: Vec<NeededOrderingDocument<'a>>,
}

/// An ordering that is not enough.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeededOrderingDocument<'a> {
    /// The ordering.
    pub ordering: &'static str,
    /// Whether the axioms in full admit the violation; otherwise the ordering may be enough, and is
    /// not shown to be.
    pub shown: bool,
    /// What it leads to.
    pub violation: ShownDocument<'a>,
}

impl<'a> OrderingsDocument<'a> {
    /// The document of what was found.
    pub fn new(result: &Result<'a>, context: &Context<'a>) -> Self {
        let (found, program) = (result.found, context.program);
        let verdict = match &found.orderings {
            Orderings::Weakest(_) => OrderingsVerdict::Robust,
            Orderings::NotRobust(_) => OrderingsVerdict::NotRobust,
            Orderings::Unknown(_) => OrderingsVerdict::Unknown,
        };
        let mut header = VerdictHeader::new("palisade/orderings/1", context.file, program, verdict);
        let violation = match &found.orderings {
            Orderings::NotRobust(row) => Some(ShownDocument::new(&Shown::of_graph(&row.stated, &row.violation))),
            Orderings::Unknown(reason) => {
                header.reason = Some(why_unknown(*reason, found.growth.as_ref()));
                None
            }
            Orderings::Weakest(_) => None,
        };
        let properties = result.properties.iter().map(|property| StatedPropertyDocument {
            kind: property.heading,
            place: &property.about,
            holds: property.holds,
        });
        Self {
            header,
            model: ModelWord::C11,
            threads: threads(program),
            domain: DomainDocument::new(program),
            properties: properties.collect(),
            places: result.places().iter().map(|place| OrderingPlace::new(program, place)).collect(),
            optimal: result.is_shown() && verdict == OrderingsVerdict::Robust,
            violation,
            evidence: found.shown.as_ref().map(|_| EvidenceWord::of(result.is_shown())),
            diff: Some(result.diff()).filter(|diff| !diff.is_empty()),
            kept: result.kept,
            notes: result.notes,
            written: result.written,
            certificates: context.certificates,
            warnings: Finding::all(context.warnings, &program.source),
            searches: found.searches,
            configurations: found.configurations,
            seconds: context.seconds,
            peak_memory_bytes: peak_resident_bytes(),
        }
    }
}

impl<'a> OrderingPlace<'a> {
    fn new(program: &'a Program, place: &'a OrderedPlace) -> Self {
        let thread = program.thread(place.thread);
        let word = |ordering: &Ordering| word(place, *ordering);
        let needed = |needed: &'a Needed| NeededOrderingDocument {
            ordering: word(&needed.ordering),
            shown: needed.violation.is_admitted,
            violation: ShownDocument::new(&Shown::of_graph(&needed.stated, &needed.violation)),
        };
        Self {
            thread: &thread.name,
            label: &thread.label(thread.instruction(place.access).source).name,
            line: line(program, place),
            source: SourcePlace::of(&program.source, thread.instruction(place.access).span),
            text: code(program, place),
            failing: place.failing,
            ordering: word(&place.stated),
            alone: place.alone.iter().map(word).collect(),
            open: place.open.iter().map(word).collect(),
            together: word(&place.together),
            needed_alone: place.needed_alone.iter().map(needed).collect(),
            needed: place.needed.iter().map(needed).collect(),
        }
    }
}
