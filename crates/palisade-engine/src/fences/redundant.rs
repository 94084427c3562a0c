//! The fences of a program that it can do without.

use super::catalogues::Catalogues;
use super::change::{fences_removed, with_measures};
use super::cost::Cost;
use super::fence_error::FenceError;
use super::offered::Offered;
use super::options::FenceOptions;
use super::place::{Confirmed, Proof, Returning, combine, confirm, listed};
use super::planning::{Planned, plan};
use super::progress::Observer;
use super::request::Request;
use super::unfinished::Unfinished;
use crate::robustness::Verdict;
use palisade_evidence::RobustCertificate;
use palisade_exploration::instrumented::Attack;
use palisade_model::program::{Action, Copies, InstructionId, Measure, Program, Sites, ThreadId};
use std::sync::Arc;

/// What was found about the fences a program has.
#[derive(Clone, Debug)]
pub struct Redundancy {
    /// Every fence of a thread that runs, with an attack that becomes feasible when it alone is
    /// taken away; none when it can go.
    pub fences: Vec<(Measure, Option<Attack>)>,
    /// A largest set of fences that can go together.
    pub removable: Vec<Measure>,
    /// Each of the other fences, with an attack that becomes feasible when it goes as well.
    pub needed: Vec<Returning>,
    /// Why no larger set can go; there is none where attacks are feasible with all fences.
    pub proof: Option<Proof>,
    /// What a check says of the program without the removable fences.
    pub without_largest: Verdict,
    /// Its certificate, when it is robust.
    pub certificate: Option<Arc<RobustCertificate>>,
}

/// Finds the fences a program can do without, one by one and together. Attacks that are feasible
/// with all fences do not count; the others must stay infeasible.
pub fn redundant(
    program: &Program,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Result<Redundancy, Unfinished>, FenceError> {
    redundant_besides(program, &[], options, observer)
}

/// Like [`redundant`], for the program with measures taken. These stay; only the fences of the
/// program itself are judged.
pub fn redundant_besides(
    program: &Program,
    taken: &[Measure],
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Result<Redundancy, Unfinished>, FenceError> {
    let changed = with_measures(program, taken);
    let sites = Sites::of(program);
    let mut measures = Vec::new();
    for (thread, template) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        let own = template.instruction_ids().filter(|(_, instruction)| instruction.action == Action::Fence);
        let kept = own.map(|(fence, _)| Measure::Kept { thread, fence });
        measures.extend(kept.filter(|measure| measure.at_site(&sites) == Some(*measure)));
    }
    let mut catalogues = Catalogues::of_parts(program, &sites, &measures, |_| true);
    for measure in &measures {
        catalogues.of_thread_mut(measure.thread()).offer(*measure, &sites, Cost::one());
    }
    let parts = |measure: &Measure| -> Vec<(ThreadId, InstructionId)> {
        let part = |part: Measure| match part {
            Measure::Kept { thread, fence } => Some((thread, fence)),
            _ => None,
        };
        measure.parts(&sites).into_iter().filter_map(part).collect()
    };
    let bare = fences_removed(&changed, measures.iter().flat_map(parts));
    let (all, mut open) = match listed(&bare, options) {
        Ok(listed) => listed,
        Err(reason) => return Ok(Err(Unfinished::Limit(reason))),
    };
    // The attacks of threads without fences are what they were.
    open.retain(|attack| catalogues.of_thread(attack.thread).len() > 0);
    let request = Request { alternatives: 0, one_by_one: true };
    let offer = || Offered::new(program, taken, measures.iter().map(|fence| (*fence, Some(Cost::one()))).collect());
    let planned = plan(&bare, &open, &catalogues, &offer, request, options, observer).map_err(FenceError::Fault)?;
    let Planned { plans, catalogues } = &planned;
    if let Some(reason) = plans.iter().find_map(|plan| plan.stop().cloned()) {
        return Ok(Err(reason));
    }
    let kept = combine(&all, &open, plans, catalogues, 0).expect("every plan that was not stopped has a choice");
    let is_kept = |fence: Measure| kept.measures.iter().any(|(measure, _)| *measure == fence);
    let alone = |fence: Measure| {
        let catalogue = catalogues.of_thread(fence.thread());
        let own = plans.iter().filter(|plan| catalogues.part(plan.thread()) == catalogues.part(fence.thread()));
        let mut rows = own.flat_map(|plan| &plan.choice.rows);
        rows.find(|(_, row)| catalogue.measures(row) == [fence]).map(|(attack, _)| *attack)
    };
    let removed = measures.iter().filter(|measure| !is_kept(**measure)).flat_map(parts);
    let Confirmed { verdict: without_largest, certificate, .. } = confirm(&fences_removed(&changed, removed), options)?;
    Ok(Ok(Redundancy {
        fences: measures.iter().map(|fence| (*fence, alone(*fence))).collect(),
        removable: measures.iter().copied().filter(|fence| !is_kept(*fence)).collect(),
        needed: kept.returning,
        proof: kept.proof,
        without_largest,
        certificate,
    }))
}
