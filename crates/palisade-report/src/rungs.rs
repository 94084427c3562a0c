//! Why a property holds, in words.

use super::counted;
use super::widths;
use palisade_engine::properties::{Rung, TargetAnswer};
use palisade_evidence::PropertyProof;
use palisade_model::program::Program;

/// Why a property holds.
pub fn rung_words(program: &Program, answer: &TargetAnswer, proof: Option<&PropertyProof>) -> String {
    match (answer.rung, answer.buffer) {
        (Rung::Buffers, Some(stores)) => format!("buffers of {} are enough", counted(stores, "store")),
        (Rung::Snapshots, Some(most)) => format!("delayed loads see at most {}", counted(most, "snapshot")),
        (Rung::Enriched, Some(room)) => format!("robust once threads keep {} themselves", counted(room, "store")),
        (Rung::Values, _) => "for all values, in any order".to_owned(),
        (Rung::Sc, _) => "in all interleavings".to_owned(),
        (Rung::ScRobust, _) => "robust, and kept in all interleavings".to_owned(),
        (Rung::Counters, _) => proof.map_or_else(String::new, |proof| widths::means(program, proof)),
        (rung, _) => rung.name().to_owned(),
    }
}
