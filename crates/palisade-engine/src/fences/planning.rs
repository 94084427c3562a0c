//! The choices for all threads, which do not depend on each other's: in turns that grow, while searches take too long.

use super::analysis::Analysis;
use super::catalogue::Catalogue;
use super::place::FenceOptions;
use super::progress::Observer;
use super::thread::{ThreadPlan, Wish};
use super::unfinished::Unfinished;
use crate::robustness::system::{Growth, System};
use crate::robustness::{Attack, Fault, explore_sc};
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
use palisade_model::program::Program;
use rayon::prelude::*;

/// What may be used to decide attacks.
pub(super) struct Turn<'f> {
    /// Time, memory, interruption.
    pub(super) limits: Limits,
    /// What each exploration may take, and each question to a net in proportion; as much as it takes when not given.
    pub(super) nodes: Option<u64>,
    /// What they may take before the other one is asked.
    pub(super) first_nodes: Option<u64>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub(super) values: usize,
    /// Who is asked.
    pub(super) asked: Asked,
    /// When only the first values are looked at, the step at which they grow: what is found is real, what is not found
    /// means nothing.
    pub(super) growth: Option<&'f Fault>,
    /// Whether there is no longer turn after this one.
    pub(super) is_last: bool,
}

/// Who is asked about attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Searches,
    Nets,
    Both,
}

/// Nodes of each exploration in the first turn, for fixed numbers of copies: an exact search takes few of them each.
const FIXED_NODES: u64 = 400_000;

/// Nodes of an exploration then before the net is asked.
const FIRST_FIXED_NODES: u64 = 50_000;

/// Nodes of each exploration in the first turn, for any number of copies.
const ANY_NUMBER_NODES: u64 = 20_000;

/// Nodes of an exploration then before the net is asked.
const FIRST_ANY_NUMBER_NODES: u64 = 2_000;

/// Distinct values looked at where values grow.
const FIRST_VALUES: usize = 8;

/// Nodes of one exploration of the first values.
const FIRST_NODES: u64 = 100_000;

/// Chooses for every thread.
pub(super) fn plan(
    program: &Program,
    open: &[Attack],
    catalogues: &[Catalogue],
    wish: Wish,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Vec<ThreadPlan>, Fault> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let groups = open.chunk_by(|a, b| a.thread == b.thread).collect();
    let planning = Planning { program, groups, catalogues, wish, options, observer };
    for group in &planning.groups {
        let thread = group[0].thread;
        ThreadPlan::announce(group, program.thread(thread), &catalogues[thread.index()], observer);
    }
    let planned = if options.nets { planning.on_nets() } else { planning.in_turns() };
    match planned {
        Err(fault) if fault.is_growth() => planning.among_first_values(&fault),
        finished => finished,
    }
}

/// The choices to make.
struct Planning<'a> {
    program: &'a Program,
    /// The attacks to decide, thread by thread.
    groups: Vec<&'a [Attack]>,
    catalogues: &'a [Catalogue],
    wish: Wish,
    options: &'a FenceOptions,
    observer: &'a dyn Observer,
}

impl Planning<'_> {
    /// Nothing planned yet.
    fn start(&self) -> Vec<ThreadPlan> {
        self.observer.attacks_found(self.groups.iter().map(|group| group.len()).sum());
        self.groups.iter().map(|group| ThreadPlan::new(group)).collect()
    }

    /// A turn as long as it takes, with others after it.
    fn turn(&self, asked: Asked) -> Turn<'static> {
        Turn {
            limits: self.options.limits.clone(),
            nodes: None,
            first_nodes: None,
            values: self.options.values,
            asked,
            growth: None,
            is_last: false,
        }
    }

    /// Searches, and nets where these take long.
    fn in_turns(&self) -> Result<Vec<ThreadPlan>, Fault> {
        let mut plans = self.start();
        let (mut nodes, first_nodes) = if self.program.is_parameterized() {
            (ANY_NUMBER_NODES, FIRST_ANY_NUMBER_NODES)
        } else {
            (FIXED_NODES, FIRST_FIXED_NODES)
        };
        while plans.iter().any(|plan| !plan.is_finished) {
            let is_last = nodes == u64::MAX;
            let turn = Turn { nodes: Some(nodes), first_nodes: Some(first_nodes), is_last, ..self.turn(Asked::Both) };
            self.advance(&mut plans, &turn, Growth::Fault(turn.values))?;
            nodes = nodes.saturating_mul(4);
        }
        Ok(plans)
    }

    /// Nets and nothing else.
    fn on_nets(&self) -> Result<Vec<ThreadPlan>, Fault> {
        let mut plans = self.start();
        let turn = Turn { is_last: true, ..self.turn(Asked::Nets) };
        self.advance(&mut plans, &turn, Growth::Fault(turn.values))?;
        Ok(plans)
    }

    /// Searches among the first values of data that grows.
    fn among_first_values(&self, fault: &Fault) -> Result<Vec<ThreadPlan>, Fault> {
        let mut plans = self.start();
        let nodes = Some(FIRST_NODES);
        let searches = self.turn(Asked::Searches);
        let turn = Turn { nodes, first_nodes: nodes, growth: Some(fault), is_last: true, ..searches };
        self.advance(&mut plans, &turn, Growth::Cut(FIRST_VALUES.min(turn.values)))?;
        Ok(plans)
    }

    /// Gives one turn to every plan that is not finished.
    fn advance(&self, plans: &mut [ThreadPlan], turn: &Turn<'_>, growth: Growth) -> Result<(), Fault> {
        let mut system = System::new(self.program, growth);
        let budget = Budget::within(&turn.limits).with_work(turn.nodes);
        let explored =
            if turn.asked == Asked::Nets { Err(StopReason::Budget.into()) } else { explore_sc(&mut system, &budget) };
        let sc = match explored {
            Ok(sc) => Some(sc),
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) if turn.asked != Asked::Searches => None,
            Err(halt) => {
                for plan in plans.iter_mut().filter(|plan| !plan.is_finished) {
                    let thread = plan.thread();
                    let reason = Unfinished::at(&halt, turn.growth);
                    plan.leave(self.program.thread(thread), &self.catalogues[thread.index()], reason);
                }
                return Ok(());
            }
        };
        let advanced: Vec<Result<(), Fault>> = plans
            .par_iter_mut()
            .filter(|plan| !plan.is_finished)
            .map(|plan| {
                let id = plan.thread();
                let catalogue = &self.catalogues[id.index()];
                let mut analysis = Analysis::new(&system, sc.as_ref(), id, catalogue, turn, self.observer);
                plan.choose(&mut analysis, self.program.thread(id), catalogue, self.wish, self.observer)
            })
            .collect();
        advanced.into_iter().collect()
    }
}
