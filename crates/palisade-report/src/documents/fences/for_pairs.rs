//! The document about pairs of statements that must not be reordered.

use super::pairs::{PairPlace, PairsDocument};
use super::properties::{PropertiesDocument, PropertyPlace};
use super::{FencesDocument, FencesVerdictWord};
use crate::context::Context;
use crate::pairs::Result;
use palisade_engine::properties::placement::pairs::{Pair, PairsPlaced};

impl<'a> FencesDocument<'a> {
    /// The document of pairs of statements.
    pub fn for_pairs(result: &Result<'a>, context: &Context<'a>) -> Self {
        let program = context.program;
        let mut document = Self::for_model(result.options.model, context);
        let mut properties = PropertiesDocument {
            violated: None,
            needed: None,
            rows: Vec::new(),
            lower_bound: None,
            proved: None,
            queries: 0,
            pairs: None,
        };
        let mut pairs = PairsDocument {
            method: result.options.method.name(),
            bans: None,
            proved: false,
            culprits: Vec::new(),
            candidates: 0,
            bounds: Vec::new(),
            alternatives: Vec::new(),
        };
        let all = |sets: &[Vec<Pair>]| sets.iter().map(|set| PairPlace::all(program, set)).collect();
        match result.placed {
            Ok(PairsPlaced::Valid(placement)) => {
                if placement.learned.is_empty() {
                    let holds = placement.is_proved;
                    document.header.verdict = if holds { FencesVerdictWord::Holds } else { FencesVerdictWord::Unknown };
                }
                properties.queries = placement.queries;
                properties.lower_bound = Some(placement.bans.len().to_string());
                pairs.bans = Some(PairPlace::all(program, &placement.bans));
                pairs.proved = placement.is_proved;
                pairs.culprits = all(&placement.culprits);
                pairs.candidates = placement.candidates.len();
                pairs.bounds.clone_from(&placement.bounds);
                pairs.alternatives = all(&placement.alternatives);
                document.optimal = placement.is_proved;
                document.statistics.searches = Some(placement.queries);
                document.statistics.markings = Some(placement.states);
            }
            Ok(PairsPlaced::NoBanHelps(run)) => properties.violated = Some(PropertyPlace::new(program, run.target)),
            Err(why) => {
                document.header.verdict = FencesVerdictWord::Unknown;
                document.header.reason = Some(why.to_owned());
            }
        }
        properties.pairs = Some(pairs);
        document.properties = Some(properties);
        document
    }
}
