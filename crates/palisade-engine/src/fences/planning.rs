//! The choices for all parts, which do not depend on each other's: in rounds that allow more and
//! more work. Of a program with counters, checks decide sets ([`by_checks`](super::by_checks))
//! where the first round does not decide all attacks, or values grow.

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
use crate::decide::schedule::{
    CUTS, FENCES_ANY_NUMBER, FENCES_FIRST_VALUES, FENCES_FIXED, QUESTION_ANY_NUMBER, QUESTION_FIXED, UNLIMITED,
};
use crate::decide::{Method, Round, Turn, decide};
use crate::robustness::has_counters;
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, Fault, explore_sc};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::Program;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
        PartPlan::announce(group, program, catalogues.of_thread(group[0].thread), &options.limits, observer);
    }
    if options.checks
        && let Some(planned) = planning.checked(&planning.start())?
    {
        return Ok(planned);
    }
    // Where there are no nets, searches answer, as they do for `check`: the program need not reach
    // what the value sets do.
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

    /// What checks of programs with counters decide, beginning with what is known; nothing for
    /// other programs.
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

    /// Searches, and nets where these take long; checks from the second round on.
    fn in_turns(&self) -> Result<Planned<'c>, Fault> {
        let is_any = self.program.is_parameterized();
        let schedule = if is_any { FENCES_ANY_NUMBER } else { FENCES_FIXED };
        let first_work = if is_any { QUESTION_ANY_NUMBER } else { QUESTION_FIXED };
        let mut turns = Turns { planning: self, plans: self.start(), first_work };
        let methods = [
            Method { name: "checks", turn: Turns::checks },
            Method { name: "searches and nets", turn: Turns::advance },
        ];
        match decide(&mut turns, &methods, schedule) {
            Ok(decision) => Ok(decision.answer),
            Err(Halt::Fault(fault)) => Err(fault),
            Err(Halt::Stopped(_)) => Ok(self.planned(turns.plans)),
        }
    }

    /// Nets and nothing else; a fault where there are none.
    fn on_nets(&self) -> Result<Planned<'c>, Fault> {
        let mut plans = self.start();
        let attempt = self.attempt(Methods::Nets, Round::only(UNLIMITED));
        self.advance(&mut plans, &attempt, Growth::Fault(attempt.values))?;
        Ok(self.planned(plans))
    }

    /// Searches among the first values of data that grows, then checks.
    fn among_first_values(&self, fault: &Fault) -> Result<Planned<'c>, Fault> {
        let mut plans = self.start();
        let attempt =
            Attempt { growth: Some(fault), ..self.attempt(Methods::Searches, Round::only(FENCES_FIRST_VALUES)) };
        self.advance(&mut plans, &attempt, Growth::Cut(CUTS[1].min(attempt.values)))?;
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

/// Plans that methods advance in turns.
struct Turns<'p, 'a, 'c> {
    planning: &'p Planning<'a, 'c>,
    plans: Vec<PartPlan>,
    /// What a method may take for one question before the next one has its turn.
    first_work: u64,
}

impl<'c> Turns<'_, '_, 'c> {
    fn checks(&mut self, round: Round) -> Turn<Planned<'c>, Fault> {
        if round.number == 1 { self.planning.by_checks(&self.plans).map_err(Halt::Fault) } else { Ok(None) }
    }

    fn advance(&mut self, round: Round) -> Turn<Planned<'c>, Fault> {
        let planning = self.planning;
        let attempt = Attempt { first_work: self.first_work, ..planning.attempt(Methods::Both, round) };
        planning.advance(&mut self.plans, &attempt, Growth::Fault(attempt.values)).map_err(Halt::Fault)?;
        let is_open = self.plans.iter().any(PartPlan::is_open);
        Ok((!is_open).then(|| planning.planned(std::mem::take(&mut self.plans))))
    }
}
