//! `palisade/fences/1` for robustness against a language.

use super::{Result, why_unknown};
use crate::context::Context;
use crate::documents::{
    EvidenceWord, FencesDocument, FencesVerdictWord, MeasurePlace, PlacedMeasure, PurposeWord, VerdictWord,
};
use palisade_engine::fences::{LanguageRepair, Measure};

impl<'a> FencesDocument<'a> {
    /// The document of a repair against a language.
    pub fn for_language(result: &Result<'a>, context: &Context<'a>) -> Self {
        let (found, program) = (result.found, context.program);
        let verdict = match &found.repair {
            LanguageRepair::Valid(measures) if measures.is_empty() => FencesVerdictWord::Robust,
            LanguageRepair::Unknown(_) if found.rows.is_empty() => FencesVerdictWord::Unknown,
            _ => FencesVerdictWord::NotRobust,
        };
        let mut document = Self {
            diff: if result.no_diff.is_some() { None } else { Some(result.diff()) },
            kept: result.kept,
            notes: result.notes,
            written: result.written,
            evidence: found.shown.as_ref().map(|_| EvidenceWord::of(result.is_shown())),
            ..Self::blank(verdict, PurposeWord::Robustness, result.axioms.into(), context)
        };
        document.statistics.searches = Some(found.searches);
        document.statistics.markings = Some(found.configurations);
        match &found.repair {
            LanguageRepair::Valid(changes) => {
                let placed = changes.iter().map(|change| PlacedMeasure {
                    measure: MeasurePlace::new(program, change.measure),
                    cost: change.cost.to_f64(),
                    returns: None,
                    needed: None,
                    violates: None,
                });
                document.fences = Some(placed.collect());
                document.cost = Some(found.cost().to_f64());
                document.exact_cost = Some(found.cost().to_string());
                document.optimal = result.is_shown();
                if result.all {
                    let places = |set: &Vec<Measure>| set.iter().map(|own| MeasurePlace::new(program, *own)).collect();
                    document.alternatives = Some(found.alternatives.iter().map(places).collect());
                    document.alternatives_complete = Some(found.alternatives_complete);
                    document.alternatives_checked = Some(found.shown.as_ref().map_or(0, |shown| shown.optima));
                }
                let is_checked = found.certificate.is_some();
                document.repaired = Some(if is_checked { VerdictWord::Robust } else { VerdictWord::Unknown });
            }
            LanguageRepair::Impossible(_) => {
                document.header.reason = Some("nothing that is permitted stops some violation".to_owned());
            }
            LanguageRepair::Unknown(reason) => {
                document.header.reason = Some(why_unknown(*reason, found.growth.as_ref()));
            }
        }
        document
    }
}
