//! The strategy `pair-saturation`: a proof in pairs of places that are never marked together.

use super::backward::{Knowledge, prove};
use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::pairs::Pairs;
use super::sample::Covering;
use super::{Context, Outcome};
use palisade_model::limits::StopReason;

/// The strategy `pair-saturation`.
pub(super) struct PairSaturation;

impl Method for PairSaturation {
    const NAME: &'static str = "pair-saturation";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        context.check()?;
        let computed;
        let mut pairs = match prepared.pairs(context)? {
            Some(pairs) => pairs,
            None => {
                computed = Pairs::new(compact, u64::MAX, context)?.ok_or(Stop::Stopped(StopReason::Inconclusive))?;
                &computed
            }
        };
        if compact.targets.iter().any(|target| pairs.unrelated_part(target).is_none()) {
            return Err(Stop::Stopped(StopReason::Inconclusive));
        }
        prove(prepared, compact, &mut pairs, context).map(Outcome::Uncoverable)
    }
}

impl<N: Number> Knowledge<N> for &Pairs {
    fn unseen_part(&mut self, marking: &[(u32, N)]) -> Result<Option<Vec<(u32, u64)>>, Stop> {
        Ok(self.unrelated_part(marking))
    }

    /// Unrelated places are never marked together.
    fn learn(&mut self, _: &[u32], _: &Context) -> Result<Option<Covering>, Stop> {
        Err(Stop::Stopped(StopReason::Inconclusive))
    }
}
