//! What the commands print with `--json`: one type per document, each with a JSON Schema in
//! `schemas/`.
//!
//! A document borrows what it says from the answer, and is written in one go. A field is added by
//! adding it here, with its sentence;
//! `PALISADE_WRITE_SCHEMAS=1 cargo test -p palisade-report schemas` then writes the schemas anew.
//! Keys that are there stay.

mod attack;
mod bench;
mod claim;
mod contest;
mod convert;
mod counters;
mod cover;
mod error;
mod event_simulate;
mod fences;
mod fmt;
mod header;
mod jobs;
mod listing;
#[cfg(feature = "plots")]
mod methods;
mod net;
mod program;
mod races;
mod remedies;
mod simulate;
mod simulate_models;
mod step;
mod tso;
mod unread;
mod verify;
mod witness;

pub use crate::verdict::VerdictWord;
pub use attack::AttackAnswer;
pub use bench::BenchDocument;
pub use claim::{ClaimDocument, CompilationsDocument, NarrowedDocument, ReadFileDocument};
pub use contest::{ContestContext, ContestDocument, ContestQuestion};
pub use convert::ConvertDocument;
pub use counters::{CountDocument, CountersDocument, EndDocument, FarDocument, LowBitsDocument, TicketsDocument};
pub use cover::{CoverDocument, CoverVerdict, WrittenDocument};
pub use error::{ErrorDocument, Finding};
pub use event_simulate::EventSimulateDocument;
pub use fences::{
    EvidenceWord, FencesDocument, FencesVerdictWord, JudgedFence, MeasurePlace, MeasureWord, NeededDocument,
    PlacedMeasure, ProofDocument, PropertyPlace, PropertyRowDocument, ProvedDocument, PurposeWord, RedundancyDocument,
    RowDocument,
};
pub use fmt::FmtDocument;
pub use header::{FileHeader, Header, VerdictHeader};
pub use jobs::{
    EvidenceText, JobDocument, JobInput, LineCounts, MergeDocument, MergedAnswer, MergedProperty, PlanDocument,
    ResultDocument, RunDocument, UnfinishedJob,
};
pub use listing::{CompletionsDocument, ManDocument, SchemaDocument};
#[cfg(feature = "plots")]
pub use methods::MethodsDocument;
pub use net::{NetDocument, NetSize};
pub use program::{AttackPlace, CopiesWord, DomainDocument, InstructionPlace, LabelPlace, OutcomeWord, threads};
pub use races::RaceFencesDocument;
pub use simulate::{ExecutionDocument, SimulateDocument, StoppedDocument};
pub use simulate_models::SimulateModelsDocument;
pub use step::{StepDocument, steps};
pub use tso::TsoStep;
pub use unread::UnreadDocument;
pub use verify::{
    ConfirmationDocument, EvidenceVerdict, PropertiesDocument, RepairDocument, SubjectDocument, VerifyDocument,
};
pub use witness::{EdgeDocument, Picture, PictureFormat, RunsDocument, ViolationDocument, WitnessDocument};

use palisade_syntax::InputError;
use serde::Serialize;

/// The text of the document about an input that was refused, or not read to its end.
pub fn refusal(error: &InputError) -> String {
    match error {
        InputError::Stopped { name, reason } => text(&UnreadDocument::new(name, *reason)),
        InputError::Text { .. } | InputError::Grows { .. } | InputError::File { .. } => {
            text(&ErrorDocument::new(error))
        }
    }
}

/// The text of a document, without the end of its line.
pub fn text(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("documents are plain data with text keys")
}
