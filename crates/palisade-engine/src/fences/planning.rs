//! The choices for all parts, which do not depend on each other's: in rounds that allow more and more work.

use super::analysis::Analysis;
use super::attempt::{Attempt, Methods};
use super::catalogues::Catalogues;
use super::joint::Joint;
use super::options::FenceOptions;
use super::progress::Observer;
use super::request::Request;
use super::thread::PartPlan;
use super::unfinished::Unfinished;
use crate::decide::schedule::{QUESTION_ANY_NUMBER, QUESTION_FIXED};
use crate::decide::{Round, Schedule};
use crate::robustness::system::{Growth, System};
use crate::robustness::{Attack, Fault, explore_sc};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::Program;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Distinct values looked at where values grow.
const FIRST_VALUES: usize = 8;

/// Chooses for every part.
pub(super) fn plan(
    program: &Program,
    open: &[Attack],
    catalogues: &Catalogues,
    request: Request,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Vec<PartPlan>, Fault> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let mut groups: BTreeMap<usize, Vec<Attack>> = BTreeMap::new();
    for attack in open {
        groups.entry(catalogues.part(attack.thread)).or_default().push(*attack);
    }
    let groups: Vec<Vec<Attack>> = groups.into_values().collect();
    let planning = Planning { program, groups, catalogues, request, options, observer };
    for group in &planning.groups {
        PartPlan::announce(group, program, catalogues.of_thread(group[0].thread), observer);
    }
    // Where there are no nets, searches answer, as they do for `check`: the program need not reach what the value sets do.
    let planned = if options.nets { planning.on_nets().or_else(|_| planning.in_turns()) } else { planning.in_turns() };
    match planned {
        Err(fault) if fault.is_growth() => planning.among_first_values(&fault),
        finished => finished,
    }
}

/// The choices to make.
struct Planning<'a> {
    program: &'a Program,
    /// The attacks to decide, part by part.
    groups: Vec<Vec<Attack>>,
    catalogues: &'a Catalogues,
    request: Request,
    options: &'a FenceOptions,
    observer: &'a dyn Observer,
}

impl Planning<'_> {
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

    /// Searches, and nets where these take long.
    fn in_turns(&self) -> Result<Vec<PartPlan>, Fault> {
        let mut plans = self.start();
        let (schedule, first_work) = if self.program.is_parameterized() {
            (Schedule::FENCES_ANY_NUMBER, QUESTION_ANY_NUMBER)
        } else {
            (Schedule::FENCES_FIXED, QUESTION_FIXED)
        };
        for round in schedule.rounds() {
            let attempt = Attempt { first_work, ..self.attempt(Methods::Both, round) };
            self.advance(&mut plans, &attempt, Growth::Fault(attempt.values))?;
            if !plans.iter().any(PartPlan::is_open) {
                break;
            }
        }
        Ok(plans)
    }

    /// Nets and nothing else; a fault where there are none.
    fn on_nets(&self) -> Result<Vec<PartPlan>, Fault> {
        let mut plans = self.start();
        for round in Schedule::UNLIMITED.rounds() {
            let attempt = self.attempt(Methods::Nets, round);
            self.advance(&mut plans, &attempt, Growth::Fault(attempt.values))?;
        }
        Ok(plans)
    }

    /// Searches among the first values of data that grows.
    fn among_first_values(&self, fault: &Fault) -> Result<Vec<PartPlan>, Fault> {
        let mut plans = self.start();
        for round in Schedule::FENCES_FIRST_VALUES.rounds() {
            let attempt = Attempt { growth: Some(fault), ..self.attempt(Methods::Searches, round) };
            self.advance(&mut plans, &attempt, Growth::Cut(FIRST_VALUES.min(attempt.values)))?;
        }
        Ok(plans)
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
