//! `palisade/fences/1` for programs of events and tasks.

use super::VerdictWord;
use super::fences::{EvidenceWord, FencesDocument, FencesVerdictWord, MeasurePlace, PlacedMeasure, PurposeWord};
use crate::context::Context;
use crate::event_fences::Result;
use crate::models::ModelWord;
use palisade_engine::fences::EventRepair;

impl<'a> FencesDocument<'a> {
    /// The document of a repair of a program of events and tasks.
    pub fn for_events(result: &Result<'a>, context: &Context<'a>) -> Self {
        let (found, program) = (result.found, context.program);
        let verdict = match &found.repair {
            EventRepair::Valid(measures, _) if measures.is_empty() => FencesVerdictWord::Robust,
            EventRepair::Unknown(_) if found.rows.is_empty() => FencesVerdictWord::Unknown,
            _ => FencesVerdictWord::NotRobust,
        };
        let mut document = Self {
            diff: if result.no_diff.is_some() { None } else { Some(result.diff()) },
            written: result.written,
            evidence: found.shown.as_ref().map(|_| EvidenceWord::of(result.is_shown())),
            ..Self::blank(verdict, PurposeWord::Robustness, ModelWord::Tso, context)
        };
        document.statistics.searches = Some(found.searches);
        match &found.repair {
            EventRepair::Valid(measures, cost) => {
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
                let is_checked = found.certificate.is_some();
                document.repaired = Some(if is_checked { VerdictWord::Robust } else { VerdictWord::Unknown });
            }
            EventRepair::Impossible(_) => {
                document.header.reason = Some("nothing that is permitted stops some violation".to_owned());
            }
            EventRepair::Unknown(reason) => document.header.reason = Some(reason.to_string()),
        }
        document
    }
}
