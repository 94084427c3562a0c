//! The choices for all parts, which do not depend on each other's: in rounds that allow more and more work. Of a program with counters, checks decide sets
//! ([`by_checks`](super::by_checks)) where the first round does not decide all attacks, or values grow.

use super::analysis::Analysis;
use super::attempt::{Attempt, Methods};
use super::by_checks::by_checks;
use super::catalogues::Catalogues;
use super::joint::Joint;
use super::offered::Offered;
use super::options::FenceOptions;
use super::progress::Observer;
use super::request::Request;
use super::thread::PartPlan;
use super::unfinished::Unfinished;
use crate::decide::schedule::{QUESTION_ANY_NUMBER, QUESTION_FIXED};
use crate::decide::{Round, Schedule};
use crate::robustness::has_counters;
use palisade_exploration::instrumented::system::{Growth, System};
use palisade_exploration::instrumented::{Attack, Fault, explore_sc};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::Program;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Distinct values looked at where values grow.
const FIRST_VALUES: usize = 8;

/// The plans for all parts.
pub(super) struct Planned<'c> {
    pub(super) plans: Vec<PartPlan>,
    /// The measures on offer, in these parts: all in one where checks have decided.
    pub(super) catalogues: Cow<'c, Catalogues>,
}

/// What checks need: the measures in the terms of evidence.
pub(super) type Offer<'o, 'a> = &'o (dyn Fn() -> Offered<'a> + Sync);

/// Chooses for every part.
pub(super) fn plan<'c>(
    program: &Program,
    open: &[Attack],
    catalogues: &'c Catalogues,
    offer: Offer<'_, 'c>,
    request: Request,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Planned<'c>, Fault> {
    if open.is_empty() {
        return Ok(Planned { plans: Vec::new(), catalogues: Cow::Borrowed(catalogues) });
    }
    let mut groups: BTreeMap<usize, Vec<Attack>> = BTreeMap::new();
    for attack in open {
        groups.entry(catalogues.part(attack.thread)).or_default().push(*attack);
    }
    let groups: Vec<Vec<Attack>> = groups.into_values().collect();
    let planning = Planning { program, groups, catalogues, offer, request, options, observer };
    for group in &planning.groups {
        PartPlan::announce(group, program, catalogues.of_thread(group[0].thread), observer);
    }
    if options.checks
        && let Some(planned) = planning.checked(&planning.start())?
    {
        return Ok(planned);
    }
    // Where there are no nets, searches answer, as they do for `check`: the program need not reach what the value sets do.
    let planned = if options.nets { planning.on_nets().or_else(|_| planning.in_turns()) } else { planning.in_turns() };
    match planned {
        Err(fault) if fault.is_growth() => planning.among_first_values(&fault),
        finished => finished,
    }
}

/// The choices to make.
struct Planning<'a, 'c> {
    program: &'a Program,
    /// The attacks to decide, part by part.
    groups: Vec<Vec<Attack>>,
    catalogues: &'c Catalogues,
    offer: Offer<'a, 'c>,
    request: Request,
    options: &'a FenceOptions,
    observer: &'a dyn Observer,
}

impl<'c> Planning<'_, 'c> {
    /// Nothing planned yet.
    fn start(&self) -> Vec<PartPlan> {
        self.observer.attacks_found(self.groups.iter().map(Vec::len).sum());
        self.groups.iter().map(|group| PartPlan::new(group)).collect()
    }

    /// An attempt in a round.
    fn attempt(&self, methods: Methods, round: Round) -> Attempt<'static> {
        let (limits, values) = (self.options.limits.clone(), self.options.values);
        Attempt { limits, round, first_work: round.work, values, methods, growth: None }
    }

    /// These plans.
    fn planned(&self, plans: Vec<PartPlan>) -> Planned<'c> {
        Planned { plans, catalogues: Cow::Borrowed(self.catalogues) }
    }

    /// What checks of programs with counters decide, beginning with what is known; nothing for other programs.
    fn by_checks(&self, plans: &[PartPlan]) -> Result<Option<Planned<'c>>, Fault> {
        let is_asked = has_counters(self.program) && plans.iter().all(|plan| plan.known.impossible.is_none());
        if is_asked { self.checked(plans) } else { Ok(None) }
    }

    /// What checks decide.
    fn checked(&self, plans: &[PartPlan]) -> Result<Option<Planned<'c>>, Fault> {
        let offered = (self.offer)();
        let found = by_checks(&offered, plans, self.catalogues, self.request, self.options, self.observer)?;
        Ok(found.map(|(plan, joined)| Planned { plans: vec![plan], catalogues: Cow::Owned(joined) }))
    }

    /// Searches, and nets where these take long.
    fn in_turns(&self) -> Result<Planned<'c>, Fault> {
        let mut plans = self.start();
        let (schedule, first_work) = if self.program.is_parameterized() {
            (Schedule::FENCES_ANY_NUMBER, QUESTION_ANY_NUMBER)
        } else {
            (Schedule::FENCES_FIXED, QUESTION_FIXED)
        };
        for (turn, round) in schedule.rounds().enumerate() {
            if turn == 1
                && let Some(planned) = self.by_checks(&plans)?
            {
                return Ok(planned);
            }
            let attempt = Attempt { first_work, ..self.attempt(Methods::Both, round) };
            self.advance(&mut plans, &attempt, Growth::Fault(attempt.values))?;
            if !plans.iter().any(PartPlan::is_open) {
                break;
            }
        }
        Ok(self.planned(plans))
    }

    /// Nets and nothing else; a fault where there are none.
    fn on_nets(&self) -> Result<Planned<'c>, Fault> {
        let mut plans = self.start();
        for round in Schedule::UNLIMITED.rounds() {
            let attempt = self.attempt(Methods::Nets, round);
            self.advance(&mut plans, &attempt, Growth::Fault(attempt.values))?;
        }
        Ok(self.planned(plans))
    }

    /// Searches among the first values of data that grows, then checks.
    fn among_first_values(&self, fault: &Fault) -> Result<Planned<'c>, Fault> {
        let mut plans = self.start();
        for round in Schedule::FENCES_FIRST_VALUES.rounds() {
            let attempt = Attempt { growth: Some(fault), ..self.attempt(Methods::Searches, round) };
            self.advance(&mut plans, &attempt, Growth::Cut(FIRST_VALUES.min(attempt.values)))?;
        }
        let Request { alternatives, one_by_one } = self.request;
        let is_told = |plan: &PartPlan| {
            plan.choice.cheapest.is_some() && (alternatives == 0 || plan.choice.alternatives_complete)
        };
        let checked = if !one_by_one && plans.iter().all(is_told) { None } else { self.by_checks(&plans)? };
        Ok(checked.unwrap_or_else(|| self.planned(plans)))
    }

    /// Advances every plan that is not finished, as far as an attempt goes.
    fn advance(&self, plans: &mut [PartPlan], attempt: &Attempt<'_>, growth: Growth) -> Result<(), Fault> {
        let mut system = System::new(self.program, growth);
        let budget = Budget::within(&attempt.limits).with_work(attempt.round.work);
        let explored = if attempt.methods == Methods::Nets {
            Err(StopReason::Budget.into())
        } else {
            explore_sc(&mut system, &budget)
        };
        let sc = match explored {
            Ok(sc) => Some(sc),
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) if attempt.methods != Methods::Searches => None,
            Err(halt) => {
                for plan in plans.iter_mut().filter(|plan| plan.is_open()) {
                    let reason = Unfinished::at(&halt, attempt.growth);
                    plan.leave(self.program, self.catalogues.of_thread(plan.thread()), reason);
                }
                return Ok(());
            }
        };
        let advanced: Vec<Result<(), Fault>> = plans
            .par_iter_mut()
            .filter(|plan| plan.is_open())
            .map(|plan| {
                let catalogue = self.catalogues.of_thread(plan.thread());
                let analysis = |id| Analysis::new(&system, sc.as_ref(), id, catalogue, attempt, self.observer);
                let analyses = plan.known.threads().into_iter().map(analysis).collect();
                let joint = Joint::new(self.program, catalogue, attempt, analyses);
                plan.choose(joint, self.request, self.observer)
            })
            .collect();
        advanced.into_iter().collect()
    }
}
