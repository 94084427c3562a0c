//! `palisade cover` for upper bounds: a run to the bound, and a proof that there is no more; or a
//! run whose end can be repeated, where there is no bound.

use super::contest::Contest;
use super::found::Found;
use crate::coverability::{BoundAnswer, Options, Side, bound_all};
use crate::limits::Limits;
use crate::net::{Count, UpperBound, WhichQuestion};
use crate::report::contest::{AskedBound, AskedQuestion};
use num_bigint::BigInt;

impl Contest<'_> {
    /// Asks for the bounds of these properties.
    pub(super) fn ask_bounds(&mut self, properties: &[usize], options: &Options) {
        let loaded = self.loaded;
        let sums: Vec<UpperBound> =
            properties.iter().filter_map(|index| loaded.properties[*index].claim.bound().cloned()).collect();
        bound_all(&loaded.net, &sums, options, |number, answer| {
            let mut side = |side: Option<&Side>, is_unbounded| {
                self.side(properties[number], &sums[number], side?, is_unbounded, &options.limits)
            };
            let bound = AskedBound {
                unbounded: side(answer.unbounded.as_ref(), true),
                least: side(answer.reached.as_ref().filter(|_| answer.unbounded.is_none()), false),
                most: side(answer.excluded.as_ref(), false),
                reason: why(&answer),
            };
            self.answers[properties[number]].bound = Some(bound);
            self.report_decided(false);
            self.leave_found();
        });
    }

    /// A side of a bound once its evidence is accepted, where it has to be.
    fn side(
        &mut self,
        property: usize,
        sum: &UpperBound,
        Side { tokens, answer }: &Side,
        is_unbounded: bool,
        limits: &Limits,
    ) -> Option<(Count, AskedQuestion)> {
        let goal = sum.at_least(tokens.clone());
        let kind = if is_unbounded { Found::Unbounded } else { Found::Reach };
        let found = kind(&self.loaded.net, &goal, answer);
        let mut asked = found.asked();
        let name = self.name_of(property, &WhichQuestion::AtLeast(tokens.clone()));
        self.confirm(&name, &found, limits, &mut asked);
        asked.seconds = self.begin.elapsed().as_secs_f64();
        // What cannot be reached is one above what is not passed.
        let side = tokens - BigInt::from(asked.coverable == Some(false));
        asked.coverable.map(|_| (Count::from(side.magnitude().clone()), asked))
    }
}

/// Why a bound is not known.
fn why(answer: &BoundAnswer) -> Option<String> {
    answer.reason.map(|reason| reason.to_string())
}
