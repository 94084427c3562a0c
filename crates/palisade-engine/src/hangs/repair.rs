//! The cheapest fences with which nobody waits for ever.
//!
//! Fences take computations away and change nobody's waiting, as all buffers of a stuck state are
//! empty. So a program with more fences has no other stuck states than one with fewer, and sets are
//! found in rounds of guess and check. What could stop a computation to a stuck state are the
//! fences that it [needs absent](crate::properties::placement). An exchange in place of a store is
//! not on offer: an exchange of equal values is nothing, so that copies may wait that store for
//! ever.

use super::{HangOptions, Verdict, Why, hangs};
use crate::fences::repair::remedy::{Goal, remedied};
use crate::fences::rounds::Decided;
use crate::fences::{Checker, Checks, Cost, FenceError, Measure, Remedied, RepairError, RepairOptions};
use crate::properties::placement::PlacementOptions;
use crate::properties::placement::offer::Offer;
use crate::properties::placement::row::{erased, row_of};
use crate::properties::placement::shown::all_permitted;
use palisade_evidence::{RepairClaim, RowWitness, StuckWitness, ValidProof};
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Sites};
use palisade_semantics::Machine;
use std::collections::BTreeSet;

/// Finds the cheapest fences with which a program has no stuck state, puts them in its text, and
/// has evidence for every claim checked. With `ignore_timeouts` what is `timed` waits like all
/// else.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
///
/// # Panics
///
/// If the options offer exchanges, or the program has events or tasks.
pub fn repair_hangs(
    program: &Program,
    (options, ignore_timeouts): (&PlacementOptions, bool),
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<Remedied, RepairError> {
    assert!(options.exchange.is_none(), "an exchange in place of a store may let copies wait that did not");
    options.check_patterns(program).map_err(FenceError::Pattern)?;
    let sites = Sites::of(program);
    let costs = options.cost.of_measures(program, &sites);
    let priced = |measure: Measure| -> Result<(Measure, Cost), FenceError> {
        Ok((measure, options.cost_of(measure, &costs).map_err(FenceError::Cost)?))
    };
    let permitted = all_permitted(program, options).into_iter().map(priced);
    let permitted: Vec<(Measure, Cost)> = permitted.collect::<Result<_, FenceError>>()?;
    let asked = HangOptions {
        values: options.values,
        buffer: options.buffer,
        limits: options.limits.clone(),
        ignore_timeouts,
        ..HangOptions::new(options.model)
    };
    let goal = Free { offer: Offer::among(program, program, &permitted), asked, why: None };
    remedied(program, goal, permitted, wanted, Checker { limits: &options.limits, checks })
}

/// Freedom from stuck states.
struct Free<'a> {
    offer: Offer<'a>,
    asked: HangOptions,
    /// Why the last program has no answer.
    why: Option<Why>,
}

impl Goal for Free<'_> {
    fn claim(&self) -> RepairClaim {
        let HangOptions { model, graphs, ignore_timeouts: ignores_timeouts, .. } = self.asked;
        RepairClaim::Hangs { model, graphs, ignores_timeouts }
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<ValidProof, RowWitness>, RepairError> {
        let found = hangs(program, &self.asked)?;
        Ok(match found.verdict {
            Verdict::Free(certificate) => Decided::Robust(ValidProof::Free(certificate)),
            Verdict::Stuck(stuck) => Decided::NotRobust(RowWitness::Stuck(stuck.witness())),
            Verdict::Unknown(why) => {
                let reason = if let Why::Stopped(reason) = &why { *reason } else { StopReason::Inconclusive };
                self.why = Some(why);
                Decided::Unknown(reason)
            }
        })
    }

    fn why_open(&self) -> Option<String> {
        self.why.as_ref().map(Why::words)
    }

    fn stopping(&self, _: &[Measure], changed: &Program, witness: &RowWitness) -> BTreeSet<Measure> {
        let RowWitness::Stuck(StuckWitness { model, instance, steps, .. }) = witness else {
            unreachable!("it is one of a stuck state")
        };
        let machine = |program| Machine::new(program, instance, *model).waiting();
        let bare = self.offer.bare(self.offer.program());
        let steps = erased(&bare, &machine(changed), steps);
        let row = row_of(&self.offer, &machine(&bare), &steps);
        self.offer.measures(&row).into_iter().collect()
    }
}
