//! `palisade/fences/1` where remedies are sought round by round: for robustness of events and
//! tasks, and against hangs.

use super::VerdictWord;
use super::fences::{EvidenceWord, FencesDocument, FencesVerdictWord, MeasurePlace, PlacedMeasure, PurposeWord};
use crate::context::Context;
use crate::remedies::Result;
use palisade_engine::fences::Remedy;
use palisade_evidence::RowWitness;

impl<'a> FencesDocument<'a> {
    /// The document of a remedy.
    pub fn for_remedy(result: &Result<'a>, context: &Context<'a>) -> Self {
        let (found, program) = (result.found, context.program);
        let (purpose, is_so, is_not) = if result.is_for_robustness() {
            (PurposeWord::Robustness, FencesVerdictWord::Robust, FencesVerdictWord::NotRobust)
        } else {
            (PurposeWord::Hangs, FencesVerdictWord::Holds, FencesVerdictWord::Violated)
        };
        let verdict = match &found.remedy {
            Remedy::Valid(measures, _) if measures.is_empty() => is_so,
            Remedy::Unknown(_) if found.rows.is_empty() => FencesVerdictWord::Unknown,
            _ => is_not,
        };
        let mut document = Self {
            diff: if result.no_diff.is_some() { None } else { Some(result.diff()) },
            kept: result.kept,
            written: result.written,
            evidence: found.shown.as_ref().map(|_| EvidenceWord::of(result.is_shown())),
            ..Self::blank(verdict, purpose, result.model(), context)
        };
        document.statistics.searches = Some(found.searches);
        match &found.remedy {
            Remedy::Valid(measures, cost) => {
                let placed = measures.iter().map(|(measure, cost)| PlacedMeasure {
                    measure: MeasurePlace::new(program, *measure),
                    cost: cost.to_f64(),
                    returns: None,
                    needed: None,
                    violates: None,
                });
                document.fences = Some(placed.collect());
                document.cost = Some(cost.to_f64());
                document.exact_cost = Some(cost.to_string());
                document.optimal = true;
                let is_checked = found.proof.is_some();
                let repaired = if is_checked { VerdictWord::Robust } else { VerdictWord::Unknown };
                document.repaired = result.is_for_robustness().then_some(repaired);
            }
            Remedy::Impossible(shown) => {
                let stays = if matches!(shown.1, RowWitness::Stuck(_)) { "stuck state" } else { "violation" };
                document.header.reason = Some(format!("nothing that is permitted stops some {stays}"));
            }
            Remedy::Unknown(reason) => document.header.reason = Some(reason.clone()),
        }
        document
    }
}
